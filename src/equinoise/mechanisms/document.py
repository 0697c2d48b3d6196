"""What a saved file says of a mechanism, checked as far as can be without maths."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from equinoise.choices import SOLVERS, load
from equinoise.data.grid import Axis, CategoryAxis, Grid, number_axes
from equinoise.data.players import Players
from equinoise.data.read_players import column_of
from equinoise.game.kernel import MOST_AXES, MOST_CELLS
from equinoise.game.noise import MOST_SCALES
from equinoise.mechanisms.draws import MOST, MOST_ROWS_PER_PERSON
from equinoise.settings import MOST_BINS, MOST_DRAWS, SETTINGS, check_setting, check_settings


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class AxisDocument(_Strict):
    """An axis of numbers."""

    kind: Literal["number"]
    name: str
    low: float
    high: float
    bins: int = Field(ge=2, le=MOST_BINS + 1)
    padding: float = Field(ge=0)
    step: float | None = Field(None, gt=0)
    missing: Literal["refuse", "drop", "category"]
    outside: Literal["refuse", "clip"]
    day_zero: str | None = None

    @model_validator(mode="after")
    def _is_an_axis(self) -> AxisDocument:
        if not self.low < self.high:
            raise ValueError("bounds")
        axis = self.axis()
        axis.check_resolvable()
        fits = self.step is None or (self.padding == self.step / 2 and axis.number_bins <= axis.steps)
        if not fits or axis.number_bins < 2 or (axis.padding > 0 and self.step is None and axis.categories):
            raise ValueError("axis")
        column_of(axis, True)  # refuses what no schema can say
        return self

    def axis(self) -> Axis:
        """The axis."""
        return Axis(**self.model_dump(exclude={"kind"}))


class CategoryAxisDocument(_Strict):
    """An axis of categories."""

    kind: Literal["category"]
    name: str
    names: list[bool | int | str] = Field(min_length=1, max_length=MOST_BINS)
    missing: Literal["refuse", "drop", "category"]
    outside: Literal["refuse", "drop"]

    @model_validator(mode="after")
    def _is_an_axis(self) -> CategoryAxisDocument:
        column_of(self.axis(), True)
        return self

    @property
    def bins(self) -> int:
        """How many there are, with that of the missing."""
        return self.axis().bins

    def axis(self) -> CategoryAxis:
        """The axis."""
        return CategoryAxis(self.name, tuple(self.names), self.missing, self.outside)


AnyAxisDocument = Annotated[AxisDocument | CategoryAxisDocument, Field(discriminator="kind")]


def check_saved(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as a file tells them; unknown ones, and values that a setting cannot have, are refused."""
    if not {"public_bounds"} <= set(settings) <= {name for name, setting in SETTINGS.items() if setting.saved}:
        raise ValueError("settings")
    json.dumps(settings, allow_nan=False)
    check_settings(settings)
    return settings


class SolverDocument(_Strict):
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
        return self


class BudgetDocument(_Strict):
    """What all draws together may cost."""

    epsilon: float = Field(gt=0)
    delta: float = Field(ge=0, lt=1)


class Document(_Strict):
    """What the saved mechanisms of either promise share."""

    axes: list[AnyAxisDocument] = Field(min_length=1, max_length=MOST_AXES)
    epsilon: float = Field(gt=0)
    draws: int | None
    delta: float = Field(0.0, ge=0, lt=1)
    order: float | None = Field(None, gt=1)
    budget: BudgetDocument | None = None
    settings: Annotated[dict[str, Any], AfterValidator(check_saved)]

    @property
    def weight_shape(self) -> tuple[int, int]:
        """Rows and columns of the whole numbers that are saved beside the document."""
        return 0, 0

    def check_settings(self, **own: Any) -> bool:
        """Whether what was asked for, as far as it is told, is what the mechanism is; ``own`` is of one promise."""
        names = [axis.name for axis in self.axes]
        total = self if self.budget is None else self.budget
        own |= {
            "epsilon": total.epsilon, "draws": self.draws, "delta": total.delta, "order": self.order,
            "column": names[0] if len(names) == 1 else names,
        }  # fmt: skip
        return all(self.settings[name] == value for name, value in own.items() if name in self.settings)


def _known_noise(name: str) -> str:
    check_setting("noise", name)
    return name


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
            and self.check_settings(noise=self.noise)
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


class RuleDocument(_Strict):
    """The parameters of an envelope."""

    shape: list[Annotated[int, Field(ge=1)]]
    categories: list[Annotated[int, Field(ge=0)]]
    unit: int = Field(ge=1)
    height: int = Field(ge=0)
    near: list[list[Annotated[int, Field(ge=0)]]]
    cap: int = Field(ge=0, lt=MOST)
    alone: int = Field(ge=1)
    floors: list[Annotated[int, Field(ge=1, lt=MOST)]] = Field(min_length=1)
    factor: int = Field(ge=1)
    rows_per_person: int = Field(ge=1, le=MOST_ROWS_PER_PERSON)


