"""What monotone weights promise when one person is replaced, not added or removed, and the number N of people is known.

Let n and n' have N people and m, of N - 1 people, in common. For every cell g(m) <= g(n), g(n') <= E g(m), so with G
the sum of g

    q'[x]/q[x] = (g'[x]/g[x]) (G(n)/G(n')) <= E G(n)/G(m) <= E (1 + C/(N - 1 - K D)),

where C is the most that one person adds to G and D the most people that a cell's weight can fall short of:

- C. A cell that cannot see the new person stays as it is. One with g(m) = F(m) rises by at most near. One with
  g(m) < F(m) rises by at most (E - 1) g(m), and has fewer than a* people, the first number from which on
  E^a floor >= a + floor + cap: with more, removing anybody costs more than it saves. So g(m) < a* + floor + cap.
- D. F is at least n and at least the floor, so g is at least low[n] = min(max(n, floor), E low[n-1]), low[0] = floor.
  D is the largest n - low[n].

Replacing is removing and adding, so 2 epsilon holds as well, for any N, secret or not. No rule that is epsilon-DP for
replaced people escapes what limits these weights: moving the a people of a cell elsewhere, one after the other, shows
that it too gives the cell at most E^a times what it would have without them.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from benchmarks.float_weights import log_output


def bound(rule, epsilon, cells, people):
    """The proven epsilon of one draw for replaced people, N public: at most 2 epsilon."""
    numbers = rule.numbers(epsilon, cells)
    most = numbers.floor + numbers.cap
    a = np.arange(1, 10 + math.ceil((20 + 2 * math.log(1 + 1 / numbers.floor)) / epsilon))
    crowded = epsilon * a + math.log(numbers.floor) >= np.log(a + most)
    first = int(a[~crowded].max(initial=0)) + 1
    low, short = numbers.floor, 0.0
    for n in a:
        low = min(max(n, numbers.floor), math.exp(epsilon) * low)
        short = max(short, n - low)
    steep = math.expm1(epsilon) * (first + most)
    near = numbers.near[numbers.near > 0]
    rise = max(1.0, steep) + 2 * np.maximum(near[1:], steep).sum()
    left = people - 1 - cells * short
    return epsilon + (min(epsilon, math.log1p(rise / left)) if left > 0 else epsilon)


def measured(rule, epsilon, counts):
    """The largest loss of one draw over all ways to move one person of this histogram to another cell."""
    numbers = rule.numbers(epsilon, len(counts))
    here, worst = log_output(counts, epsilon, numbers), 0.0
    for start, end in itertools.permutations(range(len(counts)), 2):
        if counts[start] > 0:
            moved = counts.copy()
            moved[start] -= 1
            moved[end] += 1
            worst = max(worst, float(np.abs(log_output(moved, epsilon, numbers) - here).max()))
    return worst


def exhaustive(rule, epsilon, cells, people):
    """The same over every histogram of so many people."""
    return max(
        measured(rule, epsilon, np.array(counts))
        for counts in itertools.product(range(people + 1), repeat=cells)
        if sum(counts) == people
    )
