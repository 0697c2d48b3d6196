"""What a mechanism promises, in words: the standard sentence, what draws cost, and what must be said with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from equinoise.formatting import at_most

if TYPE_CHECKING:
    from equinoise.mechanisms.base import Mechanism

NOT_PRIVATE = "The bounds were read off the data and are not private."

NOT_DIFFERENTIAL_PRIVACY = (
    "This is not differential privacy: without that person the game would have chosen other noise, and people who are "
    "not in the data are promised nothing."
)

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
    if m.differentially_private:
        base = "" if m.base is None else ", provided that the base distribution was not taken from the data"
        one_draw, caveat = _for_every_dataset(m), f"The weights are worked out again without that person{base}."
    else:
        one_draw, caveat = _for_this_dataset(m, public), NOT_DIFFERENTIAL_PRIVACY
    return f"{one_draw}{whose}{several} {caveat}{bounds}"


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
    return f"{says} {draws:,} x {at_most(m.epsilon)} = {at_most(cost)} together ({how})"


def _composed(mechanism: Mechanism, cost: float) -> str:
    assert mechanism.budget is not None
    return f"cost {within(cost, mechanism.budget.delta)} together ({mechanism.composed})"


def _for_every_dataset(m: Mechanism) -> str:
    """The standard sentence of differential privacy: neighbours, one draw, delta."""
    return (
        "Differential privacy: for every dataset of at least one person within the bounds, the privacy loss of one "
        f"draw is {within(m.epsilon, 0)}, between the data with a person and with that one person removed, or added "
        f"({SECRET_SIZE})."
    )


def _for_this_dataset(m: Mechanism, public: bool) -> str:
    """The standard sentence of the game: for whom, neighbours, one draw, delta."""
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
    who = "each person" if public else f"each of the {m.total_people:,} people"
    return (
        f"Per-instance: for {who} in this dataset{rows}, {loss}, between the data "
        f"with them and with {removed}, everyone else's noise held fixed ({SECRET_SIZE})."
    )
