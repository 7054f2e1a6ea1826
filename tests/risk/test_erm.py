"""Finite classes: the set of minimisers, the three terms of risk, the size rule."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bottega.core import BaselineClassifier
from bottega.core.errors import InputError
from bottega.data.make import Sample
from bottega.risk import (
    FiniteDistribution,
    class_size,
    empirical_risk,
    erm,
    labellings,
    risk_terms,
)

TOY = ([0, 1, 2], [1, 1, 1])


def test_labellings_come_in_the_order_of_the_notes():
    """A15: f_1 = all +1, the last point changes first, f_32 = all -1."""
    F = labellings(5)
    assert F.shape == (32, 5)
    assert F[0].tolist() == [1, 1, 1, 1, 1]
    assert F[1].tolist() == [1, 1, 1, 1, -1]
    assert F[2].tolist() == [1, 1, 1, -1, 1]
    assert F[3].tolist() == [1, 1, 1, -1, -1]
    assert F[4].tolist() == [1, 1, -1, 1, 1]
    assert F[30].tolist() == [-1, -1, -1, -1, 1]
    assert F[31].tolist() == [-1, -1, -1, -1, -1]
    three = labellings(2, ["a", "b", "c"])
    assert [tuple(row) for row in three.tolist()] == list(product("abc", repeat=2))


def test_the_toy_problem_of_the_notes():
    """A15: f_1..f_4 fit the three training rows; their test errors are .5, 1, 0, .5."""
    F = labellings(5)
    found = erm(F, TOY)
    assert found.indices.tolist() == [0, 1, 2, 3]
    assert found.error == 0.0
    assert len(found) == 4
    assert found.errors.shape == (32,)
    test = ([3, 4], F[2][[3, 4]])  # labelled by f_3
    np.testing.assert_array_equal(empirical_risk(F[found.indices], test), [0.5, 1, 0, 0.5])
    # A16: log2 32 = 5 rows are needed and 3 are given.
    assert found.size.bits == 5
    assert found.size.expect == "overfitting"
    frame = found.to_frame()
    assert frame["minimiser"].sum() == 4


@pytest.mark.parametrize("m", range(6))
def test_the_minimisers_left_halve_with_each_row(m):
    """A16: after m of the 5 points 2^(5 - m) labellings fit, and err on half the others."""
    F = labellings(5)
    if m == 0:
        with pytest.raises(InputError, match="at least one"):
            erm(F, ([], []))
        return
    found = erm(F, (np.arange(m), F[2][:m]))
    assert len(found) == 2 ** (5 - m)
    rest = np.arange(m, 5)
    if len(rest):
        assert empirical_risk(F[found.indices], (rest, F[2][rest])).mean() == 0.5


def test_callables_models_and_labellings_agree():
    X, y = np.array([[0], [1], [2], [3]]), np.array([-1, 1, 1, 1])
    thresholds = [0.5, 1.5, 2.5]
    rules = [lambda X, t=t: np.where(X[:, 0] > t, 1, -1) for t in thresholds]
    table = np.array([rule(X) for rule in rules])
    for hypotheses in (rules, table, table.tolist()):
        found = erm(hypotheses, (X, y))
        assert found.indices.tolist() == [0]
        np.testing.assert_array_equal(found.errors, [0, 0.25, 0.5])
    models = [BaselineClassifier().fit(X, [label] * 4) for label in (-1, 1)]
    np.testing.assert_array_equal(empirical_risk(models, (X, y)), [0.75, 0.25])


def test_the_loss_may_be_another_or_the_samples_own():
    rules = [lambda X, c=c: np.full(len(X), c) for c in (0.0, 1.0, 2.0)]
    y = np.array([0.0, 0.0, 6.0])
    sample = Sample(np.zeros((3, 1)), y, None, 0.0, "squared_error", "hand")
    np.testing.assert_allclose(empirical_risk(rules, sample), [12, 9, 8])
    assert erm(rules, sample).indices.tolist() == [2]
    assert erm(rules, sample, loss="absolute_error").indices.tolist() == [0]
    np.testing.assert_allclose(
        empirical_risk(rules, (np.zeros((3, 1)), y), loss="absolute_error"), [2, 7 / 3, 8 / 3]
    )


def test_errors_equal_but_for_rounding_are_ties():
    """0.1 + 0.2 and 0.3 differ in the last digit."""
    table = np.array([[0.1, 0.2, 0.0], [0.3, 0.0, 0.0], [0.2, 0.0, 0.1], [0.4, 0.0, 0.0]])
    found = erm(table, ([0, 1, 2], [0.0, 0.0, 0.0]), loss="absolute_error")
    assert found.indices.tolist() == [0, 1, 2]


@st.composite
def distributions(draw, most_points=5):
    k = draw(st.integers(1, most_points))
    weights = draw(st.lists(st.integers(0, 9), min_size=2 * k, max_size=2 * k))
    if not sum(weights):
        weights[0] = 1
    return FiniteDistribution(np.array(weights).reshape(k, 2) / sum(weights))


@given(distributions(), st.integers(0, 10_000), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_three_terms_sum_exactly_and_erm_keeps_its_inequality(D, seed, m):
    """A37 and A38, for random distributions, classes and training sets."""
    rng = np.random.default_rng(seed)
    F = labellings(len(D))
    F = F[rng.choice(len(F), size=rng.integers(1, len(F) + 1), replace=False)]
    S = D(m, random_state=seed)
    found = erm(F, S)
    terms = risk_terms(F, D, found.indices)
    # Differences of numbers below 1: rounding of the last digit only.
    np.testing.assert_allclose(
        terms.estimation + terms.approximation + terms.bayes, terms.risk, rtol=0, atol=4e-16
    )
    assert np.all(terms.estimation >= 0)
    assert terms.approximation >= -4e-16
    risks = D.risks(F)
    np.testing.assert_allclose(risks[terms.best], risks.min(), rtol=0, atol=2e-12)
    gap = np.abs(found.errors - risks).max()
    assert np.all(terms.estimation <= 2 * gap + 1e-12)
    # All labellings together contain the Bayes predictor: nothing is lost by approximation.
    assert risk_terms(labellings(len(D)), D).approximation == pytest.approx(0, abs=4e-16)


def test_three_terms_by_hand():
    """P(Y = +1) is .8 at the first point and .2 at the second: Bayes risk .2, any constant .5."""
    D = FiniteDistribution([[0.1, 0.4], [0.4, 0.1]])
    F = np.array([[1, 1], [-1, -1], [-1, 1]])
    terms = risk_terms(F, D)
    np.testing.assert_allclose(terms.risk, [0.5, 0.5, 0.8])
    np.testing.assert_allclose(terms.estimation, [0, 0, 0.3], atol=1e-15)
    assert terms.approximation == pytest.approx(0.3)
    assert terms.bayes == pytest.approx(0.2)
    assert terms.best.tolist() == [0, 1]
    assert terms.to_frame()["estimation"].tolist() == terms.estimation.tolist()


def test_bayes_predictors_by_hand():
    """A-4.4 and A-4.5: the tie goes to the larger label; the mean for squared loss."""
    eta = np.array([0.9, 0.5, 0.2])
    joint = np.column_stack([1 - eta, eta]) * np.array([[0.5], [0.3], [0.2]])
    classes = FiniteDistribution(joint)
    assert classes.bayes.tolist() == [1, 1, -1]
    assert classes.bayes_risk == pytest.approx(0.5 * 0.1 + 0.3 * 0.5 + 0.2 * 0.2)
    numbers = FiniteDistribution(joint, labels=[0, 1], loss="squared_error")
    np.testing.assert_allclose(numbers.bayes, eta)
    # Bayes risk = E[Var(Y|X)] = Var Y - Var E[Y|X]
    mean = joint[:, 1].sum()
    explained = np.array([0.5, 0.3, 0.2]) @ (eta - mean) ** 2
    assert numbers.bayes_risk == pytest.approx(mean * (1 - mean) - explained)
    assert numbers(5).loss == "squared_error"


@given(distributions(4))
@settings(max_examples=30, deadline=None)
def test_no_labelling_beats_the_bayes_risk(D):
    risks = D.risks(labellings(len(D)))
    assert risks.min() == pytest.approx(D.bayes_risk, abs=1e-15)
    assert np.all(risks >= D.bayes_risk - 1e-15)


def test_points_that_cannot_occur_cost_nothing():
    D = FiniteDistribution([[0.0, 0.0], [0.5, 0.5]])
    assert D.bayes_risk == 0.5
    assert float(D.risk([-1, 1])) == 0.5


def test_draws_follow_the_distribution():
    """A chi-squared test of 20,000 rows in 6 cells at level 1e-6."""
    joint = np.array([[0.05, 0.25], [0.3, 0.1], [0.2, 0.1]])
    D = FiniteDistribution(joint, labels=["no", "yes"], points=[[0, 1], [2, 3], [4, 5]])
    sample = D(20_000, random_state=4)
    counts = np.zeros((3, 2))
    np.add.at(counts, (D.places(sample.X), (sample.y == "yes").astype(int)), 1)
    assert stats.chisquare(counts.ravel(), joint.ravel() * 20_000).pvalue > 1e-6
    np.testing.assert_array_equal(sample.bayes(sample.X), D.bayes[D.places(sample.X)])
    assert sample.bayes_risk == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("n", "m", "expect"),
    [
        (32, 3, "overfitting"),
        (32, 5, "neither"),
        (32, 50, "neither"),
        (32, 51, "underfitting"),
        (1, 5, "underfitting"),
        (2 ** (2**12), 4095, "overfitting"),
    ],
)
def test_size_rule(n, m, expect):
    found = class_size(n, m)
    assert found.expect == expect
    assert f"{m:,} rows" in str(found)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: erm(labellings(3), ([0, 3], [1, 1])), "from 0 to 2"),
        (lambda: erm(labellings(3), ([0.5], [1])), "whole numbers"),
        (lambda: erm(labellings(3), (np.zeros((2, 2)), [1, 1])), "whole numbers"),
        (lambda: erm(labellings(3), ([0, 1], [1])), "2 rows of X and 1 of y"),
        (lambda: erm(labellings(3), 7), r"pair \(X, y\)"),
        (lambda: erm([], ([0], [1])), "one row per hypothesis"),
        (lambda: erm([[1, 1], [1]], ([0], [1])), "all rows of one length"),
        (lambda: erm([len], ([0], [1])), "one prediction per row"),
        (lambda: erm(labellings(2), ([0], [1]), loss="cubic"), "loss='cubic'"),
        (lambda: labellings(0), "n_points=0"),
        (lambda: labellings(40), "too many"),
        (lambda: labellings(2, [1, 1]), "distinct"),
        (lambda: class_size(0, 3), "n_hypotheses=0"),
        (lambda: class_size(4, 0), "m=0"),
        (lambda: class_size(4, 3, ample=0.5), r"ample=0\.5"),
        (
            lambda: risk_terms(labellings(2), FiniteDistribution([[1.0, 0.0]])),
            "each of the 1 points",
        ),
        (lambda: risk_terms([[1]], FiniteDistribution([[1.0, 0.0]]), 1), "from 0 to 0"),
        (lambda: risk_terms([[1]], "D"), "must be a FiniteDistribution"),
        (lambda: FiniteDistribution([[0.5, 0.4]]), "sum 0.9"),
        (lambda: FiniteDistribution([[1.5, -0.5]]), "the least is -0.5"),
        (lambda: FiniteDistribution([[1.0]]), "one column per label"),
        (lambda: FiniteDistribution([[0.5, 0], [0.5, 0]], points=[[1], [1]]), "a point twice"),
        (lambda: FiniteDistribution([[0.5, 0.5]], labels=[1, 1]), "a label twice"),
        (lambda: FiniteDistribution([[0.5, 0.5]], points=[[1], [2]]), "one row for each"),
        (lambda: FiniteDistribution([[0.5, 0.5]]).risk([1, 1]), "each of the 1 points"),
        (lambda: FiniteDistribution([[0.5, 0.5]]).places([[3]]), "not among the points"),
        (lambda: FiniteDistribution([[0.5, 0.5]])(0), "n=0"),
    ],
)
def test_bad_input_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()
