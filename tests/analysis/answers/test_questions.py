"""Questions as a command has them: what is asked, and what cannot be."""

import math
from datetime import date

import numpy as np
import polars as pl
import pytest

from equinoise.analysis import answers as from_counts
from equinoise.analysis.answers.ask import COUNTS_NOTE, ROWS_NOTE, ask
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.questions import FORMS, Columns, Question, describe, parse_question
from equinoise.analysis.answers.row_table import rows_by_axes
from equinoise.data.axis import Axis
from equinoise.data.category_axis import CategoryAxis
from equinoise.errors import BadInput
from equinoise.synthesis.noisy_counts import noise_law

AXES = (
    Axis("age", 18.0, 25.0, 4, 0.5, step=1.0),
    Axis("stay:days", 0.0, 9.0, 3, missing="category"),
    CategoryAxis("ward", ("elective", "emergency")),
    CategoryAxis("a=b", ("x", "y", "x,y", "c=d"), missing="category"),
    CategoryAxis("code", (1, 2)),
)
TABLE = NoisyTable(np.zeros([axis.bins for axis in AXES], dtype=np.int64), AXES, noise_law(1))
COLUMNS = Columns(TABLE, "The release")


def question(kind, *columns, of=(), at=()):
    return Question(kind, columns, of, at)


ASKED = {
    "mean:age": question("mean", "age"),
    "median:stay:days": question("median", "stay:days"),
    "quantiles:stay:days:0.1,.9": question("quantiles", "stay:days", at=(0.1, 0.9)),
    "count": question("count"),
    "count:ward": question("count", "ward", of=("elective", "emergency")),
    "count:ward=emergency": question("count", "ward", of=("emergency",)),
    "count:a=b": question("count", "a=b", of=("x", "y", "x,y", "c=d", None)),
    "share:a=b=c=d": question("share", "a=b", of=("c=d",)),
    "share:a=b=x,y": question("share", "a=b", of=("x,y",)),
    "share:a=b=missing": question("share", "a=b", of=(None,)),
    "share:stay:days=missing": question("share", "stay:days", of=(None,)),
    "share:code=2": question("share", "code", of=(2,)),
    "correlation:age,stay:days": question("correlation", "age", "stay:days"),
    "difference:age:ward=elective,emergency": question("difference", "age", "ward", of=("elective", "emergency")),
    "difference:stay:days:a=b=c=d,missing": question("difference", "stay:days", "a=b", of=("c=d", None)),
}


@pytest.mark.parametrize(("text", "found"), ASKED.items(), ids=ASKED)
def test_what_is_asked(text, found):
    assert parse_question(text, COLUMNS) == found


