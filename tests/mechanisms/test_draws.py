import inspect
import os

import numpy as np
import pytest
from scipy import stats

from equinoise import Mechanism
from equinoise.mechanisms import draws
from equinoise.mechanisms.draws import _one, draw_columns, draw_rows, draw_weighted, uniform
from equinoise.mechanisms.released_rows import rows_of_bins
from tests.conftest import seeded_bytes
from tests.helpers.games import small_game

ALARM = 1e-9


def draw_cells(people, weights, total, *args):
    """Draws of one column."""
    return np.concatenate(list(draws.draw_rows(people, [weights], [total], *args)))[:, 0]


def p_value(cells, expected):
    """Goodness of fit of drawn cells to probabilities, cells expected fewer than ten times put together."""
    seen = np.bincount(cells, minlength=len(expected)).astype(float)
    expected = expected * len(cells)
    rare = expected < 10
    if rare.any():
        seen = np.append(seen[~rare], seen[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    keep = expected > 0
    assert seen[~keep].sum() == 0
    return stats.chisquare(seen[keep], expected[keep] * seen.sum() / expected[keep].sum()).pvalue


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 935, 1000, 2**32, 10**12 + 7])
def test_uniform_covers_its_range_evenly(limit):
    values = uniform(limit, 100_000, seeded_bytes(limit))
    assert values.min() >= 0
    assert values.max() < limit
    slots = min(limit, 1000)
    if slots > 1:
        assert p_value(values * slots // limit, np.full(slots, 1 / slots)) > ALARM


def test_remainders_favour_nobody():
    """With limit 3 out of two bits, taking the remainder instead of rejecting would double one share."""
    values = uniform(3, 300_000, seeded_bytes(5))
    assert p_value(values, np.array([1, 1, 1]) / 3) > ALARM
    assert p_value(values, np.array([2, 1, 1]) / 4) < ALARM


@pytest.mark.parametrize("scale", [0.05, 0.2, 1.0])
def test_true_scale_passes_and_thirty_percent_off_is_rejected(scale):
    """The three-way test: draws fit their own distribution, and none with a scale 30 % smaller or larger."""
    counts = [5, 0, 40, 3, 0, 0, 30, 0, 0, 1, 0]

    def expected(factor):
        game = small_game(counts, [scale * factor], 1.0)
        return game.output(game.largest_scale_profile())

    game = small_game(counts, [scale], 1.0)
    people, weights = game.players.people, game.kernel.weights[0][0, game.players.cells]
    cells = draw_cells(people, weights, 2**32, 400_000, seeded_bytes(1))
    assert p_value(cells, expected(1.0)) > ALARM
    assert p_value(cells, expected(0.7)) < ALARM
    assert p_value(cells, expected(1.3)) < ALARM


def test_a_person_is_picked_before_a_cell():
    """Exact small case: three people in two groups; every outcome's share is a fraction of 12."""
    people, weights = np.array([2, 1]), np.array([[1, 3, 0], [0, 0, 4]])
    cells = draw_cells(people, weights, 4, 240_000, seeded_bytes(2))
    assert p_value(cells, np.array([2, 6, 4]) / 12) > ALARM
    assert p_value(cells, np.array([1, 3, 4]) / 8) < ALARM  # groups picked instead of people


def test_draws_use_the_operating_systems_source_by_default():
    people, weights = np.array([5, 5]), np.array([[2**31, 2**31], [2**31, 2**31]])
    first, second = (draw_cells(people, weights, 2**32, 1000) for _ in range(2))
    assert (first != second).any()


def test_what_64_bits_cannot_hold_is_refused():
    for limit in (0, -1, 2**62 + 1):
        with pytest.raises(ValueError, match="limit"):
            uniform(limit, 1)
    with pytest.raises(ValueError, match="too many"):
        draw_cells(np.full(3, 2**61), np.array([[4, 0]] * 3), 4, 1)
    with pytest.raises(ValueError, match="too many"):
        draw_cells(np.full(2000, 1), np.full((2000, 2), 2**51), 2**52, 1)


def test_huge_counts():
    people = np.array([10**15, 3 * 10**15])
    cells = draw_cells(people, np.array([[4, 0], [0, 4]]), 4, 100_000, seeded_bytes(4))
    assert p_value(cells, np.array([0.25, 0.75])) > ALARM


def pairs_p_value(cells, probabilities):
    """Goodness of fit of every two draws in a row, taken together, to the product of their probabilities."""
    first, second = cells[::2], cells[1::2]
    return p_value(first * len(probabilities) + second, np.outer(probabilities, probabilities).ravel())


@pytest.mark.parametrize("scale", [1, 2**70])
def test_a_row_says_nothing_of_the_next(scale):
    """What rows cost together is worked out for independent ones."""
    parts = [1, 2, 3, 4]
    drawn = np.concatenate(list(draws.draw_weighted([scale * part for part in parts], 20_000, seeded_bytes(8))))
    assert pairs_p_value(drawn, np.array(parts) / 10) > ALARM
    assert pairs_p_value(np.repeat(drawn[::2], 2), np.array(parts) / 10) < ALARM
    deck = np.random.default_rng(3).permuted(np.tile([0, 1, 1, 2, 2, 2, 3, 3, 3, 3], (2000, 1)), axis=1).ravel()
    assert pairs_p_value(deck, np.array(parts) / 10) < ALARM  # without putting back


@pytest.mark.parametrize("limit", [5, 2**62 - 1, 2**64 + 1, 2**70 + 3, 3**99])
def test_a_number_at_the_limit_or_above_is_drawn_again_and_any_below_is_kept(limit):
    """Of bits that are not asked for nothing is taken."""
    bits = (limit - 1).bit_length()
    for kept in (0, 1, limit // 2 + 1, limit - 1):
        said = iter([limit, (1 << bits) - 1, kept + (1 << bits)])
        assert _one(limit, lambda size, said=said: (next(said) % 256**size).to_bytes(size, "little")) == kept
        if limit <= 2**62:
            said = iter([limit, (1 << bits) - 1, kept + (1 << bits)])
            assert uniform(limit, 1, lambda size, said=said: next(said).to_bytes(size, "little")).tolist() == [kept]


@pytest.mark.parametrize(
    "draw", [uniform, draw_rows, draw_weighted, draw_columns, rows_of_bins, Mechanism.sample, Mechanism.stream]
)
def test_unless_a_test_says_otherwise_the_source_is_the_operating_systems(draw):
    assert inspect.signature(draw).parameters["source"].default is os.urandom


def test_a_big_weight_ends_where_the_next_begins():
    """Also where cells are listed, and all others weigh something."""
    big = 2**62
    said = iter([0, big - 1, big, 2 * big - 1, 2 * big, 3 * big - 1])
    (cells,) = draw_weighted([big] * 3, 6, lambda size: next(said).to_bytes(size, "little"))
    assert cells.tolist() == [0, 0, 1, 1, 2, 2]
    said = iter([0, big - 1, big, 2 * big - 1, 2 * big, 3 * big - 1])
    listed = (big, 3, np.array([1]))
    (cells,) = draw_weighted([big], 6, lambda size: next(said).to_bytes(size, "little"), others=listed)
    assert cells.tolist() == [1, 1, 0, 0, 2, 2]
