"""Every figure by its name."""

from __future__ import annotations

from collections.abc import Callable

from equinoise.errors import BadInput
from equinoise.formatting import one_of
from equinoise.mechanisms.base import Mechanism
from equinoise.present.figures.figure import Figure

FIGURES = ("distribution", "noise", "losses", "cost", "epsilons", "convergence")


def make_figure(name: str, mechanism: Mechanism, tell: Callable[[str], None] = lambda note: None) -> Figure | str:
    """The figure of that name, or why this mechanism has none; ``tell`` hears what is being worked out."""
    from equinoise.present.figures.convergence import convergence
    from equinoise.present.figures.cost import cost
    from equinoise.present.figures.distribution import distribution
    from equinoise.present.figures.epsilons import epsilons
    from equinoise.present.figures.losses import losses
    from equinoise.present.figures.noise import noise

    makers: dict[str, Callable[[Mechanism], Figure | str]] = {
        "distribution": distribution, "noise": noise, "losses": losses, "cost": cost,
        "epsilons": lambda m: epsilons(m, tell), "convergence": lambda m: convergence(m, tell),
    }  # fmt: skip
    if name not in makers:
        raise BadInput(f"There is no figure {name!r}. Ask for {one_of(FIGURES)}.")
    tell(f"Drawing {name}")
    return makers[name](mechanism)
