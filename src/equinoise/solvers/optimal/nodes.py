"""A part of all profiles: what the branch and bound of the optimal solver has decided so far.

Pairs (type, scale) are numbered; a group is some of them. The search asks of a group whether anyone uses it, or how
many do. Groups rather than pairs, because without one scale a type's people simply take the next one, and another
type's people can do the same for others, so that little is learnt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from equinoise.data.grid import Floats

Group = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Node:
    """All profiles with at least and at most so many people on each pair, someone on each of some groups, and between
    so many and so many on others."""

    choices: int  # scales on offer: so many pairs in turn are of one type
    least: Floats
    most: Floats
    used: tuple[Group, ...] = ()
    totals: tuple[tuple[Group, float, float], ...] = ()

    def using(self, group: Group) -> Node:
        """The profiles of the node in which someone uses the group; groups that contain it say nothing more."""
        others = tuple(other for other in self.used if not set(group) <= set(other))
        return replace(self, used=(*others, group))

    def avoiding(self, group: Group) -> Node | None:
        """The profiles in which nobody uses the group; None if someone must."""
        most, gone = self.most.copy(), set(group)
        most[list(group)] = 0
        used = tuple(tuple(pair for pair in other if pair not in gone) for other in self.used)
        possible = all(used) and bool((most.reshape(-1, self.choices) > 0).any(axis=1).all())
        return replace(self, most=most, used=used) if possible else None

    def type_of(self, pair: int) -> range:
        """All pairs of a pair's type."""
        first = pair // self.choices * self.choices
        return range(first, first + self.choices)

    def with_least(self, pair: int, people: int) -> Node:
        """The profiles with at least so many people on a pair."""
        least = self.least.copy()
        least[pair] = people
        part = replace(self, least=least)
        return part.using((pair,)) if people > 0 else part

    def with_most(self, pair: int, people: int) -> Node:
        """The profiles with at most so many people on a pair."""
        most = self.most.copy()
        most[pair] = people
        return replace(self, most=most)

    def with_total(self, group: Group, least: float, most: float) -> Node:
        """The profiles with ``least`` to ``most`` people on a group."""
        for other, low, high in self.totals:
            if other == group:
                least, most = max(least, low), min(most, high)
        others = tuple(total for total in self.totals if total[0] != group)
        part = replace(self, totals=(*others, (group, least, most)))
        return part.using(group) if least > 0 and not self.implies(group) else part

    def implies(self, group: Group) -> bool:
        """Whether someone surely uses the group."""
        return any(set(other) <= set(group) for other in self.used)
