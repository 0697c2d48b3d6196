"""What the page says about a mechanism."""

from __future__ import annotations

from datetime import datetime

from equinoise.analysis.replay import why_not_measured
from equinoise.errors import BadInput
from equinoise.formatting import at_most, visible
from equinoise.mechanisms.base import Mechanism
from equinoise.present.facts import facts
from equinoise.present.figures import FIGURES, make_figure
from equinoise.present.figures.again import Tell
from equinoise.present.figures.cost import promised_cost
from equinoise.present.figures.losses import hardest
from equinoise.present.report.left_out import WHY, left_out
from equinoise.present.report.page import Page, Section, Table, Text, figure_tables, said
from equinoise.present.report.settings import command, command_gaps, settings_rows
from equinoise.present.wording import METRIC_NAMES, certified, solved
from equinoise.versions import versions

SHORT = {
    "distribution": "distribution",
    "noise": "noise",
    "losses": "losses",
    "cost": "cost of draws",
    "epsilons": "other epsilons",
    "convergence": "convergence",
}


def private_page(mechanism: Mechanism, now: datetime, tell: Tell) -> Page:
    """Everything, for whoever may see the data."""
    path = mechanism.ledger.path
    sections = [_promised(mechanism, now), *(_figure(name, mechanism, tell) for name in FIGURES)]
    sections += [_metrics(mechanism), _settings(mechanism, public=False)]
    source = "" if path is None else f" from {visible(path.name)}"
    made = f"{_kind(mechanism)} Made on {now:%Y-%m-%d at %H:%M} UTC{source}."
    return Page(f"Private draws of {mechanism.grid.name}", made, False, sections)


def public_page(mechanism: Mechanism, now: datetime) -> Page:
    """What is promised and what was asked for: nothing that was worked out from the data."""
    verdict = f"The certificate holds. It was checked again on {now:%Y-%m-%d}, {_certified_publicly(mechanism)}."
    sections = [
        Section("promise", "promise", "What is promised",
                [Text(str(mechanism.promise.public()), "promise"), Text(verdict, "verdict")]),
        Section("left-out", "left out", "What was left out", [Text(WHY)], left_out(mechanism)),
    ]  # fmt: skip
    if mechanism.draws > 1:
        figure = promised_cost(mechanism)
        sections.append(
            Section("cost", SHORT["cost"], figure.title, [Text(figure.caption)], figure=figure,
                    tables=figure_tables(figure))
        )  # fmt: skip
    made = f"{_kind(mechanism)} Made on {now:%Y-%m-%d}."
    return Page(f"Private draws of {mechanism.grid.name}", made, True, [*sections, _settings(mechanism, public=True)])


def _certified_publicly(mechanism: Mechanism) -> str:
    """How and of what: no more than was checked."""
    if mechanism.differentially_private:
        return "in whole numbers, for every dataset within the bounds"
    return f"in {mechanism.certificate().how}, for everyone in the data"


def _kind(mechanism: Mechanism) -> str:
    return mechanism.promise.headline


def _promised(mechanism: Mechanism, now: datetime) -> Section:
    verdict = f"The certificate holds: it was checked again on {now:%Y-%m-%d at %H:%M} UTC."
    texts = [Text(str(mechanism.promise), "promise"), Text(verdict, "verdict"), Text(certified(mechanism))]
    if not mechanism.differentially_private:
        texts.append(Text(_end_to_end(mechanism)))
    return Section("promise", "promise", "What is promised", texts, facts=facts(mechanism))


def _end_to_end(mechanism: Mechanism) -> str:
    """What fixed noise leaves out, and how to measure it where that is possible."""
    ask = "'equinoise audit FILE --data DATA --end-to-end'"
    larger = "With the noise worked out again without each person, losses can be larger"
    reason = why_not_measured(mechanism)
    return f"{larger}: measure them with {ask}." if reason is None else f"{larger}. {reason}"


def _figure(name: str, mechanism: Mechanism, tell: Tell) -> Section:
    """A section for each figure; where a mechanism has none, the reason."""
    try:
        figure = make_figure(name, mechanism, tell)
    except BadInput as error:
        figure = str(error)
    if isinstance(figure, str):
        titles = {"convergence": "Convergence of the solver", "cost": "What draws cost together"}
        return Section(name, SHORT[name], titles.get(name, name.capitalize()), [Text(figure)])
    texts = [Text(figure.caption)]
    if name == "convergence":
        texts.insert(0, Text(f"When it was made, {solved(mechanism)}"))
    tables = figure_tables(figure)
    if name == "losses":
        header, rows = hardest(mechanism)
        shown = [[said(cell) for cell in row] for row in rows]
        tables.insert(0, Table("The people hardest to protect", header, shown))
    return Section(name, SHORT[name], figure.title, texts, figure=figure, tables=tables)


def _metrics(mechanism: Mechanism) -> Section:
    ours, theirs = mechanism.metrics(), mechanism.baseline()
    rows = [
        (name, f"{ours[key]:.4g}", f"{theirs[key]:.4g}")
        for key, name in METRIC_NAMES.items()
        if ours.get(key) is not None and theirs.get(key) is not None
    ]
    for column, own in ours.get("columns", {}).items():
        rows += [
            (f"{visible(column)}: {METRIC_NAMES[key]}", f"{value:.4g}", f"{theirs['columns'][column][key]:.4g}")
            for key, value in own.items()
        ]
    table = Table("", ("distance from the original", "this mechanism", "Laplace mechanism"), rows, named=True)
    text = (
        f"Both at epsilon {at_most(mechanism.epsilon)}; their promises differ. Distances in nats, probabilities "
        "or the column's units; the Jaccard index and the cosine are 1 where nothing differs."
    )
    return Section("metrics", "metrics", "How close it is", [Text(text)], tables=[table])


def _settings(mechanism: Mechanism, *, public: bool) -> Section:
    """What was asked for, not what came of it: alike on both pages."""
    rows, packages = settings_rows(mechanism, public=public), list(versions().items())
    tables = [
        Table("What was asked for", ("setting", "value"), rows, named=True, kind="words"),
        Table("Versions, when this page was made", ("package", "version"), packages, named=True, kind="words"),
    ]
    texts = [
        Text(
            "With the same data, versions and machine, this command makes the same mechanism again (unless a time "
            "limit ended the solver's work)."
        )
    ]
    if mechanism.noise:
        texts.append(Text("Noise needs room, the padding around the bounds: some draws may fall outside the bounds."))
    texts += [Text(words) for words in command_gaps(mechanism)]
    return Section("settings", "settings", "Settings and versions", texts, tables=tables, code=command(mechanism))
