"""The engine under control: order, deadline, answers known before, procedures that lack folds."""

import time

import numpy as np
import pytest

from bottega.core.errors import BottegaError
from bottega.linear import Ridge
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested import run_procedures
from bottega.risk.estimate.nested_engine import Answer, Control, FittedProcedure
from bottega.risk.estimate.procedures import EstimatorProcedure, PlainInputs

ROWS = JudgedRows(np.random.default_rng(0).normal(size=60), "regression")


class Constant:
    """Predicts a number after a while."""

    def __init__(self, value, seconds=0.0):
        self.value, self.seconds, self.runs = value, seconds, []

    def fit(self, part):
        time.sleep(self.seconds)
        self.runs.append(part.key)
        return FittedProcedure(lambda rows: np.full(len(rows), self.value), None, self)


class Chosen(Control):
    """Leaves out some tasks."""

    def __init__(self, drop, least=None):
        self.drop, self.least_folds, self.seen = drop, least, []

    def next(self, remaining):
        while remaining:
            task = remaining.pop(0)
            if (task.name, task.part.key[1]) not in self.drop:
                return task
        return None

    def heard(self, task, answer):
        self.seen.append(task.name)
        return answer


def test_procedures_that_lack_folds_are_compared_over_those_of_both():
    drop = {("b", (1,)), ("b", (3,))}
    found = run_procedures(
        {"a": Constant(0.0), "b": Constant(2.0)}, ROWS, outer=4, interval="naive",
        control=Chosen(drop, least=2),
    )  # fmt: skip
    a, b = found["a"], found["b"]
    assert a.folds == (0, 1, 2, 3)
    assert b.folds == (0, 2)
    assert set(np.unique(b.fold)) == {-1, 0, 2}
    assert np.array_equal(b.fold[0] >= 0, np.isfinite(b.losses[0]))
    both = np.isin(a.fold[0], (0, 2))
    gap = found.difference("b", "a")
    assert gap.difference == pytest.approx(np.mean((b.losses - a.losses)[0, both]))
    assert gap.n == both.sum()
    assert b.error == pytest.approx(np.nanmean(b.losses))
    assert found.complete


def test_without_leave_a_procedure_that_lacks_folds_is_not_shown():
    found = run_procedures(
        {"a": Constant(0.0), "b": Constant(2.0)}, ROWS, outer=4, control=Chosen({("b", (1,))})
    )
    assert list(found) == ["a"]
    with pytest.raises(BottegaError, match="No procedure could be judged"):
        run_procedures({"b": Constant(2.0)}, ROWS, outer=4, control=Chosen({("b", (1,))}))


def test_a_deadline_ends_the_work_and_is_no_interruption():
    class Hurried(Control):
        least_folds = 2

    control = Hurried()
    control.deadline = time.perf_counter() + 0.8
    start = time.perf_counter()
    found = run_procedures(
        {"quick": Constant(0.0), "slow": Constant(1.0, seconds=5.0)}, ROWS, outer=3,
        n_jobs=2, control=control,
    )  # fmt: skip
    assert time.perf_counter() - start < 3
    assert list(found) == ["quick"]
    assert found.complete


def test_answers_that_are_known_are_not_asked_for_again():
    first = Constant(1.0)

    class Known(Control):
        def known(self, task):
            if task.part.key[1] != (0,):
                return None
            rows = task.part.tests[0]
            return Answer(np.zeros(len(rows)), None, (ROWS.y[rows] ** 2,), None, np.nan, None, 0.0)

    found = run_procedures({"a": first}, ROWS, outer=3, interval="naive", control=Known())
    assert sorted(key[1] for key in first.runs) == [(1,), (2,)]
    assert np.all(found["a"].predictions[0, found["a"].fold[0] == 0] == 0.0)


def test_fewer_rows_are_drawn_at_random_and_of_each_class_its_share():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    sizes = []

    class Counting(Ridge):
        card = Ridge.card

        def _fit(self, X, y, *more):
            sizes.append(len(y))
            return super()._fit(X, y, *more)

    rows = JudgedRows(X[:, 0] + rng.normal(size=400), "regression")
    procedure = EstimatorProcedure(Counting(), PlainInputs(X), rows, most_rows=100)
    run_procedures({"a": procedure}, rows, outer=4, final=True)
    assert set(sizes) == {100}
    labels = JudgedRows(np.repeat(["a", "b"], [360, 40]), "classification")
    part_of = EstimatorProcedure(None, PlainInputs(X), labels, most_rows=100, as_it_is=True)
    from bottega.risk.estimate.nested_engine import Part

    part = Part((0, (1,)), np.arange(400), (np.arange(1),))
    drawn = part_of._drawn(part)
    assert len(drawn) == 100
    assert np.sum(labels.y[drawn] == "b") == 10
    assert np.array_equal(drawn, part_of._drawn(part))
    assert np.array_equal(drawn, np.unique(drawn))
