"""The schema: what is public about columns, every mistake by its sentence and line, and files that stay the same."""

import doctest
import math
import pickle
import re
import tomllib
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equinoise.data.schema
from equinoise.data.schema import Column, Schema
from equinoise.data.schema_checks import COLUMN_KEYS
from equinoise.data.toml_text import lines_of
from equinoise.errors import BadInput

PEOPLE = """\
unit = "patient"

[columns.age]
bounds = [18, 100]
step = 1
bins = 41

[columns.ward]
categories = ["elective", "emergency"]

[columns.weight]
bounds = [30.0, 200.0]
bins = 34
missing = "category"
outside = "clip"

[columns.admitted]
bounds = [2024-01-01, 2024-12-31]
"""


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens a text as the file people.toml."""
    monkeypatch.chdir(tmp_path)

    def open_text(text):
        (tmp_path / "people.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return Schema.open("people.toml")

    return open_text


def test_the_page_has_the_example_and_every_key():
    page = (Path(__file__).parents[2] / "docs" / "schema.md").read_text()
    assert f"```toml\n{PEOPLE}```" in page
    assert re.findall(r"(?m)^\| `(\w+)` \|", page) == list(COLUMN_KEYS)


def refusal(make, *args, **settings):
    with pytest.raises(BadInput) as caught:
        make(*args, **settings)
    return str(caught.value)


def test_a_file_says_what_is_public(opened):
    schema = opened(PEOPLE)
    assert schema.unit == "patient"
    assert schema.names == ("age", "ward", "weight", "admitted")
    age, ward, weight, admitted = schema.columns
    assert (age.bounds, age.step, age.bins, age.steps) == ((18, 100), 1, 41, 82)
    assert ward.categories == ("elective", "emergency")
    assert (weight.step, weight.missing, weight.outside, weight.steps) == (None, "category", "clip", None)
    assert (admitted.bounds, admitted.step, admitted.steps) == ((date(2024, 1, 1), date(2024, 12, 31)), 1, 365)
    assert [column.is_date for column in schema.columns] == [False, False, False, True]
    assert schema.peeked == ()
    schema.check_complete()
    assert schema.to_toml() == PEOPLE
    assert repr(schema) + "\n" == PEOPLE
    assert Schema.of(schema) is schema
    assert Schema.of("people.toml") == Schema.of(schema.to_dict()) == pickle.loads(pickle.dumps(schema)) == schema
    assert hash(Schema.of(schema.to_dict())) == hash(schema)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            {"bounds": (0, 1), "categories": ("a", "b")},
            "columns.x: has both bounds and categories. Keep bounds for numbers or dates, categories for anything "
            "else.",
        ),
        *(
            (
                {"bounds": bounds},
                f"columns.x.bounds: must be two finite numbers or two dates, the lower one first. Got {said} instead.",
            )
            for bounds, said in [
                ((1,), "[1]"),
                ((0, math.inf), "[0, inf]"),
                ((math.nan, 1), "[nan, 1]"),
                ((date(2024, 1, 1), 3), "[2024-01-01, 3]"),
                ((False, True), "[False, True]"),
                (5, "5"),
                ("ab", "'ab'"),
            ]
        ),
        (
            {"bounds": ("2024-01-01", "2024-12-31")},
            "columns.x.bounds: must be two finite numbers or two dates, the lower one first. Got ['2024-01-01', "
            "'2024-12-31'] instead. Dates and numbers have no quotes.",
        ),
        (
            {"bounds": (datetime(2024, 1, 1), datetime(2024, 1, 2))},
            "columns.x.bounds: must be dates without a time of day, such as 2024-01-31.",
        ),
        (
            {"bounds": (5, 5)},
            "columns.x.bounds: must be two different numbers, the lower one first. Got [5, 5] instead.",
        ),
        (
            {"bounds": (date(2024, 2, 1), date(2024, 1, 1))},
            "columns.x.bounds: must be two different dates, the lower one first. Got [2024-02-01, 2024-01-01] instead.",
        ),
        *(
            ({"bounds": (0, 1), "step": step}, f"columns.x.step: must be a positive number. Got {said} instead.")
            for step, said in [(0, "0"), (-0.5, "-0.5"), (math.inf, "inf"), ("1", "'1'"), (True, "True")]
        ),
        (
            {"bounds": (18, 100), "step": 3},
            "columns.x.bounds: must be a whole number of steps of 3 apart. The nearest upper bound that fits is 99.",
        ),
        (
            {"bounds": (0, 0.35), "step": 0.1},
            "columns.x.bounds: must be a whole number of steps of 0.1 apart. The nearest upper bound that fits is 0.4.",
        ),
        (
            {"bounds": (0, 1), "step": 5},
            "columns.x.bounds: must be a whole number of steps of 5 apart. The nearest upper bound that fits is 5.",
        ),
        (
            {"bounds": (date(2024, 1, 1), date(2024, 1, 31)), "step": 7},
            "columns.x.bounds: must be a whole number of steps of 7 apart. The nearest upper bound that fits is "
            "2024-01-29.",
        ),
        (
            {"bounds": (date(9999, 12, 1), date(9999, 12, 31)), "step": 16},
            "columns.x.bounds: must be a whole number of steps of 16 apart. Give another step.",
        ),
        (
            {"bounds": (date(2024, 1, 1), date(2024, 1, 31)), "step": 0.5},
            "columns.x.step: must be a whole number of days, at least 1. Got 0.5 instead.",
        ),
        *(
            (
                {"bounds": (0, 1), "bins": bins},
                f"columns.x.bins: must be a whole number from 2 to 10000. Got {bins} instead.",
            )
            for bins in (1, 10_001, 2.5, True)
        ),
        (
            {"bounds": (1, 5), "step": 1, "bins": 6},
            "columns.x.bins: must be at most 5, the number of values from bound to bound. Got 6 instead.",
        ),
        (
            {"bounds": (date(2024, 1, 1), date(2024, 1, 31)), "bins": 32},
            "columns.x.bins: must be at most 31, the number of values from bound to bound. Got 32 instead.",
        ),
        (
            {"categories": ("a", "b"), "step": 1},
            "columns.x.step: is for a column with bounds, and this one has categories. Leave it out.",
        ),
        ({"bins": 3}, "columns.x.bins: is for a column with bounds, and this one has none. Leave it out."),
        (
            {"categories": "ab"},
            "columns.x.categories: must be a list of text, whole numbers or booleans. Got 'ab' instead.",
        ),
        (
            {"categories": ("a", 1.5)},
            "columns.x.categories: must be a list of text, whole numbers or booleans. Got 1.5 among them.",
        ),
        (
            {"categories": ("a", 1)},
            "columns.x.categories: must all be of one kind. There are text and whole numbers.",
        ),
        (
            {"categories": (0, True)},
            "columns.x.categories: must all be of one kind. There are booleans and whole numbers.",
        ),
        (
            {"categories": (0, 2**63)},
            "columns.x.categories: must be whole numbers of at most 64 bits. Write longer ones as text.",
        ),
        (
            {"categories": ("a", "\ud800")},
            "columns.x.categories: must be Unicode text. One of them has half a letter.",
        ),
        (
            {"categories": ("a",)},
            "columns.x.categories: has 'a' alone, so there is nothing to release. Name another, or let missing values "
            "be one (missing = 'category').",
        ),
        ({"categories": ("a", "b", "a")}, "columns.x.categories: has 'a' twice. Keep one of them."),
        ({"categories": (3, 4, 3)}, "columns.x.categories: has 3 twice. Keep one of them."),
        ({"categories": ("\xe9", "e\u0301")}, "columns.x.categories: has 'e\u0301' twice. Keep one of them."),
        (
            {"categories": ("a", "b", " a")},
            "columns.x.categories: has 'a' and ' a', which differ in blanks alone. Keep one of them.",
        ),
        (
            {"categories": tuple(range(10_001))},
            "columns.x.categories: must be at most 10,000. There are 10,001. Put rare ones together.",
        ),
        (
            {"bounds": (0, 1), "missing": "keep"},
            "columns.x.missing: must be 'refuse', 'drop' or 'category'. Got 'keep' instead.",
        ),
        (
            {"bounds": (0, 1), "outside": "drop"},
            "columns.x.outside: must be 'refuse' or 'clip' for a column with bounds. Got 'drop' instead.",
        ),
        (
            {"categories": ("a", "b"), "outside": "clip"},
            "columns.x.outside: must be 'refuse' or 'drop' for a category. Got 'clip' instead.",
        ),
        (
            {"categories": ("a", " ")},
            "columns.x.categories: must not be empty text, which is a missing value: missing = 'category' gives it a "
            "place of its own.",
        ),
        ({"outside": ["clip"]}, "columns.x.outside: must be 'refuse', 'clip' or 'drop'. Got ['clip'] instead."),
        *(
            (
                {"bounds": (0, 1), "peeked": peeked},
                f"columns.x.peeked: must be a list of 'bounds', 'step' or 'categories', each once. Got {said} instead.",
            )
            for peeked, said in [(("bins",), "['bins']"), ("step", "'step'"), (("step", "step"), "['step', 'step']")]
        ),
    ],
    ids=str,
)
def test_a_mistake_is_refused_in_a_sentence_in_python_and_in_a_dict(keys, sentence):
    assert refusal(Column, name="x", **keys) == sentence
    assert refusal(Schema.of, {"columns": {"x": keys}}) == sentence


def test_numbers_that_no_float_holds_are_refused_however_long():
    for high in (10**400, 10**5000):
        told = refusal(Column, name="x", bounds=(0, high))
        assert told.startswith("columns.x.bounds: must be two finite numbers or two dates")
        assert len(told) < 200
    assert "Give another step." in refusal(Column, name="x", bounds=(0, 1.5e308), step=9.5e307)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({}, "columns: must have at least one column, each in a table such as [columns.age]."),
        ({"columns": []}, "columns: must have at least one column, each in a table such as [columns.age]."),
        (3, "The schema: must be a table with the keys 'unit' and 'columns'. Got 3 instead."),
        ({"columns": {"x": 3}}, "columns.x: must be a table of keys. Got 3 instead."),
        (
            {"columns": {"x": {"bound": 1}}},
            "columns.x.bound: unknown key 'bound'. Did you mean 'bounds'?",
        ),
        (
            {"columns": {"x": {"zzz": 1}}},
            "columns.x.zzz: unknown key 'zzz'. The keys here are 'bounds', 'bounds_epsilon', 'bounds_book', 'step', "
            "'bins', 'categories', 'missing', 'outside' and 'peeked'.",
        ),
        ({"column": 1, "columns": {"x": {}}}, "column: unknown key 'column'. Did you mean 'columns'?"),
        ({"unit": 3, "columns": {"x": {}}}, "unit: must be text, the name of a column. Got 3 instead."),
        ({"unit": "x", "columns": {"x": {}}}, "unit: must not also be a column. Remove 'x' from one of them."),
        ({"columns": {3: {}}}, "columns.3: must be text, the name of a column. Got 3 instead."),
        (
            {"columns": {"\ud800": {}}},
            'columns."\\uD800": must be Unicode text, the name of a column. It has half a letter.',
        ),
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_is_refused(document, sentence):
    assert refusal(Schema.of, document) == sentence


def test_what_is_made_in_python_is_checked_too():
    assert "at least one column" in refusal(Schema, ())
    assert "named twice" in refusal(Schema, (Column(name="a"), Column(name="a")))
    assert "unit: must not also be a column" in refusal(Schema, (Column(name="a"),), "a")
    assert refusal(Column, name=[]) == 'columns."[]": must be text, the name of a column. Got [] instead.'
    column = Column(name="a", bounds=[np.int64(0), np.float64(1)], step=np.float64(0.5), bins=np.int8(2))
    assert [type(value) for value in (*column.bounds, column.step, column.bins)] == [int, float, float, int]


def test_a_tenth_is_a_tenth():
    assert Column(name="x", bounds=(0, 0.3), step=0.1).steps == 3
    assert Column(name="x", bounds=(1e-7, 3e-7), step=1e-7).steps == 2
    assert Column(name="x", bounds=(-0.7, 1234567.8), step=0.1).steps == 12345685


def test_all_mistakes_of_a_file_are_told_together_with_their_lines(opened):
    text = (
        '# people\ncolums = 3\n\n[columns.age]  # years\nbounds = [18, 100]\n\n"step" = 0\n\n'
        '[columns."a.b\\n"]\ncategories = [\n  "x ",  # ]\n  """x""",\n]\nmissing = "keep"\n\n'
        "[columns]\nwhen.bounds = [2024-01-01, 2024-12-31]\nwhen.step = 0.5\n"
        "ward = {categories = ['a', \"b\"], outside = 'clip'}\n"
    )
    assert refusal(opened, text) == (
        "people.toml, line 2, colums: unknown key 'colums'. Did you mean 'columns'? "
        "people.toml, line 7, columns.age.step: must be a positive number. Got 0 instead. "
        "people.toml, line 10, columns.\"a.b\\n\".categories: has 'x ' and 'x', which differ in blanks alone. Keep one "
        "of them. "
        "people.toml, line 14, columns.\"a.b\\n\".missing: must be 'refuse', 'drop' or 'category'. Got 'keep' instead. "
        "people.toml, line 18, columns.when.step: must be a whole number of days, at least 1. Got 0.5 instead. "
        "people.toml, line 19, columns.ward.outside: must be 'refuse' or 'drop' for a category. Got 'clip' instead."
    )


def test_very_many_mistakes_are_counted(opened):
    told = refusal(opened, "".join(f"[columns.x{i}]\nbins = 1\n" for i in range(18)))
    assert told.endswith("Leave it out. There are 18 mistakes in all.")


def test_a_file_without_columns_is_named(opened):
    assert refusal(opened, "") == (
        "people.toml, columns: must have at least one column, each in a table such as [columns.age]."
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '[columns.age]\nbounds = [1, 2]\nunit = "patient"\n',
            "people.toml, line 3, columns.age.unit: unknown key 'unit'. It stands above all tables.",
        ),
        (
            "[columns.a.b]\nbounds = [1, 2]\n",
            "people.toml, line 1, columns.a.b: unknown key 'b'. A name with a dot is in quotes: [columns.\"a.b\"].",
        ),
    ],
    ids=["unit", "dot"],
)
def test_what_stands_in_the_wrong_place_is_told_with_its_own(opened, text, sentence):
    assert refusal(opened, text) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[columns.age]\nbounds [1, 2]\n",
            "people.toml, line 2: is not TOML: expected '=' after a key in a key/value pair.",
        ),
        (
            "[columns.age]\ncategories = [a, b]\n",
            "people.toml, line 2: is not TOML: invalid value. Text needs quotes.",
        ),
        (
            "[columns.age]\n\n[columns.age]\n",
            "people.toml, line 3: is not TOML: cannot declare columns.age twice.",
        ),
        ("[columns.age]\nbounds = [1, 2\n", "people.toml, line 2: is not TOML: unclosed array."),
        (b"unit = '\xff'", "The file 'people.toml' is not UTF-8 text. Save it as UTF-8 and try again."),
        ("unit = " + "[" * 10**5, "people.toml: is not a schema: it has lists within lists within lists."),
    ],
    ids=["equals", "quotes", "twice", "open", "bytes", "deep"],
)
def test_what_is_no_toml_is_told_with_its_line(opened, text, sentence):
    assert refusal(opened, text) == sentence


def test_a_number_of_thousands_of_digits_is_a_sentence(opened):
    sentence = "people.toml: has a number of more than 4,300 digits. No column has such."
    assert refusal(opened, f"unit = {'9' * 5000}") == sentence


def test_files_that_are_none_are_refused(tmp_path, opened):
    assert "cannot be read: No such file" in refusal(Schema.open, tmp_path / "none.toml")
    assert "is not an ordinary file" in refusal(Schema.open, tmp_path)
    assert "too long" in refusal(opened, "#" * (10**7 + 1))


def test_marks_of_other_editors_change_nothing(opened):
    assert opened("\ufeff" + PEOPLE.replace("\n", "\r\n")) == opened(PEOPLE)


def test_a_draft_opens_and_its_blanks_are_told_with_their_lines(opened):
    tables = ["a]\nbounds = []\nstep = 1\n", "b]\ncategories = []\n", "c]\n", "d]\nbounds = [0, 1]\n"]
    text = "\n".join(f"[columns.{table}" for table in tables)
    schema = opened(text)
    assert [column.blank for column in schema.columns] == ["bounds", "categories", None, None]
    assert [column.is_complete for column in schema.columns] == [False, False, False, True]
    assert all(column.bounds is column.categories is None for column in schema.columns[:3])
    assert schema.to_toml() == text
    told = refusal(schema.check_complete)
    assert told == (
        "people.toml, line 2, columns.a.bounds: is blank. Fill in [low, high], as anyone would know them without the "
        "data. people.toml, line 6, columns.b.categories: is blank. Fill in all categories, as anyone would know them "
        "without the data. people.toml, line 8, columns.c: has neither bounds nor categories. Give bounds for numbers "
        "or dates, categories for anything else. To leave a column out, delete its table."
    )
    assert refusal(Schema.of(schema.to_dict()).check_complete) == "".join(
        part if i == 0 else part.split(", ", 1)[1] for i, part in enumerate(told.split("people.toml, "))
    )


def test_what_was_peeked_at_is_told():
    schema = Schema.of({"columns": {"a": {"bounds": [0, 1], "peeked": ["bounds"]}, "b": {"categories": ["x", "y"]}}})
    assert schema.peeked == ("a.bounds",)


def test_options_make_a_schema():
    schema = Schema.from_options(
        None, {"age": (18, 100)}, {"age": 1}, {"ward": ("elective", "emergency")}, 41, "drop", "clip", "patient"
    )
    assert schema.to_dict() == {
        "unit": "patient",
        "columns": {
            "age": {"bounds": [18, 100], "step": 1, "bins": 41, "missing": "drop", "outside": "clip"},
            "ward": {"categories": ["elective", "emergency"], "missing": "drop", "outside": "drop"},
        },
    }
    assert Schema.from_options(["b", "a"], {"a": (0, 1)}).names == ("b", "a")
    assert Schema.from_options(["a"]).columns == (Column(name="a"),)
    assert Schema.from_options(["a"], bins=5).columns == (Column(name="a", bins=5, blank="bounds"),)
    assert Schema.from_options(None, {"a": (0, 1), "b": (0, 1)}, bins={"b": 7}).columns[1].bins == 7


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"steps": {"b": 1}}, "There is a step for column 'b', which is not among ['a']."),
        ({"bins": {"b": 4}}, "There are bins for column 'b', which is not among ['a']."),
        ({"bounds": {"b": (0, 1)}}, "There are bounds for column 'b', which is not among ['a']."),
        ({"categories": {"b": ("x", "y")}}, "There are categories for column 'b', which is not among ['a']."),
        ({"bounds": {"a": (1, 0)}}, "columns.a.bounds: must be two different numbers, the lower one first. Got [1, 0] "
         "instead."),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)  # fmt: skip
def test_options_for_unknown_columns_are_refused(options, sentence):
    assert refusal(Schema.from_options, ["a"], **options) == sentence


def test_lines_are_found_where_they_can_be():
    text = (
        "a.b . 'c d' = {e = [1, {f = 2}], g.h = '''\n'''}\n"
        '[[t]]\nx = 1979-05-27 07:32:00 # y = 2\n[ t . "u" ]\nv="""\\""""""\nw=1'
    )
    assert tomllib.loads(text)["t"][0]["u"]["v"] == '"""'
    found = lines_of(text)
    assert found[("a", "b", "c d")] == found[("a", "b", "c d", "g", "h")] == 1
    assert (found[("t",)], found[("t", "x")], found[("t", "u")], found[("t", "u", "v")]) == (3, 4, 5, 6)
    assert found[("t", "u", "w")] == 7
    assert lines_of("a = [") == {("a",): 1}


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["a.b", 'say "x"', "two\nlines", "\u202e\x00\x7f", "\\", "'", "é", "\U0001f600", "bounds", "# x", "[y]", ""]
)
NUMBERS = st.integers(-(10**12), 10**12) | st.floats(-1e300, 1e300)
RULES = {"missing": st.sampled_from(["refuse", "drop", "category"])}
PEEKED = st.lists(st.sampled_from(["bounds", "step", "categories"]), unique=True).map(tuple)


