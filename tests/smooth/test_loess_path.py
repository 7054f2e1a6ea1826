"""The path of loess over its span."""

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.smooth import Loess


def wave(n=200, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, size=n)
    return x[:, None], np.sin(x) + noise * rng.normal(size=n), np.sin(x)


@pytest.mark.parametrize("surface", ["direct", "interpolate"])
@pytest.mark.parametrize("family", ["gaussian", "symmetric"])
def test_each_point_of_the_path_is_the_fit_at_that_span(surface, family):
    X, y, _ = wave(80)
    w = np.random.default_rng(2).uniform(0.5, 2, size=80)
    model = Loess(surface=surface, family=family)
    curve = model.path(X, y, sample_weight=w, values=[0.3, 0.9, 0.5])
    assert curve.values.tolist() == [0.9, 0.5, 0.3]
    for i, span in enumerate(curve.values):
        fixed = Loess(span, surface=surface, family=family).fit(X, y, sample_weight=w)
        assert curve.df[i] == pytest.approx(fixed.df_, rel=1e-12)
        assert curve.error[i] == pytest.approx(fixed.loo_, rel=1e-12)
        assert curve.criteria["gcv"][i] == pytest.approx(fixed.gcv_, rel=1e-12)
        assert curve.criteria["aicc"][i] == pytest.approx(fixed.aicc_, rel=1e-12)


def test_own_grid_is_usable_throughout():
    X, y, _ = wave(60)
    X = X.round()  # eleven places
    curve = Loess().path(X, y)
    assert np.all(np.isfinite(curve.error))
    assert len(curve) < 20  # the narrowest windows hold one place only
    Loess(curve.values[-1].item()).fit(X, y)  # none of its windows has to be widened: no warning


@pytest.mark.parametrize("rule", ["min", "one_se", "aicc", "gcv", "cp"])
@pytest.mark.parametrize("surface", ["direct", "interpolate"])
def test_auto_finds_a_known_curve(rule, surface):
    X, y, truth = wave(400)
    model = Loess(select=rule, surface=surface).fit(X, y)
    # A tenth of the noise's variance would be 40 parameters' worth; a sine of three half-waves
    # needs fewer than 20 here.
    assert np.mean((model.predict(X) - truth) ** 2) < 0.3**2 * 20 / 400
    assert model.cp_ == pytest.approx(
        model.path_.criteria["cp"][model.path_.values == model.span_][0], rel=1e-9
    )


def test_interpolated_leave_one_out_is_close_to_the_direct():
    X, y, _ = wave(300)
    values = [0.2, 0.4, 0.8]
    direct, blended = (
        Loess(surface=surface).path(X, y, values=values) for surface in ("direct", "interpolate")
    )
    # The blended surface is another one, by a small part of the noise.
    assert blended.error == pytest.approx(direct.error, rel=0.05)
    assert blended.df == pytest.approx(direct.df, rel=0.05)


@pytest.mark.parametrize("values", [[], [0.0, 0.5], [np.nan], [[0.5]]])
def test_bad_values_are_refused(values):
    X, y, _ = wave(30)
    with pytest.raises(
        InputError, match=r"is not allowed; (span must be|give a list of values of span)"
    ):
        Loess().path(X, y, values=values)
