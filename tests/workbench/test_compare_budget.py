"""A time budget, a race, an interruption: what is cut is said, the rest stands."""

import re
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega.core import progress
from bottega.core.errors import ParameterError
from bottega.core.parallel import available_cores
from bottega.linear import Ridge
from bottega.risk.estimate.judged_rows import JudgedRows, RowLosses
from bottega.risk.estimate.nested_engine import Answer, FittedProcedure, Judge, Part, Task
from bottega.workbench.budget import Plan, default_budget, make_plan, read_budget
from bottega.workbench.work import Work


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("90", 90), ("90s", 90), ("2m", 120), ("1.5 min", 90), ("1h30m", 5400), (7, 7), (0.5, 0.5)],
)
def test_budgets_as_people_write_them(given, seconds):
    assert read_budget(given) == seconds


@pytest.mark.parametrize("given", ["", "soon", "-2m", 0, -1, "2x", True, float("nan"), "1.2.3"])
def test_a_budget_that_is_none_is_refused(given):
    with pytest.raises(ParameterError, match="give seconds above 0"):
        read_budget(given)


def test_small_tables_have_no_budget_and_large_ones_ten_minutes_at_most():
    assert default_budget(20_000, 100) is None
    assert 60 < default_budget(20_001, 3) < 70
    assert default_budget(10**7, 50) == 600


# ---- the plan -----------------------------------------------------------------------------------


class Sleeper:
    """Takes a time that grows with a power of its rows."""

    most_rows = None

    def __init__(self, seconds, power, module="ensemble"):
        self.seconds, self.power, self.module = seconds, power, module

    def learns_from(self, n):
        return n

    def fit(self, part):
        time.sleep(self.seconds * (len(part.train) / 1000) ** self.power)
        return FittedProcedure(lambda rows: np.zeros(len(rows)), None, None)


@pytest.fixture
def judge():
    rows = JudgedRows(np.random.default_rng(0).normal(size=40_000), "regression")
    return Judge(rows, RowLosses(None, "regression"))


def test_the_plan_gives_the_expensive_fewer_rows(judge, monkeypatch):
    from bottega.registry import methods

    known = methods("regression")
    names = {"baseline": (0.001, 0.0), "ridge": (0.004, 1.0), "loess": (0.02, 2.0)}
    procedures = {name: Sleeper(*given) for name, given in names.items()}
    monkeypatch.setattr("bottega.workbench.budget.replace", lambda _, most_rows: most_rows)
    cards = {name: known[name].card for name in names}
    end = time.perf_counter() + 20
    plan = make_plan(procedures, cards, judge, end=end, threads=1, runs=6, n_train=32_000, n_jobs=1)
    assert list(plan.procedures) == ["baseline", "ridge", "loess"]
    assert plan.sure == ("baseline", "ridge")
    # All rows would take 20 s a run; of so many rows two folds and the model are what must fit
    # into what is left of 16 s, and the time grows with the square of the rows.
    assert 8_000 < plan.procedures["loess"] < 24_000
    assert 3 * plan.seconds["loess"] < 16
    assert plan.rows == {"loess": plan.procedures["loess"]}
    assert plan.full
    (said,) = plan.fewer.values()
    assert "learned from" in said
    assert "of the 32,000" not in said or "about" in said
    assert time.perf_counter() < end - 15  # trials take a small share


@pytest.mark.parametrize(("earlier", "used"), [(9_100, True), (2_000, False), (None, False)])
def test_a_resumed_run_learns_from_as_many_rows_as_before(judge, monkeypatch, earlier, used):
    """If that is about as many as there is time for: what the file keeps is then of use."""
    from bottega.registry import methods

    names = {"baseline": (0.001, 0.0), "loess": (0.02, 2.0)}
    procedures = {name: Sleeper(*given) for name, given in names.items()}
    monkeypatch.setattr("bottega.workbench.budget.replace", lambda _, most_rows: most_rows)
    cards = {name: methods("regression")[name].card for name in names}
    plan = make_plan(
        procedures, cards, judge, end=time.perf_counter() + 20, threads=1, runs=6, n_train=32_000,
        n_jobs=1, before=lambda _: earlier,
    )  # fmt: skip
    assert (plan.rows["loess"] == earlier) == used


