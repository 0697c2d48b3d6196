"""The loss of a whole procedure: the noise worked out again, cold, without one person of each type.

The per-instance loss of a person holds everyone else's noise as it is. But without that person the game would have
chosen other noise, and an observer of a draw compares what the procedure does with the person to what it does without.
That is measured here, for anything that gives the same output distribution for the same players whenever it is asked.
It is a figure of one dataset and the people in it, and no promise about others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from equinoise.analysis.replay import gives_same_profile, procedure_of
from equinoise.data.grid import Floats, Ints
from equinoise.data.players import Players
from equinoise.errors import BadInput, PromiseNotMet
from equinoise.formatting import at_most
from equinoise.game.condition import Condition
from equinoise.mechanisms.base import Mechanism
from equinoise.mechanisms.per_instance import PerInstance
from equinoise.mechanisms.private_table import PrivateTable
from equinoise.privacy.certificate_rows import Rows
from equinoise.privacy.loss import PURE, quantiles
from equinoise.solvers.procedure import Procedure
from equinoise.solvers.solution import Progress, Solution, tell


@dataclass(frozen=True)
class Output:
    """The distribution of one draw, exactly: ``sums[x] / total`` in each cell."""

    sums: tuple[int, ...]
    total: int

    def floats(self) -> Floats:
        """The probabilities, rounded."""
        return np.array([s / self.total for s in self.sums])


Outcome = Callable[[Players], Output | None]
"""A deterministic procedure: an output, or None where it refuses."""


@dataclass(frozen=True, eq=False)
class EndToEnd:
    """For each type of player, the loss of one draw for a person of it, the whole procedure run again without them.

    ``cells`` has the lowest of each type's.

    ``losses`` are pure losses, rounded up. ``divergences`` are what the condition of the mechanism bounds: the same
    losses, or with a delta or a Renyi order the divergence that those bound, in floating point.
    """

    condition: Condition
    cells: Ints
    people: Ints
    losses: Floats
    divergences: Floats

    @property
    def target(self) -> float:
        """What the divergences were meant to stay within."""
        return self.condition.delta or self.condition.epsilon

    @property
    def worst(self) -> float:
        """The largest loss of anyone."""
        return float(self.losses.max(initial=0.0))

    @property
    def above(self) -> int:
        """People above the target."""
        return int(self.people[~(self.divergences <= self.target)].sum())

    @property
    def infinite(self) -> int:
        """People whose loss is infinite: without them the procedure refuses, or a cell can come out with them and not
        without, or the other way round."""
        return int(self.people[np.isinf(self.losses)].sum())

    def quantiles(self) -> dict[str, float]:
        """The loss that a share of the people stays within, for each share."""
        return quantiles(self.losses, self.people)

    @property
    def in_short(self) -> str:
        """How many people are above the target, in a few words."""
        held = (
            ""
            if self.condition.kind == PURE
            else "a delta of "
            if self.condition.delta > 0
            else "a Renyi divergence of "
        )
        return f"{self.above:,} of {int(self.people.sum()):,} people are above {held}{at_most(self.target)}"

    @property
    def sentence(self) -> str:
        """What was measured, and no more."""
        people = f"{self.above:,} of {int(self.people.sum()):,} people are above"
        if self.condition.kind == PURE:
            said = f"the worst loss of one draw is {at_most(self.worst)}; {people} the target {at_most(self.target)}"
        else:
            what = "delta" if self.condition.delta > 0 else f"the Renyi divergence of order {self.condition.order:g}"
            said = (
                f"{people} the target for {what}, {at_most(self.target)}, and the worst is "
                f"{at_most(float(self.divergences.max()))}; the worst pure loss of one draw is {at_most(self.worst)}"
            )
        infinite = (
            f" (infinite for {self.infinite:,} of them: without them it refuses, or other cells can come out)"
            if self.infinite
            else ""
        )
        return (
            f"Measured for this dataset, end to end, all worked out again without each person: {said}{infinite}. "
            "This figure says nothing about people who are not in the data."
        )

    def to_json(self) -> dict[str, Any]:
        """The findings, as JSON shows them; an infinite loss becomes null there."""
        rows = zip(self.cells, self.people, self.losses, self.divergences, strict=True)
        return {
            "worst": self.worst,
            "quantiles": self.quantiles(),
            "target": self.target,
            "people_above_target": self.above,
            "people_infinite": self.infinite,
            "cells": [
                {"cell": int(cell), "people": int(people), "loss": float(loss), "divergence": float(divergence)}
                for cell, people, loss, divergence in rows
            ],
            "sentence": self.sentence,
        }


def end_to_end(mechanism: Mechanism, progress: Progress | None = None) -> EndToEnd:
    """The loss of the whole procedure that a mechanism was made by, for the people it was made from.

    It refuses what no figure would be true of: bounds or a start that may have come from the data, a profile that a
    time limit decided, a machine on which the procedure gives another profile than the saved one.
    """
    if isinstance(mechanism, PrivateTable):
        return _of_private_table(mechanism)
    procedure, players = procedure_of(mechanism), mechanism.players
    tell(progress, "Solving again with everyone")
    solution = solve_certified(procedure, players)
    if solution is None or not gives_same_profile(solution, mechanism):
        raise PromiseNotMet(
            "Solving again does not give the saved profile, so nothing can be measured end to end. It was made on "
            "another machine or with other versions of the libraries, or a time limit cut the optimal solver's last "
            "step short."
        )
    condition = Condition(mechanism.epsilon, players.sizes, players.total_rows, mechanism.delta, mechanism.order)
    return measure(procedure_outcome(procedure), players, condition, full=exact_output(solution), progress=progress)


def _of_private_table(mechanism: PrivateTable) -> EndToEnd:
    """Everyone's loss under differential privacy, which is worked out again without each person anyway."""
    if mechanism.losses_by_theorem:
        theorem = f"the theorem of {mechanism.proof}" if mechanism.proof else "the theorem that the certificate checks"
        raise BadInput(
            f"Losses are not worked out again without each person here. By {theorem}, "
            f"nobody's loss is above {at_most(mechanism.epsilon)}."
        )
    condition = Condition(mechanism.epsilon, np.ones(1, dtype=np.int64), max(mechanism.total_people, 2))
    losses = mechanism.losses()
    return EndToEnd(condition, *mechanism.groups(), losses, losses)


