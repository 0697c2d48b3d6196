"""What one would use instead."""

from __future__ import annotations

from equinoise.grid import Axis, Floats
from equinoise.noise import laplace_mass


def laplace_output(p: Floats, axis: Axis, epsilon: float) -> Floats:
    """Output of the Laplace mechanism on the same grid: scale (high - low) / epsilon for everyone."""
    scale = (axis.high - axis.low) / axis.range / epsilon
    return p @ laplace_mass(scale, axis.bins)
