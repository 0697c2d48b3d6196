"""Bounds of a column of numbers, drawn with differential privacy: the exponential mechanism on a public family.

*The family.* A window is eight cells side by side. Cells are as wide as a public round number says (1, 1.25, 1.5, 2,
2.5, 3, 4, 5, 6 or 8 times a power of ten) and begin at multiples of it. Every window has some wider intervals around
it, which are what may come out: with 0 for an end where the window begins near 0, as many columns do.

*The score* of an interval J around a window I is, in fifths of a person,

    min( 2 people in J + min(2 people in I, 3 people outside the fullest two neighbouring cells of I),
         5 max(0, people in I - spared) ).

The first part has everyone inside, the second one keeps I from being far wider than people are spread. One person more
raises every score by a whole number from 0 to 5: the sums and minima are of counts that nobody lowers, and which a
person raises by 0 or 1 (the people outside the fullest two cells are all people less a maximum of counts, which rises
by 0 or 1 with them).

*The law.* An interval comes out with probability proportional to prior * ratio^score; the prior is public, and all of
it whole numbers. So one person more raises each of these weights by a factor from 1 to ratio^5, and their total too,
and so changes no probability by more than a factor of ratio^5. The ratio is 1 + y + y^2/2 + y^3/6 with y = epsilon/5,
which is less than e^y, so ratio^5 < e^epsilon: differential privacy with epsilon, for one person added or removed. The
draw is exact (:mod:`equinoise.mechanisms.power_draws`), and nothing depends on how many people there are.

Windows with at most ``spared`` people have score 0, as empty ones have; so only some windows need a look.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.mechanisms.draws import RandomBytes, uniform
from equinoise.mechanisms.power_draws import Group, draw_group
from equinoise.privacy.book_cost import as_written

CELLS = 8
"""Of a window."""

PARTS = 5
"""Of a person, in which scores are counted."""

ROUND = tuple(Fraction(hundredths, 100) for hundredths in (100, 125, 150, 200, 250, 300, 400, 500, 600, 800))
LEAST_POWER, MOST_POWER = -10, 14
"""Of ten: cells are from 1e-10 to 8e14 wide."""

USUAL_POWERS = range(0, 4)
"""Widths of cells that are most likely beforehand; likelihood falls by half a power above, by a quarter below."""

REACH = 10**6
"""Windows begin within so many cells of 0."""

NEAR = 2
"""A window that begins at most so many cells from 0 has intervals that begin at 0."""

NEAR_ENDS = ((512, 5), (2, 13), (1, 29))
FAR_ENDS = ((512, 2, 2), (2, 2, 8), (2, 8, 2), (1, 8, 8), (1, 2, 20))
"""Priors of intervals, and by how many cells each is longer than its window: beyond, or before and beyond."""


class Level(NamedTuple):
    """A width of cells, and its share of the prior."""

    width: Fraction
    prior: int


class Place(NamedTuple):
    """Where intervals are: the number of a level, the first cell of a window, and which of its intervals."""

    level: int
    start: int
    option: int


@dataclass(frozen=True)
class Family:
    """All intervals for one ``epsilon``; with a ``step``, none with windows shorter than it."""

    epsilon: float
    step: float | None = None
    reach: int = REACH

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The widths of cells, from the least on."""
        least = Fraction(0) if self.step is None else as_written(self.step) / CELLS
        powers = range(LEAST_POWER, MOST_POWER + 1)
        found = [Level(one * Fraction(10) ** power, _prior(power)) for power in powers for one in ROUND]
        return tuple(level for level in found if level.width >= least) or (found[-1],)

    @cached_property
    def ratio(self) -> Fraction:
        """How much a fifth of a person weighs: less than e^(epsilon/5), by the first terms of its series."""
        y = as_written(self.epsilon) / PARTS
        return 1 + y + y**2 / 2 + y**3 / 6

    @cached_property
    def spared(self) -> int:
        """People that a window needs more of, to have a score."""
        return math.ceil(2 / as_written(self.epsilon))

    @cached_property
    def starts(self) -> Ints:
        """The first cell of every window of one width."""
        return np.arange(-self.reach, self.reach + 1)

    @cached_property
    def total(self) -> int:
        """The prior of the whole family."""
        priors, near = start_priors(self.starts), is_near(self.starts)
        of_near, of_far = (sum(prior for prior, *_ in options) for options in (NEAR_ENDS, FAR_ENDS))
        windows = int(priors[near].sum()) * of_near + int(priors[~near].sum()) * of_far
        return sum(level.prior for level in self.levels) * windows

    def draw_place(self, source: RandomBytes) -> Place:
        """An interval by the prior alone."""
        most = max(sum(prior for prior, *_ in options) for options in (NEAR_ENDS, FAR_ENDS))
        while True:
            level = draw_one(np.array([level.prior for level in self.levels]), source)
            start = int(self.starts[draw_one(start_priors(self.starts), source)])
            target = int(uniform(most, 1, source)[0])
            for option, (prior, *_) in enumerate(NEAR_ENDS if is_near(np.array(start)) else FAR_ENDS):
                if target < prior:
                    return Place(level, start, option)
                target -= prior
            # the intervals of this window have less prior in all than those of others: begin again

    def bounds(self, place: Place) -> tuple[Fraction, Fraction]:
        """The two ends of an interval; with a step multiples of it, outwards."""
        low, high = (int(end) * self.levels[place.level].width for end in ends(np.array(place.start), place.option))
        if self.step is None:
            return low, high
        step = as_written(self.step)
        return math.floor(low / step) * step, math.ceil(high / step) * step


