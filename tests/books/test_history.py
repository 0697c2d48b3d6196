"""The events of a book one by one: each follows from the one before by its number and by its link."""

import pytest

from equinoise import BadInput
from equinoise.mechanisms.book_events import Charge, History, Made, next_link

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


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_number_that_does_not_follow_is_refused_whatever_its_link(history, number):
    with pytest.raises(BadInput, match="does not follow"):
        history.add(number, MADE, next_link(history.link, MADE))


@pytest.mark.parametrize("before", ["", "begin", "0" * 64])
def test_a_link_that_does_not_follow_is_refused(history, before):
    with pytest.raises(BadInput, match="does not follow"):
        history.add(2, MADE, next_link(before, MADE))
