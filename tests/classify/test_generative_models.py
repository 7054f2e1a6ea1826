"""What a model of the inputs gives beside labels: new rows, outliers, and missing inputs."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from bottega.classify import LinearDiscriminant, NaiveBayes, QuadraticDiscriminant
from bottega.core.errors import InputError, ModelFileError, ParameterError
from bottega.workbench import persist

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 2, 200)
X = RNG.normal(size=(200, 3)) @ np.array([[1.0, 0.8, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]])
X = X * np.where(CODES, 2.0, 1.0)[:, None] + 1.5 * CODES[:, None]
Y = np.where(CODES, "sick", "healthy")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
MODELS = [
    LinearDiscriminant(0).fit(X, Y),
    QuadraticDiscriminant(0).fit(X, Y),
    NaiveBayes().fit(X, Y),
]
NORMAL = MODELS[:2]


def name(model):
    return type(model).__name__


def covariances(model):
    found = np.asarray(model.covariance_)
    return [found, found] if found.ndim == 2 else found


@pytest.mark.parametrize("model", NORMAL, ids=name)
def test_density_is_the_mixture_of_normals(model):
    expected = sum(
        prior * stats.multivariate_normal(mean, covariance).pdf(X)
        for prior, mean, covariance in zip(
            model.priors_, model.means_, covariances(model), strict=True
        )
    )
    assert model.log_density(X) == pytest.approx(np.log(expected), rel=1e-9)
    assert np.array_equal(model.outlier_score(X), -model.log_density(X))


def test_density_of_naive_bayes_is_a_product():
    model = MODELS[2]
    expected = 0.0
    for k, label in enumerate(model.classes_):
        rows = X[label == Y]
        each = stats.norm(rows.mean(axis=0), rows.std(axis=0, ddof=1)).pdf(X)
        expected = expected + model.priors_[k] * np.prod(each, axis=1)
    assert model.log_density(X) == pytest.approx(np.log(expected), rel=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_density_of_a_row_with_gaps_is_that_of_the_rest(model):
    """The marginal density integrates the gap out; here by a fine sum."""
    row = np.array([0.3, np.nan, -0.2])
    grid = np.linspace(-30, 30, 4001)
    rows = np.column_stack([np.full(4001, 0.3), grid, np.full(4001, -0.2)])
    total = np.sum(np.exp(model.log_density(rows))) * (grid[1] - grid[0])
    assert model.log_density([row])[0] == pytest.approx(np.log(total), abs=1e-6)
    assert model.log_density([[np.nan] * 3])[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_gaps_are_filled_by_their_conditional_mean(model):
    row = np.array([[0.3, np.nan, -0.2]])
    grid = np.linspace(-30, 30, 4001)
    rows = np.column_stack([np.full(4001, 0.3), grid, np.full(4001, -0.2)])
    density = np.exp(model.log_density(rows))
    expected = np.sum(grid * density) / np.sum(density)
    filled = model.fill_in(row)
    assert filled[0, [0, 2]].tolist() == [0.3, -0.2]
    assert filled[0, 1] == pytest.approx(expected, abs=1e-6)
    nothing = model.fill_in([[np.nan] * 3])
    means = np.array([X[label == Y].mean(axis=0) for label in model.classes_])
    assert nothing[0] == pytest.approx(model.priors_ @ means, rel=1e-9)
    assert np.array_equal(model.fill_in(X), X)


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_a_fit_to_drawn_rows_recovers_the_model(model):
    drawn, labels = model.sample(20_000, random_state=3)
    for k, label in enumerate(model.classes_):
        rows = drawn[labels == label]
        truth = X[label == Y]
        error = truth.std(axis=0) * 3 / np.sqrt(len(rows))
        # Five standard errors: a false alarm in about 1 run out of 100,000 for 18 numbers.
        assert np.all(np.abs(rows.mean(axis=0) - truth.mean(axis=0)) < 5 * error)
        assert np.mean(labels == label) == pytest.approx(model.priors_[k], abs=0.02)
    again = type(model)(**model.get_params()).fit(drawn, labels)
    assert np.mean(again.predict(X) == model.predict(X)) > 0.97
    same = model.sample(5, random_state=3)[0]
    assert np.array_equal(same, model.sample(5, random_state=3)[0])


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_planted_outliers_have_the_largest_scores(model):
    strange = np.r_[X, [[40.0, -40.0, 0.0]]]
    assert np.argmax(model.outlier_score(strange)) == len(X)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("model", MODELS, ids=name)
def test_frames_give_frames(model, make):
    frame = make({column: FRAME[column].to_numpy() for column in FRAME})
    fitted = type(model)(**model.get_params()).fit(frame, Y)
    drawn, labels = fitted.sample(4, random_state=0)
    assert isinstance(drawn, make)
    assert list(drawn.columns) == ["a", "b", "c"]
    assert set(labels) <= {"healthy", "sick"}
    gaps = make({"a": [0.1, None], "b": [0.2, 0.3], "c": [None, 0.4]})
    filled = fitted.fill_in(gaps)
    assert isinstance(filled, make)
    expected = model.fill_in([[0.1, 0.2, np.nan], [np.nan, 0.3, 0.4]])
    assert filled.to_numpy() == pytest.approx(expected)


@pytest.mark.parametrize("model", NORMAL, ids=name)
def test_predictions_need_complete_rows(model):
    with pytest.raises(ValueError, match="NaN"):
        model.predict([[0.1, np.nan, 0.2]])


def test_models_of_some_inputs_draw_no_rows():
    model = LinearDiscriminant(0, n_features_to_select=1).fit(X, Y)
    for action in (lambda: model.sample(2), lambda: model.fill_in([[0.1, np.nan, 0.2]])):
        with pytest.raises(InputError, match="n_features_to_select=None"):
            action()
    with pytest.raises(ParameterError, match="n_samples=0"):
        MODELS[0].sample(0)


def saved(model, path):
    facts = (model.card.method, model.card.task, "y", ("a", "b", "c"), "", "0")
    return persist.save(persist.SavedModel(model, *facts), path)


@pytest.mark.parametrize("model", NORMAL, ids=name)
def test_edited_files_are_refused(model, tmp_path):
    again = persist.load(saved(model, tmp_path / "whole")).model
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.sample(2, random_state=0)[0] == pytest.approx(model.sample(2, random_state=0)[0])
    again.densities_.root[0] = again.densities_.root[0][:-1].copy()
    with pytest.raises(ModelFileError, match="roots of another width"):
        persist.load(saved(again, tmp_path / "edited"))


def test_naive_bayes_of_a_frame_comes_back_from_a_file(tmp_path):
    frame = FRAME.assign(town=np.where(CODES, "Rome", "Oslo"))
    model = NaiveBayes({"a": "kernel"}).fit(frame, Y)
    again = persist.load(saved(model, tmp_path / "whole")).model
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    more = again.partial_fit(frame[:5], Y[:5])
    assert more.glance()["nobs"].item() == 205


@pytest.mark.parametrize("model", NORMAL, ids=name)
def test_results_have_the_columns_of_every_model(model):
    terms, about = model.tidy(), model.glance()
    assert terms["estimate"].notna().all()
    assert about["nobs"].item() == 200
    assert np.isnan(about["error"].item())  # no path was walked
    chosen = type(model)().fit(X, Y)
    row = chosen.glance()
    # Of errors that only rounding tells apart, that of the simplest model.
    least = pytest.approx(np.min(chosen.path_.error), rel=1e-12)
    assert row["error"].item() == least or chosen.simplifies
    assert row[chosen.knob].item() == getattr(chosen, f"{chosen.knob}_")
    assert model.card.title in repr(model.summary())


def test_means_of_a_quadratic_discriminant_come_with_their_errors():
    terms = MODELS[1].tidy()
    sick = terms[(terms["response"] == "sick") & (terms["term"] == "x1")]
    rows = X[Y == "sick"]
    assert sick["estimate"].item() == pytest.approx(rows[:, 1].mean())
    assert sick["std_error"].item() == pytest.approx(rows[:, 1].std(ddof=1) / np.sqrt(len(rows)))
