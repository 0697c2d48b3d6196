"""What the experiments' pictures have in common: colours, lines, a panel for each epsilon, the figures behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from equinoise.experiments.datasets import Dataset
from equinoise.experiments.tables import NAMES, csv_of
from equinoise.present.charts import LOOKS, svg
from equinoise.present.figures.figure import altair

WIDTH, HEIGHT, ACROSS = 330, 170, 2

ORIGINAL = "original"
COLOURS = {ORIGINAL: "#9a9a9a", **{NAMES[method]: LOOKS[method][0] for method in NAMES}}
DASHED = NAMES["optimal"]
"""Drawn last and with gaps, so that what it lies on can be seen."""


@dataclass(frozen=True)
class Picture:
    """A picture, the words that say what is in it (in their first sentence how to read it), and the figures behind."""

    name: str
    title: str
    alt: str
    svg: str
    csv: bytes

    @property
    def caption(self) -> str:
        """How to read it; what can be seen in it is for whoever cannot see it."""
        return self.alt.split(". ", 1)[0].rstrip(".") + "."


def who(one: dict[str, Any]) -> dict[str, Any]:
    """Whose result it is, at which epsilon: the beginning of every point."""
    return {"epsilon": one["epsilon"], "method": NAMES.get(one["method"], one["method"])}


def curve(one: dict[str, Any], name: str, xs: Sequence[float], ys: Sequence[float | None]) -> list[dict[str, Any]]:
    """Points over a column's values, where there are any."""
    return [{**who(one), "value": x, name: y} for x, y in zip(xs, ys, strict=True) if y is not None]


def epsilons(items: Iterable[dict[str, Any]]) -> list[float]:
    """Those there are, ascending."""
    return sorted({item["epsilon"] for item in items})


def coloured(points: Sequence[dict[str, Any]]) -> Any:
    """A colour for each method, the same in all pictures."""
    there = {point["method"] for point in points}
    methods = [method for method in COLOURS if method in there]
    alt = altair()
    colours = alt.Scale(domain=methods, range=[COLOURS[method] for method in methods])
    return alt.Color("method:N", title=None, sort=methods, scale=colours)


def dashed() -> Any:
    """Gaps in the one line that lies on others."""
    alt = altair()
    return alt.condition(alt.datum.method == DASHED, alt.value([5, 3]), alt.value([1, 0]))


def panels(points: list[dict[str, Any]], name: str, data: Dataset, *, layered: bool = False) -> Any:
    """A line for each method over the column's values, one panel for each epsilon; the original as an area."""
    alt = altair()
    unit = data.units[data.column]
    y = alt.Y(f"{name}:Q", title="probability" if name == "probability" else f"noise SD ({unit})")
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("value:Q", title=f"{data.column} ({unit})").scale(zero=False, nice=False).axis(grid=False),
        color=coloured(points),
    )
    others = base.transform_filter("datum.method !== 'original'").mark_line(strokeWidth=1.5)
    others = others.encode(y=y, strokeDash=dashed())
    if not layered:
        return faceted(others, points)
    area = base.transform_filter("datum.method === 'original'").mark_area(interpolate="step", opacity=0.55)
    return faceted(area.encode(y=y.stack(None)) + others, points)


def faceted(chart: Any, points: Sequence[dict[str, Any]]) -> Any:
    """One panel for each epsilon."""
    alt = altair()
    header = alt.Header(labelExpr="'epsilon ' + datum.value", labelFontWeight="bold", labelFontSize=12)
    order = epsilons(points)
    return chart.properties(width=WIDTH, height=HEIGHT).facet(
        facet=alt.Facet("epsilon:O", title=None, header=header, sort=order), columns=ACROSS
    )


def picture(name: str, title: str, words: str, chart: Any, points: Sequence[dict[str, Any]]) -> Picture:
    """The chart drawn, with its words in it and its points beside it."""
    chart = chart.properties(title=altair().TitleParams(title, anchor="start"), description=f"{title}. {words}")
    header = list(dict.fromkeys(key for point in points for key in point))
    csv = csv_of(header, ([point.get(key, "") for key in header] for point in points))
    return Picture(name, title, words, svg(chart), csv)
