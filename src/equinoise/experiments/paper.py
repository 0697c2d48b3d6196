"""What the paper prints, typed in by hand. All of it is the paper's own, and on other people's data than ours.

Only figures are here, as far as they are compared with ours.
"""

from __future__ import annotations

from dataclasses import dataclass

BINS = 101
PERCENTILE = 0.9
GENERATIONS = 270


@dataclass(frozen=True)
class Printed:
    """One row of one of its tables. Its "L1 SD loss" is here under the name that fits it: see ``findings``."""

    method: str
    epsilon: float
    minutes: float | None
    kl: float
    pmf_sd_loss: float
    jaccard: float
    cosine: float

    @property
    def metrics(self) -> dict[str, float]:
        """By the names that ours have."""
        return {"kl": self.kl, "pmf_sd_loss": self.pmf_sd_loss, "jaccard": self.jaccard, "cosine": self.cosine}


@dataclass(frozen=True)
class PrintedTable:
    """One of its tables, and the data that it is about."""

    people: int
    data: str
    rows: tuple[Printed, ...]

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Ascending."""
        return tuple(sorted({row.epsilon for row in self.rows}))

    def of(self, method: str, epsilon: float) -> Printed | None:
        """The row of a method, if there is one."""
        return next((row for row in self.rows if (row.method, row.epsilon) == (method, epsilon)), None)

    def best_kl(self, epsilon: float) -> float:
        """The smallest KL that it prints for the game, by either of its algorithms."""
        return min(row.kl for row in self.rows if row.epsilon == epsilon and row.method != "laplace")


def _table(people: int, data: str, text: str) -> PrintedTable:
    rows = []
    for line in text.strip().splitlines():
        method, epsilon, minutes, *figures = line.split()
        kl, sd, jaccard, cosine = map(float, figures)
        spent = None if minutes == "-" else float(minutes)
        rows.append(Printed(method, float(epsilon), spent, kl, sd, jaccard, cosine))
    return PrintedTable(people, data, tuple(rows))


HEIGHT = _table(
    1307, "1,307 basketball players",
    """
    best-response 0.1   8 0.0512 0.0126 0.4878 0.9989
    best-response 0.3   5 0.0393 0.0122 0.5882 0.9994
    best-response 1     4 0.0066 0.0049 0.9523 0.9992
    best-response 2     5 0.0045 0.0084 0.9523 0.9997
    best-response 4     5 0.0005 0.0016 1.0000 0.9999
    best-response 8     5 0.0006 0.0017 1.0000 0.9999
    genetic       0.1 287 0.0475 0.0123 0.5000 0.9995
    genetic       0.3 294 0.0248 0.0108 0.8261 0.9998
    genetic       1   392 0.0176 0.0058 0.9523 0.9998
    genetic       2   354 0.0047 0.0080 1.0000 0.9999
    genetic       4   182 0.0006 0.0015 1.0000 0.9999
    genetic       8   155 0.0001 0.0007 1.0000 0.9999
    laplace       0.1   - 0.0475 0.0279 0.1980 0.3732
    laplace       0.3   - 0.0475 0.0279 0.1980 0.3732
    laplace       1     - 1.3991 0.0261 0.1980 0.5656
    laplace       2     - 0.9480 0.0247 0.2631 0.7040
    laplace       4     - 0.5064 0.0216 0.4444 0.8299
    laplace       8     - 0.2401 0.0170 0.6451 0.9074
    """,
)  # fmt: skip

INCOME = _table(
    899, "899 people's income",
    """
    best-response 1   1 0.0223 0.0068 0.9565 0.9997
    best-response 2   2 0.0087 0.0003 0.8695 0.9999
    best-response 4   2 0.0014 0.0003 1.0000 0.9999
    best-response 8   1 0.0013 0.0007 1.0000 0.9999
    genetic       1 148 0.0202 0.0061 0.9565 0.9998
    genetic       2 204 0.0061 0.0026 1.0000 0.9999
    genetic       4 178 0.0010 0.0017 1.0000 0.9999
    genetic       8 164 0.0000 0.0000 1.0000 1.0000
    laplace       1   - 1.3952 0.0274 0.2277 0.5529
    laplace       2   - 0.9373 0.0261 0.3066 0.6959
    laplace       4   - 0.4758 0.0230 0.4782 0.8369
    laplace       8   - 0.1736 0.0178 0.6363 0.9378
    """,
)  # fmt: skip

LARGE_INCOME = _table(
    10_000, "10,000 people's income",
    """
    best-response 1 331 0.0000 0.0000 1.0000 1.0000
    best-response 2 633 0.0001 0.0004 1.0000 1.0000
    laplace       1   - 0.9490 0.0190 0.3069 0.6876
    laplace       2   - 0.5668 0.0173 0.3333 0.8224
    """,
)  # fmt: skip

TABLES = {"height": HEIGHT, "income": INCOME, "large-income": LARGE_INCOME}

RMSE_ORIGINAL = 0.0218
RMSE = {
    "game": {0.1: 0.0278, 0.3: 0.0273, 1.0: 0.0227, 2.0: 0.0221, 4.0: 0.0219, 8.0: 0.0218},
    "laplace": {0.1: 0.0516, 0.3: 0.0449, 1.0: 0.0444, 2.0: 0.0380, 4.0: 0.0335, 8.0: 0.0272},
}
"""Of weight from height, in units of the padded range; for age and income it prints no figures."""

SMALLEST_SCALE = 0.129
"""What its text says the theorem asks for at its smallest epsilon."""

RMSE_DISTANCE = 0.086
"""How far its text says the game's RMSE is from the original's, as a share, at epsilon 1."""
