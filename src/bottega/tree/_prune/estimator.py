"""What the tree of classes and the tree of numbers share: fitting, the path, reading."""

from abc import abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length

from bottega.core.base import Tuned
from bottega.core.errors import InputError
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
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.weights import check_weight
from bottega.tree._grow.column_reader import ColumnReader
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.exact import grow
from bottega.tree._grow.options import GrowOptions
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels import prune as kernels
from bottega.tree._kernels.walk import apply
from bottega.tree._prune import sequence as prune
from bottega.tree._prune.held_out import (
    Fold,
    check_alphas,
    held_out_error,
    held_out_folds,
    members_shown,
    split_off,
    sums_at,
)
from bottega.tree._prune.sequence import PruningSequence
from bottega.tree._read.fitted import TreeReading

__all__ = ["CARD", "SHARED", "TreeBase"]

SHARED: Mapping[str, Parameter] = {
    "alpha": Auto(Real(0, None, log=True), help="price of a leaf; 0: the tree as it is grown"),
    "n_leaves": OrNone(Integer(1), help="most leaves, instead of alpha"),
    "thresholds": Choice(
        "exact", "binned", "uniform", "random", help="where a number may be split"
    ),
    "n_thresholds": Integer(1, help="candidates a node with 'uniform' and 'random'"),
    "categorical": AnyOf(Choice("auto"), Anything(), help="columns that are categories"),
    "multiway": Boolean(help="give each level of a category its own branch"),
    "missing": Choice("direction", "surrogate", help="where rows with missing values go"),
    "n_surrogates": Integer(0, help="most substitute tests a split keeps"),
    "max_depth": OrNone(Integer(0), help="most tests above a leaf"),
    "max_leaves": OrNone(Integer(1), help="most leaves grown"),
    "min_split": Integer(2, help="fewest rows in a node that is split"),
    "min_leaf": Integer(1, help="fewest rows in a leaf"),
    "min_gain": Real(0, None, help="least decrease of impurity that a split must bring"),
    "min_impurity": Real(0, None, help="a node this pure is not split"),
    "monotone": Anything(help="-1, 0 or 1 a column: the response may only fall or rise with it"),
    "cv": AnyOf(Integer(2), Anything(), help="folds that judge the path, or a share held out"),
    "validation": Real(
        0, 1, open_low=True, open_high=True, help="share held out by select='reduced_error'"
    ),
    "random_state": Seed(help="seed of thresholds='random'"),
}

CARD: dict[str, Any] = {
    "method": "tree",
    "title": "Decision tree",
    "knob": "alpha",
    "strengths": (
        "A small tree is read and explained by anyone.",
        "Takes categories, missing values and columns on any scale as they are.",
        "Finds interactions and picks the columns that matter by itself.",
        "Its whole pruning path is judged in one pass over the folds.",
    ),
    "weaknesses": (
        "Unstable: other rows of the same kind may give quite another tree.",
        "Steps cannot follow a smooth or slanting truth without many leaves.",
        "Often less accurate than an ensemble of trees.",
    ),
    "cost": "n p (log n + depth) a tree, one for the data and one a fold",
    "source": "A26-A33, A40-A46, A55, C08-C18, D140-D149, D179-D183, M201-M228",
    "missing": True,
    "categories": True,
    "wide": True,
    "weights": True,
}


