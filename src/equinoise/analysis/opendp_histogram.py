"""What a peer would release: counts with OpenDP's noise, tidied up by public rules (extra ``peers``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from equinoise.data.grid import Floats, Ints
from equinoise.errors import BadInput

RELEASES = 20
"""Its metrics differ from release to release: means over this many are reported."""


AddNoise = Callable[[Ints], Ints]


def noisy_counter(epsilon: float) -> tuple[AddNoise, float]:
    """A function that adds discrete Laplace noise to counts, calibrated by OpenDP, and the epsilon OpenDP gives it.

    One person added or removed changes one count by one, so the L1 sensitivity is 1.
    """
    try:
        import opendp.prelude as dp
    except ImportError:
        raise BadInput("The DP histogram needs OpenDP: pip install 'equinoise[peers]'.") from None
    dp.enable_features("contrib")  # where OpenDP keeps what has a proof but no outside review of it yet
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = dp.binary_search_param(lambda s: dp.m.make_laplace(*space, scale=s), d_in=1, d_out=float(epsilon))
    measure: Any = dp.m.make_laplace(*space, scale=scale)
    return lambda counts: np.array(measure(counts.tolist()), dtype=np.int64), float(measure.map(1))


def tidied(noisy: Ints, epsilon: float) -> Floats:
    """Noisy counts of K cells as weights to draw from, by a rule of epsilon and K alone, which costs no privacy.

    Counts below ln(K) / (2 epsilon) are mostly noise and become zero; then every cell gets 1 / (4 epsilon), a quarter
    of the noise's scale, so that none is impossible.
    """
    kept = np.where(noisy < math.log(len(noisy)) / (2 * epsilon), 0, noisy)
    return np.asarray(kept + 1 / (4 * epsilon))
