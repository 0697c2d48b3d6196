import math
from fractions import Fraction

import numpy as np
from conftest import small_game
from hypothesis import given
from hypothesis import strategies as st

from equinoise.certificate import exp_lower_bound
from equinoise.privacy import PureCondition, losses

counts = st.lists(st.integers(0, 4), min_size=2, max_size=6).filter(lambda n: sum(n) >= 2)


def loss_by_removal(rows, people):
    """The definition, in fractions: the output distribution with everyone, and again without one person."""
    worst = 0.0
    everyone = [sum(column) for column in zip(*rows, strict=True)]
    others = [s - w for s, w in zip(everyone, rows[people], strict=True)]
    n = len(rows)
    for s, o in zip(everyone, others, strict=True):
        if s == 0:
            continue
        if o == 0:
            return math.inf
        ratio = Fraction(s, n) / Fraction(o, n - 1)
        worst = max(worst, abs(math.log(ratio)))
    return worst


@given(counts=counts, data=st.data())
def test_loss_is_the_definition_with_the_person_actually_removed(counts, data):
    game = small_game(counts, [0.05, 0.3, 5.0], 1.0, total=2**12)
    profile = np.array([data.draw(st.permutations([n, 0, 0])) for n in counts])
    cells, scales = game.groups(profile)
    everyone = [
        game.kernel.weights[v, k].tolist() for k, v in zip(cells, scales, strict=True) for _ in range(profile[k, v])
    ]
    first = np.concatenate([[0], np.cumsum(profile[cells, scales])[:-1]])
    expected = [loss_by_removal(everyone, i) for i in first]
    np.testing.assert_allclose(game.losses(profile), expected, rtol=1e-9, atol=1e-12)


@given(st.integers(2, 60), st.integers(0, 2))
def test_the_games_condition_is_never_looser_than_the_exact_one(people, off):
    """Around epsilon = ln(N / (N - 1)) the lower share is the difference of nearly equal numbers."""
    epsilon = math.log(people / (people - 1))
    for _ in range(off):
        epsilon = math.nextafter(epsilon, 0)
    bound = exp_lower_bound(epsilon)
    condition = PureCondition(epsilon, people)
    assert Fraction(condition.lower) >= 1 - bound * Fraction(people - 1, people)
    assert Fraction(condition.upper) <= 1 - Fraction(people - 1, people) / bound


def test_only_the_person_there_means_infinite_loss_and_nobody_means_none():
    rows = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 4.0, 0.0]])
    found = losses(rows, rows.sum(axis=0), 3)
    assert math.isinf(found[0])
    assert math.isclose(found[1], math.log(3 / 2), rel_tol=1e-12)  # less likely with them where they never come out
