"""What the forest of classes and the forest of numbers share."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bottega.core.base import Tuned
from bottega.core.errors import InputError
from bottega.core.losses import get_loss
from bottega.core.parallel import in_threads
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
    Seed,
)
from bottega.core.path import Path
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.weights import check_weight
from bottega.ensemble import _kernels_forest as kernels
from bottega.ensemble.forest_growth import Curve, Grower, Rows
from bottega.ensemble.resampling import own_order, seeds
from bottega.plot import error_against_trees_chart
from bottega.tree._grow.bins import Bins
from bottega.tree._grow.column_reader import ColumnReader
from bottega.tree._grow.structure import Tree

__all__ = ["CARD", "SHARED", "ForestBase"]

SHARED: Mapping[str, Parameter] = {
    "max_features": Auto(Integer(1), help="columns tried at each split; 'auto': by OOB error"),
    "n_trees": Integer(1, help="how many trees are grown; more never hurt, and cost time"),
    "min_leaf": Integer(1, help="fewest rows in a leaf"),
    "max_depth": OrNone(Integer(0), help="most tests above a leaf"),
    "max_leaves": OrNone(Integer(1), help="most leaves of a tree, the best splits first"),
    "categorical": AnyOf(Choice("auto"), Anything(), help="columns that are categories"),
    "replace": Boolean(help="draw rows with replacement (the bootstrap)"),
    "sample_share": Auto(
        Real(0, 1, open_low=True), help="rows drawn for a tree, as a share of all"
    ),
    "select": Choice("min", "one_se", help="rule that picks max_features from the path"),
    "random_state": Seed(help="seed of the draws; None: other draws in every fit"),
}

CARD: dict[str, Any] = {
    "method": "random_forest",
    "title": "Random forest",
    "knob": "max_features",
    "strengths": (
        "Accurate without tuning on most tables: steps, interactions and noise columns alike.",
        "Takes categories, missing values and columns on any scale as they are.",
        "Rows left out of each tree give an honest error and importance without cross-validation.",
        "More trees never overfit: the error settles.",
    ),
    "weaknesses": (
        "Cannot be read as one set of rules, and takes memory in proportion to the rows.",
        "Flat beyond the range of the data, and slow to follow a plain linear trend.",
        "Boosting is often a little more accurate where it is tuned.",
    ),
    "cost": "n_trees max_features n log n, on one byte a value",
    "source": "D186, D190, D194-D197",
    "missing": True,
    "categories": True,
    "wide": True,
    "weights": True,
}

_NO_LIMIT = 2**31 - 1
_PATH_TREES = 50  # enough for every row to be left out many times
_MOST_COPIES = 20  # whole weights count as copies while they are no more than this on average
_PROXIMITY_ROWS = 10_000


class ForestBase(Tuned):
    """Grows trees on samples of rows, a few columns tried at each split, and averages them."""

    knob: ClassVar[str] = "max_features"
    max_features: int | str
    n_trees: int
    min_leaf: int
    max_depth: int | None
    max_leaves: int | None
    categorical: Any
    replace: bool
    sample_share: float | str
    random_state: Any

    # ---- what the two kinds of response differ in -----------------------------------------------

    @abstractmethod
    def _read_response(self, y: Any) -> tuple[FloatArray, int]:
        """Return the responses as numbers (classes as codes), and the number of classes."""

    @abstractmethod
    def _criterion(self, n_classes: int) -> int:
        """Return the number of the impurity that is grown by."""

    @abstractmethod
    def _decide(self, means: FloatArray) -> Array:
        """Return the predictions (class codes) of mean leaf values (rows, V)."""

    @abstractmethod
    def _keep_oob(self, means: FloatArray) -> None:
        """Keep the out-of-bag means of the rows; NaN where a row was in every sample."""

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest; with ``max_features="auto"``, first choose how many columns to try.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs: numbers, booleans, dates, texts and categories; missing values are allowed.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights. Whole numbers count as copies of the row; other weights multiply the
            copies that a sample has drawn. Rows of weight 0 do not count.

        Returns
        -------
        ForestBase
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        X, y, weight = self._validate(X, y, sample_weight)
        self._seeds = seeds(self.random_state, self.n_trees)
        rows, order = self._rows(X, y, weight)
        self.__dict__.pop("path_", None)  # of an earlier fit
        if isinstance(self.max_features, str):
            self.path_ = self._curve(rows, None)
            picked = int(self.path_.values[self.path_.best(self.select)])
        else:
            picked = int(self.max_features)
        grower = self._grower(rows, picked)
        forest, curve = grower.grow(self._seeds)
        assert forest is not None
        self.max_features_ = picked
        self.forest_ = forest
        self._rows_in, self._order = rows, order
        self.importance_ = curve.importance / self.n_trees
        self.oob_path_ = self._trees_path(curve)
        self.oob_error_ = float(curve.error[-1])
        means = np.full((len(X), grower.n_values), np.nan)
        with np.errstate(invalid="ignore"):
            means[order] = curve.outside / curve.n_outside[:, None]
        self._keep_oob(means)
        return self

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        y, self._n_classes = self._read_response(y)
        self.columns_in_ = ColumnReader(self.categorical)
        columns = self.columns_in_.fit(self, X)
        check_consistent_length(columns.X, y)
        weight = check_weight(sample_weight, len(y))
        self._categorical, self._n_levels = columns.categorical, columns.n_levels
        p = columns.X.shape[1]
        if p >= 2**20:
            raise InputError(f"X has {p} columns; a forest takes fewer than {2**20}.")
        if not isinstance(self.max_features, str):
            self._check_features([self.max_features], p)
        return columns.X, y, weight

    def _check_features(self, values: Any, p: int) -> IntArray:
        given = np.unique(np.asarray(values))
        if not len(given) or given.dtype.kind not in "iu" or given[0] < 1 or given[-1] > p:
            raise InputError(
                f"max_features={values!r} is not allowed; X has {p} columns, so give whole "
                f"numbers from 1 to {p}."
            )
        return given.astype(np.int64)

    def _rows(
        self, X: FloatArray, y: FloatArray, weight: FloatArray | None
    ) -> tuple[Rows, IntArray]:
        """Return the rows that count, binned, in an order that does not depend on theirs."""
        order = own_order(X, y)
        positions = np.zeros(0, dtype=np.int64)
        if weight is None:
            w = np.ones(len(y))
        else:
            order = order[weight[order] > 0]
            w = weight[order]
            if np.all(w == np.round(w)) and w.sum() <= _MOST_COPIES * len(w):
                positions = np.repeat(np.arange(len(w)), w.astype(np.int64))
        learnt_from = order if not len(positions) else order[positions]
        bins = Bins.learn(X, self._categorical, self._n_levels, learnt_from)
        found = Rows(bins, bins.encode(X, order), y[order], w, positions, self._n_classes)
        return found, order

    def _grower(self, rows: Rows, max_features: int) -> Grower:
        there = len(rows.positions) or len(rows.y)
        share = self.sample_share
        if isinstance(share, str):
            share = 1.0 if self.replace else 0.632
        return Grower(
            rows,
            self._criterion(rows.n_classes),
            max_features,
            max(1, round(float(share) * there)),
            self.replace,
            _NO_LIMIT if self.max_depth is None else self.max_depth,
            _NO_LIMIT if self.max_leaves is None else self.max_leaves,
            self.min_leaf,
        )

    # ---- the paths ------------------------------------------------------------------------------

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        self._seeds = seeds(self.random_state, self.n_trees)
        rows, _ = self._rows(X, y, sample_weight)
        return self._curve(rows, values)

    def _curve(self, rows: Rows, values: Any) -> Path:
        """Return the out-of-bag error over the number of columns tried."""
        p = rows.codes.shape[1]
        if values is None:
            tried = [np.log2(p), np.sqrt(p), p / 3, p / 2, p]
            values = np.maximum(1, np.round(tried)).astype(np.int64)
        values = self._check_features(values, p)
        few = self._seeds[:_PATH_TREES]
        curves = [
            self._grower(rows, int(value)).grow(few, keep=False, stage="max_features")[1]
            for value in values
        ]
        if not np.all(np.isfinite([curve.error[-1] for curve in curves])):
            raise InputError(
                f"Choosing max_features needs rows that a tree has not drawn, and among "
                f"{len(rows.y)} rows there is none (n_samples = {len(rows.y)}); give max_features, "
                "or more rows."
            )
        return Path(
            self.knob,
            values,
            df=values.astype(np.float64),
            train_error=np.array([curve.train_error[-1] for curve in curves]),
            error=np.array([curve.error[-1] for curve in curves]),
            error_se=np.array([curve.error_se[-1] for curve in curves]),
            estimate="oob",
            loss=get_loss(None, type(self).card.task).title,
        )

    def _trees_path(self, curve: Curve) -> Path:
        """Return the out-of-bag error over the number of trees."""
        n_trees = np.arange(1, len(curve.sums) + 1)
        return Path(
            "n_trees",
            n_trees,
            df=n_trees.astype(np.float64),
            train_error=curve.train_error,
            error=curve.error,
            error_se=curve.error_se,
            estimate="oob",
            loss=get_loss(None, type(self).card.task).title,
        )

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        rows, _ = self._rows(X, y, sample_weight)
        codes = rows.bins.encode(X_new)
        found = []
        for value in values:
            forest, _ = self._grower(rows, int(value)).grow(self._seeds)
            assert forest is not None
            found.append(self._decide(forest.predict(codes)))
        return np.stack(found, axis=1)

    # ---- predicting -----------------------------------------------------------------------------

    def _codes(self, X: Any) -> Array:
        check_is_fitted(self)
        return self._rows_in.bins.encode(self.columns_in_.read(self, X))

    def _means(self, X: Any) -> FloatArray:
        """Return the mean leaf values of new rows."""
        codes = self._codes(X)
        return self.forest_.predict(codes)

    def staged_error(self, X: Any, y: Any) -> FloatArray:
        """Return the mean loss on given rows after 1, 2, ... trees.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows that were not used to fit.
        y : array-like of shape (m,)
            Their responses.
        """
        codes = self._codes(X)
        y = self._codes_of(y)
        check_consistent_length(codes, y)
        task = type(self).card.task
        total = np.zeros((len(codes), self.forest_.values.shape[1]))
        found = np.empty(self.forest_.n_trees)
        for tree in range(self.forest_.n_trees):
            total += self.forest_.predict(codes, tree, tree + 1)
            found[tree] = get_loss(None, task).of_rows(y, self._decide(total / (tree + 1))).mean()
        return found

    def plot(self, X: Any = None, y: Any = None) -> Any:
        """Draw the training and the out-of-bag error against the number of trees.

        Parameters
        ----------
        X, y : array-like, optional
            Rows that were not used to fit: their error is drawn too.

        Returns
        -------
        altair.LayerChart
        """
        check_is_fitted(self)
        curve = self.oob_path_
        return error_against_trees_chart(
            curve.values,
            train=curve.train_error,
            oob=curve.error,
            test=None if X is None else self.staged_error(X, y)[curve.values - 1],
            loss=curve.loss,
        )

    @abstractmethod
    def _codes_of(self, y: Any) -> Array:
        """Return the responses of new rows as numbers (classes as codes, -1 for a new one)."""

    # ---- looking into the forest ----------------------------------------------------------------

    def tree(self, i: int) -> Tree:
        """Return tree i, with thresholds on the scale of the inputs; it is grown once more."""
        check_is_fitted(self)
        if not 0 <= i < self.n_trees_:
            raise InputError(
                f"There is no tree {i}; the forest has the trees 0 to {self.n_trees_ - 1}."
            )
        return self._grower(self._rows_in, self.max_features_).tree(self._seeds[i])

    @property
    def n_trees_(self) -> int:
        """Number of trees."""
        check_is_fitted(self)
        return self.forest_.n_trees

    def permutation_importance(self, *, random_state: Any = 0) -> Any:
        """Return how much worse each tree predicts its out-of-bag rows when a column is shuffled.

        Parameters
        ----------
        random_state : int or generator
            Seed of the shuffles.

        Returns
        -------
        data frame
            column, importance (mean rise of the loss over the trees), std_error (of that mean)
            and z (their ratio). It says that a column is used, not in which direction, and that
            the others cannot stand in for it.

        Notes
        -----
        Cost: a walk of the out-of-bag rows a tree and column.
        """
        check_is_fitted(self)
        rise = self._rises(seeds(random_state, self.n_trees_))
        n_trees = np.sum(np.isfinite(rise), axis=0)
        mean = np.nanmean(rise, axis=0)
        std_error = np.nanstd(rise, axis=0, ddof=1) / np.sqrt(n_trees)
        z = np.divide(mean, std_error, out=np.zeros_like(mean), where=std_error > 0)
        return self._make_frame(
            {"column": self.columns_in_.names, "importance": mean, "std_error": std_error, "z": z}
        )

    def _rises(self, shuffles: list[int]) -> FloatArray:
        """Return the rise of the out-of-bag loss: (trees, columns)."""
        rows, forest = self._rows_in, self.forest_
        grower = self._grower(rows, self.max_features_)
        p = rows.codes.shape[1]

        def of_tree(tree: int) -> FloatArray:
            outside = np.flatnonzero(grower.counts(self._seeds[tree]) == 0)
            if not len(outside):
                return np.full(p, np.nan)
            rng = np.random.default_rng(shuffles[tree])
            data = (*forest.of_tree(tree), rows.y, rows.weight, rows.n_classes)
            words = forest.words[forest.tree_start[tree] : forest.tree_start[tree + 1]]
            inner = words[(words >> np.uint64(62)) == 0]
            used = np.unique((inner >> np.uint64(32)) & np.uint64(0xFFFFF)).astype(np.int64)
            plain = kernels.permuted_loss(rows.codes, outside, outside, p, *data)
            rise = np.zeros(p)
            for j in used:
                donors = rng.permutation(outside)
                rise[j] = kernels.permuted_loss(rows.codes, outside, donors, j, *data) - plain
            return rise

        return np.array(in_threads(of_tree, range(forest.n_trees), stage="importance"))

    def proximity(self, X: Any = None) -> FloatArray:
        """Return in what share of the trees each two rows fall into the same leaf.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p), optional
            Rows to compare; the training rows by default. At most 10,000: the answer has m^2
            entries.
        """
        check_is_fitted(self)
        codes = self._rows_in.codes if X is None else self._codes(X)
        if len(codes) > _PROXIMITY_ROWS:
            raise InputError(
                f"The proximities of {len(codes)} rows are {len(codes)}^2 numbers; give at most "
                f"{_PROXIMITY_ROWS} rows as X."
            )
        found: FloatArray = kernels.same_leaf(self.forest_.leaves(codes))
        if X is not None:
            return found
        back = np.argsort(self._order)  # rows of weight 0 are not among them
        return found[np.ix_(back, back)]

    def summary(self) -> Summary:
        """Return size, errors and importance as a table that shows itself as text and HTML."""
        check_is_fitted(self)
        facts = {
            "rows": len(self._rows_in.y),
            "trees": self.n_trees_,
            "columns tried": self.max_features_,
            "leaves a tree": float(self.forest_.n_leaves.mean()),
            "training error": float(self.oob_path_.train_error[-1]),
            "OOB error": self.oob_error_,
        }
        names = np.array(self.columns_in_.names)
        top = np.argsort(-self.importance_, kind="stable")[:30]
        return Summary(
            type(self).__name__,
            (
                Section("", {name: [value] for name, value in facts.items()}),
                Section(
                    "Importance",
                    {"column": names[top].tolist(), "gain": self.importance_[top].tolist()},
                ),
            ),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
