"""The program with only some pairs on offer, all of whose demands are kept: no binaries are needed then.

No solution here proves nothing (tolerances may be to blame); a solution is a candidate, to be checked like any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from highspy import HighsModelStatus, HighsVarType, kHighsInf

from equinoise.data.grid import Floats, Ints
from equinoise.solvers.optimal.highs import add_constraint, new_highs, run
from equinoise.solvers.optimal.linear_program import Program
from equinoise.solvers.optimal.objective import FIRST_TANGENTS, LEAST_AT

FEASIBLE = 2
MOST_NODES = 1
"""Nodes of HiGHS's search for whole people: what comes after is better found by swaps."""
MORE_TANGENTS = (0.9, 0.95, 1.05, 1.1)
TANGENT_STEPS = (-2, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 2)
"""Where the tangents of whole people lie: this many people around the fractions."""


def best_fractions(program: Program, pairs: Ints, deadline: float) -> Floats | None:
    """The best use of these pairs, and of those that ask for nothing more than these do."""
    if len(pairs) == 0:
        return None
    pairs = np.flatnonzero((program.demand <= program.demand[pairs].max(axis=0)).all(axis=1))
    highs = _build(program, pairs, program.people[pairs], np.ones(program.types))
    if highs is None:
        return None
    many, terms, objective = len(pairs), len(program.objective.cells), program.objective
    for _ in range(12):
        if run(highs, deadline) != HighsModelStatus.kOptimal:
            return None
        values = np.array(highs.getSolution().col_value)
        s, t = np.maximum(values[many : many + terms], LEAST_AT), values[many + terms : many + 2 * terms]
        below = np.flatnonzero((objective.curve.cost(s) - t) * objective.weight > 1e-7)
        for term in below.tolist():
            objective.add_tangent(highs, many + terms + term, many + term, float(s[term]))
        if len(below) == 0:
            break
    fractions = np.zeros(len(program.weights))
    fractions[pairs] = np.clip(values[:many], 0.0, 1.0)
    return fractions


def round_people(program: Program, fractions: Floats) -> Ints:
    """Whole people: each type's largest remainders up."""
    shares = fractions.reshape(program.types, program.choices)
    people = program.game.players.people
    wanted = shares / shares.sum(axis=1, keepdims=True) * people[:, None]
    profile = np.floor(wanted + 1e-9).astype(np.int64)
    ranks = np.argsort(np.argsort(profile - wanted, axis=1, kind="stable"), axis=1)
    return np.asarray(profile + (ranks < (people - profile.sum(axis=1))[:, None]))


def best_people(program: Program, fractions: Floats, deadline: float) -> Ints | None:
    """About the best whole people on the pairs that have any of these fractions."""
    pairs = np.flatnonzero(fractions * program.people > 1e-4)
    highs = _build(program, pairs, np.ones(len(pairs)), program.game.players.people.astype(np.float64))
    if highs is None:
        return None
    many, terms, objective = len(pairs), len(program.objective.cells), program.objective
    s = (fractions @ program.mass)[objective.cells] / objective.unit
    for term in range(terms):
        for step in TANGENT_STEPS:
            at = max(float(s[term] + step / objective.unit[term]), 0.01)
            objective.add_tangent(highs, many + terms + term, many + term, at)
    for column in range(many):
        highs.changeColIntegrality(column, HighsVarType.kInteger)
    highs.setOptionValue("mip_abs_gap", 2e-6)
    highs.setOptionValue("mip_max_nodes", MOST_NODES)  # not seconds, so that the result is always the same
    run(highs, deadline)
    if highs.getInfo().primal_solution_status != FEASIBLE:
        return None
    people = np.rint(np.array(highs.getSolution().col_value)[:many]).astype(np.int64)
    profile = np.zeros((program.types, program.choices), dtype=np.int64)
    profile[program.type_of[pairs], program.scale_of[pairs]] = people
    return profile if np.array_equal(profile.sum(axis=1), program.game.players.people) else None


def _build(program: Program, pairs: Ints, people: Floats, totals: Floats) -> Any:
    """The linear program over the pairs: how many people one unit of each is, and how many units each type has."""
    each = people[:, None] * program.weights[pairs]
    owners = program.type_of[pairs]
    if len(np.unique(owners)) < program.types:
        return None
    highs, many, objective = new_highs(), len(pairs), program.objective
    highs.setOptionValue("small_matrix_value", 1e-7)  # HiGHS may go round for ever on less; what comes out is checked
    terms = len(objective.cells)
    highs.addVars(many, np.zeros(many), totals[owners])
    highs.addVars(terms, np.zeros(terms), np.full(terms, kHighsInf))
    highs.addVars(terms, np.full(terms, -50.0), np.full(terms, 50.0))
    for i in range(program.types):
        mine = np.flatnonzero(owners == i)
        add_constraint(highs, float(totals[i]), float(totals[i]), mine, np.ones(len(mine)))
    for term, x in enumerate(objective.cells.tolist()):
        highs.changeColCost(many + terms + term, float(objective.weight[term]))
        parts = each[:, x] / program.unit[x]
        kept = np.flatnonzero(parts > 1e-12)
        add_constraint(highs, 0.0, 0.0, [*kept, many + term], [*-parts[kept], 1.0])
        for at in (*FIRST_TANGENTS, *MORE_TANGENTS):
            objective.add_tangent(highs, many + terms + term, many + term, at)
    objective.add_gaps(highs, people[:, None] * objective.features[pairs])
    needed = program.demand[pairs].max(axis=0)
    for x in np.flatnonzero(needed > 0).tolist():
        parts = each[:, x] / needed[x]
        kept = np.flatnonzero(parts > 1e-9)
        add_constraint(highs, 1 + 1e-7, kHighsInf, kept, np.minimum(parts[kept], 1e6))
    return highs
