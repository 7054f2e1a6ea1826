"""Learners of streams on rows in chunks: pass after pass, in their order or in another."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bottega import scale
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.passes import ShuffledPasses
from bottega.online import (
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
    OnlineRidge,
    Perceptron,
)

N = 120
rng = np.random.default_rng(1)
X = rng.normal(size=(N, 3))
Y = X @ [1.0, -0.5, 0.0] + 0.1 * rng.normal(size=N)
LABEL = np.array(["down", "up"])[(Y > 0).astype(int)]
WEIGHT = rng.integers(0, 3, N).astype(float)
MODELS = [
    OnlineGradientDescentRegressor(max_iter=3, average=True),
    OnlineGradientDescentClassifier(class_weight="balanced", projection="ball"),
    OnlineRidge(),
    Perceptron(max_iter=20),
    Perceptron(max_iter=4, tol=1e-3, penalty="l2", class_weight={"up": 2.0}),
]


def cut(ends, *arrays):
    return [tuple(each[a:b] for each in arrays) for a, b in pairwise(ends)]


def fitted(model, rows, y, weight):
    return type(model)(**model.get_params()).fit(rows, y, sample_weight=weight)


@pytest.mark.filterwarnings("ignore:The objective still improved")
@settings(max_examples=8, deadline=None)
@given(ends=st.lists(st.integers(0, N), max_size=5), sparsely=st.booleans())
def test_the_answer_is_that_of_all_rows_in_memory(ends, sparsely):
    ends = sorted({0, N, *ends})
    rows = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)) if sparsely else X
    for model in MODELS:
        y = Y if isinstance(model, OnlineGradientDescentRegressor | OnlineRidge) else LABEL
        weight = np.maximum(WEIGHT, 1.0)
        whole = fitted(model, rows, y, weight)
        chunked = type(model)(**model.get_params()).fit_chunks(cut(ends, rows, y, weight))
        np.testing.assert_allclose(chunked.coef_, whole.coef_, rtol=1e-12)
        np.testing.assert_allclose(chunked.intercept_, whole.intercept_, rtol=1e-12)
        assert chunked.n_samples_seen_ == whole.n_samples_seen_
        if isinstance(model, Perceptron):
            assert chunked.updates_by_epoch_.tolist() == whole.updates_by_epoch_.tolist()
            assert chunked.updated_rows_.tolist() == whole.updated_rows_.tolist()
            assert chunked.error_outside_ == pytest.approx(whole.error_outside_, abs=1e-12)
            assert chunked.converged_ == whole.converged_


def test_a_shuffled_pass_has_every_row_once_in_another_order():
    source = scale.source(X, Y, weight=WEIGHT, rows=10)  # rows of weight 0 do not count
    checked = CheckedChunks(source, 3, 1)
    passes = ShuffledPasses(checked)
    counted = np.flatnonzero(WEIGHT > 0)
    orders = []
    for seed in (0, 0, 1):
        numbers = []
        for number, rows, y, w in passes.drawn(np.random.default_rng(seed)):
            np.testing.assert_array_equal(rows, X[counted[number]])
            np.testing.assert_array_equal(y[:, 0], Y[counted[number]])
            np.testing.assert_array_equal(w, WEIGHT[counted[number]])
            numbers.append(number)
        orders.append(np.concatenate(numbers))
        assert sorted(orders[-1]) == list(range(len(counted)))
    np.testing.assert_array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])
    assert not np.all(np.diff(orders[0] // 10) >= 0)  # the parts change places, too


def test_shuffled_fits_follow_the_seed():
    chunks = cut([0, 40, 80, N], X, Y)
    found = [
        OnlineGradientDescentRegressor(shuffle=True, max_iter=2, random_state=seed)
        .fit_chunks(chunks)
        .coef_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.allclose(found[0], found[2], rtol=1e-6)


def test_what_needs_all_rows_is_refused():
    chunks = cut([0, 40, N], X, LABEL)
    for name in ("trace", "early_stopping"):
        with pytest.raises(InputError, match=f"{name}=True needs all rows in memory"):
            Perceptron(
                **{name: True, "tol": 1e-3 if name == "early_stopping" else None}
            ).fit_chunks(chunks)
    with pytest.raises(InputError, match="no rows to fit"):
        OnlineRidge().fit_chunks([(X[:0], Y[:0])])
    with pytest.raises(InputError, match="a generator can only be iterated over once"):
        OnlineRidge().fit_chunks((X, Y) for _ in range(1))


@pytest.mark.parametrize("model", [Perceptron(), OnlineGradientDescentClassifier()])
def test_labels_that_are_missing_or_count_for_nothing_are_named(model):
    with pytest.raises(InputError, match="no rows to fit"):
        model.fit_chunks(cut([0, 50, N], X, LABEL, np.zeros(N)))
    gap = LABEL.astype(object)
    gap[60] = None
    with pytest.raises(InputError, match="Chunk 2 cannot be used: y has 1 missing label"):
        model.fit_chunks(cut([0, 50, N], X, gap))
