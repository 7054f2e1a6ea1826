"""What bagged classifiers and regressors share: fits to samples, judged by left-out rows."""

from collections.abc import Iterator, Mapping
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
from bottega.core.rows import Rows
from bottega.core.seeds import seeds_of
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._combination.average import Average
from bottega.ensemble._combination.models import losses_of_rows
from bottega.ensemble._resampling.draws import draw_rows, sample_size
from bottega.ensemble._resampling.left_out import (
    OutOfBag,
    WarmStart,
    importance_columns,
    proximity_of,
)
from bottega.ensemble._resampling.samples import OrderedRows, take_columns
from bottega.tree._grow.options import count_features


def _has_leaves(self: Any) -> bool:
    return hasattr(self._bases()[0], "apply")


class Bagged(OutOfBag, WarmStart, Average):
    """The average of one base fitted to many samples of the rows."""

    def _settle(self, work: OrderedRows, setting: Mapping[str, Any]) -> None:
        self.estimator_ = self._bases()[0]
        earlier, self._seeds = self._begin()
        self._rows_key = work.key
        self._drawn = (work.order, work.weight, self._size(work))
        p = self.n_features_in_
        n_features = count_features(self.max_features, p)
        every = n_features == p and not self.bootstrap_features
        self._all_features = every
        self.estimators_features_ = [
            np.arange(p) if every else self._draw_features(seed, p, n_features)
            for seed in self._seeds
        ]
        done = [] if earlier is None else earlier["estimators_"]

        def fit_one(i: int) -> Any:
            columns = None if every else self.estimators_features_[i]
            return work.fit(self.estimator_, self._counts(i), self._seeds[i], columns)

        new = range(len(done), len(self._seeds))
        self.estimators_ = [*done, *in_threads(fit_one, new, stage="models", elsewhere=True)]
        # Models of an earlier fit to other rows have not left out any of these.
        same_rows = earlier is None or earlier["_rows_key"] == self._rows_key
        if self._judges and same_rows:
            out_of_bag = self._follow(work)
            self._score_out_of_bag(work.codes, out_of_bag, work.weight)
            self._keep_out_of_bag(out_of_bag, work.order)

    def _size(self, work: OrderedRows) -> int:
        """Return how many rows a sample has."""
        return sample_size(self.max_samples, work.copies, None if self.bootstrap else len(work.y))

    def _draw_features(self, seed: int, p: int, size: int) -> IntArray:
        rng = np.random.default_rng([seed, 1])  # another stream than that of the rows
        if self.bootstrap_features:
            return rng.integers(p, size=size)
        return np.sort(rng.permutation(p)[:size])

    def _counts(self, i: int) -> IntArray:
        """Return how often model i has drawn each row, in their own order."""
        order, weight, size = self._drawn
        return draw_rows(
            len(order), size, self._seeds[i], replace=bool(self.bootstrap), weight=weight
        )

    @property
    def estimators_samples_(self) -> list[IntArray]:
        """The rows that each model has drawn, repeated as often as they were."""
        check_is_fitted(self)
        places = self._drawn[0] if self._kept is None else self._kept[self._drawn[0]]
        return [np.repeat(places, self._counts(i)) for i in range(len(self.estimators_))]

    def _restore(self, rows: Rows) -> None:
        super()._restore(rows)
        self._kept = rows.kept

    _kept: IntArray | None = None

    def __len__(self) -> int:
        """Return the number of fitted models."""
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        """Return a fitted model."""
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the fitted models."""
        return iter(self.estimators_)

    def _seen_by(self, model: Any, X: Any) -> Any:
        """Return the columns that a model has drawn."""
        if self._all_features:
            return X
        i = next(i for i, each in enumerate(self.estimators_) if each is model)
        return take_columns(X, self.estimators_features_[i])

    def _follow(self, work: OrderedRows) -> FloatArray:
        """Follow the errors as models come in; return the out-of-bag averages."""
        loss = get_loss(None, self.card.task)
        total: Any = 0.0
        bag_total: Any = 0.0
        bag_count = np.zeros(len(work.y))
        train: list[float] = []
        judged: list[tuple[float, float]] = []
        all_outputs = self._all_outputs(self.estimators_, work.X)
        for i, outputs in enumerate(all_outputs):
            out = self._counts(i) == 0
            shape = (-1,) + (1,) * (outputs.ndim - 1)
            total = total + outputs
            bag_total = bag_total + np.where(out.reshape(shape), outputs, 0.0)
            bag_count += out
            losses = losses_of_rows(loss, work.codes, self._decided(total / (i + 1)))
            train.append(np.average(losses, weights=work.weight))
            seen = np.flatnonzero(bag_count)
            if not len(seen):
                judged.append((np.nan, np.nan))
                continue
            average = bag_total[seen] / bag_count[seen].reshape(shape)
            losses = losses_of_rows(loss, work.codes[seen], self._decided(average))
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
        random_state : int, RandomState, Generator or None
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

        def of_model(task: tuple[int, int]) -> FloatArray:
            i, shuffle = task
            model = self.estimators_[i]
            outside = np.flatnonzero(self._counts(i) == 0)
            if not len(outside):
                return np.full(len(names), np.nan)
            X_out, codes = take_rows(work.X, outside), work.codes[outside]
            weight = None if work.weight is None else work.weight[outside]

            def judged(inputs: Any) -> float:
                losses = losses_of_rows(loss, codes, self._decided(self._outputs(model, inputs)))
                return float(np.average(losses, weights=weight))

            rng = np.random.default_rng(shuffle)
            plain = judged(X_out)
            columns = range(len(names))
            return np.array([judged(_shuffled(X_out, j, rng)) - plain for j in columns])

        shuffles = seeds_of(random_state, len(self.estimators_))
        rise = np.array(
            in_threads(of_model, list(enumerate(shuffles)), stage="importance", elsewhere=True)
        )
        return self._make_frame(importance_columns(names, rise))

    def _training(self, X: Any, y: Any, sample_weight: Any) -> OrderedRows:
        """Return the training rows as they were drawn from."""
        reader = clone(self)  # reading rows changes an estimator
        work = reader._prepare(reader._read(X, y, sample_weight))
        if work.key != self._rows_key:
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
            found = in_threads(
                lambda model: np.asarray(model.apply(self._seen_by(model, X))), self.estimators_
            )
            return np.stack(found, axis=1).astype(np.int32)

        return proximity_of(int(X.shape[0]), leaves)


def _shuffled(X: Any, j: int, rng: np.random.Generator) -> Any:
    """Return a copy of the inputs with column j in another order."""
    if not is_frame(X):
        found: Array = X.copy()
        found[:, j] = rng.permutation(X[:, j])
        return found
    frame = nw.from_native(X, eager_only=True)
    column = frame[:, j]
    return frame.with_columns(column[rng.permutation(len(column)).tolist()]).to_native()
