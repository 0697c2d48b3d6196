"""Many draws from one of two distributions, composed: by how much the one may give itself away, at any delta.

A draw x from p has the loss L = ln(p[x] / q[x]), and D draws have the sum of theirs. If P is the distribution of that
sum, D draws are within epsilon except with probability

    delta = sum over L > epsilon of P[L] (1 - e^(epsilon - L)),   and what p gives where q has nothing.

Losses are rounded up to multiples of a step, which only makes this larger. P is then a power in Fourier space. A
transform is off by some 1e-15 of the largest numbers in it, in which the tail of P that a delta of 1e-14 asks about
drowns. So what is transformed is P tilted, T[L] = P[L] e^(t L) / M^D with M = sum over x of p[x] e^(t L): the same
power of one tilted draw, but with its bulk where the tail of P is. In

    delta = M^D e^(-t epsilon) sum over L > epsilon of T[L] e^(-t (L - epsilon)) (1 - e^(epsilon - L))

what stands beside T[L] in the sum is at most c = (t/(t + 1))^t / (t + 1). So whatever T is off by in all, delta is off
by at most M^D e^(-t epsilon) c times that: the bound on delta by Renyi divergences of order t + 1 (all of T at the
worst place), which at the best t is some ten times delta itself. Errors are relative to delta, however small it is;
they are bounded below and added. Any t > 0 gives an upper bound; which one only decides how close it is.

- The transform. With u = 2^-53, every number of a transform of n = 2^k numbers is off by at most h = 16 k u times their
  sum: each is a sum of the n numbers on paths of k steps, and a step (an addition, a product with a root of unity that
  is off by u itself) costs less than half of 16 u. The same in the norm of squares is the classical bound. The tilted
  draw sums to 1, so with z its transform, z^D is off by at most D (|z| + h)^(D - 1) h; its products, each off by less
  than 3 u, add 3 u D |z|^D; transforming back adds h |z|^D in the norm of squares. By Cauchy and Schwarz, and by
  Parseval, T is off in all by at most 2 (D + 1)(h + 3 u) times the norm of (|z| + h)^(D - 1).
- The window. T is worked out on n places, around which sums run in a circle. What comes round from elsewhere only adds.
  What lies above the window would be missed: by Chernoff's bound that is at most ``BEYOND`` of T, which is added.
- All else (masses, powers of e) is off by a factor within 1 +- 1e-5, because t D times the largest loss is at most
  ``MOST_TILT``: a thousandth of delta is kept back for it. Losses have 1e-12 added before they are rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equinoise.data.grid import Floats, Ints

Complexes = NDArray[np.complex128]

ORDERS = np.concatenate([1 + np.geomspace(1e-2, 1, 5), np.geomspace(2.5, 1e5, 36)])
"""Renyi orders that bounds are looked for among."""

ERROR = 1e-12
"""More than floating point gets a loss wrong."""

KEPT_BACK = 1e-3
"""Share of delta for what floating point gets wrong in a factor."""

BEYOND = 1e-12
"""Share of the tilted sums that may lie above the window."""

MOST_TILT = 1e9
"""Largest exponent: powers of e are then right to some 1e-6."""

MOST_POINTS = 2**23
"""Grids of more points than this take long."""

ROUND_OFF = 2.0**-53


def composed(p: Floats, q: Floats, draws: int, delta: float, step: float) -> float:
    """An epsilon that ``draws`` draws from p or q (logarithms) are within except with probability delta, both ways.

    Losses are rounded up to multiples of ``step``. Infinite where there is none, or none that can be worked out.
    """
    ways = sorted((_Way.of(p, q, draws, delta, step), _Way.of(q, p, draws, delta, step)), key=lambda way: -way.bound)
    worse = ways[0].epsilon()
    return worse if ways[1].bound <= worse else max(worse, ways[1].epsilon())


@dataclass(frozen=True, eq=False)
class _Draw:
    """One draw: the logarithm of the probability of every outcome, and its loss as a multiple of the step."""

    logs: Floats
    places: Ints
    step: float

    @property
    def largest(self) -> float:
        """The largest loss, whatever its sign."""
        return float(np.abs(self.places).max()) * self.step

    def log_mean(self, tilt: float) -> float:
        """ln M: of the mean of e^(tilt loss)."""
        return float(log_sum(self.logs + tilt * self.step * self.places))

    def tilted(self, tilt: float) -> Floats:
        """The outcomes' probabilities, tilted."""
        return np.asarray(np.exp(self.logs + tilt * self.step * self.places - self.log_mean(tilt)))

    def window(self, draws: int, tilt: float) -> tuple[int, int]:
        """The lowest and the highest place worth looking at of so many tilted draws together, by Chernoff's bound."""
        shares, losses = self.tilted(tilt), self.places * self.step
        spread = float(shares @ (losses - shares @ losses) ** 2) * draws
        low, high = draws * int(self.places.min()), draws * int(self.places.max())
        rare = -math.log(BEYOND)
        usual = math.sqrt(2 * rare / spread) if spread > 0 else math.inf
        for more in np.concatenate([usual * np.geomspace(1 / 8, 8, 13), tilt * np.geomspace(1 / 16, 1, 9)]).tolist():
            if not more * draws * self.largest <= MOST_TILT:
                continue
            up = draws * (self.log_mean(tilt + more) - self.log_mean(tilt)) + rare
            down = draws * (self.log_mean(tilt - more) - self.log_mean(tilt)) + rare
            high = min(high, math.ceil(up / more / self.step) + 1)
            low = max(low, math.floor(-down / more / self.step) - 1)
        return low, high


