"""What people see: tables on stdout, progress and notes on stderr, or one JSON object."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from equinoise.audit import Audit
from equinoise.comparison import Comparison
from equinoise.comparison import Progress as ComparisonProgress
from equinoise.errors import at_most, shown
from equinoise.fixed_noise import FixedNoise
from equinoise.grid import Floats
from equinoise.joint_fixed_noise import JointFixedNoise, scale_names
from equinoise.mechanism import SECRET_SIZE, Mechanism
from equinoise.methods import NOT_PRIVATE, PROMISES, Row
from equinoise.row_losses import RowLosses
from equinoise.solvers import Round
from equinoise.unit_fixed_noise import UnitFixedNoise
from equinoise.worst_case import WorstCase

SECRET = "All of this but drawn rows is worked out from the raw data and is as secret as the data."

SECRET_ROWS = "The file holds the data and more: it is as secret as the data. Never release it."

METRIC_NAMES = {
    "kl": "KL divergence (nats)",
    "js": "Jensen-Shannon divergence (nats)",
    "tv": "total variation",
    "sd_loss": "change of standard deviation",
    "pmf_sd_loss": "change of SD of the probabilities",
    "jaccard": "Jaccard index (above 0.001)",
    "cosine": "cosine similarity",
    "wasserstein": "Wasserstein distance",
    "correlation_loss": "largest change of a correlation",
}


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line, for which a reader that goes away is no error."""
        raise BrokenPipeError


def _console() -> Console:
    wide = None if sys.stdout.isatty() else 200
    return _Console(highlight=False, soft_wrap=True, markup=False, width=wide)


def _notes() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


def print_json(value: dict[str, Any]) -> None:
    """One JSON object; numbers that JSON cannot hold become null."""
    sys.stdout.write(json.dumps(finite(value), allow_nan=False) + "\n")


def finite(value: Any) -> Any:
    """The same with null for numbers that JSON cannot hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list) else value


@contextmanager
def progress() -> Iterator[Callable[[Round], None] | None]:
    """A line on the terminal while the solver works: reading, then the run and round it is at."""
    console = _notes()
    if not console.is_terminal:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Reading and counting; the first run also compiles the solver")

        def seen(state: Round) -> None:
            bar.update(task, description=round_in_words(state))

        yield seen


def round_in_words(state: Round) -> str:
    """Where a solver is."""
    return state.note or f"Run {state.restart + 1}, round {state.number}: {state.moves:,} moves"


@contextmanager
def working(note: str) -> Iterator[Callable[[str], None]]:
    """The same for what has no rounds; the note can be changed meanwhile."""
    with progress() as seen:

        def told(note: str) -> None:
            if seen is not None:
                seen(Round(0, 0, 0, np.zeros((0, 0), dtype=np.int64), note))

        told(note)
        yield told


@contextmanager
def comparing() -> Iterator[ComparisonProgress | None]:
    """A line on the terminal while methods are compared: the epsilon and the method under way."""
    with progress() as seen:
        if seen is None:
            yield None
            return

        def told(epsilon: float, method: str, state: Round | None) -> None:
            note = round_in_words(state) if state is not None else "under way"
            seen(Round(0, 0, 0, np.zeros((0, 0), dtype=np.int64), f"Epsilon {at_most(epsilon)}, {method}: {note}"))

        yield told


@contextmanager
def drawing(draws: int, *, quiet: bool) -> Iterator[Callable[[Iterator[Floats]], Iterator[Floats]]]:
    """A bar on the terminal while many draws are made."""
    console = _notes()
    if quiet or not console.is_terminal:
        yield lambda values: values
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("Drawing", total=draws)

        def watched(values: Iterator[Floats]) -> Iterator[Floats]:
            for part in values:
                yield part
                bar.advance(task, len(part))

        yield watched


def csv_rows(names: list[str], values: Iterable[Floats]) -> Iterator[str]:
    """Drawn rows as CSV, with a header. There are only as many different values as bins."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(names)
    yield header.getvalue()
    for part in values:
        columns = []
        for column in part.reshape(len(part), -1).T:
            different, which = np.unique(column, return_inverse=True)
            columns.append(np.array([repr(float(value)) for value in different])[which].tolist())
        yield "\n".join(map(",".join, zip(*columns, strict=True))) + "\n"


