"""Whether test rows are among the rows a model was fitted to, as far as the model can tell.

Equal rows prove nothing by themselves: in a table of a few categories a new row has many equals.
But a new row has an equal among the training rows as often as a training row has one among the
others, because all are draws from one source. Many more equals than that mean that the test rows
were trained on.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import hypergeom

from bottega.core.smoother import Smoother
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray
from bottega.risk.cost_sensitive import CostSensitiveClassifier

_FALSE_ALARM = 1e-6
# Attributes, of estimators here and in scikit-learn, that hold training rows as they came.
_KEPT = ("X_", "X_fit_", "X_train_")
_SAME = 1e-9  # fitted values are recomputed by predict, so they are equal up to rounding


@dataclass(frozen=True)
class SeenRows:
    """How many test rows have an equal among the training rows."""

    seen: int  # test rows with an equal among the training rows
    n: int  # test rows
    twins: int  # training rows with an equal among the other training rows
    n_train: int  # training rows

    @property
    def p_value(self) -> float:
        """Probability of so many equals if the test rows are new: Fisher's exact test."""
        marked, total = self.seen + self.twins, self.n + self.n_train
        return float(hypergeom.sf(self.seen - 1, total, marked, self.n))

    @property
    def suspicious(self) -> bool:
        """Whether new rows would have so many equals with a probability below one in a million."""
        return self.seen > 0 and self.p_value < _FALSE_ALARM


def seen_rows(
    model: Any, X_test: Any, y_test: Array, predicted: Array, X_train: Any = None
) -> SeenRows | None:
    """Compare test rows with the training rows, given or kept by the model; None if neither."""
    if X_train is not None:
        return _compare(_keys(X_test), _keys(X_train))
    model, X = _innermost(model, X_test)
    kept = _rows_kept(model)
    if kept is not None and np.ndim(kept) == 2 and np.shape(kept)[1:] == np.shape(X)[1:]:
        return _compare(_keys(X), _keys(kept))
    smoother = getattr(model, "smoother_", None)
    if isinstance(smoother, Smoother) and smoother.y.ndim == 1:
        return _compare_fits(
            np.column_stack([smoother.y, smoother.fitted]),
            np.column_stack([y_test, predicted]).astype(np.float64),
        )
    return None


def _innermost(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the estimator inside searches and pipelines, and X as it gets to see it."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, CostSensitiveClassifier):
            model = model.estimator_
        elif hasattr(model, "steps"):
            if len(model.steps) > 1:
                X = model[:-1].transform(X)
            model = model.steps[-1][1]
        else:
            return model, X


def _rows_kept(model: Any) -> Any:
    search = getattr(model, "search_", None)
    if search is not None and getattr(search, "rows", None) is not None:
        return search.rows
    return next((getattr(model, name) for name in _KEPT if hasattr(model, name)), None)


def _keys(X: Any) -> list[Any]:
    """Return something that can be compared and counted for each row."""
    if is_sparse(X):
        X = X.tocsr()
        return [X[[i]].toarray().tobytes() for i in range(X.shape[0])]
    try:
        table = np.ascontiguousarray(X, dtype=np.float64) + 0.0  # minus zero is zero
        return [row.tobytes() for row in table.reshape(len(table), -1)]
    except (TypeError, ValueError):
        objects = np.asarray(X, dtype=object)
        return [tuple(map(str, row)) for row in objects.reshape(len(objects), -1)]


def _compare(test: list[Any], train: list[Any]) -> SeenRows:
    counts = Counter(train)
    return SeenRows(
        seen=sum(key in counts for key in test),
        n=len(test),
        twins=sum(count for count in counts.values() if count > 1),
        n_train=len(train),
    )


def _compare_fits(train: FloatArray, test: FloatArray) -> SeenRows:
    """Compare pairs of response and fitted value."""
    scale = np.abs(train).max(axis=0)
    scale[scale == 0] = 1.0
    tree = cKDTree(train / scale)
    near = tree.query(test / scale)[0]
    twins = 0
    if len(train) > 1:
        second = np.asarray(tree.query(train / scale, k=[2])[0])  # the first is the row itself
        twins = int(np.count_nonzero(second <= _SAME))
    return SeenRows(int(np.count_nonzero(near <= _SAME)), len(test), twins, len(train))
