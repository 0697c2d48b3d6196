"""What ``optimize`` and ``synthesize`` make of seeded people: figures that were saved before the verbs were parted."""

import hashlib
import json

import numpy as np
import pytest

import equinoise

PEOPLE = np.random.default_rng(7).normal(175, 9, 300).clip(140, 210)
BUDGET = {"epsilon": 2, "draws": 10, "delta": 1e-6}
SAVED = {
    ("per-instance", "one draw"): (1.0, 0.0012242258189991675, "c76372c7513298b5"),
    ("per-instance", "budget"): (0.6982303874344885, 0.002511087267336826, "6ad8fc277d33f623"),
    ("differential-privacy", "one draw"): (1.0, 0.0019333280008392182, "890c68cb15de802a"),
    ("differential-privacy", "budget"): (0.26556004328508237, 0.008795463185304025, "6dd1199a7b9c55f5"),
}


def digest(made):
    """Of all weights: the profile's, or those of the cells."""
    shown = made.to_json()
    parts = [shown[name] for name in ("profile", "weights", "counts", "rule") if name in shown]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("tier", "kind"), SAVED)
def test_the_same_seed_gives_the_same_weights_as_before(tier, kind):
    verb = {"per-instance": equinoise.optimize, "differential-privacy": equinoise.synthesize}[tier]
    made = verb(PEOPLE, bounds=(140, 210), bins=31, **(BUDGET if kind == "budget" else {"epsilon": 1}))
    epsilon, kl, weights = SAVED[tier, kind]
    assert made.kind == tier
    assert made.epsilon == pytest.approx(epsilon, rel=1e-12)
    assert made.metrics()["kl"] == pytest.approx(kl, rel=1e-9)
    assert digest(made) == weights


def test_the_verbs_have_no_settings_that_only_the_other_takes(run):
    words = ("pay.csv", "--column", "pay", "--bounds", "pay", 0, 100, "--epsilon", 1, "--out", "a.eq")
    for verb, option in (("optimize", "--base"), ("optimize", "--guarantee"), ("synthesize", "--solver")):
        status, _, err = run(verb, *words, option, "x")
        assert status == 2
        assert f"No such option: {option}" in err or f"No such option '{option}'" in err
