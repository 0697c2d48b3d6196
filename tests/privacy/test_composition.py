"""What many draws cost against exact binomials: of two outcomes, D draws are a number from 0 to D."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equinoise.mechanisms.draw_costs import LEAST_COST_DELTA
from equinoise.privacy.accounting import Accountant, bounded_range_cost
from equinoise.privacy.composition import _Draw, _tilted_sums, composed

DELTAS = [LEAST_COST_DELTA, 1e-14, 3e-13, 1e-12, 1e-9, 1e-6, 1e-3, 0.1]


def exact_delta(p, q, draws, epsilon):
    """The sum over outcomes of max(0, P - e^epsilon Q), both ways, in decimals of 60 digits; p, q: of one cell."""
    with localcontext(prec=60):
        factor = Decimal(epsilon).exp()
        one, other = _binomial(p, draws), _binomial(q, draws)
        forth = sum(max(a - factor * b, 0) for a, b in zip(one, other, strict=True))
        back = sum(max(b - factor * a, 0) for a, b in zip(one, other, strict=True))
        return max(Decimal(forth), Decimal(back))


def _binomial(p, draws):
    hits, misses = [Decimal(1)], [Decimal(1)]
    for _ in range(draws):
        hits.append(hits[-1] * p)
        misses.append(misses[-1] * (1 - p))
    return [math.comb(draws, k) * hits[k] * misses[draws - k] for k in range(draws + 1)]


def pair_of(people, mine, theirs, total):
    """The accountant of one person with ``mine`` of ``total`` in the first of two cells, and of others with ``theirs``;
    and that person's p and q."""
    weights = np.array([[mine, total - mine], [theirs, total - theirs]])
    with localcontext(prec=60):
        p, q = Decimal(mine + people * theirs) / ((people + 1) * total), Decimal(theirs) / total
    return Accountant(np.array([1, people]), weights), p, q


@settings(max_examples=35)
@given(
    people=st.integers(1, 400),
    mine=st.integers(0, 1000),
    theirs=st.integers(1, 999),
    draws=st.sampled_from([1, 2, 3, 10, 40, 150]),
    delta=st.sampled_from(DELTAS),
)
@example(people=5, mine=0, theirs=500, draws=3, delta=1e-15)  # a transform that is not tilted fails these
@example(people=5, mine=0, theirs=500, draws=200, delta=1e-14)
@example(people=5, mine=1000, theirs=100, draws=200, delta=1e-14)
@example(people=5, mine=1000, theirs=500, draws=3, delta=3e-13)
def test_the_cost_is_never_below_that_of_exact_binomials(people, mine, theirs, draws, delta):
    found, p, q = pair_of(people, mine, theirs, 1000)
    for epsilon in (found.tight(0, draws, delta), float(found.bounds(draws, delta)[0])):
        assert math.isinf(epsilon) or exact_delta(p, q, draws, epsilon) <= Decimal(delta)


@pytest.mark.parametrize("delta", DELTAS[:-1])
@pytest.mark.parametrize(("mine", "theirs", "draws"), [(600, 400, 100), (900, 100, 60), (10, 500, 100)])
def test_the_cost_is_close_to_that_of_exact_binomials_however_small_the_delta(mine, theirs, draws, delta):
    found, p, q = pair_of(20, mine, theirs, 1000)
    assert exact_delta(p, q, draws, 0.98 * found.tight(0, draws, delta)) > Decimal(delta)


@pytest.mark.parametrize("draws", [1, 2, 17, 400])
@pytest.mark.parametrize("tilt", [0.01, 1.0, 30.0])
def test_the_transform_is_off_by_no_more_than_is_added_for_it(draws, tilt):
    one = _Draw(np.log([0.3, 0.7]), np.array([5, -3]), 0.01)
    found = _tilted_sums(one, draws, tilt)
    with localcontext(prec=60):
        up, down = (Decimal(share) * (Decimal(tilt * 0.01) * place).exp() for share, place in ((0.3, 5), (0.7, -3)))
        exact = dict(zip(range(-3 * draws, 5 * draws + 1, 8), _binomial(up / (up + down), draws), strict=True))
        places = np.rint(found.losses / 0.01).astype(int).tolist()
        off = sum(abs(Decimal(share) - exact.get(place, 0)) for share, place in zip(found.shares, places, strict=True))
    assert off <= found.off
    assert found.off < 1e-8


@pytest.mark.parametrize("delta", DELTAS)
def test_what_only_one_side_gives_counts_in_full(delta):
    """With them the first cell comes out with probability 1e-5, without them never."""
    p, q = np.log([1e-5, 1 - 1e-5]), np.array([-math.inf, 0.0])
    within = composed(p, q, 3, delta, 1e-6)
    assert math.isinf(within) == (delta < 1 - (1 - 1e-5) ** 3)


def test_another_library_finds_the_same():
    rng = np.random.default_rng(5)
    for draws, delta in [(1, 1e-3), (7, 1e-4), (90, 1e-6), (400, 1e-8)]:
        p, q = (np.log(weights / weights.sum()) for weights in rng.uniform(0.5, 1, (2, 30)))
        outcomes = [dict(enumerate(logs.tolist())) for logs in (p, q)]
        one = pld.from_two_probability_mass_functions(*outcomes, value_discretization_interval=1e-4, symmetric=False)
        theirs = one.self_compose(draws).get_epsilon_for_delta(delta)
        assert composed(p, q, draws, delta, 1e-4) == pytest.approx(theirs, rel=2e-3, abs=1e-4)


@settings(max_examples=40)
@given(
    epsilon=st.sampled_from([1e-3, 0.02, 0.1, 0.5, 1.0, 3.0]),
    share=st.floats(0.001, 0.999),
    draws=st.sampled_from([1, 2, 10, 100]),
    delta=st.sampled_from(DELTAS),
)
def test_a_range_of_losses_costs_no_less_than_exact_binomials(epsilon, share, draws, delta):
    """Two outcomes whose log-ratios are -share epsilon and (1 - share) epsilon."""
    with localcontext(prec=60):
        low, high = ((Decimal(end) * Decimal(epsilon)).exp() for end in (-share, 1 - share))
        q = (1 - low) / (high - low)
        assert exact_delta(q * high, q, draws, bounded_range_cost(epsilon, draws, delta)) <= Decimal(delta)


@pytest.mark.parametrize("weight", [1, 2**10])
def test_what_is_left_without_a_person_is_not_rounded_away(weight):
    """Billions of people, and a cell that is nearly one person's: S is above 2^53, and S - W is tiny beside it."""
    people, total = 2**31, 2**32
    rest = np.array([[total - 1, 1], [0, total]])
    found = Accountant(np.array([1, people]), rest)
    assert math.isinf(found.losses[0])
    assert found.whole_sums.tolist() == [total - 1, 1 + people * total]
    rest = np.array([[total - 1, 1], [weight, total - weight]])
    found = Accountant(np.array([1, 2]), rest)
    exact = math.log((total - 1 + 2 * weight) / 3) - math.log(weight)
    assert found.losses[0] == pytest.approx(exact, rel=1e-14)
    assert found.worst(3, 1e-15) >= 3 * exact * (1 - 1e-9)