@st.composite
def number_columns(draw, name):
    low, step = draw(NUMBERS), draw(st.none() | st.sampled_from([1, 0.1, 5, 0.25, 1e-3]))
    if step is None:
        high = draw(NUMBERS.filter(lambda high: high > low))
        steps = 10_000
    else:
        low, steps = draw(st.integers(-1000, 1000)), draw(st.integers(1, 500))
        high = float(low + steps * Fraction(str(step)))
    bins = draw(st.none() | st.integers(2, steps)) if steps > 1 else None
    return Column(
        name=name, bounds=(low, high), step=step, bins=bins, peeked=draw(PEEKED), missing=draw(RULES["missing"]),
        outside=draw(st.sampled_from(["refuse", "clip"])),
    )  # fmt: skip


@st.composite
def date_columns(draw, name):
    low, step, steps = draw(st.dates(max_value=date(9000, 1, 1))), draw(st.integers(1, 40)), draw(st.integers(2, 999))
    return Column(
        name=name, bounds=(low, low + timedelta(step * steps)), step=step, bins=draw(st.none() | st.integers(2, steps))
    )


@st.composite
def category_columns(draw, name):
    texts = st.lists(NAMES.filter(str.strip), unique_by=lambda text: text.strip().casefold(), min_size=2, max_size=40)
    many = texts | st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, min_size=2) | st.just([True, False])
    outside = draw(st.sampled_from(["refuse", "drop"]))
    return Column(name=name, categories=tuple(draw(many)), outside=outside, missing=draw(RULES["missing"]))


