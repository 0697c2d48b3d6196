"""What a plan says, as text: for terminal and notebook."""

from __future__ import annotations

from equinoise.data.grid import Axis
from equinoise.formatting import at_most, join_and, percent, printable, shorten, three_digits
from equinoise.synthesis.choice import TOO_FAR
from equinoise.synthesis.plan import Plan

MOST_COLUMNS = 6
"""Of the errors; JSON has all."""

ERRORS_TITLE = "Expected errors"
TABLE_TITLE = "Expected total variation"

BASIS = "Worked out on made-up people, without any data: this may be published. Data that is rougher comes out farther."


def error_header(plan: Plan) -> tuple[str, str, str]:
    """Names of the columns of :func:`error_rows`: two errors beside each other, not parts of a whole."""
    rows = plan.price.rows
    return ERRORS_TITLE, "error of the table", f"further error of drawing {rows:,} row{'s' * (rows > 1)}"


def error_rows(plan: Plan) -> list[tuple[str, str, str]]:
    """What is to be expected: the quantity, its error in the distribution that rows are drawn from, and what as many
    rows add because they are so few."""
    found = plan.expectation
    if found is None:
        return []
    rows = [("total variation", three_digits(found.errors.tv), three_digits(found.sampling.tv))]
    for axis in plan.grid.axes[:MOST_COLUMNS]:
        numbers = isinstance(axis, Axis)
        unit = " (days)" if isinstance(axis, Axis) and axis.day_zero is not None else ""
        name = shorten(printable(axis.name), 40)
        what = f"mean of {name!r}{unit}" if numbers else f"share of {name!r}, the largest error"
        write = three_digits if numbers else percent
        rows.append((what, write(found.errors.columns[axis.name]), write(found.sampling.columns[axis.name])))
    return rows


def table_rows(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """The header, and for every epsilon the expected total variation and the method by number of rows."""
    many = sorted({row.rows for row in plan.table})
    header = ["epsilon", *(f"{rows:,} row{'s' * (rows > 1)}" for rows in many)]
    lines = []
    for epsilon in dict.fromkeys(row.epsilon for row in plan.table):
        here = {row.rows: f"{three_digits(row.tv)} {row.method}" for row in plan.table if row.epsilon == epsilon}
        lines.append([f"{epsilon:g}", *(here[rows] for rows in many)])
    return header, lines


def step_note(plan: Plan) -> str:
    """Which columns come out as middles of bins, as they have no step; nothing if none do."""
    axes = [axis for axis in plan.grid.axes if isinstance(axis, Axis) and axis.step is None]
    if not axes:
        return ""
    names = join_and([f"{shorten(printable(axis.name), 40)!r} ({axis.number_bins:,} bins)" for axis in axes])
    return f"Without a step, rows hold the middles of bins: {names}. Give a step, such as 1, or 0.01 for money."


def verdict(plan: Plan) -> str:
    """Whether it is enough, and if not what would be."""
    if plan.expectation is None:
        return f"Nothing is simulated for {plan.method}: how close its rows come is only told by making them."
    if not plan.too_small:
        return ""
    enough = [] if plan.enough_people is None else [f"about {plan.enough_people:,} people at this epsilon"]
    enough += [] if plan.enough_epsilon is None else [f"epsilon {at_most(plan.enough_epsilon)} with these people"]
    what = f"Enough would be {', or '.join(enough)}" if enough else "No epsilon up to 10 is enough"
    return f"Too small: total variation is above {TOO_FAR:g} even with the widest bins. {what}; or fewer columns."
