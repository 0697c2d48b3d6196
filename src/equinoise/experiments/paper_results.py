"""What the paper prints, typed in by hand, as far as it is compared with ours. Its data are of other people."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

BINS = 101
PERCENTILE = 0.9
GENERATIONS = 270

METRICS = ("kl", "pmf_sd_loss", "jaccard", "cosine")
"""The columns of its tables, by our names. Its "L1 SD loss" has the name that fits it: see ``findings``."""


@dataclass(frozen=True)
class PrintedTable:
    """One of its tables: the metrics and, but for Laplace, the seconds of each (method, epsilon)."""

    people: int
    data: str
    rows: dict[tuple[str, float], dict[str, float]]

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Ascending."""
        return tuple(sorted({epsilon for _, epsilon in self.rows}))

    def best_kl(self, epsilon: float) -> float:
        """The smallest KL that it prints for the game, by either of its algorithms."""
        return min(row["kl"] for (method, at), row in self.rows.items() if at == epsilon and method != "laplace")


def _read(name: str, people: int, data: str) -> PrintedTable:
    """One of the tables in ``paper_results.csv``, which has minutes."""
    rows: dict[tuple[str, float], dict[str, float]] = {}
    for line in csv.DictReader(files(__package__).joinpath("paper_results.csv").read_text("utf-8").splitlines()):
        if line["table"] == name:
            seconds = {"seconds": 60 * float(line["minutes"])} if line["minutes"] else {}
            rows[line["method"], float(line["epsilon"])] = {**seconds, **{key: float(line[key]) for key in METRICS}}
    return PrintedTable(people, data, rows)


HEIGHT = _read("height", 1307, "1,307 basketball players")
INCOME = _read("income", 899, "899 people's income")
LARGE_INCOME = _read("large-income", 10_000, "10,000 people's income")
TABLES = {"height": HEIGHT, "income": INCOME, "large-income": LARGE_INCOME}

RMSE_ORIGINAL = 0.0218
GAME, LAPLACE = "draws of the game", "Laplace mechanism"
RMSE = {
    None: {"the original": RMSE_ORIGINAL},
    0.1: {GAME: 0.0278, LAPLACE: 0.0516},
    0.3: {GAME: 0.0273, LAPLACE: 0.0449},
    1.0: {GAME: 0.0227, LAPLACE: 0.0444},
    2.0: {GAME: 0.0221, LAPLACE: 0.0380},
    4.0: {GAME: 0.0219, LAPLACE: 0.0335},
    8.0: {GAME: 0.0218, LAPLACE: 0.0272},
}
"""Of weight from height by epsilon, in units of the padded range; for age and income it prints no figures."""

SMALLEST_SCALE = 0.129
"""What its text says the theorem asks for at its smallest epsilon."""

RMSE_DISTANCE = 0.086
"""How far its text says the game's RMSE is from the original's, as a share, at epsilon 1."""
