"""Best response against the plain transcription of the paper's algorithm: same start, same order, same end."""

from __future__ import annotations

import time
from itertools import islice

import numpy as np

from benchmarks import plain
from benchmarks.heights import height_game, heights
from benchmarks.measuring import Part, at_least, holds, note, side_by_side, table
from equinoise.solvers.best_response import rounds

PEOPLE = {1_000: 1_000, 1_844: 2_000, 10_000: 20_000}
"""How many people, and how many times as fast best response must be."""

WHOLE_UP_TO = 2_000
"""With more people, the plain transcription is timed on a share of its steps."""

ABOUT = f"""
Processor time of both, from everyone at the largest of the paper's five scales to the equilibrium; heights, 101
bins, epsilon 1. 1,844 people are the players themselves, 1,000 are drawn from them without and 10,000 with
replacement. Best response is timed before and after the plain transcription, medians of all; the plain one runs
once. A step is one person's turn, and every step of the plain one does the same work: with more than
{WHOLE_UP_TO:,} people it is timed on the first steps of the first round and on people spread evenly over the last
one, and the time is multiplied. Then "same end" means that cells which had their turn stand as best response has
them after its first round, and that nobody asked in the last round wants to move.
"""


def game_of(people):
    """The game of so many people, and the paper's scales."""
    values = heights()
    if people != len(values):
        values = np.random.default_rng(people).choice(values, people, replace=people > len(values))
    return height_game("paper", 1.0, values=values)


def played(game):
    """Every round of best response."""
    return list(rounds(game, game.largest_scale_profile()))


def whole(game, states):
    """The plain transcription to its end: seconds, and whether that is best response's."""
    began = time.process_time()
    profile, number = plain.best_response_dynamics(game, game.largest_scale_profile())
    return time.process_time() - began, number == len(states) and np.array_equal(profile, states[-1].profile)


def share(game, states, steps):
    """The same, worked out from so many steps of the first round and of the last."""
    first, last = (plain.Everyone(game, start) for start in (game.largest_scale_profile(), states[-1].profile))
    asked = np.linspace(0, game.people - 1, steps).astype(int)
    began = time.process_time()
    done = len(list(islice(first.round(), steps)))
    stay = [last.best_choice(person) == last.scales[person] for person in asked]
    taken = time.process_time() - began
    complete = np.cumsum(game.players.people) <= done
    alike = np.array_equal(first.profile[complete], states[0].profile[complete])
    return taken * len(states) * game.people / (done + len(asked)), alike and all(stay)


def measure(people=tuple(PEOPLE), steps=50, repeats=15):
    """Seconds of both, for each number of people."""
    lines, goals = [], []
    for number in people:
        note(f"{number:,} people")
        game = game_of(number)
        played(game)  # compiled before anything is timed
        before, states = side_by_side({"fast": lambda game=game: played(game)}, repeats, time.process_time)
        in_full = number <= WHOLE_UP_TO
        slow, same = whole(game, states["fast"]) if in_full else share(game, states["fast"], steps)
        after, _ = side_by_side({"fast": lambda game=game: played(game)}, repeats, time.process_time)
        fast = (before["fast"] + after["fast"]) / 2
        turns = len(states["fast"]) * number
        timed = "all" if in_full else f"{2 * steps:,} of {turns:,} ({2 * steps / turns:.2%})"
        lines.append(
            [f"{number:,}", len(states["fast"]), timed, f"{slow:,.1f}", f"{fast:.5f}", f"{slow / fast:,.0f}", same]
        )
        what = f"best response against the plain transcription, {number:,} people"
        goals.append(at_least(what, PEOPLE.get(number, 1), slow / fast))
        goals.append(holds(f"the same equilibrium, {number:,} people", bool(same)))
    header = ["people", "rounds", "steps of the plain one timed", "plain, s", "best response, s", "times", "same end"]
    return Part("Best response and the plain transcription", [ABOUT.strip(), *table(header, lines)], goals)
