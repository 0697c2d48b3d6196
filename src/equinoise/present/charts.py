"""Pictures of closeness, of what draws cost and of losses end to end: PNG, SVG or a page that needs no network."""

from __future__ import annotations

import html
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equinoise.atomic_write import write_whole
from equinoise.errors import BadInput
from equinoise.formatting import at_most
from equinoise.present.figures import theme
from equinoise.present.figures.cost import cost
from equinoise.present.figures.figure import altair
from equinoise.present.figures.javascript import javascript
from equinoise.present.wording import SECRET
from equinoise.privacy.loss import PURE
from equinoise.privacy.promise import BOUNDS_NOT_PUBLIC

if TYPE_CHECKING:
    from equinoise.analysis.audit import Audit
    from equinoise.analysis.compare import Comparison
    from equinoise.analysis.end_to_end import EndToEnd
    from equinoise.analysis.methods import Row
    from equinoise.mechanisms.base import Mechanism

SUFFIXES = (".png", ".svg", ".html")

NAMES = {
    "best-response": "best response (game)",
    "optimal": "optimal (game)",
    "genetic": "genetic (game)",
    "laplace": "Laplace",
    "bounded-laplace": "bounded Laplace",
    "staircase": "staircase",
    "additive-smoothing": "additive smoothing",
    "bounded-smoothing": "bounded smoothing",
    "monotone-weights": "monotone weights",
    "dp-histogram": "DP histogram (OpenDP)",
}

LOOKS = {
    "best-response": ("#0072b2", "circle"),
    "optimal": ("#000000", "circle"),
    "genetic": ("#56b4e9", "circle"),
    "laplace": ("#d55e00", "square"),
    "bounded-laplace": ("#e69f00", "square"),
    "staircase": ("#7f3c00", "square"),
    "additive-smoothing": ("#cc79a7", "triangle-up"),
    "bounded-smoothing": ("#8a2a6b", "triangle-up"),
    "monotone-weights": ("#004d40", "triangle-up"),
    "dp-histogram": ("#009e73", "diamond"),
}
"""Colours that people with any colour vision tell apart, most of them Okabe and Ito's; the shape tells the promise."""

DASHES = [[1, 0], [8, 3], [2, 3], [8, 3, 2, 3], [12, 5]]
"""Lines of the game's rows, where families of noise are compared."""

STROKES = ("solid", "dashes", "dots", "dashes and dots", "long dashes")
"""The dashes in words."""

BELOW = {"orient": "bottom", "columns": 3, "columnPadding": 30, "labelLimit": 0}
"""Not beside the chart: there, what is wider than was measured is cut off."""

KINDS = [
    "Circles: one draw, per-instance, not DP. Triangles: one draw, DP.",
    "Diamonds: any number of draws, DP. Squares: everyone's noisy value, local DP.",
]

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval';
 style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
