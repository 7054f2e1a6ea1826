"""Several classes by classifiers of two: against scikit-learn, by hand, and their regions."""

import numpy as np
import pandas as pd
import pytest
from sklearn import multiclass as peer
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from bottega.classify import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from bottega.classify._reduction.codes import exhaustive_code, least_distance, random_code
from bottega.core.errors import InputError, ParameterError

WAYS = [OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier]


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    centers = np.array([[0, 0], [2, 0], [0, 2], [2, 2]])
    return rng.normal(size=(300, 2)) + centers[y], np.array(["a", "b", "c", "d"])[y]


@pytest.mark.parametrize("base", [PeerLogistic(), LinearSVC(), GaussianNB()], ids=repr)
def test_equal_scikit_learns(sample, base):
    X, y = sample
    ours, theirs = (
        each(base).fit(X, y) for each in (OneVsRestClassifier, peer.OneVsRestClassifier)
    )
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(base, "predict_proba"):
        assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-12)
    ours, theirs = (each(base).fit(X, y) for each in (OneVsOneClassifier, peer.OneVsOneClassifier))
    assert len(ours.estimators_) == 6
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(base, "decision_function"):
        assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X))


def test_two_classes_are_one_problem(sample):
    X, y = sample
    two = np.isin(y, ["a", "b"])
    plain = PeerLogistic().fit(X[two], y[two])
    for way in WAYS:
        model = way(PeerLogistic()).fit(X[two], y[two])
        assert len(model.estimators_) == 1
        assert np.array_equal(model.predict(X), plain.predict(X))
        if way is not OutputCodeClassifier:
            assert model.predict_proba(X) == pytest.approx(plain.predict_proba(X), abs=1e-6)
            assert model.decision_function(X) == pytest.approx(plain.decision_function(X))


def test_exhaustive_codes_and_their_distance():
    """Dietterich and Bakiri: 2^(K-1) - 1 columns, any two rows differ in 2^(K-2) of them."""
    for K in (3, 4, 5, 7):
        code = exhaustive_code(K)
        assert code.shape == (K, 2 ** (K - 1) - 1)
        assert least_distance(code) == 2 ** (K - 2)
        assert len(np.unique(code, axis=1).T) == code.shape[1]
        assert not np.any(code.min(axis=0) == code.max(axis=0))
    code = random_code(6, 9, seed=0)
    assert np.array_equal(code, random_code(6, 9, seed=0))
    assert not np.any(code.min(axis=0) == code.max(axis=0))
    assert least_distance(code) >= 3


def test_wrong_bits_are_corrected():
    """With the 15 splits of five classes any three wrong classifiers leave every class right."""

    class Known:
        def __init__(self, bit, flipped):
            self.bit, self.flipped = bit, flipped

        def decision_function(self, X):
            return np.where((self.bit[X[:, 0].astype(int)] == 1) != self.flipped, 1.0, -1.0)

    X = np.repeat(np.arange(5.0), 4)[:, None]
    model = OutputCodeClassifier(PeerLogistic(), code="exhaustive").fit(X, X[:, 0].astype(int))
    assert model.least_distance_ == 8
    bits = (model.code_book_ == 1).astype(int)
    rng = np.random.default_rng(0)
    for _ in range(20):
        wrong = rng.choice(15, 3, replace=False)
        model.estimators_ = [Known(bits[:, b], b in wrong) for b in range(15)]
        assert np.array_equal(model.predict(X), X[:, 0])


def test_votes_leave_regions_open_and_scores_do_not(sample):
    """M506-M508: hard votes are ambiguous somewhere, the largest score decides everywhere."""
    X, y = sample
    grid = np.stack(np.meshgrid(np.linspace(-3, 5, 40), np.linspace(-3, 5, 40)), axis=-1)
    new = grid.reshape(-1, 2)
    rest = OneVsRestClassifier().fit(X, y)
    assert 0 < rest.ambiguous(new).mean() < 0.6
    assert set(rest.predict(new)) <= set("abcd")
    assert np.array_equal(rest.votes(new), rest.decision_function(new) > 0)


def test_a_circle_of_votes_is_decided_by_scores():
    """a beats b, b beats c, c beats a: one vote each, and c has the largest sum."""

    class Fixed:
        def __init__(self, score):
            self.score = score

        def decision_function(self, X):
            return np.full(len(X), self.score)

    X = np.arange(6.0)[:, None]
    model = OneVsOneClassifier().fit(X, list("aabbcc"))
    model.estimators_ = [Fixed(-1.0), Fixed(3.0), Fixed(-1.5)]  # of (a, b), (a, c), (b, c)
    assert model.votes(X[:1]).tolist() == [[1, 1, 1]]
    assert model.ambiguous(X[:1]).tolist() == [True]
    assert model.predict(X[:1]).tolist() == ["c"]


def test_bases_without_scores_and_weights(sample):
    X, y = sample
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    for way in WAYS:
        weighted = way(GaussianNB()).fit(X, y, sample_weight=weight)
        repeated = way(GaussianNB()).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert np.array_equal(weighted.predict(X), repeated.predict(X))
        frame = pd.DataFrame(X, columns=["u", "v"])
        named = way(Perceptron()).fit(frame, y)
        assert named.feature_names_in_.tolist() == ["u", "v"]
        assert not hasattr(named, "predict_proba")
        assert np.mean(named.predict(frame) == y) > 0.5


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda X: OneVsRestClassifier().fit(X, ["a"] * 6), "only one class, 'a'"),
        (lambda X: OneVsOneClassifier().fit(X, np.arange(6.0) + 0.5), "continuous"),
        (lambda X: OneVsRestClassifier(3).fit(X, list("abcabc")), "estimator=3"),
        (
            lambda X: OneVsRestClassifier(DecisionTreeRegressor()).fit(X, list("abcabc")),
            "needs a classifier",
        ),
        (lambda X: OutputCodeClassifier(code="best").fit(X, list("abcabc")), "code='best'"),
        (lambda X: OutputCodeClassifier(code_size=0).fit(X, list("abcabc")), "code_size=0"),
        (lambda _: exhaustive_code(12), "2,047 binary problems"),
    ],
)
def test_bad_input_is_refused(call, says):
    with pytest.raises((InputError, ParameterError, ValueError), match=says):
        call(np.arange(12.0).reshape(6, 2))
