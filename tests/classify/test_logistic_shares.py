"""Logistic regression: the share of absolute values from the path, profiles of several classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats
from sklearn.model_selection import StratifiedKFold

from bottega.classify import LogisticRegression
from bottega.classify._logistic import walk as walks
from bottega.core.errors import ParameterError
from bottega.core.parallel import at_most


def draw(seed, n, p, K):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, p) + rng.normal(size=p)
    score = X[:, 0] - 0.5 * X[:, 1] + 2 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, K) / K))


# ---- l1_ratio="auto" -----------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
def test_the_path_over_shares_is_the_paths_of_all_of_them(K):
    X, y = draw(0, 80, 4, K)
    folds = list(StratifiedKFold(4).split(X, y))
    frame = {"alpha": "auto", "alphas": [0.3, 0.1, 0.01], "cv": folds, "select": "min"}
    model = LogisticRegression(l1_ratio="auto", **frame).fit(X, y)
    settings = model.path_.settings
    assert sorted({each["l1_ratio"] for each in settings}) == [0.0, 0.1, 0.5, 0.9, 1.0]
    assert np.all(np.diff(model.path_.df) >= 0)
    for ratio in (0.0, 0.5, 1.0):
        alone = LogisticRegression(l1_ratio=ratio, **frame).fit(X, y)
        here = [k for k, each in enumerate(settings) if each["l1_ratio"] == ratio]
        order = [settings[k]["alpha"] for k in here]
        other = [alone.path_.values.tolist().index(alpha) for alpha in order]
        assert_allclose(model.path_.error[here], alone.path_.error[other], atol=1e-12)
        assert_allclose(model.path_.train_error[here], alone.path_.train_error[other], atol=1e-12)
        assert_allclose(model.path_.coef[here], alone.path_.coef[other], atol=1e-8)
    best = settings[model.path_.best("min")]
    assert (model.alpha_, model.l1_ratio_) == (best["alpha"], best["l1_ratio"])
    again = LogisticRegression(alpha=model.alpha_, l1_ratio=model.l1_ratio_).fit(X, y)
    assert_allclose(model.coef_, again.coef_, atol=1e-6)
    assert len(model.gap_path_) == len(settings)
    assert model.glance()["error"][0] == pytest.approx(model.path_.error.min())


def test_the_share_alone_is_chosen_at_a_given_penalty():
    X, y = draw(1, 60, 4, 2)
    model = LogisticRegression(alpha=0.05, l1_ratio="auto", cv=3).fit(X, y)
    assert {each["alpha"] for each in model.path_.settings} == {0.05}
    with pytest.raises(ParameterError, match="alpha='auto'"):
        LogisticRegression(l1_ratio="auto").fit(X, y)
    fixed = LogisticRegression(penalty="l2", l1_ratio="auto").fit(X, y)  # "l2" has no share
    assert_allclose(fixed.coef_, LogisticRegression().fit(X, y).coef_)


def test_shares_in_chunks_are_those_of_all_rows():
    X, y = draw(2, 60, 3, 2)
    frame = {"alpha": "auto", "l1_ratio": "auto", "alphas": 5, "select": "bic"}
    together = LogisticRegression(**frame).fit(X, y)
    model = LogisticRegression(**frame).fit_chunks([(X[:25], y[:25]), (X[25:], y[25:])])
    assert model.l1_ratio_ == together.l1_ratio_
    assert_allclose(model.coef_, together.coef_, atol=1e-6)


# ---- large tables --------------------------------------------------------------------------------


def test_folds_beside_the_fit_of_all_rows_are_fits_of_their_own(monkeypatch):
    """What folds share with all rows and take to be linear moves nothing that is predicted."""
    X, y = draw(3, 9000, 16, 2)
    folds = list(StratifiedKFold(3).split(X, y))
    alphas = np.geomspace(10, 0.001, 25)
    found = []
    judge = walks.predicted

    def keep(X, fits, *rest):
        found.append(fits)
        return judge(X, fits, *rest)

    monkeypatch.setattr(walks, "predicted", keep)
    monkeypatch.setattr(walks, "in_threads", lambda work, items, **_: [work(i) for i in items])
    LogisticRegression(l1_ratio=0.0).path(X, y, values=alphas, cv=folds)
    for (train, _), fits in zip(folds, found[-len(folds) :], strict=True):
        own = LogisticRegression(alpha="auto", alphas=alphas, select="bic").fit(X[train], y[train])
        scale = np.abs(own.path_.coef).max(axis=1, keepdims=True)
        # The folds' tolerance: their own scales differ from those of all rows by a percent.
        assert_allclose(fits.coef[:, 0] / scale, own.path_.coef / scale, atol=0.02)
        sd = X[train].std(axis=0)
        nll = _penalised(X[train], y[train], fits, alphas, sd)
        best = _penalised(X[train], y[train], _Fits(own.path_.coef[:, None], None), alphas, sd)
        assert np.all(nll - best <= 1e-6)


class _Fits:
    def __init__(self, coef, intercept):
        self.coef, self.intercept = coef, intercept


def _penalised(X, y, fits, alphas, sd):
    """Return the penalised objectives, each with its best intercept."""
    sign, out = np.where(y == 1, 1.0, -1.0), []
    for coef, alpha in zip(fits.coef[:, 0], alphas, strict=True):
        z = X @ coef

        def loss(b, z=z):
            return np.mean(np.logaddexp(0, -sign * (z + b)))

        out.append(optimize.minimize_scalar(loss).fun + alpha / 2 * np.sum((coef * sd) ** 2))
    return np.array(out)


@pytest.mark.parametrize("K", [2, 4])
def test_threads_change_nothing(K):
    X, y = draw(4, 70_000, 8, K)
    many = LogisticRegression().fit(X, y)
    with at_most(1):
        one = LogisticRegression().fit(X, y)
    assert np.array_equal(many.coef_, one.coef_)
    residual = (y[:, None] == np.arange(K)) - many.predict_proba(X)
    slope = residual.T @ X - many.coef_ if K > 2 else (residual[:, 1:].T @ X - many.coef_)
    assert np.max(np.abs(slope)) / len(y) < 1e-6


# ---- profiles of several classes -----------------------------------------------------------------


def test_profile_limits_of_several_classes_are_likelihood_ratio_tests():
    """At a limit the least deviance is above the best by the quantile: a fit of its own says so."""
    X, y = draw(5, 70, 2, 3)
    model = LogisticRegression(C=np.inf).fit(X, y)
    limits = model.profile_intervals(X, y, level=0.9)
    assert limits["response"].tolist() == [1, 1, 1, 2, 2, 2]
    Z, Y = np.column_stack([np.ones(70), X]), y[:, None] == np.arange(3)

    def deviance(free, place, value):
        B = np.insert(free, place, value).reshape(2, 3)
        scores = np.column_stack([np.zeros(70), Z @ B.T])
        top = scores.max(axis=1, keepdims=True)
        logs = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
        return -2 * np.sum(logs[Y])

    best = float(model.glance()["deviance"][0])
    start = model.tidy(reference=0)["estimate"].to_numpy()
    for place in range(6):
        for end in ("conf_low", "conf_high"):
            value = limits[end][place]
            free = np.delete(start, place)
            found = optimize.minimize(deviance, free, (place, value), method="BFGS", tol=1e-9)
            assert found.fun - best == pytest.approx(stats.chi2.ppf(0.9, 1), abs=1e-5)


def test_profiles_of_two_classes_turn_with_the_reference():
    X, y = draw(6, 60, 2, 2)
    model = LogisticRegression(C=np.inf).fit(X, y)
    one, other = (model.profile_intervals(X, y, reference=k) for k in (0, 1))
    assert_allclose(one["estimate"], -other["estimate"])
    assert_allclose(one["conf_low"], -other["conf_high"])
    assert "response" not in one.columns
