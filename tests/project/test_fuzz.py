"""The fuzz suites: a handful of cases of each, and what is planted is lost, with the command that repeats it."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

from equinoise import Mechanism, PerInstance
from equinoise.analysis.release import Release
from equinoise.explore.source import Opening
from fuzz import damage, kills
from fuzz.__main__ import SUITES, main, report
from fuzz.cases import Suite, try_cases
from fuzz.page import BEGIN, END, section, write_page
from tests.helpers.forged_files import forge

SUITE = {suite.name: suite for suite in SUITES}
FEW_KINDS = ("per-instance", "differential-privacy", "pay-once", "counts.json", "a.book")


def broken(*_, **__):
    raise ZeroDivisionError("planted")


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(damage, "KINDS", FEW_KINDS)
    monkeypatch.setattr(kills, "KILLS", 4)


@pytest.mark.parametrize(("name", "many"), [("tables", 20), ("damage", 20), ("kills", 1), ("requests", 20)])
def test_a_handful_of_cases_is_handled(name, many):
    result = try_cases(SUITE[name], 3, range(many))
    assert result.lost == {}, report(result)
    assert result.tried >= many


@pytest.mark.parametrize(
    ("name", "place", "what"),
    [("tables", Release, "of"), ("damage", Mechanism, "open"), ("requests", Opening, "to_json")],
)
def test_a_fault_inside_is_lost_and_named(name, place, what, monkeypatch):
    monkeypatch.setattr(place, what, broken)
    result = try_cases(SUITE[name], 3, range(20))
    number, why = next(iter(result.lost.items()))
    assert "ZeroDivisionError" in why
    said = report(result)
    assert said[1:3] == [f"LOST, again with: python -m fuzz {name} --seed 3 --case {number}", why]
    assert try_cases(SUITE[name], 3, [number]).lost.keys() == {number}


def test_a_certificate_that_holds_for_everything_is_lost(monkeypatch):
    """Then the checker says that the promise is not kept of what the package opens."""
    monkeypatch.setattr(damage, "KINDS", FEW_KINDS[:1])
    monkeypatch.setattr(damage, "damage", lambda order, kind, path: forge(path, epsilon=0.5, settings={"epsilon": 0.5}))
    assert try_cases(SUITE["damage"], 0, range(2)).lost == {}
    certify = PerInstance.certificate
    monkeypatch.setattr(PerInstance, "certificate", lambda self: replace(certify(self), holds=True))
    assert "does not keep its promise" in try_cases(SUITE["damage"], 0, [0]).lost[0]


def test_rows_that_were_not_charged_are_lost(monkeypatch):
    found = {"rows": 7, "spent": [6, 9], "killed": 4, "out": 3, "made": 2, "total": 1, "limit": 1, "states": {}}
    monkeypatch.setattr(kills, "program", lambda *_: {**found, "ends": {"-9": 4, "2": 1}})
    assert len(try_cases(SUITE["kills"], 0, range(4)).lost) == 4


def test_the_page_has_a_line_for_each_suite_and_says_what_is_lost(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    result = try_cases(Suite("none", "nothing", lambda folder: nullcontext(broken), 1), 0, range(3))
    write_page(page, [result])
    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith(f"{END}\nafter\n")
    assert "| `none`: nothing | 3 |  | **3** |" in section([result])


def test_a_case_needs_a_suite(capsys):
    with pytest.raises(SystemExit):
        main(["--case", "3"])
    assert "name that" in capsys.readouterr().err
