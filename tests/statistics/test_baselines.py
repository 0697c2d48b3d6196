import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from equinoise.analysis.methods import LOCAL_ROWS
from equinoise.data.grid import Axis
from equinoise.game.noise import noise_mass
from equinoise.game.noises.staircase import staircase_survival
from equinoise.privacy.certificate import exp_lower_bound
from equinoise.statistics import baselines, metrics
from equinoise.statistics.baselines import laplace_output, local_epsilon

HEIGHT = Axis.padded("height", 163, 226)
AXES = st.builds(
    lambda low, width, bins, padding: Axis.padded("x", low, low + width, bins=bins, padding_epsilon=padding),
    st.floats(-1e3, 1e3), st.floats(0.01, 1e4), st.integers(2, 60), st.floats(0.2, 1e3),
)  # fmt: skip
SPANNING = AXES.filter(lambda axis: axis.cell_of(axis.low) < axis.cell_of(axis.high))
EPSILONS = st.floats(1e-3, 30)


def distribution(heights):
    return np.bincount([HEIGHT.cell_of(h) for h in heights], minlength=101) / len(heights)


@pytest.mark.parametrize(("epsilon", "expected"), [(1, 1.20), (2, 0.78), (4, 0.39), (8, 0.15)])
def test_laplace_mechanism_on_the_heights(heights, epsilon, expected):
    p = distribution(heights)
    assert round(metrics.kl(p, laplace_output(p, [HEIGHT], epsilon)), 2) == expected


@pytest.mark.parametrize("epsilon", [1e-320, 1e-9, 1e9, 1e308])
def test_extreme_epsilons_give_a_distribution(epsilon):
    p = np.full(11, 1 / 11)
    assert laplace_output(p, [Axis.padded("x", 0, 1, bins=11)], epsilon).sum() == pytest.approx(1)


@pytest.mark.parametrize("method", LOCAL_ROWS)
@given(axis=AXES, epsilon=EPSILONS)
def test_rows_are_distributions_that_favour_their_own_cell(method, axis, epsilon):
    rows = LOCAL_ROWS[method](axis, epsilon)
    assert rows.shape == (axis.bins, axis.bins)
    assert (rows >= 0).all()
    assert rows.sum(axis=1) == pytest.approx(1)
    assert rows == pytest.approx(rows[::-1, ::-1], rel=1e-9, abs=1e-300)
    assert (np.diag(rows) >= rows.max(axis=1) * (1 - 1e-9)).all()


@pytest.mark.parametrize("method", LOCAL_ROWS)
@given(axis=SPANNING, epsilon=st.floats(1e-3, 8))
def test_the_local_epsilon_is_the_worst_ratio_of_any_two_rows_in_any_cell(method, axis, epsilon):
    rows = LOCAL_ROWS[method](axis, epsilon)
    inside = range(axis.cell_of(axis.low), axis.cell_of(axis.high) + 1)
    worst = max((rows[i] / rows[j]).max() for i, j in itertools.permutations(inside, 2))
    assert local_epsilon(rows, axis) == pytest.approx(math.log(worst), abs=1e-12)


def test_a_cell_that_only_some_rows_reach_has_no_finite_local_epsilon():
    rows = noise_mass("laplace", 1e-6, 11)
    assert local_epsilon(rows, Axis("x", 0.0, 1.0, 11, 0.0)) == math.inf


@given(axis=SPANNING, epsilon=EPSILONS)
def test_the_textbook_laplace_scale_is_off_by_how_far_apart_the_midpoints_are(axis, epsilon):
    """The grid is padded alike on both sides, so the worst pair, the two end cells, keep the same mass."""
    cells = baselines.cells_in_bounds(axis)
    apart = (cells.stop - cells.start - 1) * axis.width / (axis.high - axis.low)
    found = local_epsilon(baselines.laplace_kernel(axis, epsilon), axis)
    assert found <= epsilon * apart * (1 + 1e-9)
    if cells.start > 0:
        assert found == pytest.approx(epsilon * apart)


def test_cutting_off_breaks_the_textbook_epsilon_of_the_staircase():
    axis = Axis("x", 0.0, 1.0, 1001, 0.0)
    assert local_epsilon(baselines.staircase_kernel(axis, 1.0), axis) > 1.3


@given(axis=SPANNING, epsilon=EPSILONS)
def test_bounded_laplace_keeps_epsilon_with_the_smallest_scale_that_does(axis, epsilon):
    scale = baselines.bounded_laplace_scale(axis, epsilon)
    assert local_epsilon(noise_mass("laplace", scale, axis.bins), axis) <= epsilon
    assert local_epsilon(noise_mass("laplace", scale * 0.99, axis.bins), axis) > epsilon
    # and no much smaller scale does either: the bisection did not miss another way down
    for share in (0.9, 0.5, 0.1):
        assert local_epsilon(noise_mass("laplace", scale * share, axis.bins), axis) > epsilon


def test_bounded_laplace_ends_where_every_scale_would_do():
    axis = Axis.padded("x", 0, 1, bins=3)  # both bounds in the middle cell
    assert local_epsilon(baselines.bounded_laplace_kernel(axis, 1.0), axis) == 0


