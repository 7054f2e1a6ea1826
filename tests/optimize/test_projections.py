import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bottega.core.errors import InputError, ParameterError
from bottega.optimize import (
    onto_affine,
    onto_ball,
    onto_box,
    onto_half_space,
    onto_l1_ball,
    onto_orthant,
    onto_polyhedron,
    onto_simplex,
)

VECTORS = arrays(np.float64, st.integers(1, 8), elements=st.floats(-100, 100, width=32))
RADII = st.floats(0.01, 50)
SEEDS = st.integers(0, 10_000)


def corners(kind, d, radius):
    """Points whose mixtures are the set (for the box: enough to test each entry by itself)."""
    unit = radius * np.eye(d)
    return unit if kind is onto_simplex else np.vstack([unit, -unit])


@settings(max_examples=100, deadline=None)
@given(VECTORS, RADII, st.sampled_from([onto_simplex, onto_l1_ball]))
def test_simplex_and_l1_ball_by_the_optimality_condition(w, radius, kind):
    p = kind(w, radius)
    if kind is onto_simplex:
        assert np.all(p >= 0)
        assert p.sum() == pytest.approx(radius, rel=1e-9, abs=1e-9)
    else:
        assert np.abs(p).sum() <= radius * (1 + 1e-9)
    # p is nearest if and only if no point v of the set has (w - p).(v - p) > 0; corners suffice.
    scale = (1 + np.abs(w).sum()) * (1 + radius)
    assert np.all((corners(kind, len(w), radius) - p) @ (w - p) <= 1e-10 * scale)
    assert kind(p, radius) == pytest.approx(p, rel=1e-9, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(VECTORS, RADII)
def test_ball_and_box_by_their_formulas(w, radius):
    ball = onto_ball(w, radius)
    norm = np.linalg.norm(w)
    assert ball == pytest.approx(w if norm <= radius else w * radius / norm)
    assert np.array_equal(onto_box(w, radius), np.clip(w, -radius, radius))


def sets(d, rng):
    """Every projection with a rule that draws points of its set."""
    radius, center = rng.uniform(0.1, 3), rng.normal(size=d)
    low, a, b = rng.normal(size=d), rng.normal(size=d), rng.normal()
    high = low + rng.exponential(size=d)
    A = rng.normal(size=(max(d - 1, 1), d))
    A = np.vstack([A, A[0]])  # a row twice: the equations depend on one another
    base = rng.normal(size=d)
    null = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :]

    def in_ball():
        step = rng.normal(size=d)
        return center + step * (radius * rng.uniform() / np.linalg.norm(step))

    def in_half_space():
        v = rng.normal(size=d) * 3
        return v - a * (max(a @ v - b, 0) + rng.exponential()) / (a @ a)

    def in_polyhedron():
        v = rng.normal(size=d) * 3
        return base + (v - base) / max(1, *(A @ (v - base)))

    return {
        "ball": (lambda w: onto_ball(w, radius, center=center), in_ball),
        "box": (lambda w: onto_box(w, low=low, high=high), lambda: rng.uniform(low, high)),
        "orthant": (onto_orthant, lambda: rng.exponential(size=d)),
        "simplex": (
            lambda w: onto_simplex(w, radius),
            lambda: radius * rng.dirichlet(np.full(d, 0.5)),
        ),
        "l1 ball": (
            lambda w: onto_l1_ball(w, radius),
            lambda: radius * rng.dirichlet(np.full(d, 0.5)) * rng.choice([-1, 1], size=d),
        ),
        "half-space": (lambda w: onto_half_space(w, a, b), in_half_space),
        "affine set": (
            lambda w: onto_affine(w, A, A @ base),
            lambda: base + null.T @ rng.normal(size=len(null)),
        ),
        "polyhedron": (lambda w: onto_polyhedron(w, A, A @ base + 1), in_polyhedron),
    }


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 5))
def test_every_projection_is_nearest_idempotent_and_does_not_expand(seed, d):
    rng = np.random.default_rng(seed)
    for name, (project, draw) in sets(d, rng).items():
        w, u = 5 * rng.normal(size=d), 5 * rng.normal(size=d)
        p, q = project(w), project(u)
        size = 1 + w @ w + p @ p
        for _ in range(10):
            v = draw()
            assert (w - p) @ (v - p) <= 1e-9 * (size + v @ v), name
            # A point of the set stays where it is: the rule draws from the set, and no less.
            assert project(v) == pytest.approx(v, abs=1e-8), name
        assert project(p) == pytest.approx(p, abs=1e-8), name
        assert np.linalg.norm(p - q) <= np.linalg.norm(w - u) + 1e-8, name


