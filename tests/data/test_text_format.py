"""Text files as people have them: every separator and decimal mark is read as it is meant, or refused with a remedy."""

import csv
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equinoise
from equinoise.data.engines import connect
from equinoise.data.grid import Axis
from equinoise.data.number_marks import hint_about, to_number
from equinoise.data.other_files import OTHER_PROGRAMS
from equinoise.data.paths import find_files
from equinoise.data.rows import open_rows
from equinoise.data.text_fields import VALUE, parts_of
from equinoise.data.text_format import TextFormat
from equinoise.errors import BadInput, EquinoiseWarning
from tests.helpers.counts import count

AXIS = Axis.padded("x", 0, 10_000, bins=81)
ENGINES = ["polars", "duckdb"]


def written(folder, content, name="a.csv"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def values(path, column="x", engine="polars", **said):
    with connect(engine) as reader:
        rows = open_rows(path, column, reader, text=TextFormat(**said))
        return rows.collect(rows.frame.select(f"{VALUE} 0"))[f"{VALUE} 0"].to_list()


def number(text, decimal=None, separator=","):
    return pl.select(to_number(pl.lit(text), decimal, separator)).item()


def refusal(path, **said):
    with pytest.raises(BadInput) as refused:
        count(open_rows(path, "x", text=TextFormat(**said)), AXIS, missing="drop")
    return str(refused.value)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tab"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_separator_is_recognized_in_the_header(tmp_path, engine, name, mark):
    content = f'\ufeff\r\nid{mark}x{mark}"a,b;c|d\te"\r\n1{mark}2{mark}q\r\n3{mark}4{mark}q\r\n'
    assert values(written(tmp_path, content, name), engine=engine) == [2, 4]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("x\n1\n2\n", ["x"]),
        ("x\n1;5\n2;6\n", ["x"]),  # rows have no say
        ('"x"\n1;5\n2;6\n', ["x"]),
        ('"x;y"\n1\n2\n', ["x;y"]),
        ("x,y;z\n1,2\n", ["x", "y;z"]),  # the usual mark first
        ('"a\n;b";x\n1;2\n', ["a\n;b", "x"]),
    ],
)
def test_what_is_no_separator_is_not_taken_for_one(tmp_path, content, names):
    assert list(open_rows(written(tmp_path, content), names[-1], keep=True).fields) == names


def test_headers_with_several_other_marks_are_refused(tmp_path):
    path = written(tmp_path, "id;x|y\n1;2|3\n")
    assert "has no comma in it, but several other marks" in refusal(path)
    assert "Name the one that does: --separator semicolon or --separator pipe" in refusal(path)
    assert "has no tab in it" in refusal(written(tmp_path, "id;x,y\n1;2,3\n", "a.tsv"))
    assert values(path, "x|y", separator=";") == [None]
    assert values(path, "id;x", separator="pipe") == [None]


@pytest.mark.parametrize(("word", "mark"), [("comma", ","), ("semicolon", ";"), ("tab", "\t"), ("pipe", "|")])
def test_a_separator_that_is_named_is_not_guessed(tmp_path, word, mark):
    path = written(tmp_path, f"id{mark}x,y;z\n1{mark}2\n" if mark not in ",;" else f"id{mark}x\n1{mark}2\n", "a.txt")
    column = "x" if mark in ",;" else "x,y;z"
    assert values(path, column, separator=word) == values(path, column, separator=mark) == [2]
    assert "must end in .csv" in refusal(path)
    assert "--separator" in refusal(path)


def test_a_wrong_separator_is_pointed_out(tmp_path):
    path = written(tmp_path, "id;x, y\n1;2\n")
    assert "If 'id;x' is several, another mark separates them: of a text file, name it with" in refusal(path)
    assert "name it with --separator" in refusal(written(tmp_path, "x\n1,5\n2,5\n", "b.csv"))
    assert values(tmp_path / "b.csv", separator=";", decimal=",") == [1.5, 2.5]
    assert values(path, "x, y", separator=";") == values(path, "x, y", separator="semicolon") == [2]


