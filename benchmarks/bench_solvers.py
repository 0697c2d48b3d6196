"""Genetic, best response and optimal on the same game."""

from __future__ import annotations

from benchmarks.heights import height_game
from benchmarks.measuring import Part, holds, note, side_by_side, table
from equinoise.solvers.best_response import best_response
from equinoise.solvers.genetic import GENERATIONS, genetic
from equinoise.solvers.optimal import optimal

ABOUT = """
The 1,844 heights, 101 bins, eight wide scales. Seconds by the clock: best response (8 restarts) and optimal take
turns, medians of {repeats}; then the genetic solver (population 500, at most {generations} generations) runs once.
*Equilibrium* is checked by other code than the solvers'.
"""


def measure(epsilons=(1.0,), generations=GENERATIONS, repeats=3):
    """Seconds and KL of the three, at each epsilon."""
    lines, goals = [], []
    for epsilon in epsilons:
        note(f"epsilon {epsilon:g}")
        game = height_game("wide", epsilon)
        best_response(game, restarts=1)  # compiled before anything is timed
        sides = {"best response": lambda game=game: best_response(game), "optimal": lambda game=game: optimal(game)}
        times, found = side_by_side(sides, repeats)
        once, bred = side_by_side({"genetic": lambda game=game: genetic(game, generations=generations)}, 1)
        times, found = times | once, found | bred
        for name in ("genetic", "best response", "optimal"):
            solution, ratio = found[name], times[name] / times["best response"]
            lines.append(
                [f"{name}, epsilon {epsilon:g}", f"{times[name]:.2f}", f"{ratio:,.1f}", f"{solution.kl:.5f}",
                 f"{solution.protected:,}", solution.equilibrium]
            )  # fmt: skip
        proven = bool(found["optimal"].settings["proven"])
        goals.append(holds(f"optimal proven, and closest, epsilon {epsilon:g}", proven and _ordered(found)))
    header = ["solver", "seconds", "times best response's", "KL", "protected", "equilibrium"]
    about = ABOUT.format(repeats=repeats, generations=generations)
    return Part("Genetic, best response and optimal", [about.strip(), *table(header, lines)], goals)


def _ordered(found):
    return found["optimal"].kl <= min(found["best response"].kl, found["genetic"].kl)
