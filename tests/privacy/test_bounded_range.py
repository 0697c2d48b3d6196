"""What draws of one range cost together: brute force, another bound, another library, and the exact check."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.size_cost import enumerated, two_point
from equinoise.privacy import range_certificate
from equinoise.privacy.accounting import (
    Budget,
    bounded_range_cost,
    bounded_range_epsilon,
    bounded_range_order,
    epsilon_of_one_row,
)
from equinoise.privacy.bounded_range import worst_delta
from equinoise.privacy.range_certificate import (
    MOST_COMPOSED,
    _composed_within,
    _tail,
    certify_bounded_range,
    exp_upper_bound,
)


def pair(epsilon, t):
    """Two outcomes whose log-ratios are t and t - epsilon."""
    b = math.expm1(-t) / math.expm1(-epsilon)
    return np.array([(1 - b) * math.exp(t), b * math.exp(t - epsilon)]), np.array([1 - b, b])


@pytest.mark.parametrize(("epsilon", "draws", "total"), [(0.5, 3, 0.7), (1.0, 6, 0.4), (2.0, 2, 1.5), (0.1, 9, 0.3)])
def test_the_worst_delta_is_that_of_all_outcomes_of_the_worst_pair(epsilon, draws, total):
    every = [enumerated(*pair(epsilon, t), draws, total) for t in np.linspace(0, epsilon, 1001)[1:-1]]
    assert worst_delta(epsilon, draws, total) == pytest.approx(max(every), rel=1e-4)
    assert max(every) <= worst_delta(epsilon, draws, total) * (1 + 1e-9)


def test_no_distributions_of_that_range_cost_more():
    rng, closest = np.random.default_rng(3), 0.0
    for _ in range(300):
        epsilon, draws = rng.uniform(0.05, 2), int(rng.integers(1, 6))
        q, share = rng.dirichlet(np.full(3, 0.7)), rng.choice([0, 1, rng.uniform()], 3)
        p = q * np.exp(epsilon * share)
        total = rng.uniform(0.05, 0.9) * draws * epsilon
        true, bound = enumerated(p / p.sum(), q, draws, total), worst_delta(epsilon, draws, total)
        assert true <= bound + 1e-12
        closest = max(closest, true / max(bound, 1e-9))
    assert closest > 0.98


@pytest.mark.parametrize(("epsilon", "draws"), [(0.2, 5), (0.05, 100), (1.0, 20)])
def test_the_bound_over_how_much_the_whole_weight_grows_is_no_less_and_near(epsilon, draws, monkeypatch):
    monkeypatch.setattr("benchmarks.size_cost.INTERVALS", 4000)
    total = bounded_range_cost(epsilon, draws, 1e-4)
    assert 1 <= two_point(draws, epsilon, math.expm1(epsilon), total) / worst_delta(epsilon, draws, total) < 1.03


few_or_many = st.integers(2, MOST_COMPOSED) | st.integers(2, 10**6)
budgets = st.tuples(st.floats(0.01, 20), st.sampled_from([1e-15, 1e-9, 1e-6, 1e-3, 0.1, 0.6]), few_or_many)


@settings(max_examples=60)
@given(budgets)
def test_the_loss_a_draw_uses_the_budget_up_and_is_certified(asked):
    total, delta, draws = asked
    each = bounded_range_epsilon(Budget(total, delta), draws)
    order = bounded_range_order(each, draws, delta)
    assert certify_bounded_range(each, draws, total, delta, order)
    assert bounded_range_cost(each, draws, delta) <= total * (1 + 1e-8)
    assert not certify_bounded_range(each * 1.0001, draws, total, delta, order)
    assert each >= total / draws * (1 - 1e-9)


@pytest.mark.parametrize(("epsilon", "draws", "delta"), [(0.1, 100, 1e-6), (1.0, 10, 1e-3), (0.02, 500, 1e-6)])
def test_the_cost_is_above_that_of_the_worst_pair_of_that_range(epsilon, draws, delta):
    """Randomized response shifted to have log-ratios in [-u, epsilon - u]: every such pair costs no more."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        low, high = -share * epsilon, (1 - share) * epsilon
        q = -np.expm1(low) / (np.exp(high) - np.exp(low))
        p = q * np.exp(high)
        one = pld.from_two_probability_mass_functions(
            {0: np.log(p), 1: np.log1p(-p)}, {0: np.log(q), 1: np.log1p(-q)},
            value_discretization_interval=epsilon / 1000, pessimistic_estimate=False, symmetric=False,
        )  # fmt: skip
        assert one.self_compose(draws).get_epsilon_for_delta(delta) <= bounded_range_cost(epsilon, draws, delta)


