"""Solvers: each takes a Game and gives a Solution."""

from equinoise.solvers.solution import Round, Solution

__all__ = ["Round", "Solution"]
