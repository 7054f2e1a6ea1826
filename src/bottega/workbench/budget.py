"""A time budget: how long methods will take, and how much of the work fits into the time."""

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bottega.core.cards import Card
from bottega.core.errors import ParameterError
from bottega.risk.estimate.nested_engine import Control, Judge, Part, Task, run_parts
from bottega.workbench.sizes import SMALL

__all__ = ["Plan", "default_budget", "make_plan", "read_budget"]

TOO_SLOW = "skipped: too slow for the time budget"
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0}
_LONGEST = 600.0
_PASSES = 60  # over a source that is larger than memory: ten methods, six fits of each
_TRIALS = (1_000, 3_000)  # rows of the trials that tell how the time grows
_TRIED = 0.2  # share of the time that trials may take
_GUESS = (1.0, 1_000, 1.3)  # growth of the time of a method that there was no trial of
# Topics from cheap to expensive, as a rule.
_CHEAP = ("core", "linear", "classify", "tree", "neighbors", "smooth", "kernel", "ensemble")
_USED = 0.8  # share of the time that the plan fills: estimates are rough
_NOTHING = 0.03  # share of the time that counts as next to none
_LEAST_ROWS = 1_000  # that a method must be able to learn from
_EXPONENTS = (0.7, 2.2)
_LARGER, _TIMES, _STEPS = 0.05, 6, 2  # trials on more rows: share of the time, factor, how many
_HEATS = 2  # folds after which a method of a large table may be shown and its model made
_SLOW = (60.0, 1_000, 2.0)  # the same of a method whose trial did not end
_UNENDED = 2.0  # of one that is always shown: how many times as long as it ran it is taken to last
_DEAR = "gradient_boosting"  # always shown if there is time for it
_SURE = {_DEAR: 0.35}  # share of the time that a method which is always shown may take
_ANY_SURE = 0.2


def read_budget(budget: Any) -> float | None:
    """Return the seconds of a budget: a number of them, or a text such as "90s", "2m", "1h30m".

    Examples
    --------
    >>> read_budget("1h30m"), read_budget("2 min"), read_budget(45), read_budget(None)
    (5400.0, 120.0, 45.0, None)
    """
    if budget is None:
        return None
    seconds = math.nan
    if isinstance(budget, str):
        text = re.sub(r"(?<=[hms])[a-z]+", "", budget.strip().lower())  # min, sec, hours
        part = r"([\d.]+)\s*(h|m|s|)\s*"
        parts, whole = re.findall(part, text), re.fullmatch(f"({part})+", text)
        if whole and parts:
            try:
                seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
            except ValueError:
                seconds = math.nan
    elif isinstance(budget, int | float) and not isinstance(budget, bool):
        seconds = float(budget)
    if not seconds > 0:
        raise ParameterError(
            f"budget={budget!r} is not allowed; give seconds above 0, or a text such as '90s', "
            "'2m' or '1h30m'."
        )
    return seconds


def default_budget(n_rows: int, n_columns: int, a_pass: float = 0.0) -> float | None:
    """Return the seconds that suit a table: no limit for a small one, at most ten minutes.

    Where rows are read anew by each method that fits chunks, there is time for it besides:
    `a_pass` are the seconds of a pass over them.

    Examples
    --------
    >>> default_budget(1_000, 10), default_budget(200_000, 10), default_budget(1_000_000, 30)
    (None, 260.0, 600.0)
    """
    if n_rows <= SMALL:
        return None
    return min(60.0 + n_rows * n_columns / 10_000, _LONGEST) + _PASSES * a_pass


@dataclass
class Plan:
    """What of the work fits into the time.

    Attributes
    ----------
    procedures : dict of str to procedure
        Those that take part, the cheap ones first; some learn from fewer rows.
    seconds : dict of str to float
        Estimated time of one run.
    cut : list of str
        What was cut, in sentences.
    fewer : dict of str to str
        Methods that learn from fewer rows than there are, with a sentence that tells it.
    left_out : dict of str to str
        Methods that do not take part, with the reason.
    rows : dict of str to int
        The same methods, and from how many rows they learn.
    sure : tuple of str
        Methods that are always shown: baseline, a linear model, a tree, boosting.
    cheap : tuple of str
        Methods that take next to no time.
    full : bool
        Whether the work fills most of the time, so that methods should race.
    """

    procedures: dict[str, Any]
    seconds: dict[str, float] = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)
    fewer: dict[str, str] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    sure: tuple[str, ...] = ()
    cheap: tuple[str, ...] = ()
    full: bool = False

    @property
    def owed(self) -> tuple[str, ...]:
        """Methods whose first folds are run whatever the time: those that are sure and cheap."""
        return tuple(name for name in self.sure if name != _DEAR)


