"""Pages and pictures: every link leads somewhere in the plain repository, and the site's parts do what they say."""

from __future__ import annotations

import ast
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import equinoise
from benchmarks import pictures
from benchmarks.heights import players
from docs_build import check
from docs_build.assemble import CODE, ROOT, site_files, turned
from docs_build.notebook import page_of
from docs_build.reference import COMMANDS, PYTHON, command_line, filled, python_names
from equinoise.analysis.audit import audit
from equinoise.cli.main import all_commands
from equinoise.formatting import at_most, percent, three_digits
from equinoise.present.figures import make_figure
from equinoise.present.statistics_rows import statistics_rows
from equinoise.present.terminal.bars import lines_of
from tests.helpers.private_tables import envelope

PAGES = [name for name in site_files() if name.endswith(".md")]
PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.svg"))


def anchors(path: Path) -> set[str]:
    """Of headings, as forges and MkDocs make them: lower case, no punctuation, dashes for blanks."""
    text = re.sub(r"(?ms)^```.*?^```", "", path.read_text())
    titles = re.findall(r"(?m)^#{1,6} (.+?)\s*$", text)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\- ]", "", title.lower())) for title in titles}


def broken_links(name: str) -> list[str]:
    text = "".join(CODE.split((ROOT / name).read_text())[::2])
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        if not target.is_file() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere_in_the_plain_repository(name):
    assert broken_links(name) == []


def test_a_link_to_nothing_would_be_found(tmp_path, monkeypatch):
    (tmp_path / "page.md").write_text("# A title\n[a](gone.md) [b](page.md#a-title) [c](#nowhere) `[d](x.md)`\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert broken_links("page.md") == ["gone.md", "#nowhere"]


def test_pages_that_matter_are_in_the_site_and_in_its_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    for place in site_files().values():
        if place.endswith(".md"):
            assert f" {place}\n" in navigation, f"{place} is in no menu"


def test_links_are_turned_to_where_the_site_has_things_and_code_is_left_alone():
    places = site_files()
    text = "[a](../benchmarks/attack.md#x) [b](guide.md) [c](http://a.b/c.md) `[d](../README.md)` [e](gone.md)"
    there = "[a](repository/benchmarks/attack.md#x) [b](guide.md) [c](http://a.b/c.md) `[d](../README.md)` [e](gone.md)"
    assert turned(text, "docs/promises.md", places) == there
    assert turned("[a](docs/guide.md) ![p](docs/pictures/distribution.svg)", "README.md", places) == (
        "[a](../guide.md) ![p](../pictures/distribution.svg)"
    )
    assert turned("[a](../promises.md)", "docs/reference/python.md", places) == "[a](../promises.md)"


def test_a_notebook_becomes_a_page_with_its_pictures_beside_it():
    code = {"cell_type": "code", "source": ["a\n", "b"], "outputs": [
        {"output_type": "stream", "text": ["said\n"]},
        {"data": {"image/svg+xml": ["<svg>1</svg>"], "text/plain": "Chart"}},
        {"data": {"text/html": "<b>\n\nx</b>", "text/plain": "x"}},
        {"data": {"image/svg+xml": "<svg>2</svg>"}},
    ]}  # fmt: skip
    cells = [{"cell_type": "markdown", "source": ["# T"]}, code, {"cell_type": "raw", "source": "left out"}]
    page = page_of(json.dumps({"cells": cells}), "n")
    assert page.pictures == {"n-1.svg": "<svg>1</svg>", "n-2.svg": "<svg>2</svg>"}
    assert page.markdown == (
        "# T\n\n```python\na\nb\n```\n\n```text\nsaid\n```\n\n![What the code above draws](n-1.svg)\n\n"
        "<div>\n<b>\nx</b>\n</div>\n\n![What the code above draws](n-2.svg)\n"
    )


def test_the_reference_has_every_command_every_option_and_every_public_name():
    text = command_line()
    for name, command in all_commands().items():
        part = text.split(f"\n## equinoise {name}\n")[1].split("\n## ")[0]
        for option in (option for option in command.params if option.param_type_name == "option"):
            assert all(each in part for each in option.opts)
        assert "```\nequinoise" in part
        assert "\b" not in part
    assert "-h, --help" in text
    assert python_names().split("\n\n") == sorted(set(python_names().split("\n\n")), key=python_names().find)
    assert {line.removeprefix("::: equinoise.") for line in python_names().split("\n\n")} == set(equinoise.__all__)


def test_every_option_is_explained_on_a_page_besides_the_reference():
    text = "".join((ROOT / page).read_text() for page in PAGES if "reference/" not in page)
    for name, command in all_commands().items():
        assert f"equinoise {name}" in text
        for option in (option for option in command.params if option.param_type_name == "option"):
            longest = max(option.secondary_opts or option.opts, key=len)
            assert f"{longest}`" in text or f"{longest} " in text, f"{name} {longest}"


@pytest.mark.parametrize("name", PAGES)
def test_python_on_a_page_can_be_read(name):
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", (ROOT / name).read_text()):
        ast.parse(block)


def test_marks_are_filled_and_other_pages_stay():
    assert filled(f"# R\n\n{COMMANDS}\n") == f"# R\n\n{command_line()}\n"
    assert filled(f"{PYTHON}") == python_names()
    assert filled("nothing <!-- here -->") == "nothing <!-- here -->"
    for page, mark in (("python.md", PYTHON), ("command-line.md", COMMANDS)):
        assert mark in (ROOT / "docs" / "reference" / page).read_text()


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>', ["https://cdn.example/x.js"]),
        ("a.html", '<link rel="stylesheet" href="//fonts.example/css">', ["//fonts.example/css"]),
        ("a.html", '<link rel="preconnect" href="https://fonts.example">', ["https://fonts.example"]),
        ("a.html", '<img src="http://a.example/b.png">', ["http://a.example/b.png"]),
        ("a.html", "<style>@import url('https://a.example/b.css')</style>", ["https://a.example/b.css"]),
        ("a.html", '<p style="background:url(https://a.example/b)">', ["https://a.example/b"]),
        ("a.css", "src: url(https://a.example/f.woff2)", ["https://a.example/f.woff2"]),
        ("a.html", '<a href="https://a.example">out</a> <link rel="canonical" href="https://a.example">', []),
        ("a.html", '<script src="assets/x.js"></script><img src="data:image/png;base64,AA">', []),
        ("a.css", "src: url(fonts/f.woff2)", []),
    ],
)
def test_what_a_page_loads_from_elsewhere_is_found(name, text, found):
    assert check.loaded(name, text) == found


