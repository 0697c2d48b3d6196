"""Every figure by its name."""

from __future__ import annotations

from collections.abc import Callable

from equinoise.errors import BadInput, one_of
from equinoise.figures.figure import Figure
from equinoise.mechanism import Mechanism

FIGURES = ("distribution", "noise", "losses", "cost")


def make_figure(name: str, mechanism: Mechanism) -> Figure:
    """The figure of that name."""
    from equinoise.figures.cost import cost
    from equinoise.figures.distribution import distribution
    from equinoise.figures.losses import losses
    from equinoise.figures.noise import noise

    makers: dict[str, Callable[[Mechanism], Figure]] = {
        "distribution": distribution, "noise": noise, "losses": losses, "cost": cost,
    }  # fmt: skip
    if name not in makers:
        raise BadInput(f"There is no figure {name!r}. Ask for {one_of(FIGURES)}.")
    return makers[name](mechanism)
