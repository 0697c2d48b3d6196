"""The events of a book one by one: each follows from the one before by its number and by its link."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
import sqlalchemy as sql

from equinoise import BadInput, Book
from equinoise.mechanisms.book import _rounded_down
from equinoise.mechanisms.book_events import Charge, Entry, History, Made, next_link, spending_after_each
from equinoise.mechanisms.book_store import EVENTS, BookStore
from equinoise.privacy.book_cost import ORDERS, Cost, Spending

CHARGE = Charge(
    at="2026-01-01", kind="differential-privacy", method="envelope", columns=["x"], epsilon=1.0, delta=0.0
).text()
MADE = Made(at="2026-01-02", entry=1, digest="d" * 64).text()


@pytest.fixture
def history():
    """Of a book with one charge."""
    history = History("begin")
    history.add(1, CHARGE, next_link("begin", CHARGE))
    return history


def test_an_event_that_follows_is_taken(history):
    history.add(2, MADE, next_link(history.link, MADE))
    assert [(entry.state, entry.note) for entry in history.entries] == [("made", "d" * 64)]


def test_what_is_made_is_not_made_again(history):
    history.add(2, MADE, next_link(history.link, MADE))
    with pytest.raises(BadInput, match="cannot be of entry 1"):
        history.add(3, MADE, next_link(history.link, MADE))


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_number_that_does_not_follow_is_refused_whatever_its_link(history, number):
    with pytest.raises(BadInput, match="does not follow"):
        history.add(number, MADE, next_link(history.link, MADE))


@pytest.mark.parametrize("before", ["", "begin", "0" * 64])
def test_a_link_that_does_not_follow_is_refused(history, before):
    with pytest.raises(BadInput, match="does not follow"):
        history.add(2, MADE, next_link(before, MADE))


def test_what_fails_in_the_middle_of_a_transaction_leaves_nothing(tmp_path):
    Book.create(tmp_path / "a.book", epsilon=1)
    store = BookStore(tmp_path / "a.book")

    def change(connection):
        connection.execute(sql.insert(EVENTS), {"number": 1, "text": "{}", "link": ""})
        raise ValueError("a power cut")

    with pytest.raises(ValueError, match="power cut"):
        store.wait_for(change)
    with store.reading() as connection:
        assert connection.execute(sql.select(EVENTS)).all() == []


@pytest.mark.parametrize(
    ("left", "told"), [(2 / 3, "0.666666"), (1 / 3, "0.333333"), (0.5, "0.5"), (1e-7 / 3, "3.33333e-08")]
)
def test_what_is_left_is_told_rounded_down(left, told):
    assert _rounded_down(left) == told


def test_totals_stay_above_what_decimals_say_and_within_the_limit_to_the_last_unit():
    """By zCDP a hair above the formula; by adding up, the decimals as they were written."""
    costs = [Cost(0.3, 1e-9, 0.01)] * 20
    totals = {total.how: total.epsilon for total in Spending.of(costs).totals(1e-5)}
    with localcontext(prec=40):
        rho, log = Decimal("0.2"), -(Decimal("1e-5") / 2).ln()
        every = list(map(Decimal, ORDERS[(ORDERS > 2) & (ORDERS < 40)].tolist()))
        least = min(a * rho + (log + (a - 1) * (1 - 1 / a).ln() - a.ln()) / (a - 1) for a in every)
        assert least <= Decimal(totals["zCDP"]) <= least * (1 + Decimal("1e-8"))
    assert totals["adding up"] == 6.0
    ten = Spending.of([Cost.pure(0.1)] * 10)
    assert ten.within(1.0, 0.0)
    assert not ten.within(float(np.nextafter(1, 0)), 0.0)
    assert not Spending.of([*costs, Cost(0.1, 0.0, None)]).within(6.0999, 1e-5)


def test_what_was_given_back_and_what_the_game_releases_count_for_nothing():
    game = Charge.model_validate_json(CHARGE).model_copy(update={"kind": "per-instance"})
    states = ("charged", "made", "given back", "finished")
    entries = [Entry(number, Charge.model_validate_json(CHARGE), state) for number, state in enumerate(states, 1)]
    entries.insert(2, Entry(5, game, "finished"))
    assert [entry.counts for entry in entries] == [True, True, False, False, True]
    steps = [(entry.number, float(spending.epsilon)) for entry, spending in spending_after_each(entries)]
    assert steps == [(1, 1.0), (2, 2.0), (4, 3.0)]
