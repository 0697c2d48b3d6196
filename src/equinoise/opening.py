"""From a saved file to its mechanism, of whichever kind it is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from equinoise import storage
from equinoise.accounting import Budget
from equinoise.documents import WorstCaseDocument
from equinoise.errors import BadInput
from equinoise.fixed_noise import FixedNoise
from equinoise.grid import Axis, Grid
from equinoise.ledger import Ledger
from equinoise.mechanism import Mechanism
from equinoise.worst_case import WorstCase


def open_saved(path: Path) -> Mechanism:
    """Certified again: what does not hold what it promises is refused."""
    made = read_saved(path)
    certificate = made.certificate()
    if not certificate.holds:
        raise BadInput(
            f"The file {str(path)!r} has been tampered with: its certificate does not hold "
            f"({certificate.failure}). Nothing can be released from it."
        )
    if not made.within_budget:
        raise BadInput(
            f"The file {str(path)!r} has been tampered with: its draws together cost more than its budget. "
            "Nothing can be released from it."
        )
    return made


def released_from(path: Path) -> int:
    """How many draws were released from what is saved there; 0 if nothing is, or something else."""
    with suppress(BadInput):
        return read_saved(path).ledger.spent
    return 0


def read_saved(path: Path) -> Mechanism:
    """As it stands: its certificate may not hold."""
    saved = storage.read(path)
    document, weights = saved.document, saved.weights
    shared: dict[str, Any] = {
        "grid": Grid(tuple(Axis(**axis.model_dump()) for axis in document.axes)),
        "epsilon": document.epsilon,
        "draws": document.draws,
        "budget": None if document.budget is None else Budget(**document.budget.model_dump()),
        "settings": document.settings.model_dump(exclude_unset=True),
        "ledger": Ledger(document.draws, saved.digest, saved.place),
    }
    if isinstance(document, WorstCaseDocument):
        return WorstCase.from_document(document, shared)
    return FixedNoise.from_document(document, weights, shared)
