"""How the solver got to its profile, round by round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import theme
from equinoise.present.figures.again import Step, Tell, replayed
from equinoise.present.figures.figure import Figure, altair
from equinoise.present.figures.ticks import log_domain, log_ticks

PROTECTED, NOT_YET = "everyone protected", "not everyone protected"


def convergence(mechanism: Mechanism, tell: Tell) -> Figure | str:
    """KL after each round of best response on the saved game, played again; or why there is no such figure."""
    game = mechanism.game()
    if game is None:
        return "No game is played here: the weights are worked out in one step, and nothing converges."
    steps, same = replayed(mechanism, game, tell)
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
    levels = [level for level in (reached, lower) if level is not None and 0 < level < math.inf]
    heights, rounds = [s.kl for s in steps] + levels, [s.round for s in steps]
    names = [PROTECTED, NOT_YET]
    colours = [theme.COLOURS[theme.RELEASED], theme.COLOURS[theme.LAPLACE]]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=alt.X("round:Q", title="round").scale(type="log", nice=False)
        .axis(values=log_ticks(rounds), format=",", grid=False),
        y=alt.Y("kl:Q", title="KL from the original (nats)").scale(type="log", domain=log_domain(heights), nice=False)
        .axis(values=log_ticks(heights), format="~g"),
        detail="run:N",
    )  # fmt: skip
    tips = ["run:N", "round:Q", alt.Tooltip("kl:Q", title="KL", format=".4~g"), alt.Tooltip("who:N", title="so far")]
    lines = base.mark_line(strokeWidth=1, opacity=0.6, color=theme.COLOURS[theme.ORIGINAL])
    shown = alt.selection_point(name="shown0", fields=["who"], bind="legend")
    marks = (
        base.mark_point(filled=True, size=26)
        .add_params(shown)
        .encode(
            opacity=alt.when(shown).then(alt.value(1)).otherwise(alt.value(0.08)),
            color=alt.Color("who:N", title=None, sort=names).scale(domain=names, range=colours).legend(**theme.ABOVE),
            shape=alt.Shape("who:N", title=None, sort=names)
            .scale(domain=names, range=["circle", "triangle-up"])
            .legend(**theme.ABOVE),
            tooltip=tips,
        )
    )
    rules = [
        alt.Chart(alt.Data(values=[{"kl": level}])).mark_rule(strokeDash=dash).encode(y="kl:Q")
        for level, dash in zip(levels, ([6, 4], [2, 3]), strict=False)
    ]
    return alt.layer(*rules, lines, marks).properties(height=theme.HEIGHT)
