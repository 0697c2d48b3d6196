"""Solvers: each takes a Game and gives a Solution."""
