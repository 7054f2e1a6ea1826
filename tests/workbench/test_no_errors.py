"""Methods that make no error at all: exact limits, and what is said of them."""

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega.core.losses import SQUARED_ERROR, ZERO_ONE, Cost
from bottega.report.content import content
from bottega.report.units import Units
from bottega.risk import clopper_pearson, compare_errors, cross_validate, nested_cv
from bottega.risk.estimate.nested_interval import limits_of_equal
from bottega.tree import TreeClassifier
from bottega.workbench.job import _alone

RNG = np.random.default_rng(0)
APART = np.repeat([0.0, 10.0], 60)
X = np.column_stack([APART + RNG.uniform(size=120), RNG.normal(size=120)])
Y = np.where(APART > 0, "far", "near")


class Known(TreeClassifier):
    """A tree of another name, which errs on the same rows: on none."""


@pytest.fixture(scope="module")
def found():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=Y)
    names = ["linear_discriminant", "quadratic_discriminant", "tree"]
    return bottega.compare(frame, "y", methods=names, test_size=0.25)


@pytest.mark.parametrize("n", [1, 20, 133, 10_000])
def test_more_errors_than_the_limit_would_have_shown(n):
    """At the upper limit n rows are all right with probability delta / 2; so are they all wrong."""
    low, high = limits_of_equal(0.0, 0.0, 1.0, n, 0.05)
    assert low == 0
    assert (1 - high) ** n == pytest.approx(0.025)
    assert (low, high) == pytest.approx(clopper_pearson(0, n, 0.05))
    assert limits_of_equal(1.0, 0.0, 1.0, n, 0.05) == pytest.approx(clopper_pearson(n, n, 0.05))


def test_the_limits_of_a_cost_are_as_wide_as_it_is_large():
    assert limits_of_equal(0.0, 0.0, 7.0, 50, 0.05)[1] == pytest.approx(
        7 * clopper_pearson(0, 50, 0.05)[1]
    )
    assert (ZERO_ONE.largest, SQUARED_ERROR.largest) == (1.0, None)
    assert Cost([[0, 10], [1, 0]]).largest == Cost([[0, 10], [1, 0]]).deciding().largest == 10


def test_no_errors_have_an_exact_limit_and_no_standard_error(found):
    board = found.leaderboard.set_index("method")
    for method in ("linear_discriminant", "tree"):
        assert board.loc[method, "error"] == board.loc[method, "conf_low"] == 0
        assert board.loc[method, "conf_high"] == pytest.approx(clopper_pearson(0, 90, 0.05)[1])
        assert np.isnan(board.loc[method, "std_error"])
    assert np.isfinite(board.loc["baseline", "std_error"])


def test_two_methods_without_errors_may_still_differ(found):
    board = found.leaderboard.set_index("method")
    other = next(name for name in ("tree", "linear_discriminant") if name != found.best_method)
    limit = clopper_pearson(0, 90, 0.05)[1]
    assert board.loc[other, "difference"] == 0
    ends = board.loc[other, ["difference_conf_low", "difference_conf_high"]].astype(float)
    assert ends.tolist() == pytest.approx([-limit, limit])
    of_best = board.loc[found.best_method, ["difference_conf_low", "difference_conf_high"]]
    assert of_best.tolist() == [0, 0]


def test_the_verdict_says_the_limit(found):
    told = content(found)["verdict"]
    assert "0.0% wrong (at most 4.0% with 95% confidence) on rows it had not seen" in told[0]
    assert any("has the same error" in each for each in told)
    assert any("up to 4.0 percentage points better or 4.0 percentage" in each for each in told)
    assert not any("±" in each or "−0.0" in each for each in told)
    rows = content(found)["leaderboard"]["rows"]
    best = next(row for row in rows if row["best"])
    assert (best["error"], best["std_error"]) == ("0.0% (at most 4.0%)", "–")


def test_there_is_no_minus_zero():
    assert [Units(True).bare_difference(value) for value in (-0.0, -1e-5, -0.01)] == [
        "0.0",
        "0.0",
        "−1.0",
    ]
    assert Units(False).difference(-0.0) == "0"


def test_a_stack_of_one_says_why_by_who_leads(found):
    results = {name: found.results[name] for name in ("linear_discriminant", "tree")}
    told = "alone is likely to be the best by its probabilities, so there is nothing to combine"
    for name in results:  # the board cannot tell one from the other
        assert _alone(name, results, found.nested) == f"{name.replace('_', ' ')} {told}"
    results["baseline"] = found.results["baseline"]
    assert _alone("tree", {name: results[name] for name in ("tree", "baseline")}, found.nested) == (
        "tree is clearly the best"
    )


@pytest.mark.parametrize("role", ["groups", "sample_weight"])
def test_limits_count_independent_units(role):
    """Ten groups of twelve rows are ten units; weights count by their effective number."""
    given = {"groups": np.arange(120) // 12, "sample_weight": np.tile([1.0, 3.0], 60)}[role]
    units = {"groups": 10, "sample_weight": 240**2 / (60 + 9 * 60)}[role]
    nested = nested_cv(TreeClassifier(0.0), X, Y, outer=4, **{role: given})
    assert nested.error == 0
    assert nested.upper == pytest.approx(limits_of_equal(0.0, 0.0, 1.0, units, 0.05)[1])
    both = nested_cv({"a": TreeClassifier(0.0), "b": Known(0.0)}, X, Y, outer=4, **{role: given})
    assert both.difference("a", "b").upper == pytest.approx(nested.upper)
    assert both.difference("a", "a").upper == 0


def test_folds_that_err_on_the_same_rows_have_exact_limits():
    folds = [cross_validate(kind(0.0), X, Y, cv=4) for kind in (TreeClassifier, Known)]
    gap = compare_errors(*folds)
    limit = clopper_pearson(0, 120, 0.05)[1]
    assert (gap.lower, gap.upper) == pytest.approx((-limit, limit))
    assert "exact" in gap.method
    assert gap.p_value == 1


def test_scores_without_spread_have_no_interval():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=Y)
    auc = bottega.compare(
        frame, "y", methods=["linear_discriminant", "tree"], measure="auc", test_size=0
    )
    board = auc.leaderboard.set_index("method")
    assert board.loc["linear_discriminant", "auc"] == 1
    assert np.isnan(
        board.loc["linear_discriminant", ["std_error", "conf_high"]].astype(float)
    ).all()
    assert any("no interval could be computed" in each for each in content(auc)["verdict"])


def test_the_summary_says_the_limit(found):
    told = " ".join(str(found).split())
    assert "the same loss on all 90 rows leaves no standard error; with 95 % confidence" in told
    assert "between 0 and 0.0402" in told
