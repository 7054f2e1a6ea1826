"""The order of a comparison's work: a race under a budget, and what an earlier run has done."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested_engine import Answer, Control, Task
from bottega.risk.estimate.nested_interval import mean_and_variance
from bottega.workbench.resume import Saved
from bottega.workbench.sizes import SMALL
from bottega.workbench.together import together

__all__ = ["Work"]

_HEATS = 2  # folds after which a method may be stopped
_CLEAR = 6.0  # standard errors of independent rows by which a method that is stopped is behind
_MATTERS = 0.01  # and the share of the leader's error
_KEPT = 2  # methods whose models of the folds are kept for explanations


class Work(Control):
    """Runs a comparison: in its usual order, or under a budget as a race.

    Under a budget cheap methods come first; the others run two folds each, and one that is then
    clearly behind the leader is stopped. The models of all rows come last, the leader's first.

    Parameters
    ----------
    rows : JudgedRows
        What is judged.
    deadline : float, optional
        When the work must be done.
    seconds : dict of str to float
        Estimated time of one run of each method.
    sure, cheap : tuple of str
        Methods that are not stopped; those that are cheap run all of their folds first.
    owed : tuple of str
        Methods that are shown however short the time: their first folds are run before all else,
        and of the baseline all folds.
    race : bool
        Whether methods are stopped.
    saved : Saved, optional
        What an earlier run has done, and where this one keeps what it does.
    thinned : dict of str to int
        Methods that learn from fewer rows than there are, and from how many: what is kept of them
        is of use to a run that lets them learn from as many.
    """

    def __init__(
        self,
        rows: JudgedRows,
        *,
        deadline: float | None = None,
        seconds: dict[str, float] | None = None,
        sure: tuple[str, ...] = (),
        cheap: tuple[str, ...] = (),
        owed: tuple[str, ...] = (),
        race: bool = False,
        saved: Saved | None = None,
        thinned: Mapping[str, int] | None = None,
    ) -> None:
        self.rows, self.deadline = rows, deadline
        self.seconds = dict(seconds or {})
        self.sure, self.cheap = (*sure, *cheap), cheap
        self.owed, self.race, self.saved = owed, race, saved
        self.thinned = dict(thinned or {})
        self.least_folds = _HEATS
        self.closed = False  # then what still runs is heard no more
        self.models: dict[str, dict[int, Any]] = {}
        self.stopped: dict[str, tuple[str, int]] = {}  # by whom, and after how many folds
        self._losses: dict[str, dict[int, FloatArray]] = {}
        self._tests: dict[int, Any] = {}

    def ordered(self, tasks: list[Task]) -> list[Task]:
        """Return the usual order; under a deadline the first folds of all methods come first."""
        if self.deadline is None:
            return super().ordered(tasks)
        names = list(dict.fromkeys(task.name for task in tasks))
        keys = list(dict.fromkeys(task.part.key for task in tasks))

        def place(task: Task) -> tuple[int, int, int]:
            name, key = names.index(task.name), keys.index(task.part.key)
            if task.name == "baseline":
                return 0, key, name
            if task.name in self.cheap and len(self.rows) <= SMALL:
                return 1, name, key
            if not task.part.tests:
                return 4, 0, name
            if len(task.part.tests) > 1:
                return 5, key, name
            if task.name in self.cheap:
                return 1, key, name
            return (2 if key < _HEATS else 3), key, name

        return sorted(tasks, key=place)

    def is_owed(self, task: Task) -> bool:
        """Return whether a task is one of those without which there is nothing to show."""
        if task.name not in self.owed or len(task.part.tests) != 1:
            return False
        return task.name == "baseline" or self._is_heat(task)

    def next(self, remaining: list[Task]) -> Task | None:
        """Take the next task that is worth its time."""
        while remaining:
            task = remaining.pop(self._place(remaining))
            if task.name in self.stopped:
                continue
            if (self.race and self._is_beaten(task)) or self._is_too_late(task):
                continue
            return task
        return None

    def _place(self, remaining: list[Task]) -> int:
        """Return the place of the next task; of models of all rows the leader's is first.

        Of a large table it comes after the first two folds of all methods, before further folds.
        """
        if self.deadline is None:
            return 0
        finals = [i for i, task in enumerate(remaining) if not task.part.tests]
        first = remaining[0]
        if not finals or len(finals) == len(remaining):
            return min(finals, key=lambda i: self.error_of(remaining[i].name), default=0)
        heats_done = first.name not in self.cheap and first.part.tests and not self._is_heat(first)
        if heats_done and len(self.rows) > SMALL:
            leaders = [i for i in finals if remaining[i].name == self.leader]
            return leaders[0] if leaders else 0
        return 0

    @staticmethod
    def _is_heat(task: Task) -> bool:
        return len(task.part.tests) == 1 and task.part.key[1][0] < _HEATS

    def error_of(self, name: str) -> float:
        """Return the mean loss over the folds that are done, infinite where there are none."""
        found = self._losses.get(name)
        if not found:
            return np.inf
        means = [self.rows.mean_and_se(self._tests[k], losses)[0] for k, losses in found.items()]
        return float(np.mean(means))

    @property
    def leader(self) -> str:
        """The method with the least mean loss so far; empty where there is none."""
        return min(self._losses, key=self.error_of, default="")

    def _is_beaten(self, task: Task) -> bool:
        """Stop a method that is clearly behind the leader over the folds of both."""
        name, own = task.name, self._losses.get(task.name, {})
        if name in self.sure or len(own) < _HEATS:
            return False
        for rival in sorted(self._losses, key=self.error_of)[:2]:
            both = [k for k in own if k in self._losses[rival]]
            if rival == name or len(both) < _HEATS:
                continue
            rows = np.concatenate([self._tests[k] for k in both])
            ahead = np.concatenate([own[k] - self._losses[rival][k] for k in both])
            mean, variance = mean_and_variance(*self.rows.units(rows, ahead))
            least = _MATTERS * abs(self.error_of(rival))
            if mean > max(_CLEAR * float(np.sqrt(variance)), least):
                self.stopped[name] = rival, len(own)
                return True
        return False

    def _is_too_late(self, task: Task) -> bool:
        if self.deadline is None or self.is_owed(task):
            return False
        left = self.deadline - time.perf_counter()
        if left > self.seconds.get(task.name, 0.0):
            return False
        heat = len(self._losses.get(task.name, ())) < _HEATS
        wanted = (task.name in self.sure and heat) or (
            not task.part.tests and task.name == self.leader
        )
        return not (wanted and left > 0)

    def known(self, task: Task) -> Answer | None:
        """Return the answer of an earlier run."""
        if self.saved is None or not task.part.tests:
            return None
        return self.saved.get(task.name, task.part, self.thinned.get(task.name))

    def heard(self, task: Task, answer: Answer) -> Answer:
        """Keep an answer for the race and for a later run; models only of those in front."""
        if not task.part.tests:
            return answer
        if self.saved is not None:
            self.saved.add(task.name, task.part, answer, self.thinned.get(task.name))
        if len(task.part.tests) == 1 and not self.closed:
            (k,) = task.part.key[1]
            self._tests[k] = task.part.tests[0]
            self._losses.setdefault(task.name, {})[k] = answer.losses[0]
            self.seconds[task.name] = max(self.seconds.get(task.name, 0.0), answer.seconds)
            if answer.model is not None:
                self.models.setdefault(task.name, {})[k] = answer.model
                for name in sorted(self.models, key=self.error_of)[_KEPT:]:
                    del self.models[name]
        return replace(answer, model=None)

    def sentences(self, titles: dict[str, str], n_folds: int) -> list[str]:
        """Return what was stopped or left undone, in sentences."""
        found = together(
            (
                titles.get(name, name),
                f"was stopped after {folds} of {n_folds} folds: {titles.get(rival, rival)} is "
                "clearly ahead on these.",
            )
            for name, (rival, folds) in self.stopped.items()
        )
        if self.deadline is None:
            return found
        done = {name: len(self._losses.get(name, ())) for name in titles}
        undone = {
            name: folds
            for name, folds in done.items()
            if folds < n_folds and name not in self.stopped
        }
        none = [titles[name] for name, folds in undone.items() if folds < _HEATS]
        if none:
            found.append(f"There was no time for {', '.join(none)}.")
        return found + together(
            (titles[name], f"was judged on {folds} of {n_folds} folds: the time was over.")
            for name, folds in undone.items()
            if folds >= _HEATS
        )
