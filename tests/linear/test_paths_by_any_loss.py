"""Paths of linear models judged by any loss, over several knobs, from work that is done once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import log_loss

from bottega.classify import LogisticRegression
from bottega.core.folds import make_folds
from bottega.core.judge import mean_and_se
from bottega.core.losses import ABSOLUTE_ERROR, Huber
from bottega.linear import ElasticNet, Lasso, PrincipalComponentsRegression, Ridge
from bottega.linear._decomposition import problem as decomposition
from bottega.linear._penalized import work


def draw(seed=0, n=60, p=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    return X, 2 * X[:, 0] - X[:, 1] + rng.standard_t(3, size=n)


# ---- losses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_of_ridge_under_absolute_error(q, weighted):
    X, y = draw(1, n=25)
    if q:
        y = np.column_stack([y, y**2])
    w = np.random.default_rng(0).uniform(0.5, 2, 25) if weighted else None
    curve = Ridge(standardize=False).path(
        X, y, sample_weight=w, values=[5.0, 0.1], loss="absolute_error"
    )
    assert (curve.estimate, curve.loss) == ("loo", "absolute error")
    losses = np.empty((25, 2))
    for i in range(25):
        rest = np.arange(25) != i
        for k, alpha in enumerate([5.0, 0.1]):
            fit = Ridge(alpha, standardize=False)
            fit.fit(X[rest], y[rest], None if w is None else w[rest])
            losses[i, k] = np.mean(np.abs(y[i] - fit.predict(X[[i]])[0]))
    assert_allclose((curve.error, curve.error_se), mean_and_se(losses, w), rtol=1e-8)


@pytest.mark.parametrize("shape", [(60, 5), (30, 50)])
@pytest.mark.parametrize("loss", [ABSOLUTE_ERROR, Huber(0.5)], ids=str)
def test_folds_of_the_lasso_under_any_loss(shape, loss):
    X, y = draw(2, *shape)
    curve = Lasso(cv=5).path(X, y, values=[0.5, 0.1], loss=loss)
    losses, means = np.empty((shape[0], 2)), []
    for train, test in make_folds(5, shape[0], X=X, y=y):
        for k, alpha in enumerate([0.5, 0.1]):
            fit = Lasso(alpha).fit(X[train], y[train])
            losses[test, k] = loss(y[test], fit.predict(X[test]))
        means.append(losses[test].mean(axis=0))
    assert_allclose((curve.error, curve.error_se), mean_and_se(losses), rtol=1e-7)
    assert_allclose(curve.fold_error, means, rtol=1e-7)
    fits = [Lasso(alpha).fit(X, y).predict(X) for alpha in (0.5, 0.1)]
    assert_allclose(curve.train_error, [np.mean(loss(y, each)) for each in fits], rtol=1e-7)


def test_without_folds_another_loss_is_judged_by_ten():
    X, y = draw(3)
    assert Lasso(cv=None).path(X, y).estimate == "gcv"
    curve = Lasso(cv=None).path(X, y, values=[0.2], loss="absolute_error")
    assert_allclose(curve.error, Lasso().path(X, y, values=[0.2], loss="absolute_error").error)


def test_the_standard_error_of_glmnet_follows_from_the_folds():
    """R's cv.glmnet: the standard deviation of the fold means, weighted by the sizes of folds."""
    X, y = draw(4)
    curve = Lasso().path(X, y)
    folds = make_folds(10, 60, X=X, y=y)
    sizes = np.array([len(test) for _, test in folds])
    mean = np.average(curve.fold_error, axis=0, weights=sizes)
    assert_allclose(curve.error, mean, rtol=1e-12)
    cvsd = np.sqrt(np.average((curve.fold_error - mean) ** 2, axis=0, weights=sizes) / 9)
    by_row = curve.error_se
    # Both estimate the same spread: that of the folds from ten numbers, so to a third or so.
    assert np.all((cvsd > by_row / 3) & (cvsd < 3 * by_row))


def test_log_loss_and_brier_score_of_the_logistic_lasso():
    X, y = draw(5, n=80)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])]
    folds = make_folds(4, 80, strata=labels, X=X)

    def brier(truth, shares, labels):
        observed = truth[:, None] == np.array(labels)
        return np.mean(np.sum((observed - shares) ** 2, axis=1)) / 2

    for loss, peer in (("log_loss", log_loss), ("brier_score", brier)):
        curve = LogisticRegression(l1_ratio=1.0, cv=folds).path(
            X, labels, values=[0.1, 0.02], loss=loss
        )
        assert curve.estimate == "cv"
        for k, alpha in enumerate([0.1, 0.02]):
            fits = [
                LogisticRegression(alpha=alpha, l1_ratio=1.0).fit(X[train], labels[train])
                for train, _ in folds
            ]
            scores = [
                peer(labels[test], fit.predict_proba(X[test]), labels=["a", "b", "c"])
                for fit, (_, test) in zip(fits, folds, strict=True)
            ]
            # Coefficients are known to the root of the gap.
            assert_allclose(curve.fold_error[:, k], scores, rtol=1e-3)


