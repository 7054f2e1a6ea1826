"""What a comparison says on request: what predictions depend on, and proportions of classes."""

from time import perf_counter
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array
from bottega.workbench.folds import FoldModels, thinned

__all__ = ["ExplainedComparison"]

_LEAST_SHARE = 0.05  # of the budget, for an explanation


class ExplainedComparison:
    """Explains the best method, within what is left of the budget; `Comparison` is one."""

    table: Any
    train: Any
    results: Any
    row_loss: Any
    best: Any
    best_method: Any
    target: Any
    random_state: int
    fold_models: FoldModels
    budget: float | None
    ends: float | None
    predict: Any
    _explanation: Any
    _proportions: Any

    def explain(self) -> Any:
        """Return what the best procedure's predictions depend on, judged on rows it had not seen.

        Returns
        -------
        bottega.explain.Explanation
            Importance, effects, calibration, worst rows; computed when they are asked for.
        """
        if self._explanation is None:
            from bottega.explain import explain  # heavy, and seldom wanted

            method = self.best_method
            result = self.results[method]
            fits = self.fold_models.fits(method, result)
            rows = self.fold_models.rows(method, result)
            fits, rows = thinned(fits, rows, self._left(), self.random_state)
            groups = self.train.units
            self._explanation = explain(
                fits,
                loss=self.row_loss,
                columns=list(self.train.features),
                model=self.best,
                rows=[self._numbers[held] for held in rows],
                groups=None if groups is None else [groups[held] for held in rows],
                target=self.target,
                random_state=self.random_state,
            )
        return self._explanation

    def proportions(self) -> Any:
        """Return the proportions of the classes among the rows without a label, from their texts.

        Returns
        -------
        bottega.workbench.unread.UnreadProportions
            Proportions with intervals, beside shares of predictions, which are biased where the
            classes are not as frequent as among the labelled rows.
        """
        if self._proportions is None:
            from bottega.workbench import unread  # texts, which few tables have

            unread.refuse_without_texts(self.table)
            left = self._left()
            if left is not None and left < unread.seconds_of(self.train):
                raise InputError(
                    "The time budget left none for the proportions of the classes among the rows "
                    "without a label; give a longer one."
                )
            self._proportions = unread.unread_proportions(
                self.table, self.train, self.predict, self.random_state
            )
        return self._proportions

    def _left(self) -> float | None:
        """Return the seconds that an explanation may take; None without a budget."""
        if self.ends is None or self.budget is None:
            return None
        return max(self.ends - perf_counter(), _LEAST_SHARE * self.budget)

    @property
    def _numbers(self) -> Array:
        """Number of each training row in the data as they were given, the first being 1."""
        return np.asarray(self.train.row_numbers)