def staircase_density(t, epsilon):
    gamma = 1 / (1 + math.exp(epsilon / 2))
    a = (1 - math.exp(-epsilon)) / (2 * (gamma + math.exp(-epsilon) * (1 - gamma)))
    k = math.floor(abs(t))
    return a * math.exp(-epsilon * (k if abs(t) - k < gamma else k + 1))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 8.0])
def test_staircase_mass_is_the_integral_of_its_density(epsilon):
    axis = Axis.padded("x", 0, 1, bins=31)
    gamma = 1 / (1 + math.exp(epsilon / 2))
    steps = sorted(sign * (k + part) for k in range(6) for part in (0, gamma) for sign in (-1, 1))
    expected = np.zeros((31, 31))
    for k, x in itertools.product(range(31), repeat=2):
        ends = (x - k - 0.5) * axis.width, (x - k + 0.5) * axis.width
        inside = [s for s in steps if ends[0] < s < ends[1]]
        pieces = itertools.pairwise([ends[0], *inside, ends[1]])
        expected[k, x] = sum(integrate.quad(staircase_density, *piece, args=(epsilon,))[0] for piece in pieces)
    expected /= expected.sum(axis=1, keepdims=True)
    assert baselines.staircase_kernel(axis, epsilon) == pytest.approx(expected, rel=1e-6)
    whole = 2 * sum(
        integrate.quad(staircase_density, k, k + 1, args=(epsilon,), points=[k + gamma])[0] for k in range(400)
    )
    assert whole == pytest.approx(1, abs=1e-6)


@given(st.lists(st.floats(0, 20), min_size=2, max_size=2), EPSILONS)
def test_before_cutting_off_a_shift_by_the_sensitivity_costs_the_staircase_exactly_epsilon(ends, epsilon):
    """The mass beyond t + 1 is e^-epsilon times the mass beyond t, for every t >= 0."""
    here = staircase_survival(np.array(ends), epsilon)
    there = staircase_survival(np.array(ends) + 1, epsilon)
    assert np.log(here / there) == pytest.approx(epsilon, rel=1e-6)
    assert staircase_survival(np.zeros(1), epsilon)[0] == pytest.approx(0.5)


@pytest.mark.parametrize("method", LOCAL_ROWS)
def test_more_epsilon_brings_noise_for_everyone_closer(method, heights):
    p = distribution(heights)
    found = [metrics.kl(p, p @ LOCAL_ROWS[method](HEIGHT, epsilon)) for epsilon in (1e-6, 0.1, 1, 4, 16, 50, 300)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(metrics.kl(p, np.full(101, 1 / 101)), rel=1e-4)
    assert found[-1] < 1e-3


@pytest.mark.parametrize(("over", "under"), [(3, 2), (7, 5), (11, 10), (20, 1)])
@pytest.mark.parametrize("cells", [2, 3, 4])
def test_one_draw_of_smoothed_counts_is_dp_in_both_directions(cells, over, under):
    """Brute force, in fractions: every histogram of up to three people a cell, every neighbour, every output."""
    ratio = Fraction(over, under)  # e^epsilon
    added = 1 / (ratio - 1)
    for counts in itertools.product(range(4), repeat=cells):
        for cell in range(cells):
            more = [n + (x == cell) for x, n in enumerate(counts)]
            q = [(n + added) / (sum(counts) + cells * added) for n in counts]
            r = [(n + added) / (sum(more) + cells * added) for n in more]
            assert sum(q) == sum(r) == 1
            assert all(a <= ratio * b and b <= ratio * a for a, b in zip(q, r, strict=True))
    fewer = added * Fraction(9, 10)  # a tenth less is not enough, for a first person beside many
    many = 10**6
    q, r = fewer / (many + cells * fewer), (1 + fewer) / (many + 1 + cells * fewer)
    assert r > ratio * q


@given(st.floats(1e-3, 60), st.integers(0, 10**6))
def test_the_pseudo_count_in_floats_keeps_the_proof(epsilon, others):
    """Against a fraction that is at most e^epsilon: what the floats say is enough, exactly."""
    added, ratio = Fraction(baselines.pseudo_count(epsilon)), exp_lower_bound(epsilon)
    assert 1 + 1 / added <= ratio * (1 + Fraction(1, 10**12))
    assert (1 + added) / (others + 1 + 2 * added) <= ratio * added / (others + 2 * added)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=12).filter(any), EPSILONS)
def test_smoothed_counts_are_weights_of_the_chosen_cells_only(counts, epsilon):
    inside = slice(0, len(counts))
    weights = baselines.smooth_counts(np.array([*counts, 0, 0]), epsilon, inside)
    assert weights[-2:].tolist() == [0, 0]
    assert (weights[inside] > 0).all()
    assert weights.sum() == pytest.approx(sum(counts) + len(counts) / math.expm1(epsilon))


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.0999999, 0.1000001])
def test_staircase_noise_keeps_its_digits_at_small_epsilons(epsilon):
    axis = Axis.padded("x", 0, 10)
    rows = baselines.staircase_kernel(axis, epsilon)
    assert baselines.local_epsilon(rows, axis) == pytest.approx(1.06 * epsilon, rel=0.06)
