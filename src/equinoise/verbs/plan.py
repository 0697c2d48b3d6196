"""What to expect of rows to publish, before there is any data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from equinoise.choices import MethodName, MissingRule, SameRows
from equinoise.data.bounds_cost import epsilon_left
from equinoise.data.read_players import Bounds, Categories, SchemaLike, Step, check_bins, columns_asked_for
from equinoise.errors import check
from equinoise.solvers.solution import Round
from equinoise.synthesis.plan import Plan
from equinoise.verbs.progress import takes_progress_flag
from equinoise.verbs.table_request import TableRequest, public_columns


@takes_progress_flag
def plan(
    schema: SchemaLike = None,
    column: str | Sequence[str] | None = None,
    *,
    people: int,
    epsilon: float,
    rows: int | SameRows,
    delta: float = 0.0,
    method: MethodName | None = None,
    bounds: Bounds = None, step: Step = None, categories: Categories = None,
    bins: int | None = None,
    missing: MissingRule | None = None,
    unit: str | None = None, rows_per_person: int = 1,
    progress: Callable[[Round], None] | bool | None = None,
) -> Plan:  # fmt: skip
    """Which way :func:`equinoise.synthesize` will make rows, and what to expect of them: no data is read.

    >>> public = {"columns": {"years": {"bounds": [0, 9], "step": 1}}}
    >>> found = plan(public, people=500, epsilon=1, rows=200)
    >>> found.method, found.expectation.errors.tv < 0.05, found.too_small
    ('pay-once', True, False)

    ``people`` is about how many there are, as anyone may know. With the same settings, ``synthesize`` takes the method
    and the bins of the plan. What to expect is worked out on made-up people, of whom everyone has as many rows as
    count; it is the same whenever it is asked for.
    """
    assert not isinstance(progress, bool)  # watched
    check(people is not None, "people", "about how many people there are, as anyone may know", people)
    asked = columns_asked_for(schema, column, bounds, step, categories, missing=missing, unit=unit)
    check_bins(asked, bins)
    request = TableRequest(
        epsilon=epsilon_left(epsilon, asked), rows=rows, delta=delta, method=method, people=people, unit=asked.unit,
        rows_per_person=rows_per_person,
    )  # fmt: skip
    return request.plan(public_columns(asked), bins, progress)
