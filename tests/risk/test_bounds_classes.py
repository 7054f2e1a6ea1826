"""Bounds for classes of predictors: ERM, SRM, the tree code; numbers of the notes, coverage.

The simulations draw many training sets from a known source and count those on which a claim
fails. A claim that is right fails with probability delta at most, so the count exceeds
`most_misses` with probability below 1e-6.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core.errors import InputError, ParameterError
from bottega.risk import (
    code_length,
    erm_boolean_trees,
    erm_finite,
    erm_trees,
    srm,
    srm_code,
    srm_tree,
)
from bottega.tree import tree_code


def most_misses(repetitions, delta):
    return stats.binom.isf(1e-6, repetitions, delta)


def test_numbers_of_the_notes():
    """A39, A41, A43, A46."""
    assert erm_finite(5, 32) == pytest.approx(1.6917, abs=5e-5)  # vacuous, and said so
    assert erm_finite(1000, 32) == pytest.approx(0.119621, abs=5e-7)
    assert erm_boolean_trees(10_000, 10) == pytest.approx(0.377749, abs=5e-7)
    assert erm_trees(10_000, 7, 10) == pytest.approx(0.079573, abs=5e-7)
    assert srm_tree(10_000, 7, 10, form="printed") == pytest.approx(0.045105, abs=5e-7)
    assert srm_tree(10_000, 7, 10) == pytest.approx(0.038298, abs=5e-7)


def test_all_boolean_functions_are_a_finite_class():
    for d in (1, 3, 5, 9):
        assert erm_boolean_trees(777, d, 0.01) == pytest.approx(erm_finite(777, 2 ** (2**d), 0.01))
    # #H_N <= (2de)^N, rounded to a whole number of many digits.
    size = round((2 * 10 * math.e) ** 7)
    assert erm_trees(100, 7, 10) == pytest.approx(erm_finite(100, size), rel=1e-9)
    assert erm_boolean_trees(100, 2000) == math.inf


def test_equal_weights_give_back_the_union_over_a_finite_class():
    """Twice the SRM margin at w = 1/#H is the ERM excess: A38 and A44 meet."""
    assert 2 * srm(500, 1 / 32, 0.1) == pytest.approx(erm_finite(500, 32, 0.1))
    assert srm(500, 0.0) == math.inf
    weights = 2.0 ** -np.arange(1, 9)
    np.testing.assert_allclose(srm(500, weights), srm_code(500, np.arange(1, 9)))


def test_arrays_broadcast():
    m = np.array([10, 100, 1000])
    assert erm_finite(m, [[2], [8]]).shape == (2, 3)
    np.testing.assert_allclose(erm_trees(m, 3, 5)[1], erm_trees(100, 3, 5))
    lengths = srm_tree(m, [[1], [7]], 10)
    assert lengths.shape == (2, 3)
    assert lengths[1, 2] == srm_tree(1000, 7, 10)
    # Tests of numbers are counted by all their thresholds, beyond 64 bits.
    assert srm_tree(1000, 7, 2**70) > srm_tree(1000, 7, 10)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 99), st.integers(1, 50), st.floats(1e-6, 0.9))
def test_more_rows_and_smaller_trees_are_better(m, n_nodes, d, delta):
    here = srm_tree(m, n_nodes, d, delta)
    assert srm_tree(m + 1, n_nodes, d, delta) < here < srm_tree(m, n_nodes + 2, d, delta)
    assert here < srm_tree(m, n_nodes, d, delta, form="printed")
    assert erm_trees(m + 1, n_nodes, d, delta) < erm_trees(m, n_nodes, d, delta)


def test_lengths_of_the_notes_and_one_code_for_trees_and_bounds():
    sizes = [(1, 1), (1, 5), (3, 1), (3, 5), (5, 5), (7, 10), (15, 13), (31, 20)]
    assert [code_length(*size) for size in sizes] == [5, 7, 11, 15, 23, 37, 71, 169]
    assert tree_code.code_length is code_length
    for n_nodes, d in sizes:
        width = math.ceil(math.log2(d + 3))
        assert code_length(n_nodes, d) == (n_nodes + 1) * width + 2 * int(math.log2(n_nodes)) + 1


