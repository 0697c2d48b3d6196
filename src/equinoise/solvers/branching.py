"""Where to split a node of the optimal solver's search, and into what."""

from __future__ import annotations

import math

import numpy as np

from equinoise.grid import Floats, Ints
from equinoise.solvers.nodes import Group, Node
from equinoise.solvers.program import Program

TRIES = 8
"""Groups tried out at a node; those tried at another node before are judged by that."""
TRY_STEPS = 60
"""Simplex steps of a try."""
THRESHOLDS = 8
"""Cells in which it is asked whether anyone demands more than so much."""
SOMEONE = 1e-4
"""Fewer people than this are nobody, at first: tolerances make them."""
TRACE = 1e-9
"""Where nothing else is left to ask, fewer than this are nobody. Far away a trace of a person is enough for others."""


def runs(pairs: list[int], pair: int) -> tuple[Group, Group]:
    """The pairs of a type up to one of them, and from it on.

    Small scales have the larger rows near the person, and large scales far away. So these groups have something large
    in common, and that someone uses one of them says much.
    """
    return tuple(p for p in pairs if p <= pair), tuple(p for p in pairs if p >= pair)


def score(people: float, least: float) -> float:
    """How likely it matters whether a group with so many people in it is used, which takes so many times S."""
    amount = min(people, 1.0)
    return amount * (1.5 - amount) * min(math.log(least), 3.0)


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
        groups = self._candidates(SOMEONE) or self._candidates(TRACE)
        new = [group for group in groups if group not in self.gains][:TRIES]
        for group in new:
            self.gains[group] = (
                self._gain(node.avoiding(group), bound, deadline),
                self._gain(node.using(group), bound, deadline),
            )
        if new:
            program.enter(node)
            program.fractions = fractions

        def product(group: Group) -> float:
            no, yes = self.gains.get(group, (0.0, 0.0))
            return max(min(no, wanted), 1e-7) * max(min(yes, wanted), 1e-7)

        return max(groups, key=product, default=None)

    def _candidates(self, someone: float) -> list[Group]:
        """Groups with a violated pair that may answer either way; those likely to matter first."""
        program, node = self.program, self.program.node
        people = program.fractions * program.people
        sums = np.maximum(program.fractions @ program.mass, 1e-300)
        here = np.flatnonzero((people > someone) & (node.most > 0))
        excess = program.demand[here] / sums
        scores: dict[Group, float] = {}
        for pair in here[excess.max(axis=1) > 1 + 1e-5].tolist():
            for group in runs([p for p in node.type_of(pair) if node.most[p] > 0], pair):
                least = float((program.floor_of(group) / sums).max())
                if least > 1 + 1e-5 and not node.implies(group):
                    scores[group] = score(float(people[list(group)].sum()), least)
        for x, least in self._thresholds(people[here], excess):
            group = tuple(
                np.flatnonzero((program.demand[:, x] >= least * sums[x] * (1 - 1e-12)) & (node.most > 0)).tolist()
            )
            if not node.implies(group):
                scores[group] = score(float(people[list(group)].sum()), least)
        return sorted(scores, key=lambda group: (-scores[group], group))

    def _thresholds(self, people: Floats, excess: Floats) -> list[tuple[int, float]]:
        """Cells, and multiples of S there, such that it matters whether anyone demands as much."""
        order = np.argsort(-excess, axis=0, kind="stable")
        levels = np.take_along_axis(excess, order, axis=0)
        amounts = np.minimum(np.cumsum(people[order], axis=0), 1.0)
        found = amounts * (1.5 - amounts) * np.minimum(np.log(np.maximum(levels, 1.0)), 3.0)
        best = found.argmax(axis=0)
        scores, levels = found.max(axis=0), levels[best, np.arange(found.shape[1])]
        cells = np.argsort(-scores, kind="stable")[:THRESHOLDS]
        return [(int(x), float(levels[x])) for x in cells if levels[x] > 1 + 1e-5]

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
    """Where people are not whole: fewer, or more. In small types first, where that changes most. Nothing if all are."""
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


def split_off(node: Node, profile: Ints, people: Floats) -> list[Node]:
    """Parts of a node, in one of which a profile of it is nearer to being alone. Nothing if it is alone already."""
    wanted = profile.ravel()
    types = (len(profile), -1)
    least, most = node.least.reshape(types).sum(axis=1), node.most.reshape(types).sum(axis=1)
    everyone = people.reshape(types)[:, 0]
    open_types = np.repeat((least < everyone) & (everyone < most), node.choices)
    pairs = np.flatnonzero(open_types & (node.least < node.most))
    if len(pairs) == 0:
        return []
    pair = int(pairs[np.argmax(wanted[pairs] / people[pairs])])
    if wanted[pair] > node.least[pair]:
        return [node.with_most(pair, int(wanted[pair]) - 1), node.with_least(pair, int(wanted[pair]))]
    return [node.with_least(pair, int(wanted[pair]) + 1), node.with_most(pair, int(wanted[pair]))]
