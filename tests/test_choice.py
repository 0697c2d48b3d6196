"""The choice of a setting, and the loss of the whole choice."""

import math

import numpy as np
import pytest

import equinoise
from equinoise import BadInput, PromiseNotMet
from equinoise import choice as choices
from equinoise.choice import Choice, choose, inner
from equinoise.end_to_end import Output, measure
from equinoise.game import Players
from equinoise.game.condition import Condition
from equinoise.grid import Axis, Grid, Histogram
from equinoise.procedure import Procedure

AXIS = Axis.padded("value", 0, 100, bins=13, percentile=0.6)


def counted(values):
    return on_axis(AXIS, np.bincount([AXIS.cell_of(value) for value in values], minlength=AXIS.bins))


def on_axis(axis, counts):
    return Players.of(Histogram(Grid((axis,)), np.array(counts)))


def condition(epsilon, players):
    return Condition(epsilon, players.sizes, players.total_rows)


def without_one(values):
    """The values without one of each cell's."""
    first = {AXIS.cell_of(value): position for position, value in enumerate(values)}
    return {cell: np.delete(values, position) for cell, position in first.items()}


class ByHand:
    """The choice written out on raw values, with nothing remembered but outputs, and every call an ``optimize``."""

    def __init__(self, epsilon):
        self.epsilon, self.known = epsilon, {}
        games = [(0.5, 0.5), (0.3, 0.5), (0.2, 0.5), (0.1, 0.5), (0.05, 0.7), (0.02, 1.0), (0.01, 1.4)]
        self.settings = [(game, [small * AXIS.width, 3 * AXIS.range]) for game, small in games if game <= epsilon]
        self.settings += [(epsilon, [width * AXIS.width]) for width in (1.4, 2.0, 2.8, 4.0, 5.6, 8.0)]

    def output(self, values, setting):
        key = tuple(sorted(values)), setting
        if key not in self.known:
            game, scales = self.settings[setting]
            try:
                self.known[key] = equinoise.optimize(
                    values, bounds=(0, 100), bins=13, percentile=0.6, restarts=1, epsilon=0.95 * game, scales=scales,
                ).output  # fmt: skip
            except (BadInput, PromiseNotMet):
                self.known[key] = None
        return self.known[key]

    def loss(self, one, other):
        return math.inf if one is None or other is None else np.abs(np.log(one / other)).max()

    def chosen(self, values):
        for setting in range(len(self.settings)):
            full = self.output(values, setting)
            others = [self.output(smaller, setting) for smaller in without_one(values).values()]
            if max(self.loss(full, other) for other in others) <= self.epsilon:
                return full
        return None

    def losses(self, values):
        full = self.chosen(values)
        return {cell: self.loss(full, self.chosen(smaller)) for cell, smaller in sorted(without_one(values).items())}


@pytest.mark.parametrize("seed", [0, 3, 5, 6])
@pytest.mark.parametrize("epsilon", [0.3, 0.5])
def test_the_whole_choice_is_measured(seed, epsilon):
    values = np.random.default_rng(seed).normal(50, 12, 25).clip(0, 100).round()
    expected = ByHand(epsilon).losses(values)
    choice, players = Choice(Procedure(epsilon)), counted(values)
    if choice.setting(players) is None:
        assert all(math.isinf(loss) for loss in expected.values())
        with pytest.raises(PromiseNotMet, match="settings tried"):
            choose(Procedure(epsilon), players)
        return
    found = measure(choice.outcome, players, condition(epsilon, players))
    assert found.losses == pytest.approx(list(expected.values()), rel=1e-9)
    if found.above:
        with pytest.raises(PromiseNotMet, match="not chosen without some person") as refused:
            choose(Procedure(epsilon), players)
        assert refused.value.facts["people_above_target"] == found.above
    else:
        chosen = choose(Procedure(epsilon), players)
        assert chosen.end_to_end.losses.tolist() == found.losses.tolist()
        assert chosen.procedure == inner(Procedure(epsilon), AXIS)[choice.setting(players)]
        assert chosen.solution.protected == 25
        assert chosen.solution.worst_loss <= 0.95 * epsilon


class Toy(Choice):
    """Setting 0 jumps once a person of cell 0 is gone, and again once two are; setting 1 never does."""

    def _output(self, players, setting):
        gone = 5 - int(players.people[0])
        if setting == 1:
            return Output((70, 30), 100)
        return Output((50 + 4 * gone * gone, 50 - 4 * gone * gone), 100)


def test_the_choice_is_made_again_for_every_neighbour(monkeypatch):
    """One step of the first setting is within epsilon and two are not, so that without a person of cell 0 the second
    is chosen. The loss is then between the two settings, and not within the first."""
    monkeypatch.setattr(choices, "inner", lambda *_: (0, 1))
    axis = Axis("value", 0.0, 1.0, 2, 0.0)
    full, smaller = on_axis(axis, [5, 5]), on_axis(axis, [4, 5])
    toy = Toy(Procedure(0.1))
    assert toy.setting(full) == 0
    assert toy.setting(smaller) == 1
    found = measure(toy.outcome, full, condition(0.1, full))
    assert found.losses.tolist() == pytest.approx([math.log(50 / 30), 0])
    assert found.above == 5
    within_the_first = measure(lambda players: toy._output(players, 0), full, condition(0.1, full))
    assert within_the_first.worst == pytest.approx(math.log(50 / 46))
    assert within_the_first.above == 0


def test_what_the_choice_is_not_made_for():
    for asked in ({"solver": "genetic"}, {"delta": 1e-6}, {"renyi": 2.0}, {"restarts": 4}, {"scales": "paper"}):
        with pytest.raises(BadInput, match="end-to-end guarantee"):
            Choice(Procedure(1.0, **asked))


def test_heights_are_kept_within_epsilon_end_to_end(heights):
    axis = Axis.padded("height", 163, 226)
    players = on_axis(axis, np.bincount([axis.cell_of(h) for h in heights], minlength=101))
    seen = []
    chosen = choose(Procedure(0.3), players, progress=seen.append)
    assert chosen.end_to_end.worst <= 0.3
    assert chosen.end_to_end.above == 0
    assert chosen.solution.kl < 0.03
    assert len(seen) == 25
