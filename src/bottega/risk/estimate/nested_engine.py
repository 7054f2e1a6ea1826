"""The engine of nested cross-validation: procedures, the parts they may see, and their answers.

The engine deals the outer folds once, so that every procedure is judged on the same rows, and runs
each procedure without each fold, on all rows where asked, and without each pair of folds where the
interval needs it. It knows rows by their position only: a procedure holds the inputs, and several
procedures may share what they make of them.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from bottega.core import progress
from bottega.core.errors import InputError
from bottega.core.folds import Fold
from bottega.core.parallel import run_tasks
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.risk.estimate.judged_rows import JudgedRows, RowLosses
from bottega.risk.estimate.nested_interval import pairs_of

__all__ = ["Answer", "FittedProcedure", "Part", "Procedure", "Runs", "parts_of", "run_parts"]


@dataclass(frozen=True, eq=False)
class Part:
    """The rows that one run of a procedure may see, and those it is judged on.

    Attributes
    ----------
    key : tuple
        The repetition, and the outer folds left out: one, a pair, or none for all rows.
    train : ndarray of int
        Positions of the rows to fit to.
    tests : tuple of ndarray of int
        Positions of the rows of each fold left out.
    """

    key: tuple[int, tuple[int, ...]]
    train: IntArray
    tests: tuple[IntArray, ...]

    def __str__(self) -> str:
        repeat, left_out = self.key
        folds = " and ".join(str(k + 1) for k in left_out)
        return f"without fold {folds} of partition {repeat + 1}" if left_out else "all rows"


class FittedProcedure(Protocol):
    """A procedure after its fit to the training rows of a part.

    `setting` is what it chose (None: nothing), `least` the least error on the way (NaN: not
    known), `model` what to keep of it. `predict_proba` returns one column per class of the judged
    rows, or None.
    """

    setting: Mapping[str, Any] | None
    least: float
    model: Any

    def predict(self, rows: IntArray) -> Array:
        """Return predictions for the rows at these positions."""

    def predict_proba(self, rows: IntArray) -> FloatArray | None:
        """Return the probabilities of the classes for the rows at these positions."""


class Procedure(Protocol):
    """Anything that learns from the training rows of a part.

    Procedures run side by side in threads unless they have an attribute ``in_threads = False``.
    """

    def fit(self, part: Part) -> FittedProcedure:
        """Learn from the rows ``part.train``."""


@dataclass(frozen=True)
class Answer:
    """What a procedure did on one part: predictions and losses for each fold left out."""

    predicted: tuple[Array, ...]
    probabilities: tuple[FloatArray, ...] | None
    losses: tuple[FloatArray, ...]
    setting: Mapping[str, Any] | None
    least: float
    model: Any
    seconds: float


@dataclass
class Runs:
    """The answers of all procedures, by name and by the key of the part.

    Attributes
    ----------
    answers : dict
        Of each procedure, its answers by the key of the part.
    failures : dict of str to str
        Procedures that failed on some part, with the reason.
    complete : bool
        Whether all of the work was done, not interrupted.
    """

    answers: dict[str, dict[Any, Answer]]
    failures: dict[str, str] = field(default_factory=dict)
    complete: bool = True


def parts_of(repeat: int, folds: Sequence[Fold], *, pairs: bool) -> Iterator[Part]:
    """Yield the parts without one fold each, or those without two folds each."""
    left_out: Any = pairs_of(len(folds)) if pairs else [(k,) for k in range(len(folds))]
    for those in left_out:
        train = folds[those[0]][0]
        for other in those[1:]:
            train = np.intersect1d(train, folds[other][0], assume_unique=True)
        yield Part((repeat, those), train, tuple(folds[k][1] for k in those))


@dataclass(frozen=True)
class _Task:
    """One procedure on one part: the key of its answer, and its name where progress is shown."""

    name: str
    part: Part

    def __str__(self) -> str:
        return f"{self.name}, {self.part}"


@dataclass(frozen=True)
class _Judge:
    """Runs one procedure on one part, and judges it by the rows left out."""

    rows: JudgedRows
    row_losses: RowLosses
    probabilities: bool
    keep_models: bool

    def __call__(self, procedure: Procedure, part: Part) -> Answer:
        start = time.perf_counter()
        fitted = procedure.fit(part)
        seconds = time.perf_counter() - start
        one_fold = len(part.tests) == 1
        predicted: list[Array] = []
        probabilities: list[FloatArray | None] = []
        losses = []
        for test in part.tests:
            shares = None
            if self.row_losses.of_probabilities or (self.probabilities and one_fold):
                shares = fitted.predict_proba(test)
            probabilities.append(shares)
            if one_fold or not self.row_losses.of_probabilities:
                predicted.append(np.asarray(fitted.predict(test)))
            judged = shares if self.row_losses.of_probabilities else predicted[-1]
            if judged is None:
                raise InputError(
                    f"The {self.row_losses.title} judges probabilities, and there are none; choose "
                    "another loss, or a classifier with predict_proba."
                )
            losses.append(self.row_losses(self.rows.y[test], judged, self.rows.classes))
        known = [shares for shares in probabilities if shares is not None]
        keep = self.keep_models or not part.tests
        return Answer(
            predicted=tuple(predicted) if one_fold else (),
            probabilities=tuple(known) if one_fold and known else None,
            losses=tuple(losses),
            setting=fitted.setting,
            least=float(fitted.least),
            model=fitted.model if keep else None,
            seconds=seconds,
        )


def run_parts(
    procedures: Mapping[str, Procedure],
    parts: Sequence[Part],
    rows: JudgedRows,
    row_losses: RowLosses,
    *,
    probabilities: bool = False,
    keep_models: bool = False,
    raise_errors: bool = False,
    n_jobs: int | None = None,
    stage: str = "outer folds",
) -> Runs:
    """Run every procedure on every part and return what they answered.

    Parameters
    ----------
    procedures : mapping of str to Procedure
        What is run.
    parts : sequence of Part
        The parts. Those without a pair of folds come last: all procedures are then through with
        the others, should the work be interrupted.
    rows : JudgedRows
        The rows that the parts name.
    row_losses : RowLosses
        What the procedures are judged by.
    probabilities : bool
        Keep the class probabilities of procedures that have them, whatever the loss.
    keep_models : bool
        Keep the models of the folds; that of all rows is always kept.
    raise_errors : bool
        Raise the exception of a procedure instead of going on with the others.
    n_jobs : int, optional
        Number of threads; all cores by default.
    stage : str
        What the work is called where its progress is shown.

    Returns
    -------
    Runs
        After Ctrl-C, what was done until then.
    """
    judge = _Judge(rows, row_losses, probabilities, keep_models)
    runs = Runs({name: {} for name in procedures})

    def attempt(task: _Task) -> Answer | None:
        if task.name in runs.failures:
            return None
        try:
            return judge(procedures[task.name], task.part)
        except Exception as error:  # one procedure's failure must not take the others down
            if raise_errors:
                raise
            runs.failures.setdefault(task.name, f"failed with {type(error).__name__}: {error}")
            return None

    tasks = [
        _Task(name, part)
        for pairs in (False, True)
        for name in procedures
        for part in parts
        if (len(part.tests) > 1) == pairs
    ]
    together = [task for task in tasks if getattr(procedures[task.name], "in_threads", True)]
    in_turn = [task for task in tasks if not getattr(procedures[task.name], "in_threads", True)]
    found: dict[_Task, Answer | None] = {}
    if together:
        jobs = [(task, partial(attempt, task)) for task in together]
        found, runs.complete = run_tasks(jobs, n_jobs=n_jobs, stage=stage)
    try:
        for done, task in enumerate(in_turn if runs.complete else ()):
            found[task] = attempt(task)
            progress.report(stage, done + 1, len(in_turn), str(task))
    except KeyboardInterrupt:
        runs.complete = False
    for task, answer in found.items():
        if answer is not None and task.name not in runs.failures:
            runs.answers[task.name][task.part.key] = answer
    for name in runs.failures:
        del runs.answers[name]
    return runs
