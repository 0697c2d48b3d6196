"""Who is protected is kept up to date move by move; here it is worked out again from nothing after each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import plain
from equinoise.settings import LEAST_EPSILON
from equinoise.solvers.best_response.guards import EXPOSED, GUARDED
from tests.helpers.drawn_games import games, moved, moves_of, random_profile
from tests.helpers.games import small_game
from tests.helpers.loop_parts import classify_everyone, exposed_after, fewest_after, move, outside_after, parts_of

scales = st.sampled_from([[0.01, 0.2, 3.0], [0.02, 0.05, 0.5, 2.0], [0.05, 0.050001, 1.0]])
epsilons = st.sampled_from([LEAST_EPSILON, 0.01, 0.05, 0.2, 0.5, 1.0, 2.0])
guarded_games = games(scales=scales, epsilon=epsilons)


class Guarded:
    """A game's profile with what the solver keeps about it."""

    def __init__(self, game, profile):
        self.game = game
        self.store, self.limits, self.aim, self.state, self.buffers = parts_of(game, profile)
        self.unprotected = classify_everyone(self.store, self.limits, self.state, self.buffers)

    def after(self, i, old, new, block, most):
        return exposed_after(
            self.store, self.limits, self.state, self.buffers, self.unprotected, i, old, new, block, most
        )

    def before_a_look(self, i, old, new, block):
        most = self.game.people
        return fewest_after(self.store, self.limits, self.state, self.unprotected, i, old, new, block, most)

    def move(self, i, old, new, block):
        people, lost = self.after(i, old, new, block, self.game.people)
        self.unprotected = move(
            self.store, self.limits, self.aim, self.state, self.buffers, i, old, new, block,
            self.unprotected + people, lost,
        )  # fmt: skip

    def check(self):
        game, state, profile = self.game, self.state, self.state.profile
        np.testing.assert_allclose(state.sums, game.sums(profile), rtol=1e-14)
        np.testing.assert_array_equal(state.near, state.sums[game.players.occupied])
        types, used = game.groups(profile)
        rows = game.store.some(types, used)
        outside = game.condition.outside(rows, state.sums, types)
        assert (state.status[types, used] == np.where(outside, EXPOSED, GUARDED)).all()
        assert np.count_nonzero(state.status) == len(types)
        assert self.unprotected == profile[types, used][outside].sum()
        inside, whose = rows[~outside], types[~outside]
        shares = np.sort(np.vstack([np.zeros((2, rows.shape[1])), inside * self.limits.most[whose, None]]), axis=0)
        exact = state.stale == 0
        assert (state.largest >= shares[-1]).all()
        assert (state.second >= shares[-2]).all()
        assert (state.largest[exact] == shares[-1][exact]).all()
        assert (state.second[exact] == shares[-2][exact]).all()
        limited = np.isfinite(self.limits.least[whose])
        lows = np.vstack([np.full(rows.shape[1], np.inf), inside[limited] * self.limits.least[whose[limited], None]])
        assert (state.smallest <= lows.min(axis=0)).all()
        assert (state.smallest[exact] == lows.min(axis=0)[exact]).all()


@given(guarded_games, st.integers(0, 99))
def test_people_left_out_by_a_move_are_those_counted_from_nothing(game, seed):
    profile = random_profile(game, seed)
    guarded = Guarded(game, profile)
    guarded.check()
    before = game.unprotected(profile)
    for i, old, new in moves_of(profile):
        for block in {1, int(profile[i, old])}:
            expected = game.unprotected(moved(profile, i, old, new, block))
            assert guarded.after(i, old, new, block, game.people)[0] == expected
            for most in (0, before):
                found, _ = guarded.after(i, old, new, block, most)
                assert found == expected if expected <= most else found > most
            still, again = guarded.before_a_look(i, old, new, block)
            assert still + again <= expected


@given(guarded_games, st.integers(0, 99))
def test_guards_are_right_after_every_move(game, seed):
    guarded, random = Guarded(game, random_profile(game, seed)), np.random.default_rng(seed)
    for _ in range(20):
        i, old, new = random.choice(moves_of(guarded.state.profile)).tolist()
        guarded.move(i, old, new, int(random.choice([1, guarded.state.profile[i, old]])))
        guarded.check()


@pytest.mark.parametrize(
    ("scales", "epsilon", "profile", "i"),
    [
        ([0.3, 0.6, 3.0], 0.1, [[1, 2, 0], [0, 0, 2]], 0),
        ([0.2, 0.5, 2.0], 0.15, [[0, 0, 3], [1, 1, 0]], 1),
        ([0.5, 1.0, 3.0], 0.05, [[2, 1, 1], [0, 0, 2]], 0),
    ],
)
def test_people_of_the_same_type_on_another_scale_are_looked_at_when_the_last_of_one_scale_leave(
    scales, epsilon, profile, i
):
    """Their rows become too small a share of a cell where those who leave now come out more often."""
    profile = np.array(profile)
    game, leaving = small_game(profile.sum(axis=1), scales, epsilon), int(profile[i, 1])
    after = moved(profile, i, 1, 2, leaving)
    people = plain.Everyone(game, after)
    expected = game.people - people.value(people.scales)[0]
    assert expected == profile[i, 0] > 0
    guarded = Guarded(game, profile)
    assert guarded.unprotected == 0
    assert guarded.limits.any_least
    assert guarded.after(i, 1, 2, leaving, game.people) == (expected, 1)


@settings(max_examples=60)
@given(
    games(scales=scales, conditions=({"delta": 0.02}, {"delta": 0.3}, {"order": 2.0}, {"order": 30.0})),
    st.integers(0, 99),
)
def test_people_left_out_under_other_conditions_are_those_counted_from_nothing(game, seed):
    profile = random_profile(game, seed)
    store, limits, _, state, buffers = parts_of(game, profile)
    assert outside_after(store, limits, state, buffers, 0, 0, 0, 0, game.people) == game.unprotected(profile)
    for i, old, new in moves_of(profile):
        expected = game.unprotected(moved(profile, i, old, new))
        assert outside_after(store, limits, state, buffers, i, old, new, 1, game.people) == expected
        assert (outside_after(store, limits, state, buffers, i, old, new, 1, 0) > 0) == (expected > 0)
