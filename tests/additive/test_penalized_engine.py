"""The penalised engine: exact derivatives, algebra of the fit, invariances, shapes, classes."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import optimize

from bottega.additive._penalized.bins import Binning, Ranges
from bottega.additive._penalized.design import Design
from bottega.additive._penalized.engine import PenalizedEngine
from bottega.additive._penalized.multinomial import MultinomialEngine
from bottega.additive._penalized.negative_binomial import NegativeBinomialEngine
from bottega.additive._penalized.shape import ShapedEngine
from bottega.additive._penalized.state import solve
from bottega.additive._terms.bases import CurveBasis
from bottega.additive._terms.blocks import Block, Margin
from bottega.basis.spline_functions import difference_penalty, even_knots
from bottega.core.errors import InputError, ParameterError
from bottega.core.families import (
    BINOMIAL,
    GAMMA,
    GAUSSIAN,
    POISSON,
    NegativeBinomial,
)

N = 150


def curves(X, size=8, weight=None, shape=None):
    """Blocks of an additive model of P-splines, the first with a shape, and their design."""
    ranges = Ranges(X.shape[1]).update(X)
    margins = [(j,) for j in range(X.shape[1])]
    binning = Binning(ranges, margins, keep=True).update(X, None, weight)
    blocks = [Block("1", "intercept")]
    for j, columns in enumerate(margins):
        low, high = ranges.low[j], ranges.high[j]
        margin = Margin(columns, CurveBasis(low, high, even_knots(0.0, 1.0, size, 3), 3))
        bins = binning.bins(columns)
        mean = bins.weight[:-1] @ margin.rows(bins.values[:-1])
        Z = np.linalg.qr(mean[:, None], mode="complete")[0][:, 1:]
        S = Z.T @ difference_penalty(size, 2) @ Z
        null = Z.T @ np.linalg.qr(np.vander(np.arange(size), 2))[0]
        signs = None if shape is None or j else np.diff(np.eye(size), shape, axis=0) @ Z
        block = Block(f"s{j}", "smooth", (margin,), Z, (S,), shrink=null @ null.T, signs=signs)
        blocks.append(block)
    return Design(blocks, binning)


@cache
def rows(n=N, seed=0, p=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, p))
    eta = np.sin(6 * X[:, 0]) + X[:, 1]
    responses = {
        "gaussian": eta + 0.5 * rng.normal(size=n),
        "binomial": rng.binomial(3, 1 / (1 + np.exp(-eta))) / 3,
        "poisson": rng.poisson(np.exp(eta)),
        "gamma": rng.gamma(3.0, np.exp(eta) / 3),
        "negative_binomial": rng.negative_binomial(2, 2 / (2 + np.exp(eta + 1))),
    }
    return X, {name: np.asarray(y, dtype=float) for name, y in responses.items()}


def engine_of(family, n=N, weight=None, **settings):
    X, responses = rows(n)
    design = curves(X, weight=weight)
    part = design.rows(X, responses[family.name], weight)
    return PenalizedEngine(design, [part], family, **settings)


def fitted(design, fit, X):
    return np.hstack([block.design(X) for block in design.blocks]) @ fit.coef


FAMILIES = [
    GAUSSIAN,
    GAUSSIAN.with_link("log"),
    BINOMIAL,
    BINOMIAL.with_link("probit"),
    BINOMIAL.with_link("cloglog"),
    POISSON,
    POISSON.with_link("sqrt"),
    GAMMA,
    GAMMA.with_link("inverse"),
    NegativeBinomial(theta=1.5),
]


CRITERIA = [
    pytest.param(family, method, id=f"{family!r}-{method}")
    for family in FAMILIES
    for method in ("reml", "gcv", "ubre", "loo")
    if family.known_scale or method != "ubre"
]


@pytest.mark.parametrize(("family", "method"), CRITERIA)
def test_gradients_of_the_criteria_are_exact(family, method):
    weight = np.full(N, 3.0) if family.name == "binomial" else None
    engine = engine_of(family, weight=weight, shrink=True)
    if family.link_name == "log":
        X, responses = rows()
        part = engine.design.rows(X, np.exp(responses["gaussian"] / 2), weight)
        engine = PenalizedEngine(curves(X), [part], family, shrink=True)
    rho = np.array([1.0, -1.0, 0.5, 2.0])

    def value(at):
        return engine._evaluate(
            engine.problem, method, solve(engine.problem, engine.penalties, at, None)
        )

    gradient, hessian = value(rho).slopes()
    h = 1e-4
    numeric = [(value(rho + e).value - value(rho - e).value) / (2 * h) for e in h * np.eye(4)]
    # Central differences of step 1e-4, of fits that are converged to about 1e-9.
    assert gradient == pytest.approx(numeric, abs=2e-4 * (1 + np.max(np.abs(gradient))))
    if engine.least_squares and method != "loo":
        bends = [
            (value(rho + e).slopes()[0] - value(rho - e).slopes()[0]) / (2 * h)
            for e in h * np.eye(4)
        ]
        assert hessian == pytest.approx(np.array(bends), abs=1e-4 * (1 + np.max(np.abs(hessian))))


@pytest.mark.parametrize("family", [GAUSSIAN, BINOMIAL, POISSON, GAMMA], ids=repr)
def test_the_fit_solves_its_equations_and_its_df_are_traces(family):
    X, responses = rows()
    engine = engine_of(family)
    fit = engine.choose("reml")
    assert fit.converged
    assert fit.gradient < 1e-2
    design = curves(X)
    whole = np.hstack([block.design(X) for block in design.blocks])
    eta = whole @ fit.coef
    y, mu, slope = responses[family.name], family.mean(eta), family.mean_slope(eta)
    pull = whole.T @ ((y - mu) * slope / family.variance(mu)) - fit.penalty @ fit.coef
    assert pull == pytest.approx(np.zeros(len(pull)), abs=1e-4 * np.abs(whole.T @ y).max())
    V = fit.covariance / fit.scale
    assert V @ (fit.gram + fit.penalty) @ V == pytest.approx(V, abs=1e-5 * np.max(V))
    assert fit.df == pytest.approx(np.trace(V @ fit.gram))
    assert fit.block_df()[0] == pytest.approx(1.0, abs=1e-6)
    assert np.all(fit.block_df() > 0.99)
    assert np.diag(fit.penalty[1:8, 1:8]) == pytest.approx(
        np.diag(fit.alphas[1][0] * design.blocks[1].penalties[0])
    )
    assert fit.deviance == pytest.approx(float(family.deviance(y, mu)), rel=1e-6)


@pytest.mark.parametrize("method", ["reml", "gcv", "loo"])
def test_neither_units_nor_the_order_of_rows_matter(method):
    X, responses = rows()
    y = responses["gaussian"]
    order = np.random.default_rng(5).permutation(N)
    found = []
    for inputs, response in ((X, y), (X[order], y[order]), (8 * X - 3, 1e6 * y + 4e6)):
        design = curves(inputs)
        engine = PenalizedEngine(design, [design.rows(inputs, response)], GAUSSIAN)
        found.append(fitted(design, engine.choose(method), inputs))
    tol = 1e-9 if method != "loo" else 1e-4  # the criterion of rows left out is not polished
    assert found[1] == pytest.approx(found[0][order], abs=tol)
    assert (found[2] - 4e6) / 1e6 == pytest.approx(found[0], abs=tol)


def test_whole_number_weights_are_repeated_rows():
    X, responses = rows()
    times = np.random.default_rng(1).integers(1, 4, N)
    for family in (GAUSSIAN, GAMMA, POISSON):
        y = responses[family.name]
        design = curves(X, weight=times.astype(float))
        once = PenalizedEngine(design, [design.rows(X, y, times.astype(float))], family).choose(
            "reml"
        )
        many, again = np.repeat(X, times, axis=0), np.repeat(y, times)
        design = curves(many)
        twice = PenalizedEngine(design, [design.rows(many, again)], family).choose("reml")
        assert once.score == pytest.approx(twice.score, rel=1e-7)
        assert (once.n, once.weight) == (N, times.sum())
        assert once.coef == pytest.approx(twice.coef, abs=1e-4)


@pytest.mark.parametrize("family", [GAUSSIAN, BINOMIAL], ids=repr)
def test_chunks_give_the_same_fit(family):
    X, responses = rows()
    y, design = responses[family.name], curves(X)
    cuts = np.split(np.arange(N), [40, 90])
    parts = [design.rows(X[cut], y[cut]) for cut in cuts]
    apart = PenalizedEngine(design, parts, family).choose("reml")
    together = engine_of(family).choose("reml")
    assert apart.score == pytest.approx(together.score, rel=1e-10)
    assert apart.coef == pytest.approx(together.coef, abs=1e-5)


def test_an_offset_is_a_known_part_of_the_predictor():
    X, responses = rows()
    design, offset = curves(X), 0.3 * X[:, 0]
    for family in (GAUSSIAN, POISSON):
        y = responses[family.name]
        part = design.rows(X, y, None, offset)
        engine = PenalizedEngine(design, [part], family)
        fit = engine.choose("reml")
        eta = fitted(design, fit, X) + offset
        assert fit.deviance == pytest.approx(float(family.deviance(y, family.mean(eta))), rel=1e-6)
        assert fit.deviance < fit.null_deviance


def test_a_column_twice_loses_its_free_coefficients_once():
    X, responses = rows()
    twice = X[:, [0, 1, 0]]
    design = curves(twice)
    engine = PenalizedEngine(design, [design.rows(twice, responses["gaussian"])], GAUSSIAN)
    fit = engine.choose("reml")
    assert np.count_nonzero(~engine.kept) == 1
    assert np.all(np.isfinite(fit.coef))
    alone = fitted(curves(X), engine_of(GAUSSIAN).choose("reml"), X)
    assert fitted(design, fit, twice) == pytest.approx(alone, abs=0.02)


def test_a_column_twice_is_lost_alike_for_every_class():
    X, _ = rows()
    twice = X[:, [0, 1, 0]]
    codes = np.random.default_rng(2).integers(0, 4, N).astype(float)
    design = curves(twice)
    engine = MultinomialEngine(design, [design.rows(twice, codes)], 4)
    assert sum(engine.lost()) == 3  # one for each predictor
    fit = engine.choose("reml")
    assert fit.converged
    assert np.all(np.isfinite(fit.covariance))


def test_given_penalties_and_multiples_of_the_chosen_ones():
    engine = engine_of(GAUSSIAN)
    chosen = engine.choose("reml")
    again = engine.at(chosen.alphas)
    assert again.coef == pytest.approx(chosen.coef, abs=1e-8)
    assert again.method == "given"
    df = [engine.at([m * a for a in chosen.alphas]).df for m in (0.01, 1.0, 100.0, 1e12)]
    assert df == sorted(df, reverse=True)
    assert df[-1] == pytest.approx(3.0, abs=1e-3)  # a straight line each, and the intercept


def test_the_null_space_penalty_removes_a_term_without_effect():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(N, 2))
    y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=N)
    design = curves(X)
    part = design.rows(X, y)
    plain = PenalizedEngine(design, [part], GAUSSIAN).choose("reml").block_df()
    shrunk = PenalizedEngine(design, [part], GAUSSIAN, shrink=True).choose("reml").block_df()
    assert plain[2] >= 1
    assert shrunk[2] < 0.3
    assert shrunk[1] == pytest.approx(plain[1], abs=0.5)


@pytest.mark.parametrize("shape", [1, 2])
def test_shapes_hold_and_the_fit_is_the_best_of_its_cone(shape):
    X, responses = rows()
    design = curves(X, shape=shape)
    engine = ShapedEngine(design, [design.rows(X, responses["gaussian"])], GAUSSIAN)
    fit = engine.choose("reml")
    signs, here = design.blocks[1].signs, fit.slices[1]
    assert np.all(signs @ fit.coef[here] >= -1e-9)
    assert len(fit.active[1])
    assert fit.df < engine.free.choose("reml").df

    def objective(coef):
        whole = np.hstack([block.design(X) for block in design.blocks])
        rest = responses["gaussian"] - whole @ coef
        return rest @ rest + coef @ penalty @ coef

    penalty = np.zeros((15, 15))
    for block, (alpha,), place in zip(
        design.blocks[1:], fit.alphas[1:], fit.slices[1:], strict=True
    ):
        penalty[place, place] = alpha * block.penalties[0]
    wide = np.zeros((len(signs), 15))
    wide[:, here] = signs
    best = optimize.minimize(
        objective, fit.coef, method="SLSQP", options={"ftol": 1e-12},
        constraints={"type": "ineq", "fun": lambda coef: wide @ coef},
    )  # fmt: skip
    assert objective(fit.coef) <= best.fun * (1 + 1e-6)
    loose = engine.at([100 * alpha for alpha in fit.alphas])
    assert np.all(signs @ loose.coef[here] >= -1e-9)


@pytest.mark.parametrize("family", [BINOMIAL, POISSON, GAMMA], ids=repr)
def test_shapes_hold_for_likelihoods(family):
    X, responses = rows()
    design = curves(X, shape=1)
    engine = ShapedEngine(design, [design.rows(X, responses[family.name])], family)
    fit = engine.choose("reml")
    assert np.all(design.blocks[1].signs @ fit.coef[fit.slices[1]] >= -1e-9)
    free = engine.free.choose("reml")
    assert fit.deviance > free.deviance


def test_two_classes_are_a_binomial():
    X, _ = rows()
    codes = (np.random.default_rng(0).uniform(size=N) < X[:, 0]).astype(float)
    design = curves(X)
    part = design.rows(X, codes)
    one = PenalizedEngine(design, [part], BINOMIAL).choose("reml")
    two = MultinomialEngine(design, [part], 2).choose("reml")
    assert two.score == pytest.approx(one.score, rel=1e-7)
    assert two.coef == pytest.approx(one.coef, abs=1e-3)
    with pytest.raises(ParameterError, match="more than two classes"):
        MultinomialEngine(design, [part], 2).choose("loo")


def test_gradients_for_several_classes_are_exact():
    X, _ = rows()
    codes = np.random.default_rng(0).integers(0, 3, N).astype(float)
    design = curves(X)
    engine = MultinomialEngine(design, [design.rows(X, codes)], 3)
    rho, h = np.array([0.5, -1.0]), 1e-4

    def value(at):
        state = solve(engine.problem, engine.penalties, at, None)
        return engine._evaluate(engine.problem, "reml", state)

    numeric = [(value(rho + e).value - value(rho - e).value) / (2 * h) for e in h * np.eye(2)]
    assert value(rho).slopes()[0] == pytest.approx(numeric, abs=1e-4)


def test_it_does_not_matter_which_class_is_the_first():
    X, _ = rows()
    rng = np.random.default_rng(0)
    odds = np.exp(np.column_stack([np.zeros(N), 3 * X[:, 0], 2 * np.sin(6 * X[:, 1])]))
    codes = (rng.uniform(size=(N, 1)) > np.cumsum(odds / odds.sum(1, keepdims=True), 1)).sum(1)
    design, found = curves(X), []
    for names in ([0, 1, 2], [2, 0, 1]):
        part = design.rows(X, np.array(names)[codes].astype(float))
        engine = MultinomialEngine(design, [part], 3)
        fit = engine.choose("reml")
        whole = np.hstack([block.design(X) for block in design.blocks])
        eta = np.column_stack([np.zeros(N), whole @ fit.coef.reshape(2, -1).T])
        odds = np.exp(eta)
        found.append((odds / odds.sum(1, keepdims=True))[:, names])
        assert fit.converged
        assert fit.deviance == pytest.approx(
            -2 * np.sum(np.log(found[-1][np.arange(N), codes])), rel=1e-6
        )
    # To the precision of smoothing parameters that a likelihood has.
    assert found[1] == pytest.approx(found[0], abs=1e-3)


def test_theta_of_counts_is_where_the_criterion_is_least():
    X, responses = rows(400)
    design = curves(X)
    part = design.rows(X, responses["negative_binomial"])
    fit = NegativeBinomialEngine(design, [part], NegativeBinomial()).choose("reml")
    assert 1 < fit.family.theta < 4  # the truth is 2
    for other in (0.9, 1.1):
        family = replace(fit.family, theta=other * fit.family.theta)
        assert PenalizedEngine(design, [part], family).choose("reml").score > fit.score


def test_separated_classes_end_soon_and_a_ridge_bounds_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] > 0).astype(float)
    design = curves(X)
    part = design.rows(X, y)
    fit = PenalizedEngine(design, [part], BINOMIAL).choose("reml")
    assert fit.n_iter < 200
    assert fit.deviance < 0.1
    bounded = PenalizedEngine(design, [part], BINOMIAL, ridge=1e-3).choose("reml")
    assert bounded.converged
    assert np.abs(bounded.coef).max() < np.abs(fit.coef).max()


def test_responses_that_are_reproduced_have_a_fit():
    X, _ = rows()
    design = curves(X)
    for y in (np.full(N, 3.0), 2 * X[:, 0] - 1):
        engine = PenalizedEngine(design, [design.rows(X, y)], GAUSSIAN)
        assert fitted(design, engine.choose("reml"), X) == pytest.approx(y, abs=1e-5)


def test_what_cannot_be_fitted_is_refused():
    X, responses = rows()
    engine = engine_of(GAUSSIAN)
    with pytest.raises(ParameterError, match="'ubre' needs a known scale"):
        engine.choose("ubre")
    with pytest.raises(ParameterError, match="method='magic' is not known"):
        engine.choose("magic")
    few = X[:3]
    design = curves(few)
    with pytest.raises(InputError, match="coefficients without a penalty and only 3 rows"):
        PenalizedEngine(design, [design.rows(few, responses["gaussian"][:3])], GAUSSIAN)
