"""Families of noise: symmetric, falling with distance. One module a family, listed in ``choices.NOISES``.

A family declares ``by_distance(width, bins)``: the mass of the bins 0, 1, ..., K-1 bins away
from a person at a bin's midpoint, up to a common factor. ``width`` is that of a bin, in scales: 1 / (K scale), from 0
(infinite scale: all alike) to very large.
"""