def test_a_site_that_lacks_something_is_refused(tmp_path):
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "python.html").write_text('<h2 id="equinoise.optimize">')
    (tmp_path / "reference" / "command-line.html").write_text('<h2 id="equinoise-optimize">')
    wrong = list(check.complaints(tmp_path))
    assert "guide.md has no page." in wrong
    assert "The reference lacks Mechanism." in wrong
    assert "The reference lacks sample." in wrong
    assert "The reference lacks optimize." not in wrong
    assert "reference/python.md has no page." not in wrong


@pytest.fixture(scope="module")
def mechanism():
    """The mechanism that the pictures of the docs show."""
    return pictures.mechanism()


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_pictures_are_small_and_need_nothing_else(path):
    text = path.read_text()
    assert len(text) < 150_000
    assert check.loaded(path.name, text) == []
    assert "<script" not in text
    assert ET.fromstring(text).find("{http://www.w3.org/2000/svg}title").text


@pytest.mark.parametrize("name", pictures.MAKERS)
def test_pictures_show_what_would_be_drawn_today(name, mechanism):
    drawn = ET.fromstring((ROOT / "docs" / "pictures" / f"{name}.svg").read_text())
    again = ET.fromstring(pictures.draw(name, mechanism))
    kept, now = (picture.find("{http://www.w3.org/2000/svg}desc").text for picture in (drawn, again))
    assert kept == now, "run: make pictures"
    colours = {element.get("fill") for element in again.iter()} | {element.get("stroke") for element in again.iter()}
    light = {colour for colour in colours if colour and colour.startswith("#")}
    style = again.find("{http://www.w3.org/2000/svg}style").text
    unchanged = {value for value in light if f'"{value}"' not in style}
    assert unchanged <= set(pictures.theme.COLOURS.values()), "a colour that dark ground would swallow"


def test_every_picture_is_made_by_the_command_and_shown_on_a_page():
    names = {path.stem for path in PICTURES} - {"mark"}
    assert names == set(pictures.MAKERS)
    shown = "".join((ROOT / page).read_text() for page in PAGES)
    assert all(f"pictures/{name}.svg" in shown for name in names)
    assert "docs/pictures/table.svg" in (ROOT / "README.md").read_text()
    assert "make pictures" in (ROOT / "README.md").read_text()


