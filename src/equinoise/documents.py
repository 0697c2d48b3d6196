"""What a saved file says of a mechanism, checked as far as can be without maths."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter, model_validator

from equinoise.draws import MOST, MOST_DRAWS
from equinoise.grid import MOST_BINS, Axis
from equinoise.joint_noise import MOST_AXES, MOST_CELLS, weight_bits
from equinoise.noise import MOST_SCALES


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
    guarantee: Literal["fixed-noise", "end-to-end", "worst-case"] = "fixed-noise"
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


class MeasuredDocument(_Strict):
    """The loss with the noise worked out again, and what was asked for."""

    worst: float = Field(ge=0)
    target: float = Field(gt=0)

    @model_validator(mode="after")
    def _within(self) -> MeasuredDocument:
        if self.worst > self.target:
            raise ValueError("measured")
        return self


class Document(_Strict):
    """What the saved mechanisms of all tiers share."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=MOST_AXES)
    epsilon: float = Field(gt=0)
    draws: int = Field(ge=1, le=MOST_DRAWS)
    budget: BudgetDocument | None = None
    settings: SettingsDocument

    def check_settings(
        self, tier: str, target: float, delta: float = 0.0, order: float | None = None, noise: str | None = None
    ) -> bool:
        """Whether what was asked for, as far as it is told, is what the mechanism is.

        ``target`` and ``delta`` are of one draw.
        """
        asked, names = self.settings, [axis.name for axis in self.axes]
        epsilon, delta = (target, delta) if self.budget is None else (self.budget.epsilon, self.budget.delta)
        own = {
            "guarantee": tier, "epsilon": epsilon, "draws": self.draws, "delta": delta, "renyi": order,
            "noise": asked.noise if noise is None else noise, "column": names[0] if len(names) == 1 else names,
        }  # fmt: skip
        several = len(self.axes) > 1 or tier == "worst-case"
        return (
            all(getattr(asked, name) == value for name, value in own.items() if name in asked.model_fields_set)
            and (asked.unit is not None or asked.unit_rows == "all")
            and (asked.unit is None or asked.unit_rows == "one" or not several)
        )


class ProfileDocument(Document):
    """All of a mechanism of the game but its scales and its weights."""

    tier: Literal["fixed-noise", "end-to-end"] = "fixed-noise"
    noise: Literal["laplace", "gaussian", "geometric", "staircase", "uniform-mixture"]
    cells: list[Annotated[int, Field(ge=0)]] = Field(min_length=1)
    scale_indices: list[Annotated[int, Field(ge=0)]]
    people: list[Annotated[int, Field(gt=0)]]
    delta: float = Field(0.0, ge=0, lt=1)
    order: float | None = Field(None, gt=1)
    measured: MeasuredDocument | None = None
    solver: SolverDocument

    def check_groups(self, scales: int, places: list[Any] | None = None) -> bool:
        """Whether the lists belong together, on a grid and with so many scales; ``places`` are bags, if not cells."""
        groups = list(zip(self.cells if places is None else places, self.scale_indices, strict=True))
        return (
            len(groups) == len(self.people)
            and groups == sorted(set(groups))
            and max(self.cells) < math.prod(axis.bins for axis in self.axes)
            and max(self.scale_indices) < scales
            and sum(self.people) <= MOST
            and [self.delta > 0, self.order is not None, self.budget is not None, self.measured is not None].count(True)
            <= 1
            and (self.tier == "end-to-end") == (self.measured is not None)
            and self.check_settings(
                self.tier,
                self.epsilon if self.measured is None else self.measured.target,
                self.delta,
                self.order,
                self.noise,
            )
            and (self.delta == 0 or self.draws == 1)
        )


