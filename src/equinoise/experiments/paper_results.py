"""What the paper prints, typed in by hand, as far as it is compared with ours. Its data are of other people."""

from __future__ import annotations

from dataclasses import dataclass

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


def _table(people: int, data: str, text: str) -> PrintedTable:
    """Of lines with the method, epsilon, minutes and metrics."""
    rows = {}
    for line in text.strip().splitlines():
        method, epsilon, minutes, *metrics = line.split()
        row = dict(zip(METRICS, map(float, metrics), strict=True))
        rows[method, float(epsilon)] = row if minutes == "-" else {"seconds": 60 * float(minutes), **row}
    return PrintedTable(people, data, rows)


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
