"""Hostile inputs of projection pursuit, and its results as data."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bottega.additive import ProjectionPursuitClassifier, ProjectionPursuitRegressor
from bottega.core.errors import InputError, ModelFileError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = np.sin(X[:, 0] + X[:, 1]) + 0.2 * RNG.normal(size=120)
MODEL = ProjectionPursuitRegressor(2, max_terms=2).fit(X, Y)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"smoother": "supersmoother", "df": 4}, "df=4 is of splines"),
        ({"span": 0.3}, "span=0.3 is of smoother='supersmoother'"),
        ({"n_terms": -1}, "n_terms=-1 is not allowed"),
        ({"optlevel": 4}, "optlevel=4 is not allowed"),
        ({"smoother": "loess"}, "smoother='loess' is not allowed"),
        ({"response_weight": [1.0, -1.0]}, "response_weight"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        ProjectionPursuitRegressor(**given).fit(X, Y)


def test_weights_of_responses_are_counted():
    with pytest.raises(InputError, match="2 numbers for 1 responses"):
        ProjectionPursuitRegressor(1, response_weight=[1.0, 2.0]).fit(X, Y)


def test_inputs_that_do_not_vary_are_refused():
    with pytest.raises(InputError, match="None of the 2 columns of X varies over the 120 rows"):
        ProjectionPursuitRegressor(1).fit(np.ones((120, 2)), Y)


def test_a_column_that_does_not_vary_counts_for_nothing():
    wide = np.column_stack([X, np.full(120, 7.0), X[:, 0] - X[:, 2]])  # and a combination
    found = ProjectionPursuitRegressor(1, max_terms=1).fit(wide, Y)
    alone = ProjectionPursuitRegressor(1, max_terms=1).fit(X, Y)
    assert found.directions_[0, 3] == 0
    assert np.mean((found.predict(wide) - alone.predict(X)) ** 2) < 1e-3 * np.var(Y)


def test_weights_too_far_apart_are_refused():
    weight = np.where(np.arange(120) % 2, 1e-20, 1.0)
    with pytest.raises(InputError, match="the smallest are lost in floating point"):
        ProjectionPursuitRegressor(1).fit(X, Y, sample_weight=weight)


def test_missing_values_and_one_class_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        ProjectionPursuitRegressor(1).fit(np.where(X > 2, np.nan, X), Y)
    with pytest.raises(InputError, match="only one class"):
        ProjectionPursuitClassifier(1).fit(X, np.zeros(120))


def test_a_response_without_variation_is_its_mean():
    model = ProjectionPursuitRegressor().fit(X, np.full(120, 3.0))
    assert model.predict(X) == pytest.approx(np.full(120, 3.0))


def test_two_values_and_one_input():
    two = np.repeat([[0.0], [1.0]], 20, axis=0)
    model = ProjectionPursuitRegressor(1).fit(two, 2 * two[:, 0] + 1)
    assert model.predict([[0.0], [0.5], [1.0]]) == pytest.approx([1, 2, 3])


def test_an_outlier_does_not_blur_the_rest():
    """Cells are even in ranks too: one far row leaves them to the others."""
    far = np.vstack([X, np.full((1, 3), 1e4)])
    model = ProjectionPursuitRegressor(2, max_terms=2).fit(far, np.append(Y, 0.0))
    assert np.mean((model.predict(X) - Y) ** 2) < 0.5 * np.var(Y)


def test_more_terms_than_rows_allow_are_not_made():
    model = ProjectionPursuitRegressor(50).fit(X[:20], Y[:20])
    assert model.n_terms_ == 19 // 4


def test_far_points_are_predicted_with_a_warning():
    with pytest.warns(UserWarning, match="beyond the largest number"):
        MODEL.predict(np.full((2, 3), 1e308))


def test_too_few_passes_are_said():
    with pytest.warns(UserWarning, match="still gained more than tol=1e-12 after 1 passes"):
        ProjectionPursuitRegressor(2, max_terms=2, max_iter=1, tol=1e-12).fit(X, Y)


def test_results_are_data():
    row = MODEL.glance()
    rss = np.sum((MODEL.predict(X) - Y) ** 2)
    assert row["deviance"][0] == pytest.approx(rss)
    assert row["r_squared"][0] == pytest.approx(1 - rss / np.sum((Y - Y.mean()) ** 2))
    assert row["sigma"][0] == pytest.approx(np.sqrt(rss / (120 - MODEL.df_)))
    loglik = -60 * (np.log(2 * np.pi * rss / 120) + 1)
    assert row["loglik"][0] == pytest.approx(loglik)
    assert row["aic"][0] == pytest.approx(2 * (MODEL.df_ + 1) - 2 * loglik)
    tidy = MODEL.tidy()
    assert tidy["term"][0] == "(Intercept)"
    assert tidy["term"][1].startswith("f1: 0.7")  # 0.7 x0 + 0.7 x1, in some order
    assert "x0" in tidy["term"][1]
    assert "x1" in tidy["term"][1]
    assert tidy["estimate"].tolist()[1:] == MODEL.terms_.beta[:, 0].tolist()
    assert "Directions and functions were chosen" in str(MODEL.summary())


@pytest.mark.parametrize("library", [pd, pl])
def test_directions_have_the_names_of_the_columns(library):
    frame = library.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    model = ProjectionPursuitRegressor(1, max_terms=1).fit(frame, Y)
    found = model.directions()
    assert isinstance(found, library.DataFrame)
    assert list(found["input"]) == ["a", "b", "c"]
    assert np.array(found["f1"]) == pytest.approx(model.directions_[0])


def test_functions_are_drawn_with_what_is_left():
    chart = MODEL.plot(X, Y).to_dict()
    assert len(chart["concat"]) == 2
    assert chart["concat"][0]["title"]["text"].startswith("f1: 0.7")
    points = [row for data in _data(chart) for row in data if row["kind"] == "row"]
    assert len(points) == 2 * len(X)
    at, height = np.array([[row["x"], row["y"]] for row in points[: len(X)]]).T
    share = MODEL.terms_.beta[0, 0] * MODEL.ridge_values(X)[:, 0]
    order = np.argsort(MODEL.terms_.projections(X)[:, 0])
    partial = (share + Y - MODEL.predict(X))[order]
    assert height[np.argsort(at)] == pytest.approx(partial, rel=1e-3, abs=1e-3)
    with pytest.raises(InputError, match="give X alone"):
        MODEL.plot(y=Y)


def _data(chart):
    """Return the rows of data that the panels of a chart have."""
    found = list(chart.get("datasets", {}).values())
    return found or [panel["data"]["values"] for panel in chart["concat"]]


def test_a_damaged_file_is_refused():
    terms = MODEL.terms_
    terms.check_loaded()
    for name in ("directions", "beta", "functions"):
        kept = getattr(terms, name)
        object.__setattr__(terms, name, kept[:-1])
        with pytest.raises(ModelFileError):
            terms.check_loaded()
        object.__setattr__(terms, name, kept)
