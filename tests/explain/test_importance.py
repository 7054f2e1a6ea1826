"""Permutation importance: exact on small data, against scikit-learn, its interval, its groups."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

from bottega.core.errors import InputError
from bottega.data import Table
from bottega.explain import explain
from bottega.explain._rows.columns import go_together, read_column
from bottega.explain.importance import donors_of, increases_of
from bottega.linear import LeastSquares
from bottega.tree import TreeRegressor


def values(importance):
    return dict(zip(importance.columns, importance.increase, strict=True))


def test_two_rows_by_hand(known):
    """Each row takes the value of the other: errors of 0 become 2**2."""
    X, y = np.array([[0.0, 5.0], [2.0, 7.0]]), np.array([0.0, 2.0])
    found = explain([(known.number(lambda A: A[:, 0]), X, y, None)]).importance
    assert found.columns == ("x0", "x1")
    assert found.increase.tolist() == [4.0, 0.0]
    assert found.error == 0.0


def test_six_rows_are_averaged_over_all_others(known):
    """With 5 other rows the 5 donors are all of them: the mean over all pairs of rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)

    def model(A):
        return A[:, 0] * A[:, 1]

    found = values(explain([(known.number(model), X, y, None)]).importance)
    for j, name in enumerate(["x0", "x1"]):
        rises = []
        for i in range(6):
            for other in set(range(6)) - {i}:
                row = X[i].copy()
                row[j] = X[other, j]
                rises.append((y[i] - model(row[None])[0]) ** 2 - (y[i] - model(X[[i]])[0]) ** 2)
        assert found[name] == pytest.approx(np.mean(rises), rel=1e-12)


def test_it_agrees_with_scikit_learn_on_one_fold():
    """scikit-learn's shuffles leave 1 row in n where it is; means over 200 and 5 shuffles differ by
    less than 5 % here (4 standard deviations of the difference over seeds are 3 %).
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = 2 * X[:, 0] + X[:, 1] + rng.normal(size=2000)
    model = LinearRegression().fit(X, y)
    theirs = permutation_importance(
        model, X, y, n_repeats=20, scoring="neg_mean_squared_error", random_state=0
    )
    ours = values(explain([(model, X, y, None)]).importance)
    assert ours["x0"] == pytest.approx(theirs.importances_mean[0], rel=0.05)
    assert ours["x1"] == pytest.approx(theirs.importances_mean[1], rel=0.05)
    assert ours["x2"] == pytest.approx(0, abs=0.01)


def test_the_interval_is_nadeau_and_bengios(known):
    """Five folds of 8 rows: (1/5 + 8/32) times the variance of the fold means, t with 4 df."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = known.number(lambda A: A[:, 0])
    fits = [(model, X[k::5], y[k::5], None) for k in range(5)]
    explanation = explain(fits)
    found = explanation.importance
    held = explanation.held
    rng = np.random.default_rng(0)
    at = held.sample(10_000, rng)
    increase = increases_of(held, at, donors_of(held, at, rng), [("x0",)])[0]
    means = np.array([increase[held.fold == k].mean() for k in range(5)])
    se = np.sqrt((1 / 5 + 8 / 32) * means.var(ddof=1))
    place = found.columns.index("x0")
    assert found.increase[place] == pytest.approx(means.mean())
    usual = increase.std(ddof=1) / np.sqrt(40)
    assert found.std_error[place] == pytest.approx(max(se, usual))
    half = max(stats.t.ppf(0.975, 4) * se, stats.norm.ppf(0.975) * usual)
    assert found.upper[place] == pytest.approx(means.mean() + half)
    assert found.lower[place] == pytest.approx(means.mean() - half)


def test_a_column_that_is_not_used_has_importance_zero_exactly(mixed, fits_of):
    found = explain(fits_of(TreeRegressor(max_leaf_nodes=3), mixed)).importance
    unused = found.columns.index("noise")
    assert (found.increase[unused], found.lower[unused], found.upper[unused]) == (0, 0, 0)
    assert found.leading(1) == ("size",)
    assert found.lower[0] > 0


def test_two_folds_are_said_to_be_few(known):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = X[:, 0]
    model = known.number(lambda A: A[:, 0])
    for count, few in ((2, True), (3, False)):
        parts = np.array_split(np.arange(300), count)
        found = explain([(model, X[part], y[part], None) for part in parts]).importance
        assert found.folds == count
        assert any("folds are too few" in note for note in found.notes) is few


def test_columns_that_go_together_are_shuffled_together(known):
    rng = np.random.default_rng(0)
    n = 300
    a = rng.normal(size=n)
    X = np.column_stack([a, a + 0.2 * rng.normal(size=n), rng.normal(size=n)])
    y = X[:, 0] + X[:, 1]
    found = explain([(known.number(lambda A: A[:, 0] + A[:, 1]), X, y, None)]).importance
    assert found.together.columns == ("x0 + x1",)
    # Shuffled as one, the rise is about var(2a) * 2; one by one, about var(a) * 2 each.
    assert found.together.increase[0] > 1.8 * found.increase[:2].sum()
    assert any("go together" in note and "x0 + x1" in note for note in found.notes)
    assert "x0 + x1" in " ".join(found.plot().to_dict()["title"]["subtitle"])


