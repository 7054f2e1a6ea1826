"""AggregateProportions keeps scikit-learn's contract, but for what one answer per set cannot."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from bottega.core.errors import ParameterError
from bottega.text import AggregateProportions
from bottega.text._proportions import by_blocks, by_classifier
from bottega.workbench import trusted_types

METHODS = (*by_classifier.METHODS, *by_blocks.METHODS)
_ONE_ANSWER = "predict answers of all rows together, so it has no value per row"
_ONE_COPY = (
    "each row is answered by a model of other rows, and to leave out a row of weight two is not to "
    "leave out one of two copies of it"
)


def expected_failures(estimator):
    per_row = (
        *("check_methods_sample_order_invariance", "check_methods_subset_invariance"),
        *("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    )
    found = dict.fromkeys(per_row, _ONE_ANSWER)
    if estimator.method not in by_blocks.METHODS:
        weights = "check_sample_weight_equivalence_on_"
        found |= dict.fromkeys((f"{weights}dense_data", f"{weights}sparse_data"), _ONE_COPY)
    return found


@pytest.mark.slow
# The checks' tables are no stem matrices: classes are hardly told apart by them.
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [AggregateProportions(cv=2, estimator=GaussianNB()), AggregateProportions("inversion", cv=2)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def stems(n, share, seed, p=12):
    rng = np.random.default_rng(seed)
    D = np.where(rng.random(n) < share, "yes", "no")
    often = np.where(np.arange(p) < p // 2, 0.6, 0.2)
    chance = np.where(D[:, None] == "yes", often, often[::-1])
    return (rng.random((n, p)) < chance).astype(float), D


@pytest.fixture(scope="module")
def texts():
    return *stems(150, 0.5, 0), stems(200, 0.8, 1)[0]


@pytest.fixture(scope="module")
def fitted(texts):
    S, D, _ = texts
    return {method: AggregateProportions(method, cv=3).fit(S, D) for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_arrays_sparse_matrices_and_frames_give_the_same_answer(method, texts, fitted):
    S, D, unread = texts
    expected = fitted[method].predict(unread)
    assert expected.sum() == pytest.approx(1)
    for make in (sparse.csr_matrix, sparse.csc_array):
        # Sums of sparse rows are taken in another order.
        found = AggregateProportions(method, cv=3).fit(make(S), D).predict(make(unread))
        assert found == pytest.approx(expected, abs=1e-6)
    names = [f"stem{j}" for j in range(S.shape[1])]
    for make in (pd.DataFrame, lambda table, columns: pl.DataFrame(table, schema=columns)):
        model = AggregateProportions(method, cv=3).fit(make(S, columns=names), D)
        assert model.predict(make(unread, columns=names)) == pytest.approx(expected, abs=1e-9)
        assert model.feature_names_in_.tolist() == names


@pytest.mark.parametrize("method", METHODS)
def test_saved_models_and_other_orders_of_the_rows(method, texts, fitted):
    S, D, unread = texts
    model = fitted[method]
    content = skops.io.dumps(model)
    assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
    for copy in (
        pickle.loads(pickle.dumps(model)),
        skops.io.loads(content, trusted=trusted_types()),
    ):
        assert np.array_equal(copy.predict(unread), model.predict(unread))
        if method != "count":
            test = copy.carry_over_test(unread, n_bootstrap=20)
            assert test.p_value == model.carry_over_test(unread, n_bootstrap=20).p_value
    order = np.random.default_rng(1).permutation(len(S))
    shuffled = AggregateProportions(method, cv=3).fit(S[order], D[order])
    assert shuffled.predict(unread[::-1]) == pytest.approx(model.predict(unread), abs=1e-6)


def test_a_saved_model_of_several_labels(texts):
    S, D, unread = texts
    labels = np.column_stack([D == "yes", S[:, 0] == 1])
    model = AggregateProportions("inversion", cv=2).fit(S, labels)
    copy = skops.io.loads(skops.io.dumps(model), trusted=trusted_types())
    assert np.array_equal(copy.predict(unread), model.predict(unread))


def test_parameters_stay_and_are_checked(texts):
    S, D, _ = texts
    model = AggregateProportions("inversion", n_blocks=4)
    before = model.get_params()
    assert model.fit(S, D).get_params() == before == clone(model).get_params()
    for name in ("method", "estimator", "constrained", "block_size", "n_blocks", "random_state"):
        with pytest.raises(ParameterError, match=f"AggregateProportions: {name}="):
            AggregateProportions(**{name: object()}).fit(S, D)
    with pytest.raises(NotFittedError):
        AggregateProportions().predict(S)


@pytest.mark.parametrize("method", ["adjusted_em", "inversion"])
def test_weights_of_zero_leave_texts_out(method, texts):
    S, D, unread = texts
    weight = (np.arange(len(S)) % 5 > 0).astype(float)
    kept = weight > 0
    weighted = AggregateProportions(method, cv=3).fit(S, D, sample_weight=weight)
    left = AggregateProportions(method, cv=3).fit(S[kept], D[kept])
    assert weighted.predict(unread) == pytest.approx(left.predict(unread), abs=1e-9)
    unread_weight = (np.arange(len(unread)) % 2).astype(float)
    some = left.proportions(unread, sample_weight=unread_weight, n_bootstrap=10)
    assert some.estimate[0] == pytest.approx(left.predict(unread[1::2]), abs=1e-9)
    assert some.n_texts == (100,)
