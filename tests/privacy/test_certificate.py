import ast
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.privacy import certificate as module
from equinoise.privacy.certificate import exp_lower_bound
from tests.helpers.games import small_game

epsilons = st.sampled_from([0.01, 0.1, 0.3, math.log(1.5), 0.7, 1.0, 2.0, 5.0])


def cut_up(weights, size, total):
    """``size`` rows that sum to ``total`` each and add up to ``weights``: the different ones, and how often each.

    The certificate takes rows of one sum; what is saved and drawn from are a person's rows added up. How they are cut
    up is all the same, as only their sum enters, which is ``weights`` by construction, whatever those are. The first
    row, so many times, fits into the weights: their shares, rounded down, sum to at least the total, as rounding takes
    off less than one in a cell. So few rows are enough, two in most cases.
    """
    rows, times = [], []
    while size > 1:
        often = size - 1 if size * len(weights) <= total else size // 2
        row = np.diff(np.minimum(np.cumsum(weights // often), total), prepend=0)
        rows.append(row)
        times.append(often)
        weights, size = weights - often * row, size - often
    return np.array([*rows, weights]), np.array([*times, 1])


def certify(people, weights, total, *promise, sizes=None, **more):
    """Of one column; with ``sizes``, the weights of a person's so many rows are added up."""
    if sizes is None:
        return module.certify(people, (weights,), (total,), *promise, **more)
    cut = [cut_up(row, size, total) for row, size in zip(weights, sizes, strict=True)]
    owners = np.repeat(np.arange(len(cut)), [len(rows) for rows, _ in cut])
    rows, times = (np.concatenate(part) for part in zip(*cut, strict=True))
    return module.certify(people, (rows,), (total,), *promise, owners=owners, times=times, **more)


def holds_by_brute_force(people, weights, epsilon):
    """Every person, every cell, both directions, in fractions, by taking the person out of the list."""
    bound = exp_lower_bound(epsilon)
    everyone = [row for count, row in zip(people, weights, strict=True) for _ in range(count)]
    n = len(everyone)
    for i in range(n):
        rest = everyone[:i] + everyone[i + 1 :]
        for x in range(len(everyone[0])):
            with_them = Fraction(sum(row[x] for row in everyone), n)
            without = Fraction(sum(row[x] for row in rest), n - 1)
            if with_them > bound * without or without > bound * with_them:
                return False
    return True


@st.composite
def mechanisms(draw):
    cells, groups = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    total = 16
    cuts = st.lists(st.integers(0, total), min_size=cells - 1, max_size=cells - 1).map(sorted)
    rows = [np.diff([0, *draw(cuts), total]).tolist() for _ in range(groups)]
    people = draw(st.lists(st.integers(1, 4), min_size=groups, max_size=groups))
    return people, rows, total


@given(mechanism=mechanisms().filter(lambda m: sum(m[0]) >= 2), epsilon=epsilons)
def test_certificate_agrees_with_brute_force_in_fractions(mechanism, epsilon):
    people, rows, total = mechanism
    found = certify(people, np.array(rows), total, epsilon)
    assert found.holds == holds_by_brute_force(people, rows, epsilon)
    assert found.holds == (found.failure is None)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, math.log(1.5), 0.7, 1.0, 2.0, 5.0])
def test_certificate_agrees_with_brute_force_to_the_last_unit(epsilon):
    """W <= c S with S = W + 2^21 puts the edge at W = c / (1 - c) 2^21, where floats would not tell."""
    c = 1 - Fraction(2, 3) / exp_lower_bound(epsilon)
    edge = int(c / (1 - c) * 2**21)
    verdicts = []
    for w in (edge - 1, edge, edge + 1):
        rows = [[w, 2**32 - w]] + [[2**20, 2**32 - 2**20]] * 2
        verdicts.append(certify([1, 1, 1], np.array(rows), 2**32, epsilon).holds)
        assert verdicts[-1] == holds_by_brute_force([1, 1, 1], rows, epsilon)
    assert not verdicts[2]
    if epsilon > math.log(1.5):
        assert verdicts[:2] == [True, True]


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 0.1, 1 / 3, 1.0, math.e, 10.0, 63.9, 64.0, 700.0, 1e308])
def test_bound_is_below_e_to_epsilon_and_close(epsilon):
    with localcontext() as context:
        context.prec = 80
        exact = Decimal(min(epsilon, 64.0)).exp()
        bound = exp_lower_bound(epsilon)
        value = Decimal(bound.numerator) / Decimal(bound.denominator)
        assert value <= exact
        assert (exact - value) / exact < Decimal(2) ** -100


