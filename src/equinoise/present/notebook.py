"""What notebooks show of objects: a short table, and pictures on request.

Importing this module adds the views to :data:`equinoise.display.VIEWS`. No colours: the notebook has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from equinoise.analysis.answers.ask import Answers
from equinoise.analysis.audit import Audit
from equinoise.analysis.compare import Comparison
from equinoise.analysis.release import Release
from equinoise.data.make_grid import describe_bins
from equinoise.data.schema import Column, Schema
from equinoise.display import VIEWS
from equinoise.errors import BadInput
from equinoise.formatting import at_most, join_and
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.present.answer_notes import IN_PYTHON, short_notes
from equinoise.present.answer_rows import answer_rows
from equinoise.present.book_words import STATES, book_notes, book_verdict
from equinoise.present.comparison_rows import comparison_rows
from equinoise.present.facts import facts_in_pairs
from equinoise.present.plan_rows import BASIS, TABLE_TITLE, error_header, error_rows, step_note, table_rows, verdict
from equinoise.present.statistics_rows import HEADER, TITLE, statistics_rows
from equinoise.present.wording import METRIC_NAMES
from equinoise.solvers.solution import Solution
from equinoise.synthesis.plan import Plan

if TYPE_CHECKING:
    from equinoise.mechanisms.book import Book
    from equinoise.present.figures.figure import Figure

MOST_ROWS = 10
"""Of a release, as a notebook shows it; also of a book's entries, and of a column's categories."""

MAIN_METRICS = ("kl", "tv", "mean_error", "median_error", "correlation_loss")
"""Of a comparison; there is no room for all."""

VIEW_IS_SECRET = "Everything here is worked out from the raw data and is as secret as the data."


def html_of(view: Mechanism | Solution) -> str:
    """Tables as HTML: the promise if it holds, what was reached, what rows tell, and that it is private."""
    if isinstance(view, Mechanism):
        holds = view.certificate().holds and view.within_budget
        verdict = "The certificate holds." if holds else "The certificate does not hold: nothing is promised."
        return _page(
            line_of(view), verdict, facts_in_pairs(view), _statistics(view), str(view.promise) if holds else ""
        )
    mechanism = mechanism_of(view)
    verdict = "Everyone is protected." if view.protected == mechanism.total_people else "Not everyone is protected."
    rows = [
        *facts_in_pairs(mechanism)[:-1],  # there are no draws yet
        ("equilibrium", "yes, checked" if view.equilibrium else "no"),
        ("rounds", f"{view.rounds:,} in {view.seconds:.2g} s"),
    ]
    return _page(line_of(view), verdict, rows, _statistics(mechanism), "")


def line_of(view: Mechanism | Solution) -> str:
    """One line; the object itself is far too long to read."""
    if isinstance(view, Mechanism):
        return f"{view.kind} mechanism for {view.grid.name} at epsilon {at_most(view.promise.epsilon)}"
    grid, epsilon = view.game.players.grid, view.game.epsilon
    return f"{view.name} solution of a game for {grid.name} at epsilon {at_most(epsilon)}"


def html_of_release(release: Release) -> str:
    """The first rows as a table, and what is promised of all of them: nothing here is secret."""
    promise = "" if release.promise is None else escape(release.promise.public().in_one_line)
    if release.rows is None:
        return f"<div><p>{escape(release.contents)} {promise}</p></div>"
    rows = pl.DataFrame(release.rows)
    head = "".join(f"<th>{escape(str(name))}</th>" for name in rows.columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(value))}</td>' for value in row)}</tr>" for row in rows.head(MOST_ROWS).rows()
    )
    shown = f"{rows.height:,} rows" if rows.height <= MOST_ROWS else f"The first {MOST_ROWS} of {rows.height:,} rows"
    return f"<div><p>{shown}. {promise}</p><table><tr>{head}</tr>{body}</table></div>"


def html_of_plan(plan: Plan) -> str:
    """What to expect, as tables: nothing here came from data."""
    sentences = [f"Plan: {plan.choice.sentence}", describe_bins(plan.grid), verdict(plan), step_note(plan), BASIS]
    header, lines = table_rows(plan)
    header[0] = f"{TABLE_TITLE} at epsilon"
    errors = error_header(plan), error_rows(plan)
    tables = "".join(_table(head, rows) for head, rows in (errors, (header, lines)) if rows)
    first, *others = (f"<p>{escape(sentence)}</p>" for sentence in sentences if sentence)
    return f"<div>{first}{tables}{''.join(others)}</div>"


def text_of_answers(answers: Answers) -> str:
    """Answers as the terminal has them."""
    from equinoise.present.terminal.answer_output import answers_text

    return answers_text(answers)


def html_of_answers(answers: Answers) -> str:
    """Answers as a table, and what their intervals contain: nothing here is secret."""
    sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in short_notes(answers, IN_PYTHON))
    return f"<div>{_table(*answer_rows(answers))}{sentences}</div>"


def html_of_book(book: Book) -> str:
    """The last entries, and what is spent and left; it has no row of the data."""
    entries = book.entries
    header = ("", "when", "columns", "purpose", "method", "epsilon", "state")
    rows = [
        (str(entry.number), entry.charge.at[:16], ", ".join(entry.charge.columns), entry.charge.purpose,
         entry.charge.method, at_most(entry.charge.epsilon), STATES[entry.state])
        for entry in entries[-MOST_ROWS:]
    ]  # fmt: skip
    sentences = [f"The last {MOST_ROWS} of {len(entries):,} entries."] if len(entries) > MOST_ROWS else []
    sentences += [book_verdict(book), *book_notes(entries)]
    told = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f"<div>{_table(header, rows) if rows else ''}{told}</div>"


def html_of_schema(schema: Schema) -> str:
    """A row for every column: what is public about it. Nothing here is secret, unless it was read off the data."""
    header = ("column", "kind", "values", "step", "bins", "missing", "outside")
    rows = [(column.name, *_public_facts(column)) for column in schema.columns]
    sentences = [] if schema.unit is None else [f"All rows with the same {schema.unit!r} are one person's."]
    if schema.peeked:
        sentences.append(f"Read off the data, and not public: {join_and(schema.peeked)}.")
    told = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f"<div>{_table(header, rows)}{told}</div>"


def _public_facts(column: Column) -> tuple[str, ...]:
    """The kind, values, step, bins and rules of a column; empty where the schema leaves it to the verb."""
    kind, values = "blank", ""
    if column.bounds is not None:
        kind, values = "dates" if column.is_date else "numbers", f"{column.bounds[0]} to {column.bounds[1]}"
    elif column.categories is not None:
        more = [f"{len(column.categories):,} in all"] if len(column.categories) > MOST_ROWS else []
        kind, values = "categories", ", ".join([*map(str, column.categories[:MOST_ROWS]), *more])
    rest = (column.step, column.bins, column.missing, column.outside)
    return (kind, values, *("" if fact is None else str(fact) for fact in rest))


def html_of_comparison(comparison: Comparison) -> str:
    """Every method at every epsilon, with the main distances; ``to_json`` has all."""
    metrics = [name for name in MAIN_METRICS if name in comparison.rows[0].metrics]
    header = ("epsilon", "method", *(METRIC_NAMES[name] for name in metrics), "seconds", "protected", "promised")
    rows = [(at_most(row.epsilon), row.label, *texts) for row, texts in comparison_rows(comparison, metrics)]
    title = f"{comparison.people:,} people, {comparison.title}, {comparison.grid.cells:,} cells: distances from them."
    return f"<div><p>{escape(title)}</p>{_table(header, rows)}<p><em>{VIEW_IS_SECRET}</em></p></div>"


def plot_spending(book: Book) -> Any:
    """What a book's mechanisms cost together, as a figure."""
    from equinoise.present.figures.spending import spending_figure

    return spending_figure(book)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def mechanism_of(view: Mechanism | Solution) -> Mechanism:
    """A mechanism itself, or a solution as a mechanism for one draw that may not hold: only to be looked at."""
    return view if isinstance(view, Mechanism) else PerInstance.unchecked(view)


