"""OpenDP's privacy filter over exact counts of columns: everything that is measured of the data goes through it.

It refuses whatever would cost more than its budget, so its map bounds the loss of the whole, however many steps there
are, each chosen by what came out before.

The data is a table of exact counts for every one or two columns. A person with at most m rows moves each of them by at
most m in L1, and so by at most m in L2, too: that is the distance which is declared, in L1 for OpenDP's Laplace noise
and in L2 for its Gaussian. The scores by which marginals are chosen are sums of absolute differences, and are bounded
by m for being so in L1. With pure differential privacy the budget is epsilon. With a delta it is
rho, of zero-concentrated differential privacy, and OpenDP's own conversion to epsilon and delta says how much rho there
may be.
"""

from __future__ import annotations

import importlib
import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from equinoise.errors import BadInput, EquinoiseError, check, is_number, is_whole
from equinoise.formatting import printable

ALGORITHMS = ("aim", "mst")

LEAST_EPSILON, MOST_EPSILON = 1e-6, 1e3
LEAST_DELTA = 1e-15
MOST_ROWS = 10**6

PARTS = {
    "opendp.extras.mbi": ("AIM", "Count", "Marginals"),
    "opendp.extras.mbi._aim": ("_expand_queries", "_make_aim_marginal"),
    "opendp.extras.mbi._mst": ("_make_mst_select",),
    "opendp.extras.mbi._utilities": ("make_noise_marginals", "prior", "typed_dict_distance", "typed_dict_domain"),
    "opendp.extras.numpy": ("arrayd_domain",),
    "mbi": ("Domain",),
    "mbi.estimation": ("mirror_descent",),
    "mbi.junction_tree": ("make_junction_tree",),
    "mbi.marginal_oracles": ("message_passing_stable",),
}
"""What is used of OpenDP and of Private-PGM, by module."""


def check_parts(*, why: str = "") -> dict[str, Any]:
    """What is used of OpenDP and Private-PGM, by name; refused where it is not there, with ``why`` it is needed."""
    found: dict[str, Any] = {}
    for module, names in PARTS.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loaded = importlib.import_module(module)
        except ImportError as error:
            raise EquinoiseError(
                f"{why}AIM and MST need OpenDP's extra, which is not installed "
                f"({printable(str(error)) or type(error).__name__}): pip install 'equinoise[aim]'."
            ) from None
        for name in names:
            if not hasattr(loaded, name):
                raise EquinoiseError(
                    f"This version of {module.partition('.')[0]} has no {module}.{name}, which AIM and MST need: "
                    "pip install 'equinoise[aim]' has one that does."
                )
            found[name] = getattr(loaded, name)
    return found


@dataclass(frozen=True)
class ModelRequest:
    """What is asked of a model; ``columns`` are the bins of each."""

    sizes: tuple[int, ...]
    epsilon: float
    delta: float = 0.0
    rows_per_person: int = 1
    algorithm: str = "aim"

    def __post_init__(self) -> None:
        epsilon, delta, most = self.epsilon, self.delta, self.rows_per_person
        usable = is_number(epsilon) and LEAST_EPSILON <= epsilon <= MOST_EPSILON
        check(usable, "epsilon", f"a number from {LEAST_EPSILON:g} to {MOST_EPSILON:g}", epsilon)
        usable = is_number(delta) and (delta == 0 or LEAST_DELTA <= delta < 1)
        check(usable, "delta", f"0, or a number from {LEAST_DELTA:g} to below 1", delta)
        check(is_whole(most, 1, MOST_ROWS), "rows_per_person", f"a whole number from 1 to {MOST_ROWS:,}", most)
        check(self.algorithm in ALGORITHMS, "algorithm", "aim or mst", self.algorithm)
        if len(self.sizes) < 2:
            raise BadInput("AIM and MST need at least two columns.")

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called in OpenDP and Private-PGM, in an order that sorting keeps."""
        return tuple(f"{number:03}" for number in range(len(self.sizes)))

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """Every column, and every two."""
        return [clique for many in (1, 2) for clique in itertools.combinations(self.names, many)]


class Whole(NamedTuple):
    """The privacy filter that everything goes through, as a measurement, and by which measure its budget is."""

    measurement: Any
    measure: Any
    domain: Any
    metric: Any
    distance: dict[tuple[str, ...], int]
    budget: float
    epsilon: float
    """What the map proves, at the delta that was asked for."""

    pure: bool


def whole_measurement(request: ModelRequest) -> Whole:
    """OpenDP's privacy filter over exact counts, whose map says what everything that goes through it may cost."""
    import opendp.prelude as dp

    parts = check_parts()
    dp.enable_features("contrib")  # where OpenDP keeps what has a proof but no outside review of it yet
    pure = request.delta == 0
    measure = dp.max_divergence() if pure else dp.zero_concentrated_divergence()
    sizes = dict(zip(request.names, request.sizes, strict=True))
    shapes = {clique: tuple(sizes[name] for name in clique) for clique in request.cliques}
    tables = {clique: parts["arrayd_domain"](shape=shape, T="i32") for clique, shape in shapes.items()}
    domain = parts["typed_dict_domain"](tables)
    metric = parts["typed_dict_distance"](dp.l1_distance(T="u32") if pure else dp.l2_distance(T="u32"))
    distance = dict.fromkeys(request.cliques, int(request.rows_per_person))

    def filtered(budget: float) -> Any:
        odometer = dp.c.make_fully_adaptive_composition(domain, metric, measure)
        return dp.c.make_privacy_filter(odometer, d_in=distance, d_out=budget)

    def epsilon_of(made: Any) -> float:
        if pure:
            return float(made.map(distance))
        converted: Any = dp.c.make_zCDP_to_approxDP(made)
        return float(converted.map(distance).epsilon(request.delta))

    budget = float(request.epsilon)
    if not pure:
        budget = _most_rho(lambda rho: epsilon_of(filtered(rho)), float(request.epsilon))
    made: Any = filtered(budget)
    proven = epsilon_of(made)
    if not proven <= request.epsilon:
        raise ValueError(f"its map has {proven!r}, more than the {request.epsilon!r} that was asked for")
    return Whole(made, measure, domain, metric, distance, budget, proven, pure)


def _most_rho(epsilon_of: Callable[[float], float], epsilon: float) -> float:
    """The most rho, to one part in 10^9, whose conversion is at most this epsilon."""
    low, high = 0.0, epsilon  # rho of epsilon costs more than epsilon, whatever the delta
    while high - low > 1e-9 * high and high > 1e-18:
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon_of(middle) <= epsilon else (low, middle)
    if low <= 0:
        raise BadInput(f"An epsilon of {epsilon:g} is too small for this delta. Take a larger epsilon, or no delta.")
    return low
