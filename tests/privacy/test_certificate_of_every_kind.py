"""The certificate of every kind of mechanism against its definition in fractions: columns, rows a person, promises."""

import math
import random
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.privacy import certificate as module
from equinoise.privacy import certificate_rows
from equinoise.privacy.certificate import certify, exp_lower_bound

EPSILONS = [0.05, 0.3, math.log(1.5), 1.0, 2.5]
PROMISES = [{}, {"delta": 0.01}, {"delta": 0.2}, {"order": 2.0}, {"order": 5.0}]


@dataclass
class Plain:
    """A mechanism as lists of Python's whole numbers."""

    people: list
    axes: list
    totals: list
    owners: list
    times: list

    def certify(self, epsilon, **promise):
        factors = [np.array(axis) for axis in self.axes]
        return certify(self.people, factors, self.totals, epsilon, owners=self.owners, times=self.times, **promise)

    def row(self, entry):
        return [math.prod(chosen) for chosen in product(*(axis[entry] for axis in self.axes))]

    def weights(self, group):
        rows = [
            [times * w for w in self.row(entry)]
            for entry, (owner, times) in enumerate(zip(self.owners, self.times, strict=True))
            if owner == group
        ]
        return [sum(column) for column in zip(*rows, strict=True)]

    def pairs(self):
        """The distributions with and without one person of each group, straight from their definition."""
        groups = range(len(self.people))
        weights = [self.weights(group) for group in groups]
        sums = [sum(n * w for n, w in zip(self.people, column, strict=True)) for column in zip(*weights, strict=True)]
        for row in weights:
            rest = [s - w for s, w in zip(sums, row, strict=True)]
            yield [Fraction(s, sum(sums)) for s in sums], [Fraction(r, sum(rest)) for r in rest]


def ratio(p, q):
    return max((math.inf if b == 0 else a / b for a, b in zip(p, q, strict=True) if a > 0), default=Fraction(1))


def hockey_stick(p, q, bound):
    return sum(max(Fraction(0), a - bound * b) for a, b in zip(p, q, strict=True))


def moment(p, q, order):
    """The sum of P^a Q^(1-a), for a whole order."""
    if ratio(p, q) == math.inf:
        return math.inf
    return sum((a**order / b ** (order - 1) for a, b in zip(p, q, strict=True) if a > 0), Fraction(0))


def worst(plain, measure):
    """The largest of a measure for anyone, in both directions."""
    return max(max(measure(p, q), measure(q, p)) for p, q in plain.pairs())


def logarithm(value):
    with localcontext(prec=100):
        return (Decimal(value.numerator) / Decimal(value.denominator)).ln()


def holds(plain, epsilon, delta=0.0, order=None):
    """What the certificate must say, for a whole order."""
    bound = exp_lower_bound(epsilon)
    if order is not None:
        found = worst(plain, lambda p, q: moment(p, q, int(order)))
        with localcontext(prec=100):
            return found != math.inf and logarithm(found) <= (Decimal(order) - 1) * Decimal(epsilon)
    if delta > 0:
        return worst(plain, lambda p, q: hockey_stick(p, q, bound)) <= Fraction(delta)
    return worst(plain, ratio) <= bound


def cut(total, bins, draw):
    edges = [0, *sorted(draw(0, total) for _ in range(bins - 1)), total]
    return [high - low for low, high in pairwise(edges)]


def make(draw, *, columns=3, rows=3, people=3, sizes=(5, 24, 1000)):
    """Any mechanism; ``draw`` gives a whole number from a range."""
    counts = [draw(1, people) for _ in range(draw(1, 4))]
    counts[0] += sum(counts) == 1
    owners = [group for group in range(len(counts)) for _ in range(draw(1, min(rows, 3)))]
    times = [draw(1, rows) for _ in owners]
    axes, totals = [], []
    for _ in range(draw(1, columns)):
        bins = draw(1, 3)
        totals.append(sizes[draw(0, 2)])
        axes.append([cut(totals[-1], bins, draw) for _ in owners])
    return Plain(counts, axes, totals, owners, times)


@st.composite
def mechanisms(draw, **most):
    return make(lambda low, high: draw(st.integers(low, high)), **most)


kinds = st.one_of(
    mechanisms(columns=1, rows=1), mechanisms(rows=1), mechanisms(columns=1), mechanisms(), mechanisms(people=10**12),
    mechanisms(columns=2, rows=10**7, sizes=(2**26, 2**20, 1000)),  # one person's weights do not fit in 64 bits
)  # fmt: skip


