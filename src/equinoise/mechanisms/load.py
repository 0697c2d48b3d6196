"""From a saved file to its mechanism, of whichever kind it is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from equinoise.data.grid import Axis, Grid, Ints
from equinoise.errors import BadInput
from equinoise.mechanisms import saved_file as storage
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.document import PerInstanceDocument, PrivateTableDocument
from equinoise.mechanisms.ledger import Ledger
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.privacy.accounting import Budget
from equinoise.synthesis.monotone import Rule


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
        "delta": document.delta,
        "order": document.order,
        "budget": None if document.budget is None else Budget(**document.budget.model_dump()),
        "solver": document.solver.model_dump(),
        "settings": document.settings,
        "ledger": Ledger(document.draws, saved.digest, saved.place),
    }
    if isinstance(document, PrivateTableDocument):
        return _worst_case(document, shared)
    return _fixed_noise(document, weights, shared)


def _fixed_noise(document: PerInstanceDocument, weights: Ints, shared: dict[str, Any]) -> PerInstance:
    entries = np.array([entry for bag in document.bags for entry in bag], dtype=np.int64).reshape(-1, 2)
    bins = [axis.bins for axis in document.axes]
    return PerInstance(
        noise=document.noise,
        scales=tuple(tuple(choice) for choice in document.scales),
        scale_indices=np.array(document.scale_indices, dtype=np.int64),
        people=np.array(document.people, dtype=np.int64),
        begins=np.cumsum([0, *map(len, document.bags)]),
        cells=entries[:, 0],
        times=entries[:, 1],
        factors=tuple(np.split(weights, np.cumsum(bins)[:-1], axis=1)),
        **shared,
    )


def _worst_case(document: PrivateTableDocument, shared: dict[str, Any]) -> PrivateTable:
    rule = document.rule
    return PrivateTable(
        counts=np.array(document.counts, dtype=np.int64),
        rule=Rule(rule.unit, tuple(rule.near), rule.cap, tuple(rule.floors), rule.factor),
        weights=tuple(document.weights),
        base=None if document.base is None else tuple(document.base),
        **shared,
    )
