"""What a saved file says of a mechanism of the game, checked as far as can be without maths."""

from __future__ import annotations

import json
import math
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from equinoise.choices import SOLVERS, load
from equinoise.game.kernel import MOST_CELLS
from equinoise.game.noise import MOST_SCALES
from equinoise.mechanisms.document import Document, Strict
from equinoise.mechanisms.draws import MOST, MOST_ROWS_PER_PERSON
from equinoise.settings import MOST_DRAWS, check_setting


def _known_noise(name: str) -> str:
    check_setting("noise", name)
    return name


class SolverDocument(Strict):
    """How the profile was found."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, frozen=True)

    name: str
    equilibrium: bool
    rounds: int = Field(ge=0)
    seconds: float = Field(ge=0)

    @model_validator(mode="after")
    def _says_what_it_should(self) -> SolverDocument:
        extra = self.model_extra or {}
        wanted = load(SOLVERS, self.name).SUMMARY_NUMBERS if self.name in SOLVERS else ["no solver"]
        if not all(isinstance(extra.get(key), int | float) for key in wanted):
            raise ValueError("solver")
        json.dumps(extra, allow_nan=False)  # of what may be there besides, numbers must be finite, too
        return self


class PerInstanceDocument(Document):
    """All of a mechanism of the game but its weights.

    A group is the people with the same rows and scale: ``bags`` has the cells of a person's rows, and how many are in
    each; ``scales`` one scale per column for every choice.
    """

    kind: Literal["per-instance"]
    method: Literal["game"]
    draws: int = Field(ge=1, le=MOST_DRAWS)
    noise: Annotated[str, AfterValidator(_known_noise)]
    scales: list[list[Annotated[float, Field(gt=0)]]] = Field(min_length=1, max_length=MOST_SCALES)
    bags: list[list[Annotated[list[Annotated[int, Field(ge=0, lt=MOST)]], Field(min_length=2, max_length=2)]]] = Field(
        min_length=1
    )
    scale_indices: list[Annotated[int, Field(ge=0)]]
    people: list[Annotated[int, Field(gt=0)]]
    solver: SolverDocument

    @model_validator(mode="after")
    def _fits(self) -> PerInstanceDocument:
        kinds = [self.delta > 0, self.order is not None, self.budget is not None]
        fit = (
            self._groups_fit()
            and self._scales_fit()
            and kinds.count(True) <= 1
            and (self.delta == 0 or self.draws == 1)
            and self.check_settings(noise=self.noise, draws=self.draws, delta=self.total_delta)
        )
        if not fit:
            raise ValueError("groups")
        return self

    @property
    def weight_shape(self) -> tuple[int, int]:
        """A row for every entry of a group, and a column for every bin of every axis."""
        return sum(map(len, self.bags)), sum(axis.bins for axis in self.axes)

    def _groups_fit(self) -> bool:
        """Whether the lists belong together, on this grid."""
        if not len(self.bags) == len(self.people) == len(self.scale_indices):
            return False
        cells = math.prod(axis.bins for axis in self.axes)
        bags = [tuple(map(tuple, bag)) for bag in self.bags]
        here = [[cell for cell, _ in bag] for bag in self.bags]
        groups = list(zip(bags, self.scale_indices, strict=True))
        sizes = [sum(times for _, times in bag) for bag in self.bags]
        return (
            groups == sorted(set(groups))
            and all(each and each == sorted(set(each)) and each[-1] < cells for each in here)
            and all(times > 0 for bag in self.bags for _, times in bag)
            and (max(sizes) == 1 or (self.settings.get("unit") is not None and self.settings.get("unit_rows") != "one"))
            and sum(n * rows for n, rows in zip(self.people, sizes, strict=True)) <= MOST
            and max(sizes) <= MOST_ROWS_PER_PERSON
        )

    def _scales_fit(self) -> bool:
        columns = len(self.axes)
        return (
            max(self.scale_indices) < len(self.scales)
            and all(len(choice) == columns for choice in self.scales)
            and (columns > 1 or self.scales == sorted(self.scales))
            and len({axis.name for axis in self.axes}) == columns
            and (columns == 1 or math.prod(axis.bins for axis in self.axes) <= MOST_CELLS)
        )