def test_what_is_always_shown_gets_a_closer_look(judge, monkeypatch):
    """On few rows boosting takes a fixed time: trials on more rows show how little more it is."""
    from bottega.registry import methods

    class Fixed(Sleeper):
        def fit(self, part):
            time.sleep(0.05 + 1e-6 * len(part.train))
            return FittedProcedure(lambda rows: np.zeros(len(rows)), None, None)

    procedures = {"baseline": Sleeper(0.001, 0.0), "gradient_boosting": Fixed(0, 0)}
    monkeypatch.setattr("bottega.workbench.budget.replace", lambda _, most_rows: most_rows)
    cards = {name: methods("regression")[name].card for name in procedures}
    plan = make_plan(
        procedures, cards, judge, end=time.perf_counter() + 6, threads=1, runs=6, n_train=32_000,
        n_jobs=1,
    )  # fmt: skip
    assert not plan.rows
    assert plan.seconds["gradient_boosting"] < 0.3


def test_a_method_without_an_end_is_left_out(judge):
    from bottega.registry import methods

    known = methods("regression")
    procedures = {"baseline": Sleeper(0.001, 0.0), "loess": Sleeper(30.0, 1.0)}
    cards = {name: known[name].card for name in procedures}
    start = time.perf_counter()
    plan = make_plan(
        procedures, cards, judge, end=start + 4, threads=2, runs=6, n_train=32_000, n_jobs=2
    )
    assert time.perf_counter() - start < 2
    assert list(plan.procedures) == ["baseline"]
    assert plan.left_out == {"loess": "skipped: too slow for the time budget"}
    assert plan.cut == ["Left out, since there was no time for them: Loess."]


def test_what_is_always_shown_is_judged_by_how_long_its_trial_ran(judge, monkeypatch):
    """A trial that is late under a load of other work is not the worst there could be."""
    from bottega.registry import methods

    monkeypatch.setattr("bottega.workbench.budget.replace", lambda _, most_rows: most_rows)
    procedures = {"baseline": Sleeper(0.001, 0.0), "gradient_boosting": Sleeper(1.0, 0.0)}
    cards = {name: methods("regression")[name].card for name in procedures}
    plan = make_plan(
        procedures, cards, judge, end=time.perf_counter() + 4, threads=2, runs=6, n_train=32_000,
        n_jobs=2,
    )  # fmt: skip
    assert plan.rows == {"gradient_boosting": 1000}
    assert 0.8 < plan.seconds["gradient_boosting"] < 10  # not a minute


# ---- the race -----------------------------------------------------------------------------------


def answer(losses, model=None, seconds=1.0):
    return Answer(losses, None, (losses,), None, np.nan, model, seconds)


def race(n=400, **options):
    rows = JudgedRows(np.zeros(n), "regression")
    folds = np.array_split(np.arange(n), 4)
    parts = [
        Part((0, (k,)), np.delete(np.arange(n), test), (test,)) for k, test in enumerate(folds)
    ]
    work = Work(rows, deadline=time.perf_counter() + 100, race=True, **options)
    return work, [*parts, Part((0, ()), np.arange(n), ())]


def test_a_method_clearly_behind_after_two_folds_is_stopped():
    rng = np.random.default_rng(0)
    work, parts = race(sure=("tree",))
    names = ["baseline", "good", "near", "far", "tree"]
    level = {"baseline": 9.0, "good": 1.0, "near": 1.02, "far": 2.0, "tree": 2.0}
    remaining = work.ordered([Task(name, part) for name in names for part in parts])
    assert [task.name for task in remaining[:5]] == ["baseline"] * 5
    assert [str(task.part.key[1]) for task in remaining[5:13]] == ["(0,)"] * 4 + ["(1,)"] * 4
    done = []
    while (task := work.next(remaining)) is not None:
        done.append(task)
        size = len(task.part.tests[0]) if task.part.tests else 0
        work.heard(task, answer(level[task.name] + 0.1 * rng.normal(size=size)))
    folds = {name: sum(t.name == name and bool(t.part.tests) for t in done) for name in names}
    assert folds == {"baseline": 4, "good": 4, "near": 4, "far": 2, "tree": 4}
    assert work.stopped == {"far": ("good", 2)}
    (said,) = work.sentences({"far": "Far", "good": "Good"}, 4)
    assert said == "Far was stopped after 2 of 4 folds: Good is clearly ahead on these."
    work.stopped["further"] = ("good", 2)
    (said,) = work.sentences({"far": "Far", "good": "Good", "further": "Further"}, 4)
    assert (
        said == "Far and Further were stopped after 2 of 4 folds: Good is clearly ahead on these."
    )
    finals = [task.name for task in done if not task.part.tests]
    assert finals[1] == "good"  # after the baseline's: the leader's model is the first


