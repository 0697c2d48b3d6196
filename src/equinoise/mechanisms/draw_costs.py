"""For which numbers of draws, and with which probability, a cost can be worked out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from equinoise.errors import check, is_number, is_whole
from equinoise.settings import MOST_DRAWS

DELTA = 1e-6
"""For the cost of many draws, where nobody says another one."""

LEAST_COST_DELTA = 1e-15
"""For the cost of many draws: the tests hold it against exact binomials down to here."""


def check_costs(draws: Any, delta: Any) -> None:
    """Refuse numbers of draws, or a probability, whose cost cannot be worked out."""
    usable = isinstance(draws, Sequence | np.ndarray) and not isinstance(draws, str) and len(draws) > 0
    check(usable, "draws", "a list of whole numbers", draws)
    for many in draws:
        check(is_whole(many, 1, MOST_DRAWS), "draws", f"whole numbers from 1 to {MOST_DRAWS}", many)
    if delta is not None:
        possible = is_number(delta) and LEAST_COST_DELTA <= delta < 1
        check(possible, "delta", f"at least {LEAST_COST_DELTA:g} and below 1", delta)