def plot(view: Mechanism | Solution, name: str) -> Any:
    """The figure of that name."""
    from equinoise.present.figures import make_figure

    return make_figure(name, mechanism_of(view))


def report(mechanism: Mechanism, path: str | Path, *, public: bool, force: bool, rows: Any = None) -> None:
    """Write one page about a mechanism, with rows that were drawn from it if there are any."""
    from equinoise.present.report import write_report

    write_report(mechanism, path, public=public, force=force, rows=rows)


def _statistics(mechanism: Mechanism) -> str:
    """A table as HTML: what rows tell, of the data and of what is released."""
    head = "".join(f"<th>{name}</th>" for name in HEADER)
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(data)}</td><td>{escape(released)}</td></tr>"
        for name, data, released in (row.named for row in statistics_rows(mechanism))
    )
    return f"<p>{TITLE}, at the resolution of the grid.</p><table><tr>{head}</tr>{body}</table>"


def _page(title: str, verdict: str, rows: Sequence[tuple[str, str]], statistics: str, promise: str) -> str:
    table = "".join(f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in rows)
    sentence = f"<p>{escape(promise)}</p>" if promise else ""
    return (
        f"<div><p><strong>{escape(title[0].upper() + title[1:])}.</strong> {verdict}</p><table>{table}</table>"
        f"{statistics}{sentence}<p><em>{VIEW_IS_SECRET}</em></p></div>"
    )


def save_figure(figure: Figure, path: str | Path, *, force: bool) -> None:
    """Save a figure, as a picture or a page."""
    from equinoise.present import charts

    charts.write_picture(figure, path, force=force)


def plot_comparison(comparison: Comparison, path: str | Path, *, force: bool) -> None:
    """Save the picture of a comparison."""
    from equinoise.present import charts

    charts.plot_comparison(comparison, path, force=force)


def plot_audit(audit: Audit, path: str | Path, *, force: bool) -> None:
    """Save the picture of the losses that an audit measured end to end."""
    from equinoise.present import charts

    if audit.end_to_end is None:
        raise BadInput("There are no losses end to end to draw: ask the audit for them with end_to_end=True.")
    charts.plot_end_to_end(audit, path, force=force)


VIEWS.update(
    {
        "comparison": plot_comparison,
        "comparison in HTML": html_of_comparison,
        "schema": html_of_schema,
        "audit": plot_audit,
        "html": html_of,
        "line": line_of,
        "release": html_of_release,
        "answers": text_of_answers,
        "answers in HTML": html_of_answers,
        "plan": html_of_plan,
        "book": html_of_book,
        "spending": plot_spending,
        "plot": plot,
        "picture": save_figure,
        "report": report,
    }
)