@given(kinds, st.sampled_from(EPSILONS), st.sampled_from(PROMISES))
def test_every_kind_agrees_with_its_definition_in_fractions(plain, epsilon, promise):
    found = plain.certify(epsilon, **promise)
    assert found.holds == holds(plain, epsilon, **promise)
    assert found.holds == (found.failure is None)
    assert (found.people, found.groups) == (sum(plain.people), len(plain.people))
    assert found.cells == math.prod(len(axis[0]) for axis in plain.axes)


def neighbours(value):
    """A float near a number, and the next ones on either side."""
    middle = float(value)
    return [math.nextafter(middle, 0), middle, math.nextafter(middle, math.inf)]


@given(kinds)
def test_it_agrees_with_fractions_right_at_the_pure_loss(plain):
    found = worst(plain, ratio)
    for epsilon in neighbours(logarithm(found)) if 1 < found < math.inf else []:
        assert plain.certify(epsilon).holds == (found <= exp_lower_bound(epsilon))


@given(kinds, st.sampled_from(EPSILONS))
def test_it_agrees_with_fractions_right_at_the_hockey_stick(plain, epsilon):
    found = worst(plain, lambda p, q: hockey_stick(p, q, exp_lower_bound(epsilon)))
    for delta in neighbours(found) if 0 < found < 0.999 else []:
        assert plain.certify(epsilon, delta=delta).holds == (found <= Fraction(delta))


@given(kinds, st.sampled_from([2, 3, 30]))
def test_it_agrees_with_fractions_right_at_the_renyi_divergence(plain, order):
    found = worst(plain, lambda p, q: moment(p, q, order))
    for epsilon in neighbours(logarithm(found) / (order - 1)) if 1 < found < math.inf else []:
        assert plain.certify(epsilon, order=float(order)).holds == holds(plain, epsilon, order=order)


@pytest.mark.parametrize("epsilon", [0.95, 1.0, 2.0, 5.0])
def test_one_unit_of_weight_decides_on_several_columns_with_several_rows(epsilon):
    """The person has 3 w of 3 w + 2^21 in a cell, of 5 rows; floats would not tell w from w + 1."""
    share = 1 - Fraction(2, 5) / exp_lower_bound(epsilon)
    edge = int(share / (1 - share) * 2**21 / 3)
    verdicts = []
    for w in (edge, edge + 1):
        first = [[w, 2**32 - w], [2**20, 2**32 - 2**20]]
        plain = Plain([1, 2], [first, [[7, 9]] * 2], [2**32, 16], [0, 1], [3, 1])
        verdicts.append(plain.certify(epsilon).holds)
        assert verdicts[-1] == holds(plain, epsilon)
    assert verdicts == [True, False]


def between(plain, measure):
    """A float between the largest of a measure one way and the largest the other way; None if there is no such."""
    forth, back = (max(measure(*pair[::way]) for pair in plain.pairs()) for way in (1, -1))
    return float((forth + back) / 2) if forth != back and max(forth, back) < math.inf else None


def battery():
    """Mechanisms and promises that fail in one direction alone, and some other promises, always the same."""
    source, bound = random.Random(7), exp_lower_bound(0.05)
    for _ in range(60):
        plain = make(source.randint)
        yield plain, source.choice(EPSILONS), source.choice(PROMISES)
        pure, moments = between(plain, ratio), between(plain, lambda p, q: moment(p, q, 2))
        delta = between(plain, lambda p, q: hockey_stick(p, q, bound))
        if pure is not None and pure > 1:
            yield plain, math.log(pure), {}
        if delta is not None:
            yield plain, 0.05, {"delta": delta}
        if moments is not None:
            yield plain, math.log(moments), {"order": 2.0}


def disagreements():
    return sum(plain.certify(eps, **promise).holds != holds(plain, eps, **promise) for plain, eps, promise in battery())


def one_sided(side):
    limits, approximate, log_sum = module._limits, module._approximate, module._log_sum
    nothing, calls = [np.full(1, module.MOST), np.zeros(1, dtype=np.int64)], iter(range(10**9))

    def half_limits(*given):
        kept = list(limits(*given))
        kept[side] = np.broadcast_to(nothing[side], kept[side].shape)
        return kept

    def half_approximate(removal, over, under, *given):
        return approximate(removal, over & (side == 1), under & (side == 0), *given)

    def half_log_sum(exponents):
        return -math.inf if next(calls) % 2 == side else log_sum(exponents)

    return {"_limits": half_limits, "_approximate": half_approximate, "_log_sum": half_log_sum}


