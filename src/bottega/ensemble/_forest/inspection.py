"""Looking into a grown forest: errors along the trees, single trees, importance, proximity."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import hstack
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bottega.core.errors import InputError, NotKept
from bottega.core.loaded import insist
from bottega.core.losses import get_loss
from bottega.core.parallel import in_threads
from bottega.core.rows import Rows
from bottega.core.seeds import seeds_of
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.ensemble._forest.checked import check_forest, check_rows
from bottega.ensemble._forest.estimator import ForestBase
from bottega.ensemble._forest.growth import SOME
from bottega.ensemble._forest.packed import columns_of
from bottega.ensemble._kernels.judge import permuted_loss
from bottega.ensemble._resampling.left_out import importance_columns, proximity_of
from bottega.plot import error_against_trees_chart
from bottega.tree._grow.structure import Tree


class ForestReading(ForestBase):
    """A forest that can be asked for more than predictions."""

    def check_loaded(self) -> None:
        """Raise unless the trees that were read from a file can be walked, and grown again."""
        if not hasattr(self, "forest_"):
            return
        p = len(self.columns_in_.values)
        n_classes = len(self.classes_) if is_classifier(self) else 0
        check_forest(self.forest_, p)
        check_rows(self._rows_in, p, n_classes)
        width = self.forest_.values.shape[1]
        insist(width == n_classes or (width == 1 and n_classes <= 2), "values of leaves")
        for rows, last, tried in self._batches:
            check_rows(rows, p, n_classes)
            insist(0 < tried <= p and 0 < last <= len(self._seeds), "the batches of trees")

    def staged_error(self, X: Any, y: Any) -> FloatArray:
        """Return the mean loss on given rows after 1, 2, ... trees.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows that were not used to fit.
        y : array-like of shape (m,)
            Their responses.
        """
        self._check_packed()
        codes, y = self._codes(X), np.asarray(y)
        check_consistent_length(codes, y)
        if is_classifier(self):  # a class that is not known is code -1
            place = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
            y = np.where(self.classes_[place] == y, place, -1)
        loss = get_loss(None, self.card.task)
        total = np.zeros((len(codes), self.forest_.values.shape[1]))
        found = np.empty(self.forest_.n_trees)
        for tree in range(self.forest_.n_trees):
            total += self.forest_.predict(codes, tree, tree + 1)
            found[tree] = loss.of_rows(y, self._predicted(total / (tree + 1), "predict")).mean()
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
        self._check_packed()
        curve = self.oob_path_
        return error_against_trees_chart(
            curve.values,
            train=curve.train_error,
            oob=curve.error,
            test=None if X is None else self.staged_error(X, y)[curve.values - 1],
            loss=curve.loss,
        )

    def tree(self, i: int) -> Tree:
        """Return tree i, with thresholds on the scale of the inputs; it is grown once more."""
        check_is_fitted(self)
        if not 0 <= i < self.n_estimators_:
            raise InputError(
                f"There is no tree {i}; the forest has the trees 0 to {self.n_estimators_ - 1}."
            )
        if hasattr(self, "_trees"):
            return self._trees[i].nodes_
        rows, _, tried = next(batch for batch in self._batches if i < batch[1])
        return self._grower(rows, tried).tree(self._seeds[i])

    @property
    def n_estimators_(self) -> int:
        """Number of trees."""
        check_is_fitted(self)
        return len(self._seeds)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each column in what the splits lower the impurity by, mean over the trees."""
        check_is_fitted(self)
        if hasattr(self, "_trees"):
            found = np.mean([tree.feature_importances_ for tree in self._trees], axis=0)
        else:
            found = self._importance
        total = found.sum()
        return found / total if total > 0 else np.zeros(len(found))

    @property
    def estimators_(self) -> list[Any]:
        """The trees as tree estimators; they are grown once more where they are packed."""
        check_is_fitted(self)
        if hasattr(self, "_trees"):
            return self._trees
        return in_threads(self._tree_estimator, range(self.n_estimators_))

    def _tree_estimator(self, i: int) -> Any:
        """Return packed tree i as an estimator, which has learnt what the forest has."""
        template = self._template(self.max_features_)
        parameters = {**template.get_params(), "random_state": self._seeds[i]}
        # A copy of it, fitted to the same rows, is then the same tree.
        parameters["min_impurity_decrease"] = max(parameters["min_impurity_decrease"], SOME)
        return type(template).of_nodes(self.tree(i), self, self._ranges, **parameters)

    @property
    def estimators_samples_(self) -> list[IntArray]:
        """The rows that each tree has drawn, repeated as often as they were."""
        check_is_fitted(self)
        places = self._order if self._kept is None else self._kept[self._order]
        places = places.astype(np.int32)
        listed = hasattr(self, "_trees")
        drawn = self._listed_rows if listed else self._grower(self._rows_in, self.max_features_)
        return [np.repeat(places, drawn.counts(seed)) for seed in self._seeds]

    _kept: IntArray | None = None

    def _restore(self, rows: Rows) -> None:
        super()._restore(rows)
        self._kept = rows.kept

    def apply(self, X: Any) -> IntArray:
        """Return the leaf (the number of its node) of each row in each tree: (rows, trees)."""
        check_is_fitted(self)
        if hasattr(self, "_trees"):
            matrix = self.columns_in_.read(self, X)
            return np.stack([tree.apply(matrix) for tree in self._trees], axis=1)
        return self.forest_.leaves(self._codes(X))

    def decision_path(self, X: Any) -> tuple[Any, IntArray]:
        """Return which nodes each row passes.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Rows.

        Returns
        -------
        csr_matrix of shape (m, nodes of all trees)
            Ones at the nodes that a row passes.
        ndarray of shape (trees + 1,)
            Where the nodes of each tree start among the columns.
        """
        check_is_fitted(self)
        if not hasattr(self, "_trees"):
            return self.forest_.decision_path(self._codes(X))
        matrix = self.columns_in_.read(self, X)
        parts = [tree.decision_path(matrix) for tree in self._trees]
        return hstack(parts).tocsr(), np.cumsum([0, *(part.shape[1] for part in parts)])

    def __len__(self) -> int:
        """Return the number of trees."""
        return self.n_estimators_

    def __getitem__(self, index: int) -> Any:
        """Return a tree estimator."""
        at = range(self.n_estimators_)[index]
        return self._trees[at] if hasattr(self, "_trees") else self._tree_estimator(at)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the trees as tree estimators."""
        return iter(self.estimators_)

    def _check_packed(self) -> None:
        check_is_fitted(self)
        if hasattr(self, "_trees"):
            raise NotKept(
                "This is for one response and trees that are neither pruned nor monotone, by Gini, "
                "entropy or squared error; scikit-learn's functions for inspection take any model."
            )

    def permutation_importance(self, *, random_state: Any = 0) -> Any:
        """Return how much worse each tree predicts its out-of-bag rows when a column is shuffled.

        Parameters
        ----------
        random_state : int, RandomState, Generator or None
            Seed of the shuffles.

        Returns
        -------
        data frame
            column, importance (mean rise of the loss over the trees), std_error (of that mean)
            and z (their ratio). It says that a column is used, not in which direction, and that
            the others cannot stand in for it. Cost: a walk of the out-of-bag rows per tree and
            column.
        """
        self._check_packed()
        shuffles = seeds_of(random_state, self.n_estimators_)
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
            plain = permuted_loss(rows.codes, outside, outside, p, *data)
            rise = np.zeros(p)
            for j in columns_of(words):
                donors = rng.permutation(outside)
                rise[j] = permuted_loss(rows.codes, outside, donors, j, *data) - plain
            return rise

        rise = np.array(
            in_threads(of_tree, range(forest.n_trees), stage="importance", elsewhere=True)
        )
        return self._make_frame(importance_columns(self.columns_in_.names, rise))

    def proximity(self, X: Any = None) -> FloatArray:
        """Return in what share of the trees each two rows fall into the same leaf.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p), optional
            Rows to compare; the training rows by default. At most 10,000: the answer has m^2
            entries.
        """
        self._check_packed()
        codes = self._rows_in.codes if X is None else self._codes(X)
        found = proximity_of(len(codes), lambda: self.forest_.leaves(codes))
        if X is not None:
            return found
        back = np.argsort(self._order)  # rows of weight 0 are not among them
        return found[np.ix_(back, back)]

    def summary(self) -> Summary:
        """Return size, errors and importance as a table that shows itself as text and HTML."""
        check_is_fitted(self)
        facts: dict[str, list[Any]] = {
            "rows": [len(self._order)],
            "trees": [self.n_estimators_],
            "columns tried": [self.max_features_],
        }
        if hasattr(self, "forest_"):
            facts["leaves per tree"] = [float(self.forest_.n_leaves.mean())]
        if hasattr(self, "oob_path_"):
            curve: Any = self.oob_path_
            facts["training error"] = [float(curve.train_error[-1])]
            facts["OOB error"] = [float(curve.error[-1])]
        names = np.array(self.columns_in_.names)
        top = np.argsort(-self.feature_importances_, kind="stable")[:30]
        importance = {
            "column": names[top].tolist(),
            "share": self.feature_importances_[top].tolist(),
        }
        sections = (Section("", facts), Section("Importance", importance))
        return Summary(type(self).__name__, sections)
