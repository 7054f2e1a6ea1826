"""The whole explanation: terms, what is computed when, how it shows itself."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bottega.explain.explanation as module
from bottega.additive import AdditiveModel
from bottega.data import read
from bottega.data.prepare import prepare
from bottega.ensemble import RandomForestRegressor, StackingRegressor
from bottega.explain import explain
from bottega.kernel import KernelPerceptron, SupportVectorClassifier
from bottega.linear import LeastSquares, Ridge
from bottega.tree import TreeClassifier, TreeRegressor


@pytest.mark.filterwarnings("ignore:Collinear")
def test_coefficients_have_the_names_of_the_columns(mixed, fits_of):
    model = prepare(LeastSquares(), mixed).fit(mixed.X, mixed.y)
    found = explain(fits_of(LeastSquares(), mixed), model=model).terms
    assert found.kind == "coefficients"
    frame = found.to_frame()
    assert frame["term"].tolist()[0] == "(Intercept)"
    assert {"size", "area", "colour=red", "size is missing"} <= set(frame["term"])
    by_hand = model.steps[-1][1].tidy()
    expected = by_hand["estimate"].tolist()  # missing for a level that is collinear
    assert frame["estimate"].tolist() == pytest.approx(expected, nan_ok=True)
    assert "(Intercept)" in str(found)
    shown = found.plot().to_dict()
    assert "(Intercept)" not in {row["term"] for row in shown["data"]["values"]}


def test_standardised_inputs_are_said(mixed, fits_of):
    found = explain(fits_of(Ridge(), mixed)).terms
    assert bool(found.notes) == Ridge.card.standardize


def test_rules_of_a_tree(mixed, fits_of):
    model = prepare(TreeRegressor(), mixed).fit(mixed.X, mixed.y)
    found = explain(fits_of(TreeRegressor(), mixed), model=model).terms
    assert found.kind == "rules"
    assert found.to_frame()["rule"].tolist() == model.steps[-1][1].rules()
    assert found.plot().to_dict()["title"]


@pytest.mark.parametrize("engine", ["penalized", "backfitting"])
def test_terms_of_an_additive_model(engine):
    """Curves have degrees of freedom and tests, not coefficients; the picture is of effects."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.uniform(size=150), "kind": rng.choice(["a", "b"], 150)})
    y = np.sin(6 * X["size"]) + (X["kind"] == "a") + 0.2 * rng.normal(size=150)
    model = AdditiveModel(engine=engine).fit(X, y)
    found = explain([(model, X, y, None)]).terms
    assert found.kind == "terms"
    frame = found.to_frame().set_index("term")
    assert frame.loc["smooth(size)", "edf"] == pytest.approx(
        model.tidy().set_index("term").loc["smooth(size)", "edf"]
    )
    assert "smooth(size)" in str(found)
    assert found.plot().to_dict()["title"] == model.effects().plot().to_dict()["title"]


def test_coefficients_of_other_libraries():
    table = read("iris")
    X, y = table.X, np.asarray(table.y)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    found = explain([(model, X, y, None)]).terms
    frame = found.to_frame()
    assert frame["response"].unique().tolist() == sorted(set(y))
    assert frame["term"].tolist()[1:5] == list(X.columns)
    assert frame["estimate"][1] == pytest.approx(model.steps[-1][1].coef_[0, 0])
    found.plot().to_dict()


def test_what_cannot_be_read_has_no_terms(mixed, fits_of):
    assert explain(fits_of(RandomForestRegressor(n_estimators=5), mixed)).terms is None
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20.0)
    stack = StackingRegressor([("a", LeastSquares())], final_estimator=LeastSquares()).fit(X, y)
    assert explain([(stack, X, y, None)]).terms is None
    rows = KernelPerceptron().fit(X, y > 9)  # its coefficients are those of rows
    assert explain([(rows, X, y > 9, None)]).terms is None
    line = SupportVectorClassifier(kernel="linear").fit(X, y > 9)
    assert explain([(line, X, y > 9, None)]).terms.kind == "coefficients"


def test_nothing_is_computed_before_it_is_asked_for(mixed, fits_of, monkeypatch):
    fits = fits_of(LeastSquares(), mixed)

    def fail(*_):
        raise AssertionError

    for name in ("importance_of", "calibration_of", "lift_of", "worst_rows_of", "terms_of"):
        monkeypatch.setattr(module, name, fail)
    found = explain(fits)
    with pytest.raises(AssertionError):
        _ = found.importance


def test_it_shows_itself(mixed, fits_of):
    found = explain(fits_of(LeastSquares(), mixed), target="price")
    text = repr(found)
    assert "Importance of the inputs" in text
    assert "there are also" in str(found)
    assert "<table" in found._repr_html_()
    for part in (found.importance, found.calibration, found.worst_rows, found.terms, found.row(0)):
        assert part.to_frame() is not None
        assert part.plot().to_dict()["title"]["text"]
        assert "<table" in part._repr_html_()
    assert found.effects.plot().to_dict()["title"]["text"] == "Effects of the leading inputs"


def test_a_classifier_by_its_fold_models(fits_of):
    table = read("breast_cancer")
    found = explain(fits_of(TreeClassifier(), table), loss="zero_one", target="diagnosis")
    assert found.held.label == found.held.classes[1]
    assert found.importance.increase[0] > 0.05
    assert found.lift.at(0.1) > 1.3
    assert found.calibration.share
    assert set(found.worst_rows.loss.tolist()) <= {0.0, 1.0}
    assert len(found.importance.together.columns) >= 3  # radius, perimeter and area, ...


def test_missing_categories_and_peers_of_other_libraries():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=60), "c": pd.Categorical(rng.choice(["u", "v"], 60))}
    )
    y = frame["a"] + (frame["c"] == "u")
    model = HistGradientBoostingRegressor(
        categorical_features="from_dtype", min_samples_leaf=5
    ).fit(frame, y)
    found = explain([(model, frame, y, None)])
    assert found.importance.columns == ("a", "c")
    assert found.effect("c").average[0] != found.effect("c").average[1]
    row = found.row({"a": 0.0, "c": "u"})
    assert row.contribution.sum() == pytest.approx(row.prediction - row.average)


def test_the_most_frequent_of_three_classes_is_explained():
    table = read("wine")
    y = np.asarray(table.y)
    model = LogisticRegression(max_iter=5000).fit(table.X, y)
    found = explain([(model, table.X, y, None)])
    labels, counts = np.unique(y, return_counts=True)
    assert found.held.label == labels[counts.argmax()]
    assert found.held.outcome == f"probability of response = {found.held.label}"
