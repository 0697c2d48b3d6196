"""Joint grids on real people: height x weight (x age) of basketball players.

python -m benchmarks.joint
"""

from __future__ import annotations

import time

from equinoise.data.counting import count_rows
from equinoise.data.grid import Axis, Grid
from equinoise.data.rows import open_rows
from equinoise.game.game import Game
from equinoise.game.kernel import make_kernel, offered_scales
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.solvers.best_response import best_response
from equinoise.statistics.metrics import joint_metrics

BOUNDS = {"height": (163.0, 226.0), "weight": (50.0, 160.0), "age": (15.0, 66.0)}


def players(*columns):
    """One row for each of the 1,844 men whose height and weight are known (1,837 whose age is, too)."""
    import moderndive

    table = moderndive.load_basketball_athletes()
    men = table.filter(table["sex"] == "M").drop_nulls(["height", "weight"])
    return men.unique("id", keep="first", maintain_order=True).drop_nulls(columns).select(columns)


def joint_game(columns, bins, epsilon, *, scales="wide", scale_per_column=False, utility="kl", rows=None):
    """The game on these columns of the players, or of other rows."""
    axes = tuple(Axis.padded(name, *BOUNDS[name], bins=bins) for name in columns)
    found = count_rows(open_rows(players(*columns) if rows is None else rows, list(columns)), Grid(axes))
    offered = offered_scales(scales, found.grid, epsilon, scale_per_column=scale_per_column)
    kernel = make_kernel("laplace", offered, found.grid.shape, found.grid.bins_of(found.cells))
    return Game(found, kernel, epsilon, utility)


def main():
    """Best response with its usual restarts, and the certificate."""
    for columns, bins in ((("height", "weight"), 51), (("height", "weight"), 101), (("height", "weight", "age"), 21)):
        for epsilon in (1.0, 2.0, 4.0, 8.0):
            game = joint_game(columns, bins, epsilon)
            solution = best_response(game)
            began = time.perf_counter()
            certificate = PerInstance.unchecked(solution).certificate()
            seconds = time.perf_counter() - began
            p = game.players.histogram.counts / game.people
            reached = joint_metrics(p, game.output(solution.profile), game.players.grid.axes)
            print(
                f"{' x '.join(columns)}, {bins} bins, epsilon {epsilon:g}: {solution.seconds:.1f} s, "
                f"KL {solution.kl:.5f}, TV {reached['tv']:.4f}, correlation lost {reached['correlation_loss']:.4f}, "
                f"protected {solution.protected} of {game.people}, equilibrium {solution.equilibrium}, "
                f"best run {solution.settings['best_run']}, "
                f"certificate {certificate.holds} for {certificate.groups} groups in {seconds:.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