@pytest.mark.parametrize(
    "said", [{"separator": "\\t"}, {"separator": ""}, {"separator": 5}, {"decimal": "x"}, {"decimal": "comma"}], ids=str
)
def test_marks_that_there_are_not_are_refused(tmp_path, said):
    (name,) = said
    with pytest.raises(BadInput, match=f"The '{name}' parameter must be "):
        equinoise.optimize(written(tmp_path, "x\n1\n2\n"), epsilon=1, bounds=(0, 4), **said)


@pytest.mark.parametrize("said", [{"separator": ";"}, {"decimal": "."}], ids=str)
def test_where_there_is_no_text_nothing_is_said_of_it(tmp_path, said):
    pl.DataFrame({"x": [1.0, 3.0]}).write_parquet(tmp_path / "a.parquet")
    for data in (tmp_path / "a.parquet", pl.DataFrame({"x": [1.0]}), np.array([1.0])):
        with pytest.raises(BadInput, match="must be left out with"):
            open_rows(data, "x", text=TextFormat(**said))


NUMBERS = [
    # text, plain, with a decimal point, with a decimal comma
    ("5", 5, 5, 5),
    ("-5", -5, -5, -5),
    ("+1e3", 1000, 1000, 1000),
    ("1.5", 1.5, 1.5, None),
    ("1,5", None, None, 1.5),
    (",5", None, None, 0.5),
    ("1,5e2", None, None, 150),
    ("1.234", 1.234, 1.234, 1234),
    ("1,234", None, 1234, 1.234),
    ("0,123", None, None, 0.123),
    ("0.123", 0.123, 0.123, None),
    ("1,234.5", None, 1234.5, None),
    ("1.234,5", None, None, 1234.5),
    ("12,345,678", None, 12345678, None),
    ("12.345.678", None, None, 12345678),
    ("-1.234,5", None, None, -1234.5),
    ("1234.5", 1234.5, 1234.5, None),
    ("1 234", None, 1234, 1234),
    ("1 234,5", None, None, 1234.5),
    ("1\u00a0234.5", None, 1234.5, None),
    ("1\u202f234\u202f567,5", None, None, 1234567.5),
    ("1'234'567.5", None, 1234567.5, None),
    ("1\u2019234,5", None, None, 1234.5),
    ("12,34", None, None, 12.34),
    ("1,2345", None, None, 1.2345),
    ("1234,567", None, None, 1234.567),
    ("1,234,56", None, None, None),
    ("1.234.56", None, None, None),
    ("1234.567.890", None, None, None),
    ("1,234 567", None, None, None),
    ("1.234 567", None, None, None),
    ("1'234,567", None, None, 1234.567),
    ("1,234.567,8", None, None, None),
    ("12 34", None, None, None),
    (".", None, None, None),
    (",", None, None, None),
    ("1-2", None, None, None),
    ("2020-01-02", None, None, None),
    ("02.01.2020", None, None, None),
]


@pytest.mark.parametrize(("text", "plain", "point", "comma"), NUMBERS, ids=[repr(line[0]) for line in NUMBERS])
def test_a_field_is_the_number_that_was_said_or_none(text, plain, point, comma):
    assert (number(text), number(text, "."), number(text, ",")) == (plain, point, comma)
    assert number(text, None, ";") == (None if "." in text else plain)
    assert number(text, ".", ";") == point


@st.composite
def fields(draw):
    """A number as text, and the float that it is."""
    decimal = draw(st.sampled_from(".,"))
    between = draw(st.sampled_from(["", "," if decimal == "." else ".", " ", "\u00a0", "\u202f", "'"]))
    digits = draw(st.integers(0, 6))
    found = draw(st.lists(st.floats(-1e12, 1e12).map(lambda value: f"{value:,.{digits}f}"), min_size=1, max_size=8))
    marks = str.maketrans({",": between, ".": decimal})
    return decimal, [text.translate(marks) for text in found], [float(text.replace(",", "")) for text in found]


