import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import spatial, stats

from equinoise.statistics import metrics as m

cells = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=3, max_size=12)


@given(cells=cells.filter(lambda c: any(p for p, _ in c)))
def test_metrics_agree_with_scipy_or_a_direct_sum(cells):
    size = len(cells)
    p = np.array([a for a, _ in cells], dtype=float)
    q = np.array([b for _, b in cells], dtype=float) + 0.5
    p, q = p / p.sum(), q / q.sum()
    values = 10.0 + 2.5 * np.arange(size)
    found = m.metrics(p, q, values)
    assert found["kl"] == pytest.approx(stats.entropy(p, q), abs=1e-12)
    assert found["js"] == pytest.approx(spatial.distance.jensenshannon(p, q) ** 2, abs=1e-12)
    assert found["tv"] == pytest.approx(sum(abs(x - y) for x, y in zip(p, q, strict=True)) / 2)
    assert found["cosine"] == pytest.approx(1 - spatial.distance.cosine(p, q))
    assert found["wasserstein"] == pytest.approx(stats.wasserstein_distance(values, values, p, q), abs=1e-9)
    sd = [stats.rv_discrete(values=(np.arange(size), r)).std() * 2.5 for r in (p, q)]
    assert found["sd_loss"] == pytest.approx(abs(sd[0] - sd[1]), abs=1e-6)
    assert found["pmf_sd_loss"] == pytest.approx(abs(np.std(p) - np.std(q)))
    both = {i for i in range(size) if p[i] > 0.001} & {i for i in range(size) if q[i] > 0.001}
    either = {i for i in range(size) if p[i] > 0.001} | {i for i in range(size) if q[i] > 0.001}
    assert found["jaccard"] == len(both) / len(either)


def test_kl_is_infinite_where_a_cell_is_missed():
    assert math.isinf(m.kl(np.array([0.5, 0.5]), np.array([1.0, 0.0])))
