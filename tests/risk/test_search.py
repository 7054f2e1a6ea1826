"""Search at random, over a grid and along a path: the same errors as cross-validation has."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Lasso
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bottega.core.errors import InputError, ParameterError
from bottega.core.params import Integer, Real
from bottega.kernel import KernelRidge, LinearSVM, SupportVectorClassifier, SupportVectorRegressor
from bottega.linear import Ridge
from bottega.neighbors import NearestNeighborsClassifier
from bottega.risk import cross_validate, search
from bottega.smooth import SmoothingSpline

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] ** 2 + 0.2 * RNG.normal(size=60)
LABEL = np.where(X[:, 0] - X[:, 1] > 0, "b", "a")


@pytest.fixture(scope="module")
def found():
    space = {"alpha": Real(1e-4, 1e2, log=True), "kernel": ["rbf", "laplacian"]}
    return search(KernelRidge(gamma=0.3), X, Y, space, n_iter=12, cv=4)


def test_each_setting_is_judged_as_cross_validation_judges_it(found):
    for i in (0, 7):
        model = KernelRidge(gamma=0.3).set_params(**found.settings[i])
        alone = cross_validate(model, X, Y, cv=4)
        assert found.error[i] == pytest.approx(alone.error)
        assert found.error_se[i] == pytest.approx(alone.error_se)
        assert found.fold_errors[i] == pytest.approx(alone.fold_errors)


def test_draws_are_spread_over_the_space_and_repeat(found):
    alphas = np.log10([setting["alpha"] for setting in found.settings])
    assert len(set(alphas)) == 12
    assert -4 <= alphas.min() < -1 < alphas.max() <= 2
    assert {setting["kernel"] for setting in found.settings} == {"rbf", "laplacian"}
    space = {"alpha": Real(1e-4, 1e2, log=True), "kernel": ["rbf", "laplacian"]}
    again = search(KernelRidge(gamma=0.3), X, Y, space, n_iter=12, cv=4)
    assert again.settings == found.settings
    other = search(KernelRidge(gamma=0.3), X, Y, space, n_iter=2, cv=2, random_state=1)
    assert other.settings[0] != found.settings[0]


def test_the_best_setting_is_fitted(found):
    assert found.error[found.best] == found.error.min()
    assert found.estimator.get_params()["alpha"] == found.best_setting["alpha"]
    fitted = KernelRidge(gamma=0.3).set_params(**found.best_setting).fit(X, Y)
    assert found.estimator.predict(X) == pytest.approx(fitted.predict(X))
    assert found.to_frame()["error"].tolist() == found.error.tolist()
    assert "too low" in str(found)
    assert found.plot().to_dict()["title"]["text"] == "Search (random) over 12 settings"


def test_a_uniform_draw_is_uniform():
    """Kolmogorov's test of 400 draws, on the scale of each; false with probability 1e-4."""
    space = {"a": Real(2.0, 5.0), "b": Real(1e-3, 10.0, log=True), "c": Integer(1, 4)}
    from bottega.risk.estimate.search import _settings

    drawn = _settings(space, "random", 400, 0)
    a, b, c = (np.array([setting[name] for setting in drawn]) for name in space)
    assert stats.kstest((a - 2) / 3, "uniform").pvalue > 1e-4
    assert stats.kstest(np.log10(b) / 4 + 0.75, "uniform").pvalue > 1e-4
    assert stats.chisquare(np.bincount(c)[1:]).pvalue > 1e-4


def test_grids_and_lists():
    grid = search(Ridge(), X, Y, {"alpha": [0.1, 1.0], "standardize": [True, False]}, how="grid")
    assert [tuple(setting.values()) for setting in grid.settings] == [
        (0.1, True),
        (0.1, False),
        (1.0, True),
        (1.0, False),
    ]
    few = search(Ridge(), X, Y, {"alpha": np.array([0.1, 1.0])}, n_iter=30)
    assert len(few.settings) == 2