def test_work_that_would_end_too_late_is_not_begun():
    work, parts = race(seconds={"slow": 1e3, "good": 0.1}, sure=())
    remaining = work.ordered([Task(name, part) for name in ("good", "slow") for part in parts])
    done = []
    while (task := work.next(remaining)) is not None:
        done.append(task.name)
        size = len(task.part.tests[0]) if task.part.tests else 0
        work.heard(task, answer(np.ones(size), seconds=0.1))
    assert done == ["good"] * 5
    titles = {"good": "Good", "slow": "Slow", "other": "Other"}
    assert work.sentences(titles, 4) == ["There was no time for Slow, Other."]
    assert work.sentences({"good": "Good"}, 5) == [
        "Good was judged on 4 of 5 folds: the time was over."
    ]


def test_the_first_folds_of_some_methods_are_owed_whatever_the_clock_says():
    work, parts = race(seconds={"ridge": 1e3}, owed=("baseline", "ridge"))
    work.deadline = time.perf_counter() - 1
    names = ("baseline", "ridge", "other")
    tasks = work.ordered([Task(name, part) for name in names for part in parts])
    owed = [task for task in tasks if work.is_owed(task)]
    assert [(t.name, t.part.key[1]) for t in owed] == [
        *(("baseline", (k,)) for k in range(4)),
        *(("ridge", (k,)) for k in range(2)),
    ]
    done = []
    while (task := work.next(tasks)) is not None:
        done.append(task)
    assert done == owed


def test_the_leader_of_a_large_table_gets_its_model_after_two_folds():
    """Further folds of so many rows tell less than a model of all rows is worth."""
    work, parts = race(n=24_000, sure=("good", "other"))
    names = ("baseline", "good", "other")
    level = {"baseline": 9.0, "good": 1.0, "other": 1.01}
    remaining = work.ordered([Task(name, part) for name in names for part in parts])
    done = []
    while (task := work.next(remaining)) is not None:
        done.append((task.name, task.part.key[1]))
        size = len(task.part.tests[0]) if task.part.tests else 0
        work.heard(task, answer(np.full(size, level[task.name])))
    assert done[5:9] == [("good", (0,)), ("other", (0,)), ("good", (1,)), ("other", (1,))]
    assert done[9] == ("good", ())
    assert len(done) == 15


def test_models_of_the_folds_are_kept_for_the_leaders_only():
    work, parts = race()
    for level, name in enumerate(("a", "b", "c")):
        for part in parts[:4]:
            kept = work.heard(Task(name, part), answer(np.full(100, level + 1.0), model=object()))
            assert kept.model is None
    assert set(work.models) == {"a", "b"}
    assert len(work.models["a"]) == 4


# ---- whole comparisons --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 4))
    frame = pd.DataFrame(X).add_prefix("x").assign(kind=rng.choice(["a", "b", "c"], 6_000))
    frame["y"] = X[:, 0] * X[:, 1] + X[:, 2] + (frame["kind"] == "a") + 0.3 * rng.normal(size=6_000)
    return frame


@pytest.mark.slow
def test_a_comparison_keeps_its_budget_and_says_what_it_cut(wide):
    start = time.process_time()
    found = bottega.compare(wide, "y", budget="6s")
    took = time.process_time() - start
    # Counted in work, which no other program on the machine makes longer.
    assert took - found.preparing_seconds < 9 * available_cores()
    assert not found.interrupted
    assert found.budget == 6
    assert {"baseline", "tree"} <= set(found.results)
    assert found.best is not None
    assert found.results[found.best_method].folds_done >= 2
    assert np.isfinite(found.certify(ledger=False).upper)
    board = found.leaderboard
    assert board["folds"].min() >= 2
    for sentence in found.cut:
        assert sentence.endswith(".")
        assert sentence in str(found)