class FixedNoiseDocument(ProfileDocument):
    """One column."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=1)
    scales: list[Annotated[float, Field(gt=0)]] = Field(min_length=1, max_length=MOST_SCALES)
    weight_total: Literal[4294967296]

    @model_validator(mode="after")
    def _fits(self) -> FixedNoiseDocument:
        if not self.check_groups(len(self.scales)) or self.scales != sorted(self.scales):
            raise ValueError("groups")
        return self


class UnitDocument(ProfileDocument):
    """One column, people with several rows: ``bags`` has the cells, and how often, of a person of every group."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=1)
    scales: list[Annotated[float, Field(gt=0)]] = Field(min_length=1, max_length=MOST_SCALES)
    weight_total: Literal[4294967296]
    bags: list[list[Annotated[list[Annotated[int, Field(ge=0, lt=MOST)]], Field(min_length=2, max_length=2)]]]

    @model_validator(mode="after")
    def _fits(self) -> UnitDocument:
        plain = self.tier == "fixed-noise" and self.delta == 0 and self.order is None and self.measured is None
        cells, sizes = [[cell for cell, _ in bag] for bag in self.bags], [sum(m for _, m in bag) for bag in self.bags]
        fit = (
            plain
            and self.settings.unit is not None
            and self.settings.unit_rows == "all"
            and len(self.bags) == len(self.people)
            and sum(n * rows for n, rows in zip(self.people, sizes, strict=True)) <= MOST
            and max(sizes) * self.weight_total <= MOST
            and all(here and here == sorted(set(here)) and here[-1] < self.axes[0].bins for here in cells)
            and all(times > 0 for bag in self.bags for _, times in bag)
            and self.cells == [here[0] for here in cells]
            and self.check_groups(len(self.scales), [tuple(map(tuple, bag)) for bag in self.bags])
            and self.scales == sorted(self.scales)
        )
        if not fit:
            raise ValueError("groups")
        return self


class JointDocument(ProfileDocument):
    """Several columns: ``scales`` has one scale per column for every choice."""

    axes: list[AxisDocument] = Field(min_length=2, max_length=MOST_AXES)
    scales: list[list[Annotated[float, Field(gt=0)]]] = Field(min_length=1, max_length=MOST_SCALES)
    weight_total: int

    @model_validator(mode="after")
    def _fits(self) -> JointDocument:
        columns = len(self.axes)
        plain = self.tier == "fixed-noise" and self.delta == 0 and self.order is None and self.measured is None
        fit = (
            plain
            and self.check_groups(len(self.scales))
            and all(len(choice) == columns for choice in self.scales)
            and len({axis.name for axis in self.axes}) == columns
            and math.prod(axis.bins for axis in self.axes) <= MOST_CELLS
            and self.weight_total == 2 ** (weight_bits(columns) * columns)
        )
        if not fit:
            raise ValueError("groups")
        return self


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


class WorstCaseDocument(Document):
    """All of a mechanism of the worst-case tier."""

    axes: list[AxisDocument] = Field(min_length=1, max_length=1)
    tier: Literal["worst-case"]
    counts: list[Annotated[int, Field(ge=0, lt=MOST)]] = Field(min_length=1)
    rule: RuleDocument
    weights: list[Annotated[int, Field(ge=1)]]
    base: list[Annotated[float, Field(ge=0)]] | None = None
    solver: WeightsDocument

    @model_validator(mode="after")
    def _cells_fit(self) -> WorstCaseDocument:
        axis = Axis(**self.axes[0].model_dump())
        cells = axis.cell_of(axis.high) + 1 - axis.cell_of(axis.low)
        base = self.counts if self.base is None else self.base
        lengths = {len(self.counts), len(self.rule.floors), len(self.weights), len(base)}
        if lengths != {cells} or sum(self.counts) < 1 or not self.settings.public_bounds:
            raise ValueError("cells")
        if not self.check_settings(self.tier, self.epsilon):
            raise ValueError("settings")
        return self


def _kind(document: Any) -> str:
    if not isinstance(document, dict):
        return "fixed-noise"
    if document.get("tier") == "worst-case":
        return "worst-case"
    axes = document.get("axes")
    if "bags" in document:
        return "units"
    return "joint" if isinstance(axes, list) and len(axes) > 1 else "fixed-noise"


AnyDocument = FixedNoiseDocument | UnitDocument | JointDocument | WorstCaseDocument

DOCUMENT: TypeAdapter[AnyDocument] = TypeAdapter(
    Annotated[
        Annotated[FixedNoiseDocument, Tag("fixed-noise")]
        | Annotated[UnitDocument, Tag("units")]
        | Annotated[JointDocument, Tag("joint")]
        | Annotated[WorstCaseDocument, Tag("worst-case")],
        Discriminator(_kind),
    ]
)
"""Reads any of them."""
