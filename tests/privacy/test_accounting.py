import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.heights import height_game
from equinoise.privacy.accounting import Accountant
from equinoise.privacy.composition import ORDERS
from equinoise.solvers.best_response import best_response
from tests.helpers.games import small_game


def accountant(game, profile):
    types, scales = game.groups(profile)
    return Accountant(profile[types, scales], game.store.some(types, scales).astype(np.int64))


def enumerated(p, q, draws, delta):
    """The exact epsilon at delta of draws from p against draws from q, over every multiset of outcomes."""
    log_p, log_q, mass = [], [], []
    for counts in itertools.product(range(draws + 1), repeat=len(p)):
        if sum(counts) == draws:
            ways = math.factorial(draws) / math.prod(map(math.factorial, counts))
            mass.append(math.log(ways))
            log_p.append(sum(c * math.log(a) for c, a in zip(counts, p, strict=True)))
            log_q.append(sum(c * math.log(b) for c, b in zip(counts, q, strict=True)))
    log_p, log_q, mass = map(np.array, (log_p, log_q, mass))

    def beyond(epsilon, one, other):
        return np.sum(np.exp(mass) * np.maximum(0, np.exp(one) - np.exp(epsilon + other)))

    low, high = 0.0, draws * float(np.abs(np.log(p / q)).max())
    for _ in range(60):
        middle = (low + high) / 2
        fine = max(beyond(middle, log_p, log_q), beyond(middle, log_q, log_p)) <= delta
        low, high = (low, middle) if fine else (middle, high)
    return high


@settings(max_examples=15)
@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=3),
    st.sampled_from([1, 2, 5, 8]),
    st.sampled_from([1e-9, 1e-4, 1e-2, 0.1]),
)
def test_composition_is_within_a_hundredth_of_enumeration(counts, draws, delta):
    game = small_game(counts, [0.3, 1.0], 2.0)
    profile = game.largest_scale_profile()
    profile[0, 0], profile[0, 1] = 1, profile[0, 1] - 1
    found = accountant(game, profile)
    p = found.sums / found.sums.sum()
    exact = []
    for group, row in enumerate(found.weights):
        q = (found.sums - row) / (found.sums - row).sum()
        exact.append(enumerated(p, q, draws, delta))
        tight, quick = found.tight(group, draws, delta), found.bounds(draws, delta)[group]
        assert exact[-1] - 1e-9 <= tight <= quick + 1e-12
        assert tight <= 1.02 * exact[-1] + 1e-6
    assert found.worst(draws, delta) >= max(exact) - 1e-9
    assert found.within(found.worst(draws, delta), draws, delta)
    assert not found.within(0.97 * max(exact) - 1e-9, draws, delta)


def test_many_draws_cost_far_less_than_their_sum(heights):
    game = height_game("wide", 0.1, values=heights)
    found = accountant(game, best_response(game, restarts=2).profile)
    worst = {draws: found.worst(draws, 1e-6) for draws in (1, 10, 100, 500)}
    assert worst[1] <= 0.1
    assert list(worst.values()) == sorted(worst.values())
    assert worst[500] < 1.0 < 500 * 0.01 * 10
    assert worst[10] == pytest.approx(max(found.tight(g, 10, 1e-6) for g in range(len(found.people))))


def test_without_a_delta_losses_add_up():
    game = small_game([3, 4, 2], [0.3, 1.0], 2.0)
    found = accountant(game, game.largest_scale_profile())
    assert found.worst(7, 0.0) == pytest.approx(7 * found.losses.max())


def divergences_in_decimals(people, rows):
    """Every group's largest log ratio, and its Renyi divergences of all orders, in decimals of 40 digits."""
    total, count = sum(rows[0]), sum(people)
    sums = [sum(n * w for n, w in zip(people, column, strict=True)) for column in zip(*rows, strict=True)]
    for row in rows:
        p = [Decimal(s) / (count * total) for s in sums]
        q = [Decimal(s - w) / ((count - 1) * total) for s, w in zip(sums, row, strict=True)]
        ratios = [(a / b).ln() for a, b in zip(p, q, strict=True)]
        found = []
        for a in map(Decimal, ORDERS.tolist()):
            one = sum((x * ((a - 1) * ratio).exp() for x, ratio in zip(p, ratios, strict=True)), Decimal(0))
            other = sum((x * ((1 - a) * ratio).exp() for x, ratio in zip(q, ratios, strict=True)), Decimal(0))
            found.append(max(one, other).ln() / (a - 1))
        yield max(map(abs, ratios)), found


def test_quick_bounds_are_never_below_what_decimals_say_and_hardly_above():
    """A margin of 1e-9 covers what floating point gets wrong; without it, half of all bounds would be too low."""
    rng, delta, draws = np.random.default_rng(8), 1e-3, 400
    with localcontext(prec=40):
        for _ in range(8):
            people, rows = rng.integers(1, 4, 2), rng.multinomial(2**20, rng.dirichlet(np.full(3, 9.0), 2))
            found = Accountant(people, rows)
            for group, (loss, renyi) in enumerate(divergences_in_decimals(people.tolist(), rows.tolist())):
                added = draws * loss
                assert added <= Decimal(found.bounds(draws, 0.0)[group]) <= added * (1 + Decimal("2e-9"))
                rest = [
                    (-Decimal(delta).ln() + (a - 1) * (1 - 1 / a).ln() - a.ln()) / (a - 1)
                    for a in map(Decimal, ORDERS.tolist())
                ]
                least = min(added, *(draws * each + more for each, more in zip(renyi, rest, strict=True)))
                assert least < added
                assert least <= Decimal(found.bounds(draws, delta)[group]) <= least * (1 + Decimal("1e-8"))


def test_every_group_must_be_within_a_budget():
    """The loss of the first group is less than half of the second's, and both are above what is quickly known."""
    found = Accountant(np.array([40, 1]), np.array([[10, 10, 12], [4, 8, 20]]))
    costs = [found.tight(group, 20, 1e-6) for group in (0, 1)]
    assert costs[0] < 0.5 * costs[1] == 0.5 * found.worst(20, 1e-6)
    for epsilon in (0.5 * costs[0], 0.99 * costs[0], 1.01 * costs[0], 0.99 * costs[1]):
        assert not found.within(epsilon, 20, 1e-6)
    assert found.within(1.01 * costs[1], 20, 1e-6)


def test_a_cell_that_only_one_person_reaches_costs_everything():
    found = Accountant(np.array([1, 2]), np.array([[1, 1, 2], [0, 2, 2]]))
    assert math.isinf(found.worst(3, 0.0))
    assert math.isinf(found.tight(0, 3, 1e-3))
    assert found.tight(0, 3, 0.5) < math.inf  # unless that is rarer than delta
