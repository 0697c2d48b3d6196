"""What a mechanism promises, in words: its tier's sentence, what draws cost, and what must be said with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from equinoise.errors import at_most

if TYPE_CHECKING:
    from equinoise.mechanism import Mechanism

NOT_PRIVATE = "The bounds were read off the data and are not private."

SECRET_SIZE = "the number of people is itself not public"


def within(epsilon: float, delta: float) -> str:
    """An epsilon and a delta as the standard sentence says them."""
    return f"at most {at_most(epsilon)} with delta = {at_most(delta)}"


def promise(mechanism: Mechanism, *, public: bool) -> str:
    """What is promised of one draw and of all, what that is not, and which bounds it rests on; ``public``, with nothing
    in it that was worked out from the data."""
    m, budget = mechanism, mechanism.budget
    together = declared(m, m.draws) if budget is None else _composed(m, budget.epsilon)
    several = "" if m.draws == 1 else f" {m.draws:,} draws are allowed and {together}."
    bounds = "" if m.settings.get("public_bounds") else " " + NOT_PRIVATE
    unit = m.settings.get("unit")
    once = f" Of rows with the same {unit!r}, which are one person's, only the middle one is used."
    whose = once if unit is not None and m.settings.get("unit_rows") == "one" else ""
    one_draw, caveat = WORDS[m.tier]
    return f"{one_draw(m, public)}{whose}{several}{caveat(m, public)}{bounds}"


def declared(mechanism: Mechanism, draws: int, *, public: bool = False) -> str:
    """What so many draws cost together, as the standard sentence says it; ``public``, what is promised of them."""
    m = mechanism
    cost = m.promised_cost(draws) if public else m.cost(draws)
    if m.budget is not None:
        return _composed(m, cost)
    if m.delta > 0:
        return f"cost {within(cost, m.delta)}"
    says = "cost at most" if m.differentially_private else "declared to cost"
    how = "basic composition" if m.order is None else f"Renyi divergences of order {m.order:g} add up"
    return f"{says} {draws:,} x {at_most(m.target)} = {at_most(cost)} together ({how})"


def _composed(mechanism: Mechanism, cost: float) -> str:
    assert mechanism.budget is not None
    return f"cost {within(cost, mechanism.budget.delta)} together ({mechanism.composed})"


def _worst_case(m: Mechanism, public: bool) -> str:
    return (
        "Worst-case tier: for every dataset of at least one person within the bounds, the privacy loss of one draw "
        f"is {within(m.epsilon, 0)}, between the data with a person and with that one person removed, or added "
        f"({SECRET_SIZE})."
    )


def _worst_case_caveat(m: Mechanism, public: bool) -> str:
    base = ", provided that the base distribution was not taken from the data" if m.base is not None else ""
    return f" This is differential privacy: the weights are worked out again without that person{base}."


def _end_to_end(m: Mechanism, public: bool) -> str:
    assert m.measured is not None
    return (
        f"End-to-end tier, measured for this dataset: for {_who(m, public)} in it, the "
        f"privacy loss of one draw is {within(m.measured.target if public else m.measured.worst, 0)} (asked for: "
        f"{at_most(m.measured.target)}), between the data with them and with that one person removed, the "
        f"noise worked out again without them ({SECRET_SIZE})."
    )


def _end_to_end_caveat(m: Mechanism, public: bool) -> str:
    fixed = f" With everyone else's noise fixed, {at_most(m.epsilon)} is certified."
    return (
        " This is a measurement and not differential privacy: other datasets, and people who are not in this "
        f"one, are promised nothing.{'' if public else fixed}"
    )


def _fixed_noise(m: Mechanism, public: bool) -> str:
    if m.order is not None:
        loss = f"the Renyi divergence of order {m.order:g} of one draw is at most {at_most(m.epsilon)}"
    elif public and m.budget is not None:  # how much of it one draw may cost was worked out from the data
        loss = f"the privacy loss of one draw is {within(m.budget.epsilon, m.budget.delta)}"
    else:
        loss = f"the privacy loss of one draw is {within(m.epsilon, m.delta)}"
    unit = m.settings.get("unit") if m.settings.get("unit_rows") != "one" else None
    many = "" if public else f", {m.total_rows:,} rows in all"
    rows = "" if unit is None else f" (rows with the same {unit!r} are one person's{many})"
    removed = "that one person removed" if unit is None else "all rows of that one person removed"
    return (
        f"Fixed-noise tier: for {_who(m, public)} in this dataset{rows}, {loss}, between the data "
        f"with them and with {removed}, everyone else's noise held fixed ({SECRET_SIZE})."
    )


def _fixed_noise_caveat(m: Mechanism, public: bool) -> str:
    return (
        " This is per-instance and not differential privacy: without that person the game would have chosen other "
        "noise, and people who are not in the data are promised nothing."
    )


def _who(m: Mechanism, public: bool) -> str:
    return "each person" if public else f"each of the {m.total_people:,} people"


WORDS = {
    "fixed-noise": (_fixed_noise, _fixed_noise_caveat),
    "end-to-end": (_end_to_end, _end_to_end_caveat),
    "worst-case": (_worst_case, _worst_case_caveat),
}
"""For each tier the standard sentence (tier, neighbours, one draw, delta), and what the promise is not."""
