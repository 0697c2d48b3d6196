"""What is asked for of a table to publish, and the mechanism that is made of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equinoise.data.category_axis import EXACT, WHOLE
from equinoise.data.grid import Grid
from equinoise.data.make_grid import MOST_CELLS_TO_HOLD, with_bins
from equinoise.data.players import Players
from equinoise.data.read_players import with_usual_rules
from equinoise.data.schema import Schema
from equinoise.errors import BadInput, WeakPromiseWarning, check
from equinoise.formatting import at_most, join_and
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.mechanisms.envelope_table import EnvelopeTable, row_epsilon
from equinoise.mechanisms.model_table import ModelTable, check_model_grid
from equinoise.mechanisms.private_table import PrivateTable, check_private_grid
from equinoise.mechanisms.saved_file import charged
from equinoise.privacy.accounting import Budget
from equinoise.privacy.book_cost import Cost
from equinoise.settings import MOST_BINS, MOST_TOTAL_EPSILON, PRIVATE_RULES, SAME_ROWS, check_settings
from equinoise.solvers.procedure import warn_of_delta
from equinoise.solvers.solution import Round, tell
from equinoise.synthesis.choice import Choice, schema_grid, simulated_choice, usual_choice
from equinoise.synthesis.expectation import Price, Simulation
from equinoise.synthesis.noisy_counts import MOST_EPSILON, noise_law
from equinoise.synthesis.opendp_filter import ModelRequest, check_parts
from equinoise.synthesis.plan import Plan, make_plan
from equinoise.verbs.saving import Saving

MOST_DIGITS = 16
"""Of whole numbers below 2^53."""

Progress = Callable[[Round], None]


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """Settings of a table to publish, with what ``synthesize`` takes for each; checked when they are put together."""

    epsilon: float
    rows: int | str
    delta: float = 0.0
    method: str | None = None
    people: int | None = None
    unit: str | None = None
    rows_per_person: int = 1
    base: Sequence[float] | None = None

    def __post_init__(self) -> None:
        check_settings({key: value for key, value in vars(self).items() if key != "base"})
        check(self.epsilon <= MOST_EPSILON, "epsilon", f"at most {MOST_EPSILON:g}", self.epsilon)
        if self.method == EnvelopeTable.method and self.rows == SAME_ROWS:
            raise BadInput("As many rows as there are people can only be told by noisy counts: --method pay-once.")
        if self.method == ModelTable.method:
            check_parts()
        if self.epsilon > MOST_TOTAL_EPSILON:
            warnings.warn(
                f"An epsilon of {at_most(self.epsilon)} promises next to nothing: what is released may be "
                f"e^{self.epsilon:.3g} times as likely with a person as without. Epsilons of 1 or less are usual for "
                "data about people.",
                WeakPromiseWarning,
                stacklevel=5,
            )

    @property
    def price(self) -> Price:
        """What may be paid, and for how many rows; as many as people are as many as anyone may know."""
        rows = self.rows if isinstance(self.rows, int) else self.people or 1
        return Price(float(self.epsilon), int(rows), float(self.delta), int(self.rows_per_person))

    def choose(self, schema: Schema, bins: int | None, progress: Progress | None) -> Choice:
        """The method, and the schema with its bins, by what is public: before any data is opened."""
        same = isinstance(self.rows, str)
        if self.people is None:
            choice = usual_choice(schema, self.price, method=self.method, bins=bins, same=same)
        else:
            grid = schema_grid(schema, bins, self.method)
            if self.base is not None:  # it has a number for every cell of the schema's grid
                schema = with_bins(schema, grid, MOST_BINS)
            people = Simulation.of(grid, int(self.people), self.price.rows_per_person)
            told = {"method": self.method, "bins": bins, "same": same, "progress": progress}
            choice = simulated_choice(schema, people, self.price, **told)  # type: ignore[arg-type]
        if self.base is not None and choice.method != EnvelopeTable.method:
            raise BadInput(
                f"A base is for the envelope, and {choice.method} is taken. Say --method envelope, or leave --base out."
            )
        self._check_price(choice.method)
        return choice

    def _check_price(self, method: str) -> None:
        """Refuse what a method cannot give for its price: before data is opened, and a book is charged."""
        if method == EnvelopeTable.method:
            row_epsilon(Budget(self.price.epsilon, self.price.delta), self.price.rows, self.rows_per_person)
        elif method == ModelTable.method:
            ModelRequest((2, 2), self.epsilon, self.delta, self.rows_per_person)
        else:
            noise_law(self.epsilon, self.rows_per_person)

    def plan(self, schema: Schema, bins: int | None, progress: Progress | None) -> Plan:
        """The choice, what to expect of it, and what other settings would give."""
        assert self.people is not None
        told = {"method": self.method, "bins": bins, "same": isinstance(self.rows, str), "progress": progress}
        found = make_plan(schema, int(self.people), self.price, **told)  # type: ignore[arg-type]
        if found.method == ModelTable.method:
            check_model_grid(found.grid)
        return found

    def make(
        self, players: Players, counting: dict[str, Any], choice: Choice, saving: Saving, progress: Progress | None
    ) -> PrivateTable:
        """The mechanism by the method of a choice, certified, recorded and saved if there is a file for it."""
        warn_of_delta(self.delta, players.total_people)
        method = None if self.method is None else str(self.method)
        asked = {"rows": self.rows, "method": method, "people": self.people, "delta": float(self.delta)}
        paid = {"epsilon": float(self.epsilon), "rows_per_person": self.rows_per_person}
        settings = {**counting, **asked, **paid, "plan": choice.sentence}
        if choice.method != EnvelopeTable.method:
            return self._paid_once(players, settings, choice, saving, progress)
        assert isinstance(self.rows, int)
        tell(progress, "Working out the weights")
        made = EnvelopeTable.make(
            players, epsilon=self.epsilon, rows=self.rows, delta=self.delta, base=self.base,
            rows_per_person=self.rows_per_person, settings=settings,
        )  # fmt: skip
        saving.save(made, force=saving.force)
        return made

    def cost(self, choice: Choice) -> Cost:
        """What a book is charged for everything that comes out; rows of the envelope are zCDP of their bounded range,
        and of AIM only OpenDP knows."""
        epsilon, delta, rho = float(self.epsilon), float(self.delta), None
        if choice.method == EnvelopeTable.method:
            rho = int(self.rows) * self.price.of_one_row**2 / 8 * (1 + 1e-9)
            return Cost(epsilon, delta if int(self.rows) > 1 else 0.0, rho)
        if choice.method == CountsTable.method or delta == 0:
            return Cost.pure(epsilon)
        return Cost(epsilon, delta)

    def _paid_once(
        self, players: Players, settings: dict[str, Any], choice: Choice, saving: Saving, progress: Progress | None
    ) -> PrivateTable:
        """Noisy counts, or a model of such, which the file says are paid for, durably, before the noise is drawn."""
        price = f"epsilon {at_most(self.epsilon)} for the noisy counts of {players.grid.name}"
        many: dict[str, Any] = {"rows_per_person": self.rows_per_person, "settings": settings}
        made: PrivateTable
        with nullcontext() if saving.path is None else charged(Path(saving.path), price, force=saving.force):
            if choice.method == ModelTable.method:
                tell(progress, "Making a model of the columns with OpenDP's AIM, which takes a minute or so")
                made = ModelTable.make(players, epsilon=self.epsilon, delta=self.delta, **many)
            else:
                tell(progress, "Drawing noise, and estimating the table from the noisy counts")
                made = CountsTable.make(players, epsilon=self.epsilon, **many)
            saving.save(made, force=True)
        return made


def check_table_grid(grid: Grid, method: str) -> None:
    """Refuse a grid that a method cannot take, and the method of many columns where its extra is missing."""
    if method != ModelTable.method:
        check_private_grid(grid)
        return
    many = f"{grid.cells:,} joint cells are too many to count, so --method aim is taken. "
    check_parts(why=many if grid.cells > MOST_CELLS_TO_HOLD else "")
    check_model_grid(grid)


def public_columns(schema: Schema) -> Schema:
    """A schema that is all public, and where nothing was said of values that fit nowhere refuses none, which would
    tell of one person: those outside are clipped (or dropped, if categories), missing ones dropped."""
    blank = [column.name for column in schema.columns if not column.is_complete]
    if blank:
        raise BadInput(
            "Differential privacy needs --bounds or --categories (in Python, bounds= or categories=), or a schema: "
            "bounds read off the data depend on one person."
        )
    if schema.peeked:
        raise BadInput(
            f"By the schema, {join_and(schema.peeked)} came from the data and so from single people: nothing can be "
            "promised. Write down what is public instead, and delete 'peeked'."
        )
    for column in schema.columns:
        large = next(filter(_may_be_rounded, column.categories or ()), None)
        if large is not None:
            raise BadInput(
                f"Column {column.name!r} lists the category {large}. Whole numbers from 2^53 on are rounded where one "
                "value is missing, so one person would change everyone's row. Give them shorter codes first."
            )
    return with_usual_rules(schema, PRIVATE_RULES)


def _may_be_rounded(category: Any) -> bool:
    """Whether a category is a whole number too large for floats, which pandas has beside a missing value."""
    written = WHOLE.fullmatch(str(category).strip())
    return written is not None and (len(written[1].lstrip("+-0")) > MOST_DIGITS or int(written[1]) not in EXACT)
