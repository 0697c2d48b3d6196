"""Draw the pictures of README and docs: `make pictures`, or `python -m benchmarks.pictures`.

All of them are of one mechanism, made from 1,844 heights that anyone may have (extra 'experiments'), so that they can
be made again. Each is one SVG file that is drawn in light colours and, where the reader prefers it, in dark ones.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

import equinoise
from benchmarks.heights import players
from equinoise.formatting import at_most
from equinoise.game.noise import noise_mass
from equinoise.present.figures import Figure, make_figure, theme
from equinoise.present.figures.encodings import altair
from equinoise.present.figures.per_bin import edges

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
BOUNDS, EPSILON = (150.0, 240.0), 1.0
SHOWN = 115, 215
"""The part of the padded range in which the picture of hiding looks, in cm."""
HEIGHT = 260
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


def from_figure(name: str, made: equinoise.PerInstance) -> tuple[Any, str]:
    """A figure as reports have it, without its caption: the page around it says more."""
    figure = make_figure(name, made)
    return figure.panels[0], figure.words


MAKERS = {"people": people, "hiding": hiding} | {
    name: lambda made, name=name: from_figure(name, made) for name in ("noise", "losses", "convergence", "distribution")
}
TITLES = {
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
    figure = Figure(name, TITLES[name], "", words, (chart.properties(height=HEIGHT),), (), (), public=True)
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
