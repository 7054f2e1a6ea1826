"""Learning from mistakes: the passes of the perceptron over a block, and when they end."""

import math
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from bottega.core import progress
from bottega.core.errors import ConvergenceWarning, InputError, ParameterError, warn_caller
from bottega.core.folds import make_folds
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.sparse import dense_parts, is_sparse
from bottega.core.typing import Array, FloatArray
from bottega.online._kernels import perceptron as _kernels
from bottega.online._kernels.perceptron_penalized import perceptron_penalized
from bottega.online._learner.classifier import OnlineClassifier
from bottega.online._learner.convergence import convergence_trace
from bottega.online._learner.epochs import Block, Epochs, RowEpochs
from bottega.online._stream.blocks import dense_rows
from bottega.risk.theory.margin import separable

_SMALL_PROBLEM = 1_000_000  # numbers in X up to which separability is decided by linear programming
_PASSES: dict[bool, tuple[Any, Any]] = {  # for two classes, for more
    False: (_kernels.perceptron_dense, _kernels.perceptron_many_dense),
    True: (_kernels.perceptron_csr, _kernels.perceptron_many_csr),
}
_OF_A_FIT = (
    "updated_rows_",
    "updates_by_epoch_",
    "error_outside_",
    "trace_",
    "separator_",
    "convergence_bound_",
)


