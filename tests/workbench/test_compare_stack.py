"""The leaders combined, judged over the same folds; verdicts; models of the folds."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import bottega
from bottega.linear import LeastSquares
from bottega.workbench.job import Job
from bottega.workbench.leaderboard import verdict_on
from bottega.workbench.stack import LeadersClassifier, LeadersRegressor

THREE = ["ridge", "least_squares", "tree"]


@pytest.fixture(scope="module")
def mixed():
    """A line and a step: neither kind of method has it all."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(240, 3))
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["y"] = 3 * X[:, 0] + 2 * (X[:, 1] > 0.2) + 0.3 * rng.normal(size=240)
    return frame


@pytest.fixture(scope="module")
def stacked(mixed):
    return bottega.compare(mixed, "y", methods=THREE, outer=4, random_state=1)


def best_mean(Z, t):
    """Return the weights of the mean of least squared error, from every set of columns."""
    G = (Z - t[:, None]).T @ (Z - t[:, None])
    found = []
    for size in range(1, len(G) + 1):
        for some in map(list, combinations(range(len(G)), size)):
            w = np.zeros(len(G))
            w[some] = np.linalg.solve(G[np.ix_(some, some)], np.ones(size))
            found.append(w / w.sum())
    return min((w for w in found if w.min() >= 0), key=lambda w: w @ G @ w)


def chances(Z, t):
    """Return how often each column has the least squared error in samples of the rows."""
    losses = (Z - t[:, None]) ** 2
    rng = np.random.default_rng(0)
    counts = rng.multinomial(len(t), np.full(len(t), 1 / len(t)), size=20_000)
    first = np.argmin(counts @ losses, axis=1)
    return np.bincount(first, minlength=Z.shape[1]) / len(first)


def test_the_weights_of_a_fold_come_from_the_rows_of_the_others(stacked):
    result = stacked.results["stacking"]
    used = list(result.setting)
    assert set(used) <= {"baseline", *THREE}
    said = np.column_stack([stacked.results[name].predicted for name in used])
    for k, chosen in enumerate(result.fold_settings):
        test = result.fold == k
        weights = np.array([chosen.get(name, 0.0) for name in used])
        Z, t = said[~test], stacked.y_train[~test]
        few = 200 / (200 + len(t))
        expected = few * chances(Z, t) + (1 - few) * best_mean(Z, t)
        assert weights == pytest.approx(expected, abs=0.05)  # small chances count as none
        assert result.predicted[test] == pytest.approx(said[test] @ weights, rel=1e-6)


def test_the_stack_predicts_by_the_models_of_all_rows(stacked, mixed):
    result = stacked.results["stacking"]
    assert sum(result.setting.values()) == pytest.approx(1)
    expected = sum(
        weight * stacked.results[name].model.predict(mixed)
        for name, weight in result.setting.items()
    )
    assert result.model.predict(mixed[mixed.columns[::-1]]) == pytest.approx(expected)
    assert result.error < stacked.results["ridge"].error
    assert result.card.method == "stacking"
    assert "stacking" in stacked.leaderboard["method"].tolist()
    assert "stacking" not in stacked.skipped


def test_the_stack_can_win_be_saved_and_loaded(stacked, mixed, tmp_path):
    if stacked.best_method != "stacking":
        pytest.fail("two kinds of methods that each lack something should gain together")
    stacked.certify(ledger=False, again=True)
    loaded = bottega.load(stacked.save(tmp_path / "stack.skops"))
    assert loaded.predict(mixed) == pytest.approx(stacked.predict(mixed))


def test_classes_are_stacked_by_their_probabilities():
    found = bottega.compare("iris", methods=["neighbors", "tree", "parzen"], outer=3)
    result = found.results["stacking"]
    assert result.probability.sum(axis=1) == pytest.approx(np.ones(found.n_train))
    shares = found.results["stacking"].model.predict_proba(found.table.frame)
    expected = sum(
        weight * found.results[name].model.predict_proba(found.table.frame)
        for name, weight in result.setting.items()
    )
    assert shares == pytest.approx(expected)


def test_stacking_sits_out_and_says_why(mixed):
    few = bottega.compare(mixed, "y", methods=THREE[:2], outer=3)
    assert "stacking" not in few.results
    two = bottega.compare(mixed, "y", methods=THREE, outer=2)
    assert "stacking" not in two.results
    off = bottega.compare(mixed, "y", methods=THREE, outer=3, stack=False)
    assert "stacking" not in off.results
    late = bottega.compare(
        mixed.assign(day=np.arange(240)), "y", methods=THREE, outer=3, time="day"
    )
    assert "stacking" not in late.results


def test_leaders_alone():
    X, y = np.arange(12.0)[:, None], np.arange(12.0)
    lines = [LeastSquares().fit(X, y), LeastSquares().fit(X, 3 * y)]
    both = LeadersRegressor(lines, [0.75, 0.25])
    assert both.predict(X) == pytest.approx(1.5 * y)
    assert clone(both).weights == [0.75, 0.25]
    labels = LeadersClassifier([], [], ["no", "yes"], threshold=0.2)
    assert labels.classes_.tolist() == ["no", "yes"]


def test_a_stack_has_learned_from_what_its_members_have(mixed, monkeypatch):
    seen = {"ridge": 120, "tree": 40, "baseline": 999}
    monkeypatch.setattr(Job, "learned_from", lambda _, name: seen.get(name, 70))
    found = bottega.compare(mixed, "y", methods=THREE, outer=4, random_state=1)
    stack = found.results["stacking"]
    assert 0 < len(stack.setting) < len(found.results) - 1
    assert stack.learned_from == max(found.results[name].learned_from for name in stack.setting)
    assert stack.learned_from < 999


