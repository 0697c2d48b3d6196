"""The book: nothing beyond its limit, nothing lost, nothing changed unnoticed; on a file and on a PostgreSQL server."""

import json
import math
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equinoise import BadInput, BudgetSpent
from equinoise.mechanisms import book_store
from equinoise.mechanisms.book import Book, Open
from equinoise.mechanisms.book_events import History, charge_of
from equinoise.privacy import book_cost
from equinoise.privacy.book_cost import ORDERS, Cost, Spending

KILLS, SECONDS = (200, 0.6) if os.environ.get("EQUINOISE_TEST_SERVER") else (60, 0.2)


def charge(epsilon, delta=0.0, kind="differential-privacy", rho=None):
    cost = Cost.pure(epsilon) if delta == 0 else Cost(epsilon, delta, rho)
    return charge_of(kind, "pay-once", ["age", "ward"], cost, purpose="a study")


def make(book, *args, **more):
    with book.charging(charge(*args, **more)) as entry:
        entry.made("0" * 64)
    return entry.number


def test_charges_add_up_to_the_limit_and_not_beyond(place):
    book = Book.create(place, epsilon=1)
    assert [make(book, 0.1) for _ in range(9)] == list(range(1, 10))
    with pytest.raises(BudgetSpent, match=r"allows epsilon 1 in all; epsilon 0\.1 is left, and 0\.2 was asked for"):
        make(book, 0.2)
    make(book, 0.1)  # ten times 0.1 is 1
    with pytest.raises(BudgetSpent, match="nothing is left"):
        make(book, 1e-6)
    again = Book.open(place)
    assert [entry.state for entry in again.entries] == ["finished"] * 10
    assert (again.left(), again.totals()[0].epsilon, again.check()) == (0, 1, 30)


def test_a_refusal_for_its_delta_says_so(place):
    book = Book.create(place, epsilon=3, delta=1e-5)
    make(book, 0.5, 2e-6)
    with pytest.raises(BudgetSpent, match=r"half of the book's, 5e-06, and would be 6e-06\. Nothing was made"):
        make(book, 0.5, 4e-6)
    with pytest.raises(BudgetSpent, match=r"2\.5 is left, and 2\.6 with delta 1e-06 was asked for\. Nothing was made"):
        make(book, 2.6, 1e-6)


def test_what_cannot_be_listed_or_named_is_refused_in_words(place, tmp_path):
    with pytest.raises(BadInput, match="cannot be listed"):
        charge(float("inf"), kind="per-instance")
    assert make(Book.create(place, epsilon=1, delta=5e-324), 0.5) == 1  # half of this delta is none
    with pytest.raises(BadInput, match="There is no book"):
        Book.open(tmp_path / ("x" * 300))
    with pytest.raises(BadInput, match="cannot be written"):
        Book.create(tmp_path / ("x" * 300), epsilon=1)


def test_what_is_charged_stands_before_anything_is_made_and_is_given_back_if_making_fails(place):
    book = Book.create(place, epsilon=1)
    with book.charging(charge(0.7)) as entry:
        assert [one.state for one in Book.open(place).entries] == ["charged"]
        with pytest.raises(BudgetSpent):
            make(Book.open(place), 0.7)
        entry.made("1" * 64)
    with pytest.raises(ZeroDivisionError), book.charging(charge(0.3)):
        raise ZeroDivisionError
    assert [one.state for one in book.entries] == ["finished", "given back"]
    assert book.entries[1].note == "making it failed: ZeroDivisionError"
    assert make(book, 0.3) == 3


def test_why_it_was_stopped_is_told_where_the_charge_cannot_be_given_back(place):
    book = Book.create(place, epsilon=1)

    def record_and_stop():
        with book.charging(charge(0.3)) as entry:
            Open(Book.open(place), entry.number).made("1" * 64)  # recorded, and stopped before that was known
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record_and_stop()
    assert [one.state for one in book.entries] == ["made"]


