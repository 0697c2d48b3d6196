"""What the pages say about a mechanism: all of it, and what anyone may see."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import narwhals

from equinoise.analysis.replay import why_not_measured
from equinoise.data.grid import number_axes
from equinoise.errors import BadInput
from equinoise.formatting import at_most, percent, printable
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.present import true_answers
from equinoise.present.distance_rows import DISTANCE_HEADER, OTHER_METHODS, distance_rows
from equinoise.present.facts import facts_in_pairs
from equinoise.present.figures import FIGURES, make_figure
from equinoise.present.figures.cost import promised_cost
from equinoise.present.figures.losses import hardest_groups
from equinoise.present.page import Block, Bullets, Facts, Page, Paragraph, Section, Table
from equinoise.present.report.settings import command, command_gaps, settings_rows, what_the_command_makes
from equinoise.present.statistics_rows import HEADER, HOW_TO_READ, TITLE, statistics_rows
from equinoise.present.wording import certificate_sentence, solver_sentence
from equinoise.privacy.promise import beliefs
from equinoise.versions import versions

FIRST = ("distribution", "map")
"""Figures that come before the statistics; the others come after them, and only of the game."""

MOST_ROWS = 10
"""Of the released rows, that are shown."""

SHORT = {"cost": "cost of draws", "epsilons": "other epsilons"}
"""Names of sections in the list of them, where those of the figures do not do."""

WHY = (
    "Nothing on this page was worked out from the data: it would be the same, letter by letter, for any other data "
    "that a mechanism with these settings was made from. That such a mechanism could be made at all does depend on the "
    "data, as any release from it does."
)


def private_page(mechanism: Mechanism, now: datetime, tell: Callable[[str], None], rows: Any = None) -> Page:
    """Everything, for whoever may see the data: what is promised, pictures, statistics, ``rows`` if some were drawn,
    and last the settings."""
    path = mechanism.ledger.path
    names = [name for name in FIGURES if _has_figure(name, mechanism)]
    first = [_figure(name, mechanism, tell) for name in names if name in FIRST]
    rest = [_figure(name, mechanism, tell) for name in names if name not in FIRST]
    sections = [_promise(mechanism, now), *first, _statistics(mechanism), *_answers(mechanism), *_rows(rows)]
    sections += [_risk(mechanism), *rest] if mechanism.differentially_private else rest
    sections += [_metrics(mechanism), _in_full(mechanism), _settings(mechanism, public=False)]
    source = "" if path is None else f" from {printable(path.name)}"
    made = f"{mechanism.promise.headline} Made on {now:%Y-%m-%d at %H:%M} UTC{source}."
    return Page(f"{_what(mechanism)} of {mechanism.grid.name}", sections, made)


def public_page(mechanism: Mechanism, now: datetime) -> Page:
    """What is promised and what was asked for: nothing that was worked out from the data."""
    verdict = f"The certificate holds. It was checked again on {now:%Y-%m-%d}, {_certified_publicly(mechanism)}."
    promise = [
        Paragraph(mechanism.promise.public().in_one_line, "promise"), Paragraph(verdict, "verdict"),
        Paragraph(str(mechanism.promise.public())),
    ]  # fmt: skip
    sections = [
        Section("promise", "What is promised", promise, "promise"),
        Section("left-out", "What was left out", [Paragraph(WHY), Bullets(omissions(mechanism))], "left out"),
    ]
    if mechanism.differentially_private:
        sections.append(_risk(mechanism))
    if _has_figure("cost", mechanism):
        figure = promised_cost(mechanism)
        sections.append(Section("cost", figure.title, [Paragraph(figure.caption), figure], SHORT["cost"]))
    sections.append(_settings(mechanism, public=True))
    made = f"{mechanism.promise.headline} Made on {now:%Y-%m-%d}."
    return Page(f"{_what(mechanism)} of {mechanism.grid.name}", sections, made, public=True)


def omissions(mechanism: Mechanism) -> list[str]:
    """What is left out, in words; which of them depends on settings that are public alone."""
    game = bool(mechanism.noise)
    settings = mechanism.settings
    words = [
        "the number of people, and in how many cells they are",
        "the original and the released distribution, and the Laplace mechanism's of the same data",
        "means, quartiles, shares and correlations, of the data and of what is released",
        "the noise of the people in each cell, and which scales are in use"
        if game
        else "what the rule changes in each cell",
        "everyone's losses, and who is hardest to protect",
        "what draws cost single people: only what is promised is shown",
        "all distances from the original, KL against epsilon among them",
    ]
    if game:
        words.append("how the solver went and ended, round by round, and how long it took")
    if game and mechanism.budget is not None:
        words.append("the loss that one draw alone may have, which was worked out from the data")
    if settings.get("scales") == "adaptive":
        words.append("the scales that were words, which were worked out from the data")
    if not settings.get("public_bounds"):
        words.append("the bounds and the grid, which were read off the data")
    if mechanism.base is not None:
        words.append("the base distribution that was given")
    if settings.get("unit") is not None:
        words.append("how many rows there are, and how many anyone has")
    return [*words, "the file's name, its digest, and what has been released from it so far"]


def _certified_publicly(mechanism: Mechanism) -> str:
    """How and of what: no more than was checked."""
    if isinstance(mechanism, PrivateTable) and mechanism.proof:
        return f"in whole numbers, as far as it goes: the proof of privacy is that of {mechanism.proof}"
    if mechanism.differentially_private:
        return "in whole numbers, for every dataset within the bounds"
    return f"in {mechanism.certificate().how}, for everyone in the data"


def _what(mechanism: Mechanism) -> str:
    return "Rows to publish" if mechanism.differentially_private else "Private draws"


def _has_figure(name: str, mechanism: Mechanism) -> bool:
    """Whether a figure says something of this mechanism: what holds for everyone by a theorem needs no picture."""
    if name == "map":
        return len(number_axes(mechanism.grid.axes)) > 1
    if name == "cost":
        return mechanism.draws not in {1, None}
    return name in FIRST or not mechanism.differentially_private


def _promise(mechanism: Mechanism, now: datetime) -> Section:
    verdict = f"The certificate holds: it was checked again on {now:%Y-%m-%d at %H:%M} UTC."
    blocks = [Paragraph(mechanism.promise.in_one_line, "promise"), Paragraph(verdict, "verdict")]
    return Section("promise", "What is promised", blocks, "promise")


def _in_full(mechanism: Mechanism) -> Section:
    """The standard sentence, what was certified, and figures."""
    blocks: list[Block] = [Paragraph(str(mechanism.promise)), Paragraph(certificate_sentence(mechanism))]
    if not mechanism.differentially_private:
        blocks += [Paragraph(_end_to_end(mechanism)), Facts(facts_in_pairs(mechanism))]
    return Section("in-full", "The promise in full", blocks, "in full", folded=True)


def _risk(mechanism: Mechanism) -> Section:
    """How much surer of something about one person anybody can become, by what was promised alone."""
    delta = mechanism.promise.delta
    but = f" All this but with a probability of at most {at_most(delta)}." if delta > 0 else ""
    text = (
        "However much somebody already knows, and whatever they want to find out about one person, everything that "
        f"comes out changes how sure they can be of it by no more than this.{but}"
    )
    header = ("sure before", "sure afterwards: at least", "at most")
    table = Table(header, [tuple(map(percent, row)) for row in beliefs(mechanism.promise.epsilon)], named=True)
    return Section("risk", "What each person risks", [Paragraph(text), table], "risk")


def _rows(rows: Any) -> list[Section]:
    """The first of the rows that were drawn, if they are at hand."""
    frame = narwhals.from_native(rows, pass_through=True, eager_only=True)
    if not isinstance(frame, narwhals.DataFrame):
        return []
    first = frame.head(MOST_ROWS)
    table = Table([printable(name) for name in first.columns], [list(map(_cell, row)) for row in first.iter_rows()])
    text = "The first of the rows that were drawn; these, and all others, may be published."
    return [Section("rows", "Released rows", [Paragraph(text), table], "rows")]


def _cell(value: Any) -> str:
    return "" if value is None else printable(str(value))


def _end_to_end(mechanism: Mechanism) -> str:
    """What fixed noise leaves out, and how to measure it where that is possible."""
    ask = "'equinoise audit FILE --data DATA --end-to-end'"
    larger = "With the noise worked out again without each person, losses can be larger"
    reason = why_not_measured(mechanism)
    return f"{larger}: measure them with {ask}." if reason is None else f"{larger}. {reason}"


def _figure(name: str, mechanism: Mechanism, tell: Callable[[str], None]) -> Section:
    """A section for each figure; where a mechanism has none, the reason."""
    short = SHORT.get(name, name)
    try:
        figure = make_figure(name, mechanism, tell)
    except BadInput as error:
        titles = {"convergence": "Convergence of the solver", "cost": "What draws cost together"}
        return Section(name, titles.get(name, name.capitalize()), [Paragraph(str(error))], short)
    blocks: list[Block] = [Paragraph(figure.caption), figure]
    if name == "convergence":
        blocks.insert(0, Paragraph(f"When it was made, {solver_sentence(mechanism)}"))
    if name == "losses":
        blocks.append(Table(*hardest_groups(mechanism), "The people hardest to protect"))
    return Section(name, figure.title, blocks, short)


def _statistics(mechanism: Mechanism) -> Section:
    table = Table(HEADER, [row.named for row in statistics_rows(mechanism)], named=True)
    return Section("statistics", TITLE, [Paragraph(HOW_TO_READ), table], "statistics")


def _answers(mechanism: Mechanism) -> list[Section]:
    """Answers from noisy counts beside the true ones, if there are any."""
    found = true_answers.true_answers(mechanism)
    if not found:
        return []
    table = Table(true_answers.HEADER, [answer.row for answer in found], named=True)
    texts = [true_answers.HOW_TO_READ, *true_answers.sentences(found)]
    return [Section("answers", true_answers.TITLE, [*map(Paragraph, texts), table], "answers")]


def _metrics(mechanism: Mechanism) -> Section:
    text = (
        f"All at epsilon {at_most(mechanism.epsilon)}; their promises differ. {OTHER_METHODS} Distances in nats, "
        "probabilities or the column's units; the Jaccard index and the cosine are 1 where nothing differs."
    )
    table = Table(("distance from the original", *DISTANCE_HEADER), list(distance_rows(mechanism)), named=True)
    return Section("metrics", "How close it is", [Paragraph(text), table], "metrics")


def _schema(mechanism: Mechanism, *, public: bool) -> list[Block]:
    """The schema as its file has it, unless it is not public and the page is."""
    if public and mechanism.schema.peeked:
        return []
    return [
        Paragraph("The schema, as a file for --schema has it:"), Paragraph(mechanism.schema.to_toml().rstrip(), "code")
    ]  # fmt: skip


def _settings(mechanism: Mechanism, *, public: bool) -> Section:
    """What was asked for, not what came of it: alike on both pages."""
    texts = [what_the_command_makes(mechanism)]
    if mechanism.settings.get("grid") == "paper" and mechanism.noise:
        texts.append("Noise needs room, the padding around the bounds: some draws may fall outside the bounds.")
    rows = {
        "What was asked for": (("setting", "value"), settings_rows(mechanism, public=public)),
        "Versions, when this page was made": (("package", "version"), list(versions().items())),
    }
    blocks: list[Block] = [
        *map(Paragraph, [*texts, *command_gaps(mechanism)]),
        Paragraph(command(mechanism), "code"),
        *_schema(mechanism, public=public),
        *(Table(*table, title, named=True, kind="words") for title, table in rows.items()),
    ]
    return Section("settings", "Settings and versions", blocks, "settings", folded=True)
