"""How close other epsilons would have come."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from equinoise.errors import BadInput
from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import Legend, altair, chart_of, log_x, log_y, tip
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.theme import LAPLACE
from equinoise.solvers.best_response import RESTARTS
from equinoise.statistics.metrics import kl

EPSILONS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
ALL_RUNS_UP_TO = 301
"""Up to here the saved number of runs; on larger grids one, so that the figure is there within a minute or so."""

GAME, RULE, OWN = "best response, played again", "the public rule, worked out again", "this mechanism"


def epsilons(mechanism: Mechanism, tell: Callable[[str], None]) -> Figure:
    """KL (nats) against the epsilon of one draw: the saved people solved again at a few epsilons, and Laplace noise."""
    if not mechanism.joint_held:
        raise BadInput("There are too many joint cells to hold, so there is no KL over them at any epsilon.")
    distances: list[tuple[float, str, float]] = []
    left_out = []
    name = GAME if mechanism.noise else RULE
    for epsilon in _epsilons(mechanism):
        tell(f"Solving again at epsilon {at_most(epsilon)}")
        distance = mechanism.kl_at(epsilon, restarts=_restarts(mechanism))
        if distance is None:
            left_out.append(epsilon)
        else:
            distances.append((epsilon, name, distance))
        distances.append((epsilon, LAPLACE, kl(mechanism.original, mechanism.laplace_output(epsilon))))
    distances.append((mechanism.epsilon, OWN, mechanism.metrics()["kl"]))
    missing = ""
    if left_out:
        missing = f" At epsilon {', '.join(map(at_most, left_out))} it does not protect everyone, and is left out."
    words = f"This mechanism has {distances[-1][2]:.4g} at epsilon {at_most(mechanism.epsilon)}"
    for who in (name, LAPLACE):
        own = [(epsilon, value) for epsilon, method, value in distances if method == who]
        if own:
            (low, first), (high, last) = own[0], own[-1]
            words += f"; {who}: from {first:.3g} at epsilon {at_most(low)} to {last:.3g} at {at_most(high)}"
    return Figure(
        "epsilons", "KL against epsilon", _caption(mechanism) + missing, f"{words}.", (_chart(distances, name),),
        ("epsilon of one draw", "method", "KL from the original"), distances,
    )  # fmt: skip


def _epsilons(mechanism: Mechanism) -> list[float]:
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


def _chart(distances: list[tuple[float, str, float]], name: str) -> Any:
    alt = altair()
    points = [
        {"epsilon": epsilon, "what": what, "kl": value}
        for epsilon, what, value in distances
        if 1e-15 < value < math.inf
    ]
    ticks = sorted({epsilon for epsilon, what, _ in distances if what != OWN})
    looks = {
        name: (theme.COLOURS[theme.RELEASED], "circle"),
        LAPLACE: (theme.COLOURS[LAPLACE], "square"),
        OWN: (theme.COLOURS[theme.ORIGINAL], "diamond"),
    }
    legend = Legend("what", looks)
    base = chart_of(points).encode(
        x=log_x("epsilon", "epsilon of one draw", ticks, ".3~g", room=True),
        y=log_y("kl", "KL from the original (nats)", [value for _, _, value in distances if value > 1e-15]),
        **legend.colour,
        tooltip=[alt.Tooltip("what:N", title="method"), "epsilon:Q", tip("kl", "KL")],
    )
    marks, others = base.encode(**legend.shape), f"datum.what !== '{OWN}'"
    own = marks.transform_filter(f"datum.what === '{OWN}'").mark_point(filled=True, size=170)
    lines = base.transform_filter(others).mark_line(strokeWidth=1.8).add_params(legend.choice)
    return alt.layer(own, lines, marks.transform_filter(others).mark_point(filled=True, size=60)).properties(
        height=theme.HEIGHT
    )