def test_the_battery_finds_nothing_to_complain_of():
    assert disagreements() == 0


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("part", ["_limits", "_approximate", "_log_sum"])
def test_a_certificate_that_looks_one_way_only_would_be_found_out(monkeypatch, part, side):
    monkeypatch.setattr(module, part, one_sided(side)[part])
    assert disagreements() > 0


def test_a_certificate_that_takes_out_one_row_of_several_would_be_found_out(monkeypatch):
    limits = module._limits
    monkeypatch.setattr(module, "_limits", lambda sums, in_all, gone, bound: limits(sums, in_all, 1, bound))
    assert disagreements() > 0


ONLY = {  # of three people, one has too much of the first cell, or one has too little of it
    "with someone": [[6, 94], [2, 98], [2, 98]],
    "without someone": [[2, 98], [9, 91], [9, 91]],
}


@pytest.mark.parametrize("said", ONLY)
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("rows", [1, 2])
def test_each_direction_alone_is_enough_to_fail(said, columns, rows):
    axes = [[row for row in ONLY[said] for _ in range(rows)], [[3, 4]] * 3 * rows][:columns]
    owners = [group for group in range(3) for _ in range(rows)]
    plain = Plain([1, 1, 1], axes, [100, 7][:columns], owners, [1] * len(owners))
    assert plain.certify(math.log(1.3)).failure.startswith(f"{said}, cell 0 ")
    assert plain.certify(math.log(2.0)).holds


@pytest.mark.parametrize("order", [1.5, 30.0, 10_000.0])
def test_floating_point_says_what_decimals_say(monkeypatch, order):
    source = np.random.default_rng(5)
    given = []
    for _ in range(8):
        rows = source.multinomial(2**30, source.dirichlet(np.ones(50), 4))
        given += [([3, 1, 2, 9], (rows,), (2**30,), epsilon, 0.0, order) for epsilon in (0.003, 0.05, 0.4, 1.0, 3.0)]
    found = [certify(*each).holds for each in given]
    assert {True, False} <= set(found)
    monkeypatch.setattr(module, "_CLOSE", math.inf)
    assert found == [certify(*each).holds for each in given]


def test_floating_point_is_nearer_than_what_counts_as_close(monkeypatch):
    """Where the largest numbers and orders meet: decimals agree with it a hundredth of that away on either side."""
    source, order = np.random.default_rng(6), 10_000.0
    people, total, seen = [2**31, 1, 2**60], 2**62, []
    rows = [[2**60, 3 * 2**60 - 5, 5], [2**61, 2**61 - 7, 7], cut(total, 3, lambda *_: int(source.integers(2**61)))]
    log_sum = module._log_sum
    monkeypatch.setattr(module, "_log_sum", lambda exponents: seen.append(log_sum(exponents)) or seen[-1])
    monkeypatch.setattr(module, "_CLOSE", math.inf)

    def held(epsilon):
        return certify(people, (np.array(rows),), (total,), epsilon, 0.0, order).holds

    held(1e-30)
    found = max(seen[:2])
    assert not held((found - 1e-9) / (order - 1))
    assert held((max(seen) + 1e-9) / (order - 1))


def test_a_persons_weights_may_be_more_than_64_bits_hold():
    axes = [np.array([[2**61, 0]] * 5 + [[0, 2**61]])]
    rows = certificate_rows.Rows([1, 1], [0] * 5 + [1], [1] * 6, axes)
    assert [row.tolist() for _, row in rows.each([0, 1], 2**61)] == [[5 * 2**61, 0], [0, 2**61]]


@pytest.mark.parametrize("at_once", [1, 7, 2**21])
@pytest.mark.parametrize("most", [3, 2**50])
def test_sums_are_exact_however_they_are_split(monkeypatch, at_once, most):
    monkeypatch.setattr(certificate_rows, "_AT_ONCE", at_once)
    source = random.Random(3)
    owners = sorted([*range(5), *(source.randrange(5) for _ in range(6))])
    times, people = [source.randint(1, 4) for _ in owners], [source.randint(1, most) for _ in range(5)]
    for totals in ([2**61], [2**57], [2**30, 2**27], [2**20, 2**25, 2**12], [2**14] * 4):
        axes = [[cut(total, 3, source.randint) for _ in owners] for total in totals]
        plain = Plain(people, axes, totals, owners, times)
        rows = certificate_rows.Rows(people, owners, times, [np.array(axis) for axis in axes])
        weights = [plain.weights(group) for group in range(5)]
        sums = [sum(n * w for n, w in zip(people, column, strict=True)) for column in zip(*weights, strict=True)]
        assert rows.sums().tolist() == sums
        for total in (math.prod(totals), 2**61):  # all at once in 64 bits, or row by row
            assert [(group, row.tolist()) for group, row in rows.each(range(5), total)] == list(enumerate(weights))


