"""The engine of nested cross-validation: procedures, the parts they may see, and their answers.

The engine deals the outer folds once, so that every procedure is judged on the same rows, and runs
each procedure without each fold, on all rows where asked, and without each pair of folds where the
interval needs it. It knows rows by their position only: a procedure holds the inputs, and several
procedures may share what they make of them. A `Control` may set the order of the work and its end.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, Protocol

import numpy as np

from bottega.core import interruption, progress
from bottega.core.engine import sent
from bottega.core.errors import InputError
from bottega.core.folds import Fold
from bottega.core.parallel import run_tasks
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.risk.estimate.judged_rows import JudgedRows, RowLosses
from bottega.risk.estimate.nested_interval import pairs_of


@dataclass(frozen=True, eq=False)
class Part:
    """The rows that one run of a procedure may see, and those it is judged on."""

    key: tuple[int, tuple[int, ...]]  # the repetition, and the outer folds left out: 0, 1 or 2
    train: IntArray  # positions of the rows to fit to
    tests: tuple[IntArray, ...]  # positions of the rows of each fold left out

    def __str__(self) -> str:
        repeat, left_out = self.key
        folds = " and ".join(str(k + 1) for k in left_out)
        return f"without fold {folds} of partition {repeat + 1}" if left_out else "all rows"


class AllBut(Part):
    """Some rows are left out of all: the others are listed only while they are needed."""

    def __init__(self, number: int, n: int, rows: IntArray) -> None:
        for name, value in (("key", (0, (number,))), ("tests", (rows,)), ("n", n)):
            object.__setattr__(self, name, value)

    @property
    def train(self) -> IntArray:
        """Positions of the rows to fit to."""
        return np.delete(np.arange(self.n), self.tests[0])  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class FittedProcedure:
    """A procedure after its fit to the training rows of a part: functions of positions of rows."""

    predict: Callable[[IntArray], Array]
    predict_proba: Callable[[IntArray], FloatArray] | None  # one column per class of the rows
    model: Any  # what to keep of it
    setting: Mapping[str, Any] | None = None  # what it chose
    least: float = np.nan  # the least error on the way, where it is known


class Procedure(Protocol):
    """Anything that learns from the training rows of a part.

    Procedures run side by side in threads unless they have an attribute ``in_threads = False``, and
    where an engine sends them unless they send it their rows themselves, ``sends_rows = True``.
    """

    def fit(self, part: Part) -> FittedProcedure:
        """Learn from the rows ``part.train``."""


@dataclass(frozen=True)
class Answer:
    """What a procedure did on one part: the losses of each fold left out.

    Predictions (and probabilities) are kept where one fold was left out.
    """

    predicted: Array | None
    probabilities: FloatArray | None
    losses: tuple[FloatArray, ...]
    setting: Mapping[str, Any] | None
    least: float
    model: Any
    seconds: float


@dataclass
class Runs:
    """The answers of all procedures, by name and by the key of the part."""

    answers: dict[str, dict[Any, Answer]]
    failures: dict[str, str] = field(default_factory=dict)  # procedures that failed, and why
    complete: bool = True  # all of the work was done, not interrupted


@dataclass(frozen=True)
class Task:
    """One procedure on one part."""

    name: str
    part: Part

    def __str__(self) -> str:
        return f"{self.name}, {self.part}"


class Control:
    """The order of the work, what of it is left out or known already, and when it must end.

    This one leaves nothing out. Another may give the work a deadline, drop procedures on the way,
    or bring answers of an earlier run. Its methods are called by several threads, one at a time.
    """

    deadline: float | None = None  # a time of ``time.perf_counter``
    leave: bool = True  # whether a stop need not wait for the procedures that run
    least_folds: int | None = None  # that a procedure must have to be shown; all by default

    def ordered(self, tasks: list[Task]) -> list[Task]:
        """Return the tasks in the order in which they should start.

        The parts that leave out a pair of folds come last, so that an interruption finds all
        procedures through with the others. After the first procedure comes the first part of
        every other: whatever has to be compiled is then compiled for several procedures at a time.
        """
        first = tasks[0]
        lead = [t for t in tasks if t.name == first.name or t.part is first.part]
        rest = [t for t in tasks if t.name != first.name and t.part is not first.part]
        return [
            task for pairs in (False, True) for task in lead if (len(task.part.tests) > 1) == pairs
        ] + [
            task for pairs in (False, True) for task in rest if (len(task.part.tests) > 1) == pairs
        ]

    def is_owed(self, task: Task) -> bool:
        """Return whether a task is done before all others, whatever the deadline."""
        return False

    def next(self, remaining: list[Task]) -> Task | None:
        """Take the next task off the list; None where nothing is left that should be done."""
        return remaining.pop(0) if remaining else None

    def known(self, task: Task) -> Answer | None:
        """Return the answer of an earlier run; None where the work has to be done."""
        return None

    def heard(self, task: Task, answer: Answer) -> Answer:
        """Take notice of an answer, and return what is to be kept of it."""
        return answer


@dataclass(frozen=True)
class Judge:
    """Runs a procedure on a part, and judges it by the rows left out."""

    rows: JudgedRows
    row_losses: RowLosses
    probabilities: bool = False  # keep those of the classes, whatever the loss
    keep_models: bool = False  # of the folds too; that of all rows is always kept

    def __call__(self, procedure: Procedure, part: Part) -> Answer:
        """Return what the procedure answers."""
        with progress.Stopwatch() as watch:
            fitted = procedure.fit(part)
        of_shares, one_fold = self.row_losses.of_probabilities, len(part.tests) == 1
        wanted = self.probabilities and one_fold
        predicted, probabilities = None, None
        losses = []
        for test in part.tests:
            probabilities = None
            if fitted.predict_proba and (of_shares or wanted):
                probabilities = fitted.predict_proba(test)
            if not of_shares or one_fold:
                predicted = np.asarray(fitted.predict(test))
            judged = probabilities if of_shares else predicted
            if judged is None:
                raise InputError(
                    f"The {self.row_losses.title} judges probabilities, and there are none; choose "
                    "another loss, or a classifier with predict_proba."
                )
            losses.append(self.row_losses(self.rows.y[test], judged, self.rows.classes))
        return Answer(
            predicted=predicted if one_fold else None,
            probabilities=probabilities if one_fold else None,
            losses=tuple(losses),
            setting=fitted.setting,
            least=float(fitted.least),
            model=fitted.model if self.keep_models or not part.tests else None,
            seconds=watch.seconds,
        )

    def judged(self, answer: Answer) -> Array:
        """Return what the loss judged of an answer: predictions, or probabilities of classes."""
        found = answer.probabilities if self.row_losses.of_probabilities else answer.predicted
        assert found is not None
        return found


def judge_of(rows: JudgedRows, loss: Any) -> Judge:
    """Return what judges by a loss; one that cannot judge these rows is refused."""
    row_losses = RowLosses(loss, rows.task, rows.classes)
    row_losses.check(rows)
    return Judge(rows, row_losses)


def parts_of(repeat: int, folds: Sequence[Fold], *, pairs: bool) -> Iterator[Part]:
    """Yield the parts without one fold each, or those without two folds each."""
    left_out: Any = pairs_of(len(folds)) if pairs else [(k,) for k in range(len(folds))]
    for those in left_out:
        train = folds[those[0]][0]
        for other in those[1:]:
            train = np.intersect1d(train, folds[other][0], assume_unique=True)
        yield Part((repeat, those), train, tuple(folds[k][1] for k in those))


def run_alone(
    procedure: Procedure, parts: Sequence[Part], judge: Judge, stage: str
) -> list[Answer]:
    """Return the answers of one procedure on all parts, in their order; its errors are raised."""
    runs = run_parts({"": procedure}, parts, judge, raise_errors=True, stage=stage)
    if not runs.complete:
        raise KeyboardInterrupt
    return [runs.answers[""][part.key] for part in parts]


class _Slot:
    """A place in the work: which task is done there is decided when its turn comes."""

    task: Task | None = None

    def __str__(self) -> str:
        return "" if self.task is None else str(self.task)


def run_parts(
    procedures: Mapping[str, Procedure],
    parts: Sequence[Part],
    judge: Judge,
    *,
    raise_errors: bool = False,
    n_jobs: int | None = None,
    stage: str = "outer folds",
    control: Control | None = None,
) -> Runs:
    """Run every procedure on every part; after Ctrl-C, return what was done until then.

    `control` sets the order of the work and may end it. The other arguments are those of
    `run_procedures`.
    """
    runs = Runs({name: {} for name in procedures})
    control = Control() if control is None else control
    failures: dict[str, str] = {}
    lock = Lock()
    tasks = control.ordered([Task(name, part) for name in procedures for part in parts])
    alone = {name for name in procedures if not getattr(procedures[name], "in_threads", True)}
    in_turn = [task for task in tasks if task.name in alone]
    n_in_turn = len(in_turn)
    beside = [task for task in tasks if task.name not in alone]
    owed = [task for task in beside if control.is_owed(task)]
    others = [task for task in beside if not control.is_owed(task)]

    def attempt(task: Task) -> Answer | None:
        if task.name in failures:
            return None
        with lock:
            answer = control.known(task)
        try:
            if answer is None:
                procedure = procedures[task.name]
                work = partial(judge, procedure, task.part)
                answer = work() if getattr(procedure, "sends_rows", False) else sent(work)
        except Exception as error:  # one procedure's failure must not take the others down
            if raise_errors:
                raise
            failures.setdefault(task.name, f"failed with {type(error).__name__}: {error}")
            return None
        with lock:
            return control.heard(task, answer)

    def fill(slot: _Slot, remaining: list[Task]) -> Answer | None:
        with lock:
            slot.task = control.next(remaining)
        return None if slot.task is None else attempt(slot.task)

    for remaining, deadline in ((owed, None), (others, control.deadline)):
        if not remaining or not runs.complete:
            continue
        found, runs.complete = run_tasks(
            [(slot, partial(fill, slot, remaining)) for slot in [_Slot() for _ in remaining]],
            n_jobs=n_jobs,
            stage=stage,
            deadline=deadline,
            leave=control.leave,
            waiting=True,
            detail=partial(_told, judge.rows),
        )
        if not runs.complete and deadline is not None:
            runs.complete = time.perf_counter() >= deadline  # the end that was agreed on
        for slot, answer in found.items():
            _keep(runs, slot.task, answer)
    try:
        for done in range(n_in_turn if runs.complete else 0):
            with lock:
                task = control.next(in_turn)
            answer = None if task is None else attempt(task)
            _keep(runs, task, answer)
            progress.report(stage, done + 1, n_in_turn, str(task or ""))
    except KeyboardInterrupt:
        interruption.forget()
        runs.complete = False
    runs.failures = dict(failures)  # a task that was left running may still fail
    for name in runs.failures:
        del runs.answers[name]
    return runs


def _keep(runs: Runs, task: Task | None, answer: Answer | None) -> None:
    if task is not None and answer is not None:
        runs.answers[task.name][task.part.key] = answer


def _told(rows: JudgedRows, slot: _Slot, answer: Answer | None) -> tuple[str, float | None, int]:
    """Return what listeners to the progress may show: procedure, its error on a fold, its rows."""
    if slot.task is None or answer is None or len(slot.task.part.tests) != 1:
        return "" if slot.task is None else slot.task.name, None, 0
    (test,) = slot.task.part.tests
    return slot.task.name, rows.mean_and_se(test, answer.losses[0])[0], len(test)