def test_a_chart_names_few_columns_of_large_groups(known):
    a = np.random.default_rng(0).normal(size=(100, 1))
    X = np.hstack([a] * 5 + [a**2] * 2)
    fits = [(known.number(lambda A: A[:, 0]), X, a[:, 0], None)]
    note = explain(fits).importance.plot().to_dict()["title"]["subtitle"][1]
    assert note == "These go together: x0 + x1 and 3 more; x5 + x6."


def test_nothing_goes_together_by_chance_in_independent_columns():
    """30 columns of 50 rows: the largest of 435 rank correlations is near 0.5; 0.7 is 5 sigma."""
    rng = np.random.default_rng(0)
    columns = [read_column(x, f"x{j}") for j, x in enumerate(rng.normal(size=(30, 50)))]
    assert go_together(columns) == []


def test_a_category_goes_with_the_number_it_is_made_of():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    frame = pd.DataFrame(
        {"x": x, "side": np.where(x > 0, "right", "left"), "z": rng.normal(size=200)}
    )
    import narwhals.stable.v2 as nw

    series = nw.from_native(frame, eager_only=True)
    assert go_together([read_column(series[name], name) for name in frame]) == [("x", "side")]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_both_libraries(mixed, fits_of, library):
    frame = pl.from_pandas(mixed.frame) if library == "polars" else mixed.frame
    table = Table(frame, target="price")
    found = explain(fits_of(LeastSquares(), table)).importance
    assert found.leading(3) == ("size", "colour", "area")
    assert type(found.to_frame()).__module__.startswith(library)
    assert list(found.to_frame().columns) == [
        "column", "increase", "std_error", "conf_low", "conf_high"
    ]  # fmt: skip


def test_groups_are_the_units_of_the_interval(known):
    """Twins, each with its copy in the same group: the standard error is that of one of each."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 1)), rng.normal(size=60)
    model = known.number(lambda A: A[:, 0])
    alone = explain([(model, X, y, None)]).importance
    twice = np.repeat(np.arange(60), 2)
    both = explain([(model, X[twice], y[twice], None)], groups=[twice]).importance
    naive = explain([(model, X[twice], y[twice], None)]).importance
    assert both.std_error[0] == pytest.approx(alone.std_error[0], rel=0.25)
    assert naive.std_error[0] < 0.8 * both.std_error[0]


def test_weights_count(known):
    X = np.array([[0.0], [1.0], [2.0], [50.0]])
    y = X[:, 0].copy()
    model = known.number(lambda A: A[:, 0])
    light = explain([(model, X, y, np.array([1.0, 1.0, 1.0, 0.0]))]).importance
    assert light.n == 3
    assert light.increase[0] < explain([(model, X, y, None)]).importance.increase[0] / 2


def test_other_losses_and_probabilities(known):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 2))
    y = np.where(rng.uniform(size=500) < X[:, 0], "yes", "no")
    fits = [(known.share(lambda A: A[:, 0]), X, y, None)]
    by_log = explain(fits, loss="log_loss").importance
    assert by_log.loss == "log loss"
    assert by_log.columns[0] == "x0"
    assert by_log.lower[0] > 0
    assert values(by_log)["x1"] == 0


def test_the_seed_decides(mixed, fits_of):
    fits = fits_of(LeastSquares(), mixed)
    one, two, other = (explain(fits, random_state=seed).importance for seed in (1, 1, 2))
    assert one.increase.tolist() == two.increase.tolist()
    assert one.increase.tolist() != other.increase.tolist()


def test_only_the_columns_asked_for(mixed, fits_of):
    found = explain(fits_of(LeastSquares(), mixed), columns=["area", "new"]).importance
    assert found.columns == ("area", "new")


def test_bad_input_is_refused(known):
    X, y = np.zeros((4, 2)), np.zeros(4)
    model = known.number(lambda A: A[:, 0])
    with pytest.raises(InputError, match="at least one fold"):
        explain([])
    with pytest.raises(InputError, match="no column 'x9' among the inputs"):
        explain([(model, X, y, None)], columns=["x9"])
    with pytest.raises(InputError, match="X has 4 rows and y has 3"):
        explain([(model, X, y[1:], None)])
    with pytest.raises(InputError, match="groups must have one entry per row"):
        explain([(model, X, y, None)], groups=[np.zeros(3)])
    with pytest.raises(InputError, match="is for classification"):
        explain([(model, X, y, None)], label="yes")
    with pytest.raises(InputError, match="no class of the held-out rows"):
        explain([(known.share(lambda A: A[:, 0]), X, ["no", "yes"] * 2, None)], label="maybe")
    with pytest.raises(InputError, match="at least 2 held-out rows"):
        _ = explain([(model, X[:1], y[:1], None)]).importance
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    with pytest.raises(InputError, match="frames with the same columns"):
        explain([(model, frame, y[:2], None), (model, X, y, None)])
