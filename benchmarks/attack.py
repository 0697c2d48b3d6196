"""`python -m benchmarks.attack`: how much of each promise an attacker can prove broken. Writes benchmarks/attack.md.

Ends with status 1 if a bound exceeds what holds for its pair, if the Laplace baseline's does not come close to it, or
if a mechanism that was made with a tenth too much epsilon is not caught: an attack without power would prove nothing.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.progress import track

from benchmarks.attack_tables import EXCESS, planted, tasks
from benchmarks.heights import BOUNDS, heights
from benchmarks.membership import Pair, Side, attack, attack_many
from equinoise import Axis, optimize
from equinoise.cli import demo
from equinoise.game.noise import WEIGHT_TOTAL, round_weights
from equinoise.statistics import baselines
from equinoise.synthesis.envelope import public_rule
from equinoise.synthesis.envelope_weights import weights

EPSILONS = (0.3, 1.0, 2.0)
DRAWS = 10_000_000
MANY, RELEASES, DELTA = 50, 1_000_000, 1e-6
CROWDS = (5, 10, 20, 50, 100)
BINS = 25
CLOSE = 0.95
"""What share of the Laplace baseline's epsilon the attack must prove."""


@dataclass(frozen=True)
class Column:
    """Values of one real column, one a person, and its public bounds; cut into as many bins within them as the paper's
    padded grid has there, or padded as that is."""

    name: str
    values: np.ndarray
    bounds: tuple[float, float]
    padded: bool = True

    @property
    def axis(self):
        return Axis.padded(self.name, *self.bounds) if self.padded else Axis(self.name, *self.bounds, BINS)

    @property
    def without_padding(self):
        """On the grid of the envelope."""
        return replace(self, padded=False)

    @property
    def counts(self):
        return np.bincount([self.axis.cell_of(value) for value in self.values], minlength=self.axis.bins)

    def without(self, cell):
        """All values but one in this cell."""
        return np.delete(self.values, next(i for i, v in enumerate(self.values) if self.axis.cell_of(v) == cell))

    def shown(self, cell):
        """The cell's midpoint, which is what a draw would say."""
        return f"{self.axis.midpoints()[cell]:.5g}"


@dataclass(frozen=True)
class Row:
    """One attack. ``promised`` is None where nothing is; ``loss`` is what the pair's distributions give away."""

    tier: str
    data: str
    person: str
    epsilon: float
    promised: float | None
    loss: float
    bound: float
    draws: str
    needs_power: bool = False
    planted: bool = False

    @property
    def holds(self):
        """Whether the attacker proved no more than is promised, nor more than the distributions give away; where more
        epsilon than is promised was planted, whether that was proven."""
        if self.planted:
            return self.promised < self.bound <= self.loss
        return self.bound <= self.loss and (self.promised is None or self.bound <= self.promised)

    @property
    def close(self):
        """Whether an attack that must come close did."""
        return not self.needs_power or self.bound >= CLOSE * self.promised

    @property
    def line(self):
        promised = "nothing" if self.promised is None else f"{self.promised:.4f}"
        return (
            f"| {self.tier} | {self.data} | {self.person} | {self.epsilon:g} | {promised} | {self.loss:.4f} "
            f"| {self.bound:.4f} | {self.draws} |"
        )


def chosen(pairs):
    """The pair with the largest loss, and the one that the attack can be expected to do best against."""
    worst, exposed = max(pairs, key=lambda pair: pair.loss), max(pairs, key=lambda pair: pair.expected(DRAWS))
    if worst is exposed:
        return [(worst, "largest loss, most exposed")]
    return [(worst, "largest loss"), (exposed, "most exposed")]


def side(mechanism):
    """Where the draws of a mechanism come from."""
    (weights,) = mechanism.factors
    return Side(mechanism.people, weights, mechanism.weight_total)


def others_fixed_pairs(column, mechanism):
    """With a person of each group, and without them, everyone else's noise as it is."""
    for group, cell in enumerate(mechanism.cells.tolist()):
        everyone = side(mechanism)
        others = everyone.people - (np.arange(len(everyone.people)) == group)
        yield Pair(column.shown(cell), (everyone, replace(everyone, people=others)))


def solved_again_pairs(column, mechanism, epsilon):
    """With a person of each cell, and without them, everything worked out again from nothing.

    A refusal without someone would show an attacker that they are missing; then there is nothing to draw, and it ends
    the benchmark.
    """
    for cell in np.unique(mechanism.cells).tolist():
        again = optimize(column.without(cell), epsilon=epsilon, bounds=column.bounds, grid="paper")
        yield Pair(column.shown(cell), (side(mechanism), side(again)))


