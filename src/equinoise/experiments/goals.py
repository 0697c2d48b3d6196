"""What the reproduction set out to reach, whether it did, and why not where it did not."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from equinoise.experiments.paper_results import HEIGHT
from equinoise.experiments.tables import OURS, Row

RMSE_TOLERANCE = 0.1
"""How far the game's RMSE may be from the original's, as a share."""


@dataclass(frozen=True)
class Goal:
    """One figure to reach; ``why`` it was missed, if it was."""

    name: str
    ours: float
    limit: float
    reached: bool
    why: str = ""

    def sentence(self) -> str:
        """As the command says it."""
        end = "reached" if self.reached else f"missed: {self.why}"
        return f"{self.name}: {self.ours:.4f}, to be at most {self.limit:.4f}: {end}"


def height_goals(table: Sequence[Row]) -> Iterator[Goal]:
    """Optimal's KL against the paper's best, and best response's against the paper's up to epsilon 2.

    The worst of our seeds counts.
    """
    wide = {(row.epsilon, row.method): row for row in table if row.whose == OURS and row.scales == "wide"}
    for (epsilon, method), row in wide.items():
        worst = max(row.figures["kl"])
        if method == "optimal":
            limit, reached = HEIGHT.best_kl(epsilon), round(worst, 4) <= HEIGHT.best_kl(epsilon)
            what, why = "KL of optimal (wide scales) against the paper's best", _why_not_closer(row, limit)
        elif method == "best-response" and epsilon <= 2:
            limit = HEIGHT.rows[method, epsilon]["kl"]
            reached, best = worst <= limit, wide.get((epsilon, "optimal"))
            what = "KL of best response (wide scales, 20 starts) against the paper's"
            possible = f"; {min(best.figures['kl']):.4f} is possible" if best else ""
            why = f"no start of this seed ended at a closer equilibrium{possible}"
        else:
            continue
        if not row.everyone_protected:
            reached, why = False, f"{row.people - (row.protected or 0):,} people were left unprotected"
        yield Goal(f"heights, epsilon {epsilon:g}, {what}", worst, limit, reached, "" if reached else why)


def _why_not_closer(row: Row, limit: float) -> str:
    if row.lower_bound is not None and row.lower_bound > limit:
        return (
            f"no profile of these scales can on this data, the least possible KL is at least {row.lower_bound:.4f}; "
            "the paper's data are other people's"
        )
    return f"the search ran out of time with a gap of {row.gap or 0:.4f} still open"


def regression_goals(results: Sequence[dict[str, Any]]) -> Iterator[Goal]:
    """The game's RMSE at epsilon 1 against the original's."""
    base = statistics.fmean(next(one["rmse_padded"] for one in results if one["method"] == "original"))
    for game in (one for one in results if one["method"] == "game" and one["epsilon"] == 1):
        ours, limit = statistics.fmean(game["rmse_padded"]), base * (1 + RMSE_TOLERANCE)
        why = f"the draws' distribution over both columns is at a KL of {game['kl']:.3f} from the original's"
        name = f"{game['data']}, epsilon 1, RMSE of the game's regression against 1.1 times the original's"
        yield Goal(name, ours, limit, ours <= limit, "" if ours <= limit else why)
