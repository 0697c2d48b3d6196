"""What was made: by ``optimize``, by ``sample`` and in the demo."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from equinoise.formatting import at_most, visible
from equinoise.mechanisms.base import Mechanism
from equinoise.present.terminal.bars import show_bars
from equinoise.present.terminal.consoles import notes, screen
from equinoise.present.wording import METRIC_NAMES, RELEASED, SECRET, certified, solved


def metrics_table(mechanism: Mechanism) -> Table:
    """The mechanism's metrics beside the Laplace mechanism's."""
    of_all = "" if mechanism.budget is None else (
        f" a draw ({at_most(mechanism.budget.epsilon)} for all {mechanism.draws:,} draws, "
        f"{mechanism.promise.qualifier})"
    )  # fmt: skip
    table = Table(title=f"Distance from the original, at epsilon {at_most(mechanism.epsilon)}{of_all}")
    table.add_column("")
    table.add_column("this mechanism", justify="right")
    table.add_column("Laplace mechanism", justify="right")
    ours, theirs = mechanism.metrics(), mechanism.baseline()
    for key, name in METRIC_NAMES.items():
        if ours.get(key) is not None and theirs.get(key) is not None:
            table.add_row(name, f"{ours[key]:.4g}", f"{theirs[key]:.4g}")
    for column in ours.get("columns", {}):
        for key in ("kl", "wasserstein"):
            name = f"{METRIC_NAMES[key]}, {visible(column)} alone"
            table.add_row(name, f"{ours['columns'][column][key]:.4g}", f"{theirs['columns'][column][key]:.4g}")
    return table


def show_optimized(mechanism: Mechanism, out: Path) -> None:
    """What ``optimize`` reached."""
    console = screen()
    show_bars(console, mechanism)
    console.print(metrics_table(mechanism))
    console.print(solved(mechanism))
    console.print(certified(mechanism), style="green")
    console.print(str(mechanism.promise))
    console.print(f"Saved as {out} (only you can read it). Release draws with: equinoise sample {out}")
    console.print(SECRET, style="dim")


def show_released(mechanism: Mechanism, draws: int, spent: int, out: Path | None) -> None:
    """What is promised of a release, beside the rows: nothing here is worked out from the data."""
    console = notes()
    where = f" to {out}" if out is not None else ""
    console.print(
        f"Released {draws:,} draw{'' if draws == 1 else 's'}{where}; {spent:,} of {mechanism.draws:,} allowed "
        f"{'is' if spent == 1 else 'are'} spent and {mechanism.declared(spent, public=True)}."
    )
    console.print(f"{mechanism.promise.public()} {RELEASED}", style="dim")


def show_demo(mechanism: Mechanism, rows: list[float], report: Path) -> None:
    """The demo, told as a story."""
    console = screen()
    console.print(
        f"Monthly pay of {mechanism.total_people} people, public bounds {mechanism.grid.axis.low:g} to "
        f"{mechanism.grid.axis.high:g} dollars, epsilon {at_most(mechanism.epsilon)}.\n"
    )
    show_bars(console, mechanism)
    console.print(metrics_table(mechanism))
    console.print(solved(mechanism))
    console.print(certified(mechanism), style="green")
    console.print(f"\n{len(rows)} private draws: " + ", ".join(f"{row:.2f}" for row in rows))
    console.print(str(mechanism.promise))
    console.print(SECRET, style="dim")
    console.print(
        "\nOn your own file: equinoise optimize FILE --column C --bounds C LOW HIGH --epsilon 1 --out FILE.eq"
    )
    console.print(f"All of this to look at, in a browser: {report}")
