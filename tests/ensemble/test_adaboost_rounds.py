"""The rounds of AdaBoost: by hand, against scikit-learn, and what must hold of any run."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bottega.core.errors import InputError, ParameterError
from bottega.ensemble import AdaBoostClassifier

TEN = np.arange(10.0)[:, None]
SIGNS = np.array([1, 1, 1, -1, -1, -1, 1, 1, 1, -1])


def two_classes(n=300, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 0.7, "yes", "no")
    return X, y


def test_ten_rows_by_hand():
    # The classic example. The best stump of each round has the votes (+ left of 2.5, - right),
    # (+ left of 8.5, - right) and (- left of 5.5, + right); the arithmetic is done here in full.
    votes = np.array(
        [
            np.where(np.arange(10) <= 2, 1, -1),
            np.where(np.arange(10) <= 8, 1, -1),
            np.where(np.arange(10) <= 5, -1, 1),
        ]
    )
    w = np.full(10, 0.1)
    weights, errors, alphas = [w], [], []
    for vote in votes:
        wrong = vote != SIGNS
        e = w[wrong].sum() / w.sum()
        alpha = np.log((1 - e) / e)
        w = w * np.exp(alpha * wrong)
        w = w / w.sum()
        weights.append(w)
        errors.append(e)
        alphas.append(alpha)
    # As printed in textbooks (with half our alpha): 0.3, 0.2143, 0.1818; 0.4236, 0.6496, 0.7520.
    assert errors == pytest.approx([3 / 10, 3 / 14, 2 / 11], rel=1e-12)
    assert np.array(alphas) / 2 == pytest.approx([0.4236, 0.6496, 0.7520], abs=1e-4)
    assert weights[1][[0, 6]] == pytest.approx([1 / 14, 1 / 6], rel=1e-12)

    model = AdaBoostClassifier(n_estimators=3).fit(TEN, SIGNS)
    # Ten numbers each, in another order of operations: rounding alone.
    assert model.estimator_errors_ == pytest.approx(errors, rel=1e-12)
    assert model.estimator_weights_ == pytest.approx(alphas, rel=1e-12)
    assert model._learners.threshold.tolist() == [2.5, 8.5, 5.5]
    assert model.row_weights(TEN, SIGNS) == pytest.approx(np.array(weights), rel=1e-12)
    assert model.decision_function(TEN) == pytest.approx(np.array(alphas) @ votes, rel=1e-12)
    assert np.array_equal(model.predict(TEN), SIGNS)
    assert model.stopped_ == "rounds"


def test_the_vote_of_the_notes_is_the_sign_of_the_decision_function():
    # D192 writes labels as 0 and 1: class 1 where the weighted share of votes is over one half.
    X, y = two_classes()
    model = AdaBoostClassifier(n_estimators=25).fit(X, y)
    ones = np.array([model._learners.labels(np.asfortranarray(X), b) for b in range(25)])
    share = model.estimator_weights_ @ ones / model.estimator_weights_.sum()
    assert np.array_equal(model.predict(X), np.where(share > 0.5, "yes", "no"))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), depth=st.integers(1, 2), weighted=st.booleans())
def test_after_the_update_the_learner_errs_on_half_of_the_weight(seed, depth, weighted):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    w = rng.uniform(0.5, 2, 40) if weighted else None
    model = AdaBoostClassifier(n_estimators=6, max_depth=depth).fit(X, y, sample_weight=w)
    along = model.row_weights(X, y, sample_weight=w)
    for b in range(model.n_estimators_):
        wrong = model._learners.labels(np.asfortranarray(X), b) != y
        assert along[b][wrong].sum() == pytest.approx(model.estimator_errors_[b], abs=1e-9)
        if model.estimator_errors_[b] > 0:
            assert along[b + 1][wrong].sum() == pytest.approx(0.5, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), rate=st.sampled_from([1.0, 0.3]))
def test_training_error_lies_below_its_bound(seed, rate):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    model = AdaBoostClassifier(n_estimators=30, learning_rate=rate).fit(X, y)
    assert np.all(model.staged_error(X, y) <= model.train_bound_ + 1e-12)
    assert np.all(np.diff(model.train_bound_) <= 1e-12)
    if rate == 1:
        e = model.estimator_errors_
        assert model.train_bound_ == pytest.approx(np.cumprod(2 * np.sqrt(e * (1 - e))))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scikit_learn_gives_the_same_rounds(n_classes):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.4 * rng.normal(size=400), [-0.5, 0.6][: n_classes - 1])
    model = AdaBoostClassifier(n_estimators=15).fit(X, y)
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    peer = PeerAdaBoost(stump, n_estimators=15, random_state=0).fit(X, y)
    # Same criterion (Gini), same alpha, so the same numbers up to rounding over 15 rounds.
    assert model.estimator_weights_ == pytest.approx(peer.estimator_weights_, rel=1e-9)
    assert model.estimator_errors_ == pytest.approx(peer.estimator_errors_, rel=1e-9)
    assert np.array_equal(model.predict(X), peer.predict(X))


def test_a_base_of_ones_own_gives_the_same_rounds_as_the_peer():
    X, y = two_classes()
    model = AdaBoostClassifier(n_estimators=8, estimator=GaussianNB()).fit(X, y)
    peer = PeerAdaBoost(GaussianNB(), n_estimators=8).fit(X, y)
    # Both stop when a round is no better than chance; the peer fills up with zeros.
    assert (model.n_estimators_, model.stopped_) == (len(peer.estimators_), "chance")
    assert model.estimator_weights_ == pytest.approx(
        peer.estimator_weights_[: model.n_estimators_], rel=1e-9
    )
    assert np.array_equal(model.predict(X), peer.predict(X))


def test_a_perfect_learner_ends_the_rounds_and_decides_alone():
    model = AdaBoostClassifier(n_estimators=50).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert (model.n_estimators_, model.stopped_, model.estimator_errors_.tolist()) == (
        1,
        "perfect",
        [0.0],
    )
    assert model.train_bound_.tolist() == [0.0]
    # Depth 3 on an interval is perfect only once the weights have moved, or at once: either way
    # the last learner outvotes the others.
    X, y = two_classes(60)
    deep = AdaBoostClassifier(n_estimators=50, max_depth=4).fit(X, y)
    assert deep.stopped_ == "perfect"
    assert deep.estimator_weights_[-1] > deep.estimator_weights_[:-1].sum()
    assert deep.score(X, y) == 1.0


def test_learners_no_better_than_chance_end_the_rounds():
    # Balanced XOR: every stump errs on half of the rows.
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    model = AdaBoostClassifier(n_estimators=10).fit(X, [0, 1, 1, 0])
    assert (model.stopped_, model.n_estimators_) == ("chance", 1)
    assert model.estimator_weights_.tolist() == [0.0]
    assert model.predict_proba(X) == pytest.approx(np.full((4, 2), 0.5))
    assert model.predict(X).tolist() == [0, 0, 0, 0]  # a tie is the first class
    assert model.margins(X, [0, 1, 1, 0]).tolist() == [0.0] * 4
    # In a later round such a learner is left out.
    few = AdaBoostClassifier(n_estimators=100).fit([[0.0], [0.0], [0.0]], ["a", "a", "b"])
    assert (few.stopped_, few.n_estimators_) == ("chance", 1)
    assert few.estimator_errors_[0] == pytest.approx(1 / 3)


def test_stumps_cannot_tell_xor_and_depth_two_can():
    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    y = X[:, 0] * X[:, 1] > 0
    new = np.random.default_rng(1).uniform(-1, 1, size=(2000, 2))
    truth = new[:, 0] * new[:, 1] > 0
    # A sum of functions of one input gets at least one of the four corners of any rectangle
    # wrong, so an error under one quarter is out of reach (here within sampling error of 2000).
    assert AdaBoostClassifier(n_estimators=200).fit(X, y).score(new, truth) < 0.75 + 0.04
    assert AdaBoostClassifier(n_estimators=200, max_depth=2).fit(X, y).score(new, truth) > 0.95


def test_no_weight_grows_without_limit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 2)), rng.integers(0, 2, 500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AdaBoostClassifier(n_estimators=1000).fit(X, y)
    assert np.all(np.isfinite(model.estimator_weights_))
    assert model.n_estimators_ == 1000


def test_bases_that_cannot_be_boosted_are_refused():
    X, y = two_classes(30)
    with pytest.raises(ParameterError, match="doesn't support sample_weight"):
        AdaBoostClassifier(n_estimators=3, estimator=KNeighborsClassifier()).fit(X, y)
    with pytest.raises(InputError, match="not among the classes"):
        AdaBoostClassifier(n_estimators=3).fit(X, y).margins(X[:1], ["maybe"])


@pytest.mark.parametrize("max_depth", [1, 2])
def test_bins_of_few_values_are_exact_thresholds(max_depth):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 200, size=(400, 4)).astype(float)  # fewer values than bins
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(scale=60, size=400) > 200, "a", "b")
    found = {
        kind: AdaBoostClassifier(n_estimators=15, max_depth=max_depth, thresholds=kind).fit(X, y)
        for kind in ("auto", "exact", "binned")
    }
    for kind in ("auto", "binned"):
        # The same splits; sums of weights are taken in another order.
        assert found[kind].estimator_errors_ == pytest.approx(
            found["exact"].estimator_errors_, abs=1e-12
        )
        assert np.array_equal(found[kind].predict(X), found["exact"].predict(X))


def test_many_rows_are_cut_into_bins(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 2))
    y = X[:, 0] + rng.normal(size=600) > 0
    monkeypatch.setattr("bottega.ensemble.adaboost._MANY", 500)
    auto = AdaBoostClassifier(n_estimators=5).fit(X, y)
    binned = AdaBoostClassifier(n_estimators=5, thresholds="binned").fit(X, y)
    exact = AdaBoostClassifier(n_estimators=5, thresholds="exact").fit(X, y)
    assert np.array_equal(auto._learners.threshold, binned._learners.threshold)
    assert not np.array_equal(auto._learners.threshold, exact._learners.threshold)
