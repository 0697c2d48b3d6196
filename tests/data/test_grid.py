import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.data.grid import Axis
from equinoise.data.make_grid import make_grid
from equinoise.data.schema import Schema
from equinoise.errors import BadInput

numbers = st.floats(-1e9, 1e9)


def test_padding_is_the_laplace_percentile_of_its_own_epsilon():
    axis = Axis.padded("x", 163, 226)
    assert axis.padding == pytest.approx(63 * math.log(5))
    assert (axis.high - axis.low) / axis.range == pytest.approx(0.237, abs=5e-4)
    half = Axis.padded("x", 163, 226, padding_epsilon=2)
    assert half.padding == pytest.approx(axis.padding / 2)
    assert Axis.padded("x", 0, 1, percentile=0.5).padding == 0


@given(low=numbers, length=st.floats(0.01, 1e9), bins=st.integers(2, 500), share=st.floats(0, 1))
def test_a_value_is_within_half_a_bin_of_its_cells_midpoint(low, length, bins, share):
    axis = Axis.padded("x", low, low + length, bins=bins)
    value = min(axis.low + share * (axis.high - axis.low), axis.high)
    cell = axis.cell_of(value)
    assert 0 <= cell < bins
    assert abs(axis.midpoints()[cell] - value) <= axis.width / 2 * (1 + 1e-6) + 1e-6 * axis.width


@pytest.mark.parametrize("kind", [np.int8, np.float32, np.int64])
def test_narrow_numbers_make_the_same_grid(kind):
    assert Axis.padded("x", kind(-100), kind(100), bins=np.int16(11)) == Axis.padded("x", -100, 100, bins=11)


@given(low=numbers, length=st.floats(0.01, 1e9), bins=st.integers(2, 500))
def test_every_midpoint_falls_in_its_own_cell(low, length, bins):
    axis = Axis.padded("x", low, low + length, bins=bins)
    assert [axis.cell_of(m) for m in axis.midpoints()] == list(range(bins))


@pytest.mark.parametrize(
    ("low", "high", "settings", "said"),
    [
        (5, 5, {}, "two different numbers"),
        (6, 5, {}, "lower one first"),
        (math.nan, 5, {}, "finite"),
        (0, math.inf, {}, "finite"),
        (-1e308, 1e308, {}, "Rescale"),
        (1e308, 1.1e308, {"bins": 2}, "Rescale"),
        (0, 2e200, {}, "Rescale"),
        (0, 1e-200, {}, "Rescale"),
        (1e16, 1e16 + 4, {}, "Rescale"),
        (0, 1, {"bins": 1}, "'bins' parameter"),
        (0, 1, {"bins": 2.5}, "'bins' parameter"),
        (0, 1, {"bins": 10**9}, "'bins' parameter"),
        (0, 1, {"padding_epsilon": 0}, "'padding_epsilon' parameter"),
        (0, 1, {"percentile": 1}, "'percentile' parameter"),
    ],
)
def test_bounds_and_settings_that_make_no_grid_are_refused(low, high, settings, said):
    with pytest.raises(BadInput, match=said):
        Axis.padded("x", low, high, **settings)


@pytest.mark.parametrize(("bounds", "step"), [((0, 1e300), 1e-300), ((0, 100), 1e-15), ((0, 2**40), 1)])
def test_a_step_that_leaves_too_many_values_is_refused_by_its_name(bounds, step):
    schema = Schema.of({"columns": {"age": {"bounds": list(bounds), "step": step}}})
    with pytest.raises(BadInput, match=r"Column 'age' has more than 4,294,967,296 values, a step of .* apart. Give a"):
        make_grid(schema)
