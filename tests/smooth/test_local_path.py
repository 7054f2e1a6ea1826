"""The path of local regression over its bandwidth, and the plug-in rule."""

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.smooth import LocalRegression, plugin_bandwidth


def wave(n=200, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, size=n)
    return x[:, None], np.sin(x) + noise * rng.normal(size=n), np.sin(x)


@pytest.mark.parametrize("kind", ["fixed", "nearest"])
@pytest.mark.parametrize("method", ["exact", "binned"])
def test_each_point_of_the_path_is_the_fit_at_that_bandwidth(kind, method):
    X, y, _ = wave(80)
    w = np.random.default_rng(2).uniform(0.5, 2, size=80)
    model = LocalRegression(kind=kind, method=method)
    curve = model.path(X, y, sample_weight=w, values=[0.3, 0.9, 0.5])
    assert curve.values.tolist() == [0.9, 0.5, 0.3]
    for i, h in enumerate(curve.values):
        fixed = LocalRegression(h.item(), kind=kind, method=method).fit(X, y, sample_weight=w)
        assert curve.df[i] == pytest.approx(fixed.df_, rel=1e-12)
        assert curve.error[i] == pytest.approx(fixed.loo_, rel=1e-12)
        assert curve.criteria["gcv"][i] == pytest.approx(fixed.gcv_, rel=1e-12)
        assert curve.criteria["aicc"][i] == pytest.approx(fixed.aicc_, rel=1e-12)


@pytest.mark.parametrize("kernel", ["normal", "tricube"])
def test_own_grid_is_usable_throughout(kernel):
    X, y, _ = wave(60)
    X = X.round()  # eleven places
    curve = LocalRegression(kernel=kernel).path(X, y)
    assert np.all(np.isfinite(curve.error))
    model = LocalRegression(curve.values[-1].item(), kernel=kernel).fit(X, y)  # and no warning
    assert model.df_ == pytest.approx(curve.df[-1])


@pytest.mark.parametrize("rule", ["min", "gcv", "aicc"])
@pytest.mark.parametrize("method", ["exact", "binned"])
def test_picked_bandwidth_is_near_the_best(rule, method):
    X, y, truth = wave(400)
    model = LocalRegression(select=rule, method=method).fit(X, y)
    error = [
        np.mean((LocalRegression(h.item()).fit(X, y).predict(X) - truth) ** 2)
        for h in model.path_.values[8:]
    ]
    # The best of the grid cannot be known; one sample picks a little off it.
    assert np.mean((model.predict(X) - truth) ** 2) < 1.4 * min(error)


def test_plugin_is_near_the_oracle_and_scales_with_the_kernel():
    X, y, truth = wave(500)
    model = LocalRegression("plugin").fit(X, y)
    assert not hasattr(model, "path_")
    assert model.bandwidth_ == plugin_bandwidth(X[:, 0], y)
    errors = [
        np.mean((LocalRegression(h).fit(X, y).predict(X) - truth) ** 2)
        for h in np.geomspace(0.1, 1.5, 12).tolist()
    ]
    assert np.mean((model.predict(X) - truth) ** 2) < 1.4 * min(errors)
    # Canonical bandwidths: (roughness / variance^2)^(1/5) of the weight function.
    ratio = plugin_bandwidth(X[:, 0], y, kernel="epanechnikov") / model.bandwidth_
    assert ratio == pytest.approx((0.6 / 0.04 / 0.28209479) ** 0.2, rel=1e-8)


def test_plugin_without_noise_or_curvature():
    x = np.linspace(0, 4, 50)
    assert plugin_bandwidth(x, 2 * x + np.resize([0.1, -0.1], 50)) > 0.5
    assert plugin_bandwidth(x, np.zeros(50)) == pytest.approx(4 / 50)
    noisy = np.sin(x) + np.resize([0.1, -0.1, 0.05], 50)
    for weight in (1e-5, 3.0):  # the same for all rows
        found = plugin_bandwidth(x, noisy, sample_weight=np.full(50, weight))
        assert found == pytest.approx(plugin_bandwidth(x, noisy), rel=1e-9)
    with pytest.raises(InputError, match="at least 6 distinct x"):
        plugin_bandwidth([1, 1, 2, 2, 3, 3], [1, 2, 3, 4, 5, 6])
    with pytest.raises(InputError, match="one length"):
        plugin_bandwidth(x, x[:-1])
    with pytest.raises(InputError, match="finite"):
        plugin_bandwidth(x, np.where(x > 2, np.nan, x))


def test_plugin_refuses_what_it_is_not_for():
    X, y, _ = wave(50)
    for options in ({"degree": 2}, {"kind": "nearest"}):
        with pytest.raises(InputError, match="'plugin' is for one input"):
            LocalRegression("plugin", **options).fit(X, y)
    with pytest.raises(InputError, match="'plugin' is for one input"):
        LocalRegression("plugin").fit(np.column_stack([X, X**2]), y)


def test_refit_forgets_an_earlier_path():
    X, y, _ = wave(60)
    model = LocalRegression().fit(X, y)
    assert len(model.path_) > 5
    model.set_params(bandwidth=1.0).fit(X, y)
    assert not hasattr(model, "path_")


def test_path_of_a_model_with_a_bandwidth_each_is_over_one_for_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) * [1.0, 100.0]
    y = X[:, 0] + rng.normal(size=60)
    curve = LocalRegression([1.0, 50.0]).path(X, y, values=[0.8, 2.0])
    for i, h in enumerate(curve.values):
        assert curve.error[i] == pytest.approx(LocalRegression(h.item()).fit(X, y).loo_, rel=1e-12)
        assert curve.at(i).loo_ == pytest.approx(curve.error[i], rel=1e-12)