def by_sorting(w, radius):
    """The textbook's way: Held, Wolfe and Crowder (1974); measured from the top, for the digits."""
    w = w - w.max()
    descending = np.sort(w)[::-1]
    sums = (np.cumsum(descending) - radius) / np.arange(1, len(w) + 1)
    theta = sums[np.flatnonzero(descending > sums)[-1]]
    return np.maximum(w - theta, 0)


@pytest.mark.parametrize("radius", [1e-3, 1.0, 300.0])
@pytest.mark.parametrize("kind", ["normal", "ties", "geometric", "arithmetic", "equal", "one"])
def test_the_simplex_without_a_sort_equals_the_one_with(kind, radius):
    n = 20_000
    rng = np.random.default_rng(0)
    w = {
        "normal": rng.normal(size=n),
        "ties": rng.integers(0, 5, size=n) / 4,
        "geometric": -(2.0 ** -rng.uniform(0, 40, size=n)),  # hard for filters by the mean
        "arithmetic": np.linspace(-1, 0, n),
        "equal": np.full(n, 0.3),
        "one": np.append(np.zeros(n), 10.0),
    }[kind]
    found = onto_simplex(w, radius)
    # Sums of 20,000 terms in another order: 1e-12 is some hundred roundings of the radius.
    assert found == pytest.approx(by_sorting(w, radius), abs=1e-11 * radius)
    assert found.sum() == pytest.approx(radius, rel=1e-11)
    shuffled = rng.permutation(len(w))
    assert onto_simplex(w[shuffled], radius) == pytest.approx(found[shuffled], abs=1e-12 * radius)
    turned = w * rng.choice([-1, 1], size=len(w))
    ball = onto_l1_ball(turned, radius)
    if np.abs(w).sum() > radius:
        assert np.abs(ball) == pytest.approx(by_sorting(np.abs(w), radius), abs=1e-11 * radius)
        assert np.all(ball * turned >= 0)
    else:
        assert np.array_equal(ball, turned)


def test_an_offset_common_to_all_does_not_move_the_simplex():
    w = np.array([0.5, 1.0, -2.0, 0.75])
    # 2^30: the sums are exact, so nothing but the rule may change the answer.
    assert np.array_equal(onto_simplex(w + 2.0**30), onto_simplex(w))


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e300])
def test_extremes(scale):
    w = np.array([3.0, -4.0, 0.5])
    assert onto_ball(scale * w, 2.5 * scale) == pytest.approx(scale * onto_ball(w, 2.5))
    assert onto_simplex(scale * w, scale) == pytest.approx(scale * onto_simplex(w))
    assert onto_l1_ball(scale * w, scale) == pytest.approx(scale * onto_l1_ball(w))
    a = np.array([1.0, -2.0, 0.5])
    expected = scale * onto_half_space(w, a, 1.0)
    assert onto_half_space(scale * w, a, scale) == pytest.approx(expected)
    assert onto_half_space(w, a / scale, 1 / scale) == pytest.approx(onto_half_space(w, a, 1.0))
    assert onto_affine(scale * w, [a], [scale]) == pytest.approx(scale * onto_affine(w, [a], [1.0]))
    assert onto_ball([1e300, 1e300], 1.0) == pytest.approx([0.5**0.5] * 2)


def test_the_box_of_the_notes():
    # M707: l = 0, u = infinity.
    assert onto_box([-5.0, 10.0], low=0, high=np.inf).tolist() == [0, 10]
    assert onto_orthant([-5.0, 10.0]).tolist() == [0, 10]
    assert onto_box([5.0, -5.0], low=[0, -1], high=[2, 1]).tolist() == [2, -1]


def test_points_inside_stay():
    w = np.array([0.2, -0.3])
    for kind in (onto_ball, onto_box, onto_l1_ball):
        assert np.array_equal(kind(w), w)
    assert onto_simplex([0.25, 0.75]) == pytest.approx([0.25, 0.75])
    assert onto_simplex([0.0, 0.0, 0.0, 0.0], 2.0) == pytest.approx([0.5] * 4)