class _Trials(Control):
    """Trials of all methods, small ones first, until their time is over."""

    leave = True

    def __init__(self, deadline: float, order: list[str]) -> None:
        self.deadline, self.order = deadline, order
        # When the first trial of a method began, and on how many rows.
        self.begun: dict[str, tuple[float, int]] = {}

    def ordered(self, tasks: list[Task]) -> list[Task]:
        """Return the trials on few rows first, and of those the ones that cost little."""
        return sorted(tasks, key=lambda t: (len(t.part.train), self.order.index(t.name)))

    def next(self, remaining: list[Task]) -> Task | None:
        """Take the next trial, none after the deadline."""
        if self.deadline is not None and time.perf_counter() > self.deadline:
            remaining.clear()
        task = super().next(remaining)
        if task is not None:
            self.begun.setdefault(task.name, (time.perf_counter(), len(task.part.train)))
        return task

    def unended(self, name: str) -> tuple[float, int, float]:
        """Return how the time of a method grows whose trial did not end, by how long that ran."""
        began, rows = self.begun[name]
        return max(_UNENDED * (time.perf_counter() - began), 1e-3), rows, _GUESS[2]


def make_plan(
    procedures: Mapping[str, Any],
    cards: Mapping[str, Card],
    judge: Judge,
    *,
    end: float,
    threads: int,
    runs: int,
    n_train: int,
    n_jobs: int | None = None,
    seed: int = 0,
    before: Callable[[str], int | None] = lambda _: None,
) -> Plan:
    """Return the work that fits: times from trials on few rows, and from how they grow.

    Parameters
    ----------
    procedures : dict of str to EstimatorProcedure
        All that would take part.
    cards : dict of str to Card
        Their cards.
    judge : Judge
        What runs a procedure.
    end : float
        When the work must be done, a time of ``time.perf_counter``.
    threads, runs, n_train : int
        Procedures at a time; runs of each procedure; rows that one of them learns from.
    n_jobs, seed : int
        Threads of the trials, and the seed of their rows.
    before : callable
        From how many rows a method learned in an earlier run, where that was not all; it does so
        again if that is about as many as there is time for.
    """
    left = end - time.perf_counter()
    sizes = [m for m in _TRIALS if m < n_train]
    if not sizes:  # so few rows that there is nothing to try: one method after the other
        sure = _sure(procedures, cards, {})
        usual = sorted(procedures, key=lambda name: _usual_cost(cards[name], name not in sure))
        plan = Plan({}, sure=sure, cheap=tuple(usual))
        usual = [*plan.owed, *(name for name in usual if name not in plan.owed)]
        plan.procedures = {name: procedures[name] for name in usual}
        return plan
    first = _sure(procedures, cards, {})  # what is always shown should be known best
    order = sorted(procedures, key=lambda name: (name not in first, _usual_cost(cards[name])))
    trials = _Trials(time.perf_counter() + _TRIED * left, order)
    times = _trial(procedures, judge, sizes, trials, n_jobs, seed)
    plan = Plan({})
    growth = {name: _growth(found) for name, found in times.items()}
    for name in procedures:
        if name not in trials.begun:
            growth[name] = _GUESS
        elif name not in growth:
            growth[name] = trials.unended(name) if name in first else _SLOW
    cost = {
        name: _cost(procedures[name], growth[name], n_train, times.get(name)) for name in procedures
    }
    plan.sure = _sure(procedures, cards, cost)
    for name in plan.sure[1:]:
        if name in times:  # worth a closer look: what is always shown should learn from much
            growth[name] = _closer(
                {name: procedures[name]}, judge, times[name], n_train, _LARGER * left, n_jobs, seed
            )
            cost[name] = _cost(procedures[name], growth[name], n_train, times[name])
    # Of many rows two folds tell enough: better more rows in a fit than more folds.
    most = max(procedure.learns_from(n_train) for procedure in procedures.values())
    least = runs if most <= SMALL else min(runs, _HEATS + 1)
    room = _USED * (end - time.perf_counter()) * threads
    plan.full = runs * sum(cost.values()) > room
    others = sorted((name for name in procedures if name not in plan.sure), key=cost.__getitem__)
    waiting, slow, whole = len(others), [], room
    for name in (*plan.sure, *others):
        share = room / max(waiting, 1)
        if name in plan.sure:
            share = _SURE.get(name, _ANY_SURE) * whole
        waiting -= name not in plan.sure
        title = cards[name].title
        grows, every = growth[name], procedures[name].learns_from(n_train)
        rows = n_train if name == "baseline" else _rows_within(grows, share / least, n_train)
        if every > n_train and cost[name] <= share / least:
            rows = every
        earlier = before(name)
        if earlier is not None and rows < n_train and rows / 2 <= earlier:
            rows = min(earlier, n_train)
        if rows < min(_LEAST_ROWS, n_train) and name not in plan.sure:
            plan.left_out[name] = TOO_SLOW
            slow.append(title)
            continue
        rows = max(rows, min(_LEAST_ROWS, n_train))
        plan.procedures[name] = procedures[name]
        plan.seconds[name] = cost[name] if rows == every else _seconds(grows, rows)
        if rows < every:
            inside = rows if rows < n_train else len(judge.rows)  # all that are in memory
            plan.procedures[name] = replace(procedures[name], most_rows=inside)
            plan.rows[name] = rows
            why = f": all would take {_in_words(cost[name])} a run" if name in times else ""
            plan.fewer[name] = f"learned from {rows:,} of the {every:,} rows of a fold{why}."
        room -= min(runs * plan.seconds[name], share)
    plan.cheap = tuple(
        name for name in plan.procedures if runs * plan.seconds[name] <= _NOTHING * whole
    )
    if slow:
        plan.cut.append(f"Left out, since there was no time for them: {', '.join(slow)}.")
    return plan


