"""Half spaces with the fewest mistakes, against an exhaustive search with linear programs."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from bottega.core.errors import InputError
from bottega.risk import half_space_erm


def separable(signed):
    """Whether some w has z.w >= 1 for all rows z (B08)."""
    if not len(signed):
        return True
    d = signed.shape[1]
    done = linprog(np.zeros(d), A_ub=-signed, b_ub=-np.ones(len(signed)), bounds=[(None, None)] * d)
    return done.status == 0


def least_mistakes(X, y, intercept):
    """B05: the fewest rows to leave out so that the rest is separable."""
    rows = np.column_stack([X, np.ones(len(X))]) if intercept else np.asarray(X, dtype=float)
    signed = np.asarray(y)[:, None] * rows
    m = len(signed)
    return next(
        k
        for k in range(m + 1)
        if any(
            separable(np.delete(signed, out, axis=0))
            for out in map(list, combinations(range(m), k))
        )
    )


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([-1, 1, 1, 1], 0), ([-1, -1, -1, 1], 0), ([-1, 1, 1, -1], 1), ([1, -1, -1, 1], 1)],
)
def test_boolean_functions_of_two_bits(labels, expected):
    """OR and AND are half spaces; XOR and its opposite need one mistake."""
    corners = np.array(list(product([0, 1], repeat=2)))
    found = half_space_erm(corners, labels)
    assert found.mistakes == expected
    assert found.error == expected / 4
    assert np.count_nonzero(found.predict(corners) != labels) == expected


@given(
    st.integers(1, 3),
    st.integers(3, 8),
    st.booleans(),
    st.integers(0, 10**6),
    st.sampled_from(["bits", "grid", "normal"]),
)
@settings(max_examples=60, deadline=None)
def test_equals_the_exhaustive_search(d, m, intercept, seed, kind):
    """Bits and grids are full of ties: equal rows, rows on one line, rows of zeros."""
    rng = np.random.default_rng(seed)
    X = {
        "bits": lambda: rng.integers(0, 2, (m, d)),
        "grid": lambda: rng.integers(-2, 3, (m, d)),
        "normal": lambda: rng.normal(size=(m, d)),
    }[kind]().astype(float)
    y = rng.choice([-1, 1], size=m)
    y[:2] = [-1, 1]
    found = half_space_erm(X, y, intercept=intercept)
    assert found.mistakes == least_mistakes(X, y, intercept)
    score = X @ found.coef + found.intercept
    assert np.count_nonzero(y * score <= 0) == found.mistakes


def test_rows_of_zeros_leave_no_direction():
    found = half_space_erm(np.zeros((3, 1)), [-1, 1, 1], intercept=False)
    assert found.mistakes == 3
    assert found.coef.tolist() == [0.0]


def test_one_feature_is_a_threshold():
    """With one feature and an intercept: try every threshold in both directions."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    y = np.where(x + rng.normal(size=60) > 0, 1, -1)
    cuts = np.concatenate([[-9], (np.sort(x)[1:] + np.sort(x)[:-1]) / 2, [9]])
    wrong = [np.sum(np.where(x > c, 1, -1) != y) for c in cuts]
    expected = min([*wrong, *(60 - np.array(wrong))])
    assert half_space_erm(x[:, None], y).mistakes == expected


def test_labels_may_be_words():
    found = half_space_erm([[0.0], [1.0], [2.0]], ["no", "yes", "yes"])
    assert found.predict([[-1.0], [5.0]]).tolist() == ["no", "yes"]


def test_a_row_of_zeros_through_the_origin_is_a_mistake_of_all():
    found = half_space_erm([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], [1, 1, -1], intercept=False)
    assert found.mistakes == 1
    assert found.intercept == 0.0


def test_the_search_grows_as_a_power_of_the_rows():
    """B04: m over (d - 1) planes in general position, so too many rows are refused."""
    rng = np.random.default_rng(0)
    for m in (10, 20):
        X, y = rng.normal(size=(m, 2)), np.arange(m) % 2
        assert half_space_erm(X, y).planes == m * (m - 1) // 2
    with pytest.raises(InputError, match=r"161,700 planes, more than max_planes=1,000"):
        half_space_erm(rng.normal(size=(100, 3)), np.arange(100) % 2, max_planes=1000)


def test_one_class_is_refused():
    with pytest.raises(InputError, match="y has 1"):
        half_space_erm([[0.0], [1.0]], [1, 1])
