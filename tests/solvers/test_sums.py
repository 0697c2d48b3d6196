"""Everyone's rows added up: in two floats nothing is lost, and what nearly cancels is added up anew."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import plain
from equinoise.solvers.best_response.sums import add_exactly, multiply_exactly
from tests.helpers.drawn_games import multiplied_out
from tests.helpers.games import bag_game, joint_game, small_game
from tests.helpers.loop_parts import move_alone, parts_of, sum_after

whole = st.integers(0, 2**52)


@given(whole, st.integers(0, 10**12))
def test_a_product_and_what_it_lacks_are_the_product(a, b):
    product, rest = multiply_exactly.py_func(float(a), float(b))
    assert Fraction(product) + Fraction(rest) == a * b


@given(st.lists(st.integers(-(2**90), 2**90).map(float), min_size=1, max_size=8))
def test_a_sum_and_what_it_lacks_are_the_sum_but_for_the_lacks_own_rounding(terms):
    high, low = 0.0, 0.0
    for term in terms:
        high, low = add_exactly.py_func(high, low, term)
    exact = sum(map(Fraction, terms))
    largest = max(abs(term) for term in terms) * len(terms)
    assert abs(Fraction(high) + Fraction(low) - exact) <= Fraction(largest) * Fraction(2) ** -100


@given(st.integers(1, 9), st.booleans(), st.sampled_from(["one", "columns", "rows"]))
def test_what_is_left_when_nearly_everyone_goes_is_right_to_the_last_bit(few, multiplied, kind):
    """10^12 people leave a cell with large weights for one with small ones, and a handful stay."""
    huge, scales = 10**12 + few, [0.001, 0.4]
    if kind == "one":
        game = small_game([huge, 0, few], scales, 1.0)
    elif kind == "columns":
        game = joint_game([[huge, 0], [0, few]], scales, 1.0)
    else:
        game = bag_game([[0, 0, 1], [2]], [huge, few], 3, scales, 1.0)
    if multiplied:
        multiplied_out(game)
    rows = plain.person_rows(game)
    start = game.profile_of(np.zeros(2, dtype=np.int64))
    store, limits, aim, state, buffers = parts_of(game, start)
    x = int(game.players.cells[0])
    change = float(rows[0, 1, x] - rows[0, 0, x])
    exact = (huge - 10**12) * int(rows[0, 0, x]) + 10**12 * int(rows[0, 1, x]) + few * int(rows[1, 0, x])
    assert sum_after(store, state, x, change, 10**12) == float(exact)
    move_alone(store, limits, aim, state, buffers, 0, 0, 1, 10**12)
    assert state.sums[x] == float(exact)


@pytest.mark.parametrize("first", [1, 12_345, 10**9 + 7])
def test_a_sum_added_up_anew_after_moves_forgets_what_they_rounded_off(first):
    """10^12 people stop reaching a far cell, some before the others: the rest that those leave beside a sum that was
    rounded before they moved must not count once it is added up anew."""
    huge, few, x = 10**12 + 7, 3, 2
    game = small_game([huge, 0, few], [0.001, 0.4], 1.0)
    rows = plain.person_rows(game)
    store, limits, aim, state, buffers = parts_of(game, game.profile_of(np.ones(2, dtype=np.int64)))
    move_alone(store, limits, aim, state, buffers, 0, 1, 0, first)
    narrow, wide, others = (Fraction(int(rows[i, v, x])) for i, v in ((0, 0), (0, 1), (1, 1)))
    assert state.sums[x] > 2.0**53
    assert state.low[x] != 0
    assert state.exact[x] == 0
    for stay in (0, 5):  # the first adds up, the second takes what is kept
        block = huge - first - stay
        exact = stay * wide + (first + block) * narrow + few * others
        assert sum_after(store, state, x, float(narrow - wide), block) == float(exact)
    move_alone(store, limits, aim, state, buffers, 0, 1, 0, block)
    assert state.sums[x] == float(exact)
