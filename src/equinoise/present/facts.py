"""The figures that stand beside a promise, wherever a mechanism is shown in short."""

from __future__ import annotations

from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism


def facts(mechanism: Mechanism) -> list[tuple[str, str]]:
    """What was reached, in short."""
    people, protected = mechanism.total_people, mechanism.protected
    ours, theirs = mechanism.metrics()["kl"], mechanism.baseline()["kl"]
    return [
        ("people", f"{people:,}, {'all' if protected == people else f'{protected:,} of them'} protected"),
        ("cells", f"{mechanism.grid.cells:,}"),
        ("epsilon of one draw", at_most(mechanism.epsilon)),
        ("worst loss of one draw", at_most(mechanism.worst_loss)),
        ("KL from the original", f"{ours:.4g}"),
        ("KL of the Laplace mechanism", f"{theirs:.4g}"),
        ("draws", f"{mechanism.ledger.spent:,} of {mechanism.draws:,} released"),
    ]
