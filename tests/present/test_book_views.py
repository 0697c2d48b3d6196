"""What is seen of a book: in letters, as a figure, in a notebook; held against sums made here."""

from fractions import Fraction
from math import log

import pytest

import equinoise
from equinoise.mechanisms.book_events import charge_of
from equinoise.present.figures.spending import MOST_POINTS, spending_figure
from equinoise.present.terminal.bars import LABEL
from equinoise.present.terminal.book_output import MOST_LINES, spending_picture
from equinoise.privacy.book_cost import Cost

HOSTILE = "<script>alert(1)</script>\n\u202e"


@pytest.fixture
def book(tmp_path):
    """Entries of epsilon 0.1, 0.2 and so on, of which the second was given back, and one of the game."""
    made = equinoise.Book.create(tmp_path / "a.book", epsilon=1, delta=1e-5)
    for tenths in (1, 2, 3, 5):
        made._charge(charge_of("differential-privacy", "pay-once", ["age"], Cost.pure(tenths / 10), purpose=HOSTILE))
        if tenths == 2:
            made.give_back(2, "it was killed")
    made._charge(charge_of("per-instance", "best-response", ["age"], Cost(9.0)))
    return made


def test_the_picture_in_letters_adds_up_and_knows_its_limit(book):
    head, *lines = spending_picture(book.entries, book.limit, plain=True).plain.splitlines()
    assert head.split() == ["of", "epsilon", "1", "adding", "up", "zCDP"]
    assert [line[:LABEL].split()[0] for line in lines] == ["1", "3", "4"]
    bars = [line[LABEL:].split() for line in lines]
    assert [(one[0].count("#"), one[1]) for one in bars] == [(2, "0.1"), (8, "0.4"), (17, "0.9")]
    orders = [1 + 10 ** (power / 500) for power in range(-2000, 2000)]
    zcdp = min(a * 0.005 + (log(2e5) + (a - 1) * log(1 - 1 / a) - log(a)) / (a - 1) for a in orders)
    assert float(bars[0][-1]) == pytest.approx(zcdp, rel=5e-3)
    assert [one[-1] for one in bars[1:]] == [">", ">"]  # beyond the limit
    assert "\n\u202e" not in "".join(lines)


def test_many_entries_go_together_on_few_lines(book):
    many = [entry for entry in book.entries if entry.number == 1] * 100
    lines = spending_picture(many, book.limit).plain.splitlines()
    assert len(lines) <= MOST_LINES + 1
    assert "10" in lines[-1].split()
    assert spending_picture((), book.limit).plain.count("\n") == 1


def test_the_figure_has_the_sums_and_nothing_of_data(book, monkeypatch):
    figure = spending_figure(book)
    assert [row[2] for row in figure.rows] == ["0.1", "0.4", "0.9"]
    assert (figure.header, figure.public) == (("mechanisms", "when", "adding up", "zCDP"), True)
    spec = figure.chart.to_dict()  # which checks it
    (drawn,) = {str(layer["data"]["values"]): layer["data"]["values"] for layer in spec["layer"][:2]}.values()
    for number, tenths in ((1, 1), (2, 4), (3, 9)):
        found = {point["way"]: point["epsilon"] for point in drawn if point["mechanisms"] == number}
        assert found["adding up"] == float(Fraction(tenths, 10))
        assert found["zCDP"] > 0
    assert "alert" not in str(spec)
    monkeypatch.setattr("equinoise.present.figures.spending.MOST_POINTS", 2)
    assert [row[0] for row in spending_figure(book).rows] == [2, 3]
    assert MOST_POINTS > 100


def test_a_notebook_shows_a_book(book):
    page = book._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "90 % spent. Epsilon 0.1 is left" in page
    assert repr(book).endswith("a.book' with epsilon 1 and delta 1e-05>")
    assert book.plot_spending().chart.to_dict()["description"].startswith("What all mechanisms in a book cost together")