def test_what_was_made_is_not_given_back_and_what_was_given_back_is_not_made(place):
    book = Book.create(place, epsilon=1)
    make(book, 0.5)
    with pytest.raises(BadInput, match="Entry 1 of the book was made: what it cost cannot be given back"):
        book.give_back(1, "I want it")
    with pytest.raises(BadInput, match=r"The book has no entry 7\. It has 1"):
        book.give_back(7, "I want it")
    with pytest.raises(BadInput, match="The book has no entry 0"):
        book.give_back(0, "I want it")
    with book.charging(charge(0.5)) as entry:
        Book.open(place).give_back(2, "it hangs")
        with pytest.raises(BadInput, match="Entry 2 of the book was given back"):
            entry.made("1" * 64)
    assert make(book, 0.5) == 3


def test_what_is_made_is_out_even_if_that_cannot_be_recorded(place, take_away):
    book = Book.create(place, epsilon=1)
    with book.charging(charge(0.5)) as entry:
        entry.made("1" * 64)
        bring_back = take_away(place)
    bring_back()
    assert [one.state for one in book.entries] == ["made"]
    assert (book.left(), book.check()) == (0.5, 2)
    with pytest.raises(BadInput, match="was made: what it cost cannot be given back"):
        book.give_back(1, "there is no file")


def test_a_charge_reads_what_is_new_and_costs_the_same_in_a_long_book(place, monkeypatch):
    book, work = Book.create(place, epsilon=100, delta=1e-5), []
    make(book, 0.01)
    other = Book.open(place)
    sum_decimal, add_event = book_cost.as_written, History.add
    monkeypatch.setattr(book_cost, "as_written", lambda value: work.append("sum") or sum_decimal(value))
    monkeypatch.setattr(History, "add", lambda *told: work.append("event") or add_event(*told))

    def work_of_one():
        work.clear()
        make(book, 0.01)
        return work.count("sum"), work.count("event")

    first = work_of_one()
    for _ in range(8):
        make(book, 0.01)
    assert work_of_one() == first
    work.clear()
    assert other.left() == book.left()
    assert work.count("event") == 3 * 10 + 1  # all that it had not read, and the last of this one's own


def test_of_those_who_create_a_book_at_once_one_does(place):
    def create(_):
        try:
            return Book.create(place, epsilon=1).identity
        except BadInput as error:
            return str(error)

    with ThreadPoolExecutor(6) as pool:
        ends = list(pool.map(create, range(6)))
    assert ends.count(Book.open(place).identity) == 1
    assert sum("exists. Name another" in end or "There is a book in" in end for end in ends) == 5, ends


