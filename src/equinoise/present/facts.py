"""The figures that stand beside a promise, wherever a mechanism is shown: report, notebook and local page."""

from __future__ import annotations

from equinoise.formatting import at_most, printable, three_digits
from equinoise.mechanisms.base import Mechanism
from equinoise.present.wording import draws_in_words

DISTANCES = {"kl": "KL from the original", "tv": "total variation"}
PAIR_DISTANCES = {"kl_2way": "KL of two columns, mean over pairs", "tv_2way": "total variation of two columns, mean"}
"""Of the joint cells, or where they cannot be held of pairs of columns."""


def facts(mechanism: Mechanism) -> list[tuple[str, str, str]]:
    """What was reached in numbers: for each its name, its value and a note beside it, all as text."""
    ours, smoothed, local = mechanism.metrics(), mechanism.smoothing(), mechanism.baseline()
    half = mechanism.loss_quantiles()["0.5"]
    rows = [
        ("people protected", f"{mechanism.protected:,}", f"of {mechanism.total_people:,}"),
        ("epsilon of one draw", at_most(mechanism.epsilon), ""),
        ("worst loss of one draw", at_most(mechanism.worst_loss), f"half of the people: {at_most(half)}"),
        *(
            _beside(name, ours[key], smoothed[key], local[key])
            for key, name in (DISTANCES if mechanism.joint_held else PAIR_DISTANCES).items()
        ),
    ]
    changes = [
        method["correlation_loss"] for method in (ours, smoothed, local) if method.get("correlation_loss") is not None
    ]
    if len(changes) == 3:
        rows.append(_beside("largest change of a correlation", *changes))
    for name in ours.get("columns", {}):
        each = (method["columns"][name]["kl"] for method in (ours, smoothed, local))
        rows.append(_beside(f"KL of {printable(name)!r} alone", *each))
    cost = mechanism.cost(mechanism.draws or 1)
    rows.append((f"cost of {draws_in_words(mechanism.draws)}", at_most(cost), mechanism.promise.qualifier))
    return rows


def facts_in_pairs(mechanism: Mechanism) -> list[tuple[str, str]]:
    """What was reached in numbers, where there is no place for a note beside the value."""
    return [(name, f"{value} ({note})" if note else value) for name, value, note in facts(mechanism)]


def _beside(name: str, ours: float, smoothed: float, local: float) -> tuple[str, str, str]:
    return name, three_digits(ours), f"smoothed counts: {three_digits(smoothed)}, Laplace: {three_digits(local)}"