REFUSED = {
    "": "'' is no question. Ask 'mean', 'median', ",
    "man:age": "'man:age' is no question. Did you mean mean:COLUMN?",
    "age": "'age' is no question. Ask 'mean', 'median', 'quantiles', ",
    "average of age": "or 'difference', for example 'mean:age'.",
    "mean of age": "'mean of age' is no question. Did you mean 'mean:age'?",
    "Median age": "'Median age' is no question. Did you mean 'median:age'?",
    "mean of pay": "'mean of pay' is no question. Did you mean mean:COLUMN?",
    "share of stay:days": "Did you mean 'share:stay:days'?",
    "mean": "'mean' is not a whole question. Ask mean:COLUMN.",
    "count:": "is not a whole question. Ask count, count:COLUMN or ",
    "quantiles:age": "is not a whole question. Ask quantiles:COLUMN:0.1,0.9.",
    "correlation:age": "is not a whole question.",
    "difference:age:ward=elective": "is not a whole question.",
    "mean:agee": "The release has no column 'agee'. Did you mean 'age'?",
    "mean:note": "The release has no column 'note'. It has 'age', 'stay:days', 'ward', 'a=b', 'code'.",
    "mean:zzz": "It has 'age', 'stay:days', 'ward', 'a=b', 'code'.",
    "mean:ward": "Column 'ward' has categories, and no mean, quantile or correlation. Ask for its shares or counts.",
    "correlation:age,ward": "Column 'ward' has categories",
    "correlation:age,age": "A correlation is of two columns. Got 'age' twice.",
    "quantiles:age:0.5,1": "A quantile is a number between 0 and 1, such as 0.9. Got 1.0 instead.",
    "quantiles:age:0": "Got 0.0 instead.",
    "quantiles:age:nan": "Got nan instead.",
    "quantiles:age:": "Got '' instead.",
    "quantiles:age:a": "Got 'a' instead.",
    "share:age": "Column 'age' has numbers, and no categories.",
    "share:age=missing": "Column 'age' has numbers, and no categories.",
    "share:ward=Emergency": "Column 'ward' has no category 'Emergency'. Did you mean 'emergency'?",
    "share:ward=zz": "Column 'ward' has no category 'zz'. It has 'elective', 'emergency'.",
    "share:ward=missing": "Column 'ward' has no category 'missing'.",
    "share:code=3": "Column 'code' has no category '3'. It has '1', '2'.",
    "difference:age:ward=elective,elective": "A difference is between two groups. Got 'elective' twice.",
    "difference:age:age=1,2": "Column 'age' has numbers, and no categories.",
    "difference:ward:a=b=x,y": "Column 'ward' has categories",
    "mean:a\x1b[31m": "has no column",
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_asked_is_refused_with_what_there_is(text, sentence):
    with pytest.raises(BadInput) as refusal:
        parse_question(text, COLUMNS)
    assert sentence in str(refusal.value)


def test_a_question_that_can_be_read_in_two_ways_is_not_guessed():
    axes = CategoryAxis("a", ("b=c", "x")), CategoryAxis("a=b", ("c", "x"))
    columns = Columns(NoisyTable(np.zeros((2, 2), dtype=np.int64), axes, noise_law(1)), "The release")
    with pytest.raises(
        BadInput, match=r"'share:a=b=c' can be read in 2 ways. Ask it in Python, where names stand apart"
    ):
        parse_question("share:a=b=c", columns)
    assert parse_question("share:a=x", columns) == Question("share", ("a",), ("x",))


def test_every_kind_is_asked_here_and_said_in_words():
    assert {text.partition(":")[0] for text in ASKED} == set(FORMS)
    words = {text: describe(found) for text, found in ASKED.items()}
    assert words["mean:age"] == ["mean of age"]
    assert words["quantiles:stay:days:0.1,.9"] == ["0.1 quantile of stay:days", "0.9 quantile of stay:days"]
    assert words["count"] == ["count of all"]
    assert words["share:a=b=missing"] == ["share of a=b = missing"]
    assert words["correlation:age,stay:days"] == ["correlation of age and stay:days"]
    assert words["difference:age:ward=elective,emergency"] == ["mean age, ward = elective less ward = emergency"]


def test_answers_have_the_level_that_is_asked_for_and_dates_that_hold_their_limits():
    """Days 100 to 199 of a year and a class of people, by noisy counts and by rows."""
    axes = (Axis("day", 0.0, 364.0, 365, 0.5, step=1.0, day_zero="2024-01-01"), CategoryAxis("ward", ("a", "b")))
    counts = np.zeros((365, 2), dtype=np.int64)
    counts[100:200] = 70, 30
    rng = np.random.default_rng(1)
    noisy = NoisyTable(counts + rng.geometric(0.4, (365, 2)) - rng.geometric(0.4, (365, 2)), axes, noise_law(0.5))
    days = [date.fromordinal(date(2024, 1, 1).toordinal() + i % 100 + 100) for i in range(1000)]
    rows = pl.DataFrame({"day": days, "ward": ["a", "b"] * 500})
    asked = [question("mean", "day"), question("share", "ward", of=("a",)), question("median", "day")]
    for table in (noisy, rows_by_axes(rows, axes)):
        of_rows = table is not noisy
        found = [
            ask(Columns(table, "x"), asked + [question("count")] * (not of_rows), level=one) for one in (0.5, 0.99)
        ]
        assert [answers.note for answers in found] == [ROWS_NOTE if of_rows else COUNTS_NOTE] * 2
        for sure, surer in zip(*found, strict=True):
            assert (sure.level, surer.level) == (0.5, 0.99)
            assert surer.low < sure.low <= sure.estimate <= sure.high < surer.high
    column = from_counts.mean(noisy, "day", 0.99)
    shown = ask(Columns(noisy, "x"), asked[:1], level=0.99)[0]
    assert (shown.low - date(2024, 1, 1)).days == math.floor(column.low) < column.low
    assert (shown.high - date(2024, 1, 1)).days == math.ceil(column.high) > column.high
