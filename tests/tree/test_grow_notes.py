"""The worked numbers of the course notes: impurities, gains, and where they stall."""

import numpy as np
import pytest

from bottega.tree._grow.columns import Columns
from bottega.tree._grow.exact import grow
from bottega.tree._grow.options import GrowOptions

PSI = ["error", "gini", "entropy", "sqrt"]  # psi1 .. psi4


def two_classes(*leaves):
    """Return one column that numbers the leaves and classes with the given counts in them."""
    x, y = [], []
    for number, (negative, positive) in enumerate(leaves):
        x += [number] * (negative + positive)
        y += [0] * negative + [1] * positive
    return Columns.numeric(np.array(x, dtype=float)[:, None]), np.array(y)


@pytest.mark.parametrize(
    ("criterion", "gain"),
    [("error", 0.222222), ("gini", 0.149383), ("entropy", 0.114718), ("sqrt", 0.082232)],
)
def test_weather_split_at_humidity_70(criterion, gain):  # A29
    humidity = np.array([85, 76, 55, 65, 82, 35, 94, 66, 48.0])
    y = np.array([1, 0, 1, 0, 0, 1, 0, 1, 1])
    dry = (humidity > 70).astype(float)[:, None]
    tree = grow(Columns.numeric(dry), y, None, GrowOptions(criterion=criterion), n_classes=2)
    assert tree.gain[0] == pytest.approx(gain, abs=5e-7)  # the notes' digits
    assert tree.n.tolist() == [9, 5, 4]
    np.testing.assert_allclose(tree.value[:, 1], [5 / 9, 0.8, 0.25])
    np.testing.assert_allclose(tree.risk * 9, [4, 1, 1])
    if criterion == "entropy":
        assert 2 * tree.gain[0] == pytest.approx(0.229437, abs=5e-7)  # information gain in bits


@pytest.mark.parametrize(
    ("share", "values"),
    [
        (0.5, [0.5, 0.5, 0.5, 0.5]),
        (0.8, [0.2, 0.32, 0.360964, 0.4]),
        (0.6, [0.4, 0.48, 0.485475, 0.489898]),
        (0.25, [0.25, 0.375, 0.405639, 0.433013]),
    ],
)
def test_impurities_of_two_classes(share, values):  # A32
    columns, y = two_classes((round(20 * (1 - share)), round(20 * share)))
    found = [grow(columns, y, None, GrowOptions(criterion=psi), 2).impurity[0] for psi in PSI]
    np.testing.assert_allclose(found, values, atol=5e-7)


def test_the_error_criterion_stalls_where_the_others_split():  # A33
    columns, y = two_classes((4, 6), (0, 10))
    gains = [grow(columns, y, None, GrowOptions(criterion=psi), 2).gain[0] for psi in PSI]
    np.testing.assert_allclose(gains, [0, 0.08, 0.118226, 0.155051], atol=5e-7)
    assert grow(columns, y, None, GrowOptions(criterion="error"), 2).n_leaves == 1


def test_gini_and_entropy_prefer_the_pure_child():  # M213
    a, b = two_classes((100, 300), (300, 100)), two_classes((200, 400), (200, 0))
    for psi, scale, of_a, of_b in [
        ("error", 1, 0.25, 0.25),
        ("gini", 1, 0.125, 0.16667),
        ("entropy", 2, 0.18872, 0.31128),  # in bits
    ]:
        options = GrowOptions(criterion=psi)
        assert scale * grow(*a, None, options, 2).gain[0] == pytest.approx(of_a, abs=5e-6)
        assert scale * grow(*b, None, options, 2).gain[0] == pytest.approx(of_b, abs=5e-6)


@pytest.mark.parametrize(
    ("leaves", "gini", "entropy"),
    [(((80, 0), (80, 40)), 0.05333, 0.17095), (((120, 40), (40, 0)), 0.02, 0.07291)],
)
def test_error_stops_wrongly(leaves, gini, entropy):  # M214
    columns, y = two_classes(*leaves)
    assert grow(columns, y, None, GrowOptions(criterion="error"), 2).n_leaves == 1
    found = grow(columns, y, None, GrowOptions(criterion="gini"), 2).gain[0]
    assert found == pytest.approx(gini, abs=5e-6)
    bits = 2 * grow(columns, y, None, GrowOptions(criterion="entropy"), 2).gain[0]
    assert bits == pytest.approx(entropy, abs=5e-6)


@pytest.mark.parametrize(
    ("counts", "bits"), [((1, 1), 1.0), ((7, 3), 0.881291), ((0, 1), 0.0), ((1, 1, 1, 2), 1.921928)]
)
def test_entropies(counts, bits):  # C12
    y = np.repeat(np.arange(len(counts)), counts)
    columns = Columns.numeric(np.zeros((len(y), 1)))
    tree = grow(columns, y, None, GrowOptions(criterion="entropy"), len(counts))
    assert 2 * tree.impurity[0] == pytest.approx(bits, abs=5e-7)
    nats = grow(columns, y, None, GrowOptions(criterion="deviance"), len(counts)).impurity[0]
    assert nats == pytest.approx(2 * np.log(2) * bits, abs=5e-6)


def test_greedy_growth_stalls_on_a_balanced_exclusive_or():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
    y = np.array([0, 1, 1, 0])
    for criterion in [*PSI, "deviance"]:
        assert grow(Columns.numeric(X), y, None, GrowOptions(criterion=criterion), 2).n_leaves == 1
    assert grow(Columns.numeric(X), y, None, GrowOptions(criterion="squared_error")).n_leaves == 1
