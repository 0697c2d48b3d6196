"""What `synthesize` takes as public, and what becomes of values of which nobody said anything."""

import pytest

from equinoise import BadInput
from equinoise.data.schema import Column, Schema
from equinoise.verbs.table_request import public_columns

AGE, WARD = Column(name="age", bounds=(0, 100)), Column(name="ward", categories=("a", "b"))


def test_nothing_that_came_from_the_data_is_public():
    for peeked in (Column(name="age", bounds=(0, 100), peeked=("bounds",)),
                   Column(name="ward", categories=("a", "b"), peeked=("categories",))):  # fmt: skip
        with pytest.raises(BadInput, match="came from the data"):
            public_columns(Schema((AGE, peeked) if peeked.name == "ward" else (peeked, WARD)))


def test_every_column_needs_bounds_or_categories():
    with pytest.raises(BadInput, match="Differential privacy needs --bounds or --categories"):
        public_columns(Schema((AGE, Column(name="pay"))))


def test_categories_that_floats_round_are_none():
    with pytest.raises(BadInput, match="Give them shorter codes"):
        public_columns(Schema((Column(name="code", categories=(1, 2**53)),)))


def test_values_that_fit_nowhere_are_clipped_or_dropped_unless_the_schema_says_otherwise():
    found = public_columns(Schema((AGE, WARD))).columns
    assert [(column.missing, column.outside) for column in found] == [("drop", "clip"), ("drop", "drop")]
    told = (Column(name="age", bounds=(0, 100), missing="category", outside="refuse"),
            Column(name="ward", categories=("a", "b"), missing="refuse", outside="refuse"))  # fmt: skip
    assert public_columns(Schema(told)).columns == told
