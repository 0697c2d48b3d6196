"""What the reproduction set out to reach, whether it did, and why not where it did not."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from equinoise.experiments import paper
from equinoise.experiments.tables import OURS, Row

WITHIN = 0.1
"""How far the game's RMSE may be from the original's, as a share."""


@dataclass(frozen=True)
class Goal:
    """One figure to reach."""

    name: str
    ours: float
    limit: float
    reached: bool
    why: str = ""

    def sentence(self) -> str:
        """As the page says it."""
        end = "reached" if self.reached else f"missed: {self.why}"
        return f"{self.name}: {self.ours:.4f}, to be at most {self.limit:.4f}: {end}"


def of_heights(table: Sequence[Row]) -> Iterator[Goal]:
    """Optimal's KL against the paper's best, and best response's against the paper's up to epsilon 2.

    The worst of our seeds counts.
    """
    ours = {(row.epsilon, row.method): row for row in table if row.whose == OURS and row.scales == "wide"}
    for (epsilon, method), row in ours.items():
        worst = max(row.kls)
        if method == "optimal":
            limit = paper.HEIGHT.best_kl(epsilon)
            reached = round(worst, 4) <= limit and row.protected == row.people
            name = f"heights, epsilon {epsilon:g}, KL of optimal (wide scales) against the paper's best"
            yield Goal(name, worst, limit, reached, "" if reached else _optimal_why(row, limit))
        printed = paper.HEIGHT.of("best-response", epsilon)
        if method == "best-response" and epsilon <= 2 and printed is not None:
            reached = worst <= printed.kl and row.protected == row.people
            best = ours.get((epsilon, "optimal"))
            name = f"heights, epsilon {epsilon:g}, KL of best response (wide scales, 20 starts) against the paper's"
            yield Goal(name, worst, printed.kl, reached, "" if reached else _best_response_why(row, best))


def _unprotected(row: Row) -> str:
    return f"{row.people - (row.protected or 0):,} people were left unprotected"


def _optimal_why(row: Row, limit: float) -> str:
    if row.protected != row.people:
        return _unprotected(row)
    if row.lower_bound is not None and row.lower_bound > limit:
        return (
            f"no profile of these scales can on this data, the least possible KL is at least {row.lower_bound:.4f}; "
            "the paper's data are other people's"
        )
    return f"the search ran out of time with a gap of {row.gap or 0:.4f} still open"


def _best_response_why(row: Row, best: Row | None) -> str:
    if row.protected != row.people:
        return _unprotected(row)
    possible = f"; {min(best.kls):.4f} is possible" if best else ""
    return f"no start of this seed ended at a closer equilibrium{possible}"


def of_regression(results: Sequence[dict[str, Any]]) -> Iterator[Goal]:
    """The game's RMSE at epsilon 1 against the original's."""
    original = next((one for one in results if one["method"] == "original"), None)
    game = next((one for one in results if one["method"] == "game" and one["epsilon"] == 1), None)
    if original is None or game is None:
        return
    base, ours = statistics.fmean(original["rmse_padded"]), statistics.fmean(game["rmse_padded"])
    limit = base * (1 + WITHIN)
    why = f"the draws' distribution over both columns is at a KL of {game['kl']:.3f} from the original's"
    name = f"{game['data']}, epsilon 1, RMSE of the game's regression against 1.1 times the original's"
    yield Goal(name, ours, limit, ours <= limit, "" if ours <= limit else why)
