"""What is promised: the sentences say what the value says, and no more."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.errors import BadInput
from equinoise.privacy.promise import DIFFERENTIAL_PRIVACY, PER_INSTANCE, Measure, Neighbours, Promise

GAME = Promise(neighbours=Neighbours.PERSON_REMOVED, epsilon=1.0, people=4321, total_rows=8765)
PRIVATE = Promise(neighbours=Neighbours.PERSON_ADDED_OR_REMOVED, epsilon=0.5, people=4321, total_rows=4321)


def test_the_neighbours_decide_the_kind():
    assert GAME.kind == PER_INSTANCE
    assert PRIVATE.kind == DIFFERENTIAL_PRIVACY
    assert "not differential privacy" in str(GAME)
    assert "everyone else's noise held fixed" in str(GAME)
    assert str(PRIVATE).startswith("Differential privacy: for every dataset")
    assert "not differential privacy" not in str(PRIVATE)
    assert (GAME.headline, PRIVATE.headline) == ("Per-instance, not differential privacy.", "Differential privacy.")


@pytest.mark.parametrize(
    ("change", "measure", "words", "qualifier"),
    [
        ({}, Measure.PURE, "the privacy loss of one draw is at most 1 with delta = 0,", ""),
        ({"delta": 1e-3}, Measure.APPROXIMATE, "at most 1 with delta = 0.001,", "delta = 0.001"),
        ({"order": 4.0}, Measure.RENYI, "Renyi divergence of order 4 of one draw is at most 1,", "Renyi divergence of"),
    ],
)
def test_the_measure_is_named(change, measure, words, qualifier):
    promise = replace(GAME, **change)
    assert promise.measure is measure
    assert words in str(promise)
    assert promise.qualifier.startswith(qualifier)
    assert bool(promise.qualifier) == bool(qualifier)


def test_draws_that_add_up_say_so():
    assert "draws" not in str(GAME)
    assert "3 draws are allowed and declared to cost 3 x 1 = 3 together (basic composition)" in str(
        replace(GAME, draws=3)
    )
    three = str(replace(PRIVATE, draws=3, epsilon_per_draw=0.25))
    assert "the privacy loss of all 3 rows together is at most 0.5" in three
    assert "One row costs at most 0.25 (basic composition)." in three
    assert "3 x 1 = 3 together (Renyi divergences of order 4 add up)" in str(replace(GAME, draws=3, order=4.0))


def test_composed_draws_tell_what_all_cost_and_the_public_sentence_hides_what_one_does():
    together = replace(GAME, draws=9, epsilon=2.0, delta=1e-6, composed="by some theorem", epsilon_per_draw=0.321)
    assert "of one draw is at most 0.321 with delta = 0," in str(together)
    assert "9 draws are allowed and cost at most 2 with delta = 1e-06 together (by some theorem)" in str(together)
    assert "0.321" not in str(together.public())  # in the game, it was worked out from the data
    assert "of one draw is at most 2 with delta = 1e-06," in str(together.public())
    theorem = replace(together, neighbours=Neighbours.PERSON_ADDED_OR_REMOVED)
    assert "0.321" in str(theorem.public())  # by differential privacy, it follows from public settings


@given(
    epsilon=st.floats(1e-6, 100),
    delta=st.sampled_from([0.0, 1e-9, 0.01]),
    draws=st.integers(1, 50),
    unit=st.sampled_from([None, "who"]),
    most_rows=st.sampled_from([None, 1, 3]),
    public_bounds=st.booleans(),
    neighbours=st.sampled_from([Neighbours.PERSON_REMOVED, Neighbours.PERSON_ADDED_OR_REMOVED]),
)
def test_a_public_promise_tells_nothing_of_the_data_and_no_epsilon_is_rounded_down(**fields):
    promise = Promise(people=4321, total_rows=8765, **fields)
    assert not re.search("4,?321|8,?765", str(promise.public()))
    assert ("4,321" in str(promise)) == (promise.kind == PER_INSTANCE)
    assert float(re.search(r"is at most (\S+) with", str(promise))[1]) >= promise.epsilon
    assert ("read off the data" in str(promise)) != promise.public_bounds
    assert ("only the middle one" in str(promise)) == (promise.unit is not None and promise.most_rows == 1)
    assert ("at most 3, evenly spread, are" in str(promise)) == (promise.unit is not None and promise.most_rows == 3)
    assert promise.public().public() == promise.public()


def test_a_base_of_ones_own_is_said():
    assert "provided that the base distribution was not taken from the data" in str(replace(PRIVATE, own_base=True))
    assert "base" not in str(PRIVATE)


def test_in_short():
    assert GAME.in_short().endswith("(per-instance; not differential privacy)")
    assert PRIVATE.in_short().startswith("one draw: 0.5-DP for every dataset")
    assert replace(PRIVATE, draws=None).in_short().startswith("any number of draws: the noisy counts are 0.5-DP")
    local = Promise(neighbours=Neighbours.VALUE_CHANGED, epsilon=2.0, draws=None)
    assert local.in_short().startswith("every value: each person's own noisy value is 2-DP")
    assert "at most epsilon," in replace(GAME, epsilon=0).in_short()
    shared = {"draws": 20, "composed": "basic composition"}
    assert "at most epsilon (epsilon/20 a draw" in replace(GAME, epsilon=0, **shared).in_short()
    several = replace(PRIVATE, epsilon_per_draw=0.025, **shared).in_short()
    assert several.startswith("all 20 draws together: 0.5-DP for every dataset")
    assert several.endswith("(0.025 a draw, which adds up)")
    model = replace(PRIVATE, draws=None, delta=1e-6, proof="OpenDP").in_short()
    assert "the noisy counts are (0.5, 1e-06)-DP" in model
    assert "by the theorem of OpenDP" in model


@pytest.mark.parametrize(
    "fields",
    [
        {"neighbours": "PERSON_REMOVED"},
        {"epsilon": -1.0},
        {"epsilon": float("nan")},
        {"epsilon": "a"},
        {"delta": 2.0},
        {"draws": 0},
        {"most_rows": 0},
        {"order": 4.0, "delta": 0.1},
        {"order": 1.0},
        {"order": 4.0, "neighbours": Neighbours.PERSON_ADDED_OR_REMOVED},
    ],
    ids=str,
)
def test_nothing_fluent_is_said_of_what_is_no_promise(fields):
    with pytest.raises(BadInput, match=f"'{next(iter(fields))}' parameter must be"):
        replace(GAME, **fields)


def test_a_delta_is_never_left_out():
    assert "with delta = 0.01," in str(replace(PRIVATE, delta=0.01))


def test_that_values_are_refused_is_said_to_be_outside_the_promise():
    said = "That a value outside the schema or a missing one is refused is outside the promise."
    assert (said in str(replace(PRIVATE, refuses=True)), said in str(PRIVATE)) == (True, False)