class MistakeDriven(OnlineClassifier):
    """Weights that change where a row is predicted wrongly."""

    _may_change: ClassVar[tuple[str, ...]] = (
        "max_iter",
        "until_clean",
        "tol",
        "shuffle",
        "verbose",
        "n_jobs",
        "random_state",
        "early_stopping",
        "validation_fraction",
        "n_iter_no_change",
        "warm_start",
        "trace",
    )

    penalty: str | None
    alpha: float
    l1_ratio: float
    eta0: float
    max_iter: int
    until_clean: bool
    tol: float | None
    shuffle: bool
    random_state: Any
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    class_weight: Any
    warm_start: bool
    average: bool
    trace: bool

    def _check_params(self) -> None:
        super()._check_params()
        if self.until_clean and (self.tol is not None or self.early_stopping):
            raise ParameterError(
                "until_clean=True goes on until a pass has no mistake, and tol or early_stopping "
                "would end it before; give one of them."
            )
        if self.trace and self._rule_is_changed():
            raise ParameterError(
                "trace=True follows the proof for the plain rule; leave out penalty, eta0, "
                "class_weight, early_stopping and warm_start."
            )

    def _rule_is_changed(self) -> bool:
        """Return True if the parameters ask for more than the plain rule, which theorems cover."""
        more = self.class_weight is not None or self.early_stopping or self.warm_start
        return bool(more or self.penalty is not None or self.eta0 != 1)

    def _forget(self) -> None:
        before = vars(self).get("_weights") if self.warm_start else None
        classes = vars(self).get("classes_")
        super()._forget()
        if before is not None:
            self._before = (classes, before)

    def _start(self) -> None:
        width = self._width()
        self._weights = np.zeros((self._vectors, width))
        self._past = np.zeros((self._vectors, width if self.average else 0))
        self.n_updates_ = self.n_updated_rows_ = 0
        self.max_norm_ = 0.0
        classes, weights = self.__dict__.pop("_before", (None, None))
        if weights is None:
            return
        if weights.shape != self._weights.shape or not np.array_equal(classes, self.classes_):
            raise InputError(
                "warm_start=True goes on from the weights of the last fit, which had other classes "
                "or columns; set warm_start=False to start afresh."
            )
        self._weights = weights

    def _targets(self, y: Array) -> Array:
        return 2.0 * y - 1.0 if self._vectors == 1 else y

    def _learn_rows(self, rows: Rows, *, charge: bool) -> FloatArray:
        for name in _OF_A_FIT:
            self.__dict__.pop(name, None)
        losses = self._pass(rows)
        self.n_updated_rows_ += int(losses.sum())
        self.converged_, self.n_iter_ = False, 1
        return losses

    def _pass(self, rows: Rows) -> FloatArray:
        """Go through the rows once; return 1 for each mistake."""
        weights, past = self._weights.copy(), self._past.copy()
        losses = np.empty(len(rows))
        if self.eta0 != 1 or self.penalty or self.tol is not None or rows.weight is not None:
            weights, past, longest, total = self._changed_pass(rows, weights, past, losses)
        else:
            X, targets = rows.X, self._targets(rows.y)
            data = (X.indptr, X.indices, X.data) if is_sparse(X) else (X,)
            shared = (bool(self.fit_intercept), float(self.n_samples_seen_))
            one, many = _PASSES[is_sparse(X)]
            if len(weights) == 1:
                longest, total = one(*data, targets, weights[0], *shared, past[0], losses)
            else:
                longest, total = many(*data, targets, weights, *shared, past, losses)
        if not math.isfinite(total):
            self._refuse(
                rows.X, "The squares of the inputs overflow: bring them to a smaller scale."
            )
        self._weights, self._past = weights, past
        self.n_updates_ += int(losses.sum())
        self.n_samples_seen_ += len(losses)
        self.max_norm_ = max(self.max_norm_, float(np.sqrt(longest)))
        return losses

    def _changed_pass(
        self, rows: Rows, weights: FloatArray, past: FloatArray, losses: FloatArray
    ) -> tuple[FloatArray, FloatArray, float, float]:
        """Go through the rows by other steps than the plain rule's, or measure their objective."""
        two = len(weights) == 1
        if two:  # a vector for each of the two classes, opposite to one another
            weights, past = np.vstack([-weights, weights]), np.vstack([-past, past])
        share = {None: 0.0, "l2": 0.0, "l1": 1.0, "elasticnet": float(self.l1_ratio)}[self.penalty]
        alpha = 0.0 if self.penalty is None else float(self.alpha)
        l2, l1 = alpha * (1 - share), alpha * share
        shrink = (max(0.0, 1 - self.eta0 * l2), self.eta0 * l1, l2, l1)
        size = float(self.eta0) * rows.weights
        y, seen = rows.y.astype(np.intp), float(self.n_samples_seen_)
        longest = total = 0.0
        for part, dense in dense_parts(rows.X):
            memory = (bool(self.fit_intercept), seen + part.start, past, losses[part])
            found = perceptron_penalized(dense, y[part], weights, *memory, size[part], *shrink)
            longest, total = max(longest, found[0]), total + found[1]
            self._objective = getattr(self, "_objective", 0.0) + found[2] / (2 if two else 1)
        return (weights[1:], past[1:], longest, total) if two else (weights, past, longest, total)

    def _learn_epochs(self, epochs: Epochs) -> None:
        self._check_epochs(epochs)
        held = None
        if self.early_stopping and epochs.rows is not None:
            train, held = self._hold_out(epochs.rows)
            epochs = RowEpochs(train)
        updated: list[Array] = []
        # An epoch depends on the weights it starts from alone, so weights that come back at the end
        # of one will come back for ever. They are compared with those of epoch 0, 1, 2, 4, 8 ...
        earlier, refresh, returned, patience = self._weights, 1, False, _Patience(self)
        self._weighted = False
        for epoch, blocks in enumerate(epochs.passes(self), start=1):
            updated.append(self._epoch(blocks))
            if self.max_iter > 1:
                progress.report("epochs", epoch, self.max_iter)
            if not len(updated[-1]) and self.penalty is None:
                break
            if self.tol is not None and patience.is_over(self._improvable(epoch, held)):
                break
            if self.until_clean and not self.shuffle and np.array_equal(self._weights, earlier):
                returned = True
                break
            if epoch == refresh:
                earlier, refresh = self._weights, 2 * refresh
        self.__dict__.pop("_objective", None)
        self._keep_updates(epochs, updated)
        self.converged_ = self.converged_ or patience.over
        if self.until_clean and not self.converged_:
            warn_caller(self._why_not(epochs.rows, returned), ConvergenceWarning)
        elif self.tol is not None and not self.converged_:
            warn_caller(
                f"The objective still improved by more than tol={self.tol} in pass "
                f"max_iter={self.max_iter}; raise max_iter.",
                ConvergenceWarning,
            )

    def _check_epochs(self, epochs: Epochs) -> None:
        """Refuse what the classes, or rows in chunks, do not go with."""
        if self.trace and self._vectors > 1:
            raise InputError(
                f"trace=True follows the proof for two classes and y has {len(self.classes_)}; set "
                "trace=False."
            )
        for name in ("trace", "early_stopping"):
            if getattr(self, name) and epochs.rows is None:
                raise InputError(
                    f"{name}=True needs all rows in memory, and a fit in chunks has them one chunk "
                    f"after the other; set {name}=False."
                )

    def _epoch(self, blocks: Iterable[Block]) -> Array:
        """Go through all rows once; return the numbers of those that caused an update."""
        self._objective = 0.0
        updated: list[Array] = []
        for numbers, rows in blocks:
            self._weighted = self._weighted or rows.weight is not None
            updated.append(numbers[np.flatnonzero(self._pass(rows))])
        return np.concatenate(updated)

    def _improvable(self, epoch: int, held: Rows | None) -> float:
        """Return what should fall from pass to pass: the error on rows held out, or the loss."""
        if held is not None:
            return float(np.mean(self._decide(held.X) != held.y))
        return self._objective / (self.n_samples_seen_ / epoch)

    def _hold_out(self, rows: Rows) -> tuple[Rows, Rows]:
        seed, share = seed_of(self.random_state), float(self.validation_fraction)
        [(train, test)] = make_folds(share, len(rows), strata=rows.y, random_state=seed)
        return rows.take(train), rows.take(test)

    def _keep_updates(self, epochs: Epochs, updated: list[Array]) -> None:
        """Set what a fit says about its updates."""
        self.updates_by_epoch_ = np.array([len(part) for part in updated])
        self.n_iter_ = len(updated)
        self.converged_ = not len(updated[-1])
        self.updated_rows_ = np.unique(np.concatenate(updated))
        self.n_updated_rows_ = len(self.updated_rows_)
        wrong = count = 0
        for numbers, rows in epochs.blocks():
            outside = np.flatnonzero(~np.isin(numbers, self.updated_rows_))
            if len(outside):
                count += len(outside)
                wrong += int(np.sum(self._decide(rows.X[outside]) != rows.y[outside]))
        if count:
            self.error_outside_ = wrong / count
        if self.trace:
            assert epochs.rows is not None
            X, signs = epochs.rows.X, self._targets(epochs.rows.y)
            self.trace_, self.separator_, self.convergence_bound_ = convergence_trace(
                X, signs, updated, self.fit_intercept
            )

    def _restore(self, rows: Rows) -> None:
        assert rows.kept is not None
        self.updated_rows_ = rows.kept[self.updated_rows_]

    def _why_not(self, rows: Rows | None, returned: bool) -> str:
        """Return why there was no clean pass, and what to do."""
        cure = "set until_clean=False and average=True, or add columns (a basis)"
        if returned:
            return (
                f"After {self.n_iter_} passes the perceptron's weights are back where they were: "
                f"the rows are not linearly separable and it would never end; {cure}."
            )
        found = f"No pass of max_iter={self.max_iter} was without a mistake"
        if rows is None or self._vectors > 1 or np.prod(rows.X.shape) > _SMALL_PROBLEM:
            return (
                f"{found}, and whether the rows are linearly separable was not checked (too large, "
                f"in chunks, or more than two classes); raise max_iter, or {cure}."
            )
        if separable(dense_rows(rows.X, self.fit_intercept), self._targets(rows.y)):
            return f"{found}, but the rows are linearly separable; raise max_iter."
        return f"{found}: the rows are not linearly separable; {cure}."


class _Patience:
    """Notices that nothing has improved by `tol` for some passes in a row."""

    def __init__(self, model: MistakeDriven) -> None:
        self.tol, self.passes = float(model.tol or 0.0), model.n_iter_no_change
        self.best, self.idle, self.over = math.inf, 0, False

    def is_over(self, value: float) -> bool:
        """Take in the value of a pass; return True if it is time to stop."""
        self.idle = self.idle + 1 if value > self.best - self.tol else 0
        self.best = min(self.best, value)
        self.over = self.idle >= self.passes
        return self.over