@pytest.mark.parametrize(
    ("d", "total"), [(1, 0.064619), (2, 0.015878), (5, 0.016305), (10, 0.003986)]
)
def test_kraft_sums_of_the_notes(d, total):
    """Full binary trees with k tests: Catalan(k) shapes, d^k tests, 2^(k+1) labels."""
    terms = [
        math.exp(
            math.log(math.comb(2 * k, k) // (k + 1))
            + k * math.log(d)
            + (k + 1) * math.log(2)
            - code_length(2 * k + 1, d) * math.log(2)
        )
        for k in range(400)
    ]
    assert math.fsum(terms) == pytest.approx(total, abs=1e-6)
    # The terms fall at least like (8d/(d+3)^2)^k times a constant: the rest is far below 1e-6.
    assert terms[-1] < 1e-8


def boolean_class(d):
    """Return the inputs {0,1}^d and the labels of all functions on them, one row a function."""
    inputs = np.array(list(itertools.product((0, 1), repeat=d)))
    return inputs, np.array(list(itertools.product((0, 1), repeat=2**d)))


def training_errors(rng, functions, eta, m, repetitions):
    """Return risks of the functions, and their errors on many training sets of m uniform rows."""
    points = functions.shape[1]
    cells = np.concatenate([eta, 1 - eta]) / points
    counts = rng.multinomial(m, cells, size=repetitions)
    ones, zeros = counts[:, :points], counts[:, points:]
    wrong = ones @ (1 - functions).T + zeros @ functions.T
    risks = ((1 - functions) * eta + functions * (1 - eta)).mean(axis=1)
    return risks, wrong / m


@pytest.mark.parametrize("m", [20, 400])
def test_erm_bounds_cover(m):
    """Worst minimiser of the training error, every function of three columns; small trees too."""
    rng = np.random.default_rng(1)
    repetitions, delta = 3000, 0.1
    inputs, functions = boolean_class(3)
    eta = rng.uniform(0.3, 0.7, size=8)
    risks, errors = training_errors(rng, functions, eta, m, repetitions)
    constant = functions.min(axis=1) == functions.max(axis=1)
    stump = np.array(
        [any((f == x).all() or (f == 1 - x).all() for x in inputs.T) for f in functions]
    )
    for members, excess in (
        (np.ones(len(functions), bool), erm_boolean_trees(m, 3, delta)),
        (np.ones(len(functions), bool), erm_finite(m, 256, delta)),
        (stump | constant, erm_trees(m, 3, 3, delta)),
        (stump | constant, erm_finite(m, 8, delta)),
    ):
        least = errors[:, members].min(axis=1, keepdims=True)
        worst = np.where(errors[:, members] == least, risks[members], 0.0).max(axis=1)
        misses = np.sum(worst > risks[members].min() + excess)
        assert misses <= most_misses(repetitions, delta)
    # A40: eight functions need three nodes or fewer.
    assert (stump | constant).sum() == 8


def test_the_inequality_behind_erm_holds_on_every_training_set():
    """A38 needs no probability."""
    rng = np.random.default_rng(4)
    _, functions = boolean_class(2)
    risks, errors = training_errors(rng, functions, rng.uniform(size=4), 30, 2000)
    chosen = risks[errors.argmin(axis=1)]
    assert np.all(chosen - risks.min() <= 2 * np.abs(errors - risks).max(axis=1) + 1e-12)


@pytest.mark.parametrize("m", [10, 300])
def test_srm_covers_all_predictors_at_once(m):
    rng = np.random.default_rng(8)
    repetitions, delta = 4000, 0.2
    _, functions = boolean_class(2)
    risks, errors = training_errors(rng, functions, np.array([0.5, 0.5, 0.1, 0.9]), m, repetitions)
    weights = rng.dirichlet(np.ones(16))
    bound = srm(m, weights, delta)
    assert np.sum((np.abs(errors - risks) > bound).any(axis=1)) <= most_misses(repetitions, delta)
    # A46: the weights of the shortest trees that compute the functions.
    nodes = np.array([_nodes_of(f) for f in functions])
    margin = srm_tree(m, nodes, 2, delta)
    assert np.sum((np.abs(errors - risks) > margin).any(axis=1)) <= most_misses(repetitions, delta)


def test_srm_is_not_loose_by_an_order():
    """One fair predictor with all the weight: exactly, the claim fails about one time in ten.

    delta = 1/2 allows for five in ten; the rest is the price of a bound for every distribution.
    """
    wrong = np.arange(2001)
    missed = np.abs(wrong / 2000 - 0.5) > srm(2000, 1.0, 0.5)
    assert 0.09 < stats.binom.pmf(wrong, 2000, 0.5)[missed].sum() < 0.1


def _nodes_of(f):
    """Nodes of the smallest tree over two columns that computes f (A40: 1, 3, 5 or 7)."""
    f = f.reshape(2, 2)
    if f.min() == f.max():
        return 1
    if (f[0] == f[1]).all() or (f[:, 0] == f[:, 1]).all():
        return 3
    return 7 if f.sum() == 2 else 5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: erm_finite(0, 32), "m=0"),
        (lambda: erm_finite(10, 0), "at least 1"),
        (lambda: erm_finite(10, 2.5), "whole"),
        (lambda: erm_finite(10, 2, 1.0), "delta"),
        (lambda: erm_boolean_trees(10, 0), "d=0"),
        (lambda: erm_trees(10, 0, 3), "n_nodes"),
        (lambda: erm_trees(10, 3, math.nan), "d=nan"),
        (lambda: srm(10, [0.6, 0.6]), "sum to 1.2"),
        (lambda: srm(10, 1.5), "weights"),
        (lambda: srm(10, math.nan), "weights"),
        (lambda: srm(-1, 0.5), "m=-1"),
        (lambda: srm_code(10, -3), "length"),
        (lambda: srm_code(10, 3, form="long"), "exact"),
        (lambda: srm_code(10, 3, 0.0), "delta"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(ParameterError, match=words):
        call()


def test_a_tree_without_nodes_has_no_length():
    with pytest.raises(InputError, match="at least one node"):
        srm_tree(10, 0, 3)