def test_numbers_told_on_the_page_about_the_game_are_those_of_the_pictures(mechanism):
    text = " ".join((ROOT / "docs" / "game.md").read_text().split())
    axis, alone = mechanism.grid.axis, int(mechanism.cells.min())
    low, width = axis.padded_low + alone * axis.width, axis.range
    assert f"between {low:.0f} and {low + axis.width:.0f} cm there is nobody else" in text
    assert (
        f"With a scale of {mechanism.scales[mechanism.scale_indices[mechanism.cells.argmin()]][0] * width:.1f} cm"
        in text
    )
    assert f"{mechanism.histogram.max()} people in the fullest" in text
    own, *others = mechanism.factors[0] / mechanism.factors[0].sum(axis=1, keepdims=True)
    many = mechanism.total_people
    hidden = (many * np.e - many + 1) / (many - 1) * (mechanism.people[1:] @ others)  # where W = upper S
    assert f"where the others hide {hidden[alone]:.2f}" in text
    assert f"with probability {own[alone]:.2f}, only just below the line" in text
    assert 1 < hidden[alone] / own[alone] < 1.01
    hiding = (mechanism.scale_indices == mechanism.scale_indices.max()) & (mechanism.cells < alone + 6)
    low, high = axis.padded_low + (mechanism.cells[hiding][[0, -1]] + [0, 1]) * axis.width
    assert mechanism.people[hiding].tolist() == [1, 1, 1, 5]
    assert f"eight people between {low:.0f} and {high:.0f} cm" in text
    share = mechanism.people[hiding] @ mechanism.factors[0][hiding] / (mechanism.people[1:] @ mechanism.factors[0][1:])
    assert share[alone - 11 : alone + 1] == pytest.approx(0.9, abs=0.04)
    assert int(mechanism.histogram[mechanism.cells[hiding][-1]]) == 85
    assert f"of {axis.midpoints()[mechanism.cells[hiding][-1]]:.0f} cm: in their own bin they are five of 85" in text
    assert f"all eight have a scale of {mechanism.scales[mechanism.scale_indices.max()][0] * width:.1f} cm" in text
    assert mechanism.loss_quantiles()["0.5"] <= 0.005


def test_runs_and_noise_told_on_the_page_about_the_game_are_those_of_the_pictures(mechanism):
    text = " ".join((ROOT / "docs" / "game.md").read_text().split())
    runs = {run: (kl, protected) for run, _, kl, protected in make_figure("convergence", mechanism).rows}
    ends = [kl for kl, protected in runs.values() if protected == "yes"]
    assert f"each round of {len(runs)} runs" in text
    assert (len(ends), len(runs) - len(ends)) == (16, 6)
    assert f"Sixteen runs end with everyone protected, between {min(ends):.4f} and {max(ends):.4f}; six" in text
    noise = make_figure("noise", mechanism).words
    assert float(re.search(r"([\d.]+) on average over all people", noise)[1]) == pytest.approx(0.5, abs=0.05)
    assert "comes out 0.5 cm from their own bin" in text


@pytest.fixture(scope="module")
def started():
    """The mechanism that the page on the game makes."""
    return equinoise.optimize(players(), column="height", bounds=(150, 240), step=1, epsilon=1, draws=10)


def test_numbers_told_on_the_games_page_are_what_the_commands_print(started):
    mechanism = started
    text = " ".join((ROOT / "docs" / "optimize.md").read_text().split())
    for method in (mechanism.metrics(), mechanism.smoothing(), mechanism.baseline()):
        for name in ("kl", "tv", "sd_loss", "wasserstein"):
            assert three_digits(method[name]) in text
    assert f"equilibrium after {mechanism.solver['rounds']} rounds" in text
    assert f"for all {mechanism.certificate().groups} groups" in text
    assert f"worst loss {at_most(mechanism.worst_loss)}, half" in text
    assert f"within {at_most(mechanism.loss_quantiles()['0.5'])}" in text
    for line in lines_of(mechanism.grid.axis, mechanism.original, mechanism.output):
        if line.label in text:
            assert f"{line.label} {'█' if line.original > 0.1 else ''}" in text
            assert f" {percent(line.original)} " in text
            assert f" {percent(line.released)} " in text


def test_what_rows_tell_on_the_games_page_is_what_the_command_prints(started):
    mechanism = started
    text = " ".join((ROOT / "docs" / "optimize.md").read_text().split())
    for row in statistics_rows(mechanism):
        assert f"{row.statistic} │ {row.data} │ {row.released} │" in text


def test_the_loss_end_to_end_told_on_the_games_page_is_what_the_audit_measures(started, tmp_path):
    started.save(tmp_path / "heights.eq")
    measured = audit(tmp_path / "heights.eq", players(), end_to_end=True).end_to_end
    text = " ".join((ROOT / "docs" / "optimize.md").read_text().split())
    assert f"the worst loss here is {measured.worst:.2f}, and {measured.above} people are above 1" in text


def test_the_table_of_bounds_is_what_comes_out():
    text = (ROOT / "docs" / "bounds.md").read_text()
    mechanism, strict = (
        verb(players(), column="height", bounds=(150, 240), epsilon=1) for verb in (equinoise.optimize, envelope)
    )
    row = next(line for line in text.splitlines() if line.startswith("| 150 to 240 |"))
    shifts = [f"{each.metrics()['wasserstein']:.2f} cm" for each in (mechanism, strict)]
    bins = int((mechanism.histogram > 0).sum())
    assert row == f"| 150 to 240 | {mechanism.grid.axis.width:.1f} cm | {bins} | {shifts[0]} | {shifts[1]} |"
