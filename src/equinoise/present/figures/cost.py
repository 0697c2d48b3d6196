"""What draws cost together, as there are more of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import Legend, altair, chart_of, log_x, log_y, tip
from equinoise.present.figures.figure import Figure

DRAWS = (1, 3, 10, 30, 100, 300)
SERIES = {"added_up": "losses added up", "worst": "worst person", "median": "median person"}
LOOKS = {
    "losses added up": (theme.COLOURS[theme.ORIGINAL], "square", 150),
    "worst person": (theme.COLOURS[theme.LAPLACE], "diamond", 100),
    "median person": (theme.COLOURS[theme.RELEASED], "circle", 30),
    "promised": (theme.COLOURS[theme.RELEASED], "circle", 65),
}
"""Colour, shape and size: later ones are smaller, so that all are seen where they agree."""


def cost(mechanism: Mechanism, costs: Sequence[dict[str, float]] = ()) -> Figure:
    """Epsilon of several numbers of draws together, of the worst and the median person, and with losses added up.

    ``costs``, if they are known, are those of :meth:`equinoise.Mechanism.costs`.
    """
    costs = costs or mechanism.costs(default_draws(mechanism))
    points = [
        {"draws": row["draws"], "who": name, "epsilon": row[key]}
        for row in costs
        for key, name in SERIES.items()
        if 0 < row[key] < math.inf
    ]
    words = " ".join(
        f"{_draws(int(row['draws'])).capitalize()} cost{'s' if row['draws'] == 1 else ''} the worst person "
        f"{at_most(row['worst'])} and the median person {at_most(row['median'])}."
        for row in (costs[0], costs[-1])
    )
    caption = f"{_whose(mechanism, costs[0]['delta'])} {composition_sentence(mechanism)} {allowed_sentence(mechanism)}"
    header = ("draws", *(SERIES[key] for key in ("worst", "median", "added_up")))
    rows = [(row["draws"], *(at_most(row[key]) for key in ("worst", "median", "added_up"))) for row in costs]
    title = f"What draws of {mechanism.grid.name} cost together"
    chart = _chart(points, f"epsilon (delta = {costs[0]['delta']:g})" if costs[0]["delta"] > 0 else "epsilon")
    return Figure("cost", title, caption, words, (chart,), header, rows)


def promised_cost(mechanism: Mechanism) -> Figure:
    """Epsilon of several draws together as promised, with nothing in it that was worked out from the data."""
    rows = [
        (many, mechanism.promised_cost(many))
        for many in default_draws(mechanism)
        if mechanism.draws is None or many <= mechanism.draws
    ]
    points = [{"draws": many, "who": "promised", "epsilon": value} for many, value in rows]
    words = "; ".join(f"{_draws(many)}: {at_most(value)}" for many, value in rows)
    beside = f" ({mechanism.promise.qualifier})" if mechanism.promise.qualifier else ""
    caption = f"What is promised of so many draws{beside}, whoever is in the data. {allowed_sentence(mechanism)}"
    chart = _chart(points, f"promised{beside}")
    return Figure(
        "cost", "What is promised of several draws", caption, f"{words}{beside}.", (chart,),
        ("draws", f"promised{beside}"),
        [(many, at_most(value)) for many, value in rows], public=True,
    )  # fmt: skip


def _whose(mechanism: Mechanism, delta: float) -> str:
    who = "" if mechanism.differentially_private else ", everyone's own figure"
    if delta == 0:
        return f"What draws cost together{who}."
    own = (
        ""
        if mechanism.promise.qualifier == f"delta = {at_most(delta)}"
        else " (chosen for this figure, not part of the promise)"
    )
    return f"What draws cost together{who}, except with probability delta = {delta:g}{own}."


def _draws(many: int) -> str:
    return f"{many:,} draw{'' if many == 1 else 's'}"


def default_draws(mechanism: Mechanism) -> list[int]:
    """Numbers of draws that are shown where nobody names others."""
    return sorted({*DRAWS, mechanism.draws or DRAWS[0]})


def allowed_sentence(mechanism: Mechanism) -> str:
    """How many draws may be released."""
    if mechanism.draws is None:
        return "Any number of draws is allowed: the noisy counts are paid for once."
    return f"{_draws(mechanism.draws)} {'is' if mechanism.draws == 1 else 'are'} allowed, and no more can be released."


def composition_sentence(mechanism: Mechanism) -> str:
    """How what draws cost together was worked out."""
    if mechanism.draws is None:
        return "A theorem, the same for everyone and every dataset: what is made of noisy counts costs nothing more."
    if mechanism.differentially_private:
        return f"A theorem, the same for everyone and every dataset: {mechanism.composed}."
    return (
        "Each person's own loss distribution is composed, everyone else's noise held fixed, in floating point, losses "
        "rounded upwards; the median is a quick upper bound."
    )


def _chart(points: list[dict[str, Any]], unit: str) -> Any:
    alt = altair()
    there = {point["who"] for point in points}
    legend = Legend("who", {name: look[:2] for name, look in LOOKS.items() if name in there})
    base = chart_of(points).encode(
        x=log_x("draws", "draws", sorted({point["draws"] for point in points}), ","),
        y=log_y("epsilon", unit, [point["epsilon"] for point in points]),
        **legend.colour,
        tooltip=["who:N", tip("draws", form=","), tip("epsilon", unit)],
    )
    marks = [
        base.encode(**legend.shape).transform_filter(alt.datum.who == name).mark_point(filled=True, size=LOOKS[name][2])
        for name in legend.looks
    ]
    return alt.layer(base.mark_line(strokeWidth=1.8).add_params(legend.choice), *marks).properties(height=theme.HEIGHT)
