"""How the solver got to its profile, round by round."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from equinoise.analysis.replay import Step, replay_rounds
from equinoise.errors import BadInput
from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.encodings import Legend, altair, chart_of, level, log_ticks, log_x, log_y, tip
from equinoise.present.figures.figure import Figure

PROTECTED, NOT_YET = "everyone protected", "not everyone protected"


def convergence(mechanism: Mechanism, tell: Callable[[str], None]) -> Figure:
    """KL (nats) after each round of best response on the saved game, played again."""
    game = mechanism.game()
    if game is None:
        raise BadInput("No game is played here: the weights are worked out in one step, and nothing converges.")
    steps, same = replay_rounds(mechanism, game, tell)
    reached, lower = mechanism.metrics()["kl"], _lower_bound(mechanism)
    lasts = {step.run: step for step in steps}.values()
    ends = [last.kl for last in lasts if last.everyone]
    words = f"{len(lasts)} run{'' if len(lasts) == 1 else 's'}"
    if ends:
        words += f"; those that protect everyone end at a KL {_between(min(ends), max(ends))}"
    words += f". The saved profile has {reached:.4g}."
    if lower is not None:
        among = "" if mechanism.budget is None else f" and at most {at_most(mechanism.epsilon)} a draw"
        words += f" No profile of these scales{among} has less than {lower:.4g}, as the optimal solver proved."
    caption = (
        "Not a record of the original run: best response was played again for this figure, on the saved game. "
        f"{_outcome(mechanism, same)} Each line is a run; the dashed line is the saved profile"
        f"{'.' if lower is None else ', the dotted one the proven lower bound.'}"
    )
    utility = mechanism.settings.get("utility", "kl")
    if utility != "kl":
        caption += f" The game was for a small {utility}, not for a small KL; some of the runs are KL's, to start from."
    rows = [(step.run, step.round, step.kl, "yes" if step.everyone else "no") for step in steps]
    return Figure(
        "convergence", "Convergence of the solver", caption, words, (_chart(steps, reached, lower),),
        ("run", "round", "KL from the original", "everyone protected"), rows,
    )  # fmt: skip


def _between(low: float, high: float) -> str:
    least, most = f"{low:.4g}", f"{high:.4g}"
    return f"of {least}" if least == most else f"between {least} and {most}"


def _outcome(mechanism: Mechanism, same: bool) -> str:
    if same:
        return "It ended at the saved profile, exactly: the run can be repeated here."
    if mechanism.solver["name"] != "best-response":
        return f"The saved profile was found by the {mechanism.solver['name']} solver."
    return "It ended at another profile: the saved one came of other starts, or of other versions of the libraries."


def _lower_bound(mechanism: Mechanism) -> float | None:
    bound = mechanism.solver.get("lower_bound")
    return float(bound) if bound is not None and bound > 0 and mechanism.settings.get("utility", "kl") == "kl" else None


def _chart(steps: Sequence[Step], reached: float, lower: float | None) -> Any:
    alt = altair()
    points = [
        {"run": s.run, "round": s.round, "kl": s.kl, "who": PROTECTED if s.everyone else NOT_YET}
        for s in steps
        if 0 < s.kl < math.inf
    ]
    levels = [height for height in (reached, lower) if height is not None and 0 < height < math.inf]
    looks = {
        PROTECTED: (theme.COLOURS[theme.RELEASED], "circle"),
        NOT_YET: (theme.COLOURS[theme.LAPLACE], "triangle-up"),
    }
    legend = Legend("who", looks)
    base = chart_of(points).encode(
        x=log_x("round", "round", log_ticks(s.round for s in steps), ","),
        y=log_y("kl", "KL from the original (nats)", [s.kl for s in steps] + levels),
        detail="run:N",
    )
    tips = ["run:N", "round:Q", tip("kl", "KL"), alt.Tooltip("who:N", title="so far")]
    lines = base.mark_line(strokeWidth=1, opacity=0.6, color=theme.COLOURS[theme.ORIGINAL])
    marks = base.mark_point(filled=True, size=26).add_params(legend.choice)
    rules = [level(height, dash) for height, dash in zip(levels, ((6, 4), (2, 3)), strict=False)]
    marks = marks.encode(**legend.colour, **legend.shape, tooltip=tips)
    return alt.layer(*rules, lines, marks).properties(height=theme.HEIGHT)