def _usual_cost(card: Card, later: bool = False) -> tuple[int, bool, str]:
    """Return what orders methods by their usual cost, in one topic some `later`."""
    topic = card.topic
    return (_CHEAP.index(topic) if topic in _CHEAP else len(_CHEAP)), later, card.method


def _trial(
    procedures: Mapping[str, Any],
    judge: Judge,
    sizes: list[int],
    trials: _Trials,
    n_jobs: int | None,
    seed: int,
) -> dict[str, dict[int, float]]:
    """Return the seconds of each procedure on few rows."""
    n = len(judge.rows)
    order = np.random.default_rng(seed).permutation(n)
    codes = judge.rows.codes
    if codes is not None:  # the first row of every class first, so that no trial lacks one
        first = np.unique(codes[order], return_index=True)[1]
        order = np.concatenate([order[first], np.delete(order, first)])
    test = np.sort(order[-500:])
    parts = [Part((-1, (m,)), np.sort(order[:m]), (test,)) for m in sizes]
    runs = run_parts(procedures, parts, judge, n_jobs=n_jobs, stage="trials", control=trials)
    if not runs.complete:
        raise KeyboardInterrupt
    found = {}
    for name, answers in runs.answers.items():
        known = {m: answers[-1, (m,)].seconds for m in sizes if (-1, (m,)) in answers}
        if known:
            found[name] = known
    for name in runs.failures:  # it may do better with more rows, and says so itself if not
        found[name] = {sizes[-1]: 0.01}
    return found


def _closer(
    procedures: Mapping[str, Any],
    judge: Judge,
    times: dict[int, float],
    n_train: int,
    seconds: float,
    n_jobs: int | None,
    seed: int,
) -> tuple[float, int, float]:
    """Return how the time of one procedure grows, from trials on more rows within some seconds.

    On few rows much of the time is the same whatever their number, and some methods go about many
    rows in another way.
    """
    (name,) = procedures
    times, end = dict(times), time.perf_counter() + seconds
    for _ in range(_STEPS):
        rows = min(_TIMES * max(times), n_train)
        left = end - time.perf_counter()
        if rows <= max(times) or _seconds(_growth(times), rows) > left:
            break
        trials = _Trials(end, [name])
        found = _trial(procedures, judge, [rows], trials, n_jobs, seed).get(name)
        if found is None:
            break
        times |= found
    return _growth(times)


def _growth(times: Mapping[int, float]) -> tuple[float, int, float]:
    """Return seconds at a number of rows, and the power of the rows by which they grow."""
    largest = max(times)
    seconds = max(times[largest], 1e-3)
    if len(times) < 2:
        return seconds, largest, 1.3
    smaller = sorted(times)[-2]
    power = math.log(seconds / max(times[smaller], 1e-3)) / math.log(largest / smaller)
    return seconds, largest, min(max(power, _EXPONENTS[0]), _EXPONENTS[1])


def _cost(
    procedure: Any,
    growth: tuple[float, int, float],
    n_train: int,
    times: Mapping[int, float] | None,
) -> float:
    """Return the time of a run on all rows; in chunks each row takes as long as any other."""
    every = procedure.learns_from(n_train)
    if every == n_train or not times:
        return _seconds(growth, every)
    few, many = min(times), max(times)
    each = max(times[many] - times[few], 0.0) / max(many - few, 1)
    return times[few] + each * (every - few) + procedure.seconds_more()


def _seconds(growth: tuple[float, int, float], rows: int) -> float:
    """Return the time that a run on so many rows takes."""
    seconds, at, power = growth
    return float(seconds * (rows / at) ** power)


def _rows_within(growth: tuple[float, int, float], seconds: float, n: int) -> int:
    """Return the most rows, rounded down to two digits, that a run can learn from in a time."""
    if _seconds(growth, n) <= seconds:
        return n
    one, at, power = growth
    rows = at * (max(seconds, 0.0) / one) ** (1 / power)
    if rows < 1:
        return 0
    unit = 10 ** max(int(math.log10(rows)) - 1, 0)
    return int(min(rows // unit * unit, n))


def _sure(
    procedures: Mapping[str, Any], cards: Mapping[str, Card], cost: Mapping[str, float]
) -> tuple[str, ...]:
    """Return the methods that are always shown: baseline, a linear model, a tree, boosting."""
    found = ["baseline"] if "baseline" in procedures else []
    linear = [name for name in procedures if cards[name].topic in ("linear", "classify")]
    linear = [name for name in linear if cards[name].knob is not None] or linear
    if linear:
        found.append(min(linear, key=lambda name: (cost.get(name, 0.0), name != "ridge", name)))
    found += [name for name in ("tree", _DEAR) if name in procedures]
    return tuple(found)


def _in_words(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min"
    return f"about {round(seconds / 3600)} h"
