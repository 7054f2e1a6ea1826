"""A comparison of rows in chunks: one leaderboard, judged on the same rows."""

import numpy as np
import pandas as pd
import pytest

from bottega import scale
from bottega.core.chunks import parts_of
from bottega.core.deal import deal_folds
from bottega.core.errors import InputError
from bottega.core.fold_rows import FoldRows
from bottega.data import read
from bottega.linear import LeastSquares
from bottega.workbench import compare_source


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, 2))
    return pd.DataFrame(
        {
            "a": x[:, 0],
            "b": x[:, 1],
            "colour": rng.choice(["red", "blue"], 900),
            "y": 3 * x[:, 0] + np.sin(3 * x[:, 1]) + 0.3 * rng.normal(size=900),
            "label": np.where(x[:, 0] + 0.5 * rng.normal(size=900) > 0, "up", "down"),
        }
    )


def test_folds_do_not_depend_on_the_chunks(frame):
    for rows in (70, 900):
        source = scale.source(frame, target="y", ignore="label", rows=rows)
        found = np.concatenate([y for _, y, _ in FoldRows(source, 4, [1, 3])])
        expected = frame["y"].to_numpy()[np.isin(deal_folds(900, 4), [1, 3])]
        np.testing.assert_array_equal(found, expected)


def test_errors_are_those_of_models_fitted_to_the_other_folds(frame):
    source = scale.source(frame, target="y", ignore=["label", "colour"], rows=100)
    found = compare_source(
        source, methods=["least_squares", "least_angle"], outer=3, sample=300, random_state=0
    )
    board = found.leaderboard.set_index("method")
    fold = deal_folds(900, 4)
    whole = [parts_of(chunk) for chunk in source]
    X = pd.concat([each[0] for each in whole])
    y = np.concatenate([each[1] for each in whole])
    losses = []
    for k in (1, 2, 3):
        train = (fold != k) & (fold != 0)
        model = LeastSquares().fit(X[train], y[train])
        losses.append((y[fold == k] - model.predict(X[fold == k])) ** 2)
    assert board.loc["least_squares", "error"] == pytest.approx(
        np.mean(np.concatenate(losses)), rel=1e-9
    )
    means = [each.mean() for each in losses]
    expected = np.sqrt((1 / 3 + 1 / 2) * np.var(means, ddof=1))
    assert board.loc["least_squares", "std_error"] == pytest.approx(expected, rel=1e-9)
    assert board.loc["least_squares", "learned_from"] == 450
    # Two of four folds of a sample of 300 of 900: 150, to within six standard deviations.
    assert abs(board.loc["least_angle", "learned_from"] - 150) < 6 * np.sqrt(300 / 4)
    assert board["error"].is_monotonic_increasing
    assert set(board.index) == {"baseline", "least_squares", "least_angle"}
    # The certificate is of the locked fold and of the best model, fitted without it.
    model = found.best
    locked = (y[fold == 0] - model.predict(X[fold == 0])) ** 2
    assert found.certificate.estimate == pytest.approx(locked.mean(), rel=1e-9)
    assert "learned_from" in str(found.summary())
    assert len(source.pipeline(model).predict(frame)) == 900


def test_classes(frame, tmp_path):
    frame.drop(columns="y").to_parquet(tmp_path / "rows.parquet")
    source = scale.source(tmp_path / "rows.parquet", target="label", rows=200)
    found = compare_source(source, methods=["linear_discriminant", "naive_bayes"], outer=2)
    board = found.leaderboard.set_index("method")
    assert board["error"].idxmin() in ("linear_discriminant", "naive_bayes")
    assert board.loc["baseline", "error"] > 0.3
    assert not found.skipped
    assert found.certificate.method == "Clopper-Pearson", found.certificate.method


def test_bad_calls(frame):
    source = scale.source(frame, target="y", ignore="label")
    with pytest.raises(InputError, match="no method 'ridg' for regression"):
        compare_source(source, methods=["ridg"])
    with pytest.raises(InputError, match="outer=1 is at least 2 folds"):
        compare_source(source, outer=1)
    with pytest.raises(InputError, match="named columns and a target"):
        compare_source(scale.source(np.ones((3, 1)), np.ones(3)))
    few = scale.source(frame[:3], target="y", ignore="label")
    with pytest.raises(InputError, match="too few for so many folds"):
        compare_source(few, methods=["ridge"], outer=5)


def test_the_task_and_the_choice_are_those_of_a_table_in_memory(frame):
    inputs = frame[["a", "b"]]
    two = inputs.assign(y=(frame["label"] == "up").astype(int))
    found = compare_source(scale.source(two, target="y", rows=100), methods=["tree"], outer=2)
    assert found.loss == "misclassification"
    assert read(two, target="y").task == "classification"
    # Nothing to learn: the baseline is not beaten, and is what is chosen.
    none = inputs.assign(y=np.random.default_rng(1).normal(size=900))
    found = compare_source(scale.source(none, target="y"), methods=["random_forest"], outer=2)
    assert found.leaderboard["method"].tolist() == ["baseline", "random_forest"]
    assert type(found.best).__name__ == "BaselineRegressor"
    with pytest.raises(InputError, match="one value only"):
        compare_source(scale.source(inputs.assign(y=1.0), target="y"))
    with pytest.raises(InputError, match="regression needs numbers"):
        compare_source(scale.source(frame, target="label"), task="regression")