<script>{library}</script>
</head>
<body>
<div id="chart" role="img" aria-label="{description}"></div>
<script>vegaEmbed("#chart", {spec}, {options}).catch(console.error);</script>
</body>
</html>
"""
"""The policy keeps the page from loading or sending anything, whatever is in it."""

OPTIONS = {"mode": "vega-lite", "renderer": "svg", "actions": {"export": True, "source": False, "editor": False}}
"""No link that would send the private figures to an editor on the web."""


def check_picture(path: Path) -> None:
    """Refuse a name whose ending does not say which kind of picture it is."""
    if path.suffix.lower() not in SUFFIXES:
        raise BadInput(f"{str(path)!r} must end in .png, .svg or .html, so that it is clear what to draw.")


def plot_comparison(comparison: Comparison, path: str | Path, *, force: bool = False) -> None:
    """Save the picture of a comparison to a file that only its owner can read."""
    path = Path(path)
    check_picture(path)
    chart = comparison_chart(comparison)
    write_whole(path, [rendered(chart, path.suffix.lower())], mode=0o600, force=force)


def comparison_chart(comparison: Comparison) -> Any:
    """KL against epsilon, both logarithmic, one line a method. A KL of zero is drawn at the lower edge."""
    alt = altair()
    finite = [row for row in comparison.rows if math.isfinite(row.metrics["kl"])]
    above = [row.metrics["kl"] for row in finite if row.metrics["kl"] > 1e-15]  # below is what floats leave of zero
    lowest, highest = min(above, default=1e-6) / 2, max(above, default=1.0) * 2
    points = [
        {
            "kept": row.promised is not None,
            "epsilon": row.epsilon,
            "method": _name(row),
            "height": max(row.metrics["kl"], lowest),
            "size": 170 if row.method == "laplace" else 70,  # bounded Laplace often lies on top of it
            "dash": "bounded" if row.method == "bounded-laplace" else row.noise or "",
            "KL": f"{row.metrics['kl']:.4g}" + (f" ± {row.kl_spread:.2g}" if row.kl_spread is not None else ""),
            "protected": f"{row.protected:,} of {comparison.people:,}",
            "promise": row.promise,
        }
        for row in finite
    ]
    firsts = [rows[0] for rows in comparison.labels.values()]
    names = [_name(row) for row in firsts]
    colours = alt.Scale(domain=names, range=[LOOKS[row.method][0] for row in firsts])
    shapes = alt.Scale(domain=names, range=[LOOKS[row.method][1] for row in firsts])
    families = list(dict.fromkeys(row.noise for row in firsts if row.noise))
    dashes = alt.Scale(domain=["", "bounded", *families], range=[[1, 0], [5, 5], *DASHES[: len(families)]])
    epsilons = list(comparison.epsilons)
    decades = [10.0**k for k in range(math.ceil(math.log10(lowest)), math.floor(math.log10(highest)) + 1)]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("epsilon:Q", title="epsilon").scale(type="log", domain=[epsilons[0] / 1.15, epsilons[-1] * 1.15])
        .axis(values=epsilons, format="~g", grid=False),
        y=alt.Y("height:Q", title="KL divergence from the original (nats)")
        .scale(type="log", domain=[lowest, highest]).axis(values=decades, format="~g"),
        color=alt.Color("method:N", title="method", scale=colours, sort=names).legend(**BELOW),
        tooltip=[f"{name}:N" for name in ("method", "epsilon", "KL", "protected", "promise")],
    )  # fmt: skip
    kept, broken = base.transform_filter("datum.kept"), base.transform_filter("!datum.kept")
    lines = kept.mark_line(strokeWidth=1.8).encode(strokeDash=alt.StrokeDash("dash:N", scale=dashes, legend=None))
    marks = kept.mark_point(filled=True, opacity=1).encode(
        shape=alt.Shape("method:N", title="method", scale=shapes, sort=names).legend(**BELOW),
        size=alt.Size("size:Q", scale=None, legend=None),
    )
    crosses = broken.mark_text(text="\u2715", fontSize=18, fontWeight="bold")
    size = f"{comparison.people:,} people, {comparison.grid.cells:,} cells. Lower is closer."
    bounds = [] if comparison.public_bounds else [BOUNDS_NOT_PUBLIC]
    if any(row.promised is None for row in finite):
        bounds.append("Crosses: not everyone is protected there, and nothing is promised.")
    if len(families) > 1:
        named = ", ".join(f"{family}: {stroke}" for family, stroke in zip(families, STROKES, strict=False))
        bounds.append(f"Lines of the game, by its noise: {named}.")
    return (lines + marks + crosses).properties(
        width=620,
        height=420,
        title=alt.TitleParams(_title(comparison), subtitle=[size, *KINDS, *bounds, SECRET], anchor="start"),
        description=_description(comparison),
    )


def plot_costs(mechanism: Mechanism, costs: list[dict[str, float]], path: str | Path, *, force: bool = False) -> None:
    """Save the picture of how cost grows to a file that only its owner can read."""
    path = Path(path)
    check_picture(path)
    figure = cost(mechanism, costs=costs)
    write_whole(path, [figure.picture(path.suffix.lower())], mode=0o600, force=force)


def _name(row: Row) -> str:
    return NAMES[row.method] if row.noise is None else f"{NAMES[row.method]}, {row.noise}"


def plot_end_to_end(found: Audit, path: str | Path, *, force: bool = False) -> None:
    """Save the picture of an end-to-end audit to a file that only its owner can read."""
    path = Path(path)
    check_picture(path)
    write_whole(path, [rendered(end_to_end_chart(found), path.suffix.lower())], mode=0o600, force=force)


def end_to_end_chart(found: Audit) -> Any:
    """The loss of a person of each occupied cell, others' noise fixed and end to end, against the target.

    An infinite loss is a cross at the upper edge."""
    alt = altair()
    measured, m = found.end_to_end, found.mechanism
    assert measured is not None
    names = ["others' noise fixed", "end to end"]
    pure = measured.condition.kind == PURE
    points = []
    for row, loss in zip(found.cells(), measured.losses.tolist(), strict=True):
        where = {"value": (row["from"] + row["to"]) / 2, "cell": row["cell"], "people": row["people"]}
        points += [{**where, "what": names[0], "loss": row["worst_loss"]}, {**where, "what": names[1], "loss": loss}]
    finite = [point["loss"] for point in points if math.isfinite(point["loss"])]
    top = 1.1 * max([*finite, m.epsilon])
    points = [
        {**point, "height": min(point["loss"], top), "loss": at_most(point["loss"]), "ends": point["loss"] <= top}
        for point in points
    ]
    title = f"Loss of one draw, end to end, for column {m.grid.axis.name!r}"
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("value:Q", title=m.grid.axis.label).scale(zero=False).axis(grid=False),
        y=alt.Y("height:Q", title="loss of one draw").scale(domain=[0, top]),
        color=alt.Color("what:N", title=None, sort=names)
        .scale(domain=names, range=["#0072b2", "#d55e00"])
        .legend(**theme.ABOVE),
        shape=alt.Shape("what:N", title=None, sort=names)
        .scale(domain=names, range=["circle", "diamond"])
        .legend(**theme.ABOVE),
        tooltip=[f"{name}:N" for name in ("what", "cell", "people", "loss")],
    )
    marks = base.transform_filter("datum.ends").mark_point(filled=True, size=60, opacity=1)
    crosses = base.transform_filter("!datum.ends").mark_text(text="\u2715", fontSize=16, fontWeight="bold")
    crossed = " Crosses: infinite." if len(finite) < len(points) else ""
    subtitle = [f"{int(measured.people.sum()):,} people.{crossed}", SECRET]
    if pure:
        line = alt.Chart(alt.Data(values=[{"target": measured.target}])).mark_rule(strokeDash=[5, 4], color="#000000")
        marks = line.encode(y="target:Q") + marks
        subtitle[0] = f"{subtitle[0]} The dashed line is the target, {at_most(measured.target)}."
    return (marks + crosses).properties(
        width=620,
        height=420,
        title=alt.TitleParams(title, subtitle=subtitle, anchor="start"),
        description=f"{title}. {measured.sentence} {_cells_in_words(measured)}",
    )


def _cells_in_words(measured: EndToEnd) -> str:
    pairs = zip(measured.cells.tolist(), measured.losses.tolist(), strict=True)
    return "By cell: " + ", ".join(f"{cell}: {at_most(loss)}" for cell, loss in pairs) + "."


def _title(comparison: Comparison) -> str:
    return f"How far from the original each method ends, for {comparison.title}"


def _description(comparison: Comparison) -> str:
    """The picture in words, for whoever cannot see it."""
    lines = [
        f"{_name(rows[0])}: "
        + ", ".join(
            f"{row.metrics['kl']:.3g} at epsilon {at_most(row.epsilon)}"
            + ("" if row.promised is not None else " (nothing is promised)")
            for row in rows
        )
        for rows in comparison.labels.values()
    ]
    return f"{_title(comparison)}. KL divergence by method. {'; '.join(lines)}."


def svg(chart: Any) -> str:
    """A chart with a title and a description, as SVG that says both."""
    return rendered(chart, ".svg").decode()


def rendered(chart: Any, suffix: str) -> bytes:
    """A chart with a title and a description as the content of a .html, .svg or .png file."""
    if suffix == ".html":
        return _page(chart).encode()
    if suffix == ".svg":
        text = io.StringIO()
        chart.save(text, format="svg")
        head, rest = text.getvalue().split(">", 1)
        title, description = html.escape(chart.title.text), html.escape(chart.description)
        return f'{head} role="img"><title>{title}</title><desc>{description}</desc>{rest}'.encode()
    picture = io.BytesIO()
    chart.save(picture, format="png", ppi=144)
    return picture.getvalue()


def _page(chart: Any) -> str:
    spec = chart.to_dict()
    safe = json.dumps(spec).replace("<", "\\u003c")  # a column may be named </script>
    return PAGE.format(
        title=html.escape(spec["title"]["text"]),
        description=html.escape(spec["description"]),
        library=javascript(),
        spec=safe,
        options=json.dumps(OPTIONS),
    )
