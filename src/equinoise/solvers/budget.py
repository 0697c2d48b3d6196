"""A loss for one draw such that all draws together stay within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from equinoise.data.grid import Ints
from equinoise.errors import PromiseNotMet
from equinoise.formatting import at_most
from equinoise.game.game import Game
from equinoise.privacy.accounting import Accountant, Budget
from equinoise.settings import LEAST_EPSILON, MOST_DRAWS
from equinoise.solvers.solution import Solution

LOSSES_TRIED = 10
"""How many losses a draw are tried."""


SHARES = (1.0, 0.9, 0.8)
"""Shares of the loss found that are tried with a slower solver: its profiles use it up for more people."""


def within_budget(game: Game, solve: Callable[[Game], Solution], draws: int, budget: Budget) -> Solution:
    """The closest solution found whose draws together cost everyone at most the budget.

    Epsilon / D a draw is always within it, by adding up; the largest loss a draw that is, is looked for by bisection
    (in logarithms) between that and epsilon. What costs less is not always closer, so the closest that passed is kept.
    """
    low, high = max(budget.epsilon / draws, LEAST_EPSILON), max(budget.epsilon, LEAST_EPSILON)
    best: Solution | None = None
    for step in range(LOSSES_TRIED):
        epsilon = low if step == 0 else math.sqrt(low * high)
        found = solve(replace(game, epsilon=epsilon))
        everyone = found.protected == game.people
        fits = everyone and accountant_of(found.game, found.profile).within_budget(budget, draws)
        if fits and (best is None or found.divergence < best.divergence):
            best = found
        if step > 0:  # one that leaves people out needs a larger loss, one that costs too much a smaller
            low, high = (epsilon, high) if fits or not everyone else (low, epsilon)
    if best is None:
        possible = most_draws(game, budget)
        raise PromiseNotMet(
            f"No mechanism was found whose {draws:,} draws together cost everyone at most {at_most(budget.epsilon)} "
            f"with delta {budget.delta:g}: with everyone at the largest scale, at most {possible:,} draws are "
            "possible. Ask for fewer draws or a larger epsilon, or offer larger scales.",
            draws=draws,
            most_draws=possible,
        )
    return best


def most_draws(game: Game, budget: Budget) -> int:
    """How many draws stay within a budget, by the quick bound, if everyone takes the largest scale."""
    accountant = accountant_of(game, game.largest_scale_profile())

    def fit(draws: int) -> bool:
        return bool(accountant.bounds(draws, budget.delta).max() <= budget.epsilon)

    low, high = 0, 1
    while high <= MOST_DRAWS and fit(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fit(middle) else (low, middle)
    return min(low, MOST_DRAWS)


def improve_within_budget(known: Solution, solve: Callable[[Game], Solution], draws: int, budget: Budget) -> Solution:
    """Another solver's solution at the same loss a draw, or a little less, if it is closer and within the budget."""
    for share in SHARES:
        found = solve(replace(known.game, epsilon=share * known.game.epsilon))
        closer = found.protected == found.game.people and found.divergence < known.divergence
        if closer and accountant_of(found.game, found.profile).within_budget(budget, draws):
            return found
    return replace(known, settings={**known.settings, "tried": found.name})


def accountant_of(game: Game, profile: Ints) -> Accountant:
    """The accountant of a profile's groups."""
    types, scales = game.groups(profile)
    weights = game.stacked_weights(types, scales).astype(np.int64)
    return Accountant(profile[types, scales], weights, game.players.sizes[types])