@given(fields(), st.sampled_from(",;\t|"))
def test_numbers_that_are_written_either_way_come_back_in_every_engine(tmp_path_factory, written_as, separator):
    decimal, texts, wanted = written_as
    content = io.StringIO()
    lines = [("id", "x"), *enumerate(texts)]
    csv.writer(content, delimiter=separator, lineterminator="\n").writerows(lines)
    path = written(tmp_path_factory.mktemp("rows"), content.getvalue())
    for engine in ENGINES:
        assert values(path, engine=engine, decimal=decimal) == wanted
    parts = parts_of(find_files(path, TextFormat(decimal=decimal)), ("x",), size=10)
    assert pl.concat([part.read() for part in parts])[f"{VALUE} 0"].to_list() == wanted


@given(st.text("0123456789.,' +-e", min_size=1, max_size=9))
def test_a_field_that_is_read_without_a_word_has_one_reading(text):
    """Plain numbers mean the same where a decimal point was said; a comma never is anything by itself."""
    plain = number(text.strip())
    if plain is not None:
        assert "," not in text
        assert number(text.strip(), ".") == plain


@pytest.mark.parametrize(
    ("text", "decimal", "said"),
    [
        ("1,5", None, "with --decimal , (in Python, decimal=',') it is 1.5."),
        ("1,234", None, "decimal='.') it is 1234, with --decimal , (in Python, decimal=',') it is 1.234."),
        ("1,234.5", None, ": with --decimal . (in Python, decimal='.') it is 1234.5."),
        ("1.5", ",", ": with --decimal . (in Python, decimal='.') it is 1.5."),
        ("1,5", ".", ": with --decimal , (in Python, decimal=',') it is 1.5."),
        ("<0.4", None, "limit"),
        (">100", ",", "limit"),
        ("\u2264 5", None, "limit"),
        ("10 %", None, "percentage"),
        ("10,5%", None, "percentage"),
        ("%10", None, "percentage"),
        ("\u20ac 5", None, "unit"),
        ("5 \u20ac", None, "unit"),
        ("$1,234.50", None, "unit"),
        ("5 kg", None, "unit"),
        ("1.5kg/m\u00b2", None, "unit"),
        ("EUR 5", None, "unit"),
        ("-", None, "dash"),
        ("\u2013", None, "dash"),
        ("abc", None, None),
        ("2020-01-02", None, None),
        ("12 Main Street", None, None),
        ("1,2,3", None, None),
        ("#DIV/0!", None, None),
    ],
)
def test_what_is_no_number_is_told_by_what_it_seems_to_be(text, decimal, said):
    hint = hint_about(text, decimal)
    assert hint is None if said is None else said in hint


@pytest.mark.parametrize("mark", ["", "NA", "n/a", "NaN", "NULL", "None", "missing", "#N/A", ".", "?", " . "])
@pytest.mark.parametrize("decimal", [None, ".", ","])
def test_marks_of_missing_values_are_missing(tmp_path, mark, decimal):
    path = written(tmp_path, f"id;x\n1;5\n2;{mark}\n3;7\n")
    assert values(path, decimal=decimal) == [5, None, 7]
    assert count(open_rows(path, "x", text=TextFormat(decimal=decimal)), AXIS, missing="drop").people == 2


def test_a_refusal_has_how_many_and_one(tmp_path):
    path = written(tmp_path, "id;x\n1;2,5\n2;3\n3;4,5\n")
    assert "Column 'x' holds no plain numbers in 2 rows, such as '2,5'. Say which mark is the decimal one" in refusal(
        path
    )
    assert values(path, decimal=",") == [2.5, 3, 4.5]
    assert "in 2 rows, such as '2,5'" in refusal(path, decimal=".")


def test_a_point_between_semicolons_needs_a_word(tmp_path):
    """It may stand between thousands there, whoever named the semicolon."""
    path = written(tmp_path, "id;x\n1;1.234\n2;3\n")
    for said in ({}, {"separator": ";"}):
        assert "it is 1.234, with --decimal , (in Python, decimal=',') it is 1234." in refusal(path, **said)
    assert values(path, decimal=".") == [1.234, 3]
    assert values(path, decimal=",") == [1234, 3]
    assert values(written(tmp_path, "id\tx\n1\t1.234\n", "a.tsv")) == [1.234]


