"""Star cuts: what the largest demand in use is at least, as a sum over the pairs.

In one cell sort the pairs by falling demand: d_1 >= d_2 >= ... and let h(d) be any rising function of it. The largest
h(d) of a pair in use is h(B) + the sum over i of (h(d_i) - h(d_{i+1})) [some pair among the first i is used], if it is
known that demands up to the floor B are met. Whether one is used is at least any one type's fraction F_i on those
pairs. So it is at least h(B) + the sum of (h(d_i) - h(d_{i+1})) F_i, for any choice of a type for each i.
"""

from __future__ import annotations

import numpy as np

from equinoise.data.grid import Floats, Ints


class Stars:
    """The pairs of every cell by falling demand, and how far some fractions fill them."""

    def __init__(self, demand: Floats, types: int) -> None:
        self.demand = demand.reshape(types, -1, demand.shape[1])
        self.types, self.choices = self.demand.shape[:2]
        self.order = np.argsort(-demand, axis=0, kind="stable")
        self.sorted = np.take_along_axis(demand, self.order, axis=0)

    def fill(self, fractions: Floats) -> None:
        """Find the type of the largest F_i for each i, in every cell."""
        share = fractions.reshape(self.types, self.choices)
        own = np.zeros_like(self.demand)  # each pair's type's fraction on pairs of no smaller demand
        for v in range(self.choices):
            users = np.flatnonzero(share[:, v] > 0)
            own[users] += share[users, v, None, None] * (self.demand[users, v, None, :] >= self.demand[users])
        sorted_own = np.take_along_axis(own.reshape(self.order.shape), self.order, axis=0)
        self.filled = np.maximum.accumulate(sorted_own, axis=0)
        places = np.arange(len(self.order))[:, None]
        self.leader = np.maximum.accumulate(np.where(sorted_own >= self.filled, places, 0), axis=0)

    def total(self, heights: Floats, base: Floats, cells: Ints) -> Floats:
        """The largest height in use is at least this, in some cells: heights of all pairs, falling, above a base."""
        return np.asarray(base - (np.diff(np.vstack([heights, base]), axis=0) * self.filled[:, cells]).sum(axis=0))

    def factors(self, x: int, heights: Floats, base: float) -> Floats:
        """The least that the largest height in use in one cell can be: factors of the fractions, on top of the base."""
        steps = -np.diff(heights, append=base)
        order = self.order[:, x]
        owners = order // self.choices
        rising = np.flatnonzero(steps > 0)
        types, column = np.unique(owners[self.leader[rising, x]], return_inverse=True)
        tails = np.zeros((len(order), len(types)))
        tails[rising, column] = steps[rising]
        tails = tails[::-1].cumsum(axis=0)[::-1]
        mine = np.flatnonzero(np.isin(owners, types))
        factors = np.zeros(len(order))
        factors[order[mine]] = tails[mine, np.searchsorted(types, owners[mine])]
        return factors
