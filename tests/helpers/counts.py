"""Counting in the words of tests: one axis, or rules left out."""

from equinoise.data.bad_values import Rules
from equinoise.data.bags import count_people, count_person_cells
from equinoise.data.counting import count_rows
from equinoise.data.grid import Grid


def count(rows, axis, **rules):
    """Rows per cell of one column."""
    return count_rows(rows, Grid((axis,)), Rules(**rules)).histogram


def count_jointly(rows, axes, **rules):
    """People by cell of several columns, one for every row."""
    return count_rows(rows, Grid(tuple(axes)), Rules(**rules))


def count_units(rows, axes, **rules):
    """A number for the person, a cell and how many rows, one line for every person and cell."""
    return count_person_cells(rows, Grid(tuple(axes)), Rules(**rules))[1:]


def people_by_bag(rows, axes, unit_rows="all", **rules):
    """People by the cells of all of their rows, or of one."""
    return count_people(rows, Grid(tuple(axes)), Rules(**rules), unit_rows)
