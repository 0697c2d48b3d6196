"""What the game gives for a seed, as recorded digests: a change of layout must not change a figure.

A case has a digest for each part of a mechanism: who has which noise (or how many people each cell has), the weights,
epsilon of one draw and the scales, the distribution of a draw, how close it is, and seeded draws.
"""

import hashlib
import json

import numpy as np
import polars as pl
import pytest

import equinoise

RANDOM = np.random.default_rng(7)
A = RANDOM.normal(50, 14, 200).clip(0, 100)
B = ((A - 50) / 20 + RANDOM.normal(0, 0.8, 200)).clip(-5, 5)
ROWS = pl.DataFrame({"a": A, "b": B, "who": RANDOM.integers(0, 100, 200)})  # some people have several rows
AB, LOST = ROWS.drop("who"), np.append(A, [np.nan, 120])
EACH = {"a": [5, 20, 400], "b": [0.5, 2, 40]}
APART = {"scale_per_column": True}
DELTA, TOTAL = {"delta": 1e-3, "draws": 1}, {"delta": 1e-3, "draws": 5}
PAIR, UNIT = {"column": ["a", "b"], "bounds": {"a": (0, 100), "b": (-5, 5)}}, {"column": "a", "unit": "who"}
SMALL = {**PAIR, "bins": 13, "scales": EACH}
EASY, FINER = {"epsilon": 2}, {"scales": "adaptive", "epsilon": 0.7, "bins": 13}
FEW = {"bounds": (0, 100), "bins": 25, "scales": [2, 10, 40, 160], "restarts": 2, "time_limit": 600}  # never reached
PAPER = {"grid": "paper"}
VERBS = {
    "one": (equinoise.optimize, {"epsilon": 0.4, "bounds": (0, 100), "restarts": 2, "draws": 20, **PAPER}),
    "two": (equinoise.optimize, {"epsilon": 0.7, **PAIR, "bins": 25, "restarts": 2, "draws": 20, **PAPER}),
    "best": (equinoise.optimize, {"epsilon": 0.4, "solver": "optimal", **FEW, "draws": 20, **PAPER}),
    "genes": (
        equinoise.optimize,
        {"epsilon": 2, "solver": "genetic", "bounds": (0, 100), "bins": 41, "draws": 20, **PAPER},
    ),
    "compare": (equinoise.compare, {"epsilons": [0.4, 2], **FEW, **PAPER}),
}
LATER = {
    "association_loss",
    "mean_error",
    "median_error",
    "tv_1way",
    "tv_2way",
}  # metrics that there were not yet when the digests were recorded
PARTS = ("profile", "weights", "epsilon", "output", "metrics", "draws")
CASES = {
    "one kl": ("98a9cd6e 1f237ba0 6c52ccf2 df5224af 6beee27d ee831fc2", A, {}),
    "one js": ("a7830ac8 564abef3 6c52ccf2 7b2aff7a b85349c5 ee831fc2", A, {"utility": "js"}),
    "one tv": ("5aa8a260 14108c22 6c52ccf2 0fb1e2a8 9c2e801e 2c55f88e", A, {"utility": "tv"}),
    "one wasserstein": ("332cec0d 7d882f45 6c52ccf2 d9c409d9 a4d18f16 ee831fc2", A, {"utility": "wasserstein"}),
    "one moments": ("de85e2fe a321999c 6c52ccf2 349f6e27 32e14ae2 ee831fc2", A, {"utility": "moments:2"}),
    "one seed": ("1487e772 505551b6 6c52ccf2 1d3b8760 bcd75158 daa1f248", A, {"seed": 1}),
    "one gaussian": ("8a374921 55f525b5 6c52ccf2 4f79ee3d b9e44f09 c7429229", A, {"noise": "gaussian"}),
    "one geometric": ("8a9b92ad 4c8474c5 6c52ccf2 84028b88 fb335358 729d8038", A, {"noise": "geometric"}),
    "one staircase": ("27331761 0960eea2 6c52ccf2 f3391146 1f9ab9eb ee831fc2", A, {"noise": "staircase"}),
    "one uniform": ("1c6d389c 67da14c6 6c52ccf2 ce2edc0b d6dc1480 6e050727", A, {"noise": "uniform-mixture"}),
    "one restarts": ("86a3549e d3a6e08b 6c52ccf2 4ad00edf dfa40f48 195cce84", A, {"restarts": 8}),
    "one adaptive": ("cdba010d 10a508fa 2e2ffe4a ef6374b7 40dac675 6f4b1b8a", A, {"scales": "adaptive"}),
    "one paper": ("34bcda81 d93f8b35 8656207e 1c87c3b7 e752257a 7bf69e2f", A, {"scales": "paper"}),
    "one scales": ("1371d12e 0116cf64 0ea5a6f8 ece459f8 17f759e4 076acd90", A, {"scales": [2, 5, 15, 40, 400]}),
    "one delta": ("742a73fb 7fdc2f32 6c52ccf2 9b39c665 4b0f8064 97ebb235", A, DELTA),
    "one renyi": ("fb34b11d 31ed7443 6c52ccf2 42368668 7a2e51df 73d0dda2", A, {"order": 4}),
    "one budget": ("e3761b38 bac0f468 bff51107 47abc390 08da2ae3 474d32c7", A, {"epsilon": 2, **TOTAL}),
    "one bounds": ("e650ddf5 49237939 6c52ccf2 b3b80878 5460317a 370b7eb2", A, {"bounds": None}),
    "one lost": ("81e9653a 611149f8 6c52ccf2 09f65192 2c499cb9 a0f98c87", LOST, {"missing": "drop", "outside": "clip"}),
    "one padding": ("552cdcd4 fa01b112 9cd9e13d ad4bfcf8 1cc7e6da 37278739", A, {"bins": 41, "padding_epsilon": 4}),
    "one unit": ("d540be36 21fc1fad d86b2a0b 3c8af350 ad1ac0b8 959355fb", ROWS, {**UNIT, "epsilon": 1}),
    "one pandas": ("d540be36 21fc1fad d86b2a0b 3c8af350 ad1ac0b8 959355fb", ROWS.to_pandas(), {**UNIT, "epsilon": 1}),
    "one row": ("7a2b49fe 8b3ca58a 6c52ccf2 2394b1df 4be74f23 097f6bed", ROWS, {**UNIT, "unit_rows": "one"}),
    "one unit delta": ("39943ad7 c915e758 6c52ccf2 57de3677 f2826ece 2cc3831c", ROWS, {**UNIT, **DELTA}),
    "one unit budget": ("15005bb1 0c3febc0 6c0a4f6b 2b3cccfc 76c419b3 c04f1b34", ROWS, {**UNIT, "epsilon": 3, **TOTAL}),
    "two kl": ("f6bfd831 e503fb3d 7dda2530 5d796db9 804da848 f9c8d977", AB, {}),
    "two adaptive": ("e1d8c618 5a443369 ed0700b7 183c06f6 9c04c1e6 f9c8d977", AB, {"scales": "adaptive"}),
    "two tv": ("06b7fb91 91530f2a 7dda2530 0eef7caf 00aa2fcf 1742ebec", AB, {"utility": "tv", "noise": "gaussian"}),
    "two budget": ("cb17222e 6e29b954 60e8bf64 6ef9dce2 1931d8ee c2b34956", AB, {"epsilon": 2, **TOTAL}),
    "two axes": ("f17884a8 581e60af 67da29ee d96c4a94 bb075608 98b83419", AB, {**APART, "bins": 15}),
    "two axes own": ("8f7d41dd d91d9229 08d1e89c 7de1488c 8a0fe29e 2347bc9d", AB, {**APART, "scales": EACH}),
    "two unit": ("c78bfdb9 b4ea2e15 6898a281 4cd01aa4 c8c342fb 56da032b", ROWS, {"unit": "who", "bins": 15, **EASY}),
    "best kl": ("abb5a106 9ae04b31 cdf98e2d 461c4548 ded753b2 b975e43f", A[:60], {}),
    "best tv": ("38f00bd9 3bd779c7 cdf98e2d 4e13edad ba29c7cd b975e43f", A[:60], {"utility": "tv"}),
    "best renyi": ("f2190c22 42f42a42 cdf98e2d 0bb1223f f2016a3d 14261669", A[:60], {"order": 4}),
    "best delta": ("e5eed493 21bfc45b cdf98e2d 9999102d f792f49e 97ebb235", A[:60], {**DELTA, "delta": 1e-2}),
    "best budget": ("96d770a9 21bfc45b 6c32b101 a6f5d340 0786db9a 567c9a4f", A[:60], {"epsilon": 0.8, **TOTAL}),
    "best adaptive": ("2df36678 8524d38d 9b03c041 fbc6b41d bbec33b1 51b4ebb2", A[:40], FINER),
    "best unit": ("923f42f9 5eb42de8 8b459a46 effdc6f1 f2a13dc8 c086f2d5", ROWS[:60], {**UNIT, "epsilon": 1}),
    "best two": ("04400ac1 6951afb5 624a28d5 8837336e 8edf1b21 888c66e1", AB[:40], SMALL),
    "genes": ("279af75b 4d417b17 00e64840 83a6d0e9 c80f0695 53031dab", A, {"generations": 8}),
    "genes seed": ("b4ad59eb 6402f957 00e64840 4b96a6be 4edb2bb0 c6a0c87c", A, {"generations": 4, "seed": 3}),
    "genes two": ("e236ea9e 83000285 b0fdc95d f15d7e05 c36d1c64 bf4d2bd8", AB, {**PAIR, "bins": 9, "generations": 4}),
    "compare": ("a9d8f60d", A[:60], {}),
    "compare noise": ("fe43e1d0", A[:60], {"epsilons": [1], "noise": ["laplace", "gaussian"]}),
    "compare two": ("e1f7828f", AB[:40], SMALL),
}  # fmt: skip