# ---- verdict ------------------------------------------------------------------------------------


def test_a_simpler_method_is_named_only_within_the_margin(stacked):
    verdict = stacked.verdict
    assert verdict.best == stacked.best_method
    assert verdict.margin == pytest.approx(0.02 * stacked.results["baseline"].error)
    assert verdict.margin_in_words == "2 % of the baseline's error"
    board = stacked.leaderboard.set_index("method")
    for rival in verdict.rivals:
        row = board.loc[rival.method]
        assert (rival.difference, rival.low, rival.high) == pytest.approx(
            (row["difference"], row["difference_conf_low"], row["difference_conf_high"])
        )
        assert rival.within_margin == (rival.high <= verdict.margin)
    narrow = verdict_on(stacked.results, stacked.nested, margin=0.01)
    assert narrow.simpler is None  # the others miss the step or the line
    wide = verdict_on(stacked.results, stacked.nested, margin=100.0)
    assert wide.simpler in ("ridge", "least_squares")
    named = next(rival for rival in wide.rivals if rival.method == wide.simpler)
    assert named.why == "its coefficients can be read"
    assert "baseline" not in [rival.method for rival in wide.rivals]


def test_both_picks_are_shown_where_they_differ():
    found = bottega.compare("diabetes", methods=["ridge", "random_forest"], outer=2)
    ridge = found.results["ridge"]
    path = ridge.path
    if path.best("min") != path.best("one_se"):
        assert ridge.both_picks == {
            "min": dict(path.settings[path.best("min")]),
            "one_se": dict(path.settings[path.best("one_se")]),
        }
        assert ridge.setting == ridge.both_picks["min"]
    simple = bottega.compare("diabetes", methods=["ridge"], outer=2, select="one_se")
    assert simple.results["ridge"].setting["alpha"] >= ridge.setting["alpha"]


# ---- models of the folds ------------------------------------------------------------------------


def test_models_of_the_folds_are_those_that_were_judged(stacked, mixed):
    for name in ("ridge", "stacking"):
        result = stacked.results[name]
        fits = stacked.fold_models.fits(name, result)
        assert len(fits) == 4
        rows = stacked.fold_models.rows(name, result)
        for (model, X, y, weight), held in zip(fits, rows, strict=True):
            assert weight is None
            assert model.predict(X) == pytest.approx(result.predicted[held])
            assert np.array_equal(y, stacked.y_train[held])


def test_the_winner_is_explained_on_rows_it_had_not_seen(mixed):
    found = bottega.compare(mixed, "y", methods=["ridge"], outer=3)
    explanation = found.explain()
    assert explanation is found.explain()
    importance = explanation.importance.to_frame().set_index("column")["increase"]
    assert importance.idxmax() == "a"


def test_intervals_come_from_the_folds_and_then_from_the_locked_rows(mixed):
    found = bottega.compare(mixed, "y", methods=["ridge"], outer=3)
    limits = found.interval(mixed, level=0.8)
    assert limits.shape == (240, 2)
    inside = np.mean((limits[:, 0] <= mixed["y"]) & (mixed["y"] <= limits[:, 1]))
    assert 0.7 < inside < 0.95
    assert found.intervals.kind == "CV+"
    many = bottega.compare(mixed, "y", methods=["ridge"], outer=3, test_size=0.5)
    assert many.intervals.kind == "CV+"
    many.certify(ledger=False)
    assert many.intervals.kind == "split"
    assert "split, calibrated by 120 rows" in many.intervals.in_words()
    classes = bottega.compare("iris", methods=["neighbors"], outer=3)
    sets = classes.interval(classes.table.frame, level=0.9)
    assert len(sets) == 150
    assert (
        np.mean([label in each for label, each in zip(classes.table.y, sets, strict=True)]) > 0.85
    )


def test_the_stack_takes_no_more_fits(mixed, monkeypatch):
    fits = []
    fit = LeastSquares._fit
    monkeypatch.setattr(
        LeastSquares, "_fit", lambda self, *given: fits.append(1) or fit(self, *given)
    )
    with_it = bottega.compare(mixed, "y", methods=THREE, outer=3)
    assert "stacking" in with_it.results
    assert len(fits) == 4


def test_few_locked_rows_leave_the_intervals_to_the_folds(mixed, tmp_path):
    found = bottega.compare(mixed, "y", methods=["ridge"], outer=3)
    found.certify(ledger=False)
    assert found.n_test == 60
    assert "CV+, calibrated by 180 rows" in found.intervals.in_words()
    assert found.intervals.guarantee(0.9) < 0.8
    assert bottega.load(found.save(tmp_path / "m.skops")).intervals.kind == "CV+"


def test_few_locked_groups_are_few_however_many_rows_they_have(mixed):
    groups = mixed.assign(unit=np.arange(240) // 6)
    found = bottega.compare(
        groups, "y", methods=["ridge"], outer=3, test_size=0.5, groups="unit", stack=False
    )
    found.certify(ledger=False)
    assert found.n_test >= 100
    assert found.intervals.kind == "CV+"


def test_a_dictionary_for_json(stacked):
    import json

    found = stacked.to_dict()
    assert found["best"] == stacked.best_method
    assert [row["method"] for row in found["leaderboard"]] == stacked.leaderboard["method"].tolist()
    assert found["measure"] == "squared_error"
    assert {"verdict", "cut", "notes", "skipped", "certificate", "versions"} <= set(found)
    json.dumps(found, default=str)
