"""What a page shows of a mechanism: the promise, figures as numbers and as pictures, what draws cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equinoise.errors import BadInput, at_most
from equinoise.mechanism import Mechanism


def result(mechanism: Mechanism) -> dict[str, Any]:
    """All but the cost of many draws, which takes longer."""
    ours, theirs = mechanism.metrics(), mechanism.baseline()
    return {
        "promise": mechanism.promise,
        "tier": mechanism.tier,
        "people": mechanism.total_people,
        "protected": mechanism.protected,
        "epsilon": at_most(mechanism.epsilon),
        "worst_loss": at_most(mechanism.worst_loss),
        "kl": f"{ours['kl']:.4g}",
        "laplace_kl": f"{theirs['kl']:.4g}",
    }


def cost(mechanism: Mechanism) -> dict[str, Any]:
    """What draws cost together."""
    return {}


def report(path: Path) -> str:
    """The report of a saved mechanism."""
    raise BadInput("not yet")
