"""What stacked classifiers and regressors share."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.estimator import Unweighted
from bottega.core.folds import Fold, make_folds
from bottega.core.frames import take_rows
from bottega.core.judge import mean_and_se
from bottega.core.leave_one_out import loo_by_leverages
from bottega.core.losses import get_loss
from bottega.core.parallel import in_threads
from bottega.core.results import glance_row, tidy_columns
from bottega.core.rows import Rows
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._combination.estimator import NamedBases
from bottega.ensemble._resampling.samples import OrderedRows
from bottega.optimize.nonnegative import nonnegative_least_squares


class Stacked(NamedBases, Unweighted):
    """A weighted sum of models."""

    cv: int | str
    sum_to_one: bool

    _least_rows = 2  # weights are learnt on rows left out of a fit

    @abstractmethod
    def _outputs(self, model: Any, X: Any) -> FloatArray:
        """Return what a fitted base adds to the sum, of shape (rows, q)."""

    @abstractmethod
    def _target(self, codes: Array) -> FloatArray:
        """Return what the sum should be, of shape (rows, q)."""

    @abstractmethod
    def _decided(self, total: FloatArray) -> Array:
        """Return the predictions (numbers, or codes of classes) that a sum stands for."""

    # ---- fitting --------------------------------------------------------------------------------

    def _prepare(self, rows: Rows) -> OrderedRows:
        return OrderedRows.of(rows, self._responses(rows))

    def _settle(self, work: OrderedRows, setting: Mapping[str, Any]) -> None:
        n = len(work.y)
        cv = self.cv if isinstance(self.cv, str) else min(self.cv, n)
        folds = make_folds(cv, n, strata=work.codes if is_classifier(self) else None)
        names, bases = zip(*self._named(), strict=True)
        self.names_ = list(names)
        self.estimators_ = in_threads(lambda base: work.fit(base, None), bases, stage="bases")
        held_out = self._held_out_by(work, bases, folds)
        self._weigh(held_out, work, folds)
        self.held_out_ = np.empty_like(held_out)
        self.held_out_[work.order] = held_out
        if not is_classifier(self):
            self.held_out_ = self.held_out_[:, :, 0]
        self._nobs = n

    def _held_out_by(
        self, work: OrderedRows, bases: tuple[Any, ...], folds: list[Fold]
    ) -> FloatArray:
        """Return the outputs for each row of fits without it, of shape (rows, bases, q)."""
        q = self._target(work.codes[:1]).shape[1]
        found = np.empty((len(work.y), len(bases), q))
        tasks: list[tuple[int, Fold]] = []
        for m, base in enumerate(bases):
            shortcut = None
            if self.cv == "loo" and not is_classifier(self):
                shortcut, _ = loo_by_leverages(base, work.X, work.y)
            if shortcut is None:
                tasks += [(m, fold) for fold in folds]
            else:
                found[:, m, 0] = shortcut

        def fit_one(task: tuple[int, Fold]) -> FloatArray:
            m, (train, test) = task
            model = clone(bases[m]).fit(take_rows(work.X, train), work.y[train])
            return self._outputs(model, take_rows(work.X, test))

        fitted = in_threads(fit_one, tasks, stage="folds")
        for (m, (_, test)), outputs in zip(tasks, fitted, strict=True):
            found[test, m] = outputs
        return found

    def _weigh(self, held_out: FloatArray, work: OrderedRows, folds: list[Fold]) -> None:
        """Learn the weights and what they are worth."""
        if not np.all(np.isfinite(held_out)):
            raise InputError("A base predicts values that are not finite; look at its fit first.")
        target = self._target(work.codes)
        loss = get_loss(None, self.card.task)

        def weights(rows: Any) -> FloatArray:
            # All outputs of a row are rows of one least-squares problem.
            A = held_out[rows].transpose(0, 2, 1).reshape(-1, held_out.shape[1])
            return nonnegative_least_squares(A, target[rows].ravel(), sum_to_one=self.sum_to_one)

        def judged(total: FloatArray) -> tuple[float, float]:
            error, error_se = mean_and_se(loss.of_rows(work.codes, self._decided(total)))
            return float(error), float(error_se)

        self.weights_ = weights(slice(None))
        # A row's own part in choosing the weights flatters them: choose them without its fold.
        folds = folds if len(folds) <= 20 else make_folds(10, len(work.codes))
        total = np.empty_like(target)
        for train, test in folds:
            total[test] = np.einsum("imq,m->iq", held_out[test], weights(train))
        self.error_, self.error_se_ = judged(total)
        each = [judged(held_out[:, m]) for m in range(held_out.shape[1])]
        self.base_errors_, self.base_errors_se_ = np.array(each).T

    def _sum(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        used = [(w, m) for w, m in zip(self.weights_, self.estimators_, strict=True) if w > 0]
        parts = in_threads(lambda pair: pair[0] * self._outputs(pair[1], X), used)
        q = len(self.classes_) if is_classifier(self) else 1
        return np.asarray(sum(parts, np.zeros((X.shape[0], q))))

    # ---- results --------------------------------------------------------------------------------

    def tidy(self) -> Any:
        """Return one row per base: its weight and its error on the rows left out."""
        check_is_fitted(self)
        errors = {"error": self.base_errors_, "error_se": self.base_errors_se_}
        return self._make_frame(tidy_columns(self.names_, self.weights_) | errors)

    def glance(self) -> Any:
        """Return one row about the stack: its error, the best base's, and what stacking gains."""
        check_is_fitted(self)
        best = int(np.argmin(self.base_errors_))
        row = glance_row(
            {"nobs": self._nobs},
            error=self.error_,
            error_se=self.error_se_,
            best_base=self.names_[best],
            best_base_error=float(self.base_errors_[best]),
            improvement=float(self.base_errors_[best] - self.error_),
        )
        return self._make_frame({name: [value] for name, value in row.items()})

    def summary(self) -> Summary:
        """Return the weights and errors as a table that shows itself as text and HTML."""
        check_is_fitted(self)
        table = {
            "base": [*self.names_, "stack"],
            "weight": [*self.weights_, float(self.weights_.sum())],
            "error": [*self.base_errors_, self.error_],
            "se": [*self.base_errors_se_, self.error_se_],
        }
        note = "Errors are on rows left out; the stack's with weights chosen without them too."
        return Summary(type(self).__name__, (Section("", table),), (note,))
