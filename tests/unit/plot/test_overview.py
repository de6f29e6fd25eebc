"""The quick layout of large networks."""

import numpy as np
import pytest

from bayeskit.plot.network_svg import MOST_WITH_CARE, network_geometry
from bayeskit.plot.overview import overview


def random_arcs(n, rng):
    return [(int(rng.integers(0, child)), child) for child in range(1, n) for _ in range(int(rng.integers(0, 4)))]


@pytest.mark.parametrize("n", [1, 2, 30, 400])
def test_arcs_go_down_and_no_two_boxes_overlap(n):
    rng = np.random.default_rng(n)
    sizes = [(float(w), float(h)) for w, h in rng.uniform(20, 200, (n, 2))]
    arcs = sorted(set(random_arcs(n, rng)))
    layout = overview(sizes, arcs)
    centre, half = np.array(layout.centres), np.array(sizes) / 2
    for (a, b), curve in zip(arcs, layout.curves, strict=True):
        assert centre[a, 1] + half[a, 1] < centre[b, 1] - half[b, 1]
        assert curve[0] == pytest.approx((centre[a, 0], centre[a, 1] + half[a, 1]))
        assert curve[-1] == pytest.approx((centre[b, 0], centre[b, 1] - half[b, 1]))
    apart = np.abs(centre[:, None] - centre[None]) - (half[:, None] + half[None])  # (n, n, 2)
    assert ((apart > 0).any(axis=2) | np.eye(n, dtype=bool)).all()
    assert (centre - half >= -1e-9).all()
    assert (centre + half <= np.array([layout.width, layout.height]) + 1e-6).all()


def test_a_large_network_is_about_twice_as_wide_as_high():
    rng = np.random.default_rng(0)
    n = MOST_WITH_CARE + 300
    arcs = sorted(set(random_arcs(n, rng)))
    layout = network_geometry([f"x{k}" for k in range(n)], [["no", "yes"]] * n, arcs).layout
    assert 0.5 < layout.width / layout.height < 6
