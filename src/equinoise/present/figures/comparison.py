"""How far from the original each method ends, against epsilon."""

from __future__ import annotations

import math
from typing import Any

from equinoise.analysis.compare import Comparison
from equinoise.analysis.method_row import Row, model_delta
from equinoise.formatting import at_most
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import Legend, altair, chart_of, log_x, log_y
from equinoise.present.figures.figure import Figure
from equinoise.privacy.promise import BOUNDS_NOT_PUBLIC

HEIGHT = 420
"""Of the chart, in pixels: there are many lines."""

DASHES = {"solid": [1, 0], "dashes": [8, 3], "dots": [2, 3], "dashes and dots": [8, 3, 2, 3], "long dashes": [12, 5]}
"""Lines of the game's rows, where families of noise are compared."""

SHAPES = (
    "Circles: {draws}, per-instance, not DP. Triangles: {draws}, DP. Diamonds: any number of draws, DP{models}. "
    "Squares: everyone's noisy value, local DP."
)


def comparison_figure(comparison: Comparison) -> Figure:
    """KL (nats) against epsilon, both logarithmic, one line a method. A KL of zero is drawn at the lower edge."""
    finite = [row for row in comparison.rows if math.isfinite(row.metrics["kl"])]
    firsts = [rows[0] for rows in comparison.labels.values()]
    families = dict(zip(dict.fromkeys(row.noise for row in firsts if row.noise), DASHES, strict=False))
    rows = comparison.rows_to_draw
    draws = "one draw" if rows == 1 else f"{rows:,} draws together"
    delta = max(model_delta(method, len(comparison.grid.axes)) for method in comparison.methods)
    models = f" (AIM and MST with delta {at_most(delta)})" if delta > 0 else ""
    shapes = SHAPES.format(draws=draws, models=models)
    caption = f"{comparison.people:,} people, {comparison.grid.cells:,} cells. Lower is closer. {shapes}"
    if not comparison.public_bounds:
        caption += f" {BOUNDS_NOT_PUBLIC}"
    if any(row.promised is None for row in finite):
        caption += " Crosses: not everyone is protected there, and nothing is promised."
    if len(families) > 1:
        lines = ", ".join(f"{family}: {stroke}" for family, stroke in families.items())
        caption += f" Lines of the game, by its noise: {lines}."
    table = [
        (_name(row), row.epsilon, _kl(row), f"{row.protected:,} of {comparison.people:,}", row.promise)
        for row in comparison.rows
    ]
    return Figure(
        "comparison", f"How far from the original each method ends, for {comparison.title}", caption,
        _words(comparison), (_chart(comparison, finite, firsts, families),),
        ("method", "epsilon", "KL", "protected", "promise"), table,
    )  # fmt: skip


def _name(row: Row) -> str:
    name = theme.METHODS[row.method].name
    return name if row.noise is None else f"{name}, {row.noise}"


def _kl(row: Row) -> str:
    return f"{row.metrics['kl']:.4g}" + (f" ± {row.kl_spread:.2g}" if row.kl_spread is not None else "")


def _words(comparison: Comparison) -> str:
    lines = [
        f"{_name(rows[0])}: "
        + ", ".join(
            f"{row.metrics['kl']:.3g} at epsilon {at_most(row.epsilon)}"
            + ("" if row.promised is not None else " (nothing is promised)")
            for row in rows
        )
        for rows in comparison.labels.values()
    ]
    return f"KL divergence by method. {'; '.join(lines)}."


def _chart(comparison: Comparison, finite: list[Row], firsts: list[Row], families: dict[str, str]) -> Any:
    alt = altair()
    above = [row.metrics["kl"] for row in finite if row.metrics["kl"] > 1e-15]  # below is what floats leave of zero
    lowest = min(above, default=1e-6) / 2
    points = [
        {
            "promised": row.promised is not None,
            "epsilon": row.epsilon,
            "method": _name(row),
            "height": max(row.metrics["kl"], lowest),
            "size": 170 if row.method == "laplace" else 70,  # bounded Laplace often lies on top of it
            "dash": "bounded" if row.method == "bounded-laplace" else row.noise or "",
            "KL": _kl(row),
            "protected": f"{row.protected:,} of {comparison.people:,}",
            "promise": row.promise,
        }
        for row in finite
    ]
    columns = {"expr": "width < 400 ? 1 : 3"}  # on a phone, one below the other
    legend = Legend("method", {_name(row): theme.METHODS[row.method][1:] for row in firsts}, columns=columns)
    dashes = {"": [1, 0], "bounded": [5, 5], **{family: DASHES[stroke] for family, stroke in families.items()}}
    base = chart_of(points).encode(
        x=log_x("epsilon", "epsilon", list(comparison.epsilons), room=True),
        y=log_y("height", "KL divergence from the original (nats)", [lowest, *above]),
        **legend.colour,
        tooltip=[f"{name}:N" for name in ("method", "epsilon", "KL", "protected", "promise")],
    )
    kept, broken = base.transform_filter("datum.promised"), base.transform_filter("!datum.promised")
    scale = alt.Scale(domain=list(dashes), range=list(dashes.values()))
    lines = kept.mark_line(strokeWidth=1.8).encode(strokeDash=alt.StrokeDash("dash:N", scale=scale, legend=None))
    marks = kept.mark_point(filled=True).encode(**legend.shape, size=alt.Size("size:Q", scale=None, legend=None))
    crosses = broken.mark_point(shape="cross", angle=45, filled=True, size=160)
    return alt.layer(lines.add_params(legend.choice), marks, crosses).properties(height=HEIGHT)
