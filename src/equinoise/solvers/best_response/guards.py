"""Who is protected, and who would be after a move, compiled.

Under the pure condition nobody is looked at twice without need. Groups that are protected are guarded together: in each
cell their two largest rows and their smallest one, as multiples of each person's own limit, decide (two, because one of
them may be the group that goes). These are exact when a group appears and bounds after one is gone, put right only in
the cells where a candidate fails by them. Groups that are not protected are looked at one by one. Whatever failed is
asked first in the cell in which it failed last: mostly that is still the reason.
"""

from __future__ import annotations

import numpy as np

from equinoise.solvers.best_response.access import compiled, fill_row, reach, weight
from equinoise.solvers.best_response.sums import CANCELLED_SHARE, find_sums_after

GUARDED, EXPOSED = np.int64(1), np.int64(2)
"""What a group is: protected or not; 0 where there is none."""

CHUNK = 128
"""Cells that are looked at together before any is looked at alone."""


@compiled()
def add_group(store, limits, state, buffers, i, v):  # type: ignore[no-untyped-def]
    """Add one protected group to the per-cell extremes."""
    low, high = reach(store, limits, i, v, v)
    here, most, least = buffers.other, limits.most[i], limits.least[i]
    fill_row(store, i, v, low, high, here)
    largest, second, smallest = state.largest, state.second, state.smallest
    for x in range(low, high):
        share = here[x] * most
        second[x] = max(second[x], min(share, largest[x]))
        largest[x] = max(largest[x], share)
    if limits.any_least and least < np.inf:
        for x in range(low, high):
            smallest[x] = min(smallest[x], here[x] * least)


@compiled()
def drop_group(store, limits, state, buffers, i, v):  # type: ignore[no-untyped-def]
    """Remove one protected group from the per-cell extremes. The smallest matter only where there is a lower limit."""
    low, high = reach(store, limits, i, v, v)
    here, most, least = buffers.other, limits.most[i], limits.least[i]
    fill_row(store, i, v, low, high, here)
    largest, second, smallest, stale = state.largest, state.second, state.smallest, state.stale
    for x in range(low, high):
        share = here[x] * most
        if share >= second[x]:
            stale[x] = 1
        if share == largest[x]:
            largest[x] = second[x]
    if limits.any_least and least < np.inf:
        for x in range(low, high):
            if here[x] * least == smallest[x]:
                stale[x] = 1


@compiled()
def refresh_cell(store, limits, state, x, i, old):  # type: ignore[no-untyped-def]
    """Work one cell's extremes out again; gives the smallest of all guarded groups but (i, old)."""
    largest, second, smallest, others = 0.0, 0.0, np.inf, np.inf
    status, most, least = state.status, limits.most, limits.least
    for k in range(status.shape[0]):
        for v in range(status.shape[1]):
            if status[k, v] == GUARDED:
                here = weight(store, k, v, x)
                share = here * most[k]
                second = max(second, min(share, largest))
                largest = max(largest, share)
                if least[k] < np.inf:
                    smallest = min(smallest, here * least[k])
                    if k != i or v != old:
                        others = min(others, here * least[k])
    state.largest[x], state.second[x], state.smallest[x], state.stale[x] = largest, second, smallest, 0
    return others


@compiled(forceinline=True)
def fails_in(limits, i, here, s):  # type: ignore[no-untyped-def]
    """Whether someone of type i with this weight in a cell is not within the pure condition there."""
    return here * limits.most[i] > s or (limits.any_least and here * limits.least[i] < s)


@compiled()
def failing_cell(limits, i, here, sums, low, high, hint):  # type: ignore[no-untyped-def]
    """A cell in which someone of type i with this row is not within the pure condition, or -1; ``hint`` comes first."""
    if low <= hint < high and fails_in(limits, i, here[hint], sums[hint]):
        return hint
    most, least = limits.most[i], limits.least[i]
    for begin in range(low, high, CHUNK):
        end, suspicious = min(begin + CHUNK, high), False
        if limits.any_least:
            for x in range(begin, end):
                suspicious |= (here[x] * most > sums[x]) | (here[x] * least < sums[x])
        else:
            for x in range(begin, end):
                suspicious |= here[x] * most > sums[x]
        if suspicious:
            for x in range(begin, end):
                if fails_in(limits, i, here[x], sums[x]):
                    return x
    return -1


@compiled()
def failing_group(store, limits, sums, buffer, k, v, hint):  # type: ignore[no-untyped-def]
    """A cell in which the people of a group are not within the pure condition, or -1; ``hint`` comes first."""
    if fails_in(limits, k, weight(store, k, v, hint), sums[hint]):
        return hint
    low, high = reach(store, limits, k, v, v)
    fill_row(store, k, v, low, high, buffer)
    return failing_cell(limits, k, buffer, sums, low, high, hint)


@compiled(forceinline=True)
def fails_as_before(store, limits, state, i, old, new, block):  # type: ignore[no-untyped-def]
    """Whether a move leaves someone unprotected in the cell in which it did last time; S is that before it."""
    x = state.witness[i, new]
    here, gone = weight(store, i, new, x), weight(store, i, old, x)
    then = state.sums[x] + block * (here - gone)
    if state.stale[x] or then < CANCELLED_SHARE * state.sums[x]:
        return False
    leaving = state.profile[i, old] == block and gone * limits.most[i] == state.largest[x]
    return max(here * limits.most[i], state.second[x] if leaving else state.largest[x]) > then


