"""Kernels and scales of several columns, and the sizes that are refused."""

import numpy as np
import pytest

from equinoise.data.grid import Axis, Grid
from equinoise.errors import BadInput
from equinoise.game.kernel import check_size, check_work, make_kernel, offered_scales, weight_bits
from equinoise.game.noise import axis_weights
from equinoise.solvers.procedure import Procedure


def test_rows_of_every_axis_sum_to_a_power_of_two_and_products_stay_exact_as_floats():
    for axes in range(2, 7):
        kernel = make_kernel("laplace", ((0.05,) * axes, (2.0,) * axes), (3,) * axes)
        assert kernel.total == 2 ** (weight_bits(axes) * axes) <= 2**52
        for weights in kernel.weights:
            assert (weights.sum(axis=2) == 2 ** weight_bits(axes)).all()
    assert weight_bits(1) == 32


def test_one_column_has_the_columns_own_kernel():
    kernel = make_kernel("gaussian", ((0.05,), (2.0,)), (7,))
    np.testing.assert_array_equal(kernel.weights[0], axis_weights("gaussian", [0.05, 2.0], 7, kernel.total))


def test_rows_of_the_bins_in_use_are_those_of_all_and_the_others_stay_zero():
    choices, bins = ((0.05, 0.3), (2.0, 1.0)), np.array([[1, 0], [3, 0], [1, 2]])
    some, every = make_kernel("laplace", choices, (5, 4), bins), make_kernel("laplace", choices, (5, 4))
    for axis, used in enumerate(([1, 3], [0, 2])):
        np.testing.assert_array_equal(some.weights[axis][:, used], every.weights[axis][:, used])
        assert some.weights[axis].sum() == 2 * 2 * some.totals[axis]
    rows = some.weights_of(np.array([0, 1]), bins[[0, 2]])
    np.testing.assert_array_equal(rows[0], every.weights[0][[0, 1], [1, 1]])
    np.testing.assert_array_equal(rows[1], every.weights[1][[0, 1], [0, 2]])


def axes(*bins):
    return Grid(tuple(Axis.padded(f"c{i}", 0, 10.0 ** (i + 1), bins=b) for i, b in enumerate(bins)))


def test_scales_are_the_same_choice_on_every_axis_or_every_combination():
    grid = axes(51, 101)
    wide = offered_scales("wide", grid, 1.0)
    assert len(wide) == 8
    assert wide[0] == pytest.approx((1 / 1020, 1 / 2020))
    assert wide[-1] == pytest.approx((3, 3))
    assert offered_scales("adaptive", grid, 1.0) == wide  # where it begins
    every = offered_scales("wide", grid, 1.0, scale_per_column=True)
    assert len(every) == 64 == len(set(every))
    assert every[-1] == pytest.approx((3, 3))
    assert len(offered_scales("wide", axes(5, 5, 5), 1.0, scale_per_column=True)) == 64
    assert len(offered_scales("paper", grid, 1.0)) == 5
    listed = offered_scales({"c0": [5.0, 1.0], "c1": [20.0, 10.0]}, grid, 1.0)
    ranges = [axis.range for axis in grid.axes]
    assert listed == ((1 / ranges[0], 10 / ranges[1]), (5 / ranges[0], 20 / ranges[1]))
    assert offered_scales([5.0, 1.0], axes(51), 1.0) == ((1 / ranges[0],), (5 / ranges[0],))


@pytest.mark.parametrize(
    ("scales", "scale_per_column", "message"),
    [
        ("tall", False, "'scales' parameter"),
        ({"c0": [1.0]}, False, "none for column 'c1'"),
        ([1.0, 2.0], False, "a list for every column"),
        ({"c0": [1.0], "c1": [1.0, 2.0]}, False, "the same number"),
        ({"c0": list(range(1, 10)), "c1": list(range(1, 9))}, True, "at most 64 combinations"),
    ],
)
def test_bad_scales_are_refused(scales, scale_per_column, message):
    with pytest.raises(BadInput, match=message):
        offered_scales(scales, axes(5, 7), 1.0, scale_per_column=scale_per_column)


def test_too_many_cells_are_refused_with_the_number_and_the_bins_that_fit():
    with pytest.raises(BadInput, match=r"301 x 301 x 301 = 27,270,901 cells .* at most 161 bins"):
        check_size((301, 301, 301), 8)
    check_size((161, 161, 161), 8)
    with pytest.raises(BadInput, match=r"4,000 x 4,000 = 16,000,000 cells .* at most 2,048 bins"):
        check_size((4000, 4000), 8)
    check_size((2048, 2048), 8)
    with pytest.raises(BadInput, match="at most 724 bins"):
        check_size((2048, 2048), 64)
    with pytest.raises(BadInput, match="at most 6 columns"):
        check_size((2,) * 7, 8)


def test_hours_are_refused_by_public_settings_alone():
    grid = Grid(tuple(Axis.padded(name, 0, 100, bins=2000) for name in "ab"))
    Procedure(1).check_grid(grid)
    with pytest.raises(BadInput, match="take hours, however few people there are") as refused:
        Procedure(1, restarts=10_000).check_grid(grid)
    assert "10,000 restarts of 2 runs on 4,000,000 cells with 8 scales" in str(refused.value)
    most, bins = 781, 559
    assert f"at most {most:,} of them" in str(refused.value)
    assert f"or {bins} bins" in str(refused.value)
    Procedure(1, restarts=most).check_grid(grid)
    small = Grid(tuple(Axis.padded(name, 0, 100, bins=bins) for name in "ab"))
    Procedure(1, restarts=10_000).check_grid(small)


@pytest.mark.parametrize("settings", [{"restarts": 0}, {"restarts": 10**9}, {"restarts": 2.5}, {"seed": -1}])
def test_restarts_and_seeds_are_refused_before_anything_is_read(settings):
    with pytest.raises(BadInput, match=f"'{next(iter(settings))}' parameter must be a whole number"):
        Procedure(1, **settings)


def test_no_remedy_is_offered_that_would_not_help():
    with pytest.raises(BadInput, match="take hours") as refused:
        check_work((5, 5), 8, 10**9, 2)
    assert "bins a column" not in str(refused.value)
