"""How close other epsilons would have come."""

from __future__ import annotations

import math
from typing import Any

from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.again import Tell
from equinoise.present.figures.figure import Figure, altair
from equinoise.present.figures.theme import LAPLACE
from equinoise.present.figures.ticks import log_domain, log_ticks
from equinoise.solvers.best_response import RESTARTS
from equinoise.statistics.metrics import kl

EPSILONS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
ALL_RUNS_UP_TO = 301
"""Up to here the saved number of runs; on larger grids one, so that the figure is there within a minute or so."""

GAME, RULE, OWN = "best response, played again", "the public rule, worked out again", "this mechanism"


def epsilons(mechanism: Mechanism, tell: Tell) -> Figure:
    """KL against the epsilon of one draw: the saved people solved again at a few epsilons, and Laplace noise."""
    found: list[tuple[float, str, float]] = []
    left_out = []
    name = GAME if mechanism.noise else RULE
    for epsilon in _asked(mechanism):
        tell(f"Solving again at epsilon {at_most(epsilon)}")
        distance = mechanism.kl_at(epsilon, restarts=_restarts(mechanism))
        if distance is None:
            left_out.append(epsilon)
        else:
            found.append((epsilon, name, distance))
        found.append((epsilon, LAPLACE, kl(mechanism.original, mechanism.laplace_output(epsilon))))
    found.append((mechanism.epsilon, OWN, mechanism.metrics()["kl"]))
    missing = ""
    if left_out:
        missing = f" At epsilon {', '.join(map(at_most, left_out))} it does not protect everyone, and is left out."
    words = f"This mechanism has {found[-1][2]:.4g} at epsilon {at_most(mechanism.epsilon)}"
    for who in (name, LAPLACE):
        own = [(epsilon, value) for epsilon, method, value in found if method == who]
        if own:
            (low, first), (high, last) = own[0], own[-1]
            words += f"; {who}: from {first:.3g} at epsilon {at_most(low)} to {last:.3g} at {at_most(high)}"
    return Figure(
        "epsilons", "KL against epsilon", _caption(mechanism) + missing, f"{words}.", (_chart(found, name),),
        ("epsilon of one draw", "method", "KL from the original"), found,
    )  # fmt: skip


def _asked(mechanism: Mechanism) -> list[float]:
    own = mechanism.epsilon
    around = {own / 3, own * 3} if not EPSILONS[0] <= own <= EPSILONS[-1] else set()
    return sorted({*EPSILONS, *around})


def _restarts(mechanism: Mechanism) -> int:
    small = len(mechanism.grid.axes) == 1 and mechanism.grid.cells <= ALL_RUNS_UP_TO
    return int(mechanism.solver.get("restarts", RESTARTS)) if small else 1


def _caption(mechanism: Mechanism) -> str:
    if not mechanism.noise:
        return "For each epsilon of one draw, the public rule applied to the same people. Lower is closer."
    runs = _restarts(mechanism)
    return (
        "For each epsilon of one draw, the game with the saved people, noise and scales was solved again for this "
        f"figure by best response, {runs} restart{'' if runs == 1 else 's'} each. Lower is closer. An "
        "equilibrium need not be the closest profile there is, so the line may rise in places and the saved profile "
        "lie beside it."
    )


def _chart(found: list[tuple[float, str, float]], name: str) -> Any:
    alt = altair()
    points = [
        {"epsilon": epsilon, "what": what, "kl": value} for epsilon, what, value in found if 1e-15 < value < math.inf
    ]
    heights = [value for _, _, value in found if 1e-15 < value < math.inf]
    asked = sorted({epsilon for epsilon, what, _ in found if what != OWN})
    names = [name, LAPLACE, OWN]
    looks = [theme.COLOURS[theme.RELEASED], theme.COLOURS[LAPLACE], theme.COLOURS[theme.ORIGINAL]]
    shown = alt.selection_point(name="shown0", fields=["what"], bind="legend")
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("epsilon:Q", title="epsilon of one draw").scale(type="log", nice=False, domain=log_domain(asked))
        .axis(values=asked, format=".3~g", grid=False),
        y=alt.Y("kl:Q", title="KL from the original (nats)").scale(type="log", domain=log_domain(heights), nice=False)
        .axis(values=log_ticks(heights), format="~g"),
        color=alt.Color("what:N", title=None, sort=names).scale(domain=names, range=looks).legend(**theme.ABOVE),
        opacity=alt.when(shown).then(alt.value(1)).otherwise(alt.value(0.08)),
        tooltip=[alt.Tooltip("what:N", title="method"), "epsilon:Q", alt.Tooltip("kl:Q", title="KL", format=".4~g")],
    )  # fmt: skip
    others = base.transform_filter(f"datum.what !== '{OWN}'")
    shapes = alt.Scale(domain=names, range=["circle", "square", "diamond"])
    base, marks = (
        layer.encode(shape=alt.Shape("what:N", title=None, sort=names, scale=shapes).legend(**theme.ABOVE))
        for layer in (base, others)
    )
    own = base.transform_filter(f"datum.what === '{OWN}'").mark_point(filled=True, size=170)
    return alt.layer(
        own, others.mark_line(strokeWidth=1.8).add_params(shown), marks.mark_point(filled=True, size=60)
    ).properties(height=theme.HEIGHT)