def test_the_picked_rule_may_be_of_another_loss():
    X, y = draw(6, n=100)
    model = LogisticRegression(l1_ratio=1.0).path(X, y > 0, loss="log_loss")
    assert model.loss == "log loss"
    assert np.all(np.isfinite(model.error))
    assert model.error.min() < model.error[0]


# ---- two knobs -----------------------------------------------------------------------------------


def test_alpha_and_l1_ratio_are_walked_together():
    X, y = draw(7)
    model = ElasticNet(l1_ratio="auto", alphas=20).fit(X, y)
    path = model.path_
    assert path.knobs == ("alpha", "l1_ratio")
    assert len(path) == 7 * 20
    assert np.all(np.diff(path.df) >= 0)
    chosen = path.settings[path.best("one_se")]
    assert (model.alpha_, model.l1_ratio_) == (chosen["alpha"], chosen["l1_ratio"])
    fixed = ElasticNet(**chosen).fit(X, y)
    assert np.array_equal(fixed.coef_, model.coef_)
    for ratio in (0.1, 0.9):
        alone = ElasticNet(l1_ratio=ratio, alphas=20).path(X, y)
        share = ratio / (ratio + (1 - ratio) / np.std(y))  # that of a response of unit spread
        at = [
            i for i, setting in enumerate(path.settings) if np.isclose(setting["l1_ratio"], share)
        ]
        assert [path.settings[i]["alpha"] for i in at] == alone.values.tolist()
        for name in ("error", "error_se", "train_error", "df"):
            assert_allclose(getattr(path, name)[at], getattr(alone, name), rtol=1e-9)
        assert_allclose(path.coef[at], alone.coef, atol=1e-12)
    row = model.glance().iloc[0]
    assert row["error"] == path.error[path.best("one_se")]
    assert len(model.gap_path_) == 140


def test_a_given_alpha_leaves_the_share_to_be_chosen():
    X, y = draw(8)
    model = ElasticNet(0.3, l1_ratio="auto").fit(X, y)
    assert model.alpha_ == 0.3
    assert model.path_.knob == "l1_ratio"
    assert len(model.path_) == 7
    parts = [(X[rows], y[rows]) for rows in np.split(np.arange(60), [13, 40])]
    chunked = ElasticNet(l1_ratio="auto", alphas=15).fit_chunks(parts)
    whole = ElasticNet(l1_ratio="auto", alphas=15).fit(X, y)
    assert chunked.l1_ratio_ == whole.l1_ratio_
    assert chunked.alpha_ == pytest.approx(whole.alpha_, rel=1e-10)
    assert_allclose(chunked.path_.error_se, whole.path_.error_se, rtol=1e-7)
    with_folds = ElasticNet(l1_ratio="auto", alphas=15).path(X, y, cv=make_folds(10, 60, X=X, y=y))
    assert_allclose(with_folds.error, whole.path_.error, rtol=1e-7)


# ---- work that is done once ----------------------------------------------------------------------


def counted(monkeypatch, module, name):
    calls = []
    original = getattr(module, name)

    def call(*given, **named):
        calls.append(name)
        return original(*given, **named)

    monkeypatch.setattr(module, name, call)
    return calls


def test_a_fit_prepares_its_rows_once(monkeypatch):
    X, y = draw(9)
    moments = counted(monkeypatch, work, "FoldMoments")
    Lasso().fit(X, y)
    assert len(moments) == 1
    Lasso().path(X, y, cv=make_folds(3, 60))
    assert len(moments) == 1 + 1 + 3  # once for the training rows of each given fold
    decomposed = counted(monkeypatch, decomposition, "by_svd")
    Ridge().fit(X, y)
    assert len(decomposed) == 1
    PrincipalComponentsRegression(cv=5).fit(X, y)
    assert len(decomposed) == 1 + 1 + 5  # and once in each fold


@pytest.mark.parametrize(
    "model", [Ridge(), Lasso(), Lasso(cv=None), PrincipalComponentsRegression()], ids=str
)
@pytest.mark.parametrize("shape", [(60, 5), (30, 50)])
def test_a_given_value_has_the_digits_of_the_picked_one(model, shape):
    X, y = draw(10, *shape)
    picked = clone(model).fit(X, y)
    value = getattr(picked, f"{model.knob}_")
    given = clone(model).set_params(**{model.knob: value}).fit(X, y)
    assert np.array_equal(picked.coef_, given.coef_)
    assert picked.intercept_ == given.intercept_
