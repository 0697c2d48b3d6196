"""Copies and pickles: they are worth as much as what they were made from, and no copy lets out more than is allowed."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import equinoise
from equinoise.mechanisms.book_store import BookStore
from tests.helpers.private_tables import envelope, paid_once

PUBLIC = {"columns": {"pay": {"bounds": [0, 100], "step": 10}}}
PEOPLE = pd.DataFrame({"pay": np.random.default_rng(5).integers(0, 10, 80) * 10})
COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda value: pickle.loads(pickle.dumps(value))}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("kind", ["schema", "plan", "comparison", "promise"])
def test_values_are_copied_whole(kind, how, values):
    value = values[kind]
    again = COPIES[how](value)
    assert type(again) is type(value)
    said = str if kind == "promise" else lambda one: str((one.to_dict if kind == "schema" else one.to_json)())
    assert said(again) == said(value)
    assert repr(again) == repr(value)


@pytest.fixture(scope="module")
def values():
    return {
        "schema": equinoise.Schema.of(PUBLIC),
        "plan": equinoise.plan(PUBLIC, people=80, epsilon=1, rows=3),
        "comparison": equinoise.compare(PEOPLE, PUBLIC, epsilons=[1], restarts=1, time_limit=0.3),
        "promise": envelope(PEOPLE, PUBLIC, epsilon=1).promise,
    }


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("make", [
    lambda: envelope(PEOPLE, PUBLIC, epsilon=1, draws=10),
    lambda: equinoise.optimize(PEOPLE, PUBLIC, "pay", epsilon=1, draws=10, restarts=1),
], ids=["envelope", "game"])  # fmt: skip
def test_a_copy_of_a_mechanism_draws_from_the_same_ledger(make, how, tmp_path, monkeypatch):
    made = make()
    monkeypatch.chdir(tmp_path)
    if how == "pickle":
        with pytest.raises(equinoise.BadInput, match="Save it first"):
            pickle.dumps(made)
        made.save("made.eq")
        again = pickle.dumps(made)
        monkeypatch.chdir("/")  # the file is found from anywhere
        again = pickle.loads(again)
        monkeypatch.chdir(tmp_path)
    else:
        again = COPIES[how](made)
    assert isinstance(made.sample(6), pd.DataFrame)
    with pytest.raises(equinoise.BudgetSpent, match="only 4 of the 10"):
        again.sample(6)
    assert isinstance(again.sample(4), pd.DataFrame)
    with pytest.raises(equinoise.BudgetSpent):
        made.sample(1)


@pytest.mark.parametrize("how", COPIES)
def test_a_release_is_copied_with_its_rows_and_its_mechanism(how, tmp_path):
    made = paid_once(PEOPLE, PUBLIC, epsilon=1)
    release = equinoise.Release.of(made, made.sample(5))
    told = release.mean("pay").to_json()
    if how == "pickle":
        with pytest.raises(equinoise.BadInput, match="Save it first"):
            pickle.dumps(release)
        made.save(tmp_path / "made.eq")
        assert made.noisy.tobytes() in pickle.dumps(release)  # which may be published
        assert made.histogram.tobytes() not in pickle.dumps(release)
    again = COPIES[how](release)
    assert again.rows.equals(release.rows)
    assert again.mean("pay").to_json() == told
    again.mechanism.sample(2)
    assert made.ledger.spent == 7


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_of_a_book_is_the_same_account(how, tmp_path):
    book = equinoise.Book.create(tmp_path / "a.book", epsilon=1)
    again = COPIES[how](book)
    equinoise.synthesize(PEOPLE, PUBLIC, epsilon=0.75, rows=1, book=again)
    with pytest.raises(equinoise.BudgetSpent, match=r"epsilon 0\.25 is left"):
        equinoise.synthesize(PEOPLE, PUBLIC, epsilon=0.75, rows=1, book=book)
    if how == "pickle":
        kept = pickle.dumps(book)
        (tmp_path / "a.book").unlink()
        equinoise.Book.create(tmp_path / "a.book", epsilon=1)
        with pytest.raises(equinoise.BadInput, match="was replaced by another one since"):
            pickle.loads(kept)
        book._store = BookStore("postgresql://ann:secret@localhost/books")
        with pytest.raises(equinoise.BadInput, match="address of its database") as refusal:
            pickle.dumps(book)
        assert "secret" not in str(refusal.value)
