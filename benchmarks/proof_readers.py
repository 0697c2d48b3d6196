"""`python -m benchmarks.proof_readers`: small counterexamples looked for with nothing but the pages with proofs.

Written from the definitions on docs/proof-envelope.md, docs/proof-cost.md and docs/proof-pay-once.md; imports nothing
of the package. Prints what the pages tell; ends with status 1 if anything is broken that is proven there.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections import Counter
from fractions import Fraction

H = Fraction(1, 2**42)


def score(m, x, rule):
    """F[x](m)."""
    others = sum(rule["near"][x][z] * n for z, n in enumerate(m) if z != x)
    own = rule["u"] * m[x]
    return max(own, min(own + rule["f"][x] + min(rule["cap"], others), rule["alone"]))


def stages(n, x, rule):
    """How many are gone and who is left, stage by stage."""
    left, gone = list(n), n[x]
    yield 0, n
    left[x] = 0
    yield gone, tuple(left)
    for near in sorted({rule["near"][x][z] for z in range(len(n)) if z != x} - {0}, reverse=True):
        for z in range(len(n)):
            if z != x and rule["near"][x][z] == near:
                gone, left[z] = gone + left[z], 0
        yield gone, tuple(left)


def envelope(n, x, rule):
    """G[x](n), over all smaller tables, and by the stages."""
    smaller = itertools.product(*(range(many + 1) for many in n))
    best = min(rule["E"] ** (sum(n) - sum(m)) * score(m, x, rule) for m in smaller)
    return best, min(rule["E"] ** gone * score(m, x, rule) for gone, m in stages(n, x, rule))


def random_rule(rng, cells, without=None):
    """A rule that meets the conditions, but for one of them."""
    growth = Fraction(2**40 + rng.choice([2**30, 2**36, 2**38, 2**40, 2**41, rng.randrange(1, 2**41)]), 2**40)
    u = rng.choice([1, 3, 16, 1000, 2**20])
    most = 6 * u if without == 1 else u
    near = [[rng.choice([0, 1, u, rng.randint(0, most), most]) for _ in range(cells)] for _ in range(cells)]
    cap = rng.choice([0, 1, u, 3 * u, 100 * u, rng.randint(0, 5 * u)])
    floors = [rng.choice([2, 5, u + 1, rng.randint(2, 3 * u + 2)]) for _ in range(cells)]
    conditions = {2: cap + max(floors), 3: math.ceil(u / (growth - 1))}
    alone = max(least for number, least in conditions.items() if number != without) + rng.choice([0, 0, 1, u])
    return {"E": growth, "u": u, "near": near, "cap": cap, "f": floors, "alone": alone}


def read_envelope(seed, rules, without=None):
    """How often steps 2, 4 and 7 fail, and the largest share of the range in condition 5 that two tables have."""
    rng, failures, closest = random.Random(seed), Counter(), 0.0
    for _ in range(rules):
        cells = rng.choice([1, 2, 2, 3])
        rule = random_rule(rng, cells, without)
        n = tuple(rng.choice([0, 0, 1, 2, 3, 5, 8 if cells < 3 else 3]) for _ in range(cells))
        z, powers = rng.randrange(cells), [2**64]
        more = tuple(many + (x == z) for x, many in enumerate(n))
        for _ in range(sum(more)):
            powers.append(math.floor(powers[-1] * rule["E"]))
        weights = []
        for table in (n, more):
            weights.append(
                [min(powers[j] * score(m, x, rule) for j, m in stages(table, x, rule)) >> 64 for x in range(cells)]
            )
        for x in range(cells):
            (g, staged), (g_more, _) = envelope(n, x, rule), envelope(more, x, rule)
            failures["step 2"] += not g <= g_more <= rule["E"] * g
            failures["step 4"] += staged != g
        least = Fraction(1, min(rule["f"]))
        widest = rule["E"] * (1 + H) * (1 + least) / (1 / (1 + H) - least)
        ratios = [Fraction(b * sum(weights[0]), a * sum(weights[1])) for a, b in zip(*weights, strict=True)]
        failures["step 7"] += max(ratios) > widest * min(ratios) or not min(ratios) <= 1 <= max(ratios)
        closest = max(closest, float(max(ratios) / min(ratios) / widest))
    return dict(failures), closest


def worst_delta(e, rows, epsilon):
    """Delta by step 3."""
    found = [0.0]
    for last in range(rows):
        if (rows - last) * e > epsilon:
            t = (epsilon + (last + 1) * e) / (rows + 1)
            chances = math.expm1(t) / math.expm1(e), math.expm1(-t) / math.expm1(-e)
            p, q = (sum(math.comb(rows, i) * c**i * (1 - c) ** (rows - i) for i in range(last + 1)) for c in chances)
            found.append(p - math.exp(epsilon) * q)
    return max(found)


def true_delta(p, q, rows, epsilon):
    """The largest P(A) - e^epsilon Q(A), by all that so many rows can be."""
    total = 0.0
    for drawn in itertools.combinations_with_replacement(range(len(p)), rows):
        ways = math.factorial(rows) // math.prod(math.factorial(times) for times in Counter(drawn).values())
        total += ways * max(0.0, math.prod(p[x] for x in drawn) - math.exp(epsilon) * math.prod(q[x] for x in drawn))
    return total


def read_cost(seed, pairs):
    """How often steps 2 and 3 are below the truth, either way, and the closest to it."""
    rng, failures, closest = random.Random(seed), Counter({"step 2": 0, "step 3": 0}), 0.0
    for _ in range(pairs):
        outcomes, rows, e = rng.choice([2, 3, 4]), rng.randint(1, 5), rng.choice([0.05, 0.3, 1, 2, 4])
        q = [rng.random() ** 3 + 1e-6 for _ in range(outcomes)]
        p = [one * math.exp(e * rng.choice([0, 1, rng.random()])) for one in q]
        p, q = [one / sum(p) for one in p], [one / sum(q) for one in q]
        epsilon, a = rng.uniform(0.01, 1) * rows * e, rng.choice([1.01, 1.5, 2, 3, 8, 30])
        told = worst_delta(e, rows, epsilon)
        renyi = math.exp(min(700, (a - 1) * (a * rows * e * e / 8 - epsilon))) * (1 - 1 / a) ** (a - 1) / a
        for true in (true_delta(p, q, rows, epsilon), true_delta(q, p, rows, epsilon)):
            failures["step 2"] += true > renyi * (1 + 1e-9) + 1e-15
            failures["step 3"] += true > told * (1 + 1e-9) + 1e-15
            closest = max(closest, true / told if told > 1e-9 else 0.0)
    return dict(failures), closest


def without_a_range(pairs):
    """How often step 3 is below the truth for two outcomes whose log-ratios are -e and e."""
    p = [math.exp(1) / (1 + math.exp(1)), 1 / (1 + math.exp(1))]
    epsilons = [3 * (i + 0.5) / pairs for i in range(pairs)]
    return sum(true_delta(p, p[::-1], 3, epsilon) > worst_delta(1, 3, epsilon) for epsilon in epsilons)


def read_pay_once():
    """How often places of rows are not different, exponents are above M, and y or its variance has another mean."""
    failures = Counter({"step 1": 0, "step 2": 0, "y": 0})
    for rows in range(1, 80):
        for most in range(1, rows):
            places = {-(-(2 * j + 1) * rows // (2 * most)) for j in range(most)}
            failures["step 1"] += len(places) != most or not 1 <= min(places) <= max(places) <= rows
    for n, r, z in itertools.product(
        *(list(itertools.product(values, repeat=2)) for values in (range(3), range(3), range(-4, 9)))
    ):
        failures["step 2"] += abs(sum(abs(c - b) - abs(c - b - d) for b, d, c in zip(n, r, z, strict=True))) > sum(r)
    for b, n in itertools.product((0.5, 2, 9), (0, 1, 4, 20)):
        a = math.exp(-1 / b)
        g, noise = a / (1 - a) ** 2, {k: (1 - a) / (1 + a) * a ** abs(k) for k in range(-int(60 * b), int(60 * b) + 1)}
        y = {k: n + k if n + k > 0 else -a / (1 - a) for k in noise}
        variance, told = (sum(p * v for p, v in zip(noise.values(), each, strict=True)) for each in (
            [(y[k] - n) ** 2 for k in noise], [2 * g if n + k > 0 else g for k in noise]))  # fmt: skip
        failures["y"] += (
            abs(sum(p * y[k] for k, p in noise.items()) - n) > 1e-6 or abs(variance - told) > 1e-6 * variance
        )
    return dict(failures)


def main() -> None:
    broken = Counter()
    for without, rules in ((None, 6000), (1, 4000), (2, 4000), (3, 4000)):
        failures, closest = read_envelope(1, rules, without)
        print(f"envelope, {rules} rules, without condition {without}: {failures}, up to {closest:.7f} of the range")
        broken.update(failures if without is None else {})
    failures, closest = read_cost(5, 2500)
    print(f"cost, 2500 pairs both ways: {failures}, up to {closest:.6f} of the delta that is told")
    print(f"cost, without a range: {without_a_range(500)} of 500 above the delta that is told")
    broken.update(failures)
    broken.update(read_pay_once())
    print(f"pay once: {read_pay_once()}")
    sys.exit(int(any(broken.values())))


if __name__ == "__main__":
    main()
