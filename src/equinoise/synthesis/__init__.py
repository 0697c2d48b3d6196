"""Differential privacy: the public rule of weights."""
