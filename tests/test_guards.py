"""Who is protected is kept up to date move by move; here it is worked out again from nothing after each."""

import numpy as np
from conftest import small_game
from hypothesis import given
from hypothesis import strategies as st
from test_game import random_profile

from equinoise.privacy import LEAST_EPSILON
from equinoise.solvers.guards import EXPOSED, GUARDED, exposed_after, fails_as_before, look_at_everyone
from equinoise.solvers.moves import settle

people = st.lists(st.integers(0, 4), min_size=2, max_size=8).filter(lambda n: sum(n) >= 2)
scales = st.sampled_from([[0.01, 0.2, 3.0], [0.02, 0.05, 0.5, 2.0], [0.05, 0.050001, 1.0]])
epsilons = st.sampled_from([LEAST_EPSILON, 0.01, 0.05, 0.2, 0.5, 1.0, 2.0])


class Guarded:
    """A game's profile with what the solver keeps about it."""

    def __init__(self, game, profile):
        cells = len(profile)
        self.game, self.profile, self.sums = game, profile.copy(), game.sums(profile)
        self.status, self.witness = np.zeros_like(profile), np.zeros_like(profile)
        self.extremes = (np.empty(cells), np.empty(cells), np.empty(cells), np.empty(cells, dtype=np.int64))
        self.unprotected = look_at_everyone(*self.groups, *self.extremes, game.condition.parameters, self.sums)

    @property
    def groups(self):
        return self.game.rows, self.profile, self.game.occupied, self.status, self.witness

    def moved(self, cell, old, new):
        profile = self.profile.copy()
        profile[cell, old] -= 1
        profile[cell, new] += 1
        return profile

    def after(self, cell, old, new, most):
        sums = self.game.sums(self.moved(cell, old, new))
        state = *self.groups, *self.extremes, self.game.condition.parameters
        return exposed_after(*state, self.unprotected, sums, cell, old, new, 1, most)

    def move(self, cell, old, new):
        people, lost = self.after(cell, old, new, self.game.people)
        self.profile[:] = self.moved(cell, old, new)
        self.sums = self.game.sums(self.profile)
        self.unprotected = settle(
            *self.groups, *self.extremes, self.game.condition.parameters, self.sums, cell, old, new,
            self.unprotected + people, lost,
        )  # fmt: skip

    def check(self):
        cells, used = self.game.groups(self.profile)
        rows = self.game.rows[used, cells]
        outside = self.game.condition.outside(rows, self.sums)
        assert (self.status[cells, used] == np.where(outside, EXPOSED, GUARDED)).all()
        assert np.count_nonzero(self.status) == len(cells)
        assert self.unprotected == self.profile[cells, used][outside].sum()
        inside = np.sort(np.vstack([np.zeros((2, rows.shape[1])), rows[~outside]]), axis=0)
        largest, second, _, bounds = self.extremes
        exact = bounds == 0
        assert (largest >= inside[-1]).all()
        assert (second >= inside[-2]).all()
        assert (largest[exact] == inside[-1][exact]).all()
        assert (second[exact] == inside[-2][exact]).all()


def moves_of(profile):
    cells, used = np.nonzero(profile)
    return [(k, v, w) for k, v in zip(cells, used, strict=True) for w in range(profile.shape[1]) if w != v]


@given(people, scales, epsilons, st.integers(0, 99))
def test_people_left_out_by_a_move_are_those_counted_from_nothing(counts, scales, epsilon, seed):
    game = small_game(counts, scales, epsilon)
    guarded = Guarded(game, random_profile(game, seed))
    guarded.check()
    before = game.unprotected(guarded.profile, guarded.sums)
    for cell, old, new in moves_of(guarded.profile):
        moved = guarded.moved(cell, old, new)
        expected = game.unprotected(moved, game.sums(moved))
        assert guarded.after(cell, old, new, game.people)[0] == expected
        for most in (0, before):
            found, _ = guarded.after(cell, old, new, most)
            assert found == expected if expected <= most else found > most
        if fails_as_before(
            *guarded.groups, *guarded.extremes, game.condition.parameters, guarded.sums, cell, old, new, 1
        ):  # fmt: skip
            assert expected > 0


@given(people, scales, epsilons, st.integers(0, 99))
def test_guards_are_right_after_every_move(counts, scales, epsilon, seed):
    game = small_game(counts, scales, epsilon)
    guarded, random = Guarded(game, random_profile(game, seed)), np.random.default_rng(seed)
    for _ in range(20):
        cell, old, new = random.choice(moves_of(guarded.profile)).tolist()
        guarded.move(cell, old, new)
        guarded.check()