def metrics_table(mechanism: Mechanism) -> Table:
    """The mechanism's metrics beside the Laplace mechanism's."""
    table = Table(title=f"Distance from the original, at epsilon {at_most(mechanism.target)}")
    table.add_column("")
    table.add_column("this mechanism", justify="right")
    table.add_column("Laplace mechanism", justify="right")
    ours, theirs = mechanism.metrics(), mechanism.baseline()
    for key, name in METRIC_NAMES.items():
        if ours.get(key) is not None and theirs.get(key) is not None:
            table.add_row(name, f"{ours[key]:.4g}", f"{theirs[key]:.4g}")
    for column in ours.get("columns", {}):
        for key in ("kl", "wasserstein"):
            name = f"{METRIC_NAMES[key]}, {column} alone"
            table.add_row(name, f"{ours['columns'][column][key]:.4g}", f"{theirs['columns'][column][key]:.4g}")
    return table


def certified(mechanism: Mechanism) -> str:
    """What was certified, in a sentence."""
    certificate = mechanism.certificate()
    if not isinstance(mechanism, FixedNoise):
        return (
            "Certified in whole numbers for every dataset within the bounds, and that the weights are those of this "
            f"one; here the worst loss is {at_most(mechanism.worst_loss)}, and half of the people are within "
            f"{at_most(mechanism.loss_quantiles()['0.5'])}."
        )
    return (
        f"Certified in whole numbers, in both directions, for all {certificate.groups:,} groups of "
        f"people in all {certificate.cells:,} cells, everyone else's noise fixed; worst loss "
        f"{at_most(mechanism.worst_loss)}, half of the people "
        f"within {at_most(mechanism.loss_quantiles()['0.5'])}."
    )


def solved(mechanism: Mechanism) -> str:
    """How the mechanism was found, in a sentence."""
    solver = mechanism.solver
    if solver["name"] == "monotone-weights":
        return "monotone-weights: a public rule of epsilon, the number of cells within the bounds and draws; no game."
    end = "a checked equilibrium" if solver["equilibrium"] else "no equilibrium"
    if solver["name"] == "optimal" and not solver.get("proven", True):
        why = "stopped" if solver.get("stopped") else "out of time"
        end = f"{why} with the best so far, {end}"
    if solver["name"] == "optimal":
        measure = mechanism.settings.get("utility", "kl").upper()
        how = f"with a {measure} that no profile of these scales beats by more than {at_most(solver['gap'])}"
    elif solver["name"] == "genetic":
        how = f"after {solver['rounds']:,} generations"
    else:
        how = f"after {solver['rounds']:,} rounds in {solver['restarts']} runs"
    if solver.get("tried"):
        how += f" (the {solver['tried']} solver found nothing closer within the budget)"
    return f"{solver['name']}: {end} {how}, {solver['seconds']:.2g} s."


def show_optimized(mechanism: Mechanism, out: Path) -> None:
    """What ``optimize`` reached."""
    console = _console()
    console.print(metrics_table(mechanism))
    console.print(solved(mechanism))
    console.print(certified(mechanism), style="green")
    console.print(mechanism.promise)
    console.print(f"Saved as {out} (only you can read it). Release draws with: equinoise sample {out}")
    console.print(SECRET, style="dim")


def show_released(mechanism: Mechanism, draws: int, spent: int, out: Path | None) -> None:
    """What a release cost, beside the rows."""
    console = _notes()
    where = f" to {out}" if out is not None else ""
    console.print(
        f"Released {draws:,} draw{'' if draws == 1 else 's'}{where}; {spent:,} of {mechanism.draws:,} allowed "
        f"are spent and {mechanism.declared(spent)}."
    )
    console.print(f"{mechanism.promise} {SECRET}", style="dim")


