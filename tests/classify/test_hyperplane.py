"""Hyperplanes: geometry of the notes (M503-M505, B01-B08), separability, margins, mistakes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from bottega.classify import hyperplane
from bottega.classify.hyperplane import Hyperplane
from bottega.core.errors import InputError
from bottega.risk import hard_margin

vectors = arrays(np.float64, 3, elements=st.floats(-5, 5)).filter(lambda w: np.linalg.norm(w) > 0.1)
CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])


@given(vectors, st.floats(-5, 5), arrays(np.float64, (4, 3), elements=st.floats(-9, 9)))
@settings(max_examples=60, deadline=None)
def test_distances_and_projections(w, b, X):
    plane = Hyperplane(w, b)
    foot = plane.project(X)
    assert plane.decision_function(foot) == pytest.approx(np.zeros(4), abs=1e-9)
    assert np.linalg.norm(X - foot, axis=1) == pytest.approx(np.abs(plane.distance(X)), abs=1e-9)
    # The foot of the origin: at distance -w0 / ||w|| along the normal.
    assert np.linalg.norm(plane.foot) == pytest.approx(abs(b) / np.linalg.norm(w), abs=1e-12)
    assert plane.offset == pytest.approx(-b / np.linalg.norm(w))
    # Points of the plane differ orthogonally to the normal.
    assert (foot[0] - foot[1]) @ w == pytest.approx(0, abs=1e-7)
    # Homogeneous coordinates there and back.
    assert hyperplane.homogenise(X) @ plane.homogeneous == pytest.approx(plane.decision_function(X))
    back = Hyperplane.of_homogeneous(plane.homogeneous)
    assert np.array_equal(back.coef, plane.coef)
    assert back.intercept == plane.intercept
    # Scaling changes values, not distances.
    assert Hyperplane(3 * w, 3 * b).distance(X) == pytest.approx(plane.distance(X))


def test_the_plane_itself_is_positive_and_a_mistake_of_both():
    """sgn(0) = +1, and a row on the plane counts as a mistake."""
    plane = Hyperplane([1.0, 0.0], 0.0, ["no", "yes"])
    X = [[0.0, 3.0], [2.0, 0.0], [-1.0, 0.0]]
    assert plane.predict(X).tolist() == ["yes", "yes", "no"]
    assert plane.mistakes(X, ["yes", "yes", "yes"]).tolist() == [0, 2]
    assert plane.margins(X, ["no", "yes", "no"]).tolist() == [0, 2, 1]
    assert plane.margin(X[1:], ["yes", "no"]) == 1


def test_functions_are_those_of_the_plane():
    assert hyperplane.distance([3.0, 4.0], -10.0, [[6.0, 8.0]]).tolist() == [8.0]
    assert hyperplane.margin([1.0, 0.0], 0.0, [[2.0, 5], [-3, 1]], [1, -1]) == 2.0
    assert hyperplane.margin([1.0, 0.0], 0.0, [[2.0, 5], [-3, 1]], [-1, 1]) == -3.0


@pytest.mark.parametrize(
    ("labels", "answer"), [([0, 1, 1, 1], True), ([0, 0, 0, 1], True), ([0, 1, 1, 0], False)]
)
def test_or_and_xor(labels, answer):
    assert hyperplane.separable(CORNERS, labels) is answer
    assert hyperplane.fewest_mistakes(CORNERS, labels).mistakes == (0 if answer else 1)


def test_through_the_origin_or_not():
    X = np.array([[1.0, 1.0], [3.0, 3.0]])
    assert hyperplane.separable(X, ["near", "far"])
    assert not hyperplane.separable(X, ["near", "far"], fit_intercept=False)
    with pytest.raises(InputError, match="through the origin"):
        hyperplane.minimum_norm_separator(X, ["near", "far"], fit_intercept=False)
    # Homogenised rows and planes through the origin are the same question.
    assert hyperplane.separable(hyperplane.homogenise(X), [0, 1], fit_intercept=False)


@pytest.mark.parametrize("seed", range(5))
def test_the_widest_margin_equals_a_hard_margin_machine(seed):
    """scikit-learn's SVC with a huge C, to its tolerance of 1e-8."""
    rng = np.random.default_rng(seed)
    d = 2 + seed
    w = rng.normal(size=d)
    X = rng.normal(size=(150, d))
    X = X[np.abs(X @ w) > 0.4]
    y = np.where(X @ w > 0, "b", "a")
    X = X * 3 + 7
    plane = hyperplane.minimum_norm_separator(X, y)
    machine = SVC(kernel="linear", C=1e8, tol=1e-8).fit(X, y)
    assert plane.coef == pytest.approx(machine.coef_[0], rel=1e-4, abs=1e-5)
    assert plane.intercept == pytest.approx(machine.intercept_[0], rel=1e-3)
    assert plane.margin(X, y) == pytest.approx(1 / plane.norm, rel=1e-9)
    assert np.min(np.abs(plane.decision_function(X))) == pytest.approx(1, rel=1e-9)
    # In other units of all columns together the plane is the same.
    far = hyperplane.minimum_norm_separator(1e6 * X, y)
    assert 1e6 * far.coef == pytest.approx(plane.coef, rel=1e-6)


