"""Backfitting and local scoring: the fixed points they must reach."""

import numpy as np
import pandas as pd
import pytest

from bottega.additive.additive_model import AdditiveClassifier, AdditiveModel
from bottega.additive.terms import factor, linear, local, smooth
from bottega.core.errors import InputError, ParameterError
from bottega.smooth import Loess, PSpline, RegressionSpline, SmoothingSpline


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 150
    frame = pd.DataFrame({"a": rng.uniform(size=n), "b": rng.normal(size=n)})
    frame["b"] += frame.a  # related inputs: the order of the terms must not matter
    frame["g"] = rng.choice(["u", "v", "w"], n)
    y = np.sin(6 * frame.a) + 0.4 * frame.b**2 + (frame.g == "u") + 0.3 * rng.normal(size=n)
    return frame, y.to_numpy()


def backfitted(terms, **more):
    return AdditiveModel(terms, engine="backfitting", **more)


def test_lines_and_levels_are_least_squares(rows):
    """With linear smoothers backfitting is least squares (D128)."""
    frame, y = rows
    model = backfitted([linear("a"), linear("b"), factor("g")]).fit(frame, y)
    X = np.column_stack([np.ones(len(y)), frame.a, frame.b, frame.g == "v", frame.g == "w"])
    best = np.linalg.lstsq(X.astype(float), y, rcond=None)[0]
    assert model.predict(frame) == pytest.approx(X @ best)
    assert model.df_ == pytest.approx(5)


def test_local_scoring_of_lines_is_the_logistic_likelihood(rows):
    """With linear smoothers local scoring is maximum likelihood (D172)."""
    frame, y = rows
    labels = np.where(y > 1, "yes", "no")
    terms = [linear("a"), linear("b")]
    scored = AdditiveClassifier(terms, engine="backfitting").fit(frame, labels)
    at_once = AdditiveClassifier(terms).fit(frame, labels)
    assert scored.decision_function(frame) == pytest.approx(
        at_once.decision_function(frame), abs=1e-5
    )


def test_two_curves_solve_the_equations_of_backfitting(rows):
    """f_j = S_j (y - alpha - f_k), centred: the linear system, solved at once (D128)."""
    frame, y = rows
    models = [SmoothingSpline(alpha=0.5), SmoothingSpline(alpha=2.0)]
    terms = [smooth(name, smoother=one) for name, one in zip("ab", models, strict=True)]
    found = backfitted(terms).fit(frame, y)
    n = len(y)
    centring = np.eye(n) - 1 / n
    S = []
    for name, one in zip("ab", models, strict=True):
        x = frame[[name]].to_numpy()
        x = (x - x.mean()) / x.std()  # the smoother sees the column in its own unit
        S.append(centring @ one.fit(x, y).matrix(x))
    system = np.block([[np.eye(n), S[0]], [S[1], np.eye(n)]])
    right = np.concatenate([S[0] @ (y - y.mean()), S[1] @ (y - y.mean())])
    f = np.linalg.lstsq(system, right, rcond=None)[0]
    assert found.predict(frame) == pytest.approx(y.mean() + f[:n] + f[n:], abs=1e-6)
    effects = found.predict(frame, terms=True)
    assert effects.mean().to_numpy() == pytest.approx([y.mean(), 0, 0], abs=1e-9)
    assert effects["smooth(a)"].to_numpy() == pytest.approx(f[:n], abs=1e-5)


@pytest.mark.parametrize(
    "smoother",
    [
        SmoothingSpline(),
        PSpline(alpha=20.0),
        RegressionSpline(n_knots=3),
        Loess(span=0.6),
    ],
    ids=lambda one: type(one).__name__,
)
def test_any_smoother_serves(rows, smoother):
    frame, y = rows
    model = backfitted([smooth("a", smoother=smoother), smooth("b", df=3), factor("g")])
    model.fit(frame, y)
    assert model.converged_
    truth = np.sin(6 * frame.a) + 0.4 * frame.b**2 + (frame.g == "u")
    assert np.mean((model.predict(frame) - truth) ** 2) < 0.03
    assert 5 < model.df_ < 20


