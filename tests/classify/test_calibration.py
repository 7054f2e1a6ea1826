"""Calibration: maps against R, folds against scikit-learn, and what it is for."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV as Peer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bottega.classify import CalibratedClassifierCV, NaiveBayes
from bottega.core.errors import InputError, ParameterError
from bottega.data import make
from bottega.data.encoder import Encoder
from bottega.metrics import brier, calibration, log_loss
from bottega.optimize.score_maps import Beta, Isotonic, Sigmoid, Temperature
from bottega.risk import CostSensitiveClassifier
from bottega.tree import TreeClassifier

ANSWER = json.loads(
    (Path(__file__).parents[1] / "reference" / "classify" / "beta_calibration.json").read_text()
)


@pytest.fixture(scope="module")
def sample():
    """Two classes, each input twice: naive Bayes is far too sure of itself."""
    found = make.two_gaussians(600, distance=1.2, random_state=1)
    return np.hstack([found.X, found.X]), np.where(found.y == 1, "yes", "no")


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    return rng.normal(size=(240, 2)) + np.array([[0, 0], [1.5, 0], [0, 1.5]])[y], y


def folds_of(n, k=4):
    fold = np.arange(n) % k
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(k)]


def test_maps_equal_r():
    """R's fits are converged to 1e-14 in the deviance, ours to 1e-10 in the gradient."""
    p, hits = np.array(ANSWER["p"]), np.array(ANSWER["y"]) == 1
    one = np.ones(len(p))
    assert Beta().fit(p, hits, one).coef == pytest.approx(ANSWER["beta"], rel=1e-6)
    found = Sigmoid().fit(p, hits, one)
    assert (found.intercept, found.slope) == pytest.approx(ANSWER["platt"], rel=1e-6)
    steps = Isotonic().fit(p, hits, one)
    assert steps(np.array(ANSWER["sorted"])) == pytest.approx(ANSWER["isotonic"], abs=1e-12)


def test_beta_maps_are_rising():
    """Where probabilities mean their opposite a and b would be negative: they are left out."""
    rng = np.random.default_rng(3)
    p = rng.random(200)
    found = Beta().fit(p, rng.random(200) > p, np.ones(200))
    assert np.all(found.coef[1:] >= 0)
    grid = found(np.linspace(0, 1, 50))
    assert np.all(np.diff(grid) >= 0)
    # The identity is a beta map.
    same = Beta()
    same.coef = np.array([0.0, 1.0, 1.0])
    assert same(p) == pytest.approx(p)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_equals_scikit_learn_on_the_same_folds(sample, method, averaged, weighted):
    """scikit-learn's Platt map stops L-BFGS early; 1e-3 of a probability covers that."""
    X, y = sample
    weight = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    options = {"method": method, "cv": folds_of(len(y)), "ensemble": averaged}
    ours = CalibratedClassifierCV(GaussianNB(), **options).fit(X, y, sample_weight=weight)
    theirs = Peer(GaussianNB(), **options).fit(X, y, sample_weight=weight)
    assert len(ours.calibrated_classifiers_) == len(theirs.calibrated_classifiers_)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-3)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_several_classes_equal_scikit_learn(three, method):
    X, y = three
    options = {"method": method, "cv": folds_of(len(y))}
    base = PeerLogistic(C=0.01)
    ours = CalibratedClassifierCV(base, **options).fit(X, y).predict_proba(X)
    theirs = Peer(base, **options).fit(X, y).predict_proba(X)
    assert ours == pytest.approx(theirs, abs=2e-3)
    assert ours.sum(axis=1) == pytest.approx(1)


def test_decision_values_are_calibrated(three):
    X, y = three
    two = y < 2
    model = CalibratedClassifierCV(LinearSVC(), method="sigmoid", cv=4).fit(X[two], y[two])
    shares = model.predict_proba(X[two])
    assert calibration(y[two], shares).slope == pytest.approx(1, abs=0.35)
    with pytest.raises(InputError, match="method='beta' needs"):
        CalibratedClassifierCV(LinearSVC(), method="beta").fit(X[two], y[two])


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "beta", "temperature"])
def test_calibrated_probabilities_score_better(sample, method):
    X, y = sample
    train, test = slice(0, 400), slice(400, None)
    plain = NaiveBayes().fit(X[train], y[train]).predict_proba(X[test])
    model = CalibratedClassifierCV(NaiveBayes(), method=method).fit(X[train], y[train])
    shares = model.predict_proba(X[test])
    if method != "isotonic":  # its zeros and ones cost the log loss 34 where they are wrong
        assert log_loss(y[test], shares).value < log_loss(y[test], plain).value
    assert brier(y[test], shares).value < brier(y[test], plain).value
    assert calibration(y[test], plain).slope < 0.75
    if method != "isotonic":
        assert calibration(y[test], shares).slope == pytest.approx(1, abs=0.3)
    assert model.reliability(X[test], y[test]).n.sum() == 200


