"""What a notebook shows of each object: without a network, escaped, and one line where there is no HTML."""

import re

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter

import equinoise
from tests.helpers.mechanism_of_every_kind import HOSTILE_NAME, mechanism

NAMES_OF_FORMATS = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
"""They say what SVG is; nobody loads them."""

PUBLIC = {"unit": "who", "columns": {
    HOSTILE_NAME: {"bounds": [0, 30], "step": 1, "bins": 10, "missing": "drop", "peeked": ["step"]},
    "ward": {"categories": ["<b>", *map(str, range(20))], "outside": "drop"},
}}  # fmt: skip


def addresses(text):
    """Everything that something could be loaded from."""
    found = re.findall(r"(?:https?:)?//[\w.-]+[^\s\"'<>)]*|\w+\.js\b|@import\b|<script\b", text)
    return set(found) - NAMES_OF_FORMATS


@pytest.fixture(scope="module")
def views(tmp_path_factory):
    """What Jupyter would show of every object, by its name: texts by their type."""
    made, folder = mechanism("per-instance"), tmp_path_factory.mktemp("book")
    people = np.random.default_rng(5).normal(50, 12, 60).clip(0, 100)
    release = equinoise.synthesize(people, column=HOSTILE_NAME, bounds=(0, 100), bins=20, epsilon=1, rows=20)
    objects = {
        "mechanism": made,
        "private table": release.mechanism,
        "release": release,
        "answers": release.mean(HOSTILE_NAME),
        "schema": equinoise.Schema.of(PUBLIC),
        "book": equinoise.Book.create(folder / "a.book", epsilon=1),
        "plan": equinoise.plan({"columns": {"a": {"bounds": [0, 9], "step": 1}}}, people=99, epsilon=1, rows=5),
        "comparison": equinoise.compare(
            people, column=HOSTILE_NAME, epsilons=[1, 2], bounds=(0, 100), bins=11, restarts=1, time_limit=1
        ),
        "figure": made.plot_noise(),
        "map": mechanism("two").plot_distribution(),
    }
    show = DisplayFormatter()
    return {name: show.format(thing)[0] for name, thing in objects.items()}


def test_nothing_is_loaded_from_elsewhere(views):
    for name, bundle in views.items():
        assert addresses("".join(bundle.values())) == set(), name
        assert ("image/svg+xml" if name in {"figure", "map"} else "text/html") in bundle
    assert addresses('<script src="//cdn.example.org/vega.js">') != set()
    import altair

    assert addresses(str(DisplayFormatter().format(altair.Chart().mark_point())[0])) != set()  # which is why


def test_names_are_escaped_and_what_is_short_is_one_line(views):
    for name, bundle in views.items():
        assert "<img" not in bundle.get("text/html", ""), name
        assert "<b>" not in bundle.get("text/html", ""), name
        if name not in {"schema", "release", "answers"}:  # which are lines themselves
            assert re.fullmatch(r"<.*>", bundle["text/plain"]), name


def test_a_figure_has_its_chart_and_can_be_saved(tmp_path):
    figure = mechanism("per-instance").plot_losses()
    assert figure.chart.to_dict()["description"] == figure.alt
    figure.save(tmp_path / "losses.svg")
    assert (tmp_path / "losses.svg").read_text() == figure._repr_svg_()
    assert (tmp_path / "losses.svg").stat().st_mode & 0o777 == 0o600


def test_a_schema_is_a_table_of_its_columns():
    page = equinoise.Schema.of(PUBLIC)._repr_html_()
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)][1:]
    assert [row[1:] for row in rows] == [
        ["numbers", "0 to 30", "1", "10", "drop", ""],
        ["categories", "&lt;b&gt;, 0, 1, 2, 3, 4, 5, 6, 7, 8, 21 in all", "", "", "", "drop"],
    ]
    assert "All rows with the same &#x27;who&#x27; are one person&#x27;s." in page
    assert ".step." in page  # and that it is not public
    blank = equinoise.Schema.of({"columns": {"a": {"bounds": []}}})._repr_html_()
    assert "<td>blank</td>" in blank


def test_a_comparison_is_a_table_of_all_its_rows(views):
    page = views["comparison"]["text/html"]
    assert page.count("<td>pay-once</td>") == 2
    assert len(set(map(len, (re.findall(r"<t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page))))) == 1
    assert "as secret as the data" in page
    assert views["comparison"]["text/plain"].endswith("at epsilon 1 and 2>")