def measure(
    outcome: Outcome,
    players: Players,
    condition: Condition,
    *,
    full: Output | None = None,
    progress: Progress | None = None,
) -> EndToEnd:
    """Run a procedure for the data (unless its output, ``full``, is known), and for the data without one person of each
    type, and compare."""
    full = outcome(players) if full is None else full
    if full is None:
        raise PromiseNotMet("The procedure refuses this dataset, so there is no loss of it to measure.")
    found = []
    for i in range(players.types):
        note = f"Without a person of type {i + 1} of {players.types}"
        tell(progress, note, done=i / players.types)
        found.append(compare_outputs(full, outcome(players.without_one(i)), condition))
    losses, divergences = np.array(found).T
    return EndToEnd(condition, players.cells[players.begins[:-1]], players.people, losses, divergences)


def compare_outputs(full: Output, other: Output | None, condition: Condition) -> tuple[float, float]:
    """The pure loss between two outputs, and what the condition bounds; infinite if there is no other."""
    if other is None:
        return math.inf, math.inf
    loss = pure_loss(full, other)
    return loss, loss if condition.kind == PURE else condition.between(full.floats(), other.floats())


def pure_loss(one: Output, other: Output) -> float:
    """The largest abs ln(p/q) over the cells, rounded up. The cell is found in whole numbers, so that no rounding
    before the logarithm can hide anything."""
    most, least = 1, 1  # the largest ratio so far is most / least
    for p, q in zip(one.sums, other.sums, strict=True):
        high, low = sorted((p * other.total, q * one.total))[::-1]
        if high * least > most * low:
            if low == 0:
                return math.inf
            most, least = high, low
    return math.log1p((most - least) / least) * (1 + 2.0**-50)


def procedure_outcome(procedure: Procedure) -> Outcome:
    """A procedure as what it releases."""

    def outcome(players: Players) -> Output | None:
        solution = solve_certified(procedure, players)
        return None if solution is None else exact_output(solution)

    return outcome


def solve_certified(procedure: Procedure, players: Players) -> Solution | None:
    """The certified solution of a procedure, found cold and with no time limit, or None where it refuses, as
    ``optimize`` would: fewer than two people, everyone in one cell, a budget that cannot be kept, someone unprotected.
    """
    if players.total_people < 2 or len(players.occupied) < 2:
        return None
    try:
        solution = procedure.solve(players, untimed=True)
    except PromiseNotMet:
        return None
    return solution if solution.protected == players.total_people and is_certified(solution) else None


def is_certified(solution: Solution) -> bool:
    """Whether the exact check holds for a solution."""
    return PerInstance.unchecked(solution).certificate().holds


def exact_output(solution: Solution) -> Output:
    """The exact distribution of one draw, in Python's whole numbers."""
    made = PerInstance.unchecked(solution)
    owners, times = made.members.owners.tolist(), made.times.tolist()
    sums = Rows(made.people.tolist(), owners, times, list(made.factors)).sums()
    return Output(tuple(sums.tolist()), made.total_rows * made.weight_total)
