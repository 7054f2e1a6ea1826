"""The work of a comparison: all methods over the outer folds, and the leaders combined."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bottega.core.folds import Fold, is_partition
from bottega.data import Table
from bottega.risk import NestedComparison
from bottega.risk.estimate.judged_rows import JudgedRows, RowLosses
from bottega.risk.estimate.nested import run_procedures
from bottega.risk.estimate.nested_engine import Judge, Part
from bottega.workbench.budget import Plan, make_plan
from bottega.workbench.inputs import features_of
from bottega.workbench.leaderboard import in_order
from bottega.workbench.measures import Measure
from bottega.workbench.results import MethodResult, gap_between
from bottega.workbench.resume import Saved
from bottega.workbench.stack import leaders_of, stack_leaders
from bottega.workbench.streamed import StreamedProcedure
from bottega.workbench.together import together
from bottega.workbench.work import Work

__all__ = ["Job"]


@dataclass
class Job:
    """The work of a comparison, once everything about it is known.

    Attributes
    ----------
    train, rows : Table, JudgedRows
        What methods learn from and are judged by.
    measure : Measure
        How they are judged.
    procedures, cards : dict
        The methods.
    folds : list of (train, test)
        The outer folds.
    end : float or None
        When the work must be done, a time of ``time.perf_counter``.
    saved : Saved or None
        What an earlier run has done.
    n_jobs, threads, seed : int
        Threads as asked for and as many as they are; the seed of trials.
    """

    train: Table
    rows: JudgedRows
    measure: Measure
    procedures: dict[str, Any]
    cards: dict[str, Any]
    folds: list[Fold]
    end: float | None
    saved: Saved | None
    n_jobs: int | None
    threads: int
    seed: int

    def __post_init__(self) -> None:
        self.plan = Plan(self.procedures)
        self.work = Work(self.rows, saved=self.saved)
        self.why_no_stack = ""

    @property
    def judge(self) -> Judge:
        """What judges rows by the loss."""
        losses = RowLosses(self.measure.loss, self.rows.task, self.rows.classes)
        classes = self.rows.classes is not None
        return Judge(self.rows, losses, probabilities=classes)

    def run(self, select: str, interval: str) -> NestedComparison:
        """Return the methods over the outer folds; under a budget as far as the time goes."""
        if self.end is not None:
            self.plan = make_plan(
                self.procedures,
                self.cards,
                self.judge,
                end=self.end,
                threads=self.threads,
                runs=len(self.folds) + 1,
                n_train=max(len(fold) for fold, _ in self.folds),
                n_jobs=self.n_jobs,
                seed=self.seed,
                before=(lambda _: None) if self.saved is None else self.saved.rows_of,
            )
            self.work = Work(
                self.rows,
                deadline=self.end,
                seconds=self.plan.seconds,
                sure=self.plan.sure,
                cheap=self.plan.cheap,
                owed=self.plan.owed,
                race=self.plan.full,
                saved=self.saved,
                thinned=self.plan.rows,
            )
        try:
            return run_procedures(
                self.plan.procedures,
                self.rows,
                loss=self.measure.loss,
                select=select,
                outer=self.folds,
                interval=interval,
                random_state=self.seed,
                final=True,
                probabilities=True,
                keep_models=True,
                n_jobs=self.n_jobs,
                stage="comparing",
                control=self.work,
            )
        finally:
            self.work.closed = True
            if self.saved is not None:
                self.saved.write()

    def combine(self, results: dict[str, MethodResult], nested: NestedComparison) -> Any:
        """Return the leaders as one method, None where that cannot be."""
        leaders = leaders_of(results, self.judge, self.measure)
        if not leaders:
            self.why_no_stack = "skipped: there are fewer than three methods to combine"
            return None
        if len(leaders) == 1:
            self.why_no_stack = f"skipped: {_alone(leaders[0], results, nested)}"
            return None
        if len(self.folds) < 3 or not is_partition(self.folds, len(self.rows)):
            self.why_no_stack = "skipped: its weights need three folds or more that are a partition"
            return None
        self.why_no_stack = "skipped: its weights need two folds that all leaders were judged on"
        return stack_leaders(
            leaders, results, nested, self.folds, self.judge, self.measure, features_of(self.train)
        )

    def cut(self, nested: NestedComparison) -> list[str]:
        """Return what the budget cut, in sentences."""
        able = [name for name in self.plan.procedures if name not in nested.failures]
        titles = {name: self.cards[name].title for name in able}
        fewer = self.plan.fewer.items()
        told = [(self.cards[name].title, what) for name, what in fewer if name in nested.results]
        return [*together(told), *self.plan.cut, *self.work.sentences(titles, len(self.folds))]

    def with_winner(
        self, nested: NestedComparison, results: dict[str, MethodResult]
    ) -> tuple[NestedComparison, dict[str, MethodResult]]:
        """Return the same with the best method fitted to all rows, if the time was over before."""
        best = in_order(results)[0]
        if not nested.complete or not results[best].partial:
            return nested, results
        everything = Part((0, ()), np.arange(len(self.rows)), ())
        found = replace(
            nested.results[best], final=self.judge(self.plan.procedures[best], everything)
        )
        nested = replace(nested, results={**nested.results, best: found})
        done = replace(results[best], nested=found, learned_from=self.learned_from(best))
        return nested, {**results, best: done}

    def learned_from(self, method: str) -> int:
        """Return how many rows the model of all training rows of a method learns from.

        Rows that are not in memory are the same for all methods that read them: where groups or
        time leave some out, one that has done so tells how many there are.
        """
        procedure = self.plan.procedures[method]
        if isinstance(procedure, StreamedProcedure) and procedure.sends_rows:
            for each in self.plan.procedures.values():
                if isinstance(each, StreamedProcedure) and each.counted:
                    return each.counted[0]
        return int(procedure.learns_from(len(self.rows)))

    def not_begun(self, results: dict[str, MethodResult]) -> dict[str, str]:
        """Return the methods that there was no time for, with the reason."""
        if self.end is None:
            return {}
        late = [name for name in self.plan.procedures if name not in results]
        return self.plan.left_out | dict.fromkeys(late, "skipped: no time was left")


def _alone(leader: str, results: dict[str, MethodResult], nested: NestedComparison) -> str:
    """Say why only one method would be combined, no more than the leaderboard says."""
    title, best = leader.replace("_", " "), results[leader]
    able = {name: each for name, each in results.items() if not each.partial}
    among = ""
    if len(able) < len(results):  # the others have no model to combine
        among = "of the methods that there was time to fit to all training rows "
    if all(
        gap_between(each, best, (name, leader), nested).lower > 0
        for name, each in able.items()
        if name != leader
    ):
        return f"{among}{title} is clearly the best"
    by = ""
    if best.classes is not None and best.measure is not None:
        # Members are weighed by their probabilities, which tell more than how often they are right.
        by = " by its probabilities" if best.measure.loss.method == "predict" else ""
    return f"{among}{title} alone is likely to be the best{by}, so there is nothing to combine"
