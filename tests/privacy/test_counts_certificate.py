"""The exact check of noisy counts, at its limits."""

import math

import pytest

from equinoise.privacy.certificate_rows import MOST
from equinoise.privacy.counts_certificate import certify_noisy_counts

GOOD = {
    "sizes": [1, 3, 2], "rows_per_person": 3, "scale": 6.0, "noisy": [4, -1, 0, 2], "weights": [5, 1, 1, 3],
    "cells": 4, "epsilon": 0.5,
}  # fmt: skip


def test_noise_that_is_just_enough_holds():
    found = certify_noisy_counts(**GOOD)
    assert (found.holds, found.people, found.cells, found.failure) == (True, 3, 4, None)
    assert certify_noisy_counts(**{**GOOD, "sizes": []}).holds


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scale": math.nextafter(6.0, 0)}, "too small"),
        ({"epsilon": math.nextafter(0.5, 0)}, "too small"),
        ({"scale": 2.0}, "too small"),  # enough for one row of a person
        ({"sizes": [1, 4, 2]}, "more rows"),
        ({"sizes": [1, 0, 2]}, "more rows"),
        ({"rows_per_person": 0, "sizes": []}, "more rows"),
        ({"rows_per_person": 3.0}, "more rows"),
        ({"scale": 0.0}, "no scale"),
        ({"scale": math.inf}, "no scale"),
        ({"scale": math.nan}, "no scale"),
        ({"epsilon": 0.0}, "no epsilon"),
        ({"epsilon": math.inf}, "no epsilon"),
        ({"weights": [5, 0, 1, 3]}, "possible size"),
        ({"weights": [5, 1, 1, MOST - 7]}, "possible size"),
        ({"cells": 5}, "belong together"),
        ({"cells": 3}, "belong together"),
        ({"noisy": [4, -1, 0]}, "belong together"),
        ({"weights": [5, 1, 1]}, "belong together"),
    ],
)
def test_anything_else_is_refused(changed, said):
    found = certify_noisy_counts(**GOOD | changed)
    assert not found.holds
    assert said in found.failure