@pytest.mark.parametrize("ending", OTHER_PROGRAMS)
def test_files_of_other_programs_are_refused_with_the_lines_that_convert_them(tmp_path, ending):
    path = written(tmp_path, "x", f"a{ending}")
    said = refusal(path)
    assert "Convert it first, with two lines of Python: import pandas; pandas.read_" in said
    assert callable(getattr(pd, said.split("pandas.")[1].split("(")[0]))
    assert refusal(path, separator=";") == said


def test_the_lines_convert(tmp_path):
    pd.DataFrame({"x": [1.5, 2.5, None]}).to_stata(tmp_path / "a.dta", write_index=False)
    exec(refusal(tmp_path / "a.dta").split("of Python: ")[1])
    assert count(open_rows(tmp_path / "a.parquet", "x"), AXIS, missing="drop").people == 2


@pytest.mark.parametrize("begin", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"])
def test_a_spreadsheet_is_none_by_another_name(tmp_path, begin):
    path = written(tmp_path, begin + b"\x14\x00;|,\n")
    assert "a.csv' is no text: it begins like a file of Excel. Convert it" in refusal(path)
    assert "a-text.csv'" in refusal(path)
    assert values(written(tmp_path, "PK,x\n1,2\n")) == [2]


ASKED = {"epsilon": 4, "bounds": (0, 20), "bins": 15, "restarts": 1}


def test_a_column_that_is_called_like_an_identifier_is_not_counted_without_a_word(tmp_path):
    path = written(tmp_path, "person_id\n" + "".join(f"{i % 19}\n" for i in range(40)))
    for data in (path, pl.read_csv(path)):
        with pytest.raises(BadInput, match=r"has one column, 'person_id', .* say so with --column 'person_id'"):
            equinoise.optimize(data, **ASKED)
        with pytest.warns(EquinoiseWarning, match="Column 'person_id' is called like a name for each person") as caught:
            assert equinoise.optimize(data, column="person_id", **ASKED).total_people == 40
        assert [one.filename for one in caught] == [__file__]


def test_every_verb_and_command_reads_text_as_it_was_said(folder, run):
    """Made, audited, compared, explored and given losses, with the same people as from plain numbers."""
    from equinoise.explore.source import Source

    people = [f"{1000 + i % 19 / 4:.2f}" for i in range(40)]
    (folder / "plain.csv").write_text("x\n" + "\n".join(people))
    (folder / "a.csv").write_text("id;x\n" + "".join(f"{i};{one.replace('.', ',')}\n" for i, one in enumerate(people)))
    options = ["--column", "x", "--bounds", "x", "1000", "1010", "--bins", "31"]
    said = ["--separator", "semicolon", "--decimal", ","]
    outputs = {"optimize": ["--out", "optimize.eq"], "synthesize": ["--rows", "1", "--out", "synthesize.csv"]}
    for verb, out in outputs.items():
        assert run(verb, "a.csv", *options, "--epsilon", "4", *out)[0] == 2
        assert not (folder / f"{verb}.eq").exists()
        assert run(verb, "a.csv", *options, *said, "--epsilon", "4", *out)[0] == 0
        assert run("audit", f"{verb}.eq", "--data", "a.csv", *said)[0] == 0
        assert run("audit", f"{verb}.eq", "--data", "plain.csv")[0] == 0
        assert run("audit", f"{verb}.eq", "--data", "a.csv")[0] == 2
    assert run("losses", "optimize.eq", "a.csv", "--out", "losses.csv")[0] == 2
    assert not (folder / "losses.csv").exists()
    assert run("losses", "optimize.eq", "a.csv", *said, "--out", "losses.csv")[0] == 0
    assert pl.read_csv("losses.csv")["x"].to_list() == [one.replace(".", ",") for one in people]
    status, _, err = run("audit", "optimize.eq", "--decimal", ",")
    assert (status, "--decimal must be left out without data" in err) == (2, True)
    schema = equinoise.Schema.of({"columns": {"x": {"bounds": [1000, 1010], "bins": 31}}})
    counted, _ = Source("a.csv", decimal=",").read(schema, check_grid=lambda grid: None)
    assert counted.same(equinoise.Mechanism.open("optimize.eq").players)
    compared = equinoise.compare(
        "a.csv", epsilons=[4], column="x", bounds=(1000, 1010), bins=31, decimal=",", time_limit=1
    )
    assert compared.players.total_people == 40