def test_a_fitted_classifier_learns_its_map_from_all_rows(sample):
    X, y = sample
    base = GaussianNB().fit(X[:300], y[:300])
    model = CalibratedClassifierCV(FrozenEstimator(base)).fit(X[300:], y[300:])
    (part,) = model.calibrated_classifiers_
    second = base.predict_proba(X[300:])[:, 1]
    expected = Sigmoid().fit(second, y[300:] == "yes", np.ones(300))
    assert (part.maps[0].slope, part.maps[0].intercept) == (expected.slope, expected.intercept)
    other = CalibratedClassifierCV(FrozenEstimator(base))
    with pytest.raises(InputError, match="does not know all classes"):
        other.fit(X[:4], ["a", "b", "a", "b"])


def test_frames_and_pipelines_pass(sample):
    X, y = sample
    frame = pd.DataFrame(X, columns=list("abcd"))
    base = make_pipeline(StandardScaler(), GaussianNB())
    weight = np.where(y == "yes", 0.5, 1.5)
    model = CalibratedClassifierCV(base).fit(frame, y, sample_weight=weight)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert set(model.predict(frame)) == {"yes", "no"}


def test_a_table_with_texts_and_gaps_passes_through_a_pipeline():
    """As the models of a comparison are: an encoder and a method, fitted to the raw columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(150) < 0.1, np.nan, rng.normal(size=150) + y),
            "b": np.array(["u", "v", "w"])[(y + rng.integers(0, 2, 150)) % 3],
        }
    )
    labels = np.array(["x", "y", "z"])[y]
    base = make_pipeline(Encoder(), TreeClassifier(max_leaf_nodes=6, ccp_alpha=0.0))
    model = CalibratedClassifierCV(base, method="isotonic").fit(frame, labels)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert np.mean(model.predict(frame) == labels) > 0.6
    decided = CostSensitiveClassifier(model, 1 - np.eye(3)).fit(frame, labels)
    assert np.array_equal(decided.predict(frame), model.predict(frame))


def test_pictures(sample, three):
    X, y = sample
    spec = CalibratedClassifierCV().fit(X, y).plot().to_dict()
    assert spec["title"]["text"] == "From score to probability"
    chart = CalibratedClassifierCV(method="isotonic").fit(*three).plot().to_dict()
    assert {row["line"] for row in chart["data"]["values"]} == {"0", "1", "2"}
    with pytest.raises(InputError, match="one number"):
        CalibratedClassifierCV(method="temperature").fit(X, y).plot()


def test_one_temperature_leaves_the_order_of_classes(three):
    X, y = three
    base = PeerLogistic(C=0.01).fit(X, y)
    scores = base.decision_function(X)
    found = Temperature().fit(scores, y, np.ones(len(y)))
    assert found.inverse > 1  # a strong penalty makes probabilities too timid
    assert np.array_equal(np.argmax(found(scores), axis=1), base.predict(X))
    assert log_loss(y, found(scores)).value < log_loss(y, base.predict_proba(X)).value


@pytest.mark.parametrize(
    ("model", "y", "says"),
    [
        (CalibratedClassifierCV(), ["a"] * 8, "at least two classes"),
        (CalibratedClassifierCV(), ["a"] * 7 + ["b"], "b has 1 row"),
        (CalibratedClassifierCV(cv=5), ["a"] * 6 + ["b"] * 2, "the rarest has 2"),
        (CalibratedClassifierCV(method="platt"), ["a", "b"] * 4, "method='platt'"),
        (CalibratedClassifierCV(StandardScaler()), ["a", "b"] * 4, "predict_proba"),
    ],
)
def test_bad_input_is_refused(model, y, says):
    with pytest.raises((InputError, ParameterError), match=says):
        model.fit(np.arange(16.0).reshape(8, 2) % 5, y)


def test_without_ensemble_a_row_is_held_out_once(sample):
    X, y = sample
    twice = [folds_of(len(y))[0]] * 2
    with pytest.raises(ParameterError, match="several times"):
        CalibratedClassifierCV(GaussianNB(), cv=twice, ensemble=False).fit(X, y)


def test_rows_of_some_classes_calibrate_a_classifier_of_more(three):
    """A map of a class without rows says that it is rare; the codes of the others stay theirs."""
    X, y = three
    base = PeerLogistic().fit(X, y)
    some = y != 1
    model = CalibratedClassifierCV(FrozenEstimator(base)).fit(X[some], y[some])
    assert model.classes_.tolist() == [0, 1, 2]
    shares = model.predict_proba(X[some])
    assert np.mean(model.predict(X[some]) == y[some]) > 0.8
    assert shares[:, 1].mean() < 0.1


def test_a_fold_may_lack_a_class(three):
    X, y = three
    first = [(np.flatnonzero(y != 1), np.flatnonzero(y == 1)), *folds_of(len(y), 3)]
    model = CalibratedClassifierCV(LinearSVC(), cv=first).fit(X, y)
    assert model.calibrated_classifiers_[0].predict_proba(X)[:, 1].max() == 0
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
