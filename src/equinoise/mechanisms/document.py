"""What a saved file says of a mechanism, checked as far as can be without maths."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter, model_validator

from equinoise.data.grid import MOST_BINS, Axis
from equinoise.game.kernel import MOST_AXES, MOST_CELLS
from equinoise.game.noise import MOST_SCALES
from equinoise.mechanisms.draws import MOST, MOST_DRAWS, MOST_ROWS_PER_PERSON


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class AxisDocument(_Strict):
    """An axis of the grid."""

    name: str
    low: float
    high: float
    bins: int = Field(ge=2, le=MOST_BINS)
    padding: float = Field(ge=0)

    @model_validator(mode="after")
    def _is_an_axis(self) -> AxisDocument:
        if not self.low < self.high:
            raise ValueError("bounds")
        Axis(**self.model_dump()).check_resolvable()
        return self


class SettingsDocument(_Strict):
    """What was asked for: how the rows were counted, and the procedure."""

    column: str | list[str] | None = None
    per_axis: bool = False
    public_bounds: bool
    scales: str | list[float] | dict[str, list[float]] = "wide"
    utility: str = Field("kl", pattern=r"^(kl|js|tv|wasserstein|moments:([1-9]|10))$")
    missing: Literal["refuse", "drop"] = "refuse"
    outside: Literal["refuse", "clip"] = "refuse"
    padding_epsilon: float = 1.0
    percentile: float = 0.9
    own_start: bool = False
    unit: str | None = None
    unit_rows: Literal["all", "one"] = "all"
    epsilon: float | None = None
    noise: str | None = None
    draws: int | None = None
    delta: float = 0.0
    renyi: float | None = None
    solver: str | None = None
    time_limit: float | None = None
    generations: int | None = None
    restarts: int | None = None
    seed: int | None = None


class SolverDocument(_Strict):
    """How the profile was found."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, frozen=True)

    name: Literal["best-response", "genetic", "optimal"]
    equilibrium: bool
    rounds: int = Field(ge=0)
    seconds: float = Field(ge=0)

    @model_validator(mode="after")
    def _says_what_it_should(self) -> SolverDocument:
        extra = self.model_extra or {}
        wanted = {"best-response": {"restarts"}, "optimal": {"gap", "lower_bound"}, "genetic": {"generations"}}
        if not all(isinstance(extra.get(key), int | float) for key in wanted[self.name]):
            raise ValueError("solver")
        return self


class BudgetDocument(_Strict):
    """What all draws together may cost."""

    epsilon: float = Field(gt=0)
    delta: float = Field(gt=0, lt=1)


class Document(_Strict):
    """What the saved mechanisms of either promise share."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=MOST_AXES)
    epsilon: float = Field(gt=0)
    draws: int = Field(ge=1, le=MOST_DRAWS)
    delta: float = Field(0.0, ge=0, lt=1)
    order: float | None = Field(None, gt=1)
    budget: BudgetDocument | None = None
    settings: SettingsDocument

    def check_settings(self, **own: Any) -> bool:
        """Whether what was asked for, as far as it is told, is what the mechanism is; ``own`` is of one promise."""
        asked, names = self.settings, [axis.name for axis in self.axes]
        total = self if self.budget is None else self.budget
        own |= {
            "epsilon": total.epsilon, "draws": self.draws, "delta": total.delta, "renyi": self.order,
            "column": names[0] if len(names) == 1 else names,
        }  # fmt: skip
        told = all(getattr(asked, name) == value for name, value in own.items() if name in asked.model_fields_set)
        return told and (asked.unit is not None or asked.unit_rows == "all")


class PerInstanceDocument(Document):
    """All of a mechanism of the game but its weights.

    A group is the people with the same rows and scale: ``bags`` has the cells of a person's rows, and how many are in
    each; ``scales`` one scale per column for every choice.
    """

    kind: Literal["per-instance"]
    noise: Literal["laplace", "gaussian", "geometric", "staircase", "uniform-mixture"]
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
            and (max(sizes) == 1 or (self.settings.unit is not None and self.settings.unit_rows == "all"))
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
    """The parameters of monotone weights."""

    unit: int = Field(ge=1)
    near: list[Annotated[int, Field(ge=0)]] = Field(min_length=1)
    cap: int = Field(ge=0)
    floors: list[Annotated[int, Field(ge=1)]]
    factor: int = Field(ge=1)


class WeightsDocument(_Strict):
    """How the weights were found."""

    name: Literal["monotone-weights"]


class PrivateTableDocument(Document):
    """All of a differentially private mechanism."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=1)
    kind: Literal["differential-privacy"]
    counts: list[Annotated[int, Field(ge=0, lt=MOST)]] = Field(min_length=1)
    rule: RuleDocument
    weights: list[Annotated[int, Field(ge=1)]]
    base: list[Annotated[float, Field(ge=0)]] | None = None
    solver: WeightsDocument

    @model_validator(mode="after")
    def _cells_fit(self) -> PrivateTableDocument:
        axis = Axis(**self.axes[0].model_dump())
        cells = axis.cell_of(axis.high) + 1 - axis.cell_of(axis.low)
        base = self.counts if self.base is None else self.base
        lengths = {len(self.counts), len(self.rule.floors), len(self.weights), len(base)}
        if lengths != {cells} or sum(self.counts) < 1 or not self.settings.public_bounds:
            raise ValueError("cells")
        plain = self.delta == 0 and self.order is None
        rows = self.settings.unit is None or self.settings.unit_rows == "one"
        if not (plain and rows and self.check_settings()):
            raise ValueError("settings")
        return self


AnyDocument = PerInstanceDocument | PrivateTableDocument

DOCUMENT: TypeAdapter[AnyDocument] = TypeAdapter(
    Annotated[
        Annotated[PerInstanceDocument, Tag("profile")] | Annotated[PrivateTableDocument, Tag("rule")],
        Discriminator(lambda given: "rule" if isinstance(given, dict) and "rule" in given else "profile"),
    ]
)
"""Reads either of them."""
