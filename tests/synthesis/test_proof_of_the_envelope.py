"""What docs/proof-envelope.md asks of a rule, in its own words, against what the certificate asks for."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from equinoise.privacy.certificate import exp_lower_bound
from equinoise.privacy.envelope_certificate import _public_failure, _Sweep
from equinoise.synthesis.envelope import public_rule
from equinoise.synthesis.envelope_weights import weights

H = Fraction(1, 2**42)


def most_growth(floors, epsilon, rows):
    """The largest E that condition 5 allows."""
    least = Fraction(1, min(floors))
    return (1 / (1 + H) - least) * exp_lower_bound(Fraction(epsilon) / rows) / ((1 + H) * (1 + least))


def conditions(rule, epsilon):
    """The five conditions of the proof."""
    u, cap, alone, floors = (rule[name] for name in ("unit", "cap", "alone", "floors"))
    growth, factors = Fraction(rule["factor"], 2**40), [one for axis in rule["near"] for one in axis]
    digits = math.floor(Fraction(2**62 * u + cap + max(floors), max(min(floors), 1)) + 2).bit_length()
    return [
        min(u, *floors) >= 1 and cap >= 0 and all(0 <= one <= 2**16 for one in factors) and 0 <= rule["height"] <= u,
        all(alone >= cap + floor for floor in floors),
        (growth - 1) * alone >= u,
        2**20 * (growth - 1) >= growth * digits,
        min(floors) >= 1 and growth <= most_growth(floors, epsilon, rule["rows_per_person"]),
    ]  # fmt: skip


def changes(rule, epsilon):
    """Rules at the edges of what is allowed, and one step beyond."""
    u, rows, floors = rule["unit"], rule["rows_per_person"], rule["floors"]
    crowd = math.ceil(u / (Fraction(rule["factor"], 2**40) - 1))
    for step in (-1, 0, 1):
        yield {"height": u + step}
        yield {"near": [[2**16 + step, 5]]}
        yield {"near": [[2**16, step]]}
        yield {"floors": [*floors * 6, step]}
        yield {"cap": step}
        yield {"cap": 0, "height": 0, "alone": max(floors) + step, "unit": 1}
        yield {"cap": 0, "height": 0, "alone": crowd + step, "floors": [2**23]}
        for other in ([2**23], [2**30, *[2**35] * 6]):
            yield {
                "factor": math.floor(most_growth(other, epsilon, rows) * 2**40) + step,
                "floors": other,
                "alone": 2**70,
            }
        yield {"factor": math.floor(most_growth([2], epsilon, rows) * 2**40) + step, "floors": [2]}
    for power in range(20, 35):
        yield {"factor": 2**40 + 2**power, "alone": 2**75}
    yield {"rows_per_person": rows + 1}


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("rows", [1, 3])
def test_the_certificate_asks_for_what_the_proof_needs_and_no_more(epsilon, rows):
    rule, broken = public_rule(epsilon, (7,), rows_per_person=rows).to_json(), []
    assert _public_failure(epsilon, rule) is None
    for change in changes(rule, epsilon):
        held = conditions(rule | change, epsilon)
        assert (_public_failure(epsilon, rule | change) is None) == all(held), change
        broken.append([number for number, one in enumerate(held, 1) if not one])
    assert [] in broken
    assert all([alone] in broken for alone in range(1, 6))


@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 8.0])
def test_powers_are_rounded_down_where_they_are_made_and_where_they_are_checked(epsilon):
    rule = public_rule(epsilon, (3,))
    found = weights(np.array([0]), np.array([40]), rule)
    steps = list(itertools.pairwise(rule.power(j) for j in range(40)))
    assert all(0 <= before * rule.factor - after * 2**40 < 2**40 for before, after in steps)
    sweep = _Sweep([0], [40], found.cells, found.weights, rule.to_json())
    assert sweep.wrong_cell() is None
    assert sweep.powers.tolist() == [rule.power(j) for j in range(len(sweep.powers))]
    assert len(sweep.powers) > 1
