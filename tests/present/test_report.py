import base64
import dataclasses
import hashlib
import json
import math
import os
import re
import stat
import warnings
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest

import equinoise
from equinoise import BadInput, Mechanism, PromiseNotMet
from equinoise.data.grid import Axis, Grid
from equinoise.data.players import Players
from equinoise.formatting import three_digits
from equinoise.present.figures import FIGURES
from equinoise.present.figures.javascript import javascript
from equinoise.present.page import PRIVATE_BAND, PUBLIC_BAND
from equinoise.present.report import write_report
from equinoise.present.report.settings import command
from equinoise.privacy.promise import beliefs
from equinoise.solvers.procedure import Procedure
from tests.helpers.mechanism_of_every_kind import HOSTILE_NAME, MECHANISM_KINDS, PEOPLE, make_mechanism, mechanism
from tests.helpers.private_tables import envelope
from tests.present.test_figures import contrast

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


class Seen(HTMLParser):
    """The page as a browser takes it apart: its elements, its scripts, and its text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.scripts, self.words, self.inside = [], [], [], []
        self.feed(page)
        self.text = re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside.append(tag)
        if tag == "script":
            self.scripts.append((dict(attributes), ""))

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if self.inside[-1:] == ["script"]:
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self.inside[-1:] != ["style"]:
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@cache
def page_of(kind):
    """The private page of a kind; made once, as that takes seconds."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        write_report(mechanism(kind), path, now=NOW)
        return path.read_text()


def public(made, folder, name="public.html"):
    write_report(made, folder / name, public=True, force=True, now=NOW)
    return (folder / name).read_text()


def sections_of(kind):
    """What a page of each kind shows, in order: no picture of what holds for everyone by a theorem."""
    made = mechanism(kind)
    figures = ["distribution", *(["map"] if len(made.grid.axes) > 1 else [])]
    if made.differentially_private:
        rest = ["risk", *(["cost"] if made.draws != 1 else [])]
    else:
        rest = ["noise", "losses", *(["cost"] if made.draws != 1 else []), "epsilons", "convergence"]
    return ["promise", *figures, "statistics", *rest, "metrics", "in-full", "settings"]


@pytest.mark.parametrize("kind", MECHANISM_KINDS)
def test_a_page_says_what_is_promised_and_shows_all_of_it(kind):
    made, page = mechanism(kind), page_of(kind)
    seen = Seen(page)
    assert made.promise.in_one_line in seen.text
    assert str(made.promise) in seen.text
    assert seen.text.index(made.promise.in_one_line) < seen.text.index(str(made.promise))
    assert "The certificate holds: it was checked again on 2026-05-04 at 12:30 UTC." in seen.text
    assert PRIVATE_BAND in seen.text
    sections = [attributes["id"] for attributes in seen.all("section")]
    assert sections == sections_of(kind)
    figures = [attributes["aria-label"] for attributes in seen.all("div") if attributes.get("role") == "img"]
    assert len(figures) == len([name for name in sections if name in FIGURES])
    assert all(label.endswith(".") for label in figures)
    for words in ("KL divergence (nats)", "Settings and versions", "numba"):
        assert words in seen.text
    for method in (made.metrics(), made.smoothing(), made.baseline()):
        assert three_digits(method["kl"]) in seen.text
    private = kind == "differential-privacy"
    assert ("The people hardest to protect" in seen.text) == (not private)
    assert ("--end-to-end" in seen.text) == (not private)


def test_the_risk_is_that_of_the_promise_alone():
    e = math.exp(1.0)
    assert beliefs(1.0)[2] == pytest.approx((0.5, 1 / (1 + e), e / (1 + e)))
    assert beliefs(1e6)[1][1:] == pytest.approx((0, 1))
    for epsilon in (0.1, 1.0, 5.0):
        for before, least, most in beliefs(epsilon):
            for loss in (-epsilon, epsilon):  # Bayes' rule, where it is furthest
                odds = before / (1 - before) * math.exp(loss)
                assert least - 1e-12 <= odds / (1 + odds) <= most + 1e-12


