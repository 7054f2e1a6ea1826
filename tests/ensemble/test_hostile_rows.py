"""Rows that break things: extreme weights, two of them, inputs that say nothing, missing values."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from bottega.core.errors import ConvergenceWarning, DataWarning, InputError, ParameterError
from bottega.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BumpingClassifier,
    BumpingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from bottega.tree import TreeClassifier, TreeRegressor

NUMBERS = (RandomForestRegressor, TreeRegressor, GradientBoostingRegressor)
CLASSES = (RandomForestClassifier, TreeClassifier, GradientBoostingClassifier, AdaBoostClassifier)
FIXED = {
    "RandomForest": {"n_estimators": 10, "max_features": 2},
    "Tree": {"ccp_alpha": 0.01},
    "GradientBoosting": {"n_estimators": 10},
    "AdaBoost": {"n_estimators": 10},
}


def model_of(each):
    name = each.__name__.removesuffix("Regressor").removesuffix("Classifier")
    return each(**FIXED[name])


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.3 * rng.normal(size=n)


def target(each, y):
    return y if each.card.task == "regression" else np.where(y > 0, "a", "b")


@pytest.mark.parametrize("each", [*NUMBERS, *CLASSES])
def test_the_size_of_weights_has_no_meaning(each):
    X, y = rows()
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    method = "predict" if each.card.task == "regression" else "predict_proba"
    plain = getattr(model_of(each).fit(X, target(each, y), sample_weight=w), method)(X)
    assert np.std(plain) > 0
    for size in (1e-95, 1e95):
        scaled = model_of(each).fit(X, target(each, y), sample_weight=size * w)
        # Gradients are in single precision; other sums differ in their last digits.
        assert getattr(scaled, method)(X) == pytest.approx(plain, rel=1e-4, abs=1e-6)
    for size in (1e-300, 1e300):
        with pytest.raises(InputError, match="rescale it"):
            model_of(each).fit(X, target(each, y), sample_weight=size * w)


@pytest.mark.parametrize("each", [*NUMBERS, *CLASSES])
def test_weights_that_differ_by_all_the_range(each):
    X, y = rows()
    w = np.where(np.arange(len(y)) % 2, 1e-80, 1e80)
    found = model_of(each).fit(X, target(each, y), sample_weight=w).predict(X)
    assert len(found) == len(y)


@pytest.mark.parametrize("each", [*NUMBERS, *CLASSES])
@pytest.mark.parametrize("X", [[[0.0], [1.0]], [[5.0], [5.0]]], ids=["two", "equal"])
def test_two_rows(each, X):
    y = target(each, np.array([-1.0, 1.0]))
    for model in (each(), model_of(each) if "max_features" not in str(model_of(each)) else each()):
        assert len(model.fit(X, y).predict(X)) == 2


@pytest.mark.parametrize("estimate", ["cv", "validation", "oob"])
def test_two_rows_of_a_boosted_vote(estimate):
    model = AdaBoostClassifier(estimate=estimate)
    if estimate == "oob":
        with pytest.raises(InputError, match="Give n_estimators, or more rows"):
            model.fit([[0.0], [1.0]], ["a", "b"])
    else:
        assert model.fit([[0.0], [1.0]], ["a", "b"]).predict([[0.0]]).tolist() == ["a"]


@pytest.mark.parametrize("base", [None, LogisticRegression()])
@pytest.mark.parametrize("rate", [23.0, 1000.0])
def test_a_learning_rate_beyond_reason(base, rate):
    X, y = rows()
    model = AdaBoostClassifier(base, learning_rate=rate, n_estimators=30)
    with pytest.warns(ConvergenceWarning, match="lower the learning rate"):
        model.fit(X, target(AdaBoostClassifier, y))
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    "each",
    [BaggingClassifier, BumpingClassifier, VotingClassifier, StackingClassifier],
)
def test_missing_values_are_for_the_models_to_judge(each):
    X, y = rows()
    X[::7, 1] = np.nan
    both = ((each, LogisticRegression()), (_regressor(each), LinearRegression()))
    for combined, last in both:
        pipeline = make_pipeline(SimpleImputer(), last)
        several = each in (VotingClassifier, StackingClassifier)
        model = combined([("a", pipeline), ("b", pipeline)] if several else pipeline)
        from_array = model.fit(X, target(combined, y)).predict(X)
        frame = pd.DataFrame(X, columns=list("abc"))
        from_frame = model.fit(frame, target(combined, y)).predict(frame)
        if combined.card.task == "regression":
            assert from_array == pytest.approx(from_frame)
        else:
            assert np.array_equal(from_array, from_frame)


def _regressor(each):
    return {
        BaggingClassifier: BaggingRegressor,
        BumpingClassifier: BumpingRegressor,
        VotingClassifier: VotingRegressor,
        StackingClassifier: StackingRegressor,
    }[each]


@pytest.mark.parametrize(
    "each", [BaggingClassifier, BaggingRegressor, BumpingClassifier, BumpingRegressor]
)
@pytest.mark.parametrize("size", [1e12, 1e90])
def test_weights_that_stand_for_too_many_copies_are_chances(each, size):
    X, y = rows()
    w = np.where(np.arange(len(y)) % 3 == 0, 1.0, size)
    y = target(each, y)
    model = each(n_estimators=4).fit(X, y, sample_weight=w)
    assert model.score(X, y, sample_weight=w) > 0.5
    if each in (BaggingClassifier, BaggingRegressor):
        drawn = model.estimators_samples_
        assert [len(each) for each in drawn] == [len(y)] * 4
        assert not np.any(np.concatenate(drawn) % 3 == 0)


@pytest.mark.parametrize("each", [BumpingClassifier, BumpingRegressor])
def test_rows_are_not_repeated_without_end(each):
    X, y = rows()
    neighbours = (KNeighborsClassifier if each is BumpingClassifier else KNeighborsRegressor)()
    with pytest.raises(ParameterError, match=r"6e\+13 .*divide the weights"):
        each(neighbours).fit(X, target(each, y), sample_weight=np.full(len(y), 1e12))


def test_a_stack_of_two_rows_says_that_it_learns_no_weights():
    with pytest.warns(DataWarning, match="weigh alike"):
        model = StackingClassifier([TreeClassifier(0.0)] * 2).fit([[0.0], [1.0]], ["a", "b"])
    assert model.weights_.tolist() == [0.5, 0.5]
    assert model.predict_proba([[0.0], [1.0]]).sum(axis=1).tolist() == [1.0, 1.0]


def test_folds_of_a_stack_hold_copies_of_a_row_by_chance():
    """Not one in every fold, as a deal along an order in which copies stand together has it."""
    x = np.repeat(np.arange(40.0), 5)
    model = StackingRegressor([("a", LinearRegression()), ("b", LinearRegression())])
    folds = model._prepare(model._read(x[:, None], x % 7, None)).folds
    together = [len(np.unique(x[test])) for _, test in folds]
    assert [len(test) for _, test in folds] == [40] * 5
    assert max(together) < 40


@pytest.mark.parametrize("each", [*NUMBERS, *CLASSES])
def test_a_level_that_the_fit_has_not_met_is_missing(each):
    X, y = rows()
    kind = np.random.default_rng(2).choice(["u", "v", "w"], len(y))
    frame = pd.DataFrame({"x": X[:, 0], "kind": kind})
    model = model_of(each).fit(frame, target(each, y + 2 * (kind == "u")))
    new, none = frame.head(8).assign(kind="new"), frame.head(8).assign(kind=None)
    assert model.predict(new).tolist() == model.predict(none).tolist()


@pytest.mark.parametrize("each", [*NUMBERS, *CLASSES])
def test_what_is_masked_or_named_twice_is_refused(each):
    X, y = rows()
    model = model_of(each).fit(X, target(each, y))
    with pytest.raises(InputError, match="masked"):
        model.predict(np.ma.masked_greater(X, 1.0))
    doubled = pd.DataFrame(X, columns=["a", "a", "b"])
    with pytest.raises(InputError, match="more than one column"):
        model_of(each).fit(doubled, target(each, y))


@pytest.mark.parametrize("thresholds", ["exact", "binned"])
@pytest.mark.parametrize("each", [TreeClassifier, TreeRegressor])
def test_a_split_without_gain_can_lead_to_one(each, thresholds):
    """As scikit-learn's trees: on the four corners no first split makes anything purer."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    for inputs in (X, pd.DataFrame(X.astype(bool), columns=["u", "v"])):
        model = each(0.0, thresholds=thresholds).fit(inputs, y)
        assert model.nodes_.n_leaves == 4
        assert model.score(inputs, y) == 1.0