def show_audit(found: Audit, plot: Path | None = None) -> None:
    """What ``audit`` found."""
    console, m = _console(), found.mechanism
    shown_cells = (
        sorted(found.cells(), key=lambda row: -row["worst_loss"])[:MOST_CELLS] if len(m.grid.axes) > 1 else None
    )
    which = "" if shown_cells is None else f", the {len(shown_cells)} worst of {len(found.cells()):,} occupied"
    table = Table(title=f"Loss of one draw, cell by cell ({m.grid.name}{which})")
    measured = found.end_to_end
    fixed = "worst loss, others' noise fixed" if isinstance(m, FixedNoise) else "loss"
    for name in ("cell", "from", "to", "people", "average scale", fixed, *(["end to end"] if measured else [])):
        table.add_column(name, justify="right")
    for number, row in enumerate(found.cells() if shown_cells is None else shown_cells):
        again = [f"{measured.losses[number]:.4g}"] if measured else []
        table.add_row(
            str(row["cell"]), _side(row["from"]), _side(row["to"]), f"{row['people']:,}",
            "" if row["average_scale"] is None else f"{row['average_scale']:.3g}", f"{row['worst_loss']:.4g}", *again,
        )  # fmt: skip
    console.print(table)
    shares = ", ".join(f"{float(q):.0%} within {at_most(loss)}" for q, loss in m.loss_quantiles().items())
    how = ", others' noise fixed" if isinstance(m, FixedNoise) else ""
    how = ", by the theorem and not worked out" if isinstance(m, WorstCase) and m.losses_by_theorem else how
    console.print(f"Losses of one draw{how}: {shares} (to stay within {at_most(m.epsilon)}).")
    console.print(
        f"Ledger: {found.spent:,} of {m.draws:,} draws released"
        + (f" and {m.declared(found.spent)}." if found.spent else ".")
    )
    totals = found.totals
    if m.draws > 1 and totals:
        worst = max(totals, key=lambda group: group["allowed"])
        alike = not isinstance(m, FixedNoise) or m.measured is not None
        who = "anyone" if alike else f"the worst-placed people (cell {worst['cell']})"
        console.print(
            f"Together, all {m.draws:,} draws cost {who} at most {at_most(worst['allowed'])}, and what is released so "
            f"far {at_most(max(g['spent'] for g in totals))}."
        )
    if found.same_histogram is not None:
        console.print(
            "The histogram is this data's."
            if found.same_histogram
            else "The histogram is not this data's: the mechanism was made from other rows.",
            style=None if found.same_histogram else "red",
        )
    if not found.same_kernel:
        named = "noise and scales that the file names" if isinstance(m, FixedNoise) else "public rule"
        console.print(f"The weights are not those of the {named}.", style="red")
    if not found.certificate.holds:
        console.print(f"The certificate does not hold: {found.certificate.failure}. Nothing is promised.", style="red")
    elif not m.within_budget:
        console.print("All draws together cost more than the budget. Nothing is promised.", style="red")
    elif not found.as_measured:
        console.print("The loss measured now is larger than the one the file tells. Nothing is promised.", style="red")
    else:
        console.print(certified(m), style="green")
        console.print(m.promise)
    if measured is not None:
        shares = ", ".join(f"{float(q):.0%} within {at_most(loss)}" for q, loss in measured.quantiles().items())
        console.print(f"End to end: {shares}.")
        console.print(measured.sentence, style="yellow" if measured.above else None)
    if plot is not None:
        console.print(f"The plot is in {plot} (only you can read it).")
    console.print(SECRET, style="dim")


def show_losses(found: RowLosses) -> None:
    """The people who are hardest to protect, and where the rows are."""
    console, m, groups = _console(), found.mechanism, found.groups
    rows, scaled = groups.hardest(), len(found.columns) > 1
    title = f"Hardest to protect: {len(rows)} of {len(groups.cells):,} groups of people ({m.grid.name})"
    table = Table(title=title)
    for name in ("cell", "from", "to", "people", *(["scale"] if scaled else []), "loss of one draw"):
        table.add_column(name, justify="right")
    for row in rows:
        scale = [_side(row["scale"])] if scaled else []
        ends = _side(row["from"]), _side(row["to"])
        table.add_row(str(row["cell"]), *ends, f"{row['people']:,}", *scale, f"{row['loss']:.4g}")
    console.print(table)
    how = "the others' noise fixed" if isinstance(m, FixedNoise) else "the weights worked out again"
    how = "by the theorem and not worked out" if isinstance(m, WorstCase) and m.losses_by_theorem else how
    console.print(f"Worst loss of one draw, {how}: {at_most(float(groups.losses.max()))}.")
    *most, last = (repr(name) for name in found.columns)
    names = f"columns {', '.join(most)} and {last}" if most else f"column {last}"
    missing = f" {found.left_out:,} of them were left out as missing and have none." if found.left_out else ""
    console.print(f"{found.rows:,} rows, with the new {names}, are in {found.out} (only you can read it).{missing}")
    console.print(SECRET_ROWS, style="yellow")


def show_mechanism(mechanism: Mechanism) -> None:
    """What a mechanism consists of."""
    console = _console()
    for axis in mechanism.grid.axes:
        console.print(
            f"Column {axis.name!r}: bounds {shown(axis.low)} to {shown(axis.high)}, padded by {axis.padding:.5g} on "
            f"either side, {axis.bins} bins of {axis.width:.5g}."
        )
    console.print(_content(mechanism))
    console.print(solved(mechanism))
    console.print(f"{mechanism.ledger.spent:,} of {mechanism.draws:,} draws released.")
    console.print(mechanism.promise)
    console.print(SECRET, style="dim")


