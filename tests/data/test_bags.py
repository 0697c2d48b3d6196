"""Bags, the rows of a person: counted by a second route."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equinoise.data.bags import PersonCells, count_people
from equinoise.data.grid import Axis, Grid
from equinoise.data.rows import open_rows

people_st = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=2, max_size=7)


def lines_of(people):
    """How many rows everyone has in every cell, as counting gives them."""
    lines = [(who, cell, rows.count(cell)) for who, rows in enumerate(people) for cell in sorted(set(rows))]
    return PersonCells(None, *np.array(lines, dtype=np.int64).reshape(-1, 3).T)


@given(people_st)
def test_bags_count_people_and_rows(people):
    found, which = lines_of(people).bags()
    bags = [tuple(sorted((c, rows.count(c)) for c in set(rows))) for rows in people]
    assert found == tuple(sorted(set(bags)))
    assert [found[number] for number in which.tolist()] == bags


@given(people_st)
def test_the_middle_row_is_the_lower_median(people):
    expected = [sorted(rows)[(len(rows) - 1) // 2] for rows in people]
    assert lines_of(people).at_most(1).cells.tolist() == expected


@given(people_st, st.integers(1, 5))
def test_of_a_person_s_rows_at_most_so_many_are_kept_evenly_spread(people, most):
    kept = lines_of(people).at_most(most)
    for who, rows in enumerate(people):
        mine = np.repeat(kept.cells[kept.people == who], kept.times[kept.people == who]).tolist()
        laid_out, n = sorted(rows), len(rows)
        places = range(n) if n <= most else [math.ceil((2 * j + 1) * n / (2 * most)) - 1 for j in range(most)]
        assert mine == [laid_out[place] for place in places]


def test_nobody_has_no_bags():
    assert lines_of([]).bags()[0] == ()
    assert lines_of([]).at_most(1).cells.tolist() == []


@pytest.mark.parametrize(
    ("rows", "bags", "people"),
    [
        ("a1 b9", (((0, 1),), ((4, 1),)), [1, 1]),
        ("a1 a1 b9 b9", (((0, 2),), ((4, 2),)), [1, 1]),
        ("a1 a9 b1 b9", (((0, 1), (4, 1)),), [2]),
        ("a1 a9 b9 c9", (((0, 1), (4, 1)), ((4, 1),)), [1, 2]),
    ],
)
def test_rows_of_one_name_are_one_persons(rows, bags, people):
    table = pl.DataFrame({"who": [row[0] for row in rows.split()], "x": [float(row[1]) for row in rows.split()]})
    found = count_people(open_rows(table, ["x"], keep="who"), Grid((Axis("x", 0.0, 10.0, 5),)))
    assert (found.bags, found.people.tolist()) == (bags, people)


def test_rows_that_are_moved_to_the_same_cell_all_count():
    table = pl.DataFrame({"who": ["a", "a", "a", "b"], "x": [-5.0, 1.0, 99.0, 10.0]})
    grid = Grid((Axis("x", 0.0, 10.0, 5, outside="clip"),))
    assert count_people(open_rows(table, ["x"], keep="who"), grid).bags == (((0, 2), (4, 1)), ((4, 1),))
