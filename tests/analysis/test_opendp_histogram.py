import numpy as np

from equinoise.analysis import opendp_histogram as peers


def test_tidying_up_uses_public_numbers_only():
    weights = peers.tidied(np.array([-3, 0, 1, 2, 40]), 1.0)
    assert weights.tolist() == [0.25, 0.25, 1.25, 2.25, 40.25]
    assert peers.tidied(np.array([-3, -1]), 0.1).tolist() == [2.5, 2.5]
