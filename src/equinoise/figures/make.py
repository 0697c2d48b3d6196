"""Every figure by its name."""

from __future__ import annotations

from collections.abc import Callable

from equinoise.errors import BadInput, one_of
from equinoise.figures.figure import Figure
from equinoise.mechanism import Mechanism

FIGURES = ("distribution", "noise", "losses", "cost", "epsilons", "convergence")


def make_figure(name: str, mechanism: Mechanism, tell: Callable[[str], None] = lambda note: None) -> Figure | str:
    """The figure of that name, or why this mechanism has none; ``tell`` hears what is being worked out."""
    from equinoise.figures.convergence import convergence
    from equinoise.figures.cost import cost
    from equinoise.figures.distribution import distribution
    from equinoise.figures.epsilons import epsilons
    from equinoise.figures.losses import losses
    from equinoise.figures.noise import noise

    makers: dict[str, Callable[[Mechanism], Figure | str]] = {
        "distribution": distribution, "noise": noise, "losses": losses, "cost": cost,
        "epsilons": lambda m: epsilons(m, tell), "convergence": lambda m: convergence(m, tell),
    }  # fmt: skip
    if name not in makers:
        raise BadInput(f"There is no figure {name!r}. Ask for {one_of(FIGURES)}.")
    tell(f"Drawing {name}")
    return makers[name](mechanism)