@pytest.mark.parametrize("methods", [None, ["least_squares", "tree", "random_forest"]])
def test_a_budget_of_next_to_nothing_still_gives_baseline_line_and_tree(wide, methods):
    found = bottega.compare(wide.head(200), "y", methods=methods, budget=0.001)
    linear = "ridge" if methods is None else "least_squares"
    assert {"baseline", linear, "tree"} <= set(found.results)
    assert found.results["baseline"].folds_done == 5
    assert found.results["tree"].folds_done == 2
    assert found.best_method != "baseline"
    assert np.isfinite(found.predict(wide.head(3))).all()
    assert not found.interrupted
    told = " ".join(found.cut)
    assert "There was no time for " in told
    assert "Random forest" in told
    assert re.search(r"(was|were) judged on 2 of 5 folds: the time was over\.", told)


def test_a_large_table_without_time_tells_only_what_was_done(wide):
    """Of those that were not judged nothing is told but that there was no time for them."""
    found = bottega.compare(
        wide, "y", methods=["ridge", "tree", "gradient_boosting"], budget=0.001, stack=False
    )
    assert {"baseline", "ridge", "tree"} <= set(found.results)
    fewer = [sentence for sentence in found.cut if "learned from" in sentence]
    titles = {result.title for result in found.results.values()}
    assert fewer
    told = [re.split(", | and ", sentence.split(" learned")[0]) for sentence in fewer]
    assert {title for each in told for title in each} <= titles
    assert not any(sentence.startswith("Mean of the responses") for sentence in found.cut)
    assert not any(" would take " in sentence for sentence in found.cut)


def test_a_stopped_method_is_shown_with_the_folds_it_had(wide, monkeypatch):
    """A race that stops a method: its error and difference are over the folds of both."""
    monkeypatch.setattr(
        "bottega.workbench.job.make_plan",
        lambda given, *_, **__: Plan(given, sure=("baseline", "tree", "ridge"), full=True),
    )
    wide = wide.assign(y=wide["y"] + 5 * (wide["x0"].abs() < 0.7))
    found = bottega.compare(
        wide, "y", methods=["tree", "ridge", "least_squares"], budget=600, stack=False, n_jobs=1
    )
    lines = found.results["least_squares"]
    assert lines.partial
    assert lines.folds_done == 2
    assert lines.model is None
    assert lines.path is None
    row = found.leaderboard.set_index("method").loc["least_squares"]
    assert row["folds"] == 2
    best = found.results[found.best_method]
    rows = np.isin(lines.fold, lines.nested.folds)
    gap = np.mean(lines.losses[rows] - best.losses[rows])
    assert row["difference"] == pytest.approx(gap)
    assert row["difference_conf_low"] > 0
    assert any("stopped after 2 of 5 folds" in sentence for sentence in found.cut)
    assert found.verdict.rivals


def test_ctrl_c_does_not_wait_for_what_runs(monkeypatch):
    """A method that sleeps for long: the answer of the others is there long before it wakes."""
    fit, begun = Ridge._fit, threading.Event()

    def slow(self, *given):
        begun.set()
        time.sleep(20)
        return fit(self, *given)

    monkeypatch.setattr(Ridge, "_fit", slow)
    pressed = []

    def press():
        begun.wait()
        time.sleep(2.0)  # the others are done by then
        pressed.append(time.perf_counter())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    found = bottega.compare("diabetes", methods=["ridge", "neighbors"], outer=2, n_jobs=2)
    assert time.perf_counter() - pressed[0] < 10.0  # a busy machine takes its time
    assert found.interrupted
    assert {"baseline"} <= set(found.results)
    assert "ridge" not in found.results


def test_progress_tells_the_error_of_each_fold():
    heard = []
    with progress.listen(heard.append):
        found = bottega.compare("iris", methods=["neighbors"], outer=3)
    told = [event.detail for event in heard if event.stage == "comparing"]
    errors = [loss for name, loss, rows in told if name == "neighbors" and rows]
    assert sorted(errors) == pytest.approx(sorted(found.results["neighbors"].nested.fold_errors[0]))
    assert ("neighbors", None, 0) in told
