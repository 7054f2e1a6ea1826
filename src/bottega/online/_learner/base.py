"""The skeleton of every learner of a stream: read a block, charge it, learn it."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.class_factors import factors_of_classes
from bottega.core.errors import InputError
from bottega.core.estimator import Estimator
from bottega.core.loaded import insist
from bottega.core.losses import Loss
from bottega.core.passes import kept_if_few
from bottega.core.rows import Rows, check_weight
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import refuse_doubled_names, refuse_masked
from bottega.online._kernels.rows import all_finite
from bottega.online._learner.epochs import ChunkEpochs, Epochs, RowEpochs


class OnlineModel(Estimator):
    """A model that learns block by block.

    A learner writes `_start` (its state before the first row) and `_learn_rows` (one pass over a
    block); `fit`, `partial_fit` and `learn_block` follow. A block that is refused leaves the model
    as it was: learners work on copies of their arrays and set attributes when a block is done.
    """

    fit_intercept: bool
    n_samples_seen_: int
    _weights: Any  # one row per vector; `_past` is what the mean over time needs, or empty
    _past: FloatArray

    _numeric: ClassVar[bool] = True  # whether truths are numbers
    _may_change: ClassVar[tuple[str, ...]] = ()  # parameters that may change in mid-stream

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn from more rows, once each.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (m, p)
            Inputs.
        y : array-like of shape (m,)
            Responses.

        Returns
        -------
        Self
            The estimator.
        """
        self._learn(X, y, charge=False)
        return self

    def learn_block(self, X: Any, y: Any) -> FloatArray:
        """Learn from more rows, once each, and return what each was charged before it was learned.

        Parameters
        ----------
        X, y
            As for `partial_fit`.

        Returns
        -------
        ndarray of shape (m,)
            The loss of predicting each row from those before it.
        """
        return self._learn(X, y, charge=True)

    def _learn(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, charge: bool
    ) -> FloatArray:
        refuse_masked(X=X, y=y, sample_weight=sample_weight)
        refuse_doubled_names(X)
        new = not hasattr(self, "n_features_in_")
        if new:  # afterwards they may not change
            self._check_params()
        else:
            self._check_same_params()
        with self._unchanged_on_error():
            X, y = self._read_block(X, y, reset=new)
            codes = self._codes(y, classes, new=new)
            weight = self._block_weight(codes, check_weight(sample_weight, X.shape[0]))
            if new:
                self._begin()
            rows = Rows.of(X, codes, weight)
            losses = self._learn_rows(rows, charge=charge)
        if not charge or rows.kept is None:
            return losses
        everything = np.zeros(X.shape[0])
        everything[rows.kept] = losses
        return everything

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        self._begin()
        self._learn_epochs(RowEpochs(work))

    def _begin(self) -> None:
        self._started_with = self._fixed_params()
        self.n_samples_seen_ = 0
        self._start()

    def _learn_epochs(self, epochs: Epochs) -> None:
        """Learn the rows of `fit`."""
        for blocks in epochs.passes(self):
            for _, rows in blocks:
                self._learn_rows(rows, charge=False)
        self.n_iter_ = getattr(self, "max_iter", 1)

    def _block_weight(self, codes: Array, weight: FloatArray | None) -> FloatArray | None:
        """Return the weights of the rows of a block; a classifier counts those of its classes."""
        return weight

    @abstractmethod
    def _start(self) -> None:
        """Set the state before the first row."""

    @abstractmethod
    def _learn_rows(self, rows: Rows, *, charge: bool) -> FloatArray:
        """Learn the rows once; return their losses, which nobody looks at without `charge`."""

    @abstractmethod
    def _charged_loss(self) -> Loss:
        """Return the loss that rows are charged."""

    def _codes(self, y: Array, classes: Any, *, new: bool) -> Array:
        """Return truths as `fit` reads them; a classifier returns the codes of its classes."""
        return y

    def _targets(self, y: Array) -> Any:
        """Return truths as the learner takes them."""
        return y

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        return self._read_block(X, y, reset=True)

    def _read_block(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Array]:
        """Return a block as float64 rows (C order or CSR) and its truths, checked.

        All but whether X is finite, for blocks that need no conversion: kernels notice that on
        their way, and `_refuse` says what was wrong.
        """
        if reset and type(X) is np.ndarray and X.ndim == 2:
            validate_data(self, X, skip_check_array=True)  # sets the number of columns
        if hasattr(self, "n_features_in_") and self._is_plain(X, y):
            return X, y
        X, y = validate_data(
            self,
            X,
            y,
            order="C",
            y_numeric=self._numeric,
            reset=reset,
            **self._input_options(),
        )
        if is_sparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X, np.ascontiguousarray(y, dtype=np.float64) if self._numeric else np.asarray(y)

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        return super()._input_options(new) | {"accept_sparse": "csr"}

    def _is_plain(self, X: Any, y: Any) -> bool:
        """Return True if a block needs no conversion: the full check costs as much as many rows."""
        if type(y) is not np.ndarray or y.ndim != 1 or hasattr(self, "feature_names_in_"):
            return False
        if y.dtype == np.float64:
            if not (y.flags.c_contiguous and all_finite(y)):
                return False
        elif self._numeric or y.dtype.kind not in "biuU":
            return False
        if type(X) is np.ndarray:
            values = X.ravel() if X.flags.c_contiguous else None
        elif is_sparse(X) and X.format == "csr" and X.has_canonical_format:
            values = X.data
        else:
            return False
        return (
            values is not None
            and values.dtype == np.float64
            and X.shape == (len(y), self.n_features_in_)
            and X.shape[0] > 0
            and X.shape[1] > 0
        )

    def _refuse(self, X: Any, why: str) -> NoReturn:
        """Raise that X is not finite, or if it is, why else the block cannot be learned."""
        self._check_new(X)
        raise InputError(why)

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        """Restore every attribute that a block has set when it turns out to be refused."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fixed_params(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.params if name not in self._may_change}

    def _check_same_params(self) -> None:
        """Raise if a parameter has changed in the middle of a stream."""
        now, before = self._fixed_params(), self._started_with
        changed = [name for name in now if now[name] != before[name]]
        if changed:
            raise InputError(
                f"{', '.join(changed)} has changed since the first rows, which were learned by "
                "another setting; call fit to start afresh."
            )

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        if not hasattr(self, "_weights"):
            return
        shape = self._vectors, self._width()
        insist(self._weights.shape == shape, "weights of another number of columns")
        for name in ("_past", "_squares"):
            memory = getattr(self, name, self._weights)
            insist(memory.shape in (shape, (shape[0], 0)), "a memory of another size")

    @property
    def _vectors(self) -> int:
        """Number of vectors of weights."""
        return 1

    def _width(self) -> int:
        """Return the number of weights: one per column, and the last for the constant 1."""
        return int(self.n_features_in_) + int(self.fit_intercept)

    def _prediction_weights(self) -> FloatArray:
        """Return the weights to predict with, one row per vector: the last or their mean."""
        check_is_fitted(self)
        if self._past.shape[1]:
            return np.asarray(self._weights - self._past / self.n_samples_seen_)
        return self._weights

    def _linear_parts(self) -> tuple[FloatArray, FloatArray]:
        """Return coefficients (one row per vector) and intercepts."""
        weights, p = self._prediction_weights(), self.n_features_in_
        if weights.shape[1] == p:
            return weights.copy(), np.zeros(len(weights))
        return weights[:, :p].copy(), weights[:, p].copy()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OnlineChunks(OnlineModel, Chunked):
    """A model that learns chunks as it learns rows in memory: one after the other.

    With ``shuffle=True`` each pass takes them in a new order, rows within their chunk.
    """

    _sparse_chunks: ClassVar[bool] = True
    in_chunks: ClassVar[str] = (
        "Chunks are learned in their order, with the answer of `fit`; with ``shuffle=True`` "
        "they come in a new order in each pass and the rows of each chunk, which is another "
        "order than that of `fit`."
    )

    def _check_chunks(self, chunks: Any, **how: Any) -> CheckedChunks:
        # All classes must be known before the first row is learned: none may be guessed.
        return super()._check_chunks(chunks, **dict.fromkeys(how, False))

    def _fit_checked(self, checked: CheckedChunks) -> None:
        self._begin()
        if getattr(self, "max_iter", 1) > 1:
            checked = kept_if_few(checked)
        self._learn_epochs(ChunkEpochs(checked, factors_of_classes(self, checked)))


class OnlineRegressor(RegressorMixin, OnlineChunks):
    """A linear regression: one vector of weights."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from more rows, once each.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (m, p)
            Inputs.
        y : array-like of shape (m,)
            Responses.
        sample_weight : array-like of shape (m,), optional
            Row weights; rows of weight zero count for nothing.

        Returns
        -------
        Self
            The estimator.
        """
        self._learn(X, y, sample_weight=sample_weight, charge=False)
        return self

    @property
    def coef_(self) -> FloatArray:
        """Weights of the columns."""
        return self._linear_parts()[0][0]

    @property
    def intercept_(self) -> float:
        """Weight of the constant, zero without `fit_intercept`."""
        return float(self._linear_parts()[1][0])


def with_constant(X: Any, intercept: bool) -> Any:
    """Return the rows with the constant 1 as their last column, if it is wanted."""
    if not intercept:
        return X
    ones: Any = np.ones((X.shape[0], 1))
    return sparse.hstack([X, ones]).tocsr() if is_sparse(X) else np.hstack([X, ones])
