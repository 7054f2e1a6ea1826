"""Worked numbers and helpers of the chapters on networks, and verdicts that can fail."""

import numpy as np
import pytest

from bottega import course
from bottega.course.data_mining import networks
from bottega.course.machine_learning import deep_networks, gradients, sequences, small_networks
from bottega.neural import Node


def parts(name, **options):
    frame = getattr(course, name)(**options).to_frame()
    return {row["part"]: row for row in frame.to_dict("records")}


def test_n5_counts_of_separable_labelings():
    """D = 2: 8 of 8, 14 of 16, 32 of 64, 134 of 4096; D = 10: one half at 22 points."""
    count = small_networks.separable_labelings
    assert [count(n, 2) for n in (3, 4, 6, 12)] == [8, 14, 32, 134]
    assert count(22, 10) / 2**22 == 0.5
    assert count(44, 10) / 2**44 == pytest.approx(0.0003, abs=5e-5)


def test_n_x1_the_networks_of_the_notes():
    net = small_networks.rectifier_network(small_networks.CORNERS)
    assert net.value.ravel().tolist() == [0, 1, 1, 0]
    found = parts("exclusive_or")
    assert found["labelings of the corners that a plane gives"]["found"] == 14
    assert not course.output_bias(scales=(1e-9,)).holds  # all sums alike: nothing separates


def test_n_x3_a_tent_folded_twice_by_hand():
    x = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    assert deep_networks._folds(x, 1).tolist() == [0, 0.5, 1, 0.5, 0]
    assert deep_networks._folds(x, 2).tolist() == [0, 1, 0, 1, 0]
    assert deep_networks._pieces(np.array([0.0, 1, 2, 1, 0, 1])) == 3


def test_n_x4_without_training_a_leaky_unit_keeps_its_error_too():
    assert not course.lost_gradients(steps=0).holds


def test_n_x6_one_layer_by_hand():
    """2 (2 x + 1)+ less (4 x - 1)+ at 0.7: 2 x + 1 and 4 x - 1 are positive, so the slope is -2."""
    x = Node(0.7)
    gradients._folding(x, 1).backward()
    assert float(x.gradient) == -2


def test_n_x7_a_slope_at_a_cliff_by_hand():
    slope = 2000 * (1 - np.tanh(1.0) ** 2) + 0.2 * 0.005
    assert gradients._cliff(0.5) == pytest.approx(0.005 - 0.5 * slope)
    assert gradients._cliff(0.5, clip=1.0) == pytest.approx(0.005 - 0.5)


def test_n_x10_the_gradient_of_a_chain_by_hand():
    """Orthogonal weights times r: every step back multiplies the size of the gradient by r."""
    found = sequences._influence(0.5 * np.eye(6)[::-1], 5, bent=False)
    assert found / found[0] == pytest.approx(0.5 ** np.arange(5))


def test_n_x8_without_outliers_nothing_moves():
    assert not course.losses_and_outliers(sizes=(0.0, 0.1)).holds


def test_d_e20_small_weights_of_rectifiers_vanish_too():
    rng = np.random.default_rng(0)
    small = networks._by_layer("relu", 0.05, 8, 20, rng)
    assert small[0] < 0.1 * small[-1]


def test_d_e27_a_line_is_linear():
    class Line:
        def predict(self, x):
            return 3 - 2 * x[:, 0]

    assert networks._linear_share(Line(), np.arange(5.0)[:, None]) == pytest.approx(1)