def test_a_profile_broken_by_one_person_is_caught():
    game = small_game([5, 40, 80, 40, 5], [0.02, 0.3, 3.0], 1.0)
    profile = game.largest_scale_profile()
    cells, scales = game.groups(profile)
    assert certify(profile[cells, scales], game.kernel.weights[0][scales, cells], 2**32, 0.02).holds
    profile[0, -1] -= 1
    profile[0, 0] += 1  # one person of a rare cell stays put
    cells, scales = game.groups(profile)
    found = certify(profile[cells, scales], game.kernel.weights[0][scales, cells], 2**32, 0.02)
    assert not found.holds
    assert "cell 0" in found.failure


@pytest.mark.parametrize(
    ("people", "rows", "total", "said"),
    [
        ([1], [[2, 2]], 4, "fewer than two"),
        ([2, 0], [[2, 2], [2, 2]], 4, "empty group"),
        ([2, 2], [[2, 2], [2, 3]], 4, "sum to 4"),
        ([2, 2], [[2, 2], [5, -1]], 4, "negative"),
        ([2, 2], [[2, 2]], 4, "one row"),
        ([2, 2], [[2.0, 2.0], [2.0, 2.0]], 4, "whole numbers"),
        ([], np.zeros((0, 2), dtype=int), 4, "fewer than two"),
    ],
)
def test_what_is_no_mechanism_is_not_certified(people, rows, total, said):
    found = certify(people, np.array(rows), total, 1.0)
    assert not found.holds
    assert said in found.failure


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_an_epsilon_that_is_none_is_not_certified(epsilon):
    assert not certify([2, 2], np.array([[2, 2], [2, 2]]), 4, epsilon).holds


def test_huge_counts_stay_exact():
    row = [2**31, 2**31]
    assert certify([10**15, 10**15], np.array([row, row]), 2**32, 1e-12).holds
    assert not certify([10**15, 1], np.array([[2**32, 0], [0, 2**32]]), 2**32, 50.0).holds


@pytest.mark.parametrize("name", ["certificate", "certificate_rows", "envelope_certificate", "range_certificate"])
def test_certificate_depends_on_nothing_of_the_package(name):
    """But on itself: none of its files needs any that is not its own."""
    tree = ast.parse(Path(module.__file__).with_name(f"{name}.py").read_text())
    imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    imported |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    own = {"equinoise.privacy.certificate", "equinoise.privacy.certificate_rows"}
    assert not any(name and name.startswith("equinoise") for name in imported - own)


def hockey_stick(p, q, factor):
    return sum(max(Fraction(0), a - factor * b) for a, b in zip(p, q, strict=True))


def pairs(people, rows):
    """The two distributions for one person of each group, in fractions, by taking the person out of the list."""
    everyone = [row for count, row in zip(people, rows, strict=True) for _ in range(count)]
    for row in rows:
        rest = list(everyone)
        rest.remove(row)
        yield tuple(
            [Fraction(sum(c), sum(map(sum, some))) for c in zip(*some, strict=True)] for some in (everyone, rest)
        )


@given(mechanisms().filter(lambda m: sum(m[0]) >= 2), epsilons, st.sampled_from([1e-6, 0.01, 0.05, 0.1, 0.2, 0.4]))
def test_approximate_certificate_agrees_with_brute_force_in_fractions(mechanism, epsilon, delta):
    people, rows, total = mechanism
    bound = exp_lower_bound(epsilon)
    found = certify(people, np.array(rows), total, epsilon, delta)
    worst = max(max(hockey_stick(p, q, bound), hockey_stick(q, p, bound)) for p, q in pairs(people, rows))
    assert found.holds == (worst <= Fraction(delta))


@given(mechanisms().filter(lambda m: sum(m[0]) >= 2), epsilons, st.sampled_from([2, 3, 5]))
def test_renyi_certificate_agrees_with_fractions_at_whole_orders(mechanism, epsilon, order):
    people, rows, total = mechanism
    found = certify(people, np.array(rows), total, epsilon, order=float(order))
    worst = Fraction(0)
    for p, q in pairs(people, rows):
        for one, other in ((p, q), (q, p)):
            if any(a > 0 and b == 0 for a, b in zip(one, other, strict=True)):
                assert not found.holds
                return
            terms = (a**order / b ** (order - 1) for a, b in zip(one, other, strict=True) if a > 0)
            worst = max(worst, sum(terms, Fraction(0)))
    with localcontext() as context:
        context.prec = 100
        limit = (Decimal(order - 1) * Decimal(epsilon)).exp()
        assert found.holds == (Decimal(worst.numerator) / Decimal(worst.denominator) <= limit)


@pytest.mark.parametrize(("delta", "order"), [(-0.1, None), (1.0, None), (math.nan, None), (0.0, 1.0), (0.0, math.nan)])
def test_a_delta_or_an_order_that_is_none_never_holds(delta, order):
    assert not certify([2, 2], np.array([[8, 8], [8, 8]]), 16, 1.0, delta, order).holds


