"""The figures that stand beside a promise, wherever a mechanism is shown: report, notebook and local page."""

from __future__ import annotations

from equinoise.formatting import at_most, printable
from equinoise.mechanisms.base import Mechanism
from equinoise.present.wording import draws_in_words


def facts(mechanism: Mechanism) -> list[tuple[str, str, str]]:
    """What was reached in numbers: for each its name, its value and a note beside it, all as text."""
    ours, theirs = mechanism.metrics(), mechanism.baseline()
    half = mechanism.loss_quantiles()["0.5"]
    rows = [
        ("people protected", f"{mechanism.protected:,}", f"of {mechanism.total_people:,}"),
        ("epsilon of one draw", at_most(mechanism.epsilon), ""),
        ("worst loss of one draw", at_most(mechanism.worst_loss), f"half of the people: {at_most(half)}"),
        _beside_laplace("KL from the original", ours["kl"], theirs["kl"]),
        _beside_laplace("total variation", ours["tv"], theirs["tv"]),
    ]
    if ours.get("correlation_loss") is not None and theirs.get("correlation_loss") is not None:
        correlations = (ours["correlation_loss"], theirs["correlation_loss"])
        rows.append(_beside_laplace("largest change of a correlation", *correlations))
    for name, own in ours.get("columns", {}).items():
        rows.append(_beside_laplace(f"KL of {printable(name)!r} alone", own["kl"], theirs["columns"][name]["kl"]))
    cost = mechanism.cost(mechanism.draws or 1)
    rows.append((f"cost of {draws_in_words(mechanism.draws)}", at_most(cost), mechanism.promise.qualifier))
    return rows


def facts_in_pairs(mechanism: Mechanism) -> list[tuple[str, str]]:
    """What was reached in numbers, where there is no place for a note beside the value."""
    return [(name, f"{value} ({note})" if note else value) for name, value, note in facts(mechanism)]


def _beside_laplace(name: str, ours: float, theirs: float) -> tuple[str, str, str]:
    return name, f"{ours:.4g}", f"Laplace mechanism: {theirs:.4g}"
