"""Draws of people with several rows: how often each cell comes out, and how large a person's weights may be."""

import math

import numpy as np
import pytest

from equinoise.mechanisms.draws import draw_rows
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.solvers.solution import Solution
from tests.conftest import seeded_bytes
from tests.helpers.drawn_games import random_profile
from tests.helpers.games import bag_game
from tests.helpers.people import laid_out


def test_rows_come_out_as_often_as_their_weights():
    """Three people with one row and one with four: two in one cell, two in another."""
    people, times = np.array([3, 1, 1]), np.array([1, 2, 2])
    weights = np.array([[4, 4, 0], [0, 4, 4], [0, 0, 8]])
    (drawn,) = draw_rows(people * times, [weights], [8], 200_000, seeded_bytes(1))
    expected = (people * times) @ weights / (7 * 8)
    found = np.bincount(drawn[:, 0], minlength=3) / len(drawn)
    assert np.abs(found - expected).max() < 7 * 0.5 / math.sqrt(len(drawn))


@pytest.mark.parametrize("shape", [6, (3, 2)])
def test_a_mechanism_draws_from_the_games_output(shape):
    game = bag_game([[0, 1, 1], [2], [3, 3, 4, 5]], [30, 20, 40], shape, [0.1, 3.0], 60.0)
    profile = random_profile(game, 1)
    made = PerInstance.unchecked(Solution(game, profile, "best-response", False, 0, 0.0, 0.0))
    drawn = np.concatenate(list(made._draw(200_000, seeded_bytes(2))))
    cells = drawn if drawn.ndim == 1 else game.players.grid.cells_of(drawn)
    found = np.bincount(cells, minlength=6) / len(cells)
    assert np.abs(found - game.output(profile)).max() < 7 * 0.5 / math.sqrt(len(cells))
    np.testing.assert_allclose(made.output, game.output(profile), rtol=1e-12)


def test_someone_with_millions_of_rows():
    """Their weights do not fit into a float's 53 bits."""
    many = 3_000_001
    game = bag_game([[4] * many, [4] * (many - 1) + [5, 5], [6]], [2, 1, 5], 41, (0.01, 3.0), 20.0)
    profile = game.profile_of(np.zeros(3, dtype=np.int64))
    made, kernel = PerInstance.unchecked(Solution(game, profile, "best-response", False, 0, 0.0, 0.0)), game.kernel
    (whole,) = (rows for _, rows in made.laid_out(object))
    assert whole.tolist() == laid_out(made).tolist()
    for row, bag in zip(whole.tolist(), made.bags, strict=True):
        assert row == [sum(times * int(kernel.weights[0][0, cell, x]) for cell, times in bag) for x in range(41)]
    assert made.accountant.weights.dtype == np.int64  # whole numbers of 64 bits still hold them
    assert made.certificate().failure is None or "someone" in made.certificate().failure
    rows = draw_rows(np.array([2**30, 2**30]), [np.array([[2**32], [2**32]])], [2**32], 5, seeded_bytes(1))
    assert np.concatenate(list(rows)).tolist() == [[0]] * 5