def _content(mechanism: Mechanism) -> Table:
    if isinstance(mechanism, JointFixedNoise):
        return scales_table(mechanism)
    if isinstance(mechanism, UnitFixedNoise):
        return unit_table(mechanism)
    return profile_table(mechanism) if isinstance(mechanism, FixedNoise) else weights_table(mechanism)


def scales_table(mechanism: JointFixedNoise) -> Table:
    """People per choice of scales: there are too many cells to show."""
    table = Table(title=f"People per {mechanism.noise} scale ({mechanism.grid.name}, data units)")
    for name in ("scale", "people", "occupied cells"):
        table.add_column(name, justify="right")
    for index, name in enumerate(scale_names(mechanism)):
        here = mechanism.scale_indices == index
        if here.any():
            table.add_row(name, f"{int(mechanism.people[here].sum()):,}", f"{int(here.sum()):,}")
    return table


def unit_table(mechanism: UnitFixedNoise) -> Table:
    """People and rows per scale: a person with several rows is in several cells."""
    table = Table(title=f"People per {mechanism.noise} scale ({mechanism.grid.name}, data units)")
    for name in ("scale", "people", "rows"):
        table.add_column(name, justify="right")
    for index, scale in enumerate(mechanism.scales):
        here = mechanism.scale_indices == index
        if here.any():
            people, rows = mechanism.people[here], mechanism.people[here] @ mechanism.sizes[here]
            table.add_row(f"{scale * mechanism.grid.axis.range:.3g}", f"{int(people.sum()):,}", f"{int(rows):,}")
    return table


def profile_table(mechanism: FixedNoise) -> Table:
    """People per cell and scale."""
    axis = mechanism.grid.axis
    table = Table(title=f"People per cell and {mechanism.noise} scale (data units)")
    table.add_column("cell", justify="right")
    table.add_column("released value", justify="right")
    for scale in mechanism.scales:
        table.add_column(f"{scale * axis.range:.3g}", justify="right")
    middles = axis.midpoints()
    for cell in np.unique(mechanism.cells).tolist():
        people = [0] * len(mechanism.scales)
        for g in np.flatnonzero(mechanism.cells == cell).tolist():
            people[int(mechanism.scale_indices[g])] = int(mechanism.people[g])
        table.add_row(str(cell), f"{middles[cell]:.5g}", *(f"{n:,}" if n else "" for n in people))
    return table


def weights_table(mechanism: Mechanism) -> Table:
    """People per cell and how likely each is to be drawn, for a mechanism without scales."""
    table = Table(title="People per cell, and the probability of each cell in a draw")
    for name in ("cell", "released value", "people", "probability"):
        table.add_column(name, justify="right")
    middles, counts, q = mechanism.grid.axis.midpoints(), mechanism.histogram, mechanism.output
    for cell in np.flatnonzero(q).tolist():
        table.add_row(str(cell), f"{middles[cell]:.5g}", f"{counts[cell]:,}" if counts[cell] else "", f"{q[cell]:.4g}")
    return table


MOST_CELLS = 25
"""Cells of a joint grid that an audit shows: the worst."""


def _side(value: float | list[float]) -> str:
    return " x ".join(f"{part:.5g}" for part in (value if isinstance(value, list) else [value]))


COMPARED = {
    "kl": "KL",
    "js": "Jensen-\nShannon",
    "tv": "total\nvar.",
    "sd_loss": "SD\nchange",
    "pmf_sd_loss": "SD of\nprob.",
    "jaccard": "Jac-\ncard",
    "cosine": "cosine",
    "wasserstein": "Wasser-\nstein",
}
"""The metrics' names where there is little room."""


def comparison_table(comparison: Comparison) -> Table:
    """Every method at every epsilon, in 100 columns."""
    table = Table(box=box.SIMPLE, padding=0, pad_edge=False, show_edge=False)
    table.add_column("method", no_wrap=True)
    for name in (*COMPARED.values(), "sec-\nonds", "pro-\ntected", "epsilon\npromised"):
        table.add_column(name, justify="right", no_wrap=True)
    for epsilon in comparison.epsilons:
        table.add_row(f"epsilon {at_most(epsilon)}", style="bold")
        for row in (row for row in comparison.rows if row.epsilon == epsilon):
            table.add_row(
                row.label, *(_brief(name, row.metrics[name]) for name in COMPARED),
                "<0.01" if row.seconds < 0.01 else f"{row.seconds:.2g}",
                "all" if row.protected == comparison.people else f"{row.protected:,}", _promised(row),
                style=None if row.promised is not None else "red",
            )  # fmt: skip
        table.add_section()
    return table