@compiled()
def still_exposed(store, limits, state, i, old, new, block, most):  # type: ignore[no-untyped-def]
    """At least so many people who are not protected still are not after a move (or more than ``most``): those who are
    not in the cell in which they were found not to be."""
    people, status, witness, profile, sums = 0, state.status, state.witness, state.profile, state.sums
    for k in range(status.shape[0]):
        for v in range(status.shape[1]):
            if status[k, v] != EXPOSED:
                continue
            x = witness[k, v]
            then = sums[x] + block * (weight(store, i, new, x) - weight(store, i, old, x))
            if then >= CANCELLED_SHARE * sums[x] and fails_in(limits, k, weight(store, k, v, x), then):
                people += profile[k, v] - block * (k == i and v == old)
                if people > most:
                    return people
    return people


@compiled()
def losing_cell(store, limits, state, old_row, i, old, block, low, high, then):  # type: ignore[no-untyped-def]
    """A cell in which a guarded group that stays is not protected after a move, or -1."""
    leaving = state.status[i, old] == GUARDED and state.profile[i, old] == block
    largest, second, smallest, stale, most = state.largest, state.second, state.smallest, state.stale, limits.most[i]
    for begin in range(low, high, CHUNK):
        end, suspicious = min(begin + CHUNK, high), False
        if limits.any_least:
            for x in range(begin, end):
                suspicious |= (largest[x] > then[x]) | (smallest[x] < then[x])
        else:
            for x in range(begin, end):
                suspicious |= largest[x] > then[x]
        if not suspicious:
            continue
        for x in range(begin, end):
            if largest[x] <= then[x] and smallest[x] >= then[x]:
                continue
            if stale[x] or smallest[x] < then[x]:
                others = refresh_cell(store, limits, state, x, i, old)
                if (others if leaving else smallest[x]) < then[x]:
                    return x
            own = leaving and old_row[x] * most == largest[x]
            if (second[x] if own else largest[x]) > then[x]:
                return x
    return -1


@compiled()
def staying_outside(store, limits, state, buffers, i, old, block, of_status, most):  # type: ignore[no-untyped-def]
    """People in groups of the given status who are not protected after a move (or more than ``most``)."""
    people = 0
    for k in range(state.status.shape[0]):
        for v in range(state.status.shape[1]):
            if state.status[k, v] != of_status:
                continue
            left = state.profile[k, v] - block * (k == i and v == old)
            if left == 0:
                continue
            if failing_group(store, limits, buffers.then, buffers.other, k, v, state.witness[k, v]) >= 0:
                people += left
                if people > most:
                    return people
    return people


@compiled()
def keep_elsewhere(sums, low, high, then):  # type: ignore[no-untyped-def]
    """S after a move where it does not reach: as it is."""
    for x in range(sums.shape[0]):
        if x < low or x >= high:
            then[x] = sums[x]


@compiled()
def exposed_after(store, limits, state, buffers, unprotected, i, old, new, block, most):  # type: ignore[no-untyped-def]
    """People outside the pure condition after a move (or more than ``most``), and whether someone guarded is."""
    low, high = reach(store, limits, i, old, new)
    old_row, new_row, then, people = buffers.old, buffers.new, buffers.then, 0
    fill_row(store, i, old, low, high, old_row)
    fill_row(store, i, new, low, high, new_row)
    find_sums_after(store, state, old_row, new_row, block, low, high, then)
    if unprotected > 0:
        keep_elsewhere(state.sums, low, high, then)
        people = staying_outside(store, limits, state, buffers, i, old, block, EXPOSED, most)
        if people > most:
            return people, 0
    x = failing_cell(limits, i, new_row, then, low, high, state.witness[i, new])
    if x >= 0:
        state.witness[i, new] = x
        people += block
        if people > most:
            return people, 0
    x = losing_cell(store, limits, state, old_row, i, old, block, low, high, then)
    if x < 0:
        return people, 0
    state.witness[i, new] = x
    if people == most:
        return people + 1, 1
    keep_elsewhere(state.sums, low, high, then)
    return people + staying_outside(store, limits, state, buffers, i, old, block, GUARDED, most - people), 1


@compiled()
def classify_others(store, limits, state, buffers):  # type: ignore[no-untyped-def]
    """Find out what every group that is not guarded now is; gives the people who are not protected."""
    people = 0
    for k in range(state.status.shape[0]):
        for v in range(state.status.shape[1]):
            if state.profile[k, v] == 0:
                state.status[k, v] = 0
            elif state.status[k, v] != GUARDED:
                x = failing_group(store, limits, state.sums, buffers.other, k, v, state.witness[k, v])
                if x < 0:
                    state.status[k, v] = GUARDED
                    add_group(store, limits, state, buffers, k, v)
                else:
                    state.status[k, v], state.witness[k, v] = EXPOSED, x
                    people += state.profile[k, v]
    return people


@compiled()
def classify_everyone(store, limits, state, buffers):  # type: ignore[no-untyped-def]
    """Classify every group from scratch; gives the people who are not protected."""
    state.status[:] = 0
    state.stale[:] = 0
    state.largest[:] = 0.0
    state.second[:] = 0.0
    state.smallest[:] = np.inf
    return classify_others(store, limits, state, buffers)


@compiled()
def reclassify(store, limits, state, buffers, i, old, new, exposed, lost):  # type: ignore[no-untyped-def]
    """Who is guarded after a move that was made (pure condition); gives the people who are not protected.

    ``exposed`` is how many were not before or are not now, ``lost`` whether a guarded group no longer is.
    """
    if lost:
        return classify_everyone(store, limits, state, buffers)
    if state.profile[i, old] == 0 and state.status[i, old] == GUARDED:
        drop_group(store, limits, state, buffers, i, old)
        state.status[i, old] = 0
    if exposed:
        return classify_others(store, limits, state, buffers)
    if state.status[i, new] != GUARDED:
        state.status[i, new] = GUARDED
        add_group(store, limits, state, buffers, i, new)
    return 0