def plain(found):
    """Values alone, in the order of their names, fractions to 12 digits."""
    if isinstance(found, dict):
        return [plain(found[name]) for name in sorted(found) if name not in LATER]
    return round(found, 12) if isinstance(found, float) else found


def figures(made):
    shown = made.to_json()
    if "results" in shown:  # all methods but OpenDP's, which has no seed
        solvers, told = [row.get("solver", {}) for row in shown["results"]], ("protected", "promised", "worst_loss")
        seeded = [row for row in shown["results"] if "releases" not in row]
        parts = {"rows": [[plain(row[name]) for name in (*told, "metrics")] for row in seeded]}
    else:
        groups = [
            (g["scale"], g["people"], [(e["cell"], e["rows"]) for e in g["rows"]]) for g in shown.get("profile", ())
        ]
        people = groups
        solvers, drawn = (
            [shown["solver"]],
            made.sample(made.draws, frame="numpy", source=np.random.default_rng(1).bytes).tolist(),
        )
        one, q = [shown["epsilon"], shown.get("scales")], made.output.round(12).tolist()
        parts = dict(zip(PARTS, (people, shown["weights"], one, q, plain(made.metrics()), drawn), strict=True))
    assert all(solver.get("proven", True) for solver in solvers), "the clock ended this, not a proof"
    return parts


