"""Where to split a node of the optimal solver's search, and into what."""

from __future__ import annotations

import itertools
import math

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.solvers.optimal.linear_program import Program
from equinoise.solvers.optimal.nodes import Group, Node

TRIES = 8
"""Groups tried out at a node; those tried at another node before are judged by that."""
TRY_STEPS = 60
"""Simplex steps of a try."""
THRESHOLDS = 8
"""Cells in which it is asked whether anyone demands more than so much."""
SOMEONE = 1e-4
"""Fewer people than this are nobody, at first: tolerances make them."""
WHOLE_WITHIN, MOST_IN_TYPE = 1e-3, 1000.0
"""Totals of people are whole if they are as near as this to a whole number; where a type has more people than that,
in proportion less near, because HiGHS's tolerances grow with it."""
TOTALS = 3
"""Totals looked at, at a node."""
DEPTH = 3
"""How often types are halved for totals."""
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


def ranges_of_types(types: int, choices: int) -> list[Group]:
    """All types, their halves, quarters and so on, at one scale, and at that and larger ones; large scales first."""
    found: dict[Group, None] = {}
    for level in range(DEPTH):
        edges = np.linspace(0, types, 2**level + 1).astype(int).tolist()
        for first, end in itertools.pairwise(edges):
            for v in range(choices - 1, 0, -1):
                for last in (v + 1, choices):
                    found[tuple(i * choices + w for i in range(first, end) for w in range(v, last))] = None
    return [group for group in found if group]


class Branching:
    """Chooses the splits, and remembers about how much each of them raises the bound."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.gains: dict[tuple[Group, int | None], tuple[float, ...]] = {}
        self.unprotected = True  # whether anyone is, in the last solution that was split
        self.ranges = {group: np.array(group) for group in ranges_of_types(program.types, program.choices)}

    def split(self, bound: float, wanted: float, deadline: float) -> list[Node]:
        """The parts of the program's node, the one nearer to its last solution last; nothing if nobody there is
        unprotected and totals of people are whole.

        The best split raises the bound in both parts, as far as that is wanted. It asks of a group whether anyone uses
        it, if someone in it is unprotected; or how many use a scale, or that and larger ones, in a range of types.
        Where many types can do the same for others, the program divides people among them, and asking type after type
        would learn little.
        """
        program, node, fractions = self.program, self.program.node, self.program.fractions
        people = fractions * program.people
        groups = self._candidates(SOMEONE) or self._candidates(TRACE)
        self.unprotected = bool(groups)
        questions: list[tuple[Group, int | None]] = [(group, None) for group in groups]
        questions += self._totals(people)[:TOTALS]
        new = [question for question in questions if question not in self.gains]
        new = [question for question in new if question[1] is None][:TRIES] + [q for q in new if q[1] is not None]
        for question in new:
            self.gains[question] = tuple(
                self._gain(part, bound, deadline) for part in self._parts(node, question, people)
            )
        if new:
            program.enter(node)
            program.fractions = fractions

        def product(question: tuple[Group, int | None]) -> float:
            return math.prod(max(min(gain, wanted), 1e-7) for gain in self.gains.get(question, (0.0, 0.0)))

        return self._parts(node, max(questions, key=product), people) if questions else []

    def _totals(self, people: Floats) -> list[tuple[Group, int | None]]:
        """Groups of which the program has a total that is not whole, and the whole number below."""
        found: list[tuple[Group, int | None]] = []
        for group, pairs in self.ranges.items():
            total, unit = float(people[pairs].sum()), float(self.program.people[pairs].max())
            if abs(total - round(total)) > WHOLE_WITHIN * max(1.0, unit / MOST_IN_TYPE):
                found.append((group, math.floor(total)))
        return found

    def _parts(self, node: Node, question: tuple[Group, int | None], people: Floats) -> list[Node]:
        group, whole = question
        if whole is None:
            return split_by_use(node, group, people)
        parts = [node.with_total(group, whole + 1, math.inf), node.with_total(group, 0, whole)]
        return parts if people[list(group)].sum() < whole + 0.5 else parts[::-1]

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

    def _gain(self, node: Node, bound: float, deadline: float) -> float:
        """About how much the bound rises in a part: by a few simplex steps, so it serves for choosing only."""
        highs = self.program.highs
        self.program.enter(node)
        highs.setOptionValue("simplex_iteration_limit", TRY_STEPS)
        result = self.program.solve(deadline)
        highs.setOptionValue("simplex_iteration_limit", 2**31 - 1)
        if result is None:
            result = float(highs.getInfo().objective_function_value)
        return max(result - bound, 0.0)


def split_by_use(node: Node, group: Group, people: Floats) -> list[Node]:
    """Someone uses the group, or nobody does; the part nearer to the fractions last."""
    no, yes = node.avoiding(group), node.using(group)
    if no is None:
        return [yes]
    mostly = people[list(group)].sum() >= 0.5
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
        return split_by_use(node, (pair,), wanted)
    return [node.with_least(pair, whole + 1), node.with_most(pair, whole)]


def split_off(node: Node, profile: Ints, people: Floats) -> list[Node]:
    """Parts of a node, in one of which a profile of it is nearer to being alone. Nothing if it is alone already.

    A profile that is not in the node is moved into it, as far as single pairs go.
    """
    wanted = np.clip(profile.ravel(), node.least, node.most)
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
