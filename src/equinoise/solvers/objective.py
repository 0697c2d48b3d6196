"""What the optimal solver minimizes: KL, as a sum over cells of a convex function of what comes out there.

A cell with a share p of all people, where s times its people come out, adds p cost(s). Everything that the linear
programs know of it is here.
"""

from __future__ import annotations

import math

import numpy as np

from equinoise.grid import Floats

FIRST_TANGENTS = (0.02, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0)
LEAST_AT = 1e-6
"""No tangent further left: they are too steep for HiGHS."""


def cost(s: Floats) -> Floats:
    """-ln s: added up over all cells, KL(p || S / N)."""
    return -np.log(np.maximum(s, 1e-300))


def tangent(at: float) -> tuple[float, float]:
    """cost(s) >= a - b s for every s, with equality at one point: (a, b)."""
    return 1 - math.log(at), 1 / at
