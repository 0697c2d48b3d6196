"""A mechanism or a solution in a few lines, for notebooks. No colours: the notebook has its own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from equinoise.formatting import at_most
from equinoise.mechanisms.base import Mechanism
from equinoise.solvers.solution import Solution

SECRET = "Everything here is worked out from the raw data and is as secret as the data."


def summary_html(shown: Mechanism | Solution) -> str:
    """The promise if it holds, what was reached, and that it is private."""
    if isinstance(shown, Mechanism):
        held = shown.certificate().holds and shown.within_budget
        verdict = "The certificate holds." if held else "The certificate does not hold: nothing is promised."
        return _html(in_short(shown), verdict, facts(shown), shown.promise if held else "")
    made = shown._shown_mechanism()
    verdict = "Everyone is protected." if shown.protected == made.total_people else "Not everyone is protected."
    rows = facts(made)[:-1]  # there are no draws yet
    found = [
        ("equilibrium", "yes, checked" if shown.equilibrium else "no"),
        ("rounds", f"{shown.rounds:,} in {shown.seconds:.2g} s"),
    ]
    return _html(in_short(shown), verdict, [*rows, *found], "")


def in_short(shown: Mechanism | Solution) -> str:
    """One line; the object itself is far too long to read."""
    if isinstance(shown, Mechanism):
        return f"{shown.tier} mechanism for {shown.grid.name} at epsilon {at_most(shown.epsilon)}"
    grid, epsilon = shown.game.players.grid, shown.game.epsilon
    return f"{shown.name} solution of a game for {grid.name} at epsilon {at_most(epsilon)}"


def _html(title: str, verdict: str, rows: Sequence[tuple[str, str]], promise: str) -> str:
    table = "".join(f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in rows)
    said = f"<p>{escape(promise)}</p>" if promise else ""
    return (
        f"<div><p><strong>{escape(title[0].upper() + title[1:])}.</strong> {verdict}</p><table>{table}</table>{said}"
        f"<p><em>{SECRET}</em></p></div>"
    )


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
