import csv
import io
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.data.paths import Files
from equinoise.data.text_fields import IS_TEXT, RAW, VALUE, Part, parts_of
from equinoise.errors import BadInput

CELL = st.one_of(st.floats(0, 100).map(str), st.text('ab,"\n\r x1.', max_size=6))


def read(path, size):
    parts = parts_of(Files((path,), ",", "The file"), ("pay",), size)
    return parts, pl.concat([part.read() for part in parts])


@given(st.lists(st.tuples(CELL, CELL), max_size=12), st.integers(1, 30), st.sampled_from(["\n", "\r\n"]))
def test_parts_hold_the_rows_of_the_whole(tmp_path_factory, rows, size, ending):
    """Also when fields have line ends, separators and quotes in them."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator=ending).writerows([("id", "pay"), *rows])
    path = tmp_path_factory.mktemp("rows") / "a.csv"
    path.write_bytes(text.getvalue().encode())
    (whole,), plain = read(path, 10**6)
    parts, found = read(path, size)
    assert (whole.stop, len(plain)) == (0, len(rows))
    assert found.equals(plain)
    assert all(a.stop == b.start for a, b in pairwise(parts))


def test_big_files_are_cut(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,pay\n" + "1,2\n" * 100 + '"\n' * 2 + "1,2\n" * 100)
    parts, found = read(path, 40)
    assert len(parts) > 15
    assert found[f"{VALUE} 0"].to_list() == [2.0] * 100 + [None] + [2.0] * 100


def test_only_text_is_kept_to_show(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("pay\n5\nNA\n 7 \nabc\n")
    _, found = read(path, None)
    assert found[f"{VALUE} 0"].to_list() == [5.0, None, 7.0, None]
    assert found[f"{IS_TEXT} 0"].to_list() == [False, False, False, True]
    assert found[f"{RAW} 0"].to_list() == [None, None, None, "abc"]


def test_a_worker_that_does_not_see_the_file_says_so(tmp_path):
    with pytest.raises(BadInput, match="A worker finds no file"):
        Part(str(tmp_path / "a.csv"), ",", ("pay",), "The file").read()
