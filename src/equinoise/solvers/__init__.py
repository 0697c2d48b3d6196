"""Solvers: each takes a Game and gives a Solution."""

from equinoise.solvers.solution import Request, Round, Solution

__all__ = ["Request", "Round", "Solution"]