def envelope_side(counts, rule):
    """What is drawn from these people by the envelope."""
    occupied = np.flatnonzero(counts)
    return Side.of_weights(weights(occupied, counts[occupied], rule).dense())


def envelope_pairs(column, epsilon):
    """The envelope's weights for the data and for the data without a person of each cell."""
    counts, rule = column.counts, public_rule(epsilon, (len(column.counts),))
    everyone = envelope_side(counts, rule)
    for cell in np.flatnonzero(counts).tolist():
        without = envelope_side(counts - (np.arange(len(counts)) == cell), rule)
        yield Pair(column.shown(cell), (everyone, without))


def crowd_pairs(axis, epsilon):
    """What the attacker likes best: everyone in the middle cell, and one person alone at the end of the bounds."""
    rule = public_rule(epsilon, (axis.bins,))
    for crowd in CROWDS:
        without = np.zeros(rule.cells, dtype=np.int64)
        without[rule.cells // 2] = crowd
        added = without + (np.arange(rule.cells) == rule.cells - 1)
        sides = tuple(envelope_side(counts, rule) for counts in (added, without))
        yield Pair(f"alone, {crowd} elsewhere", sides)


def laplace_pair(axis, rows):
    """One person's noisy value, if the value is at the one end of the bounds, and if it is at the other."""
    within = baselines.cells_in_bounds(axis)
    whole = round_weights(rows, WEIGHT_TOTAL)
    sides = tuple(Side(np.array([1]), whole[[cell]], WEIGHT_TOTAL) for cell in (within.start, within.stop - 1))
    return Pair("low end against high end", sides)


def game_tasks(column, epsilon):
    """The game's mechanism under both comparisons: the others' noise as it is, and worked out again."""
    mechanism = optimize(column.values, epsilon=epsilon, bounds=column.bounds, grid="paper")
    for pair, why in chosen(list(others_fixed_pairs(column, mechanism))):
        yield "per-instance", column.name, f"{pair.person} ({why})", epsilon, epsilon, pair
    for pair, why in chosen(list(solved_again_pairs(column, mechanism, epsilon))):
        yield "per-instance, solved again", column.name, f"{pair.person} ({why})", epsilon, None, pair


def one_draw_tasks(columns):
    """Promise, data, person, epsilon asked for, epsilon promised, pair: one after the other, as they are solved."""
    axis = columns[0].axis
    asked = [(columns[0], epsilon) for epsilon in EPSILONS] + [(column, 1.0) for column in columns[1:]]
    for column, epsilon in asked:
        yield from game_tasks(column, epsilon)
    for column, epsilon in asked:
        for pair, why in chosen(list(envelope_pairs(column.without_padding, epsilon))):
            yield "differential-privacy", column.name, f"{pair.person} ({why})", epsilon, epsilon, pair
    for epsilon in EPSILONS:
        pair = max(crowd_pairs(columns[0].without_padding.axis, epsilon), key=lambda pair: pair.expected(DRAWS))
        yield "differential-privacy", "made up", pair.person, epsilon, epsilon, pair
    for name, make in (("laplace", baselines.laplace_kernel), ("bounded-laplace", baselines.bounded_laplace_kernel)):
        for epsilon in EPSILONS:
            rows = make(axis, epsilon)
            pair = laplace_pair(axis, rows)
            yield name, "one value", pair.person, epsilon, baselines.local_epsilon(rows, axis), pair


def many_draws_rows(column, source):
    """All draws of a budget: whom they cost most, and who is most exposed: whom they cost most at a delta in sight."""
    mechanism = optimize(column.values, epsilon=1, delta=DELTA, draws=MANY, bounds=column.bounds, grid="paper")
    pairs, accountant = list(others_fixed_pairs(column, mechanism)), mechanism.accountant
    for why, delta in (("largest cost", DELTA), ("most exposed", 100 / RELEASES)):
        group = max(range(len(pairs)), key=lambda g, delta=delta: accountant.tight(g, MANY, delta))
        yield Row(
            f"per-instance, {MANY} draws, delta {DELTA:g}", column.name, f"{pairs[group].person} ({why})", 1.0, 1.0,
            accountant.tight(group, MANY, DELTA), attack_many(pairs[group], MANY, RELEASES, DELTA, source),
            f"{RELEASES:,} x {MANY}",
        )  # fmt: skip


def table_rows(source):
    """Every attack on what `synthesize` gives away."""
    for task in tasks():
        loss, bound = task.run(task.epsilon, source)
        whom = task.table.name
        yield Row(f"synthesize, {task.released}", "made up", whom, task.epsilon, task.epsilon, loss, bound, task.draws)


def planted_rows(source):
    """The same on mechanisms that are made with more epsilon than they promise."""
    for task in planted():
        loss, bound = task.run(EXCESS * task.epsilon, source)
        whom, what = task.table.name, f"planted: {EXCESS:g} of epsilon, {task.released}"
        yield Row(what, "made up", whom, task.epsilon, task.epsilon, loss, bound, task.draws, planted=True)


def rows(seed=0):
    """Every attack, one after the other."""
    source = np.random.default_rng(seed).bytes
    wages = demo.pay()["wage"].to_numpy().astype(float)
    columns = [Column("heights", heights(), BOUNDS), Column("wages", wages, (0.0, 4000.0))]
    for tier, data, person, epsilon, promised, pair in one_draw_tasks(columns):
        bound = attack(pair, DRAWS, source)
        power = "laplace" in tier
        yield Row(tier, data, person, epsilon, promised, pair.loss, bound, f"{DRAWS:,}", needs_power=power)
    yield from many_draws_rows(columns[0], source)
    yield from table_rows(source)
    yield from planted_rows(source)


def page(found):
    """The table, and what follows from it."""
    beyond = [row for row in found if row.promised is None and row.bound > row.epsilon]
    shown = "; ".join(f"{row.data} at {row.epsilon:g}, at least {row.bound:.2f}" for row in beyond)
    broken = sum(not row.holds and not row.planted for row in found)
    plants = sum(row.planted for row in found)
    many = len(found) - plants
    return f"""# Attack

Written by `python -m benchmarks.attack`. An attacker knows everything but whether a chosen person is in the data, sees
draws from both cases and uses the best test there is, the likelihood ratio. What this proves about epsilon, at 99.9 %
confidence for each line, is the lower bound. The draws are made by the sampler of releases, from a seeded source; noisy
counts by OpenDP, from the operating system's.

| promise | data | chosen person | epsilon | promised | loss of this pair | lower bound | draws of either |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |
{chr(10).join(row.line for row in found)}

How to read it:

- `synthesize` is attacked through the verb: dataframes of people with the chosen one and without, the mechanisms that
  it makes of them, and all that comes out of these together: rows, or the whole table of noisy counts.
{_planted_words(plants, sum(row.planted and not row.holds for row in found))}
- *Promised* is for the pair that is attacked. *Loss* is worked out from the whole numbers that are drawn from (for many
  draws: by the accounting, at delta). A bound above either would mean that maths, code or sampler are wrong:
  {f"**{broken} of {many} are**" if broken else f"none of the {many} is"}.
- A bound below the loss does not mean that the loss is not there. The cells that give most away come out seldom, so it
  takes many draws to be sure of them. Who has the largest loss need not be *most exposed* to this attack.
- `laplace` and `bounded-laplace` show that the attack has power: there, many of the draws tell as much as any can.
  It must prove {CLOSE:.0%} of what is promised, and does{"" if all(row.close for row in found) else " **not**"}.
- `per-instance` compares the data with and without the person, everyone else's noise as it is. `solved again` works the
  noise out again without them, which is what an attacker who knows the procedure compares. Nothing is promised there,
  and epsilon is {f"proven to be exceeded: {shown}" if beyond else "not proven to be exceeded"}.
- `differential-privacy` promises epsilon for every dataset, so it is attacked on one made up for that, too.
- With {MANY} draws the attacker sees all of them at once, and the bound is ln((P - delta)/Q). What happens about as
  seldom as delta counts in the cost, but is too rare to be shown this way.
"""


def _planted_words(many, missed):
    """What became of mechanisms that were made with too much epsilon."""
    caught = f"**{missed} of the {many} are not**" if missed else f"all {many} are"
    return (
        f"- `planted` mechanisms are made with {EXCESS:g} times the epsilon that they promise, and must be caught by a "
        f"bound\n  above what is promised: {caught}."
    )


def status(found):
    """Of the process: 1 if a bound is above what holds for its pair, or an attack that must come close did not, nor
    one catch what was planted."""
    return 0 if all(row.holds and row.close for row in found) else 1


def main():
    found = list(track(rows(), description="Attacking", total=None))
    text = page(found)
    (Path(__file__).parent / "attack.md").write_text(text)
    print(text)
    sys.exit(status(found))


if __name__ == "__main__":
    main()
