"""Which method and how many bins a table to publish takes, by what is public alone: data is never looked at.

Whoever says about how many people there are gets the choice of a simulation (:func:`simulated_choice`): on every grid
the method of the lesser total variation over its cells; among grids the one of fewest bins whose rows are at most a
tenth farther on the finest cells than the best, or where that is too far over its own cells the next of which that is
not so. So bins grow wide only where finer ones would be noise. Without a number of people :func:`usual_choice` has a
rule of epsilon, delta and rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from equinoise.data.grid import Axis, Grid
from equinoise.data.make_grid import MOST_CELLS_TO_HOLD, make_grid, with_bins
from equinoise.data.schema import Schema
from equinoise.errors import BadInput
from equinoise.formatting import at_most, join_and, printable, shorten, three_digits
from equinoise.game.kernel import MOST_CELLS
from equinoise.solvers.solution import Round, tell
from equinoise.synthesis.expectation import ENVELOPE, PAY_ONCE, Expectation, Price, Simulation

AIM = "aim"
"""For more joint cells than people can be counted in: marginals are measured, and nothing is simulated."""

FEWEST_COLUMNS_OF_AIM = 4
"""With fewer, it is no closer than joint counts where people are few."""

LEAST_SHARE, LEAST_SHARE_UNORDERED, LEAST_ORDERED = 0.1, 0.5, 5
"""Of epsilon that a row of the envelope must have for it to be closer: where a column has so many ordered bins, and
where none has."""

FARTHER = 1.1
"""How much farther on the finest cells rows of wider bins may be."""

TOO_FAR = 0.3
"""Total variation over its own cells that a choice has only where all grids have more: of ten rows, three would be
elsewhere."""

CLOSE = 0.15
"""Total variation up to which no wider bins are tried: to spread a bin's rows evenly costs more than they save."""

PARTS, FEWEST_BINS = (2, 4, 8), 4
"""Wider bins that are tried: that part of the schema's, and no fewer than so many a column."""

Progress = Callable[[Round], None]


NOT_PLANNED = "Bins are the schema's, or the usual ones where it has none: with --people N they would be planned."

MOST_NAMED = 3
"""Columns whose bins a sentence has."""


class NeededMethod(str):
    """The name of a method that another setting needs, and the ``reason`` in words."""

    reason: str

    def __new__(cls, method: str, reason: str) -> NeededMethod:
        """A name like any other, with a reason."""
        made = super().__new__(cls, method)
        made.reason = reason
        return made


@dataclass(frozen=True)
class Choice:
    """A method, the schema with the bins that were chosen, the sentence that says why, and where it was simulated what
    to expect: of the choice, and of the best on every grid that was tried, the finest first."""

    method: str
    schema: Schema
    sentence: str
    expectation: Expectation | None = None
    tried: tuple[Expectation, ...] = ()


def method_sentence(method: str) -> str:
    """That a method was asked for, or needed, and the bins were not planned."""
    return f"{method}, {_reason(method)}. {NOT_PLANNED}"


def _reason(method: str) -> str:
    """Why a method that was given is the only one."""
    return method.reason if isinstance(method, NeededMethod) else "as was asked for"


def usual_choice(schema: Schema, price: Price, *, method: str | None, bins: int | None, same: bool = False) -> Choice:
    """Without a number of people: the schema's bins, and the method by how much epsilon is left for one row.

    The envelope is taken while a row has at least a tenth of epsilon (of epsilon^2, above 1); where no column has five
    ordered bins, whose neighbours tell of each other, at least half. ``same`` asks for as many rows as people.
    """
    if method is not None:
        return Choice(method, schema, method_sentence(method))
    grid = schema_grid(schema, bins, method)
    if grid.cells > MOST_CELLS_TO_HOLD:
        return Choice(AIM, schema, aim_sentence(grid))
    if same:
        return Choice(
            PAY_ONCE, schema, f"{PAY_ONCE}, as only noisy counts tell about how many people there are. {NOT_PLANNED}"
        )
    ordered = any(isinstance(axis, Axis) and axis.number_bins >= LEAST_ORDERED for axis in grid.axes)
    most = most_envelope_rows(price, ordered)
    chosen = ENVELOPE if price.rows <= most else PAY_ONCE
    many = (
        f"{price.rows:,} row{'s are' if price.rows > 1 else ' is'} {'at most' if price.rows <= most else 'more than'} "
        f"the {most:,} up to which"
    )
    within = f"epsilon {at_most(price.epsilon)}" + (f" and delta {at_most(price.delta)}" if price.delta else "")
    closer = f"rows drawn from the data itself (envelope) are usually closer at {within}"
    return Choice(chosen, schema, f"{chosen}, as {many} {closer}. {NOT_PLANNED}")


def most_envelope_rows(price: Price, ordered: bool) -> int:
    """Up to how many rows the envelope is usually closer than paying once; at least 1."""
    share = LEAST_SHARE if ordered else LEAST_SHARE_UNORDERED
    least = share * price.epsilon * max(1.0, price.epsilon) * (1 - 1e-9)
    low, high = 1, 1000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if replace(price, rows=middle).of_one_row >= least else (low, middle)
    return low