def test_the_decimal_check_is_the_formula():
    epsilon, draws, delta, order = 0.05, MOST_COMPOSED + 1, 1e-7, 9.25
    with localcontext(prec=50):
        a = Decimal(order)
        exact = a * draws * Decimal(epsilon) ** 2 / 8
        exact += (-Decimal(delta).ln() + (a - 1) * ((a - 1) / a).ln() - a.ln()) / (a - 1)
    assert certify_bounded_range(epsilon, draws, float(exact) * (1 + 1e-12), delta, order)
    assert not certify_bounded_range(epsilon, draws, float(exact) * (1 - 1e-12), delta, order)
    for bad in (
        (0.0, 1, 1.0, 0.1, 2.0),
        (1e-40, 2, 1e-40, 1e-50, 2.0),
        (1.0, 2, 1.0, 0.0, 2.0),
        (1.0, 2, 1.0, 0.1, 1.0),
    ):
        assert not certify_bounded_range(*bad)


@pytest.mark.parametrize(
    ("epsilon", "draws", "total"), [(0.2, 6, 1.0), (0.02, 500, 1.0), (3.0, 40, 25.0), (1e-4, 9, 1e-4)]
)
def test_the_exact_check_decides_where_the_worst_delta_is(epsilon, draws, total):
    delta = worst_delta(epsilon, draws, total)
    assert certify_bounded_range(epsilon, draws, total, delta * (1 + 1e-8), 2.0)
    assert not certify_bounded_range(epsilon, draws, total, delta * (1 - 1e-8), 2.0)


SEVERAL = [(0.2, 6, 1.0), (0.5, 3, 0.7), (3.0, 5, 0.1), (1.0, 12, 2.0), (2.0, 4, 6.0)]


@pytest.mark.parametrize(("epsilon", "draws", "total"), SEVERAL)
def test_the_exact_check_errs_on_the_safe_side_however_few_digits_it_has(epsilon, draws, total, monkeypatch):
    """A rounding to the wrong side, which 192 binary digits hide, shows with few."""
    delta = worst_delta(epsilon, draws, total)
    assert not _composed_within(epsilon, draws, total, delta * (1 - 1e-9))
    for bits in range(8, 33):
        monkeypatch.setattr(range_certificate, "_BITS", bits)
        assert not _composed_within(epsilon, draws, total, delta * (1 - 1e-9))
    monkeypatch.setattr(range_certificate, "_BITS", 64)
    assert _composed_within(epsilon, draws, total, delta * (1 + 1e-6))


@pytest.mark.parametrize(("epsilon", "draws", "total"), SEVERAL)
@pytest.mark.parametrize("bits", [12, 40])
def test_chances_of_the_worst_pair_are_rounded_outwards(epsilon, draws, total, bits, monkeypatch):
    """That under P down, as its tail falls with it, that under Q up; then the tail of P up, and that of Q down."""
    monkeypatch.setattr(range_certificate, "_BITS", bits)
    asked, tail = [], range_certificate._tail

    def record(draws, most, chance, *, up):
        asked.append((most, chance, up))
        return tail(draws, most, chance, up=up)

    monkeypatch.setattr(range_certificate, "_tail", record)
    assert _composed_within(epsilon, draws, total, 1.0)
    assert [most for most, *_ in asked[::2]] == [
        most for most in range(draws) if (draws - most) * Fraction(epsilon) > total
    ]
    assert [up for *_, up in asked] == [True, False] * (len(asked) // 2)
    with localcontext(prec=60):
        e = Decimal(epsilon)
        for (most, p, _), (_, q, _) in zip(asked[::2], asked[1::2], strict=True):
            t = (Decimal(total) + (most + 1) * e) / (draws + 1)
            under_p, under_q = ((t.exp() - 1) / (e.exp() - 1), (1 - (-t).exp()) / (1 - (-e).exp()))
            assert p <= under_p * 2**bits
            assert q >= min(under_q, Decimal(1)) * 2**bits
            if bits == 40:
                assert p == pytest.approx(float(under_p * 2**bits), rel=1e-6)
                assert q == pytest.approx(float(min(under_q, Decimal(1)) * 2**bits), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "draws"), [(0.1, 100), (1.0, 10), (0.02, 500), (0.05, 2000), (0.3, 600)])