def test_rows_that_were_drawn_are_shown_if_they_are_at_hand(tmp_path):
    frame = pl.DataFrame({"age": [30, 40, 50, None] * 20, "ward": ["<b>", "b", "b", "b"] * 20})
    public = {"columns": {"age": {"bounds": [0, 100], "step": 1}, "ward": {"categories": ["<b>", "b"]}}}
    release = equinoise.synthesize(frame, public, epsilon=1, rows=30)
    release.report(tmp_path / "page.html")
    seen = Seen((tmp_path / "page.html").read_text())
    assert "rows" in [attributes["id"] for attributes in seen.all("section")]
    first = " ".join(str(value) for value in release.rows.row(0))
    assert re.search(rf"age ward {re.escape(first)}", seen.text)
    release.report(tmp_path / "public.html", public=True)
    assert "risk" in [attributes["id"] for attributes in Seen((tmp_path / "public.html").read_text()).all("section")]


@pytest.mark.parametrize("kind", ["per-instance", "two"])
def test_a_page_holds_everything_once_and_reaches_for_nothing(kind):
    page = page_of(kind)
    assert page.count(javascript()) == 1
    seen = Seen(page)
    assert not any("src" in attributes for _, attributes in seen.elements)
    assert all(attributes["href"].startswith("#") for attributes in seen.all("a"))
    assert not {"link", "img", "iframe", "object", "form", "base"} & {tag for tag, _ in seen.elements}
    (policy,) = [a["content"] for a in seen.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "")
    run = [text for attributes, text in seen.scripts if "type" not in attributes]
    for script in run:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert len(run) == policy.count("sha256-") == 2
    own = page.replace(javascript(), "")
    assert not re.search(r"https?://(?!vega\.github\.io/schema)", own)


def test_a_hostile_name_stays_a_name():
    page = page_of("two")
    assert HOSTILE_NAME not in page.replace(javascript(), "")
    seen = Seen(page)
    assert "img" not in {tag for tag, _ in seen.elements}
    assert HOSTILE_NAME in seen.text
    data = [json.loads(text) for attributes, text in seen.scripts if attributes.get("type") == "application/json"]
    assert any(HOSTILE_NAME in json.dumps(one, ensure_ascii=False).replace('\\"', '"') for one in data)


def test_no_letter_of_a_name_hides_or_turns_what_follows(tmp_path):
    name = "pay\n\u202e(RUE)\x1b[31m"
    people = pl.DataFrame({name: PEOPLE, "who\u202e": np.arange(len(PEOPLE))})
    m = equinoise.optimize(people, column=name, epsilon=1, bounds=(0, 100), bins=15, restarts=1, unit="who\u202e")
    write_report(m, tmp_path / "private.html")
    write_report(m, tmp_path / "public.html", public=True)
    for page in ("private.html", "public.html"):
        seen = (tmp_path / page).read_text().replace(javascript(), "")
        assert not {"\u202e", "\x1b"} & set(seen)
        assert "--column $&#39;pay\\x0a\\U0000202e(RUE)\\x1b[31m&#39;" in seen


def test_a_page_can_be_read_without_seeing():
    seen = Seen(page_of("per-instance"))
    assert seen.all("html") == [{"lang": "en"}]
    assert len(seen.all("h1")) == 1
    assert all(attributes.get("scope") in {"col", "row"} for attributes in seen.all("th"))
    drawn = [name for name in sections_of("per-instance") if name in FIGURES]
    assert len(seen.all("details")) == len(drawn) + 2  # the numbers behind each figure, and what is folded
    ids = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {attributes["href"][1:] for attributes in seen.all("a")} <= set(ids)
    assert {attributes["aria-labelledby"] for attributes in seen.all("section")} <= set(ids)
    assert any(attributes.get("name") == "viewport" for attributes in seen.all("meta"))


def test_the_band_and_both_looks_are_in_the_style():
    page = page_of("per-instance")
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page
    for colour in re.findall(r"\.band\.\w+ \{ background: (#\w{6})", page):
        assert contrast(colour, "#ffffff") > 7


def settings_of(name):
    if name == "budget":
        return {"epsilon": 1, "delta": 1e-5, "draws": 4, "bounds": (0, 100), "bins": 15, "restarts": 1}
    if name == "adaptive":
        return {"epsilon": 1, "scales": "adaptive", "bounds": (0, 100), "bins": 15, "restarts": 1}
    return {"epsilon": 1, "bins": 15, "restarts": 1}  # bounds read off the data