@dataclass(frozen=True, eq=False)
class _Way:
    """One of the two directions: draws from p, the delta that is left for them, and the tilt that bounds them best."""

    one: _Draw
    draws: int
    left: float
    tilt: float
    bound: float

    @classmethod
    def of(cls, p: Floats, q: Floats, draws: int, delta: float, step: float) -> _Way:
        """For draws from p (logarithms) that could be from q."""
        alone = float(np.exp(p[q == -math.inf]).sum()) * (1 + ERROR)
        left = (1 - KEPT_BACK) * delta - (1.0 if alone >= 1 else -math.expm1(draws * math.log1p(-alone)))
        both = (p > -math.inf) & (q > -math.inf)
        one = _Draw(p[both], np.ceil((p[both] - q[both] + ERROR) / step).astype(np.int64), step)
        best, bound = 0.0, math.inf
        for tilt in (ORDERS - 1).tolist() if left > 0 else []:
            if tilt * draws * one.largest <= MOST_TILT:
                found = (draws * one.log_mean(tilt) + math.log(_most(tilt)) - math.log(left)) / tilt
                best, bound = (tilt, found) if found < bound else (best, bound)
        return cls(one, draws, left, best, max(bound, 0.0))

    def epsilon(self) -> float:
        """The least epsilon that can be worked out: by composing or, where that is no less or too long, the bound."""
        sums = None if math.isinf(self.bound) else _tilted_sums(self.one, self.draws, self.tilt)
        return self.bound if sums is None else sums.epsilon(self.left, self.bound)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The tilted distribution of many draws' loss: how likely each is, and by how much that may be off in all."""

    losses: Floats
    shares: Floats
    off: float
    tilt: float
    log_mean: float

    @property
    def step(self) -> float:
        """Between two losses."""
        return float(self.losses[1] - self.losses[0])

    @cached_property
    def falling(self) -> tuple[Floats, Floats]:
        """e^(-tilt z) and e^-z for z = 0, step, 2 step and so on, while the first is above 2^-64."""
        many = min(len(self.losses), math.ceil(64 * math.log(2) / (self.tilt * self.step)) + 1)
        z = np.arange(many) * self.step
        return np.exp(-self.tilt * z), np.exp(-z)

    def log_delta(self, epsilon: float) -> float:
        """ln of an upper bound on delta. What stands beside every share is off by less than 8 units, and so is its sum
        with shares that sum to 1."""
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        tilted, plain = (values[: len(self.losses) - first] for values in self.falling)
        found = 8 * ROUND_OFF + self.off * _most(self.tilt)
        if len(plain) > 0:
            z = float(self.losses[first]) - epsilon
            factors = tilted * (1 - math.exp(-z) * plain)
            found += math.exp(-self.tilt * z) * float(factors @ self.shares[first : first + len(factors)])
        return self.log_mean - self.tilt * epsilon + math.log(found)

    def epsilon(self, delta: float, high: float) -> float:
        """The least epsilon for that delta, to a sixteenth of a step, or ``high``, which is known to be one."""
        target, low = math.log(delta), 0.0
        if self.log_delta(low) <= target:
            return low
        while high - low > max(self.step / 16, 1e-12 * high):
            middle = (low + high) / 2
            low, high = (low, middle) if self.log_delta(middle) <= target else (middle, high)
        return high


def _tilted_sums(one: _Draw, draws: int, tilt: float) -> _Sums | None:
    """Of so many draws, on a window of 2^k places; None if that is too many."""
    low, high = one.window(draws, tilt)
    levels = max((high - low).bit_length(), 1)
    size = 1 << levels
    if size > MOST_POINTS:
        return None
    around = np.bincount(one.places % size, weights=one.tilted(tilt), minlength=size)
    spectrum = np.fft.rfft(around)
    wrong = 16 * levels * ROUND_OFF
    norm = math.sqrt(2 * float(np.exp((2 * draws - 2) * np.log(np.abs(spectrum) + wrong)).sum()))
    shares = np.roll(np.fft.irfft(_power(spectrum, draws), size), -(low % size))
    return _Sums(
        losses=(low + np.arange(size, dtype=np.float64)) * one.step,
        shares=np.maximum(shares, 0.0),
        off=2 * (draws + 1) * (wrong + 3 * ROUND_OFF) * norm + BEYOND,
        tilt=tilt,
        log_mean=draws * one.log_mean(tilt),
    )


def _power(base: Complexes, exponent: int) -> Complexes:
    """By squaring: with fewer roundings than by logarithms, and each of a known size."""
    found = base if exponent % 2 else np.ones_like(base)
    while exponent := exponent // 2:
        base = base * base
        if exponent % 2:
            found = found * base
    return found


def _most(tilt: float) -> float:
    """The most that e^(-tilt z) (1 - e^-z) can be."""
    return math.exp(tilt * (math.log(tilt) - math.log1p(tilt))) / (1 + tilt)


def log_sum(logs: Floats) -> Floats:
    """ln of the sum of exponentials along the last axis."""
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1)))
