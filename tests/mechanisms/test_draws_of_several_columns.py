import numpy as np
import pytest
from scipy import stats

from equinoise.mechanisms.draws import draw_rows
from tests.conftest import seeded_bytes
from tests.helpers.games import joint_game, small_game
from tests.mechanisms.test_draws import ALARM, p_value

COUNTS = [[20, 0, 0, 1], [0, 5, 0, 0], [0, 0, 1, 30]]


def groups(game):
    """People of every cell, at the only scale, and their rows on each axis."""
    bins = game.players.grid.bins_of(game.players.cells)
    return game.players.people, game.kernel.rows_of(np.zeros(len(bins), dtype=np.int64), bins)


def mechanism(scale):
    game = joint_game(COUNTS, [scale], 1.0)
    return game, *groups(game), game.output(game.largest_scale_profile())


def drawn(people, weights, totals, size, seed):
    return np.concatenate(list(draw_rows(people, weights, totals, size, seeded_bytes(seed))))


@pytest.mark.parametrize("scale", [0.1, (0.3, 0.05)])
def test_rows_fit_their_own_joint_distribution_and_no_other(scale):
    game, people, weights, expected = mechanism(scale)
    rows = drawn(people, weights, game.kernel.totals, 300_000, 1)
    assert rows.shape == (300_000, 2)
    cells = game.players.grid.cells_of(rows)
    assert p_value(cells, expected) > ALARM
    for factor in (0.7, 1.3):
        other = tuple(s * factor for s in scale) if isinstance(scale, tuple) else scale * factor
        assert p_value(cells, mechanism(other)[3]) < ALARM
    table = expected.reshape(3, 4)
    independent = np.outer(table.sum(axis=1), table.sum(axis=0)).ravel()
    assert p_value(cells, independent) < ALARM  # whole rows: the columns belong together


def test_three_axes_and_one_axis():
    game = joint_game(np.arange(8).reshape(2, 2, 2), [0.4], 1.0)
    rows = drawn(*groups(game), game.kernel.totals, 100_000, 2)
    assert p_value(game.players.grid.cells_of(rows), game.output(game.largest_scale_profile())) > ALARM
    one = small_game([3, 0, 5, 1], [0.2], 1.0)
    rows = drawn(*groups(one), one.kernel.totals, 100_000, 3)
    assert rows.shape == (100_000, 1)
    assert p_value(rows[:, 0], one.output(one.largest_scale_profile())) > ALARM


def test_every_byte_decides_as_it_should():
    """Two people, two axes of two bins, weights out of 4: with all bytes known, every row is worked out by hand."""
    people, weights = np.array([1, 1]), [np.array([[1, 3], [4, 0]]), np.array([[2, 2], [0, 4]])]
    numbers = iter([[0, 1, 0, 1], [0, 3, 1, 2], [1, 0, 2, 3]])  # persons; targets on either axis
    source = lambda size: np.array(next(numbers), dtype="<u8").tobytes()  # noqa: E731
    (rows,) = draw_rows(people, weights, [4, 4], 4, source)
    assert rows.tolist() == [[0, 0], [0, 1], [1, 1], [0, 1]]


def test_correlation_of_draws_is_that_of_the_output():
    game, people, weights, expected = mechanism(0.1)
    rows = drawn(people, weights, game.kernel.totals, 200_000, 4)
    table = expected.reshape(3, 4)
    x, y = np.indices(table.shape)
    mean_x, mean_y = (table * x).sum(), (table * y).sum()
    cov = (table * (x - mean_x) * (y - mean_y)).sum()
    true = cov / np.sqrt((table * (x - mean_x) ** 2).sum() * (table * (y - mean_y) ** 2).sum())
    assert stats.pearsonr(rows[:, 0], rows[:, 1])[0] == pytest.approx(true, abs=0.01)


def test_too_many_people_are_refused():
    with pytest.raises(ValueError, match="too many"):
        list(draw_rows(np.array([2**62, 2]), [np.array([[1], [1]])], [1], 1))