@pytest.mark.parametrize("kind", [*MECHANISM_KINDS, "budget", "adaptive", "read-off"])
def test_a_public_page_is_the_same_for_all_data(tmp_path, kind):
    others = [np.delete(PEOPLE, np.argmax(PEOPLE)), np.random.default_rng(9).normal(45, 15, 300).clip(0, 99)]
    texts = []
    for number, people in enumerate([PEOPLE, *others]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", equinoise.NotPublicWarning)
            named = kind in MECHANISM_KINDS
            made = make_mechanism(kind, people) if named else equinoise.optimize(people, **settings_of(kind))
        made.save(tmp_path / f"{number}.eq")
        if number:
            made.sample(1)
        texts.append(public(made, tmp_path))
        if made.draws > 1:
            write_report(made, tmp_path / f"{number}.svg", figure="cost", public=True)
    assert texts[0] == texts[1] == texts[2]
    if made.draws > 1:
        assert len({(tmp_path / f"{number}.svg").read_text() for number in range(3)}) == 1
    seen = Seen(texts[0])
    assert PUBLIC_BAND in seen.text
    assert "What was left out" in seen.text
    assert str(made.promise.public()) in seen.text
    assert ("the bounds and the grid, which were read off" in seen.text) == (kind == "read-off")
    assert ("--bounds " in seen.text.replace("--bounds that", "")) == (kind != "read-off")


def test_people_with_several_rows_are_not_told_apart_in_public(tmp_path):
    grid = Grid((Axis.padded("value", 0, 10, bins=15),))
    settings = {"unit": "id", "public_bounds": True, "epsilon": 2.0}
    procedure = Procedure(2.0, restarts=1)
    several = Players.in_bags(grid, (((5, 1),), ((6, 1), (7, 2))), np.array([40, 30]))
    single = Players.in_bags(grid, (((5, 1),), ((6, 1),)), np.array([40, 30]))
    made, plain = (
        equinoise.PerInstance.from_solution(procedure.solve(players), settings=settings)
        for players in (several, single)
    )
    assert public(made, tmp_path) == public(plain, tmp_path)
    write_report(made, tmp_path / "private.html", now=NOW)
    seen = Seen((tmp_path / "private.html").read_text())
    assert "100 rows in all" not in seen.text
    assert f"{made.total_rows} rows in all" in seen.text


def test_where_the_bounds_were_read_off_the_data_nothing_more_is_measured(tmp_path):
    with pytest.warns(equinoise.NotPublicWarning):
        made = equinoise.optimize(PEOPLE, **settings_of("read-off"))
    write_report(made, tmp_path / "private.html", now=NOW)
    text = Seen((tmp_path / "private.html").read_text()).text
    assert ("read off the data, so without one person" in text, "--end-to-end" in text) == (True, False)


def test_private_pages_do_differ(tmp_path):
    write_report(make_mechanism("per-instance", PEOPLE[1:]), tmp_path / "other.html", now=NOW)
    assert (tmp_path / "other.html").read_text() != page_of("per-instance")


def test_a_public_page_with_nothing_to_draw_carries_no_library(tmp_path):
    page = public(mechanism("delta"), tmp_path)
    assert len(page) < 30_000
    assert "<script" not in page


def test_the_command_on_the_page_makes_the_same_mechanism(run, folder):
    run("optimize", "pay.csv", "--bounds", "pay", 0, 100, "--column", "pay", "--epsilon", 0.7, "--bins", 21,
        "--scales", "1,10,200", "--draws", 3, "--restarts", 2, "--seed", 5, "--out", "a.eq")  # fmt: skip
    first = Mechanism.open("a.eq")
    words = command(first).replace("DATA", "pay.csv").replace("FILE.eq", "b.eq").split()
    assert run(*words[1:])[0] == 0
    one, two = first.to_json(), Mechanism.open("b.eq").to_json()
    for each in (one, two):
        each["solver"].pop("seconds")
    assert one == two


@pytest.mark.parametrize("kind", ["per-instance", "differential-privacy"])
def test_settings_are_those_of_the_verb_and_its_command_makes_what_is_said(kind, tmp_path):
    game = kind == "per-instance"
    for page in (page_of(kind), public(mechanism(kind), tmp_path)):
        text = Seen(page).text
        assert ("this command makes the same mechanism again" in text) == game
        assert ("this command makes another release" in text) == (not game)
        assert ("which costs the same people the epsilon above again" in text) == (not game)
        for words in ("epsilon of the padding", "percentile of the padding", "family of noise"):
            assert (words in text) == game
        assert "method asked for" not in text


def test_what_the_command_cannot_say_is_said():
    made = envelope(PEOPLE, epsilon=2, bounds=(0, 100), bins=21, base=[1.0] * 21)
    assert "--base BASE" in command(made)
    both = equinoise.optimize(
        make_frame(), column=["a", "b"], epsilon=2, bounds={"a": (0, 100), "b": (0, 100)}, bins=11, restarts=1,
        scale_per_column=True,
    )  # fmt: skip
    assert "--scale-per-column" in command(both)


def make_frame():
    from tests.helpers.mechanism_of_every_kind import four_columns

    return four_columns(PEOPLE)


def test_the_command_line(run, folder):
    run("optimize", "pay.csv", "--column", "pay", "--bounds", "pay", 0, 100, "--epsilon", 1, "--bins", 15,
        "--draws", 2, "--restarts", 1, "--out", "pay.eq")  # fmt: skip
    status, out, err = run("report", "pay.eq", "--out", "report.html")
    assert (status, err) == (0, "")
    assert "only you can read it" in out
    assert stat.S_IMODE(os.stat("report.html").st_mode) == 0o600
    status, out, _ = run("report", "pay.eq", "--out", "public.html", "--public", "--json")
    shown = json.loads(out)
    assert shown["public"] is True
    assert shown["figures"] == ["cost"]
    assert "the number of people" in shown["left_out"][0]
    assert "300" not in shown["promise"]
    for name in ("losses.svg", "losses.PNG"):
        status, out, _ = run("report", "pay.eq", "--figure", "losses", "--out", name)
        assert status == 0
        assert stat.S_IMODE(os.stat(name).st_mode) == 0o600
    assert "as secret as the data" in (folder / "losses.svg").read_text()
    status, out, _ = run("report", "pay.eq", "--out", "public.html", "--public", "--force")
    assert "Left out" in out


def test_bad_input(run, folder):
    run("optimize", "pay.csv", "--column", "pay", "--bounds", "pay", 0, 100, "--epsilon", 1, "--bins", 15,
        "--restarts", 1, "--out", "pay.eq")  # fmt: skip
    (folder / "there.html").write_text("mine")
    before = sorted(os.listdir(folder))
    for words, status, said in (
        (["none.eq", "--out", "a.html"], 2, "none.eq"),
        (["pay.csv", "--out", "a.html"], 2, "not saved by Equinoise"),
        (["pay.eq", "--out", "a.pdf"], 2, "must end in .html"),
        (["pay.eq", "--out", "a.png"], 2, "--figure"),
        (["pay.eq", "--out", "a.png", "--figure", "pie"], 2, "no figure 'pie'"),
        (["pay.eq", "--out", "a.html", "--figure", "noise"], 2, ".png or .svg"),
        (["pay.eq", "--out", "a.png", "--figure", "noise", "--public"], 2, "cannot be public"),
        (["pay.eq", "--out", "there.html"], 2, "--force"),
        (["pay.eq", "--out", "nowhere/a.html"], 2, "no folder"),
        (["pay.eq"], 2, "--out"),
    ):
        found, out, err = run("report", *words)
        assert (found, out) == (status, "")
        assert said in err
        assert err.count("\n") == 1
    assert sorted(os.listdir(folder)) == before
    assert (folder / "there.html").read_text() == "mine"


def test_a_page_is_never_written_over_its_mechanism(tmp_path):
    made = dataclasses.replace(mechanism("delta"), ledger=None)
    made.save(tmp_path / "own.html")
    with pytest.raises(BadInput, match="being read"):
        write_report(made, tmp_path / "own.html", force=True)


def test_nothing_is_reported_of_a_mechanism_that_fails_its_audit(tmp_path):
    good = mechanism("per-instance")
    (weights,) = good.factors
    flat = np.zeros_like(weights)
    flat[:, :] = weights.sum(axis=1, keepdims=True) // weights.shape[1]
    flat[:, 0] += good.weight_total - flat.sum(axis=1)
    flat = dataclasses.replace(good, factors=(flat,), ledger=None)  # private, but not the noise that is named
    assert flat.certificate().holds
    for bad in (flat, dataclasses.replace(good, epsilon=0.001, ledger=None)):
        with pytest.raises(PromiseNotMet, match="audit"):
            write_report(bad, tmp_path / "bad.html")
    assert not list(tmp_path.iterdir())


def test_with_differential_privacy_there_is_no_convergence_to_draw(tmp_path):
    with pytest.raises(BadInput, match="No game is played"):
        write_report(mechanism("differential-privacy"), tmp_path / "a.png", figure="convergence")
