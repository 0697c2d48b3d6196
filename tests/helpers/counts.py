"""Counting in the words of tests: one axis, or rules left out."""

from dataclasses import replace

from equinoise.data.bags import count_people, count_person_cells
from equinoise.data.counting import count_rows
from equinoise.data.grid import Grid


def count(rows, axis, **rules):
    """Rows per cell of one column, whatever it is called."""
    (name,) = rows.columns
    return count_rows(rows, _grid((replace(axis, name=name),), rules)).histogram


def count_jointly(rows, axes, **rules):
    """People by cell of several columns, one for every row."""
    return count_rows(rows, _grid(axes, rules))


def count_units(rows, axes, **rules):
    """A number for the person, a cell and how many rows, one line for every person and cell."""
    return count_person_cells(rows, _grid(axes, rules))[1:4]


def people_by_bag(rows, axes, most_rows=None, **rules):
    """People by the cells of all of their rows, or of one."""
    return count_people(rows, _grid(axes, rules), most_rows)


def _grid(axes, rules):
    return Grid(tuple(axes)).with_rules(rules.get("missing", "refuse"), rules.get("outside", "refuse"))
