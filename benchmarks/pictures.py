"""Draw the pictures of README and docs: `make pictures`, or `python -m benchmarks.pictures`.

All but the table are of one mechanism, made from 1,844 heights that anyone may have (extra 'experiments'), so that
they can be made again; the table's noise is seeded. Each is one SVG file that is drawn in light colours and, where the
reader prefers it, in dark ones.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

import equinoise
from benchmarks.heights import players
from benchmarks.pay_cases import counted, whole
from benchmarks.pay_cases import players as everyone
from benchmarks.pay_once import noise
from equinoise.data.grid import CategoryAxis
from equinoise.formatting import at_most
from equinoise.game.noise import noise_mass
from equinoise.present.figures import Figure, make_figure, theme
from equinoise.present.figures.encodings import altair
from equinoise.present.figures.per_bin import edges
from equinoise.synthesis.estimate import estimate

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
BOUNDS, EPSILON = (150.0, 240.0), 1.0
SHOWN = 115, 215
"""The part of the padded range in which the picture of hiding looks, in cm."""
HEIGHT = 260
TABLE_ROWS, TABLE_WIDTH = 300, 190
OWN, OTHER, ALL = theme.COLOURS[theme.RELEASED], theme.COLOURS[theme.LAPLACE], theme.COLOURS[theme.ORIGINAL]


def mechanism() -> equinoise.PerInstance:
    """What all pictures are of."""
    made = equinoise.optimize(players(), column="height", bounds=BOUNDS, epsilon=EPSILON, grid="paper")
    assert isinstance(made, equinoise.PerInstance)
    return made


def people(made: equinoise.PerInstance) -> tuple[Any, str]:
    """The histogram, on the padded range."""
    alt, at = altair(), edges(made.grid.axis)
    counts, (low, high) = made.histogram, BOUNDS
    points = [
        {"low": float(at[cell]), "high": float(at[cell + 1]), "people": int(counts[cell])}
        for cell in np.flatnonzero(counts).tolist()
    ]
    span = [float(at[0]), float(at[-1])]
    bars = alt.Chart(alt.Data(values=points)).mark_rect(color=ALL, strokeWidth=0).encode(
        x=alt.X("low:Q", title="height (cm)").scale(domain=span, nice=False).axis(grid=False, tickCount=8),
        x2="high:Q", y=alt.Y("people:Q", title="people").axis(tickCount=5), y2=alt.datum(0),
    )  # fmt: skip
    limits = alt.Chart(alt.Data(values=[{"x": low, "name": "150"}, {"x": high, "name": "240"}]))
    rules = limits.mark_rule(strokeDash=[5, 4]).encode(x="x:Q")
    names = limits.mark_text(dx=4, align="left", y=6).encode(x="x:Q", text="name:N")
    words = (
        f"{made.total_people:,} people in {len(points)} of {made.grid.axis.bins} bins, {int(counts.max())} in the "
        f"fullest and {int(counts[counts > 0].min())} in the emptiest. The bounds, {low:g} and {high:g} cm, are dashed "
        "lines; as much again and more on either side is padding, where nobody is."
    )
    return alt.layer(bars, rules, names), words


def hiding(made: equinoise.PerInstance) -> tuple[Any, str]:
    """One person in the lowest bin with little noise and with the noise that the game gave them, against the others."""
    alt, axis = altair(), made.grid.axis
    group = int(np.argmin(made.cells))
    cell, own = int(made.cells[group]), made.factors[0][group].astype(float)
    own /= own.sum()
    little = noise_mass(made.noise, made.scales[0][0], axis.bins)[cell]
    together = made.output * made.total_people
    share = 1 - (made.total_people - 1) / (made.total_people * np.exp(EPSILON))  # of a bin that may be one person's
    names = {
        "as much as the others can hide": share / (1 - share) * (together - own),
        "one person, with the noise the game gave them": own,
        "the same person, with hardly any noise": little,
    }
    middles = axis.midpoints()
    inside = np.flatnonzero((middles >= SHOWN[0]) & (middles <= SHOWN[1])).tolist()
    points = [
        {"x": float(middles[k]), "what": name, "people": float(values[k])}
        for name, values in names.items()
        for k in inside
        if values[k] > 1e-6
    ]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("x:Q", title="value that comes out (cm)").scale(zero=False, nice=False).axis(grid=False, tickCount=8),
        y=alt.Y("people:Q", title="people who come out there").scale(type="log", domain=[1e-3, 300], clamp=True)
        .axis(values=[0.001, 0.01, 0.1, 1, 10, 100], format="~g"),
        color=alt.Color("what:N", title=None, sort=list(names)).scale(domain=list(names), range=[ALL, OWN, OTHER])
        .legend(orient="top", columns=1, symbolType="stroke"),
        strokeDash=alt.StrokeDash("what:N", sort=list(names), legend=None)
        .scale(domain=list(names), range=[[1, 0], [1, 0], [6, 3]]),
    )  # fmt: skip
    worst = float(np.max(own / together))
    words = (
        f"A person between {edges(axis)[cell]:.0f} and {edges(axis)[cell + 1]:.0f} cm, where "
        "nobody else is. With hardly any noise they would be seen in their own bin: more than "
        f"the others can hide. With the game's noise they stay below that everywhere: at most {worst:.0%} of what "
        "comes out in any bin is theirs."
    )
    return base.mark_line(interpolate="step", strokeWidth=2.2), words


def table(made: equinoise.PerInstance) -> tuple[Any, str]:
    """Rows of a small table, as many rows to publish, and how much surer an attacker can become; not of ``made``."""
    alt, rng = altair(), np.random.default_rng(3)
    axes = CategoryAxis("sex", ("F", "M")), whole("height", 140, 230, 12), whole("weight", 40, 160, 12)
    histogram = counted(everyone(), *axes)
    z = histogram.counts + noise(rng, len(histogram.counts), EPSILON)
    grid, q = histogram.grid, estimate(z, axes, 1 / EPSILON)
    drawn = grid.bins_of(rng.choice(len(q), TABLE_ROWS, p=q))
    released = {name: [_value(axis, bin, rng) for bin in bins.tolist()]
                for name, axis, bins in zip(grid.names, axes, drawn.T, strict=True)}  # fmt: skip
    real = everyone().sample(TABLE_ROWS, seed=3)["sex", "height", "weight"].to_dict(as_series=False)
    charts = [_rows_chart(rows, title) for rows, title in ((real, "real people"), (released, "rows to publish"))]
    before = np.linspace(0.01, 0.99, 99)
    grown = before * np.exp(EPSILON)
    points = [
        {"before": float(p), "low": float(p / (p + (1 - p) * np.e)), "high": float(h / (h + 1 - p))}
        for p, h in zip(before, grown, strict=True)
    ]
    belief = alt.Chart(alt.Data(values=points), title="what an attacker could learn")
    x = alt.X("before:Q", title="suspicion of one person before").axis(format="%", values=[0, 0.5, 1], grid=False)
    y = alt.Y("low:Q", title="and after everything that came out").axis(format="%", values=[0, 0.5, 1])
    band = belief.mark_area(color=OWN, opacity=0.35).encode(x=x, y=y, y2="high:Q")
    line = belief.mark_line(color=ALL, strokeDash=[5, 4]).encode(x=x, y="before:Q")
    third = alt.layer(band, line).properties(width=TABLE_WIDTH, height=HEIGHT)
    whole_picture = alt.hconcat(*charts, third).resolve_scale(color="shared", shape="shared")
    return whole_picture, (
        f"Height and weight of {TABLE_ROWS} of 2,776 basketball players, and {TABLE_ROWS} rows with differential "
        "privacy at epsilon 1, which lie alike. An attacker who was half sure of something about one person is at "
        "least 27 % and at most 73 % sure of it afterwards, whatever else they know."
    )


def _value(axis: Any, bin: int, rng: np.random.Generator) -> Any:
    """A category, or one of the whole steps in a bin."""
    if isinstance(axis, CategoryAxis):
        return axis.names[bin]
    first, past = axis.first_steps[bin : bin + 2].tolist()
    return axis.low + float(rng.integers(first, past))


def _rows_chart(rows: dict[str, list[Any]], title: str) -> Any:
    alt = altair()
    points = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    looks = {"domain": ["F", "M"], "range": [OTHER, OWN]}
    return alt.Chart(alt.Data(values=points), title=title).mark_point(size=14, filled=True, opacity=0.7).encode(
        x=alt.X("height:Q", title="height (cm)").scale(domain=[140, 230]).axis(grid=False, tickCount=5),
        y=alt.Y("weight:Q", title="weight (kg)").scale(domain=[40, 160]).axis(tickCount=5),
        color=alt.Color("sex:N", title=None).scale(**looks).legend(orient="top"),
        shape=alt.Shape("sex:N", title=None).scale(domain=["F", "M"], range=["circle", "square"]).legend(orient="top"),
    ).properties(width=TABLE_WIDTH, height=HEIGHT)  # fmt: skip


def from_figure(name: str, made: equinoise.PerInstance) -> tuple[Any, str]:
    """A figure as reports have it, without its caption: the page around it says more."""
    figure = make_figure(name, made)
    return figure.panels[0], figure.words


MAKERS = {"table": table, "people": people, "hiding": hiding} | {
    name: lambda made, name=name: from_figure(name, made) for name in ("noise", "losses", "convergence", "distribution")
}
TITLES = {
    "table": "A small table, rows to publish at epsilon 1, and what they tell of one person",
    "people": "1,844 basketball players by height",
    "hiding": "How one person hides among the others",
    "noise": "Noise of the people in each bin",
    "losses": f"Loss of one draw of the people in each bin, at epsilon {at_most(EPSILON)}",
    "convergence": "Round by round towards an equilibrium",
    "distribution": f"Heights of 1,844 people, and a certified draw at epsilon {at_most(EPSILON)}",
}


def draw(name: str, made: equinoise.PerInstance) -> str:
    """One picture, as SVG in light colours and, for readers who prefer them, dark ones."""
    chart, words = MAKERS[name](made)
    panel = chart if hasattr(chart, "hconcat") else chart.properties(height=HEIGHT)
    figure = Figure(name, TITLES[name], "", words, (panel,), (), (), public=True)
    head, rest = figure.svg_without_caption.split("</desc>", 1)
    dark = f"@media (prefers-color-scheme:dark){{{theme.recolour_rules(theme.DARK)}}}"
    return f"{head}</desc><style>{dark}</style>{shorter(rest)}\n"


def shorter(svg: str) -> str:
    """A picture with two digits behind the point, without what nobody sees and without labels of single marks."""

    def tag(found: re.Match[str]) -> str:
        fewer = re.sub(r"(?<=\d)\.(\d{2})\d+", r".\1", found[0])
        return re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", fewer)

    seen = re.sub(r'<path[^>]* opacity="0"[^>]*></path>|<path[^>]* opacity="0"[^>]*/>', "", svg)
    return re.sub(r"<[^>]+>", tag, seen)


def main() -> None:
    """All of them, or those that are named."""
    made = mechanism()
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or MAKERS:
        text = draw(name, made)
        (FOLDER / f"{name}.svg").write_text(text)
        print(f"docs/pictures/{name}.svg: {len(text) / 1024:.0f} KB")


if __name__ == "__main__":
    main()
