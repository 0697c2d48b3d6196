"""A table of eight mixed columns, and a model of its columns made by hand: what AIM would give, without its extra."""

import numpy as np
import polars as pl

from equinoise.data.read_players import columns_asked_for, read_players
from equinoise.mechanisms.model_table import ModelTable
from equinoise.privacy.accounting import Budget
from equinoise.synthesis.marginal_model import ConditionalTable, MarginalModel
from equinoise.verbs.table_request import public_columns

NUMBERS = {
    "age": {"bounds": [18, 97], "step": 1},
    "stay": {"bounds": [0, 60], "step": 1, "missing": "category"},
    "weight": {"bounds": [30.0, 200.0]},
    "pulse": {"bounds": [30, 200], "step": 1},
    "admitted": {"bounds": [0, 3000], "step": 10},
}
SCHEMA = {
    "columns": {
        "ward": {"categories": ["elective", "emergency", "other"]},
        **NUMBERS,
        "married": {"categories": [True, False]},
        "kind": {"categories": [1, 2, 3, 4]},
    }
}


def table(people=300, seed=7):
    """Rows of eight columns that go together a little, some without a value."""
    rng = np.random.default_rng(seed)
    size = rng.random(people)
    stay = np.where(size > 0.9, np.nan, (60 * size * rng.random(people)).round())
    return pl.DataFrame(
        {
            "ward": np.array(["elective", "emergency", "other"])[(2.99 * size).astype(int)],
            "age": (18 + 79 * size).round().astype(int),
            "stay": pl.Series(stay, nan_to_null=True),
            "weight": (60 + 40 * size + 10 * rng.normal(size=people)).round(1),
            "pulse": rng.integers(50, 120, people),
            "admitted": rng.integers(0, 300, people) * 10,
            "married": rng.random(people) < size,
            "kind": rng.integers(1, 5, people),
        }
    )


def players_of(data, schema=None, **more):
    """These people, by the grid that AIM takes; and the settings that say how they were counted."""
    asked = public_columns(columns_asked_for(schema or SCHEMA, None, None, None, None))
    return read_players(data, asked, check_grid=lambda grid: None, joint=False, least=0, **more)


def random_model(grid, seed=5, rows=300.0, epsilon=1.0):
    """Tables of random probabilities, some of them zero, drawn from the last column to the first; each column but the
    first two depends on the two before it."""
    rng, order, tables = np.random.default_rng(seed), [*reversed(range(len(grid.axes)))], []
    for place, column in enumerate(order):
        parents = tuple(order[max(0, place - 2) : place])
        table = rng.dirichlet(np.full(grid.shape[column], 0.3), size=[grid.shape[parent] for parent in parents])
        tables.append(ConditionalTable(column, parents, np.asarray(table)))
    return MarginalModel(tuple(tables), rows, epsilon)


def made_by_hand(data=None, **more):
    """A mechanism of such a model for the table."""
    players, counting = players_of(table() if data is None else data, **{"bins": 12, **more})
    settings = {**counting, "delta": 0.0, "rows": 300, "method": "aim", "rows_per_person": 1}
    return ModelTable.of_model(random_model(players.grid), players, Budget(1.0, 0.0), settings=settings)
