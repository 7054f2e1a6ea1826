"""Errors of methods over a source, whose parts other processes learn from and predict."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega import scale
from bottega.classify import LinearDiscriminant, LogisticRegression
from bottega.core.errors import InputError
from bottega.linear import LeastSquares, Ridge
from bottega.risk import cross_validate, nested_cv
from bottega.risk.estimate import source_procedure
from bottega.tree import TreeRegressor
from bottega.workbench.streamed import StreamedRows

pytestmark = pytest.mark.slow  # processes start and import the package


@pytest.fixture
def files(rows, tmp_path):
    """The rows in files of 1, 40 and 659 rows, some without a response or without weight."""
    X, y, label, weight = rows
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        y=y,
        label=label,
        w=np.where(np.arange(len(y)) % 4, weight, 0.0),
        block=rng.integers(0, 40, len(y)),
        rank=rng.permutation(len(y)).astype(float),
    )
    frame.loc[::50, ["y", "rank"]] = np.nan
    frame.loc[::50, "label"] = None
    for number, (start, end) in enumerate(pairwise([0, 1, 41, 700])):
        frame[start:end].to_parquet(tmp_path / f"part{number}.parquet")
    return tmp_path


def source_of(files, target, **more):
    others = {"y", "label", "w", "block", "rank"} - {target, *more.values()}
    return scale.source(str(files), target, ignore=others, rows=37, **more)


def same(there, here, rtol=1e-9):
    np.testing.assert_array_equal(there.fold, here.fold)
    np.testing.assert_allclose(there.losses, here.losses, rtol=rtol, atol=rtol)
    assert there.error == pytest.approx(here.error, rel=rtol)
    assert there.error_se == pytest.approx(here.error_se, rel=rtol)


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"weight": "w", "group": "block"}], ids=str)
def test_cross_validation_elsewhere_is_that_here(files, place, roles):
    here = cross_validate(LeastSquares(), source_of(files, "y", **roles), cv=3)
    with scale.on(**place):
        there = cross_validate(LeastSquares(), source_of(files, "y", **roles), cv=3)
    same(there, here)


def test_classes_and_their_probabilities_elsewhere(files, place):
    models = (LinearDiscriminant(shrinkage=0.1), None), (LogisticRegression(alpha=1.0), "log_loss")
    for model, loss in models:
        here = cross_validate(model, source_of(files, "label", weight="w"), loss=loss, cv=3)
        with scale.on(**place):
            there = cross_validate(model, source_of(files, "label", weight="w"), loss=loss, cv=3)
        # Logistic regression iterates, to its tolerance, over sums in another order.
        same(there, here, 1e-9 if loss is None else 1e-6)


def test_arrays_are_sent_in_parts(rows, place):
    X, y, _, weight = rows
    here = cross_validate(LeastSquares(), X, y, sample_weight=weight, cv=3)
    with scale.on(**place):
        there = cross_validate(LeastSquares(), scale.source(X, y, weight=weight, rows=140), cv=3)
    same(there, here)


def test_choices_of_nested_folds_elsewhere(files, place):
    models = {"ridge": Ridge(), "least squares": LeastSquares()}
    here = nested_cv(models, source_of(files, "y"), outer=3, interval="nested", n_repeats=1)
    with scale.on(**place):
        there = nested_cv(models, source_of(files, "y"), outer=3, interval="nested", n_repeats=1)
    for name in models:
        assert there[name].error == pytest.approx(here[name].error, rel=1e-9)
        limits = here[name].lower, here[name].upper
        assert (there[name].lower, there[name].upper) == pytest.approx(limits, rel=1e-9)
    chosen, known = ([one["alpha"] for one in each["ridge"].settings] for each in (there, here))
    assert chosen == pytest.approx(known, rel=1e-9)


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"weight": "w", "group": "block"}], ids=str)
def test_no_row_held_out_is_learnt_from(files, place, roles):
    """A tree of pure leaves repeats what it has seen, and the responses are all different.

    They are whole numbers, which means of equal ones are but for rounding.
    """
    tree = TreeRegressor(ccp_alpha=0.0)
    if "group" in roles:  # a file without rows, of which no footer says what it holds
        pd.read_parquet(files / "part0.parquet")[:0].to_parquet(files / "part1b.parquet")
    with scale.on(**place):
        rows = source_of(files, "rank", **roles)
        seen = tree.fit(rows)
        found = cross_validate(tree, rows, cv=3)
    stored = pd.read_parquet(files).dropna(subset="rank")
    known = stored["rank"].to_numpy()
    np.testing.assert_array_equal(found.rows.y, known)
    counts = stored["w"] > 0 if "weight" in roles else np.full(len(known), True)
    repeated = np.rint(seen.predict(stored[list("abcd")]))
    np.testing.assert_array_equal(repeated[counts], known[counts])
    assert np.all(found.fold >= 0)
    learnt = np.rint(found.predictions)
    np.testing.assert_allclose(found.predictions, learnt, rtol=1e-12)
    assert not np.any(learnt == known)
    if "group" in roles:
        # Nor is any other row of its group: each leaf is a row that was learnt from.
        block = dict(zip(known, stored["block"], strict=True))
        leaf = np.array([block[value] for value in learnt])
        assert not np.any(leaf == stored["block"].to_numpy())


def test_files_that_change_meanwhile_are_refused(files, place, monkeypatch):
    """The last file has 646 rows with a response, and 100 fewer once the responses are read."""
    rows, file = source_of(files, "y"), files / "part2.parquet"
    made = source_procedure.SourceProcedure.__post_init__

    def shortened(self):
        pd.read_parquet(file)[:557].to_parquet(file)
        made(self)

    monkeypatch.setattr(source_procedure.SourceProcedure, "__post_init__", shortened)
    with (
        scale.on(**place),
        pytest.raises(InputError, match="has another size"),
    ):
        cross_validate(LeastSquares(), rows, cv=3)


@pytest.mark.parametrize("roles", [{}, {"groups": "block"}, {"time": "rank"}], ids=str)
def test_rows_that_were_not_drawn_are_learnt_from_elsewhere(files, place, roles, monkeypatch):
    sizes, parts = [], StreamedRows.parts
    monkeypatch.setattr(
        StreamedRows, "parts", lambda self: sizes.append(len(found := parts(self))) or found
    )
    whole = pd.read_parquet(files).dropna(subset="rank")
    for number, (start, end) in enumerate(pairwise([0, 1, 41, len(whole)])):
        whole[start:end].to_parquet(files / f"part{number}.parquet")
    options = {"methods": ["least_squares"], "outer": 3, "sample": 150, "stack": False, **roles}
    rows = scale.source(str(files), "y", ignore=["label", "w"], rows=37)
    here = bottega.compare(rows, **options).leaderboard.set_index("method")
    sizes.clear()
    with scale.on(**place):
        there = bottega.compare(rows, **options).leaderboard.set_index("method")
    assert set(sizes) == {4}  # the rows in memory, and three files
    assert here.loc["least_squares", "learned_from"] > 400
    columns = ["error", "learned_from"]
    np.testing.assert_allclose(there[columns], here.loc[there.index, columns], rtol=1e-9)
