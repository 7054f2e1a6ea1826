"""Adaptive splines against earth and polyclass, and the likelihood fits against glm."""

import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bottega.additive import AdaptiveSplines, AdaptiveSplinesClassifier
from bottega.additive._adaptive.settings import GrowthSettings
from bottega.additive._adaptive_model.anatomy import credit
from bottega.additive._adaptive_model.least_squares import TermColumns
from bottega.core.likelihood import BINOMIAL
from bottega.optimize.ridge_likelihood import fit_classes, fit_family

FOLDER = Path(__file__).parents[1] / "reference/additive"
R = json.loads((FOLDER / "adaptive_splines.json").read_text())
POLYCLASS = json.loads((FOLDER / "polyclass.json").read_text())["tables"]
TABLES = {name: pd.DataFrame(columns) for name, columns in R["tables"].items()}


def name_of(case):
    return f"{case['table']}, degree {case['degree']}"


@cache
def fitted(table, degree, rounds=1):
    data = TABLES[table]
    return AdaptiveSplines(degree=degree, rounds=rounds).fit(data.drop(columns="y"), data["y"])


@pytest.mark.parametrize("case", R["cases"], ids=name_of)
def test_gcv_is_that_of_earth_or_better(case):
    """Both searches are greedy and may go different ways; the criterion must not suffer."""
    assert fitted(case["table"], case["degree"]).gcv_ <= 1.01 * case["gcv"]


@pytest.mark.parametrize("case", R["cases"], ids=name_of)
def test_further_rounds_lower_gcv(case):
    table, degree = case["table"], case["degree"]
    model = fitted(table, degree, rounds=5)
    assert model.gcv_ <= case["gcv"]
    assert model.gcv_ <= fitted(table, degree).gcv_ * (1 + 1e-12)


@pytest.mark.parametrize("case", R["cases"], ids=name_of)
def test_criterion_and_importance_are_those_of_earth_on_its_subsets(case):
    """The same subsets of terms have the same GCV, and give inputs the same credit."""
    rss = np.array(case["rss_per_subset"])
    n, sizes = len(TABLES[case["table"]]), np.arange(1, len(rss) + 1)
    df = GrowthSettings(degree=case["degree"]).effective_terms(sizes)
    gcv = np.where(df < n, rss / n / (1 - df / n) ** 2, np.inf)
    known = [value for value in case["gcv_per_subset"] if isinstance(value, float)]
    assert gcv[: len(known)] == pytest.approx(known, rel=1e-9)
    names = TABLES[case["table"]].columns.drop("y")
    terms = [SimpleNamespace(variables=tuple(np.array(each) - 1)) for each in case["inputs"]]
    subsets = [np.array(each) - 1 for each in case["subsets"]]
    work = SimpleNamespace(
        pruning=SimpleNamespace(rss=rss[:, None], gcv=gcv),
        growth=SimpleNamespace(basis=SimpleNamespace(terms=terms)),
        rows=SimpleNamespace(X=np.empty((n, len(names)))),
        subset=lambda m: subsets[m - 1],
    )
    found = dict(zip(names, credit(work, case["n_terms"]), strict=True))
    expected = case["importance"]
    top = np.max(list(found.values()), axis=0)
    for k, name in enumerate(expected["input"]):
        assert found[name][0] == expected["nsubsets"][k]
        assert 100 * found[name][1] / top[1] == pytest.approx(expected["gcv"][k], abs=1e-8)
        assert 100 * found[name][2] / top[2] == pytest.approx(expected["rss"][k], abs=1e-8)


def test_gcv_of_several_responses_is_that_of_earth_or_better():
    data = TABLES["friedman"]
    Y = np.column_stack([data["y"], R["several"]["z"]])
    model = AdaptiveSplines(degree=2).fit(data.drop(columns="y"), Y)
    assert model.gcv_ <= 1.01 * R["several"]["gcv"]
    assert model.rss_ <= 1.02 * R["several"]["rss"]


def test_likelihoods_are_those_of_glm():
    case = R["logit"]
    B = np.column_stack([np.ones(len(case["y"])), case["terms"]])
    y, weight = np.array(case["y"], dtype=float), np.ones(len(B))
    D, T = TermColumns(B, weight).orthonormal(np.arange(4))
    how = {"alpha": 1e-6, "tol": 1e-10, "max_iter": 50}
    for found in (
        fit_family(D, y, weight, BINOMIAL, **how),
        fit_classes(D, y.astype(int), weight, 2, **how),
    ):
        odds = found.coef[:, -1] - (found.coef[:, 0] if found.coef.shape[1] == 2 else 0)
        # The ridge of a millionth moves the coefficients in their fifth or sixth digit.
        assert T @ odds == pytest.approx(case["coef"], rel=1e-4)
        assert found.deviance == pytest.approx(case["deviance"], rel=1e-8)
        assert found.converged


def test_survival_on_the_titanic_is_that_of_earth_with_glm():
    data = pd.DataFrame(R["titanic"]["data"])
    X, y = data.drop(columns="survived"), data["survived"]
    model = AdaptiveSplines(degree=2, family="binomial").fit(X, y)
    assert model.gcv_ <= 1.01 * R["titanic"]["gcv"]
    assert model.deviance_ <= 1.01 * R["titanic"]["deviance"]
    other = AdaptiveSplinesClassifier(degree=2, alpha=1e-6).fit(X, y)
    # The same terms, and the same likelihood by another solver.
    assert other.predict_proba(X)[:, 1] == pytest.approx(model.predict(X), abs=1e-4)


def test_diabetes_is_that_of_earth_with_glm():
    case = R["pima"]
    data, new = pd.DataFrame(case["data"]), pd.DataFrame(case["new"])
    X, y = data.drop(columns="type"), data["type"]
    model = AdaptiveSplinesClassifier().fit(X, y)
    assert model.gcv_ <= 1.01 * case["gcv"]
    error = np.mean(model.predict(new.drop(columns="type")) != new["type"])
    # Two standard errors of the difference of two such errors on 332 rows are 0.03.
    assert error <= case["error"] + 0.03


def test_counts_are_those_of_earth_with_glm():
    data = TABLES["friedman"].drop(columns="y")
    model = AdaptiveSplines(family="poisson").fit(data, R["poisson"]["y"])
    assert model.gcv_ <= 1.01 * R["poisson"]["gcv"]
    # The terms may be others: the deviance must be as low, for as many of them.
    spare = 2.0 * max(R["poisson"]["n_terms"] - model.n_terms_, 0)
    assert model.deviance_ <= 1.01 * R["poisson"]["deviance"] + spare


@pytest.mark.parametrize("name", POLYCLASS)
def test_error_of_likelihood_terms_is_that_of_polyclass(name):
    case = POLYCLASS[name]
    X, y, new, label = (np.array(case[key]) for key in ("X", "y", "new", "label"))
    how = {"method": "multinomial", "degree": 2, "select": "bic"}  # polyclass chooses by BIC too
    model = AdaptiveSplinesClassifier(**how).fit(X, y)
    # Two standard errors of the difference, where a tenth of the rows is classified differently.
    chance = 2 * np.sqrt(0.1 / len(new))
    assert np.mean(model.predict(new) != label) <= case["error"] + chance
    if len(new) >= 1000:
        own = model.predict_proba(new)[np.arange(len(new)), label - 1]
        assert -np.log(own).mean() <= 1.02 * case["log_loss"]
