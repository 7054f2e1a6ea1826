"""Voting: the plain vote or mean of different models, with equal and given weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import VotingClassifier as PeerClassifier
from sklearn.ensemble import VotingRegressor as PeerRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bottega.core.errors import InputError, ParameterError
from bottega.ensemble import VotingClassifier, VotingRegressor
from bottega.linear import LeastSquares
from bottega.tree import TreeClassifier, TreeRegressor


def rings(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.array(["in", "mid", "out"])[np.digitize((X**2).sum(axis=1), [1, 3])]


def slope(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=n)


CLASSIFIERS = [
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("bayes", GaussianNB()),
    ("line", LogisticRegression()),
]


@pytest.mark.parametrize("weights", [None, [3, 1, 0.5]])
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_the_vote_is_that_of_scikit_learn(voting, weights):
    X, y = rings()
    new, _ = rings(100, seed=1)
    model = VotingClassifier(CLASSIFIERS, voting=voting, weights=weights).fit(X, y)
    peer = PeerClassifier(CLASSIFIERS, voting=voting, weights=weights).fit(X, y)
    assert np.array_equal(model.predict(new), peer.predict(new))
    if voting == "soft":
        # The iterations of the logistic fit see the rows in another order.
        assert model.predict_proba(new) == pytest.approx(peer.predict_proba(new), rel=1e-4)
    assert model.weights_.sum() == pytest.approx(1)
    assert model.names_ == ["tree", "bayes", "line"]


@pytest.mark.parametrize("weights", [None, [1, 2]])
def test_the_mean_is_that_of_scikit_learn(weights):
    X, y = slope()
    bases = [("line", LinearRegression()), ("near", KNeighborsRegressor())]
    model = VotingRegressor(bases, weights=weights).fit(X, y)
    peer = PeerRegressor(bases, weights=weights).fit(X, y)
    assert model.predict(X) == pytest.approx(peer.predict(X), rel=1e-9)


def test_the_formula_of_the_notes():
    """D187: the plain mean over the models, class by class."""
    X, y = rings()
    model = VotingClassifier([TreeClassifier(ccp_alpha=0), GaussianNB()]).fit(X, y)
    parts = [TreeClassifier(ccp_alpha=0).fit(X, y), GaussianNB().fit(X, y)]
    mean = np.mean([each.predict_proba(X) for each in parts], axis=0)
    assert model.predict_proba(X) == pytest.approx(mean)
    assert np.array_equal(model.predict(X), model.classes_[np.argmax(mean, axis=1)])


def test_the_mean_beats_the_models_by_their_spread():
    X, y = slope()
    new, truth = slope(seed=1)
    model = VotingRegressor([LeastSquares(), TreeRegressor(ccp_alpha=0)]).fit(X, y)
    each = np.array([fit.predict(new) for fit in model.estimators_])
    gain = np.mean((each - truth) ** 2) - np.mean((model.predict(new) - truth) ** 2)
    assert gain == pytest.approx(np.mean(each.var(axis=0)), rel=1e-9)
    assert gain > 0


def test_an_even_vote_goes_to_the_first_class():
    X, y = rings(60)
    for votes in (2, 3):
        model = VotingClassifier(CLASSIFIERS[:votes], voting="hard").fit(X, y)
        shares = model.predict_proba(X)
        tied = shares.max(axis=1, keepdims=True) - shares < 1e-9
        assert np.array_equal(model.predict(X), model.classes_[np.argmax(tied, axis=1)])
    # Tenths do not add up exactly: a tie all the same.
    ten = VotingClassifier([CLASSIFIERS[0], *[("nb", GaussianNB())] * 3], voting="hard")
    ten.set_params(weights=[0.3, 0.1, 0.1, 0.1]).fit(X, y)
    even = np.isclose(ten.predict_proba(X).max(axis=1), 0.5)
    assert even.any()
    tied = [sorted(pair)[0] for pair in zip(*(f.predict(X) for f in ten.estimators_), strict=True)]
    assert np.array_equal(ten.predict(X)[even], np.array(tied)[even])


def test_weights_of_rows_reach_the_bases():
    X, y = rings(80)
    w = np.random.default_rng(0).integers(0, 3, 80)
    bases = [TreeClassifier(ccp_alpha=0), KNeighborsClassifier()]  # the second takes no weights
    weighted = VotingClassifier(bases).fit(X, y, sample_weight=w)
    repeated = VotingClassifier(bases).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X))
    order = np.random.default_rng(1).permutation(80)
    shuffled = VotingClassifier(bases).fit(X[order], y[order], sample_weight=w[order])
    assert np.array_equal(shuffled.predict_proba(X), weighted.predict_proba(X))
    with pytest.raises(InputError, match="whole numbers"):
        VotingClassifier(bases).fit(X, y, sample_weight=np.full(80, 0.5))


def test_frames_pass_to_the_bases_as_they_are():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=100), "kind": rng.choice(["a", "b"], 100)})
    y = np.where(frame["kind"] == "b", 1.0, 0.0) + 0.1 * rng.normal(size=100)
    model = VotingRegressor([TreeRegressor(), TreeRegressor(ccp_alpha=0)]).fit(frame, y)
    assert model.names_ == ["tree", "tree 2"]
    assert model.score(frame, y) > 0.9


def test_bad_input():
    X, y = rings(30)
    for weights in ([1, 2], [1, 2, -1], [0, 0, 0], "equal", [np.nan, 1, 1]):
        with pytest.raises(ParameterError, match="3 numbers, one per base"):
            VotingClassifier(CLASSIFIERS, weights=weights).fit(X, y)
    with pytest.raises(ParameterError, match="needs a classifier"):
        VotingClassifier([LinearRegression()]).fit(X, y)
    with pytest.raises(ParameterError, match="estimators="):
        VotingRegressor([]).fit(X, np.zeros(30))
    with pytest.raises(InputError, match="voting='hard'"):
        VotingClassifier([LinearSVC()]).fit(X, y).predict(X)
