"""A mechanism in a few lines of HTML, for notebooks."""

from __future__ import annotations

from html import escape

from equinoise.errors import at_most
from equinoise.mechanism import Mechanism

SECRET = "Everything here is worked out from the raw data and is as secret as the data."


def summary_html(mechanism: Mechanism) -> str:
    """The promise if it holds, what was reached, and that it is private. No colours: the notebook has its own."""
    held = mechanism.certificate().holds and mechanism.within_budget
    verdict = "The certificate holds." if held else "The certificate does not hold: nothing is promised."
    rows = "".join(f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(value)}</td></tr>"
                   for name, value in facts(mechanism))  # fmt: skip
    promise = f"<p>{escape(mechanism.promise)}</p>" if held else ""
    return (
        f"<div><p><strong>{escape(mechanism.grid.name)}, {mechanism.tier} tier.</strong> {verdict}</p>"
        f"<table>{rows}</table>{promise}<p><em>{SECRET}</em></p></div>"
    )


def facts(mechanism: Mechanism) -> list[tuple[str, str]]:
    """What was reached, in short."""
    ours, theirs = mechanism.metrics()["kl"], mechanism.baseline()["kl"]
    return [
        ("people", f"{mechanism.total_people:,}, of whom {mechanism.protected:,} are protected"),
        ("cells", f"{mechanism.grid.cells:,}"),
        ("epsilon of one draw", at_most(mechanism.epsilon)),
        ("worst loss of one draw", at_most(mechanism.worst_loss)),
        ("KL from the original", f"{ours:.4g} (Laplace mechanism: {theirs:.4g})"),
        ("draws", f"{mechanism.ledger.spent:,} of {mechanism.draws:,} released"),
    ]
