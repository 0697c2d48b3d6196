import numpy as np
import pytest
from conftest import small_game
from hypothesis import given
from hypothesis import strategies as st
from test_game import random_profile

from equinoise.solvers.closer import ROUNDING, fall, find_leads, find_slopes, promised, wanting

people = st.lists(st.integers(0, 60), min_size=2, max_size=6).filter(lambda n: sum(n) >= 2)
utilities = st.sampled_from(["kl", "js", "tv", "wasserstein", "moments:3"])
SCALES = [0.02, 0.3, 2.0]


def state(counts, utility, seed):
    game = small_game(counts, SCALES, 1.0, utility=utility)
    profile = random_profile(game, seed)
    sums, n = game.sums(profile), game.histogram.counts.astype(float)
    gaps = game.closeness.features @ (n - sums / game.kernel.total)
    features = game.features if len(gaps) else game.rows
    return game, profile, n, sums, gaps, features


@given(people, utilities, st.integers(0, 99))
def test_no_move_takes_off_more_than_the_slopes_promise(counts, utility, seed):
    game, profile, n, sums, gaps, features = state(counts, utility, seed)
    kind, total = game.closeness.kind, float(game.kernel.total)
    slopes, leads = np.empty(features.shape[2]), np.empty(len(SCALES))
    rounding = find_slopes(kind, n, total, sums, gaps, slopes)
    by_hand = game.closeness.slopes(n, sums / total)
    for cell in game.occupied:
        find_leads(features, cell, slopes, leads)
        np.testing.assert_allclose(leads, game.rows[:, cell] / total @ by_hand, rtol=1e-9, atol=rounding)
        for old in np.flatnonzero(profile[cell]):
            for new in range(len(SCALES)):
                for block in (1, profile[cell, old]):
                    then = sums + block * (game.rows[new, cell] - game.rows[old, cell])
                    taken = fall(
                        kind, game.rows, features, game.occupied, n, total, sums, then, gaps, cell, old, new, block
                    )  # fmt: skip
                    bound = promised(
                        kind, game.rows, n, total, sums, leads, rounding, cell, old, new, block
                    )  # fmt: skip
                    assert taken - 1e-12 <= bound <= block * (leads[new] - leads[old] + rounding) + 1e-12
    assert 0 < rounding <= ROUNDING * max(1.0, np.abs(by_hand).max()) * 1.01


@pytest.mark.parametrize("utility", ["kl", "js"])
@given(counts=people, seed=st.integers(0, 99))
def test_as_many_follow_as_take_off_the_most(utility, counts, seed):
    game, profile, n, sums, gaps, features = state(counts, utility, seed)
    kind, total = game.closeness.kind, float(game.kernel.total)
    for cell, old in zip(*np.nonzero(profile), strict=True):
        for new in range(len(SCALES)):
            most = profile[cell, old]
            taken = [0.0]
            for block in range(1, most + 1):
                then = sums + block * (game.rows[new, cell] - game.rows[old, cell])
                taken.append(
                    fall(kind, game.rows, features, game.occupied, n, total, sums, then, gaps, cell, old, new, block)
                )
            chosen = wanting(kind, game.rows, n, total, sums, cell, old, new, most)
            assert 1 <= chosen <= most
            assert abs(chosen - max(1, int(np.argmax(taken)))) <= 1 or taken[chosen] >= max(taken) - 1e-9
