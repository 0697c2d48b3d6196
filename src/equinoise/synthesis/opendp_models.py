"""AIM and MST, by OpenDP: noisy marginals of many columns, chosen by where the model is worst, and the model of them.

Every look at the data is one of OpenDP's measurements, and all of them go through one privacy filter of OpenDP's
(``opendp_filter``). The noise is discrete Laplace, or with a delta discrete Gaussian. What is fitted to the noisy
marginals (by Private-PGM, the package ``mbi``) costs nothing more.

OpenDP keeps the steps of AIM and MST (McKenna, Mullins, Sheldon, Miklau 2022; McKenna, Miklau, Sheldon 2021) in private
modules and offers them to polars' lazy frames of one version only. So the steps are taken from there, and the loops,
which look at noisy numbers alone, are written here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from equinoise.data.grid import Ints
from equinoise.errors import BadInput, EquinoiseError
from equinoise.formatting import printable
from equinoise.synthesis.marginal_model import ConditionalTable, MarginalModel
from equinoise.synthesis.opendp_filter import ModelRequest, Whole, check_parts, whole_measurement

Clique = tuple[int, ...]
Counts = Callable[[Clique], Ints] | Mapping[Clique, Ints]
"""Rows in every combination of bins of some columns: one axis a column, in their order."""

MOST_COUNT = 2**31 - 1
"""Of rows with the same values: OpenDP takes 32 bits."""

ONE_WAY_SHARE, MEASURE_SHARE = 0.5, 0.9
"""OpenDP's own shares of the budget: for all columns alone at first, and of the rest for measuring, not choosing."""

MOST_MEGABYTES = 4.0
"""Of the model's tables, half a million cells. AIM takes no marginal that would make it larger."""

STEPS_PER_COLUMN, MOST_STEPS = 16, 32
"""AIM's first steps cost such a part of the budget that there would be so many for each column, as OpenDP has it, but
at most so many in all, each of which takes seconds. It spends four times as much whenever a step taught nothing."""

LEAST_STEP = 1e-6
"""Of the budget: what is left of it by rounding buys nothing but noise."""

FIT_ROUNDS = 1000
"""Of mirror descent, as Private-PGM has it."""


def make_model(counts: Counts, request: ModelRequest) -> MarginalModel:
    """The model by AIM or MST of data with these exact ``counts`` of one and two columns: the loss of everything that
    comes of it is at most epsilon (and delta), one person of at most ``rows_per_person`` rows added or removed."""
    parts = check_parts()
    exact = _exact(counts, request)
    try:
        with _double_precision():
            whole = whole_measurement(request)
            fitted = _LOOPS[request.algorithm](whole, whole.measurement(exact), request, parts)
            tables = _conditional_tables(fitted, request, parts)
    except EquinoiseError:
        raise
    except Exception as error:  # whatever it is, nothing may be released: OpenDP has errors of several families
        said = " ".join(printable(str(error)).split())[:200].rstrip(".")
        raise EquinoiseError(
            f"OpenDP could not make the model ({said or type(error).__name__}). Nothing was released. Try again, with "
            "another epsilon, or with fewer bins."
        ) from error
    return MarginalModel(tables, float(fitted.total), whole.epsilon, request.delta)


def _exact(counts: Counts, request: ModelRequest) -> dict[tuple[str, ...], Any]:
    """The exact counts as OpenDP's domain has them."""
    found = {}
    for clique in request.cliques:
        columns = tuple(map(int, clique))
        table = np.asarray(counts(columns) if callable(counts) else counts[columns])
        shape = tuple(request.sizes[column] for column in columns)
        if table.shape != shape or table.dtype.kind not in "iu" or table.min() < 0:
            raise BadInput(f"The counts of columns {columns} must be whole numbers from 0 on, of shape {shape}.")
        if table.max() > MOST_COUNT:
            raise BadInput(f"{int(table.max()):,} rows have the same values; {MOST_COUNT:,} are the most possible.")
        found[clique] = table.astype(np.int32)
    return found


def _double_precision() -> Any:
    """JAX with 64 bits while a model is made: what is chosen by scores must not hang on 32 bits' rounding."""
    import jax

    return jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64()


def _fit(measurements: list[Any], request: ModelRequest, parts: dict[str, Any], start: Any = None) -> Any:
    """The model fitted to noisy marginals, from a start."""
    domain = parts["Domain"].fromdict(dict(zip(request.names, request.sizes, strict=True)))
    return _estimator(domain, measurements, potentials=start)


def _estimator(domain: Any, measurements: list[Any], *, potentials: Any = None) -> Any:
    """Private-PGM's mirror descent, as AIM calls it."""
    from mbi.estimation import mirror_descent

    return mirror_descent(domain, measurements, potentials=potentials, iters=FIT_ROUNDS)


def _one_way(whole: Whole, queries: Any, request: ModelRequest, parts: dict[str, Any]) -> tuple[Any, Any]:
    """Noisy marginals of every column, for their share of the budget, and the model fitted to them."""
    cliques = [clique for clique in request.cliques if len(clique) == 1]
    measured = queries(_within(whole, cliques, whole.budget * ONE_WAY_SHARE, parts))
    marginals = parts["Marginals"]().add(*measured)
    return marginals, _fit(marginals.flatten(), request, parts)


