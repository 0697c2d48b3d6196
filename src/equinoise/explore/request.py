"""What a page asks for, and what it gets: what the command line makes of the same settings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import Any

from equinoise.data.bounds_cost import epsilon_left, warn_uncounted
from equinoise.data.grid import Grid
from equinoise.data.players import Players
from equinoise.data.read_players import columns_asked_for
from equinoise.data.schema import Schema
from equinoise.errors import BadInput, EquinoiseWarning, check
from equinoise.explore.source import Source
from equinoise.formatting import join_or
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.model_table import ModelTable
from equinoise.settings import check_settings
from equinoise.solvers.procedure import Procedure, warn_of_delta
from equinoise.solvers.solution import Round
from equinoise.synthesis.choice import Choice
from equinoise.synthesis.plan import Plan
from equinoise.verbs.optimize import play
from equinoise.verbs.saving import Saving
from equinoise.verbs.table_request import TableRequest, check_table_grid, public_columns

SYNTHESIZE, OPTIMIZE = "synthesize", "optimize"
SETTINGS_OF = {
    SYNTHESIZE: ("epsilon", "delta", "rows", "people", "method", "rows_per_person"),
    OPTIMIZE: ("epsilon", "delta", "draws", "scales"),
}
"""What a page moves of each verb; the rest is at its defaults."""

Progress = Callable[[Round], None]
Counted = tuple[Players, dict[str, Any], tuple[str, ...]]
"""Players, how they were counted, and what was warned of meanwhile."""

Kept = Callable[[str, Callable[[], Counted]], Counted]
"""Gives what was counted before under a name, or counts it now."""


@dataclass(frozen=True)
class PageRequest:
    """A verb, the schema as it stands on the page, and the verb's settings."""

    verb: str
    schema: Schema
    settings: Mapping[str, Any]

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> PageRequest:
        """A request as a page sends it; what is no setting of the verb, or has another type, is refused."""
        verb = given.get("verb", SYNTHESIZE)
        check(isinstance(verb, str) and verb in SETTINGS_OF, "verb", join_or(SETTINGS_OF), verb)
        known = SETTINGS_OF[verb]
        settings = {name: value for name, value in given.items() if name not in {"verb", "schema"}}
        strange = next((name for name in settings if name not in known), None)
        if strange is not None:
            raise BadInput(f"There is no setting {str(strange)[:40]!r} of {verb!r} here. There are {', '.join(known)}.")
        if "epsilon" not in settings:
            raise BadInput("There is no epsilon. Give one, such as 1.")
        for name in ("scales", "method"):
            check(isinstance(settings.get(name, ""), str | None), name, "a word", settings.get(name))
        schema = schema_from_json(given.get("schema"))
        check_settings({**settings, "unit": schema.unit})
        return cls(verb, schema, settings)

    @cached_property
    def columns(self) -> Schema:
        """The schema, in which nothing is left to be filled in."""
        return columns_asked_for(self.schema, None, None)

    @cached_property
    def table(self) -> TableRequest:
        """What is asked of a table to publish."""
        check("rows" in self.settings, "rows", "how many rows to draw", None)
        left = epsilon_left(self.settings["epsilon"], self.columns)
        return TableRequest(**{**self.settings, "epsilon": left}, unit=self.columns.unit)

    def plan(self, progress: Progress | None) -> Plan | None:
        """What to expect of a table, without data; None where nobody says about how many people there are."""
        if self.verb != SYNTHESIZE or self.table.people is None:
            return None
        return self.table.plan(public_columns(self.columns), None, progress)

    def make(self, source: Source, kept: Kept, plan: Plan | None, progress: Progress | None) -> Mechanism:
        """The mechanism of the data. A table's noise is drawn for the page alone: what is published has noise of its
        own."""
        if self.verb == OPTIMIZE:
            return self._play(source, kept, progress)
        choice = self.table.choose(public_columns(self.columns), None, progress) if plan is None else plan.choice
        players, counting = self._count_table(source, kept, choice)
        made = self.table.make(players, counting, choice, Saving(), progress)
        return made.releasing(made.row_format, coverage=players.coverage)

    def _count_table(self, source: Source, kept: Kept, choice: Choice) -> tuple[Players, dict[str, Any]]:
        joint = choice.method != ModelTable.method
        counting = {"joint": joint, "most_rows": self.table.rows_per_person, "least": 0}
        return self._count(
            source, kept, choice.schema, partial(check_table_grid, method=choice.method), **counting
        )  # fmt: skip

    def _play(self, source: Source, kept: Kept, progress: Progress | None) -> Mechanism:
        procedure = Procedure(**self.settings)
        procedure.check_request(procedure.request())
        schema = warn_uncounted(self.columns)
        players, counting = self._count(source, kept, schema, procedure.check_grid, most_rows=None)
        warn_of_delta(procedure.delta, players.total_people)
        made = play(players, procedure, {**counting, "unit_rows": "all"}, progress=progress)
        return made.releasing(made.row_format, coverage=players.coverage)

    @staticmethod
    def _count(
        source: Source, kept: Kept, schema: Schema, check_grid: Callable[[Grid], None], **how: Any
    ) -> tuple[Players, dict[str, Any]]:
        def count() -> Counted:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", EquinoiseWarning)
                found = source.read(schema, check_grid=check_grid, **how)
            return *found, tuple(str(one.message) for one in caught if issubclass(one.category, EquinoiseWarning))

        players, counting, sentences = kept(f"{how}\n{schema.to_toml()}", count)
        check_grid(players.grid)
        for sentence in sentences:
            warnings.warn(sentence, EquinoiseWarning, stacklevel=2)
        return players, counting


def schema_from_json(given: Any) -> Schema:
    """A schema as a page sends it: in the form of its file, with dates as text."""
    check(isinstance(given, dict), "schema", "a JSON object", given)
    columns = given.get("columns")
    if not isinstance(columns, dict):
        return Schema.of(given)
    return Schema.of({**given, "columns": {name: _with_dates(column) for name, column in columns.items()}})


def _with_dates(column: Any) -> Any:
    bounds = column.get("bounds") if isinstance(column, dict) else None
    if isinstance(bounds, list) and bounds and all(isinstance(end, str) for end in bounds):
        with suppress(ValueError):
            return {**column, "bounds": [date.fromisoformat(end) for end in bounds]}
    return column
