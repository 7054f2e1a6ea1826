"""What bagged classifiers and regressors share: fits to samples, judged by left-out rows."""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.frames import is_frame, take_rows
from bottega.core.judge import mean_and_se
from bottega.core.losses import get_loss
from bottega.core.parallel import in_threads
from bottega.core.path import Path, along
from bottega.core.results import term_names
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._combination.average import Average
from bottega.ensemble._resampling.draws import row_keys, seeds
from bottega.ensemble._resampling.left_out import OutOfBag, importance_columns, proximity_of
from bottega.ensemble._resampling.samples import OrderedRows


def _has_leaves(self: Any) -> bool:
    return hasattr(self._bases()[0], "apply")


class Bagged(OutOfBag, Average):
    """The average of one base fitted to many samples of the rows."""

    def _settle(self, work: OrderedRows, setting: Mapping[str, Any]) -> None:
        base = self._bases()[0]
        self._seeds = seeds(self.random_state, self.n_estimators)
        self._rows_key = _fingerprint(work)
        self.estimators_ = in_threads(
            lambda seed: work.fit(base, self._counts(work, seed), seed), self._seeds, stage="models"
        )
        out_of_bag = self._follow(work)
        self._score_out_of_bag(work.codes, out_of_bag, work.weight)
        self._keep_out_of_bag(out_of_bag, work.order)

    def _counts(self, work: OrderedRows, seed: int) -> IntArray:
        """Return how often a model has drawn each row."""
        size = max(1, round(self.max_samples * work.copies))
        if not self.bootstrap:
            size = min(size, len(work.y))
        return work.draw(seed, size, replace=self.bootstrap)

    def _follow(self, work: OrderedRows) -> FloatArray:
        """Follow the errors as models come in; return the out-of-bag averages."""
        loss = get_loss(None, self.card.task)
        total: Any = 0.0
        bag_total: Any = 0.0
        bag_count = np.zeros(len(work.y))
        train: list[float] = []
        judged: list[tuple[float, float]] = []
        all_outputs = self._all_outputs(self.estimators_, work.X)
        for seed, outputs in zip(self._seeds, all_outputs, strict=True):
            out = self._counts(work, seed) == 0
            shape = (-1,) + (1,) * (outputs.ndim - 1)
            total = total + outputs
            bag_total = bag_total + np.where(out.reshape(shape), outputs, 0.0)
            bag_count += out
            losses = loss.of_rows(work.codes, self._decided(total / (len(train) + 1)))
            train.append(np.average(losses, weights=work.weight))
            seen = np.flatnonzero(bag_count)
            if not len(seen):
                judged.append((np.nan, np.nan))
                continue
            average = bag_total[seen] / bag_count[seen].reshape(shape)
            losses = loss.of_rows(work.codes[seen], self._decided(average))
            judged.append(mean_and_se(losses, None if work.weight is None else work.weight[seen]))
        error, error_se = np.array(judged, dtype=np.float64).T
        n_estimators = np.arange(1, len(train) + 1)
        self.oob_path_ = Path(
            along("n_estimators", n_estimators),
            complexity=n_estimators.astype(np.float64),
            train_error=np.array(train),
            error=error,
            error_se=error_se,
            estimate="oob",
            loss=loss.title,
        )
        with np.errstate(invalid="ignore"):  # a row in every sample has no such prediction
            return bag_total / bag_count.reshape(shape)

    def permutation_importance(
        self, X: Any, y: Any, *, sample_weight: Any = None, random_state: Any = 0
    ) -> Any:
        """Return how much worse each model predicts its out-of-bag rows when a column is shuffled.

        Parameters
        ----------
        X, y, sample_weight : array-like
            The training rows, which the model does not keep, in any order.
        random_state : int or generator
            Seed of the shuffles.

        Returns
        -------
        data frame
            column, importance (mean rise of the loss over the models), std_error (of that mean)
            and z (their ratio). It says that a column is used, not in which direction, and that
            the others cannot stand in for it.

        Notes
        -----
        Cost: a prediction of the out-of-bag rows per model and column.
        """
        check_is_fitted(self)
        work = self._training(X, y, sample_weight)
        loss = get_loss(None, self.card.task)
        names = term_names(self, intercept=False)

        def of_model(task: tuple[Any, int, int]) -> FloatArray:
            model, seed, shuffle = task
            outside = np.flatnonzero(self._counts(work, seed) == 0)
            if not len(outside):
                return np.full(len(names), np.nan)
            X_out, codes = take_rows(work.X, outside), work.codes[outside]
            weight = None if work.weight is None else work.weight[outside]

            def judged(inputs: Any) -> float:
                losses = loss.of_rows(codes, self._decided(self._outputs(model, inputs)))
                return float(np.average(losses, weights=weight))

            rng = np.random.default_rng(shuffle)
            plain = judged(X_out)
            columns = range(len(names))
            return np.array([judged(_shuffled(X_out, j, rng)) - plain for j in columns])

        shuffles = seeds(random_state, len(self.estimators_))
        tasks = list(zip(self.estimators_, self._seeds, shuffles, strict=True))
        rise = np.array(in_threads(of_model, tasks, stage="importance"))
        return self._make_frame(importance_columns(names, rise))

    def _training(self, X: Any, y: Any, sample_weight: Any) -> OrderedRows:
        """Return the training rows as they were drawn from."""
        reader = clone(self)  # reading rows changes an estimator
        work = reader._prepare(reader._read(X, y, sample_weight))
        if _fingerprint(work) != self._rows_key:
            raise InputError("These are not the rows the model was fitted to; give those.")
        return work

    @available_if(_has_leaves)
    def proximity(self, X: Any) -> FloatArray:
        """Return in what share of the trees each two rows fall into the same leaf.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows to compare. At most 10,000: the answer has m^2 entries.
        """
        X = self._check_new(X)

        def leaves() -> IntArray:
            found = in_threads(lambda model: np.asarray(model.apply(X)), self.estimators_)
            return np.stack(found, axis=1).astype(np.int32)

        return proximity_of(int(X.shape[0]), leaves)


def _fingerprint(work: OrderedRows) -> int:
    """Return a number that tells these rows from others."""
    keys = row_keys(work.X, work.y)
    weight = np.ones(len(keys)) if work.weight is None else work.weight
    return int(np.bitwise_xor.reduce(keys * weight.view(np.uint64)))


def _shuffled(X: Any, j: int, rng: np.random.Generator) -> Any:
    """Return a copy of the inputs with column j in another order."""
    if not is_frame(X):
        found: Array = X.copy()
        found[:, j] = rng.permutation(X[:, j])
        return found
    frame = nw.from_native(X, eager_only=True)
    column = frame[:, j]
    return frame.with_columns(column[rng.permutation(len(column)).tolist()]).to_native()