GOOD = {"people": [2, 2], "factors": (np.array([[2, 2], [3, 1]]),), "totals": (4,)}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"factors": ()}, "one row of whole numbers"),
        ({"factors": (np.array([2, 2]),)}, "one row of whole numbers"),
        ({"factors": (GOOD["factors"][0], np.array([[1]])), "totals": (4, 1)}, "for each entry and axis"),
        ({"factors": (GOOD["factors"][0].astype(bool),)}, "whole numbers"),
        ({"factors": (np.zeros((2, 0), dtype=int),)}, "no cells"),
        ({"people": [2.5, 2.0]}, "whole numbers"),
        ({"people": [[2, 2]]}, "whole numbers"),
        ({"people": [2**63, 2**64]}, "whole numbers"),
        ({"people": [2**62, 1]}, "more rows than"),
        ({"people": 2}, "for each group in turn"),
        ({"people": [3, -1]}, "empty group"),
        ({"owners": [0]}, "one group"),
        ({"owners": [0.0, 1.0]}, "one group"),
        ({"owners": [1, 0]}, "in turn"),
        ({"owners": [0, 0]}, "in turn"),
        ({"owners": [0, 2]}, "in turn"),
        ({"owners": [-1, 1]}, "in turn"),
        ({"times": [1, 0]}, "positive number of rows"),
        ({"times": [1.0, 1.0]}, "positive number of rows"),
        ({"times": [1, 2**61]}, "more rows than"),
        ({"totals": ()}, "for each axis"),
        ({"totals": (4, 1)}, "for each axis"),
        ({"totals": (4.0,)}, "whole number"),
        ({"totals": (0,), "factors": (np.zeros((2, 2), dtype=int),)}, "positive"),
        ({"factors": (np.array([[2**63, 2**63], [3, 1]], dtype=np.uint64),)}, "sum to 4"),
        ({"factors": (np.array([[2**62 + 4, -(2**62)], [3, 1]]),)}, "negative"),
        ({"factors": (np.array([[2**63 - 1, 2**63 - 1, 6], [3, 1, 0]]),)}, "sum to 4"),  # 4 in 64 bits
        ({"factors": (np.array([[2**62, 2**62]] * 2),), "totals": (2**63,)}, "add up to more"),
    ],
)
def test_what_is_no_mechanism_gets_a_sentence(changed, said):
    given = {**GOOD, **changed}
    found = certify(given.pop("people"), given.pop("factors"), given.pop("totals"), 5.0, **given)
    assert not found.holds
    assert said in found.failure


def test_the_good_one_holds_and_any_whole_numbers_do():
    assert certify(**GOOD, epsilon=5.0).holds
    for kind in (np.int8, np.uint64):
        factors = tuple(axis.astype(kind) for axis in GOOD["factors"])
        assert certify(np.array([2, 2], dtype=kind), factors, np.array([4]), 5.0, times=np.ones(2, dtype=kind)).holds


def test_too_many_cells_are_refused_before_any_is_laid_out():
    row = np.zeros((1, 10**5), dtype=np.int64)
    row[0, 0] = 1
    assert "more than" in certify([2], (row, row), (1, 1), 1.0).failure


@pytest.mark.parametrize("epsilon", [1e-300, 100.0, 1e308, np.float64(1e308)])
def test_an_epsilon_of_any_size_gets_a_renyi_verdict(epsilon):
    rows = np.array([[2**61, 2**61 - 1, 1], [2**61, 2**61, 0]])
    assert not certify([1, 2**61], (rows,), (2**62,), epsilon, order=3.0).holds  # nobody else is in the last cell
    rows[0] = [2**62 - 2, 1, 1]
    rows[1] = [1, 2**62 - 2, 1]
    found = certify([1, 2], (rows,), (2**62,), epsilon, order=np.float64(9000.0))
    assert found.holds == (epsilon > 1)
    rows[0] = rows[1]
    assert certify([1, 2], (rows,), (2**62,), epsilon, order=3.0).holds