def test_degrees_of_freedom_are_those_asked_for(rows):
    frame, y = rows
    model = backfitted("smooth(a, df=5) + smooth(b, df=2.5)").fit(frame, y)
    assert model.df_ == pytest.approx(1 + 5 + 2.5, abs=1e-3)
    assert model.scale_ == pytest.approx(model.deviance_ / (150 - 8.5), rel=1e-4)


def test_weights_are_repeated_rows(rows):
    frame, y = rows
    w = np.random.default_rng(1).integers(0, 3, len(y))
    terms = [smooth("a", smoother=SmoothingSpline(alpha=1.0)), linear("b")]
    fitted = backfitted(terms).fit(frame, y, w)
    weighted = fitted.predict(frame)
    again = np.repeat(np.arange(len(y)), w)
    # The unit of a column is that of the rows that count, the same either way.
    repeated = backfitted(terms).fit(frame.iloc[again], y[again])
    assert weighted == pytest.approx(repeated.predict(frame), abs=1e-6)
    assert fitted.deviance_ == pytest.approx(repeated.deviance_)


def test_curves_of_levels_and_varying_coefficients():
    rng = np.random.default_rng(2)
    t, z, g = rng.uniform(size=400), rng.normal(size=400), rng.integers(0, 2, 400)
    frame = pd.DataFrame({"t": t, "z": z, "g": np.where(g == 1, "one", "none")})
    y = 1 + z * np.sin(6 * t) + 0.1 * rng.normal(size=400)
    model = backfitted("smooth(t, by=z, df=6)").fit(frame, y)
    assert np.mean((model.predict(frame) - 1 - z * np.sin(6 * t)) ** 2) < 0.01
    y = np.where(g == 1, np.sin(6 * t), 2 * t) + 0.1 * rng.normal(size=400)
    model = backfitted("smooth(t, by=g, df=6) + g").fit(frame, y)
    assert np.mean((model.predict(frame) - np.where(g == 1, np.sin(6 * t), 2 * t)) ** 2) < 0.01


def test_missing_values_have_an_effect_of_their_own(rows):
    frame, y = rows
    gaps = frame.assign(a=frame.a.where(np.arange(len(y)) % 5 > 0))
    shifted = np.where(gaps.a.isna(), 7.0, y)
    model = backfitted("smooth(a) + linear(b)").fit(gaps, shifted)
    assert model.predict(gaps)[gaps.a.isna()].mean() == pytest.approx(7, abs=0.1)


def test_what_backfitting_cannot_do_is_said(rows):
    frame, y = rows
    for terms, said in [
        ("random(g)", "engine='penalized'"),
        ("tensor(a, b)", "engine='penalized'"),
        ("smooth(a, shape=increasing)", "engine='penalized'"),
        ("smooth(a, basis=cyclic)", "engine='penalized'"),
    ]:
        with pytest.raises(InputError, match=said):
            backfitted(terms).fit(frame, y)
    with pytest.raises(InputError, match="backfitting"):
        AdditiveModel([local("a")]).fit(frame, y)
    with pytest.raises(ParameterError, match="interactions"):
        backfitted(None, interactions=2).fit(frame[["a", "b"]], y)
    with pytest.raises(InputError, match="penalized"):
        backfitted("smooth(a)").path(frame, y)
    with pytest.raises(InputError, match="two classes"):
        AdditiveClassifier("smooth(a)", engine="backfitting").fit(frame, frame.g)
    with pytest.raises(InputError, match="standard errors"):
        backfitted("smooth(a)").fit(frame, y).predict(frame, return_std=True)


def test_classes_that_can_be_separated_are_bounded():
    x = np.linspace(-1, 1, 60)[:, None]
    labels = np.where(x[:, 0] > 0.1, "up", "down")
    model = AdditiveClassifier("smooth(x0)", engine="backfitting").fit(x, labels)
    assert model.separated_
    assert np.array_equal(model.predict(x), labels)
    assert np.all(np.isfinite(model.decision_function(x)))