def _prior(power: int) -> int:
    """The prior of widths with a power of ten."""
    above, below = max(power - USUAL_POWERS.stop + 1, 0), max(USUAL_POWERS.start - power, 0)
    return max(2**10 >> above + 2 * below, 1)


def start_priors(starts: Ints) -> Ints:
    """The prior of first cells of windows: in inverse proportion to how far their middles are from 0, and some more."""
    return np.asarray(2**30 // (2 * CELLS + np.abs(2 * starts + CELLS)))


def is_near(starts: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether windows end or begin near 0, on one side of it."""
    return ((starts >= 0) & (starts <= NEAR)) | ((starts + CELLS <= 0) & (starts + CELLS >= -NEAR))


def ends(starts: Ints, option: int) -> tuple[Ints, Ints]:
    """The first cells of intervals, and those after the last, in cells from 0, by the windows' first cells.

    An interval does not cross 0 if its window does not, but begins or ends there."""
    beyond = NEAR_ENDS[min(option, len(NEAR_ENDS) - 1)][1]
    _, before, after = FAR_ENDS[option]
    near, above = is_near(starts), starts >= 0
    low = np.where(near, np.where(above, 0, starts - beyond), starts - before)
    high = np.where(near, np.where(above, starts + CELLS + beyond, 0), starts + CELLS + after)
    crosses_down, crosses_up = above & (low < 0), (starts + CELLS <= 0) & (high > 0)
    return (
        np.where(crosses_down, 0, np.where(crosses_up, low - high, low)),
        np.where(crosses_down, high - low, np.where(crosses_up, 0, high)),
    )


class Scored(NamedTuple):
    """Intervals with their scores, in fifths of a person, and priors."""

    places: Ints
    """Level, first cell and option (intervals x 3)."""
    scores: Ints
    priors: Ints


class Cells:
    """The cells of one width that anyone is in, ascending, and how many people are in lower ones."""

    def __init__(self, values: Floats, before: Ints, width: Fraction, reach: int) -> None:
        beyond = 2.0 * reach + 8 * CELLS  # where no interval is
        cells = np.floor(np.clip(values / float(width), -beyond, beyond))
        first = np.flatnonzero(np.diff(cells, prepend=-math.inf) > 0)
        self.cells, self.before = cells[first].astype(np.int64), np.append(before[first], before[-1])

    def lower(self, cells: Ints) -> Ints:
        """How many people are in lower cells than each of some."""
        return np.asarray(self.before[np.searchsorted(self.cells, cells)])

    def counts(self, starts: Ints) -> Ints:
        """People in each cell of windows (windows x cells)."""
        return np.asarray(np.diff(self.lower(starts[:, None] + np.arange(CELLS + 1)), axis=1))

    def full_windows(self, people: int, reach: int) -> Ints:
        """First cells of the windows that have more than so many people."""
        last = np.searchsorted(self.before, self.before[:-1] + people, side="right") - 1
        run = np.flatnonzero(last < len(self.cells))
        first = self.cells[run[self.cells[last[run]] - self.cells[run] < CELLS]]
        starts = np.unique((first[:, None] - np.arange(CELLS)).ravel())
        starts = starts[np.abs(starts) <= reach]
        full: Ints = starts[self.counts(starts).sum(axis=1) > people]
        return full


class People:
    """Values that differ, ascending, and how many people have each."""

    def __init__(self, values: Floats, times: Ints, family: Family) -> None:
        self.values, self.family = values, family
        self.before = np.concatenate([[0], np.cumsum(times)])

    def cells(self, level: int) -> Cells:
        """Everyone by the cells of one width."""
        return Cells(self.values, self.before, self.family.levels[level].width, self.family.reach)

    def scores(self, cells: Cells, starts: Ints, option: int) -> Ints:
        """Scores of intervals around windows of one width."""
        counts, (low, high) = cells.counts(starts), ends(starts, option)
        inside, within = cells.lower(high) - cells.lower(low), counts.sum(axis=1)
        outside = self.before[-1] - (counts[:, 1:] + counts[:, :-1]).max(axis=1)
        most = PARTS * np.maximum(within - self.family.spared, 0)
        return np.asarray(np.minimum(2 * inside + np.minimum(2 * within, 3 * outside), most))

    def scored(self, span: int) -> tuple[Scored, int]:
        """All intervals with scores above a floor, the best first, and the floor: ``span`` below the best, or 0.

        Windows of a narrower kind have no more people than some of a wider one, so the rest is known to be below the
        floor as soon as no window of a kind has enough people to be above it."""
        best, parts = 0, []
        for level in reversed(range(len(self.family.levels))):
            floor, cells = max(best - span, 0), self.cells(level)
            starts = cells.full_windows(self.family.spared + floor // PARTS, self.family.reach)
            if not len(starts):
                break
            parts += [self._scored_at(level, cells, starts, option) for option in range(len(FAR_ENDS))]
            best = max(best, *(int(part.scores.max(initial=0)) for part in parts[-len(FAR_ENDS) :]))
        floor = max(best - span, 0)
        whole = Scored(*(np.concatenate(columns) for columns in zip(NOTHING, *parts, strict=True)))
        order = np.argsort(-whole.scores, kind="stable")
        order = order[whole.scores[order] > floor]
        return Scored(*(column[order] for column in whole)), floor

    def _scored_at(self, level: int, cells: Cells, starts: Ints, option: int) -> Scored:
        """The intervals around windows of one width that are one of their options."""
        of_near = NEAR_ENDS[option][0] if option < len(NEAR_ENDS) else 0
        priors = np.where(is_near(starts), of_near, FAR_ENDS[option][0]) * start_priors(starts)
        kept = starts[priors > 0]
        places = np.stack([np.full(len(kept), level), kept, np.full(len(kept), option)], axis=1)
        return Scored(places, self.scores(cells, kept, option), self.family.levels[level].prior * priors[priors > 0])


NOTHING = Scored(np.empty((0, 3), np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


def draw_bounds(
    values: Floats, times: Ints, family: Family, source: RandomBytes = os.urandom
) -> tuple[Fraction, Fraction]:
    """Bounds of a column by values that differ, ascending, and how many people have each."""
    people = People(values, times, family)
    found: list[tuple[Scored, Ints]] = []

    def groups_down_to(bits: int) -> Sequence[Group]:
        scored, floor = people.scored(math.ceil(bits * math.log(2) / math.log1p(float(family.ratio - 1))))
        begins = np.flatnonzero(np.diff(scored.scores, prepend=-1))
        sums = np.add.reduceat(scored.priors, begins).tolist() if len(begins) else []
        exponents = scored.scores[begins].tolist()
        found[:] = [(scored, np.append(begins, len(scored.scores)))]
        groups = [Group(weight, score, score) for weight, score in zip(sums, exponents, strict=True)]
        return [*groups, Group(family.total - sum(sums), 0, floor)]

    group = draw_group(groups_down_to, family.ratio, source)
    scored, begins = found[0]
    if group >= 0:
        first, last = begins[group : group + 2].tolist()
        one = draw_one(scored.priors[first:last], source)
        return family.bounds(Place(*scored.places[first + one].tolist()))
    while True:  # of those without a score, by the prior
        place = family.draw_place(source)
        if people.scores(people.cells(place.level), np.array([place.start]), place.option)[0] == 0:
            return family.bounds(place)


def draw_one(weights: Ints, source: RandomBytes) -> int:
    """Which of some weights, each as likely as it is large."""
    edges = np.cumsum(weights)
    return int(np.searchsorted(edges, uniform(int(edges[-1]), 1, source), side="right")[0])