class TreeBase(TreeReading, Tuned):
    """Grows a tree, prunes it along its weakest-link sequence, and reads it."""

    knob: ClassVar[str] = "alpha"
    alpha: float | str
    n_leaves: int | None
    thresholds: str
    n_thresholds: int
    categorical: Any
    multiway: bool
    missing: str
    n_surrogates: int
    max_depth: int | None
    max_leaves: int | None
    min_split: int
    min_leaf: int
    min_gain: float
    min_impurity: float
    monotone: Any
    cv: Any
    validation: float
    random_state: Any

    # ---- what the two kinds of response differ in -----------------------------------------------

    @abstractmethod
    def _read_response(self, y: Any, weight: FloatArray | None) -> Array:
        """Return the responses as numbers, or as class codes."""

    @abstractmethod
    def _check_response(self, y: Any) -> Array:
        """Return the responses as a checked vector."""

    @abstractmethod
    def _criterion(self) -> str:
        """Return the impurity that is grown by."""

    @abstractmethod
    def _target(self, y: Array, w: FloatArray | None) -> dict[str, Any]:
        """Return what `grow` must know of the classes."""

    @abstractmethod
    def _sequence(self, tree: Tree, target: dict[str, Any]) -> PruningSequence:
        """Return the pruning sequence of a tree."""

    @abstractmethod
    def _losses(
        self, tree: Tree, leaf: IntArray, y: Array, w: FloatArray | None, target: dict[str, Any]
    ) -> FloatArray:
        """Return the sums of the losses of rows at the nodes."""

    @abstractmethod
    def _reduced(self, tree: Tree, X: FloatArray, y: Array, w: Any, target: dict[str, Any]) -> Tree:
        """Return a tree cut back by validation rows."""

    @abstractmethod
    def _criteria(
        self,
        tree: Tree,
        sequence: PruningSequence,
        alphas: FloatArray,
        w: FloatArray | None,
        target: dict[str, Any],
    ) -> dict[str, FloatArray]:
        """Return criteria along the path besides the honest error."""

    @abstractmethod
    def _predictions(self, tree: Tree) -> Array:
        """Return what each node predicts, as class codes or numbers."""

    @property
    def _classifier(self) -> bool:
        return type(self).card.task == "classification"

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree and prune it.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs: numbers, booleans, dates, texts and categories; missing values are allowed.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights; rows of weight 0 do not count.

        Returns
        -------
        TreeBase
            The fitted estimator.
        """
        self._check_params()
        self._check_together()
        self._remember_frame(X)
        matrix, codes, weight = self._validate(X, y, sample_weight)
        self.__dict__.pop("path_", None)  # of an earlier fit
        columns = self._columns(matrix)
        target = self._target(codes, weight)
        automatic = isinstance(self.alpha, str) and self.n_leaves is None
        if automatic and self.select == "reduced_error":
            self.alpha_ = np.nan
            self.tree_ = self._fit_reduced(columns, codes, weight, target)
        else:
            full = self._grow(columns, codes, weight, target)
            sequence = self._sequence(full, target)
            if self.n_leaves is not None:
                place = int(np.flatnonzero(sequence.n_leaves <= self.n_leaves)[0])
                alpha = float(sequence.alpha[place])
            elif automatic:
                self.path_ = self._curve(columns, codes, weight, None, (full, sequence, target))
                alpha = float(self.path_.values[self.path_.best(self.select)])
            else:
                alpha = float(self.alpha)
            self.alpha_ = alpha
            self.tree_ = prune.prune(full, alpha, sequence)
        self.importance_ = self._importance()
        return self

    def _check_together(self) -> None:
        if self.n_leaves is not None and not isinstance(self.alpha, str):
            raise InputError(
                f"alpha={self.alpha!r} and n_leaves={self.n_leaves!r} both set the size of the "
                "tree; give one of them."
            )

    def _validate(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FloatArray, Array, FloatArray | None]:
        y = self._check_response(y)
        self.columns_in_ = ColumnReader(self.categorical)
        columns = self.columns_in_.fit(self, X)
        check_consistent_length(columns.X, y)
        weight = check_weight(sample_weight, len(y))
        self._categorical, self._n_levels = columns.categorical, columns.n_levels
        self._missing_seen = columns.has_missing()
        # Ends of the training range, missing values aside; 0 for a column without any value.
        self._low = np.nan_to_num(np.fmin.reduce(columns.X, axis=0))
        self._high = np.nan_to_num(np.fmax.reduce(columns.X, axis=0))
        seed = self.random_state
        if self.thresholds != "random":
            self._seed = 0
        elif isinstance(seed, np.random.Generator):
            self._seed = int(seed.integers(2**31))
        elif isinstance(seed, np.random.RandomState):
            self._seed = int(seed.randint(2**31 - 1))
        else:
            self._seed = int(np.random.default_rng(seed).integers(2**31))
        return columns.X, self._read_response(y, weight), weight

    def _columns(self, X: FloatArray) -> Columns:
        return Columns(np.asfortranarray(X), self._categorical, self._n_levels)

    def _grow(
        self, columns: Columns, y: Array, w: FloatArray | None, target: dict[str, Any]
    ) -> Tree:
        options = GrowOptions(
            criterion=self._criterion(),
            thresholds="exact" if self.thresholds == "binned" else self.thresholds,
            n_thresholds=self.n_thresholds,
            missing=self.missing,
            n_surrogates=self.n_surrogates,
            multiway=self.multiway,
            max_depth=self.max_depth,
            max_leaves=self.max_leaves,
            min_split=self.min_split,
            min_leaf=self.min_leaf,
            min_gain=self.min_gain,
            min_impurity=self.min_impurity,
            monotone=self.monotone,
            seed=self._seed,
        )
        if self.thresholds == "binned":
            grow_binned = import_module("bottega.tree._grow.binned").grow_binned
            binned: Tree = grow_binned(columns, y, w, options, **target)
            return binned
        return grow(columns, y, w, options, **target)

    def _fit_reduced(
        self, columns: Columns, y: Array, w: FloatArray | None, target: dict[str, Any]
    ) -> Tree:
        """Grow on one part of the rows, cut back by the other, refit the leaves on all."""
        rows = np.arange(len(y)) if w is None else np.flatnonzero(w > 0)
        if len(rows) < 2:
            return self._grow(columns, y, w, target)
        strata = y[rows] if self._classifier else None
        train, held = (rows[part] for part in split_off(self.validation, len(rows), strata))
        part = [None if w is None else w[rows] for rows in (train, held)]
        tree = self._grow(columns.rows(train), y[train], part[0], target)
        tree = self._reduced(tree, columns.X[held], y[held], part[1], target)
        return prune.refit_leaves(tree, columns, y, w, criterion=self._criterion(), **target)

    def _importance(self) -> FloatArray:
        """Return the sum of the gains of the splits on each column."""
        tree = self.tree_
        split = np.flatnonzero(tree.n_children > 0)
        column = tree.feature[tree.test_start[split]]
        found = np.bincount(column, weights=tree.gain[split], minlength=len(self._n_levels))
        return found.astype(np.float64)

    # ---- the path -------------------------------------------------------------------------------

    def path(
        self, X: Any, y: Any, *, sample_weight: Any = None, values: Any = None, cv: Any = None
    ) -> Path:
        """Return the whole pruning path: alpha, leaves, training and held-out error.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights.
        values : array-like, optional
            Prices of a leaf, in any order; by default all at which the tree changes.
        cv : int or splitter, optional
            Judge the path by fits at each price in each of these folds, instead of by the folds of
            the estimator, in which a member of the sequence stands for its stretch of prices.

        Returns
        -------
        Path
            From the root alone to the tree as it is grown.
        """
        if self.n_leaves is None:
            return super().path(X, y, sample_weight=sample_weight, values=values, cv=cv)
        free = clone(self).set_params(n_leaves=None)
        return free.path(X, y, sample_weight=sample_weight, values=values, cv=cv)

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        columns = self._columns(X)
        target = self._target(y, sample_weight)
        full = self._grow(columns, y, sample_weight, target)
        grown = full, self._sequence(full, target), target
        return self._curve(columns, y, sample_weight, values, grown)

    def _curve(
        self,
        columns: Columns,
        y: Array,
        w: FloatArray | None,
        values: Any,
        grown: tuple[Tree, PruningSequence, dict[str, Any]],
    ) -> Path:
        full, sequence, target = grown
        own = sequence.alpha[members_shown(sequence)]
        alphas = own if values is None else check_alphas(values)
        member = sequence.member(alphas)
        train_error = sums_at(full, sequence.collapse_alpha, full.risk, alphas)

        def judge(fold: Fold) -> tuple[Tree, FloatArray, FloatArray]:
            train, test = fold
            part = [None if w is None else w[rows] for rows in fold]
            tree = self._grow(columns.rows(train), y[train], part[0], target)
            leaf = apply(columns.X[test], *tree.walk)
            sums = self._losses(tree, leaf, y[test], part[1], target)
            return tree, self._sequence(tree, target).collapse_alpha, sums

        folds, estimate = held_out_folds(self.cv, y, w, classifier=self._classifier)
        if folds:
            error, error_se = held_out_error(folds, judge, sequence.beta[member], w)
        else:  # nothing can be held out
            error, error_se = train_error, np.zeros(len(alphas))
        return Path(
            knob=self.knob,
            values=alphas,
            df=sequence.n_leaves[member].astype(np.float64),
            train_error=train_error,
            error=error,
            error_se=error_se,
            estimate=estimate,
            loss=self._loss_name(),
            criteria=self._criteria(full, sequence, alphas, w, target),
        )

    def _loss_name(self) -> str:
        return "squared error"

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        target = self._target(y, sample_weight)
        tree = self._grow(self._columns(X), y, sample_weight, target)
        collapse = self._sequence(tree, target).collapse_alpha
        said = self._predictions(tree)
        leaf = apply(X_new, *tree.walk)
        found = np.empty((len(leaf), len(values)), dtype=said.dtype)
        for k, alpha in enumerate(values):
            found[:, k] = said[kernels.stops(tree.parent, collapse <= alpha)[leaf]]
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