def simulated_choice(
    schema: Schema, simulation: Simulation, price: Price, *, method: str | None = None, bins: int | None = None,
    same: bool = False, progress: Progress | None = None,
) -> Choice:  # fmt: skip
    """The method and bins of the least expected distance in a simulation, unless they are given."""
    grids = candidate_grids(schema, bins, method)
    finest, _ = grids[0]
    if method == AIM or (method is None and finest.cells > MOST_CELLS_TO_HOLD):
        return Choice(AIM, schema, aim_sentence(finest))
    if finest.cells > MOST_CELLS:
        raise BadInput(
            f"The grid has {finest.cells:,} cells; {MOST_CELLS:,} are the most possible. Take fewer columns or --bins."
        )
    methods = methods_for(method, same)
    found: list[tuple[Expectation, list[Expectation], Schema]] = []
    for done, (grid, known) in enumerate(grids):
        tell(progress, f"Trying {grid.cells:,} cells on made-up people", done / len(grids))
        tried = [one for one in (simulation.expect(name, price, grid) for name in methods) if one is not None]
        if not tried:
            raise BadInput(
                f"{price.rows:,} rows are too many for the envelope at epsilon {at_most(price.epsilon)}. Take fewer "
                f"rows, or --method {PAY_ONCE}."
            )
        best, *others = sorted(tried, key=lambda one: one.errors.tv)
        found.append((best, others, known))
        if found[0][0].finest_tv <= CLOSE:
            break
    least = min(best.finest_tv for best, _, _ in found)
    last = max(at for at, (one, _, _) in enumerate(found) if one.finest_tv <= FARTHER * least)
    best, others, known = next((row for row in found[last:] if row[0].errors.tv <= TOO_FAR), found[last])
    if method is None and best.errors.tv > TOO_FAR and len(schema.columns) >= FEWEST_COLUMNS_OF_AIM:
        far = three_digits(best.errors.tv)
        sentence = f"{AIM}, as with about {simulation.people:,} people joint counts are expected {far} away."
        return Choice(AIM, schema, sentence)
    reason = "" if method is None else f" ({_reason(method)})"
    how = f"{best.method}{reason} on {_bins_words(best.grid, schema)}"
    sentence = _simulated_sentence(how, best, others, simulation.people)
    return Choice(best.method, known, sentence, best, tuple(row[0] for row in found))


def methods_for(method: str | None, same: bool) -> tuple[str, ...]:
    """The methods to choose from; about as many rows as people can only be told by noisy counts."""
    return (method,) if method is not None else (PAY_ONCE,) if same else (ENVELOPE, PAY_ONCE)


def schema_grid(schema: Schema, bins: int | None, method: str | None) -> Grid:
    """The grid of a schema for a method, or None for the one to be chosen: joint, where that can be held."""
    return make_grid(schema, bins=bins, joint=None if method is None else method != AIM)


def candidate_grids(schema: Schema, bins: int | None, method: str | None) -> list[tuple[Grid, Schema]]:
    """The grids to choose from, the finest first, each with its schema; one alone if bins are given everywhere, or no
    joint grid can be held."""
    finest = schema_grid(schema, bins, method)
    if finest.cells > MOST_CELLS_TO_HOLD:
        return [(finest, schema)]
    free = [
        axis.bins - axis.categories
        for column, axis in zip(schema.columns, finest.axes, strict=True)
        if column.categories is None and column.bins is None
    ]
    found = {finest.shape: (finest, with_bins(schema, finest, max(free, default=0)))}
    for part in PARTS if bins is None else ():
        most = max(free, default=0) // part
        if most >= FEWEST_BINS:
            known = with_bins(schema, finest, most)
            grid = make_grid(known)
            found.setdefault(grid.shape, (grid, known))
    return list(found.values())


def aim_sentence(grid: Grid) -> str:
    """Why marginals are measured instead of joint cells."""
    many = f"{grid.cells:,} joint cells, more than {MOST_CELLS_TO_HOLD:,}"
    return f"{AIM}, as there are {many}." if grid.cells > MOST_CELLS_TO_HOLD else f"{AIM}, as was asked for."


def _bins_words(grid: Grid, schema: Schema) -> str:
    """The bins that were chosen, column by column, or that the schema says them all."""
    chosen = [axis for axis, column in zip(grid.axes, schema.columns, strict=True) if isinstance(axis, Axis)]
    if all(column.bins is not None or column.categories is not None for column in schema.columns):
        return "the schema's bins" if chosen else "the schema's categories"
    more = len(chosen) - MOST_NAMED
    named = [f"{axis.number_bins:,} bins of {shorten(printable(axis.name))!r}" for axis in chosen[:MOST_NAMED]]
    return join_and([*named, *([f"those of {more} more column{'s' * (more > 1)}"] if more > 0 else [])])


def _simulated_sentence(how: str, best: Expectation, others: Sequence[Expectation], people: int) -> str:
    than = "".join(f", {three_digits(other.errors.tv)} by {other.method}" for other in others)
    return (
        f"{how}: with about {people:,} {'people' if people > 1 else 'person'} total variation "
        f"{three_digits(best.errors.tv)} is expected{than}."
    )
