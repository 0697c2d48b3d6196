"""What is said when a solver leaves someone unprotected: how many, and which epsilon would do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from equinoise.errors import PromiseNotMet
from equinoise.formatting import at_most
from equinoise.game.game import Game
from equinoise.game.theorem import always_protecting_scale, self_protecting_scale
from equinoise.privacy.loss import PURE
from equinoise.solvers.least_epsilon import least_epsilon
from equinoise.solvers.solution import Round, Solution


def shortfall_error(solution: Solution, scales: Any, progress: Callable[[Round], None] | None) -> PromiseNotMet:
    """With the least epsilon that these scales allow, as far as it can be proven."""
    game = solution.game
    left_out = game.people - solution.protected
    if game.condition.kind != PURE:
        return PromiseNotMet(
            f"No start protects everyone: {left_out:,} of {game.people:,} people are left unprotected. Ask for a "
            "larger epsilon or delta, or offer larger scales.",
            unprotected=left_out,
            people=game.people,
        )
    least = least_epsilon(solution, progress=progress)
    theorem = _theorem(game)
    return PromiseNotMet(
        f"The {solution.name} solver does not protect everyone at epsilon {at_most(game.epsilon)}: {left_out:,} of "
        f"{game.people:,} people are left unprotected. {least.sentence(game.epsilon, fixed=scales != 'paper')}"
        + (f" {_theorem_sentence(theorem)}" if theorem else ""),
        unprotected=left_out,
        people=game.people,
        least_epsilon=least.found if math.isfinite(least.found) else None,
        proven_above=least.proven,
        theorem=theorem,
    )


def _theorem_sentence(theorem: dict[str, Any]) -> str:
    if theorem["every_profile_protects"]:
        return "The scales meet the theorem's condition, before rounding."
    return (
        f"The scales do not meet the theorem's condition (the smallest is {theorem['smallest_scale']:.3g} of the "
        f"range; from {theorem['always_protecting_scale']:.3g} on, every profile protects everyone)."
    )


def _theorem(game: Game) -> dict[str, Any] | None:
    """What the theorem says of the scales; None unless it is about them: Laplace noise (before rounding) on one column
    of numbers, or of categories, with one row a person."""
    bins, categories = game.kernel.shape[0], (game.kernel.categories or (0,))[0]
    one_kind = len(game.kernel.shape) == 1 and categories in {0, bins}
    if (game.kernel.noise != "laplace" and not categories) or not one_kind or not game.players.single:
        return None
    ((smallest, *_), *_) = game.kernel.scales
    always = always_protecting_scale(game.people, game.epsilon)
    infinite = self_protecting_scale(game.people, game.epsilon, categories)
    return {
        "smallest_scale": smallest,
        "always_protecting_scale": always,
        "self_protecting_scale": infinite if math.isfinite(infinite) else None,
        "every_profile_protects": smallest >= always,
        "infinite_scale_protects": smallest >= infinite,
    }
