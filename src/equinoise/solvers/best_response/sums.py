"""Everyone's rows added up, compiled: updated by every move, and to the last bit where plain floats would cancel."""

from __future__ import annotations

from equinoise.solvers.best_response.access import compiled, fill_row, reach, weight

CANCELLED_SHARE = 2.0**-8
"""A sum that falls below this share of itself in one move is added up anew."""

EXACT = 2.0**53
"""Whole numbers up to this are exact floats, and so are their sums: nothing to add up anew."""

HALVES = 2.0**27 + 1


@compiled(forceinline=True)
def add_exactly(high, low, term):  # type: ignore[no-untyped-def]
    """(high + low) + term, with what high cannot hold kept in low."""
    total = high + term
    part = total - high
    return total, low + ((high - (total - part)) + (term - part))


@compiled(forceinline=True)
def multiply_exactly(a, b):  # type: ignore[no-untyped-def]
    """a b as a float and what it lacks (Dekker)."""
    product = a * b
    high_a, high_b = a * HALVES, b * HALVES
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


@compiled(forceinline=True)
def add_weights(high, low, weight, people):  # type: ignore[no-untyped-def]
    """Add so many times a weight to a sum in two parts; nothing is lost."""
    step, rest = multiply_exactly(weight, float(people))
    high, low = add_exactly(high, low, step)
    return add_exactly(high, low, rest)


@compiled()
def sum_after(store, state, x, change, block):  # type: ignore[no-untyped-def]
    """S[x] once ``block`` people changed their weight there, to the last bit: added up anew once, if need be."""
    if state.sums[x] <= EXACT:
        return state.sums[x] + block * change
    if state.exact[x] == 0:
        high, low, profile = 0.0, 0.0, state.profile
        for i in range(profile.shape[0]):
            for v in range(profile.shape[1]):
                if profile[i, v] > 0:
                    high, low = add_weights(high, low, weight(store, i, v, x), profile[i, v])
        state.high[x], state.low[x], state.exact[x] = high, low, 1
    high, low = add_weights(state.high[x], state.low[x], change, block)
    return high + low


@compiled()
def find_sums_after(store, state, old_row, new_row, block, low, high, then):  # type: ignore[no-untyped-def]
    """S after a move, in the cells that it reaches."""
    sums, cancelled = state.sums, False
    for x in range(low, high):
        then[x] = sums[x] + block * (new_row[x] - old_row[x])
        cancelled |= then[x] < CANCELLED_SHARE * sums[x]
    if cancelled:
        for x in range(low, high):
            if then[x] < CANCELLED_SHARE * sums[x]:
                then[x] = sum_after(store, state, x, new_row[x] - old_row[x], block)


@compiled()
def move_people(store, limits, aim, state, buffers, i, old, new, block):  # type: ignore[no-untyped-def]
    """Let people of type i go from one scale to another: profile, S and what follows from it."""
    low, high = reach(store, limits, i, old, new)
    old_row, new_row = buffers.old, buffers.new
    fill_row(store, i, old, low, high, old_row)
    fill_row(store, i, new, low, high, new_row)
    state.profile[i, old] -= block
    state.profile[i, new] += block
    sums, upper, lower = state.sums, state.high, state.low
    for x in range(low, high):
        change = new_row[x] - old_row[x]
        if change != 0:
            upper[x], lower[x] = add_weights(upper[x], lower[x], change, block)
            sums[x] = upper[x] + lower[x]
    near, occupied, gaps = state.near, aim.occupied, state.gaps
    for k in range(occupied.shape[0]):
        near[k] = sums[occupied[k]]
    for j in range(gaps.shape[0]):
        gaps[j] -= block * (aim.features[i, new, j] - aim.features[i, old, j])
