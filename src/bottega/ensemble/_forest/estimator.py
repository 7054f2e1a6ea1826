"""What the forest of classes and the forest of numbers share: growing, choosing, predicting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.core import params
from bottega.core.errors import InputError
from bottega.core.judge import mean_and_se
from bottega.core.losses import Loss, get_loss
from bottega.core.path import Path, along
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._forest.growth import BinnedRows, Grower, Grown, Tally
from bottega.ensemble._resampling.draws import own_order, seeds
from bottega.ensemble._resampling.left_out import OutOfBag
from bottega.tree._grow.binned import NO_LIMIT
from bottega.tree._grow.bins import Bins
from bottega.tree._grow.column_reader import read_columns

SHARED: Mapping[str, params.Parameter] = {
    "max_features": params.AnyOf(
        params.Choice("auto", "sqrt", "log2"),
        params.Integer(1),
        params.Real(0, 1, open_low=True),
        help="columns tried at each split, or their share; 'auto': by OOB error",
    ),
    "n_estimators": params.Integer(
        1, help="how many trees are grown; more never hurt, and cost time"
    ),
    "min_samples_leaf": params.Integer(1, help="fewest rows in a leaf"),
    "max_depth": params.OrNone(params.Integer(0), help="most tests above a leaf"),
    "max_leaf_nodes": params.OrNone(
        params.Integer(1), help="most leaves of a tree, the best splits first"
    ),
    "categorical_features": params.AnyOf(
        params.Choice("auto"), params.Anything(), help="columns that are categories"
    ),
    "bootstrap": params.Boolean(help="draw rows with replacement (the bootstrap)"),
    "max_samples": params.Auto(
        params.Real(0, 1, open_low=True), help="rows drawn for a tree, as a share of all"
    ),
    "select": params.Choice("min", "one_se", help="rule that picks max_features from the path"),
    "random_state": params.Seed(help="seed of the draws; None: other draws in every fit"),
}

CARD: dict[str, Any] = {
    "method": "random_forest",
    "title": "Random forest",
    "strengths": (
        "Accurate without tuning on most tables: steps, interactions and noise columns alike.",
        "Drawing columns decorrelates the trees more than bagging does, as inputs are usually "
        "correlated; the variance is lower.",
        "Does not overfit with more trees: the error settles.",
        "Takes categories, missing values and columns on any scale as they are.",
        "Rows left out of each tree give an honest error without cross-validation.",
        "Ranks the inputs by importance (though not the direction of their effects).",
        "Trees grow side by side.",
    ),
    "weaknesses": (
        "The readability of a tree is lost, and memory grows with the rows.",
        "Importance comes without a test of significance.",
        "Flat beyond the range of the data, and slow to follow a plain linear trend.",
        "Boosting is often a little more accurate where it is tuned.",
    ),
    "assumptions": (
        "Rows are independent, so that the rows a tree has not drawn judge it honestly.",
        "Columns drawn at a split are often enough of use: with few useful columns among many, "
        "more must be tried.",
    ),
    "cost": "n_estimators max_features n log n, on one byte per value",
    "source": "D186, D190, D194-D197, D254j",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
}

_PATH_TREES = 50  # enough for every row to be left out many times
_MOST_COPIES = 20  # whole weights count as copies while they are no more than this on average
_KEPT_ROWS = 20_000  # trees of the path are kept for the fit while they are small


@dataclass(frozen=True, eq=False)
class ForestWork:
    """The binned rows, their places among the rows that count, and the trees of the path."""

    rows: BinnedRows
    order: IntArray
    grown: dict[int, Grown] = field(default_factory=dict)


class ForestBase(OutOfBag, Tuned):
    """Grows trees on samples of rows, a few columns tried at each split, and averages them.

    A subclass gives `_criterion(n_classes)`, the number of the impurity that is grown by, and
    `_predicted(means, method)`, what mean leaf values (rows, V) predict (class codes).
    """

    knob: ClassVar[str] = "max_features"

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        columns, y = read_columns(self, X, y)
        p = columns.X.shape[1]
        if p >= 2**20:
            raise InputError(f"X has {p} columns; a forest takes fewer than {2**20}.")
        return columns, y

    def _prepare(self, rows: Rows) -> ForestWork:
        """Bin the rows, in an order that does not depend on theirs."""
        if not hasattr(self, "_seeds"):  # the folds of a path grow their trees from the same
            self._seeds = seeds(self.random_state, self.n_estimators)
        columns, y = rows.X, np.asarray(rows.y, dtype=np.float64)
        order = own_order(columns.X, y)
        w = rows.weights[order]
        positions = np.zeros(0, dtype=np.int64)
        if (
            rows.weight is not None
            and np.all(w == np.round(w))
            and w.sum() <= _MOST_COPIES * len(w)
        ):
            positions = np.repeat(np.arange(len(w)), w.astype(np.int64))
        learnt_from = order if not len(positions) else order[positions]
        bins = Bins.learn(columns.X, columns.categorical, columns.n_levels, learnt_from)
        n_classes = len(self.classes_) if is_classifier(self) else 0
        codes = bins.encode(columns.X, order)
        return ForestWork(BinnedRows(bins, codes, y[order], w, positions, n_classes), order)

    def _settle(self, work: ForestWork, setting: Mapping[str, Any]) -> None:
        picked = int(setting[self.knob])
        grown = self._grow(work, picked)
        self.max_features_ = picked
        self.forest_ = grown.forest
        self._rows_in, self._order = work.rows, work.order
        self.feature_importances_ = grown.tally.importance / self.n_estimators
        self.oob_path_ = self._trees_path(grown.tally)
        out_of_bag = self._predicted(grown.tally.means, "predict_proba")
        self._score_out_of_bag(work.rows.responses, out_of_bag, work.rows.weight)
        self._keep_out_of_bag(out_of_bag, work.order)

    def _grow(self, work: ForestWork, max_features: int) -> Grown:
        """Return the whole forest; the trees that the path has grown are not grown again."""
        done = work.grown.get(max_features)
        start = 0 if done is None else len(done.trees)
        if done is not None and start == self.n_estimators:
            return done
        grower = self._grower(work.rows, max_features)
        return grower.grow(self._seeds[start:], done, stage="trees")

    def _path_tally(self, work: ForestWork, max_features: int) -> Tally:
        """Return how the first trees of a forest do."""
        done = work.grown.get(max_features)
        if done is None:
            keep = len(work.rows.y) <= _KEPT_ROWS
            grower = self._grower(work.rows, max_features)
            done = grower.grow(self._seeds[:_PATH_TREES], keep=keep, stage="max_features")
            if keep:
                work.grown[max_features] = done
        return done.tally

    def _grower(self, rows: BinnedRows, max_features: int) -> Grower:
        there = len(rows.positions) or len(rows.y)
        share = self.max_samples
        if isinstance(share, str):
            share = 1.0 if self.bootstrap else 0.632
        return Grower(
            rows,
            self._criterion(rows.n_classes),
            max_features,
            max(1, round(float(share) * there)),
            self.bootstrap,
            NO_LIMIT if self.max_depth is None else self.max_depth,
            NO_LIMIT if self.max_leaf_nodes is None else self.max_leaf_nodes,
            self.min_samples_leaf,
        )

    def _given(self, work: ForestWork) -> dict[str, Any] | None:
        p = work.rows.codes.shape[1]
        given = self.max_features
        if isinstance(given, str):
            if given == "auto":
                return None
            given = max(1, int(np.log2(p) if given == "log2" else np.sqrt(p)))
        elif not isinstance(given, int | np.integer):
            given = max(1, int(given * p))
        return {self.knob: int(_check_features([given], p)[0])}

    def _path(self, work: ForestWork, values: Any, loss: Loss | None) -> Path:
        """Return the out-of-bag error over the number of columns tried."""
        p = work.rows.codes.shape[1]
        if values is None:
            tried = [np.log2(p), np.sqrt(p), p / 3, p / 2, p]
            values = np.maximum(1, np.round(tried)).astype(np.int64)
        values = _check_features(values, p)
        tallies = [self._path_tally(work, int(value)) for value in values]
        error = error_se = None
        if loss is not None:
            judged = [self._judged(work.rows, tally, loss) for tally in tallies]
            error, error_se = np.array(judged).T
        return Path(
            along(self.knob, values),
            complexity=values.astype(np.float64),
            train_error=np.array([tally.train_error[-1] for tally in tallies]),
            error=error,
            error_se=error_se,
            estimate=None if loss is None else "oob",
            loss=get_loss(None, self.card.task).title,
        )

    def _judged(self, rows: BinnedRows, tally: Tally, loss: Loss) -> tuple[float, float]:
        """Return the mean loss of the rows that some tree has not drawn, and its standard error."""
        left_out = np.flatnonzero(tally.n_outside)
        if not len(left_out):
            raise InputError(
                f"Choosing max_features needs rows that a tree has not drawn, and among "
                f"{len(rows.y)} rows there is none (n_samples = {len(rows.y)}); give max_features, "
                "or more rows."
            )
        predicted = self._predicted(tally.means[left_out], loss.method)
        weight = rows.weight[left_out] if rows.weighted else None
        mean, se = mean_and_se(loss.of_rows(rows.responses[left_out], predicted), weight)
        return float(mean), float(se)

    def _train_error(
        self, work: ForestWork, rows: Rows, settings: Sequence[Mapping[str, Any]], loss: Loss
    ) -> FloatArray:
        found = []
        for setting in settings:
            tally = self._path_tally(work, setting[self.knob])
            predicted = self._predicted(tally.inside / len(tally.sums), loss.method)
            losses = loss.of_rows(work.rows.responses, predicted)
            found.append(np.average(losses, weights=work.rows.weight))
        return np.array(found)

    def _trees_path(self, tally: Tally) -> Path:
        """Return the out-of-bag error over the number of trees."""
        n_trees = np.arange(1, len(tally.sums) + 1)
        return Path(
            along("n_estimators", n_trees),
            complexity=n_trees.astype(np.float64),
            train_error=tally.train_error,
            error=tally.error,
            error_se=tally.error_se,
            estimate="oob",
            loss=get_loss(None, self.card.task).title,
        )

    def _predictions(
        self, work: ForestWork, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        codes = work.rows.bins.encode(X_new.X)
        found = []
        for setting in settings:
            forest = self._grow(work, int(setting[self.knob])).forest
            found.append(self._predicted(forest.predict(codes), method))
        return np.stack(found, axis=1)

    def _codes(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._rows_in.bins.encode(self.columns_in_.read(self, X))

    def _means(self, X: Any) -> FloatArray:
        """Return the mean leaf values of new rows."""
        codes = self._codes(X)
        return self.forest_.predict(codes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _check_features(values: Any, p: int) -> IntArray:
    given = np.unique(np.asarray(values))
    if not len(given) or given.dtype.kind not in "iu" or given[0] < 1 or given[-1] > p:
        raise InputError(
            f"max_features={values!r} is not allowed; X has {p} columns, so give whole numbers "
            f"from 1 to {p}."
        )
    return given.astype(np.int64)
