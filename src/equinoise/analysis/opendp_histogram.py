"""What one would use instead of a better estimate: counts with OpenDP's noise, tidied up by public rules."""

from __future__ import annotations

import math

import numpy as np

from equinoise.data.grid import Floats, Ints

RELEASES = 20
"""Its metrics differ from release to release: means over this many are reported."""

ESTIMATED_RELEASES = 5
"""Of estimates, which take longer."""

MODEL_RELEASES = 3
"""Of AIM and MST, which take seconds each."""


def tidied(noisy: Ints, epsilon: float) -> Floats:
    """Noisy counts of K cells as weights to draw from, by a rule of epsilon and K alone, which costs no privacy.

    Counts below ln(K) / (2 epsilon) are mostly noise and become zero; then every cell gets 1 / (4 epsilon), a quarter
    of the noise's scale, so that none is impossible.
    """
    kept = np.where(noisy < math.log(len(noisy)) / (2 * epsilon), 0, noisy)
    return np.asarray(kept + 1 / (4 * epsilon))
