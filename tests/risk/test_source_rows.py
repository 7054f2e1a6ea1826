"""Errors of methods that learn from a source: those of the same rows in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from bottega import scale
from bottega.classify import LinearDiscriminant, LogisticRegression
from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import Cost
from bottega.core.parts import RowSource
from bottega.data.array_rows import ArrayRows
from bottega.linear import Lasso, LeastSquares, Ridge
from bottega.neighbors import NearestNeighborsRegressor
from bottega.risk import cross_validate, holdout, leave_one_out, nested_cv
from bottega.tree import TreeRegressor

RNG = np.random.default_rng(7)
N = 600
X = RNG.normal(size=(N, 4)) * [1.0, 50.0, 0.02, 3.0] + [0.0, 7.0, -3.0, 100.0]
Y = X @ [1.0, 0.02, 30.0, 0.0] + RNG.normal(size=N)
LABEL = np.array(["low", "mid", "top"])[np.digitize(Y, np.quantile(Y, [0.3, 0.7]))]
W = RNG.integers(1, 4, N).astype(float)
GROUP = RNG.integers(0, 30, N)
TIME = RNG.permutation(N)


def source(y=Y, w=None, rows=140):
    return scale.source(X, y, weight=w, rows=rows)


@pytest.fixture
def folder(tmp_path):
    """The same rows in three Parquet files, with groups and times; some have no response."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame = frame.assign(y=Y, label=LABEL, w=W, group=GROUP, time=TIME)
    frame.loc[::50, "y"] = np.nan
    for number, start in enumerate(range(0, N, 200)):
        frame[start : start + 200].to_parquet(tmp_path / f"part{number}.parquet")
    return tmp_path


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("model", "y", "loss"),
    [
        (LeastSquares(), Y, None),
        (Ridge(alpha=2.0), Y, "absolute_error"),
        (LinearDiscriminant(shrinkage=0.1), LABEL, None),
        (LogisticRegression(), LABEL, "log_loss"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_cross_validation_is_that_of_the_rows_in_memory(model, y, loss, weighted):
    w = W if weighted else None
    here = cross_validate(model, X, y, sample_weight=w, loss=loss, cv=4, random_state=3)
    there = cross_validate(model, source(y, w), loss=loss, cv=4, random_state=3)
    np.testing.assert_array_equal(there.fold, here.fold)
    # Logistic regression iterates, to its tolerance; the others are sums.
    rtol = 1e-4 if isinstance(model, LogisticRegression) else 1e-9
    assert there.error == pytest.approx(here.error, rel=rtol)
    assert there.error_se == pytest.approx(here.error_se, rel=rtol)
    if y is Y:
        np.testing.assert_allclose(there.predictions, here.predictions, rtol=1e-7, atol=1e-9)


def test_a_knob_is_chosen_in_each_fold_as_fit_chooses_it():
    here = cross_validate(Ridge(), X, Y, cv=3, random_state=0)
    there = cross_validate(Ridge(), source(), cv=3, random_state=0)
    np.testing.assert_allclose(there.predictions, here.predictions, rtol=1e-9)


def test_nested_errors_are_those_of_the_rows_in_memory():
    """Ridge judges its path by its own leave-one-out, in chunks as in memory."""
    models = {"ridge": Ridge(), "least squares": LeastSquares()}
    here = nested_cv(models, X, Y, outer=4, inner=None, random_state=1)
    there = nested_cv(models, source(), outer=4, random_state=1)
    for name in models:
        assert there[name].error == pytest.approx(here[name].error, rel=1e-9)
        limits = here[name].lower, here[name].upper
        assert (there[name].lower, there[name].upper) == pytest.approx(limits, rel=1e-9)


def test_nested_choice_by_rule_and_folds():
    found = nested_cv(Lasso(), source(), outer=3, inner=3, select="one_se", random_state=1)
    simplest = nested_cv(Lasso(), source(), outer=3, inner=3, select="min", random_state=1)
    assert found.error == pytest.approx(np.var(Y - X @ [1.0, 0.02, 30.0, 0.0]), rel=0.2)
    chosen, least = ([setting["alpha"] for setting in each.settings] for each in (found, simplest))
    assert np.all(np.array(chosen) >= np.array(least))
    assert np.any(np.array(chosen) > np.array(least))


def test_costs_decide_the_class():
    cost = Cost([[0, 1, 9], [1, 0, 9], [1, 1, 0]], classes=["low", "mid", "top"])
    here = nested_cv(LinearDiscriminant(shrinkage=0.1), X, LABEL, loss=cost, random_state=0)
    there = nested_cv(LinearDiscriminant(shrinkage=0.1), source(LABEL), loss=cost, random_state=0)
    assert there.error == pytest.approx(here.error, rel=1e-9)


@pytest.mark.parametrize("role", ["groups", "time"])
def test_groups_and_time_are_columns_of_the_source(folder, role):
    known = ~np.isnan(pd.read_parquet(folder)["y"].to_numpy())
    column, values = ("group", GROUP) if role == "groups" else ("time", TIME)
    rows = scale.source(str(folder), "y", ignore=["label", "w", "group", "time"])
    found = cross_validate(LeastSquares(), rows, **{role: column}, random_state=2)
    given = {role: values[known].astype(str) if role == "groups" else values[known]}
    here = cross_validate(LeastSquares(), X[known], Y[known], **given, random_state=2)
    np.testing.assert_array_equal(found.fold, here.fold)
    np.testing.assert_allclose(found.predictions, here.predictions, rtol=1e-9)
    if role == "groups":
        for fold in range(len(found.fold_errors)):
            held = found.fold == fold
            assert not set(GROUP[known][held]) & set(GROUP[known][~held])


def test_the_group_of_the_source_holds_rows_together(folder):
    rows = scale.source(
        str(folder), "label", weight="w", group="group", ignore=["y", "time"], rows=70
    )
    found = cross_validate(LinearDiscriminant(shrinkage=0.0), rows, random_state=2)
    for fold in range(len(found.fold_errors)):
        held = found.fold == fold
        assert not set(GROUP[held]) & set(GROUP[~held])
    with pytest.raises(ParameterError, match="no groups and no time"):
        nested_cv(LinearDiscriminant(), rows)


def test_a_splitter_is_given_no_inputs():
    folds = list(KFold(3).split(X))
    for cv in (KFold(3), folds):
        found = cross_validate(LeastSquares(), source(), cv=cv)
        np.testing.assert_array_equal(found.fold, np.repeat([0, 1, 2], N // 3))


def test_trees_learn_from_the_training_rows_alone():
    """A tree of pure leaves repeats what it has seen: on rows held out it cannot."""
    found = cross_validate(TreeRegressor(ccp_alpha=0.0), source(), cv=3, random_state=0)
    assert found.error > 0.5


class Shrinking(RowSource):
    """Rows that are fewer, or more, once they were read three times."""

    def __init__(self, more):
        self.more, self.passes = more, 0

    def __iter__(self):
        self.passes += 1
        late = self.passes > 3
        end = N if late == self.more else N - 50
        yield from ArrayRows.of(X[:end], Y[:end], None, 100)


@pytest.mark.parametrize(("more", "what"), [(True, "more"), (False, "fewer")])
def test_a_source_that_changes_is_refused(more, what):
    with pytest.raises(InputError, match=f"{what} rows than the"):
        cross_validate(LeastSquares(), Shrinking(more), cv=3)


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        (lambda: cross_validate(LinearRegression(), source()), "LinearRegression needs all rows"),
        (lambda: cross_validate(NearestNeighborsRegressor(), source()), "needs all rows in memory"),
        (lambda: cross_validate(Ridge(), source(), Y), "its own responses and weights"),
        (lambda: cross_validate(Ridge(), source(), sample_weight=W), "its own responses"),
        (lambda: cross_validate(Ridge(), scale.source(X)), "no responses to judge by"),
        (lambda: cross_validate(Ridge(), source(np.c_[Y, Y])), "One response at a time"),
        (lambda: cross_validate(Ridge(), source(LABEL)), "for classes use a classifier"),
        (lambda: cross_validate(LogisticRegression(), source()), "numbers use a regress"),
        (lambda: holdout(Ridge(), source()), "draw a sample"),
        (lambda: leave_one_out(Ridge(alpha=1.0), source()), "draw a sample"),
    ],
)
def test_what_cannot_be_judged_over_a_source_is_told(judge, message):
    with pytest.raises(InputError, match=message):
        judge()


def test_values_of_the_knob_are_for_rows_in_memory():
    with pytest.raises(ParameterError, match="values= is for rows in memory"):
        nested_cv(Ridge(), source(), values=[1.0, 2.0])


def test_a_column_that_is_not_there_is_named(folder):
    rows = scale.source(str(folder), "y", ignore=["label", "w", "group", "time"])
    with pytest.raises(InputError, match=r"no column 'times'.*'time'"):
        cross_validate(LeastSquares(), rows, time="times")


def test_a_source_without_rows(tmp_path):
    path = tmp_path / "none.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "y": [np.nan, np.nan]}).to_parquet(path)
    with pytest.raises(InputError):
        cross_validate(LeastSquares(), scale.source(str(path), "y"))