def test_without_a_constant_it_is_the_vector_of_the_perceptrons_bound():
    """B14: for OR with a constant column the least squared norm is 9."""
    X = hyperplane.homogenise(CORNERS)
    plane = hyperplane.minimum_norm_separator(X, [-1, 1, 1, 1], fit_intercept=False)
    assert plane.norm**2 == pytest.approx(9)
    assert plane.coef == pytest.approx(hard_margin(X, [-1, 1, 1, 1]))
    # With a free constant that is not part of the norm: 8.
    free = hyperplane.minimum_norm_separator(CORNERS, [-1, 1, 1, 1])
    assert free.norm**2 == pytest.approx(8)


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e150])
def test_units_of_a_column_do_not_change_separability(scale):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    w = np.array([1.0, -2.0, 0.5])
    X = X[np.abs(X @ w) > 0.2]
    y = X @ w > 0
    units = np.array([1.0, scale, 1.0])
    assert hyperplane.separable(X * units, y)
    y[0] = ~y[0]
    mixed = np.vstack([X, X[:1]])
    assert not hyperplane.separable(mixed * units, np.append(y, ~y[0]))


def test_planes_of_linear_classifiers():
    X = np.array([[0.0, 1], [1, 0], [3, 1], [4, 2]])
    model = LogisticRegression().fit(X, ["a", "a", "b", "b"])
    plane = Hyperplane.of(model)
    assert plane.decision_function(X) == pytest.approx(model.decision_function(X))
    assert np.array_equal(plane.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Hyperplane([0.0, 0.0]), "not all zero"),
        (lambda: Hyperplane([1.0], np.nan), "intercept=nan"),
        (lambda: Hyperplane([1.0], 0.0, [1, 2, 3]), "two sides"),
        (lambda: Hyperplane([1.0, 2.0]).distance([[1.0]]), "X has 1 columns"),
        (lambda: Hyperplane([1.0]).margin([[1.0]], ["x"]), "the two sides are"),
        (lambda: Hyperplane.of(object()), "no linear classifier"),
        (lambda: hyperplane.separable([[1.0], [2.0], [3.0]], [0, 1, 2]), "3 classes"),
        (lambda: hyperplane.separable([[1.0], [2.0]], [0]), "one label per row"),
        (lambda: hyperplane.separable([[np.nan], [2.0]], [0, 1]), "NaN"),
        (lambda: hyperplane.minimum_norm_separator(CORNERS, [0, 1, 1, 0]), "No plane separates"),
        (lambda: hyperplane.minimum_norm_separator(CORNERS, ["a"] * 4), "only the class"),
        (
            lambda: hyperplane.fewest_mistakes(
                np.random.default_rng(0).normal(size=(60, 6)), [0, 1] * 30, max_planes=1000
            ),
            "no fast exact algorithm",
        ),
    ],
)
def test_bad_input_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.parametrize("unit", [1e-200, 1e-12, 1e12, 1e155, 1e300])
def test_fewest_mistakes_do_not_depend_on_units(unit):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 2)), rng.choice([-1, 1], 15)
    expected = hyperplane.fewest_mistakes(X, y)
    found = hyperplane.fewest_mistakes(X * [unit, 1.0], y)
    assert found.mistakes == expected.mistakes
    assert found.planes == expected.planes
    both = hyperplane.fewest_mistakes(X * unit, y)
    assert np.sum(both.predict(X * unit) != y) == expected.mistakes