def test_a_delta_may_be_used_up_to_the_last_unit():
    """Cell 0, which only one of two people comes out in, has a probability of 1/8 with them and none without."""
    people, rows = [1, 1], np.array([[1, 3], [0, 4]])
    assert certify(people, rows, 4, 1.0, 0.125).holds
    assert not certify(people, rows, 4, 1.0, math.nextafter(0.125, 0)).holds


def test_the_decimal_check_leaves_room_for_its_rounding():
    """At order 2, on both sides of the divergence, nearer than floats could say; the margin is 1e-45."""
    with_them, without = [Fraction(3, 8), Fraction(5, 8)], [Fraction(1, 4), Fraction(3, 4)]
    removal = module._Removal(np.array([3, 5]), np.array([2, 2]), 2, 1, 4)
    worst = max(
        sum(a**2 / b for a, b in zip(*pair, strict=True)) for pair in ((with_them, without), (without, with_them))
    )
    with localcontext(prec=90):
        exact = (Decimal(worst.numerator) / worst.denominator).ln()
        near = [exact + Decimal(units).scaleb(-46) for units in (-5, 5, 20)]
    held = [module._renyi_in_decimals([3, 5], [1, 3], removal, 2.0, epsilon) for epsilon in near]
    assert held == [False, False, True]


ONE_DIRECTION = [  # what is above what is promised, and what a certificate that looks the other way only would accept
    ("back", [1, 4, 4], [[95, 5], [76, 24], [68, 32]], 100, 0.05, {"delta": 0.01}),
    ("forth", [3, 2, 2], [[6, 0, 6], [4, 4, 4], [7, 2, 3]], 12, 0.1, {"delta": 0.02}),
    ("back", [1, 3], [[54, 36, 10], [36, 21, 43]], 100, 0.1, {"order": 8}),
    ("forth", [2, 3], [[6, 3, 1, 2], [0, 10, 1, 1]], 12, 0.2, {"order": 50}),
    ("back", [3, 2, 4], [[5, 7], [2, 10], [4, 8]], 12, 0.05, {}),
    ("forth", [2, 1, 4], [[8, 2, 2], [7, 1, 4], [3, 2, 7]], 12, 0.1, {}),
    ("back", [1, 2], [[0, 24], [1, 23]], 12, 0.1, {"delta": 0.01, "sizes": [2, 2]}),
    ("forth", [2, 2], [[12, 12], [0, 24]], 12, 0.3, {"delta": 0.02, "sizes": [2, 2]}),
    ("back", [1, 1], [[8, 28], [6, 6]], 12, 0.3, {"order": 8, "sizes": [3, 1]}),
    ("forth", [4, 4], [[0, 36], [26, 10]], 12, 0.05, {"order": 8, "sizes": [3, 3]}),
    ("back", [2, 2, 1], [[11, 3, 10], [6, 3, 3], [14, 1, 9]], 12, 0.2, {"sizes": [2, 1, 2]}),
    ("forth", [2, 2], [[13, 3, 20], [5, 12, 19]], 12, 0.2, {"sizes": [3, 3]}),
]


@pytest.mark.parametrize(("above", "people", "rows", "total", "epsilon", "more"), ONE_DIRECTION)
def test_each_direction_alone_is_refused(above, people, rows, total, epsilon, more):
    found = certify(people, np.array(rows), total, epsilon, **more)
    assert not found.holds
    assert above_what_is_promised(people, rows, epsilon, **more) == {above}


def above_what_is_promised(people, rows, epsilon, delta=0, order=None, sizes=None):
    """The directions in which anyone is, in fractions: forth with them against without them, back the other way."""
    sizes, found = sizes or [1] * len(people), set()
    for row, size in zip(rows, sizes, strict=True):
        sums = [sum(n * other[x] for n, other in zip(people, rows, strict=True)) for x in range(len(row))]
        everyone = sum(n * m for n, m in zip(people, sizes, strict=True))
        total = sum(row) // size
        p = [Fraction(s, everyone * total) for s in sums]
        q = [Fraction(s - w, (everyone - size) * total) for s, w in zip(sums, row, strict=True)]
        for name, one, other in (("forth", p, q), ("back", q, p)):
            if beyond(list(zip(one, other, strict=True)), epsilon, delta, order):
                found.add(name)
    return found


def beyond(pairs, epsilon, delta, order):
    bound = exp_lower_bound(epsilon)
    if order is not None:
        divergence = sum(a**order / b ** (order - 1) if b else math.inf for a, b in pairs if a)
        return divergence > exp_lower_bound((order - 1) * epsilon)
    return sum(max(a - bound * b, 0) for a, b in pairs) > Fraction(delta)