def test_what_is_given_is_not_changed():
    for kind in (onto_ball, onto_box, onto_l1_ball, onto_simplex, onto_orthant):
        w = np.array([3.0, -4.0])
        kind(w)
        assert w.tolist() == [3, -4]


@pytest.mark.parametrize("kind", [onto_ball, onto_box, onto_simplex, onto_l1_ball])
def test_bad_input(kind):
    for radius in (0, -1, np.inf, np.nan):
        with pytest.raises(ParameterError, match="radius="):
            kind([1.0], radius)
    with pytest.raises(InputError, match="shape"):
        kind([[1.0]])
    with pytest.raises(InputError, match="shape"):
        kind([])
    with pytest.raises(InputError, match="missing or infinite"):
        kind([np.nan])


def test_sets_that_are_none():
    with pytest.raises(ParameterError, match=r"low is above high in entry 1 \(3 > 2\)"):
        onto_box([0.0, 0.0], low=[0, 3], high=2)
    with pytest.raises(InputError, match="low has shape"):
        onto_box([0.0, 0.0], low=[0, 0, 0])
    with pytest.raises(InputError, match="high has entries that are missing"):
        onto_box([0.0], high=np.nan)
    with pytest.raises(InputError, match="a is zero"):
        onto_half_space([1.0], [0.0])
    with pytest.raises(InputError, match="a has 2 entries"):
        onto_half_space([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="center has 1 entries"):
        onto_ball([1.0, 1.0], center=[0.0])
    with pytest.raises(InputError, match="No v fulfils A v = b: equation"):
        onto_affine([0.0, 0.0], [[1, 1], [1, 1]], [0, 1])
    with pytest.raises(InputError, match="A has shape"):
        onto_affine([0.0, 0.0], [1, 1], [0])
    with pytest.raises(InputError, match="b has shape"):
        onto_affine([0.0, 0.0], [[1, 1]], [0, 1])
    with pytest.raises(InputError, match="row 1 of A alone"):
        onto_polyhedron([0.0], [[1], [0]], [1, -1])
    for size in (1.0, 1e300, 1e-300):  # of the rows, or of the right sides
        with pytest.raises(InputError, match="No v fulfils A v <= b: rows 0, 1 of A contradict"):
            onto_polyhedron([0.0], [[size], [-size]], [-size, 0])
        with pytest.raises(InputError, match="No v fulfils A v <= b: rows 1, 2 of A contradict"):
            onto_polyhedron([size, 0.0], [[0, 1], [1, 0], [-1, 0]], [size, -size, -size])


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_a_polyhedron_of_any_size_has_a_nearest_point(size):
    A, b = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, 1.0, 1.5])
    found = onto_polyhedron([2 * size, 2 * size], A, b * size)
    assert found / size == pytest.approx([0.75, 0.75], rel=1e-9)
    assert onto_polyhedron([2.0, 2.0], A * size, b * size) == pytest.approx([0.75, 0.75], rel=1e-9)
    inside = np.array([0.1, 0.2]) * size
    assert onto_polyhedron(inside, A, b * size).tolist() == inside.tolist()


@pytest.mark.parametrize("radius", [1e-3, 1.0, 300.0, 1e5])
@pytest.mark.parametrize("kind", ["normal", "equal", "few", "sorted"])
def test_many_entries_are_those_of_the_sorted_way(kind, radius):
    """Above 4096 entries a sample gives the first bound: in no order may it drop what stays."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=10_000)
    if kind == "equal":
        w = np.full(10_000, 0.7)
    elif kind == "few":  # all that stay are in the sample, or none is
        w[::64] += 50 if radius > 1 else -50
    elif kind == "sorted":
        w.sort()
    for project, size in ((onto_simplex, w), (onto_l1_ball, np.abs(w))):
        found = np.abs(project(w, radius))
        if project is onto_l1_ball and size.sum() <= radius:
            assert np.array_equal(found, size)
            continue
        descending = np.sort(size)[::-1]
        sums = (np.cumsum(descending) - radius) / np.arange(1, len(w) + 1)
        theta = sums[np.flatnonzero(descending > sums)[-1]]
        # Sums of 10^4 numbers of size up to 50 are right to about 1e-10.
        np.testing.assert_allclose(found, np.maximum(size - theta, 0), atol=1e-9)
