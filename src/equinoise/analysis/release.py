"""A release: rows with differential privacy or noisy counts, as published or as just made, and answers from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from equinoise.analysis.answers.ask import Answers, ask, refuse_same
from equinoise.analysis.answers.complete_cases import complete_cases
from equinoise.analysis.answers.noisy_table import NoisyTable
from equinoise.analysis.answers.questions import ALL, Columns, make_question
from equinoise.analysis.answers.row_table import rows_as_they_are, rows_by_axes, rows_by_schema
from equinoise.data.category_axis import Category
from equinoise.data.paths import PARQUET, find_files
from equinoise.data.schema import Schema
from equinoise.data.text_format import SEPARATORS
from equinoise.display import VIEWS
from equinoise.errors import BadInput, check
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.counts_table import CountsTable
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.mechanisms.published_counts import PublishedCounts, publish_counts, read_counts
from equinoise.privacy.promise import Promise

SAVED = b"equinoise "
"""How a saved mechanism begins."""


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """``rows``, a dataframe of the kind that the data came in, may be given away; the ``mechanism`` is as secret as the
    data. More rows: ``mechanism.sample(n)``, free where the price was paid once and charged otherwise.

    Answers cost nothing more, as often as one likes: from the noisy ``counts`` where the price was paid once, else from
    rows alone. A release that was opened (:meth:`open`) has ``rows`` of None, and of a published file no mechanism.
    """

    rows: Any = None
    made: PrivateTable | None = None
    counts: PublishedCounts | None = None
    file: tuple[Path, Schema | None] | None = None

    @classmethod
    def open(cls, path: str | Path, schema: Any = None) -> Release:
        """A published file of noisy counts or of rows, or a saved mechanism that has noisy counts. A ``schema`` (a
        file, a dict or a :class:`Schema`) is for rows: without one their columns are taken as they are."""
        check(isinstance(path, str | Path), "path", "the name of a file", path)
        path = Path(path)
        begin = _begin(path)
        saved = begin.startswith(SAVED) or path.suffix.lower() == ".eq"
        counts = not saved and (begin.startswith(b"{") or path.suffix.lower() == ".json")
        if not saved and not counts:
            if path.is_file() and path.suffix.lower() not in {*SEPARATORS, *PARQUET}:
                raise BadInput(
                    f"{str(path)!r} must be a file of noisy counts (.json), rows (.csv, .tsv or .parquet) or a saved "
                    "mechanism (.eq)."
                )
            find_files(path)
            return cls(file=(path, None if schema is None else Schema.of(schema)))
        if schema is not None:
            raise BadInput(f"The file {str(path)!r} has its own schema. Leave --schema out (in Python, schema=).")
        if counts:
            return cls(counts=read_counts(path))
        mechanism = Mechanism.open(path)
        if not isinstance(mechanism, CountsTable):
            raise BadInput(
                f"The mechanism in {str(path)!r} has no noisy counts: only those that are paid for once have (--method "
                "pay-once). Draw rows with 'equinoise sample', and ask for answers from these."
            )
        return cls.of(mechanism)

    @classmethod
    def of(cls, mechanism: PrivateTable, rows: Any = None) -> Release:
        """What came out of a mechanism: its noisy counts, if it has any, and rows."""
        counts = PublishedCounts.of(mechanism) if isinstance(mechanism, CountsTable) else None
        return cls(rows, mechanism, counts)

    @property
    def mechanism(self) -> PrivateTable:
        """What the rows were drawn from."""
        if self.made is None:
            raise BadInput("This release was opened from a published file, which has no mechanism.")
        return self.made

    @property
    def promise(self) -> Promise | None:
        """What is promised of everything that comes out, these rows and later ones; None of rows in a file, which do
        not tell it."""
        if self.made is not None:
            return self.made.promise
        return None if self.counts is None else self.counts.promise

    @cached_property
    def columns(self) -> Columns:
        """What is asked: the noisy counts if there are any, else the rows."""
        if self.counts is not None:
            axes, shape = self.counts.grid.axes, self.counts.grid.shape
            of_whom = complete_cases(self.counts.schema, self.counts.law.rows)
            return Columns(NoisyTable(self.counts.counts.reshape(shape), axes, self.counts.law), "The release", of_whom)
        if self.file is None:
            of_whom = complete_cases(self.mechanism.schema, self.mechanism.rows_per_person)
            return Columns(rows_by_axes(self.rows, self.mechanism.grid.axes), "The release", of_whom)
        path, schema = self.file
        if schema is None:
            return Columns(rows_as_they_are(path), f"The file {str(path)!r}")
        return Columns(rows_by_schema(path, schema), "The schema", complete_cases(schema))

    def publish_counts(self, path: str | Path, *, force: bool = False) -> None:
        """Write the noisy counts as JSON, for anybody to use: that costs nothing more."""
        if not isinstance(self.made, CountsTable):
            raise BadInput("There are no noisy counts to publish: only method='pay-once' makes some.")
        publish_counts(self.made, Path(path), force=force)

    def mean(self, column: str, *, by: str | None = None, level: float = 0.95) -> Answers:
        """The mean of a column of numbers or dates; ``by`` another column, of each of its categories."""
        return self._answer("mean", column, by=by, level=level)

    def median(self, column: str, *, by: str | None = None, level: float = 0.95) -> Answers:
        """The median of a column of numbers or dates."""
        return self._answer("median", column, by=by, level=level)

    def quantiles(
        self, column: str, quantiles: Sequence[float], *, by: str | None = None, level: float = 0.95
    ) -> Answers:
        """Quantiles of a column of numbers or dates, each between 0 and 1: one answer for each."""
        return self._answer("quantiles", column, quantiles, by=by, level=level)

    def count(
        self, column: str | None = None, category: Category | None = ALL, *, by: str | None = None, level: float = 0.95
    ) -> Answers:
        """How many there are in all, in each category of a column, or in one (None: that of the missing)."""
        return self._answer("count", column, category, by=by, level=level)

    def share(
        self, column: str, category: Category | None = ALL, *, by: str | None = None, level: float = 0.95
    ) -> Answers:
        """The share of each category of a column, or of one (None: that of the missing): from 0 to 1."""
        return self._answer("share", column, category, by=by, level=level)

    def correlation(self, a: str, b: str, *, by: str | None = None, level: float = 0.95) -> Answers:
        """Pearson's correlation of two columns of numbers or dates."""
        return self._answer("correlation", a, b, by=by, level=level)

    def difference(
        self, column: str, *, by: str, between: tuple[Category | None, Category | None], level: float = 0.95
    ) -> Answers:
        """The mean of a column in one category less that in another, with a test of whether they differ at all."""
        if not isinstance(between, Sequence) or isinstance(between, str) or len(between) != 2:
            raise BadInput(f"The 'between' parameter must be two categories of {by!r}. Got {between!r} instead.")
        return self._answer("difference", column, by, *between, by=None, level=level)

    def _answer(self, kind: str, *parts: Any, by: str | None, level: float) -> Answers:
        question = make_question(kind, self.columns, *parts)
        refuse_same(question, by)
        return ask(self.columns, [question], by=by, level=level)

    def report(self, path: str | Path, *, public: bool = False, force: bool = False) -> None:
        """Write one page about it, to look at: as secret as the data, or ``public`` without all that is."""
        VIEWS["report"](self.mechanism, path, rows=self.rows, public=public, force=force)

    def __repr__(self) -> str:
        """The rows, which may be seen, and the promise in one line."""
        promise = "" if self.promise is None else f"\n{self.promise.in_one_line}"
        return f"{self.contents if self.rows is None else repr(self.rows)}{promise}"

    @property
    def contents(self) -> str:
        """What there is to ask, in a sentence."""
        what = "Rows" if self.counts is None else "Noisy counts"
        return f"{what} with the columns {', '.join(map(repr, self.columns.names))}."

    def _repr_html_(self) -> str:
        return str(VIEWS["release"](self))


def _begin(path: Path) -> bytes:
    """The first letters of a file; nothing where there is none to be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(SAVED))
    except OSError:  # a folder, a pattern, or nothing: said where it is opened
        return b""
