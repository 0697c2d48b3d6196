"""``equinoise optimize``: from rows to a certified mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from equinoise.cli_data import all_bounds, data_options, given_scales, named_columns, warnings_said
from equinoise.cli_options import EPILOG, FILE_PATH, json_option, offering
from equinoise.errors import BadInput


@click.command(
    epilog=EPILOG,
    short_help="Make a certified mechanism from a column of numbers.",
)
@click.argument("data", type=FILE_PATH)
@click.option("--epsilon", type=float, required=True,
    help="The loss that everyone must stay within: for one draw, or with --delta and several --draws for all together.",
)  # fmt: skip
@click.option("--out", type=FILE_PATH, required=True, help="Where to save the mechanism. As secret as the data.")
@click.option("--draws", type=int, default=1, show_default=True, help="How many draws may ever be released.")
@click.option(
    "--delta", type=float, default=0.0, show_default=True,
    help="Probability with which epsilon may be exceeded. With several draws, epsilon is then for all together.",
)  # fmt: skip
@click.option(
    "--guarantee", default="fixed-noise", show_default=True,
    shell_complete=offering("fixed-noise", "end-to-end", "worst-case"),
    help="The tier: fixed-noise, the game; end-to-end, the game with a loss also measured with the noise worked out "
    "again; worst-case, differential privacy without a game.",
)  # fmt: skip
@click.option(
    "--base", type=FILE_PATH,
    help="For the worst-case tier: a file with one number for each cell within the bounds, where people are expected.",
)  # fmt: skip
@click.option("--scale-per-column", is_flag=True, help="With several columns: a person may have another scale on each.")
@click.option(
    "--renyi",
    type=float,
    metavar="ORDER",
    help="Bound the Renyi divergence of this order by epsilon, instead of the loss.",
)
@click.option(
    "--solver", default="best-response", show_default=True,
    shell_complete=offering("best-response", "optimal", "genetic"),
    help="best-response; optimal, the best profile with a proven gap; or genetic, the paper's other algorithm.",
)  # fmt: skip
@click.option("--generations", type=int, help="Generations of the genetic solver at most.  [default: 270]")
@click.option("--time-limit", type=float, help="Seconds for the optimal solver.  [default: 60]")
@data_options
@click.option("--force", is_flag=True, help="Replace --out if it exists, together with its ledger.")
@json_option
def optimize(
    data: Path, column: Sequence[str], epsilon: float, out: Path, bounds: Sequence[tuple[str, float, float]],
    unit: str | None, unit_rows: str,
    draws: int, delta: float, renyi: float | None, guarantee: str, base: Path | None, scale_per_column: bool,
    bins: int, noise: str, scales: str, utility: str, missing: str, outside: str, solver: str,
    time_limit: float | None, generations: int | None, restarts: int | None, seed: int,
    padding_epsilon: float, percentile: float, engine: str, engine_address: str | None, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Play the game on a column of DATA, or several, and save a certified mechanism.

    DATA is a CSV, TSV or Parquet file, a folder of such files or a quoted pattern.

    \b
    Examples:
      equinoise optimize pay.csv --column pay --epsilon 1 --bounds pay 0 4000 --out pay.eq
      equinoise optimize pay.csv --column pay --epsilon 0.5 --bounds pay 0 4000 --draws 10 \\
          --missing drop --outside clip --restarts 20 --out pay.eq
      equinoise optimize pay.csv --column pay --epsilon 1 --bounds pay 0 4000 --solver optimal --out pay.eq
      equinoise optimize pay.csv --column pay --epsilon 1 --delta 1e-6 --draws 500 --bounds pay 0 4000 \\
          --guarantee worst-case --out pay.eq
      equinoise optimize people.csv --epsilon 1 --bounds height 120 230 --bounds weight 30 200 --out both.eq
      equinoise optimize visits.csv --column cost --unit patient --epsilon 1 --bounds cost 0 900 --out cost.eq
      equinoise optimize 'parts/*.parquet' --epsilon 1 --bounds pay 0 4000 --engine duckdb --out pay.eq
    """
    from equinoise import terminal
    from equinoise.files import check_writable, read_numbers
    from equinoise.opening import released_from
    from equinoise.pipeline import optimize as make
    from equinoise.storage import free

    name = named_columns(column, bounds)
    limits = all_bounds(name, bounds)
    released = released_from(out)
    if released and not force:
        raise BadInput(
            f"The file {str(out)!r} exists, and {released:,} draw{'s were' if released > 1 else ' was'} released from "
            "it. Name another: with --force they are forgotten, but still count against the people in it."
        )
    check_writable(out, data, base, force=force)
    with free(out):  # before the work, not after it
        pass
    with warnings_said() as said, terminal.progress() as seen:
        mechanism = make(
            data, epsilon=epsilon, column=name, bounds=limits or None, bins=bins, scales=given_scales(scales),
            per_axis=scale_per_column, unit=unit, unit_rows=unit_rows,
            noise=noise, utility=utility, draws=draws, delta=delta, renyi=renyi, solver=solver,
            guarantee=guarantee, base=None if base is None else read_numbers(base),
            time_limit=time_limit, generations=generations,
            restarts=restarts, seed=seed, missing=missing, outside=outside,
            padding_epsilon=padding_epsilon, percentile=percentile,
            engine=engine, engine_address=engine_address, progress=seen,
        )  # fmt: skip
    mechanism.save(out, force=force)
    if released:
        said.append(
            f"{str(out)!r} was replaced together with its ledger. The {released:,} "
            f"draw{'s' * (released > 1)} released from it still count against the people in it."
        )
        click.echo(f"Warning: {said[-1]}", err=True)
    if as_json:
        terminal.print_json({**mechanism.summary(), "file": str(out), "warnings": said})
    else:
        terminal.show_optimized(mechanism, out)
