"""The game's optimum from below: a linear program that bounds the divergence of all profiles of a node.

A fraction f[p] of a type's people uses the pair p = (type, scale); s[x] = S[x] / n[x], where S[x] = sum of people f W;
minimize the sum over x of weight[x] t[x], where t[x] >= cost(s[x]) is kept by tangents from below (or a sum of gaps,
see ``objective``). That a used pair must satisfy S[x] >= D[p, x] in every cell x, its demand (see ``demands``), is not
convex. What is kept of it are constraints that hold for every profile that protects everyone: in all nodes, or in those
where someone is known to use some group of pairs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from highspy import HighsBasisStatus, HighsModelStatus, kHighsInf

from equinoise.data.grid import Floats
from equinoise.game.game import Game
from equinoise.solvers.optimal.demands import demands
from equinoise.solvers.optimal.highs import add_constraint, new_highs, run
from equinoise.solvers.optimal.nodes import Group, Node
from equinoise.solvers.optimal.objective import FIRST_TANGENTS, LEAST_AT, Objective
from equinoise.solvers.optimal.stars import Stars

MOST_CUTS = 30
"""Star cuts added at a time, those with the largest violation first."""
TANGENTS_AT = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
"""Where tangents are tried, as parts of s."""
MOST_FLOORS = 4096
"""Floors of groups that are kept, not worked out again."""
GRANTED = 1e-9
"""Terms that HiGHS would take for zero."""


class _Constraint(NamedTuple):
    """A constraint: its lower side, in which nodes it holds, and what it says if that is said only once."""

    low: float
    where: Group | None = None
    says: tuple[Group, int] | None = None


class Program:
    """The linear program of one game, at one node at a time."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.choices, self.types = game.scales, game.players.types
        self.type_of = np.repeat(np.arange(self.types), self.choices)
        self.scale_of = np.tile(np.arange(self.choices), self.types)
        self.people = game.players.people[self.type_of].astype(np.float64)
        self.weights = game.store.some(self.type_of, self.scale_of) / game.kernel.total
        self.mass = self.people[:, None] * self.weights
        self.demand = demands(game.condition, self.weights, self.type_of)
        self.objective = Objective(game)
        self.unit = np.full(self.weights.shape[1], 0.1)  # s counts S in these
        self.unit[game.players.occupied] = game.players.counts
        self.stars = Stars(self.demand, self.types)
        self.added: list[_Constraint] = []
        self.floors: dict[Group, Floats] = {}
        self._build()
        self.enter(self.root)

    def _build(self) -> None:
        pairs, cells = self.weights.shape
        terms = len(self.objective.cells)
        self.s = pairs + np.arange(cells)
        self.t = pairs + cells + np.arange(terms)
        self.highs = new_highs()
        self.highs.addVars(pairs, np.zeros(pairs), np.ones(pairs))
        self.highs.addVars(cells, np.zeros(cells), np.full(cells, kHighsInf))
        self.highs.addVars(terms, np.full(terms, -50.0), np.full(terms, 50.0))
        for column, weight in zip(self.t.tolist(), self.objective.weight.tolist(), strict=True):
            self.highs.changeColCost(column, weight)
        for i in range(self.types):
            add_constraint(self.highs, 1.0, 1.0, np.flatnonzero(self.type_of == i), np.ones(self.choices))
        for x in range(cells):
            # s is what comes in; parts too small for the solver may come in or not, so that no bound relies on them.
            parts = self.mass[:, x] / self.unit[x]
            kept = np.flatnonzero(parts > GRANTED)
            granted = float(np.where(parts > GRANTED, 0, parts).reshape(self.types, -1).max(axis=1).sum())
            add_constraint(self.highs, -kHighsInf, granted, [self.s[x], *kept], [1.0, *-parts[kept]])
        for t, s in zip(self.t.tolist(), self.s[self.objective.cells].tolist(), strict=True):
            for at in FIRST_TANGENTS:
                self.objective.add_tangent(self.highs, t, s, at)
        self.objective.add_gaps(self.highs, self.people[:, None] * self.objective.features)
        self.lasting = self.highs.getNumRow()

    @property
    def root(self) -> Node:
        """All profiles."""
        return Node(self.choices, np.zeros(len(self.weights)), self.people)

    def enter(self, node: Node) -> None:
        """Make this the program of a node.

        If someone uses a group then S[x] is at least the group's smallest demand there: the floor.
        """
        self.node = node
        floors = np.array([self.floor_of(group) for group in node.used])
        cells = self.weights.shape[1]
        self.floor = floors.max(axis=0) if node.used else np.zeros(cells)
        self.floor_from = floors.argmax(axis=0) if node.used else np.zeros(cells, dtype=np.int64)
        pairs = np.arange(len(self.weights), dtype=np.int32)
        self.highs.changeColsBounds(len(pairs), pairs, node.least / self.people, node.most / self.people)
        low = self.floor / self.unit * (1 - 1e-9)
        self.highs.changeColsBounds(cells, self.s.astype(np.int32), low, np.full(cells, kHighsInf))
        for group in node.used:
            people = self.people[list(group)]
            self._add(list(group), people / people.max(), _Constraint(1 / people.max(), group, (group, -1)))
        for group, _, _ in node.totals:
            people = self.people[list(group)]
            self._add(list(group), people / people.max(), _Constraint(-kHighsInf, None, (group, -2)))
        for number, row in enumerate(self.added, self.lasting):
            if row.says is not None and row.says[1] == -2:
                self.highs.changeRowBounds(number, *self._total_bounds(row.says[0]))
        holds = {where: node.implies(where) for where in {row.where for row in self.added} if where is not None}
        local = [(number, row) for number, row in enumerate(self.added, self.lasting) if row.where is not None]
        numbers = np.array([number for number, _ in local], dtype=np.int32)
        lows = np.array([row.low if row.where is None or holds[row.where] else -kHighsInf for _, row in local])
        if local:
            self.highs.changeRowsBounds(len(local), numbers, lows, np.full(len(local), kHighsInf))

    def _total_bounds(self, group: Group) -> tuple[float, float]:
        """How many people the node has on a group, in units of its largest type."""
        unit = self.people[list(group)].max()
        bounds = [(low / unit, high / unit) for other, low, high in self.node.totals if other == group]
        return bounds[0] if bounds else (-kHighsInf, kHighsInf)

    def floor_of(self, group: Group) -> Floats:
        """What S is at least, in every cell, if someone uses the group."""
        if group not in self.floors:
            if len(self.floors) >= MOST_FLOORS:
                self.floors.clear()
            self.floors[group] = self.demand[list(group)].min(axis=0)
        return self.floors[group]

    def _add(self, columns: Any, values: Any, row: _Constraint) -> int:
        """Add a constraint unless it was said before; how many were added."""
        if row.says is not None and any(row.says == other.says for other in self.added):
            return 0
        self.added.append(row)
        add_constraint(self.highs, row.low, kHighsInf, columns, values)
        return 1

    def solve(self, deadline: float) -> float | None:
        """A lower bound on the node, infinite if there is nothing in it; None if there was no solution in time."""
        status = run(self.highs, deadline)
        for option, value in (("simplex_scale_strategy", 0), ("solver", "ipm")):
            if status not in (HighsModelStatus.kNotset, HighsModelStatus.kUnknown, HighsModelStatus.kSolveError):
                break
            # Rarely it cannot go on from its last basis, mostly where nothing is left, but can start anew another way.
            self.highs.clearSolver()
            _, usual = self.highs.getOptionValue(option)
            self.highs.setOptionValue(option, value)
            status = run(self.highs, deadline)
            self.highs.setOptionValue(option, usual)
        if status in (HighsModelStatus.kInfeasible, HighsModelStatus.kUnboundedOrInfeasible):
            return math.inf
        if status != HighsModelStatus.kOptimal:
            return None
        self.values = np.array(self.highs.getSolution().col_value)
        self.fractions = np.clip(self.values[: len(self.weights)], 0.0, 1.0)
        return float(self.highs.getInfo().objective_function_value)

    def tighten(self, tolerance: float) -> int:
        """Add constraints that the last solution violates; how many."""
        self.stars.fill(self.fractions)
        return self._add_lifted_tangents(tolerance) + self._add_star_cuts() + self._add_conditions()

    def _add_lifted_tangents(self, tolerance: float) -> int:
        """More tangents where the last solution lies below the curve, or below what demands leave of it.

        A tangent at r is below the curve at s >= d > r by at least what it is at d, the lift, which rises with d. With
        the largest demand in use for d that is t >= tangent(s) + lift(d), and a star (see ``stars``) for lift(d).
        """
        objective = self.objective
        cells = objective.cells
        s = np.maximum(self.values[self.s[cells]], LEAST_AT)
        demand = np.maximum(self.stars.sorted[:, cells], self.floor[cells]) / objective.unit
        floor = self.floor[cells] / objective.unit
        best, at = np.full(len(s), -np.inf), s
        for part in TANGENTS_AT:
            r = np.maximum(s * part, LEAST_AT)
            a, b = objective.curve.tangents(r)
            lifted = a - b * s + self.stars.total(objective.lift(demand, r), objective.lift(floor, r), cells)
            at, best = np.where(lifted > best, r, at), np.maximum(best, lifted)
        below = np.flatnonzero((best - self.values[self.t]) * objective.weight > tolerance)
        for term in below.tolist():
            self._add_lifted_tangent(term, float(at[term]), demand[:, term], float(floor[term]))
        return len(below)

    def _add_lifted_tangent(self, term: int, at: float, demand: Floats, floor: float) -> None:
        x = int(self.objective.cells[term])
        low, slope = map(float, self.objective.curve.tangents(np.array(at)))
        base = float(self.objective.lift(np.array(floor), np.array(at)))
        factors = self.stars.factors(x, self.objective.lift(demand, np.array(at)), base)
        kept = np.flatnonzero(factors > GRANTED * max(factors.max(), 1.0))
        where = self.node.used[self.floor_from[x]] if base > 0 else None
        columns, values = [self.t[term], self.s[x], *kept], [1.0, slope, *-factors[kept]]
        self._add(columns, values, _Constraint(low + base * (1 - 1e-9), where))

    def _add_star_cuts(self, tolerance: float = 1e-3) -> int:
        """Star cuts of the demands themselves, for S, one a cell at most."""
        every = np.arange(len(self.floor))
        demand = np.maximum(self.stars.sorted, self.floor)
        required = self.stars.total(demand, self.floor, every) / self.unit
        reached = self.values[self.s]
        violated = np.flatnonzero(required > reached * (1 + tolerance) + 1e-7)
        worst = violated[np.argsort(-required[violated] / np.maximum(reached[violated], 1e-6), kind="stable")]
        for x in worst[:MOST_CUTS].tolist():
            factors = self.stars.factors(x, demand[:, x], float(self.floor[x])) / self.unit[x]
            kept = np.flatnonzero(factors > GRANTED * max(factors.max(), 1.0))
            low = self.floor[x] / self.unit[x] * (1 - 1e-9)
            where = self.node.used[self.floor_from[x]] if self.floor[x] > 0 else None
            self._add([self.s[x], *kept], [1.0, *-factors[kept]], _Constraint(low, where))
        return len(violated)

    def _add_conditions(self) -> int:
        """The floor once more, for whole people: 1 <= sum of min(W / floor, 1) people f.

        Either someone is on a pair that alone reaches the floor, or the others must reach it together. So a trace of a
        far-reaching pair no longer does, nor what drowns in tolerances.
        """
        added = 0
        cells = np.flatnonzero(self.floor > 0)
        reach = np.minimum(self.weights[:, cells] / self.floor[cells], 1.0) * self.people[:, None]
        for column in np.flatnonzero(self.fractions @ reach < 1 - 1e-6).tolist():
            x, factors = int(cells[column]), reach[:, column]
            group = self.node.used[self.floor_from[x]]
            kept = np.flatnonzero(factors > 1e-7)
            low = 1 - 1e-7 - float(factors[factors <= 1e-7].sum())
            added += self._add(kept, factors[kept], _Constraint(low, group, (group, x)))
        return added

    def drop_slack_constraints(self) -> None:
        """Forget the constraints that the last solution does not touch, once they are many."""
        if len(self.added) < 2 * self.lasting:
            return
        basis = self.highs.getBasis()
        if not basis.valid:
            return
        status = list(basis.row_status)
        slack = np.array([state == HighsBasisStatus.kBasic for state in status])
        slack[: self.lasting] = False
        basis.row_status = [state for state, drop in zip(status, slack, strict=True) if not drop]
        self.highs.deleteRows(int(slack.sum()), np.flatnonzero(slack).astype(np.int32))
        self.highs.setBasis(basis)  # HiGHS forgets it when constraints go
        self.added = [row for row, drop in zip(self.added, slack[self.lasting :], strict=True) if not drop]

    def divergence(self, fractions: Floats) -> float:
        """The divergence that fractions of every type on each pair have, in the utility's unit."""
        objective, s = self.objective, (fractions @ self.mass)[self.objective.cells] / self.objective.unit
        gaps = objective.original - fractions * self.people @ objective.features
        return float(objective.weight @ objective.curve.cost(s) + np.abs(gaps).sum() / objective.total_rows)
