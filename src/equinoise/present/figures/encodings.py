"""What charts are built of: points, axes with few and round ticks, names in a legend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from importlib import import_module
from typing import Any

from equinoise.present.figures import theme


def altair() -> Any:
    """Altair, loaded when it is first needed: it takes a second."""
    return import_module("altair")


def chart_of(points: Sequence[Mapping[str, Any]]) -> Any:
    """A chart of points, without marks yet."""
    alt = altair()
    return alt.Chart(alt.Data(values=points))


LETTERS_ACROSS, MOST_WORDS, NAMES_ACROSS, LABEL_PIXELS = 40, 3, 24, 140
"""Under a chart as narrow as a phone: letters that fit beside each other, lines, slanted names, and the longest."""


@dataclass(frozen=True)
class Legend:
    """Names told apart by colour and shape, above a chart; a click on one leaves the others pale.

    ``looks`` has a colour and a shape for each value of ``field``; ``panel`` is the number of the chart in its figure.
    """

    field: str
    looks: Mapping[str, tuple[str, str]]
    panel: int = 0
    columns: Any = None

    def _channel(self, kind: Any, part: int) -> Any:
        names, extra = list(self.looks), {} if self.columns is None else {"columns": self.columns}
        channel = kind(f"{self.field}:N", title=None, sort=names)
        return channel.scale(domain=names, range=[look[part] for look in self.looks.values()]).legend(
            **theme.ABOVE, **extra
        )

    @cached_property
    def choice(self) -> Any:
        """The name that was clicked on; belongs to one layer of the chart."""
        return altair().selection_point(name=f"chosen{self.panel}", fields=[self.field], bind="legend")

    @property
    def colour(self) -> dict[str, Any]:
        """What lines and points encode: colour, and whether they are pale."""
        alt = altair()
        pale = alt.when(self.choice).then(alt.value(1)).otherwise(alt.value(0.08))
        return {"color": self._channel(alt.Color, 0), "opacity": pale}

    @property
    def shape(self) -> dict[str, Any]:
        """What points encode besides; lines have none."""
        return {"shape": self._channel(altair().Shape, 1)}


def value_axis(field: str, title: str, *, nice: bool = False, day_zero: str | None = None) -> Any:
    """A column's values, from left to right; those of a column of dates are days since ``day_zero``."""
    axis = altair().X(f"{field}:Q", title=title).scale(zero=False, nice=nice)
    return axis.axis(grid=False, tickCount=6, **day_labels(day_zero))


def day_labels(day_zero: str | None) -> dict[str, Any]:
    """What an axis of days since a date has besides: dates at its ticks."""
    return {} if day_zero is None else {"labelExpr": day_text(day_zero, "datum.value")}


def day_text(day_zero: str, days: str) -> str:
    """The expression of a chart for the date so many days after another."""
    since_1970 = (date.fromisoformat(day_zero) - date(1970, 1, 1)).days
    return f"utcFormat(({since_1970} + {days}) * 864e5, '%Y-%m-%d')"


def name_axis(field: str, title: str, names: Sequence[str]) -> Any:
    """Categories by their names, from left to right: a word a line where that fits, slanted where it does not."""
    words = [name.split(" ") for name in names]
    longest = max((len(word) for each in words for word in each), default=0)
    fits = len(names) * longest <= LETTERS_ACROSS and max(map(len, words), default=0) <= MOST_WORDS
    look = {"labelAngle": 0, "labelExpr": "split(datum.label, ' ')"} if fits else {"labelAngle": -40}
    axis = altair().X(f"{field}:N", title=title, sort=list(names))
    return axis.axis(grid=False, labelLimit=LABEL_PIXELS, labelOverlap=len(names) > NAMES_ACROSS, **look)


def log_x(field: str, title: str, ticks: Sequence[float], form: str = "~g", *, room: bool = False) -> Any:
    """A logarithmic axis from left to right, with these ticks; ``room`` leaves some on either side."""
    around = {"domain": log_domain(ticks)} if room else {}
    axis = altair().X(f"{field}:Q", title=title).scale(type="log", nice=False, **around)
    return axis.axis(values=ticks, format=form, grid=False)


def log_y(field: str, title: str, values: Sequence[float]) -> Any:
    """A logarithmic axis upwards that all values fit on."""
    axis = altair().Y(f"{field}:Q", title=title).scale(type="log", domain=log_domain(values), nice=False)
    return axis.axis(values=log_ticks(values), format="~g")


def level(value: float, dash: Sequence[int] = (5, 4)) -> Any:
    """A dashed line across a chart, at one height."""
    return chart_of([{"level": value}]).mark_rule(strokeDash=list(dash)).encode(y="level:Q")


def tip(field: str, title: str | None = None, form: str = ".4~g") -> Any:
    """A number that is told where the pointer is."""
    return altair().Tooltip(f"{field}:Q", title=title or field, format=form)


def log_ticks(values: Iterable[float]) -> list[float]:
    """Powers of ten within the values' range and next to it; with few of them also their halves and fifths."""
    low, high = _range(values)
    decades = _decades(low, high)
    if len(decades) > 8:
        return decades[:: len(decades) // 6]
    return decades if len(decades) > 3 else _times(decades, (1, 2, 5))


def log_domain(values: Iterable[float]) -> list[float]:
    """The range of values, with some room on either side."""
    low, high = _range(values)
    room = max((high / low) ** 0.06, 1.15)
    return [low / room, high * room]


def symlog_ticks(values: Iterable[float], unit: float) -> list[float]:
    """Zero, and round numbers from about one unit on."""
    _, high = _range([*values, unit])
    return [0.0, *(tick for tick in _times(_decades(unit, high), (1, 3)) if unit / 3 <= tick <= 1.2 * high)]


def tick_format(ticks: Iterable[float]) -> str:
    """Three digits as D3 writes them. Digits must be named: without, an axis takes 1e+3 for short enough."""
    return ",.3~r" if all(tick == 0 or 1e-6 <= abs(tick) < 1e12 for tick in ticks) else ".3~g"


def _decades(low: float, high: float) -> list[float]:
    return [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def _times(decades: Sequence[float], factors: Sequence[int]) -> list[float]:
    return [factor * decade for decade in decades for factor in factors]


def _range(values: Iterable[float]) -> tuple[float, float]:
    usable = [value for value in values if 0 < value < math.inf] or [1.0]
    return min(usable), max(usable)
