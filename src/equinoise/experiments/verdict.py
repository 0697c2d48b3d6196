"""What was reached with which scales: the first thing that the page and the command say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from equinoise.experiments.goals import Goal
from equinoise.experiments.paper_results import HEIGHT
from equinoise.experiments.tables import MARK, NAMES, OURS, Row, mean_and_spread

LEGEND = f"{MARK} = printed in the paper; ours are on other public data; KL 0 means the same as the data"
"""What marks and figures mean, before any of them."""

KL_TITLE = "KL of one draw from the original, heights of basketball players (smaller is closer)"


@dataclass(frozen=True)
class PaperScales:
    """What the paper's own scales can reach at an epsilon: the least possible KL on our heights, as proven, and the
    KL that the paper prints on its heights."""

    epsilon: float
    least_kl: float
    printed_kl: float


def out_of_reach(table: Sequence[Row]) -> list[PaperScales]:
    """The epsilons at which no profile of the paper's scales that protects everyone reaches the paper's best KL."""
    optimal = (row for row in table if (row.whose, row.method, row.scales) == (OURS, "optimal", "paper"))
    found = [PaperScales(row.epsilon, row.lower_bound or 0.0, HEIGHT.best_kl(row.epsilon)) for row in optimal]
    return [one for one in found if one.least_kl > one.printed_kl]


def verdict(goals: Sequence[Goal], impossible: Sequence[PaperScales]) -> list[str]:
    """Sentences: what was reached with our scales, and that the paper's cannot reach its figures."""
    missed, found = sum(not goal.reached for goal in goals), []
    if impossible:
        each = "; ".join(
            f"{math.floor(one.least_kl * 1e4) / 1e4:.4f} against {one.printed_kl:.4f} {MARK} at epsilon {one.epsilon:g}"
            for one in impossible
        )
        found.append(
            "Not reproduced with the paper's own scales: on these heights its KL cannot be reached with them. No "
            "profile that protects everyone has less KL than this, which is proven; beside it what the paper "
            f"prints: {each}."
        )
    if goals:
        many = "all" if not missed else f"{len(goals) - missed} of"
        found.append(
            f"With our wide scales, which are not the paper's, {many} {len(goals)} figures below were reached; the "
            "paper's are on other people's data."
        )
    return found


def kl_header() -> list[str]:
    """The columns of :func:`kl_lines`."""
    return [
        "epsilon", "best response, wide scales", "optimal, wide scales", "best response, paper scales",
        "optimal, paper scales", f"the paper's best response {MARK}", f"the paper's best {MARK}",
    ]  # fmt: skip


def kl_lines(table: Sequence[Row]) -> list[list[str]]:
    """By epsilon KL on the heights: ours with both sets of scales, means over seeds, and what the paper prints."""
    ours = {(row.epsilon, row.method, row.scales): row for row in table if row.whose == OURS}
    games = [(method, scales) for scales in ("wide", "paper") for method in ("best-response", "optimal")]
    lines = []
    for epsilon in sorted({row.epsilon for row in table}):
        rows = [ours.get((epsilon, method, scales)) for method, scales in games]
        each = [mean_and_spread(row.figures["kl"], 4) if row else "-" for row in rows]
        printed = [HEIGHT.rows["best-response", epsilon]["kl"], HEIGHT.best_kl(epsilon)]
        lines.append([f"{epsilon:g}", *each, *(f"{MARK} {figure:.4f}" for figure in printed)])
    return lines


def unfinished_name(generations: int) -> str:
    """What the genetic algorithm is called where it ran too few generations for a result."""
    return f"{NAMES['genetic']} ({generations} generations: too few, not a result)"
