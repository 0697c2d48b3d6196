"""A column of numbers or dates, cut into bins; values to bins and back."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equinoise.data.codes import ABOVE, BELOW, MISSING, TEXT, is_absent
from equinoise.errors import BadInput
from equinoise.formatting import format_number, printable
from equinoise.settings import check_settings

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MISSING_LABEL = "missing"

MOST_VALUES = 2**32
"""So many steps a column has at most."""

MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?(Z|[+-][0-9:]{2,6})?)?")
"""The one form of a date, or of a date and a time of day, in text."""


@dataclass(frozen=True)
class Axis:
    """A column of numbers, cut into bins. Lengths are in data units.

    The ``bins`` are equal parts of [low - padding, high + padding]. With a ``step``, values are low, low + step, ...,
    high, the padding is half a step, and every bin is a run of whole steps, none longer than another by more than one.
    Where ``missing`` is ``category``, the last bin is for those who have no value. With ``day_zero`` (ISO) numbers are
    days since that date. ``outside`` and ``missing`` say what becomes of values that no bin is for.
    """

    name: str
    low: float
    high: float
    bins: int
    padding: float = 0.0
    step: float | None = None
    missing: str = "refuse"
    outside: str = "refuse"
    day_zero: str | None = None

    kind: ClassVar[str] = "number"

    @classmethod
    def padded(
        cls, name: str, low: float, high: float, *, bins: int = 101, padding_epsilon: float = 1.0,
        percentile: float = 0.9, missing: str = "refuse", outside: str = "refuse",
    ) -> Axis:  # fmt: skip
        """The paper's axis: [low, high] padded so that Laplace noise at ``padding_epsilon`` stays inside with
        probability ``percentile``.

        The half-width is (high - low) / padding_epsilon * ln(1 / (2 - 2 percentile)). It has an epsilon of
        its own so that one grid serves every epsilon of the game.

        >>> axis = Axis.padded("height", 163, 226)
        >>> round(axis.padding, 2), axis.bins, axis.cell_of(163.0), axis.cell_of(226.0)
        (101.39, 101, 38, 62)
        """
        low, high = check_bounds(name, low, high)
        check_settings({"bins": bins, "padding_epsilon": padding_epsilon, "percentile": percentile})
        padding = (high - low) / float(padding_epsilon) * math.log(1 / (2 - 2 * float(percentile)))
        axis = cls(name, low, high, int(bins), padding, missing=missing, outside=outside)
        axis.check_resolvable()
        return axis

    def check_resolvable(self) -> None:
        """Refuse a range that floating point cannot cut into bins, or into steps."""
        largest, finest = max(abs(self.padded_low), abs(self.padded_high)), min(self.width, self.step or math.inf)
        if not largest < 1e150 or not finest > max(1e-150, 8 * math.ulp(largest)) or self.steps > MOST_VALUES:
            padded = f", padded by {self.padding:.3g}," if self.padding and self.step is None else ""
            raise BadInput(
                f"The bounds {format_number(self.low)} and {format_number(self.high)} of column {self.name!r}{padded} "
                f"cannot be cut into {self.number_bins} bins in floating point. Rescale the column "
                "(divide by a power of ten, or subtract a constant) and try again."
            )

    @property
    def categories(self) -> int:
        """How many of the bins have no order, the last ones: that of the missing, or none."""
        return int(self.missing == "category")

    @property
    def number_bins(self) -> int:
        """How many of the bins are for numbers."""
        return self.bins - self.categories

    @property
    def label(self) -> str:
        """The name as a picture or a page shows it, whatever letters it has."""
        return picture_label(self.name)

    @property
    def padded_low(self) -> float:
        """Lower end of the first bin."""
        return self.low - self.padding

    @property
    def padded_high(self) -> float:
        """Upper end of the last bin of numbers."""
        return self.high + self.padding

    @property
    def range(self) -> float:
        """Length of all bins of numbers: the unit of every noise scale."""
        return self.padded_high - self.padded_low

    @property
    def reach(self) -> float:
        """How far apart two people's values can be, as a share of the range."""
        return (self.high - self.low) / self.range

    @property
    def width(self) -> float:
        """Width of one bin; with steps that the bins do not share out evenly, the mean of them."""
        return self.range / self.number_bins

    @property
    def per_width(self) -> float:
        """Bins per unit. Counting multiplies by this and never divides: engines divide one value and many values
        differently in the last bit, and a person's bin must not depend on who else is there."""
        return 1 / self.width

    @property
    def steps(self) -> int:
        """How many values there are: 0 without a step."""
        return 0 if self.step is None else round((self.high - self.low) / self.step) + 1

    @cached_property
    def first_steps(self) -> Ints:
        """The number of the first step in every bin of numbers, and of the one after the last: bins + 1."""
        return -(-np.arange(self.number_bins + 1, dtype=np.int64) * self.steps // self.number_bins)

    def cell_of(self, value: float) -> int:
        """The bin of one value; the ends of the range belong to the first and the last bin."""
        if self.step is not None:
            step = min(max(math.floor((value - self.low) * (1 / self.step) + 0.5), 0), self.steps - 1)
            return step * self.number_bins // self.steps
        return int(min(max(math.floor((value - self.padded_low) * self.per_width), 0), self.number_bins - 1))

    def code_of(self, value: Any) -> int:
        """The bin of a date or what is wrong with it, for a column of dates.

        A time of day does not count. One of a time zone is no date, as its day depends on the zone, unless that is UTC;
        nor is text in another form than 2024-12-31, or 2024-12-31 23:59:59.
        """
        if is_absent(value) or (isinstance(value, str) and not value.strip()):
            return MISSING
        day = _moment(value) if isinstance(value, str) else value
        if isinstance(day, datetime):
            day = None if day.utcoffset() else day.date()
        if not isinstance(day, date):
            return TEXT
        days = (day - date.fromisoformat(str(self.day_zero))).days
        return BELOW if days < self.low else ABOVE if days > self.high else self.cell_of(days)

    def edges(self) -> Floats:
        """Where the bins of numbers begin and end, in data units: bins + 1."""
        if self.step is not None:
            return np.asarray(self.low + (self.first_steps - 0.5) * self.step)
        return np.asarray(self.padded_low + np.arange(self.number_bins + 1, dtype=np.float64) * self.width)

    def midpoints(self) -> Floats:
        """What stands for every bin of numbers, in data units, rounded to about a millionth of a bin; with steps the
        mean of those in the bin."""
        edges = self.edges()
        return np.round((edges[:-1] + edges[1:]) / 2, 6 - math.floor(math.log10(self.width)))

    def bin_label(self, bin: int) -> str:
        """A bin as people read it."""
        if bin >= self.number_bins:
            return MISSING_LABEL
        if self.step is None:
            low = self.padded_low + bin * self.width
            return f"{low:.5g} to {low + self.width:.5g}"
        first, past = self.first_steps[bin : bin + 2].tolist()
        ends = (self.value_label(self.low + step * self.step) for step in (first, past - 1))
        return " to ".join(dict.fromkeys(ends))

    def value_label(self, value: float) -> str:
        """A number of this column as people read it: a date, or a number in a few digits."""
        return f"{value:.10g}" if self.day_zero is None else str(self.to_value(value))

    def to_value(self, number: float) -> int | float | date:
        """A number of this column in its own type: a date, a whole number where all values are, or a float."""
        if self.day_zero is not None:
            return date.fromordinal(date.fromisoformat(self.day_zero).toordinal() + round(number))
        return int(number) if self.whole else number

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.step is not None and self.step.is_integer() and self.low.is_integer()

    @property
    def step_value(self) -> int | float | None:
        """The step as it was written."""
        return int(self.step) if self.step is not None and self.step.is_integer() else self.step

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON shows them."""
        return {"kind": self.kind, **asdict(self)}


def _moment(text: str) -> datetime | None:
    """A date in text, maybe with a time of day; None if it is none."""
    try:
        return datetime.fromisoformat(text.strip()) if MOMENT.fullmatch(text.strip()) else None
    except ValueError:
        return None


def picture_label(name: str) -> str:
    """Vega takes a backslash in a title for the beginning of an escape, so a sign that looks like one stands for it."""
    return printable(name).replace("\\", "\u2216")


def check_bounds(name: str, low: float, high: float) -> tuple[float, float]:
    """Bounds as floats; refuses what are none."""
    low, high = float(low), float(high)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise BadInput(f"The bounds of column {name!r} must be finite numbers. Got {low} and {high}.")
    if not low < high:
        raise BadInput(
            f"The bounds of column {name!r} must be two different numbers, the lower one first. "
            f"Got {format_number(low)} and {format_number(high)}."
        )
    return low, high
