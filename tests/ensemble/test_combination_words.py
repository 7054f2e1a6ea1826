"""Bagging, voting, stacking and boosting take scikit-learn's words, against it and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost
from sklearn.ensemble import StackingClassifier as PeerStackingClassifier
from sklearn.ensemble import StackingRegressor as PeerStackingRegressor
from sklearn.ensemble import VotingClassifier as PeerVoting
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bottega.core.errors import DataWarning, NotKept, ParameterError
from bottega.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)


def numbers(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.2 * rng.normal(size=n)


def classes(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.5])]


def test_classes_are_counted():
    X, y = classes()
    for each in (BaggingClassifier, AdaBoostClassifier):
        assert each(n_estimators=3).fit(X, y).n_classes_ == 3
    assert not hasattr(BaggingRegressor(n_estimators=3).fit(*numbers()), "n_classes_")


# ---- bagging ------------------------------------------------------------------------------------


def test_columns_are_drawn_for_each_model():
    X, y = numbers()
    model = BaggingRegressor(LinearRegression(), n_estimators=12, max_features=2).fit(X, y)
    assert {len(columns) for columns in model.estimators_features_} == {2}
    parts = zip(model.estimators_, model.estimators_features_, strict=True)
    mean = np.mean([fit.predict(X[:, columns]) for fit, columns in parts], axis=0)
    assert model.predict(X) == pytest.approx(mean)
    assert len({tuple(columns) for columns in model.estimators_features_}) == 3
    again = BaggingRegressor(
        LinearRegression(), n_estimators=12, max_features=1.0, bootstrap_features=True
    ).fit(pd.DataFrame(X, columns=["p", "q", "r"]), y)
    assert any(len(set(columns)) < 3 for columns in again.estimators_features_)


def test_the_samples_are_told_and_a_model_can_be_fitted_again():
    X, y = numbers()
    w = np.random.default_rng(1).integers(0, 3, 120)
    model = BaggingRegressor(KNeighborsRegressor(3), n_estimators=4, max_samples=50)
    model.fit(X, y, sample_weight=w)
    for fit, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert len(rows) == 50
        assert np.all(w[rows] > 0)
        again = clone(fit).fit(X[rows], y[rows])
        assert again.predict(X) == pytest.approx(fit.predict(X))


def test_the_base_judges_what_it_is_given():
    X, y = classes()
    X[::7, 1] = np.nan
    filled = make_pipeline(SimpleImputer(), LogisticRegression())
    for model in (
        BaggingClassifier(filled, n_estimators=5),
        VotingClassifier([("filled", filled)]),
        StackingClassifier([("filled", filled)]),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=5),
    ):
        assert model.fit(X, y).score(X, y) > 0.6
    for model in (
        BaggingClassifier(LogisticRegression(), n_estimators=5),
        VotingClassifier([("line", LogisticRegression())]),
        StackingClassifier([("line", LogisticRegression())]),
    ):
        with pytest.raises(ValueError, match="NaN"):
            model.fit(X, y)
    words = np.array([["u", "v"], ["u", "w"], ["x", "v"], ["x", "w"]] * 10, dtype=object)
    spelled = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    model = BaggingClassifier(spelled, n_estimators=3).fit(words, words[:, 0])
    assert np.array_equal(model.predict(words), words[:, 0])


def test_sparse_and_dense_inputs_are_drawn_alike():
    X, y = classes()
    X[np.abs(X) < 0.5] = 0
    dense = BaggingClassifier(LogisticRegression(), n_estimators=4, max_features=2).fit(X, y)
    sparse = clone(dense).fit(csr_matrix(X), y)
    assert sparse.predict_proba(csr_matrix(X)) == pytest.approx(dense.predict_proba(X), abs=1e-6)


def test_decision_functions_are_averaged_where_there_are_any():
    X, y = classes()
    model = BaggingClassifier(SVC(), n_estimators=4).fit(X, y)
    mean = np.mean([fit.decision_function(X) for fit in model.estimators_], axis=0)
    assert model.decision_function(X) == pytest.approx(mean)
    assert not hasattr(BaggingClassifier(), "decision_function")


def test_a_warm_start_adds_models():
    X, y = numbers()
    grown = BaggingRegressor(n_estimators=4, warm_start=True).fit(X, y)
    first = grown.estimators_[0]
    grown.set_params(n_estimators=9).fit(X, y)
    whole = BaggingRegressor(n_estimators=9).fit(X, y)
    assert grown.estimators_[0] is first
    assert grown.predict(X) == pytest.approx(whole.predict(X))
    assert grown.oob_score_ == pytest.approx(whole.oob_score_)
    with pytest.warns(DataWarning, match="does not fit new"):
        grown.fit(X, y)
    other = grown.set_params(n_estimators=10).fit(X[:60], y[:60])
    assert not hasattr(other, "oob_score_")  # most models have not drawn from these rows


def test_weights_reach_the_last_step_of_a_pipeline():
    X, y = numbers()
    w = np.random.default_rng(0).uniform(0.5, 2, 120)
    pipeline = make_pipeline(StandardScaler(), PeerRidge())
    model = VotingRegressor([("line", pipeline)]).fit(X, y, sample_weight=w)
    by_hand = clone(pipeline).fit(X, y, ridge__sample_weight=w)
    assert model.predict(X) == pytest.approx(by_hand.predict(X))
    with pytest.raises(ParameterError, match="does not support sample weights"):
        VotingRegressor([("near", KNeighborsRegressor())]).fit(X, y, sample_weight=w)


# ---- voting -------------------------------------------------------------------------------------


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_what_the_models_give_is_what_the_peer_gives(voting):
    X, y = classes()
    bases = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    model = VotingClassifier(bases, voting=voting).fit(X, y)
    peer = PeerVoting(bases, voting=voting).fit(X, y)
    assert model.transform(X) == pytest.approx(peer.transform(X))
    assert np.array_equal(model.get_feature_names_out(), peer.get_feature_names_out())
    if voting == "soft":
        apart = [each.set_params(flatten_transform=False).transform(X) for each in (model, peer)]
        assert apart[0] == pytest.approx(apart[1])


def test_parts_are_set_by_name_and_left_out():
    X, y = numbers()
    model = VotingRegressor([("line", PeerRidge()), ("near", KNeighborsRegressor())])
    assert model.get_params()["line__alpha"] == 1.0
    assert model.named_estimators.line.alpha == 1.0
    model.set_params(line__alpha=7.0, near="drop").fit(X, y)
    assert model.predict(X) == pytest.approx(PeerRidge(alpha=7.0).fit(X, y).predict(X))
    assert model.named_estimators_["near"] == "drop"
    assert len(model.estimators_) == 1
    with pytest.raises(ParameterError, match="All estimators are dropped"):
        model.set_params(line="drop").fit(X, y)
    for name in ("a__b", "weights"):
        with pytest.raises(ParameterError, match="name"):
            VotingRegressor([(name, PeerRidge())]).fit(X, y)
    with pytest.raises(ParameterError, match="no parameter 'far'"):
        model.set_params(far=PeerRidge())


# ---- stacking -----------------------------------------------------------------------------------


@pytest.mark.parametrize("passthrough", [False, True])
def test_a_final_estimator_is_stacked_as_the_peer_does(passthrough):
    X, y = numbers()
    folds = KFold(4, shuffle=True, random_state=0)
    bases = [("line", LinearRegression()), ("near", KNeighborsRegressor())]
    options = {"final_estimator": PeerRidge(), "cv": folds, "passthrough": passthrough}
    w = np.random.default_rng(0).integers(1, 3, 120)
    lines = [("line", LinearRegression()), ("ridge", PeerRidge(alpha=50.0))]
    for chosen, weight in ((bases, None), (lines, w)):
        given = {} if weight is None else {"sample_weight": weight}
        model = StackingRegressor(chosen, **options).fit(X, y, **given)
        peer = PeerStackingRegressor(chosen, **options).fit(X, y, **given)
        assert model.predict(X) == pytest.approx(peer.predict(X), rel=1e-6)
        assert model.transform(X) == pytest.approx(peer.transform(X))
        names = [each.get_feature_names_out() for each in (model, peer)]
        assert np.array_equal(*names)
    with pytest.raises(NotKept, match="no weights"):
        model.tidy()


def test_classes_under_a_final_estimator():
    X, y = classes()
    bases = [("nb", GaussianNB()), ("machine", SVC(kernel="linear"))]
    options = {
        "final_estimator": LogisticRegression(),
        "cv": KFold(3, shuffle=True, random_state=1),
    }
    model = StackingClassifier(bases, **options).fit(X, y)
    peer = PeerStackingClassifier(bases, **options).fit(X, y)
    assert model.stack_method_ == ["predict_proba", "decision_function"]
    assert model.predict_proba(X) == pytest.approx(peer.predict_proba(X), abs=1e-3)
    assert model.decision_function(X).shape == (150, 3)
    assert not hasattr(StackingClassifier(bases), "decision_function")
    with pytest.raises(ParameterError, match="does not implement"):
        StackingClassifier(bases, stack_method="predict_proba", **options).fit(X, y)


def test_models_that_are_fitted_already():
    X, y = numbers()
    bases = [
        ("line", LinearRegression().fit(X[:60], y[:60])),
        ("mean", PeerRidge().fit(X[:60], y[:60])),
    ]
    summed = StackingRegressor(bases, cv="prefit").fit(X[60:], y[60:])
    assert summed.estimators_[0] is bases[0][1]
    assert np.all(summed.weights_ >= 0)
    model = StackingRegressor(bases, PeerRidge(), cv="prefit").fit(X[60:], y[60:])
    stacked = np.column_stack([fit.predict(X[60:]) for _, fit in bases])
    assert model.predict(X) == pytest.approx(
        PeerRidge().fit(stacked, y[60:]).predict(model.transform(X))
    )


def test_weights_of_rows_are_copies_in_the_sum():
    X, y = numbers(60)
    w = np.random.default_rng(0).integers(1, 4, 60)
    bases = [("line", LinearRegression()), ("near", PeerRidge(alpha=1000.0))]
    folds = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    of_copies = [
        tuple(np.flatnonzero(np.isin(np.repeat(np.arange(60), w), part)) for part in f)
        for f in folds
    ]
    weighted = StackingRegressor(bases, cv=folds).fit(X, y, sample_weight=w)
    repeated = StackingRegressor(bases, cv=of_copies).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert weighted.weights_ == pytest.approx(repeated.weights_, rel=1e-9)
    assert weighted.error_ == pytest.approx(repeated.error_, rel=1e-9)


# ---- boosting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2])
def test_importances_and_stages_are_those_of_scikit_learn(depth):
    X, y = classes(300)
    model = AdaBoostClassifier(n_estimators=8, max_depth=depth).fit(X, y)
    base = DecisionTreeClassifier(max_depth=depth, random_state=0)
    peer = PeerAdaBoost(base, n_estimators=8, random_state=0).fit(X, y)
    assert model.feature_importances_ == pytest.approx(peer.feature_importances_, abs=1e-9)
    assert list(model.staged_score(X, y)) == pytest.approx(list(peer.staged_score(X, y)))
    for tree, theirs in zip(model.estimators_, peer.estimators_, strict=True):
        assert np.array_equal(tree.predict(X), theirs.predict(X))
    stages = list(model.staged_predict_proba(X))
    assert stages[-1] == pytest.approx(model.predict_proba(X))
    assert list(model.staged_decision_function(X))[-1] == pytest.approx(model.decision_function(X))


def test_a_learning_rate_that_overflows_is_told():
    X, y = classes()
    with pytest.warns(UserWarning, match="infinite values"):
        AdaBoostClassifier(n_estimators=40, learning_rate=500.0).fit(X, y)
