"""The game's optimum from below: a linear program that bounds the divergence of all profiles of a node.

A fraction f[p] of a cell's people uses the pair p = (cell, scale); s[x] = S[x] / n[x], where S[x] = sum of n f W;
minimize the sum over x of weight[x] t[x], where t[x] >= cost(s[x]) is kept by tangents from below. That a used pair
must satisfy W[p, x] <= c S[x] in every cell x is not convex. What is kept of it are rows that hold for every profile
that protects everyone: in all nodes, or in those where someone is known to use some group of pairs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from highspy import HighsBasisStatus, HighsModelStatus, kHighsInf

from equinoise.game import Game
from equinoise.grid import Floats
from equinoise.solvers.linear import add_row, add_tangent, new_highs, run
from equinoise.solvers.nodes import Group, Node
from equinoise.solvers.objective import FIRST_TANGENTS, LEAST_AT, Objective

MOST_CUTS = 30
"""Star cuts added at a time, those with the largest violation first."""
GRANTED = 1e-9
"""Terms that HiGHS would take for zero."""


class _Row(NamedTuple):
    """A row that was added: its lower side, in which nodes it holds, and what it says if that is said only once."""

    low: float
    where: Group | None = None
    says: tuple[Group, int] | None = None


class Program:
    """The linear program of one game, at one node at a time."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.counts = game.histogram.counts
        self.occupied = game.occupied
        self.choices = len(game.kernel.scales)
        self.cells = np.repeat(self.occupied, self.choices)
        self.scales = np.tile(np.arange(self.choices), len(self.occupied))
        self.cell_rank = np.repeat(np.arange(len(self.occupied)), self.choices)
        self.people = self.counts[self.cells].astype(np.float64)
        self.rows = game.rows[self.scales, self.cells] / game.kernel.total
        self.mass = self.people[:, None] * self.rows
        self.objective = Objective(game)
        self.unit = self.objective.unit  # s counts S in these
        self.upper = game.condition.upper
        self.limit = self.upper * self.unit
        self.order = np.argsort(-self.rows, axis=0, kind="stable")
        self.sorted_rows = np.take_along_axis(self.rows, self.order, axis=0)
        self.added: list[_Row] = []
        self._build()
        self.enter(self.root)

    def _build(self) -> None:
        pairs, cells = self.rows.shape
        people, terms = len(self.occupied), len(self.objective.cells)
        self.s = pairs + np.arange(cells)
        self.t = pairs + cells + np.arange(terms)
        self.highs = new_highs()
        self.highs.addVars(pairs, np.zeros(pairs), np.ones(pairs))
        self.highs.addVars(cells, np.zeros(cells), np.full(cells, kHighsInf))
        self.highs.addVars(terms, np.full(terms, -50.0), np.full(terms, 50.0))
        for column, weight in zip(self.t.tolist(), self.objective.weight.tolist(), strict=True):
            self.highs.changeColCost(column, weight)
        for rank in range(people):
            mine = np.flatnonzero(self.cell_rank == rank)
            add_row(self.highs, 1.0, 1.0, mine, np.ones(len(mine)))
        for x in range(cells):
            # s is what comes in; parts too small for the solver may come in or not, so that no bound relies on them.
            parts = self.mass[:, x] / self.unit[x]
            kept = np.flatnonzero(parts > GRANTED)
            granted = float(np.where(parts > GRANTED, 0, parts).reshape(people, -1).max(axis=1).sum())
            least = -kHighsInf if self.objective.falling else 0.0
            add_row(self.highs, least, granted, [self.s[x], *kept], [1.0, *-parts[kept]])
        for term in range(terms):
            for at in FIRST_TANGENTS:
                self._add_tangent(term, at)
        self.lasting_rows = self.highs.getNumRow()

    @property
    def root(self) -> Node:
        """All profiles."""
        return Node(self.choices, np.zeros(len(self.rows)), self.people)

    def enter(self, node: Node) -> None:
        """Make this the program of a node.

        If someone uses a group then c S[x] is at least the group's smallest W there: the floor.
        """
        self.node = node
        floors = np.array([self.rows[list(group)].min(axis=0) for group in node.used])
        cells = self.rows.shape[1]
        self.floor = floors.max(axis=0) if node.used else np.zeros(cells)
        self.floor_from = floors.argmax(axis=0) if node.used else np.zeros(cells, dtype=np.int64)
        pairs = np.arange(len(self.rows), dtype=np.int32)
        self.highs.changeColsBounds(len(pairs), pairs, node.least / self.people, node.most / self.people)
        low = self.floor / self.limit * (1 - 1e-9)
        self.highs.changeColsBounds(cells, self.s.astype(np.int32), low, np.full(cells, kHighsInf))
        for group in node.used:
            self._add(list(group), np.ones(len(group)), _Row(1 / self.people[group[0]], group, (group, -1)))
        holds = {where: node.implies(where) for where in {row.where for row in self.added} if where is not None}
        local = [(number, row) for number, row in enumerate(self.added, self.lasting_rows) if row.where is not None]
        numbers = np.array([number for number, _ in local], dtype=np.int32)
        lows = np.array([row.low if row.where is None or holds[row.where] else -kHighsInf for _, row in local])
        if local:
            self.highs.changeRowsBounds(len(local), numbers, lows, np.full(len(local), kHighsInf))

    def _add(self, columns: Any, values: Any, row: _Row) -> int:
        """Add a row unless it was said before; how many were added."""
        if row.says is not None and any(row.says == other.says for other in self.added):
            return 0
        self.added.append(row)
        add_row(self.highs, row.low, kHighsInf, columns, values)
        return 1

    def solve(self, deadline: float) -> float | None:
        """A lower bound on the node, infinite if there is nothing in it; None if there was no solution in time."""
        status = run(self.highs, deadline)
        if status in (HighsModelStatus.kNotset, HighsModelStatus.kUnknown, HighsModelStatus.kSolveError):
            self.highs.clearSolver()  # rarely it cannot go on from its last basis, but can start anew
            status = run(self.highs, deadline)
        if status in (HighsModelStatus.kInfeasible, HighsModelStatus.kUnboundedOrInfeasible):
            return math.inf
        if status != HighsModelStatus.kOptimal:
            return None
        self.values = np.array(self.highs.getSolution().col_value)
        self.fractions = np.clip(self.values[: len(self.rows)], 0.0, 1.0)
        return float(self.highs.getInfo().objective_function_value)

    def tighten(self, tolerance: float) -> int:
        """Add rows that the last solution violates; how many."""
        return self._add_tangents(tolerance) + self._add_star_cuts() + self._add_conditions()

    def _add_tangents(self, tolerance: float) -> int:
        """More tangents where the last solution lies below the curve."""
        s = np.maximum(self.values[self.s[self.objective.cells]], LEAST_AT)
        below = np.flatnonzero((self.objective.cost(s) - self.values[self.t]) * self.objective.weight > tolerance)
        for term in below.tolist():
            self.added.append(_Row(self._add_tangent(term, float(s[term]))))
        return len(below)

    def _add_tangent(self, term: int, at: float) -> float:
        s = int(self.s[self.objective.cells[term]])
        return add_tangent(self.highs, int(self.t[term]), s, self.objective.tangent(term, at))

    def _add_star_cuts(self, tolerance: float = 1e-3) -> int:
        """Star cuts, one a cell at most.

        In cell x sort the pairs by falling W: w_1 >= w_2 >= ... The largest used W is the sum over i of
        (w_i - w_{i+1}) [some pair among the first i is used], and whether one is used is at least any one cell's
        fraction F_i on those pairs. So c S[x] >= sum of (w_i - w_{i+1}) F_i, for any choice of a cell for each i.
        With a floor B the same holds for the w_i above it, and c S[x] >= B + sum of (w_i - max(w_{i+1}, B)) F_i.
        """
        cells = self.rows.reshape(len(self.occupied), self.choices, -1)
        share = self.fractions.reshape(len(self.occupied), self.choices)
        own = sum(
            share[:, v, None, None] * (cells[:, v, None, :] >= cells) for v in range(self.choices)
        )  # each pair's cell's fraction on pairs of no smaller W
        own = np.take_along_axis(np.asarray(own).reshape(self.rows.shape), self.order, axis=0)
        filled = np.maximum.accumulate(own, axis=0)
        weights = np.maximum(np.vstack([self.sorted_rows, np.zeros_like(self.floor)]), self.floor)
        steps = weights[:-1] - weights[1:]
        asked = (self.floor + (steps * filled).sum(axis=0)) / self.limit
        given = self.values[self.s]
        violated = np.flatnonzero(asked > given * (1 + tolerance) + 1e-7)
        worst = violated[np.argsort(-asked[violated] / np.maximum(given[violated], 1e-6), kind="stable")]
        for x in worst[:MOST_CUTS].tolist():
            self._add_star_cut(x, steps[:, x], own[:, x] >= filled[:, x])
        return len(violated)

    def _add_star_cut(self, x: int, steps: Floats, leads: Any) -> None:
        order = self.order[:, x]
        ranks = self.cell_rank[order]
        chosen = ranks[np.maximum.accumulate(np.where(leads, np.arange(len(order)), 0))]
        tails = np.zeros((len(order), len(self.occupied)))
        tails[np.arange(len(order)), chosen] = steps
        tails = tails[::-1].cumsum(axis=0)[::-1]
        factors = np.empty(len(order))
        factors[order] = tails[np.arange(len(order)), ranks] / self.limit[x]
        kept = np.flatnonzero(factors > GRANTED * max(factors.max(), 1.0))
        low = self.floor[x] / self.limit[x] * (1 - 1e-9)
        where = self.node.used[self.floor_from[x]] if self.floor[x] > 0 else None
        self._add([self.s[x], *kept], [1.0, *-factors[kept]], _Row(low, where))

    def _add_conditions(self) -> int:
        """The floor once more, for whole people: 1 <= sum of min(c W / floor, 1) n f.

        Either someone is on a pair that alone reaches the floor, or the others must reach it together. So a trace of a
        far-reaching pair no longer does, nor what drowns in tolerances.
        """
        added = 0
        cells = np.flatnonzero(self.floor > 0)
        reach = np.minimum(self.upper * self.rows[:, cells] / self.floor[cells], 1.0) * self.people[:, None]
        for column in np.flatnonzero(self.fractions @ reach < 1 - 1e-6).tolist():
            x, factors = int(cells[column]), reach[:, column]
            group = self.node.used[self.floor_from[x]]
            kept = np.flatnonzero(factors > 1e-7)
            low = 1 - 1e-7 - float(factors[factors <= 1e-7].sum())
            added += self._add(kept, factors[kept], _Row(low, group, (group, x)))
        return added

    def drop_slack_rows(self) -> None:
        """Forget the rows that the last solution does not touch, once they are many."""
        if len(self.added) < 2 * self.lasting_rows:
            return
        basis = self.highs.getBasis()
        if not basis.valid:
            return
        status = list(basis.row_status)
        slack = np.array([state == HighsBasisStatus.kBasic for state in status])
        slack[: self.lasting_rows] = False
        basis.row_status = [state for state, drop in zip(status, slack, strict=True) if not drop]
        self.highs.deleteRows(int(slack.sum()), np.flatnonzero(slack).astype(np.int32))
        self.highs.setBasis(basis)  # HiGHS forgets it when rows go
        self.added = [row for row, drop in zip(self.added, slack[self.lasting_rows :], strict=True) if not drop]

    def divergence(self, fractions: Floats) -> float:
        """Of fractions."""
        return self.objective.value(fractions @ self.mass)