def digests(name):
    verb, usual = VERBS[name.split()[0]]
    parts = figures(verb(CASES[name][1], **{**usual, **CASES[name][2]}))
    texts = {part: json.dumps(found, separators=(",", ":"), allow_nan=False) for part, found in parts.items()}
    return {part: hashlib.sha256(text.encode()).hexdigest()[:8] for part, text in texts.items()}


@pytest.mark.filterwarnings("ignore::equinoise.EquinoiseWarning")
@pytest.mark.parametrize("name", CASES)
def test_figures_are_the_same_as_recorded(name):
    found, recorded = digests(name), CASES[name][0].split()
    assert found == dict(zip(found, recorded, strict=True)), f"{name}: {CASES[name][2]}"


HEIGHTS = np.random.default_rng(7).normal(175, 9, 300).clip(140, 210)
TEN_DRAWS = {"epsilon": 2, "draws": 10, "delta": 1e-6}
RECORDED = {
    ("per-instance", "one draw"): (1.0, 0.0012242258189991675, "c76372c7513298b5"),
    ("per-instance", "budget"): (0.6982303874344885, 0.002511087267336826, "6ad8fc277d33f623"),
}


def weights_digest(made):
    """Of all weights: the profile's, or those of the cells."""
    shown = made.to_json()
    parts = [shown[name] for name in ("profile", "weights", "counts", "rule") if name in shown]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("tier", "kind"), RECORDED)
def test_the_same_seed_gives_the_same_weights_as_before(tier, kind):
    asked = TEN_DRAWS if kind == "budget" else {"epsilon": 1}
    made = equinoise.optimize(HEIGHTS, bounds=(140, 210), bins=31, **PAPER, **asked)
    epsilon, kl, weights = RECORDED[tier, kind]
    assert made.kind == tier
    assert made.epsilon == pytest.approx(epsilon, rel=1e-12)
    assert made.metrics()["kl"] == pytest.approx(kl, rel=1e-9)
    assert weights_digest(made) == weights
