"""Errors of methods that learn from a source: those of the same rows in memory."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from bottega import scale
from bottega.additive import AdditiveModel
from bottega.classify import LinearDiscriminant, LogisticRegression
from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import Cost
from bottega.core.parts import RowSource
from bottega.data import EncodedChunks
from bottega.data.array_rows import ArrayRows
from bottega.data.plain_numbers import PlainNumbers
from bottega.data.read import rows as stored_rows
from bottega.data.read.rows import StoredRows
from bottega.linear import Lasso, LeastSquares, Ridge
from bottega.neighbors import NearestNeighborsRegressor
from bottega.risk import cross_validate, holdout, leave_one_out, nested_cv
from bottega.risk.estimate.nested_engine import Part
from bottega.risk.estimate.source_procedure import SourceProcedure
from bottega.risk.estimate.source_rows import read_judged
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
    # The noise is 1 +- 0.06 in 600 rows (its variance has the relative standard error sqrt(2/600)),
    # and the simplest model within one standard error adds about as much: 0.2 is 3.5 of them.
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
    """A tree of pure leaves repeats what it has seen, and the responses are all different."""
    y = np.random.default_rng(0).permutation(N).astype(float)
    tree = TreeRegressor(ccp_alpha=0.0)
    np.testing.assert_array_equal(tree.fit(source(y)).predict(X), y)
    found = cross_validate(tree, source(y, np.where(np.arange(N) % 5, W, 0.0)), cv=3)
    # Whole numbers, but for the rounding of weighted means.
    assert not np.any(np.rint(found.predictions) == y)


@pytest.mark.parametrize(
    "model", [AdditiveModel(), Ridge(), TreeRegressor()], ids=lambda model: type(model).__name__
)
def test_what_becomes_of_held_out_rows_changes_no_model(folder, model):
    """Nor do the ends of the columns, which the files tell of all rows."""
    folds = [(np.arange(200, N), np.arange(200))]
    found = []
    for far in (0.0, 1e4):
        frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
        frame.loc[1:199] += far
        for number, part in enumerate(np.array_split(np.arange(N), 3)):
            frame.iloc[part].to_parquet(folder / f"part{number}.parquet")
        rows = scale.source(str(folder), "y")
        assert rows.at_first_sight().plain is not None
        found.append(cross_validate(model, rows, cv=folds).predictions[0])
    assert found[0] == found[1] != 0


def of_arrays(folder, rows):
    return scale.source(X, Y, weight=np.where(W > 1, W, 0.0), rows=rows)


def of_files(folder, rows, **columns):
    """Files of 1, 37 and 562 rows; some rows have no response, the first file has none at all."""
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y, w=np.where(W > 1, W, 0.0), **columns)
    frame.loc[::50, "y"] = np.nan
    for number, (start, end) in enumerate(pairwise([0, 1, 38, 600])):
        frame[start:end].to_parquet(folder / f"odd{number}.parquet")
    return scale.source(str(folder / "odd*.parquet"), "y", weight="w", rows=rows)


def of_encoded_files(folder, rows):
    """The same with labels, and a file without rows."""
    of_files(folder, rows, colour=np.array(["red", "blue"])[GROUP % 2])
    pd.read_parquet(folder / "odd0.parquet")[:0].to_parquet(folder / "odd1b.parquet")
    return of_files(folder, rows, colour=np.array(["red", "blue"])[GROUP % 2])


def of_text(folder, rows):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=Y, w=np.where(W > 1, W, 0.0))
    frame.loc[::50, "y"] = np.nan
    frame.to_csv(folder / "rows.csv", index=False)
    return scale.source(str(folder / "rows.csv"), "y", weight="w", rows=rows)


@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("rows", [23, 1000])
@pytest.mark.parametrize("made", [of_arrays, of_files, of_encoded_files, of_text])
def test_rows_are_those_of_their_numbers(tmp_path, monkeypatch, made, rows, spans):
    """However they are read, and wherever chunks, files and parts of files end."""
    if spans:
        monkeypatch.setattr(stored_rows, "_PART", 101)  # rows, of a long file
    inputs, judged = read_judged(made(tmp_path, rows), None, "regression")
    known = Y if made is of_arrays else np.delete(Y, np.arange(0, N, 50))
    np.testing.assert_allclose(judged.y, known, rtol=1e-15)  # as written to a text file
    train = np.flatnonzero(np.random.default_rng(0).random(len(known)) < 0.7)
    test = np.setdiff1d(np.arange(len(known)), train)
    part = Part((0, (0,)), train, (test,))
    plain = inputs.train(part).at_first_sight().plain
    assert (plain is None) == (made is not of_files)
    for wanted, found in ((train, inputs.train(part)), (test, inputs.test(part, test))):
        for each in (found, found.at_first_sight()):
            passes = [
                [(y, w) for _, y, w in each],
                list(each.responses()),
                [(y, w) for one in each.parts() for _, y, w in one],
                [pair for one in each.parts() for pair in one.responses()],
            ]
            if each.plain is not None:
                passes += [[(y, w) for _, y, w in each.plain_blocks()]]
            for pairs in passes:
                y, w = (np.concatenate(column) for column in zip(*pairs, strict=True))
                np.testing.assert_array_equal(y, judged.y[wanted])
                np.testing.assert_array_equal(w, judged.weight[wanted])


def test_sizes_of_parts_are_noted_as_the_responses_are_read(folder, monkeypatch):
    """Folds side by side do not count the rows again."""
    rows = scale.source(str(folder), "y", ignore=["label", "w", "group", "time"])
    passes, read = [], PlainNumbers.responses
    monkeypatch.setattr(PlainNumbers, "responses", lambda self: passes.append(self) or read(self))
    cross_validate(LeastSquares(), rows, cv=4)
    assert len(passes) == 3  # of the files, each once


def test_what_files_say_suffices_to_predict(folder, monkeypatch):
    """Nothing is learnt from all rows: they are read for the folds alone."""
    rows = scale.source(str(folder), "y", ignore=["label", "w", "group", "time"])
    monkeypatch.setattr(EncodedChunks, "learn", lambda _: pytest.fail("an encoder is learnt"))
    assert cross_validate(LeastSquares(), rows, cv=4).error == pytest.approx(1.0, rel=0.2)


def test_a_missing_number_that_no_footer_tells_of(folder):
    """Rows are then read as those of any other files, to predict as to learn."""
    frame = pd.read_parquet(folder)[list("abcdy")].dropna()
    frame.loc[frame.index[5], "b"] = np.nan
    arrays = {name: pa.array(frame[name].to_numpy(), from_pandas=False) for name in frame}
    pq.write_table(pa.table(arrays), folder / "told.parquet")
    rows = scale.source(str(folder / "told.parquet"), "y")
    assert rows.at_first_sight() is not rows
    found = cross_validate(LeastSquares(), rows, cv=3)
    other = cross_validate(LeastSquares(), scale.source(frame, "y", rows=70), cv=3)
    np.testing.assert_allclose(found.predictions, other.predictions, rtol=1e-9)


def test_rows_of_weight_zero_are_neither_learnt_from_nor_judged():
    w = np.where(np.arange(N) % 4, W, 0.0)
    strange = np.where(w > 0, Y, 1e6)
    here = cross_validate(LeastSquares(), X, strange, sample_weight=w, cv=4)
    there = cross_validate(LeastSquares(), source(strange, w, rows=37), cv=4)
    assert there.error == pytest.approx(here.error, rel=1e-9)
    assert there.error < 2  # of noise of variance 1


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
    known = N - 50 if more else N
    with pytest.raises(InputError, match=f"has {what} rows than the {known} of an earlier pass"):
        cross_validate(LeastSquares(), Shrinking(more), cv=3)


def test_a_part_that_changes_is_told_as_one(folder, monkeypatch):
    """Of 600 rows the second file has 200, 196 of them with a response."""
    monkeypatch.setattr(StoredRows, "check_files", lambda _: None)  # as if sizes did not tell
    rows = scale.source(str(folder), "y", ignore=["label", "w", "group", "time"])
    inputs, judged = read_judged(rows, None, "regression")
    file = folder / "part1.parquet"
    pd.read_parquet(file)[:150].to_parquet(file)
    fitted = SourceProcedure(TreeRegressor(max_depth=2), inputs, judged, as_it_is=True)
    message = "A part of the source has fewer rows than the 196 of an earlier pass"
    with pytest.raises(InputError, match=message):
        fitted.fit(Part((0, ()), np.arange(len(judged)), ()))
    file.unlink()
    with pytest.raises(InputError, match="has 2 parts, and 3 in an earlier pass"):
        inputs.train(Part((0, ()), np.arange(len(judged)), ())).parts()


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


def test_values_of_the_knob_and_folds_inside_are_for_rows_in_memory():
    with pytest.raises(ParameterError, match="values= is for rows in memory"):
        nested_cv(Ridge(), source(), values=[1.0, 2.0])
    with pytest.raises(ParameterError, match="inner= is a number of folds"):
        nested_cv(Lasso(), source(), inner=KFold(3))
    inputs, judged = read_judged(source(), None, "regression")
    for name, value in {"class_weight": "balanced", "decision": max, "most_rows": 9}.items():
        with pytest.raises(ParameterError, match=f"{name}= is for rows in memory"):
            SourceProcedure(Ridge(), inputs, judged, **{name: value})


def test_rows_that_are_given_twice_are_refused():
    twice = [(np.r_[np.arange(300), np.arange(9)], np.arange(300, N))]
    with pytest.raises(InputError, match="name a row twice"):
        cross_validate(LeastSquares(), source(), cv=twice)


@pytest.mark.parametrize("role", ["groups", "time"])
def test_rows_without_group_or_time_are_refused(folder, role):
    file = folder / "part2.parquet"
    pd.read_parquet(file).replace({"group": {3: np.nan}, "time": {TIME[401]: np.nan}}).to_parquet(
        file
    )
    rows = scale.source(str(folder), "y", ignore=["label", "w", "group", "time"])
    column = {"groups": "group", "time": "time"}[role]
    with pytest.raises(InputError, match=f"'{column}' has missing values"):
        cross_validate(LeastSquares(), rows, **{role: column})


def test_a_column_that_is_not_there_is_named(folder):
    rows = scale.source(str(folder), "y", ignore=["label", "w", "group", "time"])
    with pytest.raises(InputError, match=r"no column 'times'.*'time'"):
        cross_validate(LeastSquares(), rows, time="times")


def test_a_source_without_rows(tmp_path):
    path = tmp_path / "none.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "y": [np.nan, np.nan]}).to_parquet(path)
    with pytest.raises(InputError, match="no rows to judge"):
        cross_validate(LeastSquares(), scale.source(str(path), "y"))


def test_several_estimators_are_for_nested_cv():
    for several in ({"a": Ridge()}, [Ridge()]):
        with pytest.raises(InputError, match=r"several side by side are judged by nested_cv"):
            cross_validate(several, source())
    with pytest.raises(InputError, match="One estimator is judged at a time"):
        nested_cv([Ridge()], source())


def test_a_method_that_a_source_does_not_allow_stops_no_other():
    models = {"ridge": Ridge(), "neighbors": NearestNeighborsRegressor()}
    found = nested_cv(models, source(), outer=3, random_state=0)
    assert list(found.results) == ["ridge"]
    assert "needs all rows in memory" in found.failures["neighbors"]


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("mae", "Did you mean 'absolute_error'"),
        ("accuracy", "Did you mean 'zero_one'"),
        ("r2", r"no mean over rows; bottega.compare\(measure='r2'\)"),
    ],
)
def test_losses_that_others_call_differently_are_named(loss, message):
    model, y = (LinearDiscriminant(), LABEL) if loss == "accuracy" else (Ridge(), Y)
    with pytest.raises(ParameterError, match=message):
        cross_validate(model, X, y, loss=loss)