@contextmanager
def nobody():
    """Be a user who may write nothing, where one is root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_book_that_may_only_be_read_is_read():
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.book"
        make(Book.create(path, epsilon=1), 0.5)
        path.chmod(0o444)
        path.parent.chmod(0o555)
        with nobody():
            book = Book.open(path)
            assert (book.left(), book.check(), len(book.entries)) == (0.5, 3, 1)
            with pytest.raises(BadInput, match="cannot be written"):
                make(book, 0.1)
        path.chmod(0)
        with nobody(), pytest.raises(BadInput, match="cannot be read: Permission denied"):
            Book.open(path)
        path.parent.chmod(0o700)


def test_per_instance_entries_are_in_no_total(place):
    book = Book.create(place, epsilon=1)
    make(book, 50.0, kind="per-instance")
    assert book.left() == 1
    assert book.entries[0].to_json()["kind"] == "per-instance"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE equinoise_event SET text = replace(text, '0.5', '0.1') WHERE number = 1", "event 1 does not follow"),
        ("DELETE FROM equinoise_event WHERE number = 1", "event 1 does not follow"),
        ("DELETE FROM equinoise_event WHERE number = 6", "does not end with the event that it should"),
        ("UPDATE equinoise_event SET link = 'a' WHERE number = 2", "event 2 does not follow"),
        ("UPDATE equinoise_book SET text = replace(text, ':1.0', ':9.0')", "event 1 does not follow"),
        ("UPDATE equinoise_book SET text = 'x'", "first line cannot be read"),
        ('UPDATE equinoise_book SET text = \'{"format":1,"epsilon":1,"delta":0}\'', "first line cannot be read"),
        ("DELETE FROM equinoise_book", "first line cannot be read"),
        ("UPDATE equinoise_book SET events = 3", "does not end with the event that it should"),
        ("INSERT INTO equinoise_event VALUES (7, '{}', 'x')", "event 7 does not follow"),
    ],
)
def test_an_edited_book_is_refused_and_nothing_is_charged_to_it(place, change_table, statement, said):
    book = Book.create(place, epsilon=1)
    make(book, 0.5)
    make(book, 0.3)
    change_table(place, statement)
    with pytest.raises(BadInput, match=f"edited or damaged: .*{said}"):
        Book.open(place)
    with pytest.raises(BadInput, match="edited or damaged"):
        book.check()


def test_another_book_in_its_place_is_noticed(place, change_table):
    book = Book.create(place, epsilon=1)
    for table in ("equinoise_book", "equinoise_event"):
        change_table(place, f"DROP TABLE {table}")
    if "://" not in place:
        os.unlink(place)
    with pytest.raises(BadInput, match="There is no book"):
        make(book, 0.1)
    Book.create(place, epsilon=1)
    with pytest.raises(BadInput, match="was replaced by another one"):
        make(book, 0.1)
    with pytest.raises(BadInput, match=r"is a book in|exists\. Name another"):
        Book.create(place, epsilon=1)


@pytest.mark.parametrize("fields", [{"epsilon": 0}, {"epsilon": "1"}, {"epsilon": 1, "delta": 1.0}], ids=str)
def test_limits_that_are_none(place, fields):
    with pytest.raises(BadInput, match="parameter must be"):
        Book.create(place, **fields)


def run_helper(*arguments):
    command = [sys.executable, "-m", "tests.helpers.kill_while_charging", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout)


def test_twelve_that_race_for_the_last_epsilon_get_it_once(place):
    book = Book.create(place, epsilon=2)
    make(book, 1.0)
    ends = run_helper(place, "race", 12, 1.0)
    assert sorted(ends) == [0] + [1] * 11
    assert book.totals()[0].epsilon == 2


def test_kills_let_nothing_out_that_was_not_charged(place):
    Book.create(place, epsilon=1000)  # more than anyone can charge in that time
    found = run_helper(place, "kill", 7, KILLS, SECONDS)
    assert found["killed"] == KILLS
    assert 0 < found["out"] <= found["made"] <= found["out"] + KILLS
    assert found["total"] <= found["limit"]
    assert found["total"] == float(Fraction(found["made"] + found["charged"], 100))


def test_a_file_is_its_owner_s_alone_and_its_charges_are_on_the_disk(tmp_path):
    path = tmp_path / "b.book"
    Book.create(path, epsilon=1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    store = book_store.BookStore(path)
    with store.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"


@pytest.mark.parametrize("name", ["patients 100%.book", "a%20b.book", "who?when#1&x=2.book", "bad\udcff.book"])
def test_a_file_may_have_any_name_and_no_other_file_appears(tmp_path, name):
    book = Book.create(tmp_path / name, epsilon=1)
    make(book, 0.5)
    assert Book.open(tmp_path / name).left() == 0.5
    assert os.listdir(tmp_path) == [name]


def test_a_book_that_others_hold_is_said_to_be_in_use(tmp_path, monkeypatch):
    monkeypatch.setattr(book_store, "SECONDS", 0.01)
    book = Book.create(tmp_path / "a.book", epsilon=1)
    with closing(sqlite3.connect(tmp_path / "a.book", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for use in (book.left, book.check, lambda: make(book, 0.1), lambda: Book.open(tmp_path / "a.book")):
            with pytest.raises(BadInput, match="is in use by others"):
                use()
    assert make(book, 0.1) == 1


def test_a_second_name_is_refused_and_a_link_is_the_book(tmp_path):
    first = Book.create(tmp_path / "a.book", epsilon=1)
    (tmp_path / "b.book").symlink_to("a.book")
    make(Book.open(tmp_path / "b.book"), 0.4)
    assert first.left() == 0.6
    os.link(tmp_path / "a.book", tmp_path / "c.book")
    for name in ("a.book", "b.book", "c.book"):
        with pytest.raises(BadInput, match="has a second name"):
            Book.open(tmp_path / name)
    with pytest.raises(BadInput, match="has a second name"):
        make(first, 0.1)


@pytest.mark.parametrize(
    "place",
    ["postgresql://u:secret@h/x", "postgresql://u:sec@ret@h/x", "POSTGRES://u:secret@h/x",
     "postgresql://u@h/x?PassWord=secret&sslmode=require"],
)  # fmt: skip
def test_no_password_is_told(place):
    name = book_store.BookStore(place).name
    assert not any(part in name for part in ("secret", "sec@", "ret@"))
    assert "..." in name


costs_st = st.lists(st.builds(Cost.pure, st.floats(1e-3, 2)), min_size=1, max_size=6)


def plain_totals(costs, delta):
    """What mechanisms cost together by the formulas, one cost and one order after the other."""
    found = {}
    if 2 * sum(Decimal(repr(cost.delta)) for cost in costs) <= Decimal(repr(delta)):
        found["adding up"] = float(sum(Decimal(repr(cost.epsilon)) for cost in costs))
    if delta and costs and all(cost.rho is not None for cost in costs):
        rho, log = float(sum(Fraction(cost.rho) for cost in costs)), math.log
        found["zCDP"] = min(
            a * rho + (log(2 / delta) + (a - 1) * math.log1p(-1 / a) - log(a)) / (a - 1) for a in ORDERS[::20].tolist()
        )
    return found


any_cost_st = st.one_of(
    st.builds(Cost.pure, st.floats(1e-6, 2)),
    st.builds(Cost, st.floats(1e-6, 2), st.sampled_from([1e-7, 3e-6]), st.none() | st.floats(0, 1)),
)


@settings(max_examples=30)
@given(st.lists(st.tuples(any_cost_st, st.booleans()), max_size=12), st.sampled_from([0.0, 1e-5]))
def test_running_sums_are_those_of_what_is_left_and_totals_those_of_the_formulas(steps, delta):
    """Also after charges were given back, and never below."""
    running, costs = Spending(), []
    for cost, given_back in steps:
        running = running.plus(cost)
        if given_back:
            running = running.minus(cost)
        else:
            costs.append(cost)
    assert running == Spending.of(costs[::-1])
    plain, found = plain_totals(costs, delta), {total.how: total.epsilon for total in running.totals(delta)}
    assert set(found) == set(plain)
    for way, epsilon in found.items():
        slack = 1e-4 if way == "zCDP" else 1e-12  # every twentieth order is looked at
        assert plain[way] * (1 - slack) - 1e-12 <= epsilon <= plain[way] * (1 + 1e-8) + 1e-8


@given(costs_st, st.sampled_from([0.0, 1e-9, 1e-5]))
def test_totals_are_never_below_what_is_known(costs, delta):
    found = {total.how: total.epsilon for total in Spending.of(costs).totals(delta)}
    exact = sum(Fraction(repr(cost.epsilon)) for cost in costs)
    assert Fraction(repr(found["adding up"])) >= exact
    assert found["adding up"] <= float(exact) * (1 + 1e-12)
    assert ("zCDP" in found) == (delta > 0)


def test_zcdp_is_an_upper_bound_of_many_laplace_releases():
    """Held against dp-accounting's own composition of 400 releases of epsilon 0.05."""
    from dp_accounting.pld import privacy_loss_distribution

    delta = 1e-6
    theirs = privacy_loss_distribution.from_laplace_mechanism(1 / 0.05, value_discretization_interval=1e-4)
    exact = theirs.self_compose(400).get_epsilon_for_delta(delta / 2)
    ours = {total.how: total.epsilon for total in Spending.of([Cost.pure(0.05)] * 400).totals(delta)}
    assert exact <= ours["zCDP"] < 20 == ours["adding up"]


@given(costs_st, st.floats(0.5, 4), st.sampled_from([0.0, 1e-6]))
def test_what_is_left_fits_and_hardly_more_does(costs, limit, delta):
    left = Spending.of(costs).epsilon_left(limit, delta)
    if left > 1e-9:
        assert Spending.of([*costs, Cost.pure(left)]).within(limit, delta)
    assert not Spending.of([*costs, Cost.pure(left + 1e-6 * limit)]).within(limit, delta) or left == limit