@st.composite
def schemas(draw):
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=5))
    kinds = [number_columns, date_columns, category_columns, lambda name: st.just(Column(name=name))]
    columns = [draw(st.one_of([kind(name) for kind in kinds])) for name in names]
    return Schema(tuple(columns), draw(st.none() | NAMES.filter(lambda name: name not in names)))


@given(schemas())
def test_a_schema_is_the_same_after_its_file(schema):
    text = schema.to_toml()
    again = Schema.of(tomllib.loads(text))
    assert again == schema
    assert again.to_toml() == text
    assert Schema.of(schema.to_dict()) == schema
    assert text.replace("\n", "").isprintable()


@given(schemas())
def test_every_key_of_a_file_has_the_line_that_it_is_on(schema):
    text = schema.to_toml()
    lines, found = text.splitlines(), lines_of(text)
    for column in schema.columns:
        assert lines[found[("columns", column.name)] - 1].startswith("[columns.")
        for key in column.to_dict():
            assert lines[found[("columns", column.name, key)] - 1].startswith(f"{key} = ")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NAMES | st.dates() | st.datetimes() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=5,
)
TABLES = st.dictionaries(st.sampled_from([*COLUMN_KEYS, "bound"]), ANYTHING, max_size=4)


@given(
    st.fixed_dictionaries(
        {"columns": st.dictionaries(NAMES, TABLES | ANYTHING, max_size=3)}, optional={"unit": ANYTHING}
    )
)
def test_whatever_is_given_is_a_schema_or_refused_in_sentences(document):
    schema, told = None, ""
    try:
        schema = Schema.of(document)
    except BadInput as error:
        told = str(error)
    assert told.isprintable()
    assert (told == "") == (schema is not None)
    assert schema is None or Schema.of(tomllib.loads(schema.to_toml())) == schema


def test_the_examples_of_docstrings_run():
    assert doctest.testmod(equinoise.data.schema).failed == 0


@pytest.mark.parametrize("verb", [equinoise.synthesize, equinoise.optimize])
def test_a_schema_that_says_to_refuse_refuses_whatever_the_rule_for_the_others_is(verb):
    data = pl.DataFrame({"a": ["x", "y", None, "x"]})
    more = {"rows": 1} if verb is equinoise.synthesize else {}
    for says, rules in (({"missing": "refuse"}, {"missing": "category"}), ({"outside": "refuse"}, {"outside": "clip"})):
        column = {"categories": ["x", "y" if "missing" in says else "z"]} | {"missing": "drop"} | says
        with pytest.raises(BadInput, match=r"[Mm]issing|none of|not listed|outside"):
            verb(data, {"columns": {"a": column}}, epsilon=1, **rules, **more)
