"""Lets plans simulate with the first look at noisy counts in place of the estimate, which takes its time."""

from contextlib import contextmanager

import numpy as np
import pytest

from equinoise.synthesis import expectation


@contextmanager
def quick_simulations():
    """What is simulated is farther from the truth; what is decided by it, and said, is as ever."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expectation, "estimate", first_look)
        yield


def first_look(noisy, axes, scale):
    """Noisy counts, none below a tenth of a person, as shares."""
    people = np.maximum(noisy, 0.1)
    return people / people.sum()
