"""Where to split a node of the optimal solver's search, and into what."""

from __future__ import annotations

import math

import numpy as np

from equinoise.grid import Floats
from equinoise.solvers.nodes import Group, Node
from equinoise.solvers.program import Program

TRIES = 8
"""Groups tried out at a node; those tried at another node before are judged by that."""
TRY_STEPS = 60
"""Simplex steps of a try."""
SOMEONE = 1e-4
"""Fewer people than this are nobody: tolerances make them."""


def runs(cell: list[int], pair: int) -> tuple[Group, Group]:
    """The scales of a cell up to one, and from it on.

    Small scales have the larger rows near the person, and large scales far away. So these groups have something large
    in common, and that someone uses one of them says much.
    """
    return tuple(p for p in cell if p <= pair), tuple(p for p in cell if p >= pair)


class Branching:
    """Chooses the splits, and remembers how much each of them raised the bound."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.gains: dict[Group, tuple[float, float]] = {}

    def violated(self, bound: float, wanted: float, deadline: float) -> Group | None:
        """The group to ask about, where someone in the program's last solution is unprotected; None if nobody is.

        The best is the one that raises the bound on both sides, as far as that is wanted.
        """
        program, node, fractions = self.program, self.program.node, self.program.fractions
        groups = self._candidates()
        new = [group for group in groups if group not in self.gains][:TRIES]
        for group in new:
            self.gains[group] = (
                self._gain(node.avoiding(group), bound, deadline),
                self._gain(node.using(group), bound, deadline),
            )
        if new:
            program.enter(node)
            program.fractions = fractions

        def score(group: Group) -> float:
            no, yes = self.gains.get(group, (0.0, 0.0))
            return max(min(no, wanted), 1e-7) * max(min(yes, wanted), 1e-7)

        return max(groups, key=score, default=None)

    def _candidates(self) -> list[Group]:
        """Groups with a violated pair that may answer either way; those likely to matter first."""
        program, node = self.program, self.program.node
        people = program.fractions * program.people
        allowed = np.maximum(program.upper * (program.fractions @ program.mass), 1e-300)
        excess = (program.rows / allowed).max(axis=1)
        scores: dict[Group, float] = {}
        for pair in np.flatnonzero((people > SOMEONE) & (excess > 1 + 1e-5)).tolist():
            cell = [p for p in node.cell_of(pair) if node.most[p] > 0]
            for group in runs(cell, pair):
                least = float((program.rows[list(group)].min(axis=0) / allowed).max())
                if least > 1 + 1e-5 and not node.implies(group):
                    amount = min(float(people[list(group)].sum()), 1.0)
                    scores[group] = amount * (1.5 - amount) * min(math.log(least), 3.0)
        return sorted(scores, key=lambda group: (-scores[group], group))

    def _gain(self, node: Node | None, bound: float, deadline: float) -> float:
        """About how much the bound rises in a part: by a few simplex steps, so it serves for choosing only."""
        if node is None:
            return math.inf
        highs = self.program.highs
        self.program.enter(node)
        highs.setOptionValue("simplex_iteration_limit", TRY_STEPS)
        result = self.program.solve(deadline)
        highs.setOptionValue("simplex_iteration_limit", 2**31 - 1)
        if result is None:
            result = float(highs.getInfo().objective_function_value)
        return max(result - bound, 0.0)


def split_by_use(node: Node, group: Group, fractions: Floats, people: Floats) -> list[Node]:
    """Someone uses the group, or nobody does; the part nearer to the fractions last."""
    no, yes = node.avoiding(group), node.using(group)
    if no is None:
        return [yes]
    mostly = (fractions * people)[list(group)].sum() >= 0.5
    return [no, yes] if mostly else [yes, no]


def split_people(node: Node, fractions: Floats, people: Floats) -> list[Node]:
    """Where people are not whole: fewer, or more. In small cells first, where that changes most. Nothing if all are."""
    wanted = fractions * people
    distance = np.abs(wanted - np.rint(wanted))
    urgency = np.where(distance > SOMEONE, distance / np.sqrt(people), 0.0)
    pair = int(np.argmax(urgency))
    if urgency[pair] == 0:
        return []
    whole = math.floor(wanted[pair])
    if whole == 0:
        return split_by_use(node, (pair,), fractions, people)
    return [node.with_least(pair, whole + 1), node.with_most(pair, whole)]
