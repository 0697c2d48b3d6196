"""Bags, the rows of a person: counted by a second route."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from equinoise.data.bags import bag_of_each, middle_rows

people_st = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=2, max_size=7)


def lines_of(people):
    """Lines of (person, cell, rows), as counting gives them."""
    lines = [(who, cell, rows.count(cell)) for who, rows in enumerate(people) for cell in set(rows)]
    return np.array(lines[::-1], dtype=np.int64).T


@given(people_st)
def test_bags_count_people_and_rows(people):
    found, which = bag_of_each(*lines_of(people))
    bags = [tuple(sorted((c, rows.count(c)) for c in set(rows))) for rows in people]
    assert found == tuple(sorted(set(bags)))
    assert [found[number] for number in which.tolist()] == bags


@given(people_st)
def test_the_middle_row_is_the_lower_median(people):
    expected = [sorted(rows)[(len(rows) - 1) // 2] for rows in people]
    assert middle_rows(*lines_of(people)).tolist() == expected


def test_nobody_has_no_bags():
    none = np.empty(0, dtype=np.int64)
    assert bag_of_each(none, none, none)[0] == ()
    assert middle_rows(none, none, none).tolist() == []