class MethodDocument(_Strict):
    """How the weights were found."""

    name: Literal["envelope", "pay-once"]


Cells = list[Annotated[int, Field(ge=0, lt=MOST)]]


class PrivateTableDocument(Document):
    """What all differentially private mechanisms share: people by the cells of their rows that count, as
    :class:`equinoise.data.players.Players` has them."""

    kind: Literal["differential-privacy"]
    begins: Cells
    cells: Cells = Field(min_length=1)
    times: list[Annotated[int, Field(ge=1, lt=MOST)]]
    people: list[Annotated[int, Field(ge=1, lt=MOST)]]
    rows_per_person: int = Field(ge=1, le=MOST_ROWS_PER_PERSON)
    budget: BudgetDocument
    solver: MethodDocument

    def players(self, grid: Grid) -> Players:
        """Everyone, by the cells of their rows that count."""
        lists = (self.begins, self.cells, self.times, self.people)
        return Players(grid, *(np.array(numbers, dtype=np.int64) for numbers in lists))

    @property
    def size(self) -> int:
        """Cells of the grid."""
        return math.prod(axis.bins for axis in self.axes)

    @model_validator(mode="after")
    def _people_fit(self) -> PrivateTableDocument:
        axes = [axis.axis() for axis in self.axes]
        names, many = [axis.name for axis in axes], len(self.cells)
        together = len(self.begins) == len(self.people) + 1 and len(self.times) == many
        if not together or self.begins[0] != 0 or self.begins[-1] != many or not _ascend(self.begins[:-1], many):
            raise ValueError("people")
        bags = [
            tuple(zip(self.cells[first:last], self.times[first:last], strict=True))
            for first, last in pairwise(self.begins)
        ]
        fit = (
            len(set(names)) == len(names)
            and bags == sorted(set(bags))
            and all(_ascend([cell for cell, _ in bag], self.size) for bag in bags)
            and max(sum(times for _, times in bag) for bag in bags) <= self.rows_per_person
            and sum(self.people) * self.rows_per_person < MOST
        )
        if not fit or any(axis.padding > 0 and axis.step is None for axis in number_axes(axes)):
            raise ValueError("cells")
        told = {"epsilon": self.budget.epsilon}
        plain = self.delta == 0 and self.order is None and self.settings["public_bounds"]
        if not plain or any(self.settings[name] != value for name, value in told.items() if name in self.settings):
            raise ValueError("settings")
        return self


class EnvelopeDocument(PrivateTableDocument):
    """All of an envelope: the weights of some cells, which ascend. All other cells weigh what the rule's floor is."""

    method: Literal["envelope"]
    draws: int = Field(ge=1, le=MOST_DRAWS)
    rule: RuleDocument
    weight_cells: Cells
    weights: list[Annotated[int, Field(ge=1)]]
    base: list[Annotated[float, Field(ge=0)]] | None = None

    @model_validator(mode="after")
    def _weights_fit(self) -> EnvelopeDocument:
        axes = [axis.axis() for axis in self.axes]
        grid = [axis.bins for axis in axes], [axis.categories for axis in axes]
        fit = (
            self.size <= MOST_CELLS
            and (self.rule.shape, self.rule.categories) == grid
            and len(self.rule.floors) in (1, self.size)
            and len(self.weight_cells) == len(self.weights)
            and _ascend(self.weight_cells, self.size)
            and (self.base is None or len(self.base) == self.size)
        )
        if not fit:
            raise ValueError("weights")
        return self


class CountsDocument(PrivateTableDocument):
    """All of noisy counts but the counts and the weights themselves, which are the two rows of weights beside it."""

    method: Literal["pay-once"]
    draws: None
    scale: float = Field(gt=0)

    @property
    def weight_shape(self) -> tuple[int, int]:
        """Noisy counts and weights, of every cell."""
        return 2, self.size

    @model_validator(mode="after")
    def _cells_fit(self) -> CountsDocument:
        if self.size > MOST_CELLS:
            raise ValueError("cells")
        return self


def _ascend(cells: Sequence[int], size: int) -> bool:
    return all(a < b for a, b in pairwise([*cells, size]))


AnyDocument = PerInstanceDocument | EnvelopeDocument | CountsDocument

DOCUMENT: TypeAdapter[AnyDocument] = TypeAdapter(Annotated[AnyDocument, Field(discriminator="method")])
"""Reads any of them."""