def _promised(row: Row) -> str:
    return "none" if row.promised is None else at_most(row.promised)


def _brief(name: str, value: float) -> str:
    if name in {"jaccard", "cosine"}:
        return f"{value:.{2 if name == 'jaccard' else 3}f}"
    if 0 < abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def show_comparison(comparison: Comparison, plot: Path | None) -> None:
    """The table, what each method promises, and how to read it."""
    console = _console()
    console.print(
        f"{comparison.people:,} people, column {comparison.column!r}, {comparison.histogram.grid.cells:,} cells. "
        "Distances from the original; 'protected' are the people whose own loss of one draw is within epsilon. All "
        f"promises are with delta = 0, and {SECRET_SIZE}.\n"
    )
    console.print(comparison_table(comparison))
    console.print("What is promised, with the epsilon of the last column:")
    kept = {row.method for row in comparison.rows if row.promised is not None}
    promising = [method for method in comparison.methods if method in kept]
    for promise in dict.fromkeys(PROMISES[method] for method in promising):
        methods = ", ".join(method for method in promising if PROMISES[method] == promise)
        console.print(f"  {methods}: {promise.format('epsilon')}.")
    for row in comparison.rows:
        if row.promised is None:
            console.print(f"  {row.label} at epsilon {at_most(row.epsilon)}: {row.promise}", style="red")
    if not comparison.public_bounds:
        console.print(f"For all of them: {NOT_PRIVATE}.")
    for row in comparison.rows:
        if row.solver is not None and row.promised is not None and row.solver.get("proven") is False:
            console.print(
                f"{row.label} at epsilon {at_most(row.epsilon)} is the best found, not proven best: one closer by "
                f"up to {at_most(row.solver['gap'])} may exist."
            )
    spreads = [row for row in comparison.rows if row.kl_spread is not None]
    if spreads:
        each = ", ".join(_brief("kl", row.kl_spread or 0.0) for row in spreads)
        console.print(
            f"{spreads[0].method} is random: its figures are means over {spreads[0].releases} releases. Standard "
            f"deviation of its KL, by epsilon: {each}."
        )
    if plot is not None:
        console.print(f"The plot is in {plot} (only you can read it).")
    console.print(SECRET, style="dim")


def show_costs(mechanism: Mechanism, costs: list[dict[str, float]], plot: Path | None) -> None:
    """How the cost of draws grows."""
    console = _console()
    table = Table(title=f"What draws cost together, except with probability delta = {costs[0]['delta']:g}")
    for name in ("draws", "worst person", "median person", "losses added up"):
        table.add_column(name, justify="right")
    for row in costs:
        table.add_row(
            f"{row['draws']:,}", at_most(row["worst"]), at_most(row["median"]), at_most(row["added_up"])
        )  # fmt: skip
    console.print(table)
    if not isinstance(mechanism, FixedNoise):
        how = "A theorem, the same for everyone and every dataset: each draw is epsilon^2/8-zCDP, or losses add up."
    elif mechanism.measured is not None:
        how = "Measured losses add up."
    else:
        how = (
            "Each person's own loss distribution is composed, everyone else's noise held fixed, in floating point, "
            "losses rounded upwards; the median is a quick upper bound."
        )
    console.print(
        f"{mechanism.draws:,} draws are allowed, and no more can be released; {mechanism.ledger.spent:,} are. {how}"
    )
    if plot is not None:
        console.print(f"The plot is in {plot} (only you can read it).")
    console.print(mechanism.promise)
    console.print(SECRET, style="dim")


def show_demo(mechanism: Mechanism, rows: list[float], report: Path) -> None:
    """The demo, told as a story."""
    console = _console()
    console.print(
        f"Monthly pay of {mechanism.total_people} people, public bounds {mechanism.grid.axis.low:g} to "
        f"{mechanism.grid.axis.high:g} dollars, epsilon {at_most(mechanism.epsilon)}.\n"
    )
    console.print(metrics_table(mechanism))
    console.print(solved(mechanism))
    console.print(certified(mechanism), style="green")
    console.print(f"\n{len(rows)} private draws: " + ", ".join(f"{row:.2f}" for row in rows))
    console.print(mechanism.promise)
    console.print(SECRET, style="dim")
    console.print(
        "\nOn your own file: equinoise optimize FILE --column C --bounds C LOW HIGH --epsilon 1 --out FILE.eq"
    )
    console.print(f"All of this to look at, in a browser: {report}")
