"""The paths of all smoothers: any loss, one scale, one prepared work."""

import numpy as np
import pytest

from bottega.core.errors import ParameterError
from bottega.core.losses import Huber
from bottega.core.tuned import tune
from bottega.smooth import (
    LocalRegression,
    Loess,
    PSpline,
    RegressionSpline,
    SmoothingSpline,
    TensorSpline,
    ThinPlateSpline,
)

SMOOTHERS = {
    LocalRegression: [0.4, 1.0],
    Loess: [0.4, 0.8],
    PSpline: [0.1, 10.0],
    RegressionSpline: [2, 5],
    SmoothingSpline: [0.01, 1.0],
    TensorSpline: [2, 5],
    ThinPlateSpline: [0.01, 1.0],
}


def curve(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 6, size=n).round(1)  # some ties
    y = np.sin(x) + 0.3 * rng.standard_t(3, size=n)
    return x[:, None], y, rng.uniform(0.5, 2, size=n)


@pytest.mark.parametrize("each", SMOOTHERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_any_loss_judges_the_rows_that_are_left_out(each, weighted):
    X, y, weight = curve()
    weight = weight if weighted else None
    for loss, of_residuals in (
        ("absolute_error", np.abs),
        (Huber(0.2), lambda r: np.where(np.abs(r) <= 0.2, r**2 / 2, 0.2 * (np.abs(r) - 0.1))),
        (lambda y, predicted: (y - predicted) ** 2, np.square),
        ("squared_error", np.square),
    ):
        path = each().path(X, y, sample_weight=weight, values=SMOOTHERS[each], loss=loss)
        assert path.estimate == "loo"
        for i in range(len(path)):
            model = path.at(i)
            losses = of_residuals(model.loo_residuals_)
            w = np.ones(len(y)) if weight is None else weight
            mean = np.average(losses, weights=w)
            se = np.sqrt(np.sum(w**2 * (losses - mean) ** 2)) / w.sum()
            se *= np.sqrt(60 / 59)
            assert path.error[i] == pytest.approx(mean, rel=1e-9)
            assert path.error_se[i] == pytest.approx(se, rel=1e-8)
            inside = of_residuals(model.smoother_.residuals)
            assert path.train_error[i] == pytest.approx(np.average(inside, weights=w), rel=1e-9)


@pytest.mark.parametrize("each", SMOOTHERS)
def test_folds_are_fits_to_the_other_rows(each):
    X, y, weight = curve()
    values = SMOOTHERS[each]
    folds = [(np.flatnonzero(np.arange(60) % 3 != k), np.arange(k, 60, 3)) for k in range(3)]
    path = each().path(X, y, sample_weight=weight, values=values, cv=folds)
    assert path.estimate == "cv"
    for i, setting in enumerate(path.settings):
        held = np.empty(60)
        for train, test in folds:
            model = each(**setting).fit(X[train], y[train], sample_weight=weight[train])
            held[test] = y[test] - model.predict(X[test])
        assert path.error[i] == pytest.approx(np.average(held**2, weights=weight), rel=1e-9)


@pytest.mark.parametrize("each", SMOOTHERS)
def test_cp_is_measured_against_the_scale_of_the_path(each):
    X, y, _ = curve()
    model = each(select="cp").fit(X, y)
    path = model.path_
    rich = np.flatnonzero(path.df <= 30)[-1]
    rss = path.train_error * 60
    assert path.scale == pytest.approx(np.sqrt(rss[rich] / (60 - path.df[rich])), rel=1e-10)
    assert model.cp_ == pytest.approx(path.criteria["cp"].min(), rel=1e-8)
    chosen = path.settings[path.best("cp")]
    again = each(**chosen).fit(X, y)
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("each", SMOOTHERS)
def test_rows_of_weight_zero_are_fitted_and_count_for_nothing(each):
    X, y, weight = curve()
    weight[[3, 17, 40]] = 0.0
    value = SMOOTHERS[each][1]
    some = each(value).fit(X, y, sample_weight=weight)
    rest = each(value).fit(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
    assert some.predict(X) == pytest.approx(rest.predict(X), rel=1e-12)
    assert some.smoother_.fitted == pytest.approx(rest.predict(X), rel=1e-9, abs=1e-9)
    assert some.leverage_[[3, 17, 40]].tolist() == [0.0] * 3
    assert (some.df_, some.sigma_) == (
        pytest.approx(rest.df_, rel=1e-12),
        pytest.approx(rest.sigma_, rel=1e-12),
    )
    S = some.matrix(X)
    assert S.shape == (60, 60)
    assert not S[:, [3, 17, 40]].any()
    assert S @ y == pytest.approx(some.predict(X), rel=1e-8, abs=1e-8)
    assert some.augment().shape == (60, 5)


def test_the_penalty_is_refined_under_the_loss_that_is_asked_for():
    X, y, _ = curve(200)
    model = tune(SmoothingSpline(), X, y, loss="absolute_error", select="min")
    assert model.path_.loss == "absolute error"
    fine = SmoothingSpline().path(
        X, y, values=model.alpha_ * np.geomspace(0.3, 3, 61), loss="absolute_error"
    )
    # The mean of absolute values has small kinks along the path, which a search may miss.
    assert model.path_.error.min() <= fine.error.min() * (1 + 1e-4)
    assert np.mean(np.abs(model.loo_residuals_)) == pytest.approx(model.path_.error.min(), rel=1e-9)


def test_points_outside_are_nan_and_rows_of_weight_zero_are_not():
    X, y, weight = curve()
    weight[[np.argmin(X), np.argmax(X)]] = 0.0
    X[np.argmin(X)], X[np.argmax(X)] = -4.0, 11.0
    for each in (LocalRegression, Loess):
        model = each(0.9, outside="nan").fit(X, y, sample_weight=weight)
        assert np.isnan(model.predict(X)).sum() == 2
        assert np.all(np.isfinite(model.smoother_.fitted))
        assert np.isfinite(model.sigma_)


@pytest.mark.parametrize("each", [PSpline, SmoothingSpline, ThinPlateSpline])
def test_alphas_say_how_many_penalties_or_which(each):
    X, y, _ = curve()
    assert len(each(alphas=7).path(X, y)) >= 7
    model = each(alphas=[0.1, 3.0, 0.5]).fit(X, y)
    assert model.path_.values.tolist() == [3.0, 0.5, 0.1]
    assert model.alpha_ in model.path_.values
    given = each().path(X, y, values=[0.1, 0.5, 3.0])
    assert model.path_.error.tolist() == given.error.tolist()
    assert each(alphas=[0.1]).path(X, y, values=[2.0]).values.tolist() == [2.0]
    for bad in (1, [], [-1.0], [np.nan], [[1.0, 2.0]], "many", None):
        with pytest.raises(ParameterError, match=r"alphas=.* is not allowed"):
            each(alphas=bad).fit(X, y)


@pytest.mark.parametrize("weight", [2.0, 0.37, 700.0])
@pytest.mark.parametrize(
    ("each", "inputs"),
    [(each, p) for each in SMOOTHERS for p in (1, 2) if p <= (each.card.n_inputs or p)],
)
def test_equal_weights_are_as_none(each, inputs, weight):
    X, y, other = curve()
    X = np.column_stack([X, other])[:, :inputs]
    value = SMOOTHERS[each][1]
    scaled = value * weight if each.knob == "alpha" else value  # a penalty is to the same weights
    for model, other in ((each(), each()), (each(value), each(scaled))):
        plain = model.fit(X, y)
        same = other.fit(X, y, sample_weight=np.full(len(y), weight))
        assert same.predict(X) == pytest.approx(plain.predict(X), abs=1e-6)
        assert same.df_ == pytest.approx(plain.df_, abs=1e-6)