def _within(whole: Whole, cliques: Sequence[tuple[str, ...]], budget: float, parts: dict[str, Any]) -> Any:
    """Noise on the counts of these columns: the least by the formula that OpenDP's map has within a budget.

    So many marginals, each moved by at most m, cost m/scale each, or m^2/(2 scale^2) of rho.
    """
    most, many = max(whole.distance.values()), len(cliques)
    scale = many * most / budget if whole.pure else most * math.sqrt(many / (2 * budget))
    for margin in (0.0, 1e-15, 1e-14, 1e-12, 1e-9, 1e-6):
        widened = scale * (1 + margin)
        noise = parts["make_noise_marginals"](whole.domain, whole.metric, whole.measure, list(cliques), widened)
        if noise.map(whole.distance) <= budget:
            return noise
    raise ValueError(f"no noise of a scale near {scale:g} is within a budget of {budget:g}")


def _aim(whole: Whole, queries: Any, request: ModelRequest, parts: dict[str, Any]) -> Any:
    """AIM: the marginal that the model has worst is chosen and measured, by steps that grow while nothing is learnt."""
    marginals, model = _one_way(whole, queries, request, parts)
    expanded = parts["_expand_queries"](2, list(request.names))
    workload = sorted(expanded, key=lambda query: query.by)  # of a set: its order must not hang on a hash
    workload = [parts["Count"](tuple(sorted(query.by)), query.weight) for query in workload]
    settings = parts["AIM"](queries=workload, measure_split=MEASURE_SHARE, estimator=_estimator)
    rest = whole.budget - queries.privacy_loss(whole.distance)
    step, spent = rest / min(STEPS_PER_COLUMN * len(request.sizes), MOST_STEPS), 0.0
    while step > LEAST_STEP * whole.budget:
        one = parts["_make_aim_marginal"](
            whole.domain, whole.metric, whole.measure, whole.distance, step, marginals=marginals, model=model,
            max_size=MOST_MEGABYTES * (spent + step) / rest, algorithm=settings,
        )  # fmt: skip
        if one is None:
            break
        marginals, model, learnt = queries(one)
        spent_in_all = queries.privacy_loss(whole.distance)
        spent = spent_in_all - (whole.budget - rest)
        step = min(step if learnt else 4 * step, max(parts["prior"](whole.budget - spent_in_all), 0.0))
    return model


def _mst(whole: Whole, queries: Any, request: ModelRequest, parts: dict[str, Any]) -> Any:
    """MST: the pairs of columns that the model has worst, as a tree, are chosen and then measured."""
    marginals, model = _one_way(whole, queries, request, parts)
    prior = parts["prior"]
    rest = prior(whole.budget - queries.privacy_loss(whole.distance))
    measure = rest * MEASURE_SHARE
    chosen = queries(
        parts["_make_mst_select"](
            whole.domain, whole.metric, whole.measure, d_in=whole.distance, d_out=prior(prior(rest - measure)),
            edges=list(itertools.combinations(request.names, 2)), model=model,
        )
    )  # fmt: skip
    measured = queries(_within(whole, chosen, measure, parts))
    return _fit(marginals.add(*measured).flatten(), request, parts, model.potentials)


_LOOPS = {"aim": _aim, "mst": _mst}


def _conditional_tables(fitted: Any, request: ModelRequest, parts: dict[str, Any]) -> tuple[ConditionalTable, ...]:
    """The model as one table a column, in an order in which each column's parents come first.

    Columns are drawn in the reverse of the order that makes the junction tree: the neighbours of a column that are
    drawn before it then lie in one of the tree's cliques together with it, and tell all that the others do.
    """
    domain = fitted.potentials.domain
    tree, order = parts["make_junction_tree"](domain, fitted.cliques)
    cliques = [tuple(clique) for clique in tree.nodes]
    beliefs = parts["message_passing_stable"](fitted.potentials.expand(cliques))
    tables, before = [], set[str]()
    for name in reversed(order):
        parents = tuple(sorted({other for clique in cliques if name in clique for other in clique} & before))
        values = np.asarray(beliefs.project((*parents, name)).values, dtype=np.float64)
        before.add(name)
        tables.append(ConditionalTable(int(name), tuple(map(int, parents)), _conditional(values)))
    return tuple(tables)


def _conditional(values: Any) -> Any:
    """A marginal as probabilities of its last axis, given the others; even where there is nothing to go by."""
    values = np.maximum(np.nan_to_num(values, nan=0.0, posinf=0.0), 0.0)
    sums = values.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(sums > 0, values / np.where(sums > 0, sums, 1.0), 1 / values.shape[-1])
    return found / found.sum(axis=-1, keepdims=True)


def counts_of_columns(bins: Ints, rows: Ints, sizes: Sequence[int]) -> Callable[[Clique], Ints]:
    """Counts as a model takes them, from the bins of every kind of row (kinds x columns), and how many rows have it."""

    def counts(columns: Clique) -> Ints:
        shape = tuple(sizes[column] for column in columns)
        cells = np.ravel_multi_index(tuple(bins[:, column] for column in columns), shape)
        found = np.zeros(math.prod(shape), dtype=np.int64)
        np.add.at(found, cells, rows)
        return found.reshape(shape)

    return counts
