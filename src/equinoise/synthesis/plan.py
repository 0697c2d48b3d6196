"""The plan of a table to publish: which way it is made and what to expect, or what would be enough; without data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from equinoise.data.grid import Grid
from equinoise.data.schema import Schema
from equinoise.display import VIEWS
from equinoise.errors import BadInput
from equinoise.formatting import at_most, three_digits
from equinoise.settings import MOST_TOTAL_EPSILON
from equinoise.solvers.solution import tell
from equinoise.synthesis.choice import TOO_FAR, Choice, Progress, candidate_grids, methods_for, simulated_choice
from equinoise.synthesis.expectation import ENVELOPE, PAY_ONCE, VERY_MANY_CELLS, Expectation, Price, Simulation

EPSILONS, ROWS = (0.1, 0.3, 1.0, 3.0), (1, 10, 100, 1000)
"""Of the table."""

HOPELESS_SHARE = 0.02
"""Of epsilon: where a row of the envelope has less, noisy counts are closer, and it is not tried."""

MOST_PEOPLE = 10**9
BISECTIONS = 2


@dataclass(frozen=True)
class TableRow:
    """The method and its expected total variation for another epsilon and number of rows."""

    epsilon: float
    rows: int
    method: str
    tv: float


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What to expect of rows with differential privacy, worked out without data, and which way they are made.

    ``schema`` has the bins that were chosen, ``expectation`` the errors to expect (None with the method ``aim``, where
    nothing is simulated), ``table`` other epsilons and numbers of rows. Where it is ``too_small``, ``enough_people``
    and ``enough_epsilon`` say what would be enough, each alone.
    """

    people: int
    price: Price
    choice: Choice
    grid: Grid
    table: tuple[TableRow, ...] = ()
    too_small: bool = False
    enough_people: int | None = None
    enough_epsilon: float | None = None

    @property
    def method(self) -> str:
        """The method that is taken."""
        return self.choice.method

    @property
    def schema(self) -> Schema:
        """The schema with the bins that were chosen."""
        return self.choice.schema

    @property
    def expectation(self) -> Expectation | None:
        """The errors to expect, if they were simulated."""
        return self.choice.expectation

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        found = self.expectation
        return {
            "plan": self.choice.sentence,
            "method": self.method,
            "bins": dict(zip(self.schema.names, self.grid.shape, strict=True)),
            "cells": self.grid.cells,
            "people": self.people,
            **vars(self.price),
            "tv": None if found is None else found.errors.tv,
            "errors": None if found is None else found.errors.columns,
            "sampling_tv": None if found is None else found.sampling.tv,
            "sampling_errors": None if found is None else found.sampling.columns,
            "tried": [
                {"method": one.method, "bins": list(one.grid.shape), "tv": one.errors.tv, "finest_tv": one.finest_tv}
                for one in self.choice.tried
            ],
            "table": [vars(row) for row in self.table],
            "too_small": self.too_small,
            "enough_people": self.enough_people,
            "enough_epsilon": self.enough_epsilon,
            "schema": self.schema.to_json(),
        }

    def __repr__(self) -> str:
        """The sentence that synthesize says, too."""
        return f"<Plan: {self.choice.sentence}>"

    def _repr_html_(self) -> str:
        return str(VIEWS["plan"](self))


def make_plan(
    schema: Schema, people: int, price: Price, *, method: str | None = None, bins: int | None = None,
    same: bool = False, progress: Progress | None = None,
) -> Plan:  # fmt: skip
    """The plan for about so many people: the choice, other epsilons and numbers of rows, and what would be enough."""
    grids = [grid for grid, _ in candidate_grids(schema, bins, method)]
    simulation = Simulation.of(grids[0], people, price.rows_per_person)
    choice = simulated_choice(schema, simulation, price, method=method, bins=bins, same=same, progress=progress)
    found = choice.expectation
    if found is None:
        return Plan(people, price, choice, grids[0])
    methods = methods_for(method, same)
    table = _table(simulation, found.grid, price, methods, progress)
    plan = Plan(people, price, choice, found.grid, tuple(table))
    if found.errors.tv <= TOO_FAR:
        return plan
    more_people, more_epsilon = _enough(grids, people, price, methods, progress)
    noise = price.rows_per_person / price.epsilon
    if noise > people:
        raise BadInput(
            f"Epsilon {at_most(price.epsilon)} is too small for anything: noise on one count would be about "
            f"{three_digits(noise)}, more than all {people:,} people. {_enough_sentence(more_people, more_epsilon)}"
        )
    return replace(plan, too_small=True, enough_people=more_people, enough_epsilon=more_epsilon)


def _enough_sentence(people: int | None, epsilon: float | None) -> str:
    found = [] if epsilon is None else [f"epsilon {at_most(epsilon)}"]
    found += [] if people is None else [f"{people:,} people"]
    return f"Enough would be {' or '.join(found)}." if found else "Nothing that is usual would be enough."


def _table(
    simulation: Simulation, grid: Grid, price: Price, methods: Sequence[str], progress: Progress | None
) -> Iterator[TableRow]:
    """Other epsilons and numbers of rows on one grid; on very large ones nothing, as it would take too long."""
    if grid.cells > VERY_MANY_CELLS:
        return
    for done, epsilon in enumerate(EPSILONS):
        tell(progress, f"Trying epsilon {epsilon:g} on made-up people", done / len(EPSILONS))
        others = replace(price, epsilon=epsilon)
        counted = simulation.tv(PAY_ONCE, others, grid) if PAY_ONCE in methods else math.inf
        for rows in ROWS:
            one = replace(others, rows=rows)
            hopeless = one.of_one_row < HOPELESS_SHARE * epsilon and PAY_ONCE in methods
            drawn = math.inf if ENVELOPE not in methods or hopeless else simulation.tv(ENVELOPE, one, grid)
            name = ENVELOPE if drawn < counted else PAY_ONCE if counted < math.inf else methods[0]
            yield TableRow(epsilon, rows, name, min(drawn, counted))


def _enough(
    grids: Sequence[Grid], people: int, price: Price, methods: Sequence[str], progress: Progress | None
) -> tuple[int | None, float | None]:
    """The people, and the epsilon, with which the distance would be small enough on the coarsest grid."""

    def near_enough(many: int, epsilon: float) -> bool:
        tell(progress, f"Looking for what would be enough: {many:,} people, epsilon {three_digits(epsilon)}")
        simulation = Simulation.of(grids[0], many, price.rows_per_person)
        one = replace(price, epsilon=epsilon)
        return any(simulation.tv(name, one, grids[-1]) <= TOO_FAR for name in methods)

    start = max(2.0, 5 * price.rows_per_person / price.epsilon / people)  # less is hopeless: noise is a fifth of it all
    most = MOST_TOTAL_EPSILON / price.epsilon
    larger = _least(lambda factor: near_enough(people, price.epsilon * factor), most, start)
    many = _least(
        lambda factor: near_enough(round(people * factor), price.epsilon), MOST_PEOPLE / people, larger or start
    )
    enough_people = None if many is None else round(_two_digits(people * many))
    return enough_people, None if larger is None else _two_digits(price.epsilon * larger)


def _least(enough: Callable[[float], bool], most: float, start: float) -> float | None:
    """About the least factor that is enough, by doubling (or halving) from a start on, then between the two; None if
    none up to ``most`` is."""
    high = min(start, most)
    while not enough(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    while high > 2 and enough(high / 2):
        high /= 2
    low = max(high / 2, 1.0)
    for _ in range(BISECTIONS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _two_digits(value: float) -> float:
    """Rounded up."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.6g}")
