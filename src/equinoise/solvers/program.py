"""The game's optimum as a mixed-integer convex program, in outer approximation.

A fraction f[p] of a cell's people uses the pair p = (cell, scale); S[x] = sum of n f W; a used pair must satisfy
W[p, x] <= c S[x] in every cell x; minimize KL = sum over x of p[x] t[x], where t[x] >= -ln(S[x] / n[x]) is kept by
tangents from below. Every row added here holds for every profile that protects everyone, so each solution's
objective is a lower bound of the KL of all of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from highspy import Highs, HighsModelStatus, HighsVarType, kHighsInf

from equinoise.game import Game
from equinoise.grid import Floats, Ints

FIRST_TANGENTS = (0.02, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0)
SMALL_CELL = 3
"""Cells of up to this many people get whole people in the program."""


def new_highs() -> Any:
    """A silent, repeatable HiGHS."""
    highs: Any = Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("random_seed", 0)
    return highs


def add_row(highs: Any, low: float, high: float, columns: Any, values: Any) -> None:
    """One constraint: low <= sum of values * columns <= high."""
    highs.addRow(low, high, len(columns), np.asarray(columns, np.int32), np.asarray(values, np.float64))


def add_tangent(highs: Any, t: int, s: int, at: float) -> None:
    """t >= -ln s, by the tangent at one point."""
    add_row(highs, 1 - math.log(at), kHighsInf, [t, s], [1.0, 1 / at])


class Program:
    """The program of one game: first without whole numbers, then with those that turn out to be needed."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.counts = game.histogram.counts
        self.occupied = game.occupied
        choices = len(game.kernel.scales)
        self.cells = np.repeat(self.occupied, choices)
        self.scales = np.tile(np.arange(choices), len(self.occupied))
        self.cell_rank = np.repeat(np.arange(len(self.occupied)), choices)
        self.rows = game.rows[self.scales, self.cells] / game.kernel.total
        self.mass = self.counts[self.cells][:, None] * self.rows
        self.share = self.counts[self.occupied] / game.people
        self.unit = np.where(self.counts > 0, self.counts, 0.1)  # S is counted in these
        self.upper = game.condition.upper
        self.order = np.argsort(-self.rows, axis=0, kind="stable")
        self.used: dict[int, int] = {}
        self.linked: set[tuple[int, int]] = set()
        self._build()

    def _build(self) -> None:
        pairs, cells = self.rows.shape
        people = len(self.occupied)
        self.s = pairs + np.arange(cells)
        self.t = pairs + cells + np.arange(people)
        self.highs = new_highs()
        self.highs.addVars(pairs, np.zeros(pairs), np.ones(pairs))
        self.highs.addVars(cells, np.zeros(cells), np.full(cells, kHighsInf))
        self.highs.addVars(people, np.full(people, -50.0), np.full(people, 50.0))
        for column, cost in zip(self.t.tolist(), self.share.tolist(), strict=True):
            self.highs.changeColCost(column, cost)
        for rank in range(people):
            mine = np.flatnonzero(self.cell_rank == rank)
            add_row(self.highs, 1.0, 1.0, mine, np.ones(len(mine)))
        for x in range(cells):
            # s <= what comes in; terms too small for the solver are granted in full, so that no bound relies on them.
            terms = self.mass[:, x] / self.unit[x]
            kept = np.flatnonzero(terms > 1e-9)
            granted = float(np.where(terms > 1e-9, 0, terms).reshape(people, -1).max(axis=1).sum())
            add_row(self.highs, -kHighsInf, granted, [self.s[x], *kept], [1.0, *-terms[kept]])
        for rank, x in enumerate(self.occupied.tolist()):
            for at in FIRST_TANGENTS:
                add_tangent(self.highs, int(self.t[rank]), int(self.s[x]), at)
        self.lasting_rows = self.highs.getNumRow()

    def solve(self, seconds: float, gap: float = 0.0) -> tuple[float, Floats] | None:
        """A lower bound and the fractions that attain it (nearly), within a time; None if there was no solution."""
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + max(seconds, 0.1))
        self.highs.setOptionValue("mip_abs_gap", gap)
        self.highs.setOptionValue("mip_rel_gap", 0.0)
        self.highs.run()
        values = np.array(self.highs.getSolution().col_value)
        info = self.highs.getInfo()
        if self.used:
            if info.primal_solution_status != 2:
                return None
            bound = float(info.mip_dual_bound)
        else:
            if self.highs.getModelStatus() != HighsModelStatus.kOptimal:
                return None
            bound = float(info.objective_function_value)
        self.values = values
        return bound, np.clip(values[: len(self.rows)], 0.0, 1.0)

    def tighten_tangents(self, tolerance: float) -> int:
        """More tangents where the last solution lies below the curve; how many."""
        added = 0
        for rank, x in enumerate(self.occupied.tolist()):
            s = max(self.values[self.s[x]], 1e-6)
            if (-math.log(s) - self.values[self.t[rank]]) * self.share[rank] > tolerance:
                add_tangent(self.highs, int(self.t[rank]), int(self.s[x]), s)
                added += 1
        return added

    def add_star_cuts(self, fractions: Floats) -> int:
        """Rows that the last solution violates, one a cell at most; how many.

        In cell x sort the pairs by falling W: w_1 >= w_2 >= ... The largest used W is the sum over i of
        (w_i - w_{i+1}) [some pair among the first i is used], and whether one is used is at least any one cell's
        fraction F_i on those pairs. So c S[x] >= sum of (w_i - w_{i+1}) F_i, for any choice of a cell for each i.
        """
        added = 0
        everywhere = np.arange(len(self.rows))
        for x in range(self.rows.shape[1]):
            order = self.order[:, x]
            weights, ranks = self.rows[order, x], self.cell_rank[order]
            filled = np.zeros((len(order), len(self.occupied)))
            filled[everywhere, ranks] = fractions[order]
            filled = filled.cumsum(axis=0)
            chosen = filled.argmax(axis=1)
            steps = weights - np.append(weights[1:], 0.0)
            limit = self.upper * self.unit[x]
            if steps @ filled[everywhere, chosen] <= limit * self.values[self.s[x]] * (1 + 1e-4) + 1e-9:
                continue
            tails = np.zeros_like(filled)
            tails[everywhere, chosen] = steps
            tails = tails[::-1].cumsum(axis=0)[::-1]
            factors = np.empty(len(order))
            factors[order] = tails[everywhere, ranks] / limit
            kept = np.flatnonzero(factors > 1e-9 * factors.max())
            add_row(self.highs, 0.0, kHighsInf, [self.s[x], *kept], [1.0, *-factors[kept]])
            added += 1
        return added

    def drop_slack_cuts(self) -> None:
        """Forget the cuts that the last solution does not touch."""
        reached = np.array(self.highs.getSolution().row_value)
        low = np.array(self.highs.getLp().row_lower_)
        slack = reached - low > 1e-2 * np.maximum(1, np.abs(low))
        slack[: self.lasting_rows] = False
        if slack.any():
            self.highs.deleteRows(int(slack.sum()), np.flatnonzero(slack).astype(np.int32))

    def whole_people_in_small_cells(self) -> None:
        """Ask for whole people where few live: there fractions are furthest from the truth."""
        for pair in np.flatnonzero(self.counts[self.cells] <= SMALL_CELL).tolist():
            people = int(self.counts[self.cells[pair]])
            column = self.highs.getNumCol()
            self.highs.addVar(0.0, float(people))
            self.highs.changeColIntegrality(column, HighsVarType.kInteger)
            add_row(self.highs, 0.0, 0.0, [column, pair], [1.0, -float(people)])

    def forbid_violations(self, fractions: Floats, most: int = 5) -> int:
        """Binaries and rows for the pairs that a solution uses and violates, in their worst cells; how many rows."""
        sums = fractions @ self.mass
        added = 0
        for pair in np.flatnonzero(fractions > 1e-7).tolist():
            excess = self.rows[pair] / np.maximum(self.upper * sums, 1e-300)
            for x in np.argsort(-excess, kind="stable")[:most].tolist():
                if excess[x] > 1 + 1e-6 and (pair, x) not in self.linked:
                    self._link(pair, x)
                    added += 1
        return added

    def _link(self, pair: int, x: int) -> None:
        """W[pair, x] [pair is used] <= c S[x]."""
        if pair not in self.used:
            self.used[pair] = self.highs.getNumCol()
            self.highs.addVar(0.0, 1.0)
            self.highs.changeColIntegrality(self.used[pair], HighsVarType.kInteger)
            add_row(self.highs, 0.0, kHighsInf, [self.used[pair], pair], [1.0, -1.0])
        self.linked.add((pair, x))
        weight = self.rows[pair, x]
        if weight >= 1e-4:
            limit = self.upper * self.unit[x]
            add_row(self.highs, 0.0, kHighsInf, [self.s[x], self.used[pair]], [1.0, -weight / limit])
            return
        # Tiny weights would drown in tolerances. A used pair has a whole person or more, so no factor need exceed n.
        factors = np.minimum(self.upper * self.mass[:, x] / weight, np.maximum(1e6, self.counts[self.cells]))
        kept = np.flatnonzero(factors > 1e-7)
        granted = float(factors[factors <= 1e-7].sum())
        add_row(self.highs, -granted, kHighsInf, [*kept, self.used[pair]], [*factors[kept], -1.0])

    def divergence(self, fractions: Floats) -> float:
        """KL of fractions."""
        s = (fractions @ self.mass / self.unit)[self.occupied]
        return float(-self.share @ np.log(np.maximum(s, 1e-300)))

    def rounded(self, fractions: Floats) -> Ints:
        """Whole people: each cell's largest remainders up."""
        profile = np.zeros((len(self.counts), len(self.game.kernel.scales)), dtype=np.int64)
        for rank, x in enumerate(self.occupied.tolist()):
            mine = np.flatnonzero(self.cell_rank == rank)
            wanted = fractions[mine] / fractions[mine].sum() * self.counts[x]
            whole = np.floor(wanted + 1e-9).astype(np.int64)
            up = np.argsort(whole - wanted, kind="stable")[: int(self.counts[x] - whole.sum())]
            whole[up] += 1
            profile[x, self.scales[mine]] = whole
        return profile
