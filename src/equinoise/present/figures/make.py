"""Every figure of a mechanism by its name."""

from __future__ import annotations

from collections.abc import Callable

from equinoise.errors import BadInput
from equinoise.formatting import join_or
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures.convergence import convergence
from equinoise.present.figures.cost import cost
from equinoise.present.figures.distribution import distribution
from equinoise.present.figures.epsilons import epsilons
from equinoise.present.figures.figure import Figure
from equinoise.present.figures.joint_map import joint_map
from equinoise.present.figures.losses import losses
from equinoise.present.figures.noise import noise

Tell = Callable[[str], None]
"""Hears what is being worked out."""

FIGURES: dict[str, Callable[[Mechanism, Tell], Figure]] = {
    "distribution": lambda mechanism, tell: distribution(mechanism),
    "map": lambda mechanism, tell: joint_map(mechanism),
    "noise": lambda mechanism, tell: noise(mechanism),
    "losses": lambda mechanism, tell: losses(mechanism),
    "cost": lambda mechanism, tell: cost(mechanism),
    "epsilons": epsilons,
    "convergence": convergence,
}


def make_figure(name: str, mechanism: Mechanism, tell: Tell = lambda note: None) -> Figure:
    """The figure of that name; refused where this mechanism has none."""
    if name not in FIGURES:
        raise BadInput(f"There is no figure {name!r}. Ask for {join_or(FIGURES)}.")
    tell(f"Drawing {name}")
    return FIGURES[name](mechanism, tell)
