"""Convexity: rules, eigenvalues, chords; sets, hulls and constants."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import DataWarning, InputError, ParameterError
from bottega.optimize import (
    QuadraticFunction,
    convex_hull,
    convex_set,
    convexity,
    curvature_bounds,
    polytope,
)
from bottega.optimize import pieces as p

# ---- pieces and rules ----------------------------------------------------------------------------

CONVEX = [
    p.square, p.absolute, p.exponential, p.negative_log, p.reciprocal, p.negative_entropy,
    p.hinge, p.positive_part, p.logistic, p.huber, p.norm, p.log_sum_exp,
]  # fmt: skip
SMOOTH = [
    p.square(), p.exponential(), p.negative_log(), p.logarithm(), p.square_root(), p.reciprocal(),
    p.negative_entropy(), p.logistic(), p.cube(), p.sigmoid(), p.sine(), p.log_sum_exp(), p.norm(),
    p.exponential()(p.square()), p.square().of([[1.0, 2.0, 0.5], [0.3, 0.1, 1.0]], [1.0, 2.0]),
    2 * p.square() - p.affine([1.0, 2.0, 3.0], 4.0), p.maximum(p.square(), p.affine([1, 1, 1], -9)),
    QuadraticFunction([[1, 2, 0], [0, 1, 0], [3, 0, -1]], [1, 2, 3], 4.0),
    p.logarithm()(p.affine([1.0, 1.0, 1.0], 2.0)),
]  # fmt: skip


@pytest.mark.parametrize("f", SMOOTH, ids=lambda f: f.words())
def test_derivatives_agree_with_differences(f):
    x = np.array([0.7, 0.4, 1.3])
    h = 1e-5
    moves = h * np.eye(3)
    slopes = [(f(x + e) - f(x - e)) / (2 * h) for e in moves]
    bends = [(f.gradient(x + e) - f.gradient(x - e)) / (2 * h) for e in moves]
    # Central differences err by h^2, about 1e-10, and by rounding over h, about 1e-11.
    np.testing.assert_allclose(f.gradient(x), slopes, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(f.hessian(x), bends, rtol=1e-7, atol=1e-8)


def test_rules_by_name():
    x = p.affine([1.0, -1.0], 2.0)
    kinds = {
        "affine": [x, 3 * x - 1, x + x, -x, 0 * p.sine()],
        "convex": [
            p.square()(x), p.maximum(x, 0.0), 2 * p.absolute() + x, -p.logarithm(),
            p.exponential()(p.square()), p.square()(p.absolute()), p.negative_log()(x),
            p.logistic()(-p.square()), p.reciprocal()(p.logarithm()), p.cube()(p.norm()),
            p.positive_part()(p.norm() - 1), p.square() + 0.5 * p.sine(), p.square()(p.norm()) + x,
            p.negative_log()(p.square_root()), p.maximum(p.square(), p.norm(1)),
        ],
        "concave": [
            p.logarithm(), -p.norm(), p.minimum(x, 1.0), p.square_root()(x),
            p.logarithm()(p.square_root()), -1 * p.square() + x,
        ],
        "unknown": [
            p.sine(), p.square() - p.square(), p.square()(p.logarithm()),
            p.exponential()(p.logarithm()), p.maximum(p.square(), p.logarithm()),
            p.cube(), p.sigmoid()(x), p.square()(p.square() - 1), p.square() + 3 * p.sine(),
            p.negative_entropy()(p.square() - 1),
        ],
    }  # fmt: skip
    for kind, members in kinds.items():
        for f in members:
            assert f.curvature == kind, f.reason()


def test_a_domain_that_is_not_convex_is_seen():
    """The entropy of x^2 - 1 is finite for |x| >= 1 only: no rule may call it convex."""
    f = p.negative_entropy()(p.square() - 1)
    assert f([1.5]) < np.inf
    assert f([0.0]) == np.inf
    assert convexity(f, (-2.0, 2.0), random_state=0).verdict == "not convex"


def test_the_hinge_is_the_largest_of_two_affine_functions():
    built = p.maximum(0.0, 1 - p.affine([1.0]))
    for x in (-2.0, 0.3, 1.0, 4.0):
        assert built([x]) == p.hinge()([x])
    assert built.reason().rule == "the largest of convex functions"
    assert [part.kind for part in built.reason().parts] == ["affine", "affine"]


def test_the_proof_is_a_tree():
    f = p.exponential()(p.square() + 1)
    lines = str(f.reason()).splitlines()
    assert lines[0].startswith(
        "exponential(square(x) + 1) is convex: exponential is convex and non-"
    )
    assert lines[1] == "  square(x) + 1 is convex: a sum of convex functions"
    assert lines[2] == "    square(x) is convex: a known function"
    assert repr(f) == "exponential(square(x) + 1)  [convex]"
    assert "unknown curvature" in repr(p.sine())


@settings(max_examples=60, deadline=None)
@given(
    chosen=st.lists(st.sampled_from(CONVEX), min_size=1, max_size=4),
    factors=st.lists(st.floats(0.01, 100), min_size=4, max_size=4),
    seed=st.integers(0, 2**16),
)
def test_sums_of_convex_pieces_have_no_chord_below_the_graph(chosen, factors, seed):
    rng = np.random.default_rng(seed)
    f = p.affine(rng.normal(size=3), 1.0)
    for make, factor in zip(chosen, factors, strict=False):
        f = f + factor * make().of(rng.normal(size=(2, 3)), rng.normal(size=2) + 2)
    assert f.curvature == "convex"
    found = convexity(f.value, ([-2.0] * 3, [2.0] * 3), n_samples=60, random_state=seed)
    assert found.verdict == "no violation found"


@settings(max_examples=60, deadline=None)
@given(
    outer=st.sampled_from(sorted(set(p.__all__) - {"affine", "norm", "maximum", "minimum",
                                                   "log_sum_exp"})),
    inner=st.sampled_from(sorted(set(p.__all__) - {"affine", "maximum", "minimum"})),
    shift=st.floats(-3, 3),
    sign=st.sampled_from([1.0, -1.0]),
    seed=st.integers(0, 2**16),
)  # fmt: skip
def test_what_rules_prove_no_chord_denies(outer, inner, shift, sign, seed):
    """Any composition: proved convex (or concave), chords of f (or -f) lie above the graph."""
    f = getattr(p, outer)()(sign * getattr(p, inner)() + shift)
    kind = f.curvature
    if kind == "unknown":
        return
    signed = {"convex": f, "affine": f, "concave": -f}[kind]

    def value(x):
        found = signed.value(x)
        return np.inf if np.isnan(found) else found

    found = convexity(value, ([-2.0] * 2, [2.0] * 2), n_samples=60, tol=1e-9, random_state=seed)
    assert found.verdict == "no violation found", (f.reason(), found.message)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    low=st.floats(-10, -1e-3),
    scale=st.sampled_from([1e-120, 1e-3, 1.0, 1e3, 1e120]),
)
def test_never_calls_an_indefinite_quadratic_convex(seed, low, scale):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    A = scale * (Q * [low, 1.0, 5.0]) @ Q.T
    f = QuadraticFunction(A, scale * rng.normal(size=3), scale)
    exact = convexity(f)
    assert exact.verdict == "not convex"
    _violates(f.value, exact.witness)
    inside = convexity(f, ([-1.0] * 3, [1.0] * 3), random_state=0)
    assert np.all(np.abs(inside.witness.x) <= 1 + 1e-12)
    _violates(f.value, inside.witness)
    sampled = convexity(
        f.value, ([-1.0] * 3, [1.0] * 3), gradient=f.gradient, n_samples=100, random_state=seed
    )
    assert sampled.verdict == "not convex"
    _violates(f.value, sampled.witness)


def _violates(f, w):
    """The witness by the definition, from its own numbers."""
    np.testing.assert_array_equal(w.between, w.share * w.x + (1 - w.share) * w.y)
    chord = w.share * f(w.x) + (1 - w.share) * f(w.y)
    assert 0 < w.share < 1
    assert f(w.between) - chord == pytest.approx(w.violation, rel=1e-9)
    assert w.violation > w.rounding > 0


# ---- the function convexity ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "region"),
    [
        (lambda x: np.sin(x[0]), (0.0, 3.0)),
        (lambda x: x[0] * x[1], ([-1, -1], [1, 1])),
        (lambda x: -abs(x[0]), (-1.0, 1.0)),
        (lambda x: float(np.sqrt(np.abs(x)).sum()), ([-1] * 4, [1] * 4)),
        (lambda x: x[0] ** 2 - 0.01 * np.cos(20 * x[0]), (-1.0, 1.0)),
        (lambda x: 1e7 - x[0] ** 2, (-1.0, 1.0)),
        (lambda x: -((x[0] - 1e7) ** 2), (1e7 - 1, 1e7 + 1)),
        (lambda x: float(x[0] > 0), (-1.0, 1.0)),
    ],
)
def test_finds_a_witness(f, region):
    found = convexity(f, region, random_state=1)
    assert found.verdict == "not convex"
    assert found.convex is False
    w = found.witness
    chord = w.share * f(w.x) + (1 - w.share) * f(w.y)
    assert f(w.share * w.x + (1 - w.share) * w.y) > chord + w.rounding
    assert "not convex" in str(found)
    assert found.to_frame()["violations"].max() > 0


@pytest.mark.parametrize(
    ("f", "region"),
    [
        (lambda x: abs(x[0]), (-1.0, 1.0)),
        (lambda _: 3.0, (-1.0, 1.0)),
        (lambda x: 2 * x[0] - 5 * x[1], ([-1e7, -1e7], [1e7, 1e7])),
        (lambda x: 1e7 + x[0] ** 2, (-1.0, 1.0)),
        (lambda x: (x[0] - 1e7) ** 2, (1e7 - 1, 1e7 + 1)),
        (lambda x: -np.log(x[0]) if x[0] > 0 else np.inf, (-1.0, 1.0)),
        (lambda x: float(np.max(x)), ([-1] * 5, [1] * 5)),
        (lambda x: 1e-150 * x[0] ** 2, (-1.0, 1.0)),
        (lambda x: 1e150 * np.exp(x[0]), (-1.0, 1.0)),
        (lambda x: float(x @ x), lambda rng, n: rng.normal(size=(n, 2))),
        (lambda x: float(x @ x), np.random.default_rng(0).normal(size=(50, 3))),
    ],
)
def test_convex_functions_have_no_witness(f, region):
    found = convexity(f, region, random_state=1)
    assert found.verdict == "no violation found"
    assert found.convex is None
    assert found.witness is None
    assert "can refute convexity, not prove it" in found.message


def test_first_and_second_order_find_what_they_should():
    f, g = (lambda x: x[0] ** 4 - x[0] ** 2), (lambda x: np.array([4 * x[0] ** 3 - 2 * x[0]]))
    found = convexity(f, (-1.0, 1.0), gradient=g, hessian=lambda x: [[12 * x[0] ** 2 - 2]],
                      random_state=0)  # fmt: skip
    assert [check.name for check in found.checks] == ["chords", "tangents", "second derivatives"]
    assert all(check.violations for check in found.checks)
    assert found.checks[2].worst == pytest.approx(-2, abs=0.05)
    # The largest chord below the graph joins the two minima, +-1/sqrt 2: f rises by 1/4.
    assert found.witness.violation == pytest.approx(0.25, abs=0.02)


def test_convex_on_a_part_of_the_line_only():
    cube = p.cube()
    assert convexity(cube, (0.0, 2.0), random_state=0).verdict == "no violation found"
    assert convexity(cube, (-2.0, 2.0), random_state=0).verdict == "not convex"


def test_a_wrong_gradient_does_not_speak_against_f():
    found = convexity(lambda x: float(x @ x), ([-1, -1], [1, 1]), gradient=lambda x: -x,
                      random_state=0)  # fmt: skip
    assert found.verdict == "no violation found"
    assert "check_gradient" in found.message


def test_a_singular_matrix_is_convex():
    """A Gram matrix has eigenvalues that are zero to rounding, of either sign."""
    X = np.random.default_rng(0).normal(size=(3, 6))
    found = convexity(QuadraticFunction(X.T @ X))
    assert found.verdict == "convex"
    assert "zero to rounding" in found.message
    assert convexity(QuadraticFunction(np.zeros((2, 2)), [1.0, 2.0])).verdict == "convex"
    assert QuadraticFunction(-np.eye(2)).curvature == "concave"


def test_same_answer_from_the_same_seed():
    one, two = (convexity(lambda x: np.sin(x[0]), (0.0, 6.0), random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.witness.x, two.witness.x)
    assert one.witness.share == two.witness.share
    again = pickle.loads(pickle.dumps(one.witness))
    assert again.violation == one.witness.violation


def test_bad_input_of_convexity():
    with pytest.raises(InputError, match=r"f is not a number at x = \[-"):
        convexity(lambda x: np.nan if x[0] < 0 else 0.0, (-1.0, 1.0), random_state=0)
    with pytest.raises(ParameterError, match="region is needed"):
        convexity(lambda _: 0.0)
    with pytest.raises(ParameterError, match="region is needed"):
        convexity(p.sine())
    with pytest.raises(InputError, match="finite lower corner below"):
        convexity(lambda _: 0.0, (1.0, 0.0))
    with pytest.raises(InputError, match="points of 3 numbers; f takes 2"):
        convexity(p.sine().of(np.eye(2)), ([0, 0, 0], [1, 1, 1]))
    with pytest.raises(ParameterError, match="n_samples=0"):
        convexity(lambda _: 0.0, (0.0, 1.0), n_samples=0)
    with pytest.raises(InputError, match="one number"):
        convexity(lambda _: np.zeros(2), (0.0, 1.0))
    with pytest.raises(ParameterError, match="No rule covers the product"):
        p.square() * p.square()
    with pytest.raises(ParameterError, match="only functions of one number"):
        p.norm()(p.square())
    with pytest.raises(InputError, match="2 and 3 numbers"):
        p.affine([1, 2]) + p.affine([1, 2, 3])
    with pytest.raises(InputError, match="a vector of 2 numbers"):
        p.affine([1, 2])([1.0])
    with pytest.raises(InputError, match="missing or infinite"):
        p.affine([1, np.nan])
    with pytest.raises(InputError, match="square matrix"):
        QuadraticFunction([[1, 2, 3]])
    with pytest.raises(ParameterError, match="order=3"):
        p.norm(3)


# ---- sets ----------------------------------------------------------------------------------------


def test_disc_yes_and_ring_no():
    box = ([-1.0, -1.0], [1.0, 1.0])
    disc = convex_set(lambda x: np.hypot(*x) <= 1, box, random_state=0)
    assert disc.verdict == "no violation found"
    ring = convex_set(lambda x: 0.5 <= np.hypot(*x) <= 1, box, random_state=0)
    assert ring.verdict == "not convex"
    assert 0.5 <= np.hypot(*ring.x) <= 1
    assert 0.5 <= np.hypot(*ring.y) <= 1
    assert not 0.5 <= np.hypot(*ring.between) <= 1
    np.testing.assert_array_equal(ring.between, ring.share * ring.x + (1 - ring.share) * ring.y)
    assert ring.to_frame()["point"].tolist() == ["x", "y", "between"]


def test_sets_of_pieces():
    half_disc = [p.norm() - 1, p.affine([1.0, 0.0])]
    assert convex_set(half_disc).verdict == "convex"
    outside = convex_set(1 - p.norm(), ([-2.0, -2.0], [2.0, 2.0]), random_state=0)
    assert outside.verdict == "not convex"
    assert np.hypot(*outside.between) < 1


def test_bad_input_of_sets():
    with pytest.raises(InputError, match="Only 0 of"):
        convex_set(lambda _: False, (-1.0, 1.0), random_state=0)
    with pytest.raises(ParameterError, match="contains=3"):
        convex_set(3, (-1.0, 1.0))


# ---- hulls ---------------------------------------------------------------------------------------


def test_a_square_has_four_vertices():
    points = [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.5, 0], [0, 0], [1, 1]]
    hull = convex_hull(points)
    assert hull.indices.tolist() == [0, 1, 2, 3]
    assert hull.dimension == 2
    assert hull.volume == pytest.approx(1)
    assert hull.contains([0.5, 1.0])
    assert not hull.contains([0.5, 1.001])


def test_points_in_a_flat():
    line = convex_hull([[0.0, 0.0], [3.0, 4.0], [1.5, 2.0], [0.3, 0.4]])
    assert (line.dimension, line.indices.tolist()) == (1, [0, 1])
    assert line.volume == pytest.approx(5)
    assert convex_hull([2.0, 5.0, 3.0, 5.0, 2.0]).indices.tolist() == [0, 1]
    one = convex_hull([[1.0, 2.0], [1.0, 2.0]])
    assert (one.dimension, one.indices.tolist(), one.volume) == (0, [0], 0.0)
    assert one.contains([1.0, 2.0])
    plane = np.array([[0, 0, 1], [2, 0, 1], [2, 2, 1], [0, 2, 1], [1, 1, 1.0]])
    flat = convex_hull(plane)
    assert (flat.dimension, sorted(flat.indices.tolist())) == (2, [0, 1, 2, 3])
    assert flat.volume == pytest.approx(4)
    tilted = convex_hull(plane @ np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0])
    assert (tilted.dimension, sorted(tilted.indices.tolist())) == (2, [0, 1, 2, 3])
    assert tilted.volume == pytest.approx(4)


def test_a_cube_in_a_grid():
    grid = np.array(np.meshgrid([0, 1, 2], [0, 1, 2], [0, 1, 2])).reshape(3, -1).T
    hull = convex_hull(grid)
    assert len(hull.indices) == 8
    assert set(np.unique(hull.vertices)) == {0.0, 2.0}


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**16), d=st.integers(1, 4), factor=st.sampled_from([1e-150, 1.0, 1e150])
)
def test_a_hull_and_its_properties(seed, d, factor):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, d))
    hull = convex_hull(X)
    # Every point is inside; no vertex is in the hull of the others.
    assert np.all(hull.contains(X))
    for i in hull.indices:
        rest = np.delete(X, i, axis=0)
        assert not convex_hull(rest).contains(X[i], tol=1e-12)
    # Units and the order of the rows do not matter.
    units = factor * np.array([1.0, 7.0, 0.01, 3.0])[:d]
    scaled = convex_hull(X * units)
    assert sorted(scaled.indices) == sorted(hull.indices)
    order = rng.permutation(15)
    assert sorted(order[convex_hull(X[order]).indices]) == sorted(hull.indices)
    # The largest value of a convex function over the points is that over the vertices.
    f = p.square().of(rng.normal(size=(2, d)), rng.normal(size=2)) + p.absolute()
    assert hull.maximize(f).value == max(f(x) for x in X)


def test_the_maximum_and_its_ties():
    square = polytope([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, 1, 1])
    assert len(square.indices) == 4
    found = square.maximize(p.square())
    assert found.value == pytest.approx(2)
    assert len(found.ties) == 4
    with pytest.warns(DataWarning, match="may not be at a vertex"):
        square.maximize(-p.square())
    segment = polytope([[2.0], [-1.0]], [4.0, 1.0])
    assert sorted(segment.vertices.ravel()) == [-1.0, 2.0]


def test_polytopes_that_are_none():
    with pytest.raises(InputError, match="No x satisfies"):
        polytope([[1.0], [-1.0]], [0.0, -1.0])
    with pytest.raises(InputError, match="unbounded in coordinate 0"):
        polytope([[1.0, 0], [0, 1], [0, -1]], [1, 1, 1])
    with pytest.raises(InputError, match="no interior"):
        polytope([[1.0, 0], [-1, 0], [0, 1], [0, -1]], [1, -1, 1, 1])
    with pytest.raises(InputError, match="missing or infinite"):
        convex_hull([[0.0, np.inf], [1.0, 1.0]])
    with pytest.raises(InputError, match="at least one point"):
        convex_hull(np.zeros((0, 2)))


# ---- constants -----------------------------------------------------------------------------------


def test_constants_of_a_quadratic_are_its_eigenvalues():
    A = np.diag([1.0, 4.0, 9.0])
    found = curvature_bounds(QuadraticFunction(A))
    assert found.exact
    assert found.strong_convexity == (1.0, 1.0)
    assert found.smoothness == (9.0, 9.0)
    assert found.condition == (9.0, 9.0)


def test_constants_lie_between_their_bounds():
    """The logistic loss bends by p (1 - p): 1/4 at zero, 0.196612 at one; ridge adds 0.2."""
    f = p.logistic() + 0.1 * p.square()
    found = curvature_bounds(f, (-1.0, 1.0), random_state=0)
    assert found.strong_convexity[0] == pytest.approx(0.2)
    assert found.strong_convexity[0] <= 0.396612 <= found.strong_convexity[1] < 0.41
    assert 0.44 < found.smoothness[0] <= 0.45 + 1e-12
    assert found.smoothness[1] == pytest.approx(0.45)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_samples_never_contradict_the_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(3, 3))
    f = QuadraticFunction(B @ B.T)
    found = curvature_bounds(f.value, ([-1] * 3, [1] * 3), gradient=f.gradient, n_samples=50,
                             random_state=seed)  # fmt: skip
    slack = 1e-9 * f.bends[1]
    assert found.strong_convexity[1] >= f.bends[0] - slack
    assert found.smoothness[0] <= f.bends[1] + slack
    assert not found.exact


def test_the_definition_of_strong_convexity_holds_with_the_constant():
    """l(w) - l(u) <= grad l(w).(w - u) - sigma/2 ||u - w||^2, with sigma the least eigenvalue."""
    f = QuadraticFunction([[3.0, 1.0], [1.0, 2.0]], [1.0, -1.0])
    sigma = curvature_bounds(f).strong_convexity[0]
    rng = np.random.default_rng(0)
    for w, u in rng.normal(size=(50, 2, 2)):
        gap = f.gradient(w) @ (w - u) - sigma / 2 * (u - w) @ (u - w) - (f(w) - f(u))
        assert gap >= -1e-12


# ---- charts --------------------------------------------------------------------------------------


def test_charts_draw_what_was_found():
    found = convexity(lambda x: np.sin(x[0]), (0.0, 3.0), random_state=0)
    chart = found.plot().to_dict()
    assert chart["title"]["text"] == "Not convex: a chord below the graph"
    (gap,) = chart["layer"][2]["data"]["values"]
    assert gap["y"] == pytest.approx(found.witness.value, rel=1e-6)
    assert gap["chord"] == pytest.approx(found.witness.chord, rel=1e-6)
    convex = convexity(lambda x: float(x @ x), ([-1] * 3, [1] * 3), random_state=0)
    assert convex.plot().to_dict()["title"]["text"] == "No chord below the graph was found"
    with pytest.raises(InputError, match="no chord to draw"):
        convexity(p.square()).plot()
    hull = convex_hull([[0, 0], [1, 0], [0, 1], [0.2, 0.2]])
    assert hull.plot().to_dict()["title"]["text"] == "Convex hull: 3 of 4 points are vertices"
    with pytest.raises(InputError, match="in the plane"):
        convex_hull(np.eye(3)).plot()
    ring = convex_set(lambda x: 0.5 <= np.hypot(*x) <= 1, ([-1, -1], [1, 1]), random_state=0)
    assert ring.plot().to_dict()["title"]["text"] == "A set that is not convex"
