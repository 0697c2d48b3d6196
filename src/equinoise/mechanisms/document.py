"""What a saved file says of a mechanism, checked as far as can be without maths."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from equinoise.data.grid import Axis, CategoryAxis
from equinoise.data.read_players import column_of
from equinoise.game.kernel import MOST_AXES
from equinoise.settings import MOST_BINS, SETTINGS, check_settings


class Strict(BaseModel):
    """What is neither unknown nor of another type than it should be."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class AxisDocument(Strict):
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


class CategoryAxisDocument(Strict):
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


class BudgetDocument(Strict):
    """What all draws together may cost."""

    epsilon: float = Field(gt=0)
    delta: float = Field(ge=0, lt=1)


class Document(Strict):
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

    @property
    def total_delta(self) -> float:
        """Of one draw, or of all together within a budget."""
        return self.delta if self.budget is None else self.budget.delta

    def check_settings(self, **own: Any) -> bool:
        """Whether what was asked for, as far as it is told, is what the mechanism is; ``own`` is of one promise."""
        names = [axis.name for axis in self.axes]
        total = self if self.budget is None else self.budget
        own |= {
            "epsilon": total.epsilon, "order": self.order,
            "column": names[0] if len(names) == 1 else names,
        }  # fmt: skip
        return all(self.settings[name] == value for name, value in own.items() if name in self.settings)