def test_the_path_is_the_estimators_own():
    path = search(LinearSVM(), X, LABEL, how="path", cv=4)
    curve = LinearSVM("auto").path(X, LABEL, cv=4)
    assert path.error == pytest.approx(curve.error)
    assert path.fold_errors.shape == (10, 4)
    assert path.best_setting["C"] == path.estimator.C_
    some = search(LinearSVM(), X, LABEL, {"C": [0.1, 1.0]}, how="path", cv=4)
    assert [setting["C"] for setting in some.settings] == [0.1, 1.0]


def test_any_estimator_and_its_own_knobs():
    steps = make_pipeline(StandardScaler(), Lasso())
    found = search(steps, X, Y, {"lasso__alpha": stats.loguniform(1e-3, 1)}, n_iter=4)
    assert found.estimator.named_steps["lasso"].alpha == found.best_setting["lasso__alpha"]
    assert set(search(KernelRidge(), X, Y, n_iter=3).settings[0]) == {"alpha", "gamma"}
    neighbors = NearestNeighborsClassifier()
    by_loss = search(neighbors, X, LABEL, {"n_neighbors": [1, 5]}, loss="log_loss")
    assert by_loss.loss == "log loss"
    weight = np.r_[np.zeros(10), np.ones(50)]
    weighted = search(Ridge(), X, Y, {"alpha": [1.0]}, sample_weight=weight)
    assert weighted.estimator.coef_ == pytest.approx(Ridge(1.0).fit(X, Y, weight).coef_)


@pytest.mark.parametrize("method", [SupportVectorClassifier, SupportVectorRegressor])
def test_knobs_that_may_also_be_lists_are_drawn_as_numbers(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int) if method is SupportVectorClassifier else X[:, 0]
    found = search(method(), X, y, n_iter=3)
    assert all(set(setting) == {"C", "gamma"} for setting in found.settings)
    assert all(1e-3 <= value <= 1e3 for each in found.settings for value in each.values())
    assert not any(found.problems)


def test_the_last_step_of_a_pipeline_is_fitted_with_the_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y, w = X[:, 0] ** 2 + rng.normal(size=60), rng.integers(1, 20, 60)
    model = make_pipeline(StandardScaler(), Ridge(1.0))
    found = search(model, X, y, {"ridge__alpha": [1.0]}, sample_weight=w)
    assert np.array_equal(
        found.estimator.predict(X), model.fit(X, y, ridge__sample_weight=w).predict(X)
    )
    assert not np.allclose(found.estimator.predict(X), model.fit(X, y).predict(X))


def test_settings_that_cannot_be_fitted_are_told():
    space = {"kernel": ["rbf", "sigmoid"], "coef0": [-2.0]}
    found = search(KernelRidge(1.0, gamma=1.0), X, Y, space)
    assert np.isnan(found.error[1])
    assert "least eigenvalue" in found.problems[1]
    assert found.best == 0
    assert "could not be fitted" in str(found)
    with pytest.raises(InputError, match="No setting could be fitted"):
        search(SmoothingSpline(), X, Y, {"alpha": [1.0]})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"how": "bayes"}, "how='bayes'"),
        ({"n_iter": 0}, "n_iter=0"),
        ({"space": {}}, "space is empty"),
        ({"space": {"alpha": Real(0, 1)}, "how": "grid"}, "A grid needs a list"),
        ({"space": {"alpha": Real(0, None)}}, "cannot be drawn from"),
        ({"space": {"alpha": 3.0}}, "cannot be drawn from"),
        ({"space": {"alpha": Real(0, 1, log=True)}}, "limit above 0"),
        ({"space": {"penalty": [1.0]}}, "penalty"),
        ({"space": {"standardize": [True]}, "how": "path"}, "over alpha alone"),
        ({"how": "path", "groups": np.arange(60)}, "as cv"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        search(Ridge(), X, Y, **given)


def test_what_has_no_knob_needs_a_space():
    with pytest.raises(ParameterError, match="declares no knobs"):
        search(Lasso(), X, Y)
    with pytest.raises(ParameterError, match="has no path"):
        search(Lasso(), X, Y, how="path")
