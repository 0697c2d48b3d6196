"""How close the released distribution q is to the original p."""

from __future__ import annotations

import numpy as np

from equinoise.grid import Floats

JACCARD_THRESHOLD = 0.001


def kl(p: Floats, q: Floats) -> float:
    """Kullback-Leibler divergence of q from p in nats: sum of p ln(p / q); infinite if q misses a cell of p."""
    seen = p > 0
    with np.errstate(divide="ignore"):
        return float(np.sum(p[seen] * np.log(p[seen] / q[seen])))


def js(p: Floats, q: Floats) -> float:
    """Jensen-Shannon divergence in nats: the mean KL of p and q to their midpoint, between 0 and ln 2."""
    middle = (p + q) / 2
    return (kl(p, middle) + kl(q, middle)) / 2


def tv(p: Floats, q: Floats) -> float:
    """Total variation distance: half the sum of absolute differences, between 0 and 1."""
    return float(np.abs(p - q).sum() / 2)


def standard_deviation(p: Floats, values: Floats) -> float:
    """Standard deviation of a distribution over the cells' values."""
    mean = float(np.sum(p * values))
    return float(np.sqrt(np.sum(p * (values - mean) ** 2)))


def jaccard(p: Floats, q: Floats, threshold: float = JACCARD_THRESHOLD) -> float:
    """Cells above the threshold in both, over cells above it in either; 1 if there are none."""
    a, b = p > threshold, q > threshold
    either = int(np.count_nonzero(a | b))
    return int(np.count_nonzero(a & b)) / either if either else 1.0


def cosine(p: Floats, q: Floats) -> float:
    """Cosine of the angle between the two vectors of probabilities."""
    return float(p @ q / (np.linalg.norm(p) * np.linalg.norm(q)))


def wasserstein(p: Floats, q: Floats, width: float) -> float:
    """How far mass must move on average, in data units, for bins of the given width."""
    return float(np.abs(np.cumsum(p - q)).sum() * width)


def metrics(p: Floats, q: Floats, values: Floats) -> dict[str, float]:
    """Every metric, by name. ``values`` are the cells' equally spaced midpoints in data units.

    ``sd_loss`` is the change of the standard deviation of the distribution (data units); ``pmf_sd_loss`` that
    of the standard deviation of the K probabilities, which is what the paper's "L1 loss of SD" fits.
    """
    return {
        "kl": kl(p, q),
        "js": js(p, q),
        "tv": tv(p, q),
        "sd_loss": abs(standard_deviation(p, values) - standard_deviation(q, values)),
        "pmf_sd_loss": float(abs(p.std() - q.std())),
        "jaccard": jaccard(p, q),
        "cosine": cosine(p, q),
        "wasserstein": wasserstein(p, q, float(values[1] - values[0])),
    }