def test_the_cost_that_is_told_is_certified_and_hardly_less_would_be(epsilon, draws):
    cost, order = bounded_range_cost(epsilon, draws, 1e-6), bounded_range_order(epsilon, draws, 1e-6)
    assert certify_bounded_range(epsilon, draws, cost, 1e-6, order)
    assert not certify_bounded_range(epsilon, draws, cost * (1 - 1e-6), 1e-6, order)


def test_rows_that_share_epsilon_out_never_exceed_it():
    """Without a delta they add up: a third of a float is not always below a third of the number."""
    for epsilon in (1.0, 0.7, 2.5):
        for rows in range(1, 60):
            each = epsilon_of_one_row(Budget(epsilon, 0.0), rows)
            assert (
                rows * Fraction(each) <= Fraction(epsilon) < rows * Fraction(math.nextafter(math.nextafter(each, 9), 9))
            )


@pytest.mark.parametrize("total", [33.0, 40.0, 50.1])
def test_rows_of_budgets_too_large_to_be_composed_add_up_to_no_more(total):
    for rows in range(2, 12):
        each = epsilon_of_one_row(Budget(total, 1e-9), rows)
        assert rows * Fraction(each) <= Fraction(total)
        assert certify_bounded_range(each, rows, total, 1e-9, 2.0)
        assert each >= total / rows * (1 - 1e-12)


def test_what_adds_up_to_the_last_unit_is_certified_and_no_more():
    assert certify_bounded_range(0.125, 2, 0.25, 1e-300, 2.0)
    assert not certify_bounded_range(math.nextafter(0.125, 1), 2, 0.25, 1e-300, 2.0)


def test_the_decimal_check_leaves_room_for_its_rounding():
    """On both sides of what the formula gives, nearer than floats could say; the margin is 1e-45 and a little."""
    epsilon, draws, delta, order = 0.05, MOST_COMPOSED + 1, 1e-7, 9.25
    with localcontext(prec=90):
        a = Decimal(order)
        exact = a * draws * Decimal(epsilon) ** 2 / 8
        exact += (-Decimal(delta).ln() + (a - 1) * ((a - 1) / a).ln() - a.ln()) / (a - 1)
        near = [exact + Decimal(units).scaleb(-46) for units in (-5, 5, 40)]
    assert [certify_bounded_range(epsilon, draws, total, delta, order) for total in near] == [False, False, True]


def test_rows_cost_less_than_by_zcdp():
    gains = []
    for draws in (5, 20, 100, MOST_COMPOSED):
        budget, rho = Budget(1.0, 1e-6), bounded_range_epsilon(Budget(1.0, 1e-6), 10**6) ** 2 / 8 * 10**6
        gains.append(bounded_range_epsilon(budget, draws) / max(1 / draws, math.sqrt(8 * rho / draws)))
    assert np.round(gains, 3).tolist() == [1.164, 1.088, 1.075, 1.073]


@pytest.mark.parametrize("bits", [24, 192])
@pytest.mark.parametrize(("draws", "chance"), [(7, 0.3), (60, 0.02), (60, 0.97), (150, 0.5)])
def test_bounds_on_tails_enclose_the_binomial_closely(draws, chance, bits, monkeypatch):
    """With few digits, too, where a rounding to the wrong side would show."""
    monkeypatch.setattr(range_certificate, "_BITS", bits)
    whole = int(chance * 2**bits)
    p = Fraction(whole, 2**bits)
    terms = [math.comb(draws, i) * p**i * (1 - p) ** (draws - i) for i in range(draws)]
    for most, exact in enumerate(itertools.accumulate(terms)):
        low, high = (_tail(draws, most, whole, up=up) for up in (False, True))
        assert low <= exact <= high <= low * (1 + Fraction(1, 2 ** min(bits - 12, 60)))
    assert [_tail(3, 1, end, up=True) for end in (0, 2**bits)] == [1, 0]


@given(st.floats(0, 64), st.sampled_from([40, 192]))
def test_the_upper_bound_on_e_to_the_epsilon_is_above_and_near(epsilon, bits):
    with localcontext(prec=80), pytest.MonkeyPatch.context() as patch:
        patch.setattr(range_certificate, "_BITS", bits)
        exact, bound = Decimal(epsilon).exp(), exp_upper_bound(Fraction(epsilon))
        found = Decimal(bound.numerator) / bound.denominator
        assert exact * (1 - Decimal(10) ** -70) <= found <= exact * (1 + Decimal(2) ** (24 - bits))
