"""Methods that were judged on fewer folds have their place by what is comparable."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega.report.content import content
from bottega.risk.estimate.judged_rows import RowLosses
from bottega.risk.estimate.nested_engine import Answer
from bottega.risk.estimate.nested_together import put_together
from bottega.workbench.job import _alone
from bottega.workbench.leaderboard import best_of, in_order, leaderboard_columns
from bottega.workbench.results import comparable

METHODS = ["ridge", "tree", "neighbors"]


def cut(found, method, folds):
    """Return the comparison as if a method had been stopped after some folds."""
    whole = found.results[method].nested
    judged = found.results[method].nested.rows
    parts = found.fold_models.folds
    answers = {
        (0, (k,)): Answer(
            whole.predictions[0][parts[k][1]],
            None if whole.probabilities is None else whole.probabilities[0][parts[k][1]],
            (whole.losses[0][parts[k][1]],),
            None,
            np.nan,
            None,
            1.0,
        )
        for k in folds
    }
    losses = RowLosses(found.measure.loss, judged.task, judged.classes)
    part = put_together(
        answers,
        [parts],
        judged,
        losses,
        n_train=found.nested.n_train,
        interval="nadeau_bengio",
        delta=whole.delta,
        select=whole.select,
        fit_all=lambda: None,
    )
    nested = replace(found.nested, results={**found.nested.results, method: part})
    results = {**found.results, method: replace(found.results[method], nested=part)}
    return replace(found, nested=nested, results=results)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=X[:, 0] + 0.3 * rng.normal(size=300))
    return bottega.compare(frame, "y", methods=METHODS, stack=False, test_size=0)


def easy_folds(found, method):
    """Return the two folds in which its error is least."""
    errors = found.results[method].nested.fold_errors[0]
    return sorted(np.argsort(errors)[:2].tolist())


def test_full_comparisons_are_ordered_by_their_errors(found):
    board = found.leaderboard
    assert board["error"].is_monotonic_increasing
    for each in found.results.values():
        assert comparable(each, found.results["baseline"]) == each.error


@pytest.mark.parametrize("measure", [None, "rmse", "r2"])
def test_easy_folds_lift_no_method(found, measure):
    if measure is not None:
        found = bottega.compare(
            found.train, methods=METHODS, stack=False, test_size=0, measure=measure
        )
    folds = easy_folds(found, "baseline")
    part = cut(found, "baseline", folds)
    shown, ridge = part.results["baseline"], part.results["ridge"]
    assert shown.folds_done == 2
    assert shown.partial
    row = part.leaderboard.set_index("method").loc["baseline"]
    assert row["error"] < found.results["baseline"].error
    assert comparable(shown, ridge) == pytest.approx(ridge.error + row["difference"])
    assert part.leaderboard["difference"].is_monotonic_increasing


def test_a_method_ahead_by_easy_folds_alone_is_behind(found):
    """Judged on easy folds only, the second looks better than the first, which it is not."""
    first, second = in_order(found.results)[:2]
    fold, hard = found.results[first].fold, [2, 3, 4]
    raised = {}
    for name, result in found.results.items():
        losses = result.nested.losses + 10 * np.isin(fold, hard)
        errors = result.nested.fold_errors + 10 * np.isin(np.arange(5), hard)
        nested = replace(result.nested, losses=losses, fold_errors=errors)
        raised[name] = replace(result, nested=nested)
    results = {name: each.nested for name, each in raised.items()}
    harsh = replace(found, results=raised, nested=replace(found.nested, results=results))
    part = cut(harsh, second, [0, 1])
    assert part.results[second].error < part.results[first].error
    gap = np.mean(part.results[second].losses[fold < 2] - part.results[first].losses[fold < 2])
    assert gap > 0
    assert best_of(part.results) == first
    columns = leaderboard_columns(part.results, part.nested)
    assert columns["method"][:2] == [first, second]
    assert columns["difference"][1] == pytest.approx(gap, rel=0.05)
    assert columns["folds"][1] == 2
    told = content(part)
    title = part.results[second].title
    assert told["verdict"][0].split(" has ")[1].startswith("the least error:")
    assert any(f"The runner-up, {title}, judged on 2 of 5 folds, is" in s for s in told["verdict"])
    assert "have their place by the difference to the best" in str(part)


def test_a_stack_that_sits_out_says_of_which_methods_one_is_the_best(found):
    part = cut(found, "tree", [0, 1])
    assert _alone("ridge", part.results, part.nested) == (
        "of the methods that there was time to fit to all training rows ridge is clearly the best"
    )
    assert _alone("ridge", found.results, found.nested) == "ridge is clearly the best"
    assert _alone("tree", found.results, found.nested) == (
        "tree alone is likely to be the best, so there is nothing to combine"
    )
