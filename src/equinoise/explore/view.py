"""What a page shows of a mechanism: the promise, figures as numbers and as pictures, what draws cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equinoise.errors import BadInput
from equinoise.explore.counts import Counted
from equinoise.explore.request import DIFFERENTIAL_PRIVACY, Asked
from equinoise.formatting import at_most, format_number, quoted, visible
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures import Figure, theme
from equinoise.present.figures.cost import cost as cost_figure
from equinoise.present.figures.cost import default_draws
from equinoise.present.figures.distribution import distribution
from equinoise.present.figures.losses import losses
from equinoise.present.figures.noise import noise
from equinoise.present.report.pages import private_page
from equinoise.present.report.write import check_audit


def result(mechanism: Mechanism, counted: Counted, asked: Asked) -> dict[str, Any]:
    """What is promised, and what was reached in numbers."""
    return {
        "command": command(counted, asked),
        "promise": str(mechanism.promise),
        "facts": facts(mechanism),
    }


def quick_figures(mechanism: Mechanism) -> Iterator[dict[str, Any]]:
    """All figures, one after the other; of the cost, which takes longer, a first answer."""
    return ({"figure": _as_json(make(mechanism))} for make in (distribution, noise, losses, quick_cost))


def cost(mechanism: Mechanism) -> dict[str, Any]:
    """What draws cost together."""
    return {"figure": _as_json(possible_cost(mechanism))}


def possible_cost(mechanism: Mechanism, costs: Callable[[], Sequence[dict[str, float]]] = tuple) -> Figure:
    """The figure; where it would need too much memory, as on large grids, only the sentence that says so."""
    try:
        return cost_figure(mechanism, costs=costs())
    except BadInput as error:
        return Figure("cost", f"What draws of {mechanism.grid.name} cost together", str(error), str(error), (), (), ())


def quick_cost(mechanism: Mechanism) -> Figure:
    """What draws cost together, at once: by upper bounds that are not tight where the figure takes a second."""
    if not mechanism.costs_differ:
        return cost_figure(mechanism)
    found = possible_cost(mechanism, lambda: mechanism.costs(default_draws(mechanism), tight=False))
    quick = "Quick upper bounds. The figures themselves follow in a moment."
    return replace(found, caption=quick) if found.panels else found


def _as_json(made: Figure) -> dict[str, Any]:
    """A figure as a page draws it: with the style sheet's colours, as wide as its place."""
    return {
        "name": made.name,
        "title": made.title,
        "caption": made.caption,
        "words": made.alt,
        "specs": [{**spec, "config": theme.config(theme.PAGE)} for spec in made.specs()],
        "header": list(made.header),
        "rows": [list(row) for row in made.rows],
    }


def facts(mechanism: Mechanism) -> list[tuple[str, str, str]]:
    """What was reached: name, value, and a word more."""
    ours, theirs = mechanism.metrics(), mechanism.baseline()
    half = mechanism.loss_quantiles()["0.5"]
    found = [
        ("people protected", f"{mechanism.protected:,}", f"of {mechanism.total_people:,}"),
        ("worst loss of one draw", at_most(mechanism.worst_loss), f"half of the people: {at_most(half)}"),
        ("KL from the original", f"{ours['kl']:.4g}", f"Laplace mechanism: {theirs['kl']:.4g}"),
        ("total variation", f"{ours['tv']:.4g}", f"Laplace mechanism: {theirs['tv']:.4g}"),
    ]
    if ours.get("correlation_loss") is not None and theirs.get("correlation_loss") is not None:
        changes = (f"{each['correlation_loss']:.4g}" for each in (ours, theirs))
        found.append(("largest change of a correlation", next(changes), f"Laplace mechanism: {next(changes)}"))
    for name, own in ours.get("columns", {}).items():
        laplace = f"Laplace mechanism: {theirs['columns'][name]['kl']:.4g}"
        found.append((f"KL of {visible(name)!r} alone", f"{own['kl']:.4g}", laplace))
    every = "draw" if mechanism.draws == 1 else "draws"
    cost = at_most(mechanism.cost(mechanism.draws))
    found.append((f"cost of {mechanism.draws:,} {every}", cost, mechanism.promise.qualifier))
    return found


def command(counted: Counted, asked: Asked) -> str:
    """The command that makes the same mechanism; options that say what it takes anyway are left out."""
    words = ["equinoise", "synthesize" if asked.promise == DIFFERENTIAL_PRIVACY else "optimize", counted.source]
    axes = counted.chosen(asked.columns)
    words += [word for axis in axes for word in ("--column", axis.name)]
    for axis in axes:
        if axis.name in counted.public:
            words += ["--bounds", axis.name, format_number(axis.low), format_number(axis.high)]
    plain = Asked(asked.epsilon)
    words += ["--epsilon", format_number(asked.epsilon)]
    words += _differing(asked, plain, ("bins", "scales", "draws", "delta"))
    words += _differing(counted, Counted, ("missing", "outside", "engine", "engine_address"))
    return quoted([*words, "--out", "mechanism.eq"])


def _differing(given: object, usual: object, names: Sequence[str]) -> list[str]:
    return [
        word
        for name in names
        if getattr(given, name) != getattr(usual, name)
        for word in (f"--{name.replace('_', '-')}", str(getattr(given, name)))
    ]


def report(path: Path, tell: Callable[[str], None]) -> str:
    """The page that ``equinoise report`` writes about a saved mechanism."""
    mechanism = Mechanism.open(path)
    check_audit(mechanism, tell)
    return private_page(mechanism, datetime.now(UTC), tell).html()
