"""Reading a fitted tree: leaves, rules, paths of rows, importance, pictures."""

from collections.abc import Iterator
from copy import copy
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.inspection import permutation_importance
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.estimator import Estimator
from bottega.core.sparse import is_sparse
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.plot import partition_chart, step_chart, tree_chart
from bottega.tree import rules
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels.walk import apply
from bottega.tree._read.arrays import TreeArrays
from bottega.tree._read.boxes import cell_diameters
from bottega.tree._read.checked import check_tree
from bottega.tree._read.column_conditions import Term, Wording

_RULES_SHOWN = 30
_BLOCK = 8192  # rows of a sparse matrix that are filled up at a time


class FittedTree(Estimator):
    """What can be asked of a fitted tree; `_shown(tree)` is what nodes predict, as users see it."""

    @property
    def df_(self) -> int:
        """Number of leaves: the free means of a tree whose splits are taken as given."""
        check_is_fitted(self)
        return self.nodes_.n_leaves

    @property
    def tree_(self) -> TreeArrays:
        """The tree in the arrays that scikit-learn's trees have, for what reads those."""
        check_is_fitted(self)
        several = getattr(self, "n_classes_", 1)
        classes = np.broadcast_to(np.asarray(several), (self.n_outputs_,))
        return TreeArrays(self, self.nodes_, len(self._n_levels), classes.astype(np.int64))

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each column in what the splits lower the mean impurity by."""
        check_is_fitted(self)
        return self.nodes_.importance(len(self._n_levels), normalize=True)

    @classmethod
    def of_nodes(cls, nodes: Tree, like: Any, ranges: tuple[Any, ...], **parameters: Any) -> Self:
        """Return an estimator that has learnt these nodes, and of the columns what `like` has.

        `ranges` are those of the training rows (`Columns.ranges`); `like` is the fitted ensemble
        that the tree belongs to.
        """
        model = cls(**parameters)
        for name in ("columns_in_", "n_features_in_", "feature_names_in_", "classes_", "_frame"):
            if hasattr(like, name):
                setattr(model, name, getattr(like, name))
        model._low, model._high, model._missing_seen, model._n_levels = ranges
        model.max_features_ = getattr(like, "max_features_", len(model._n_levels))
        model.nodes_, model.n_outputs_, model.ccp_alpha_ = nodes, 1, 0.0
        model._joint, model._seed = False, model.random_state
        return model

    def check_loaded(self) -> None:
        """Raise unless a tree that was read from a file can be walked."""
        if hasattr(self, "nodes_"):
            check_tree(self.nodes_, len(self.columns_in_.values))

    def get_depth(self) -> int:
        """Return the most tests above a leaf."""
        check_is_fitted(self)
        return self.nodes_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.nodes_.n_leaves

    def apply(self, X: Any) -> IntArray:
        """Return the number of the leaf (a node of `nodes_`) that each row falls into."""
        check_is_fitted(self)
        if not is_sparse(X):
            return apply(self.columns_in_.read(self, X), *self.nodes_.walk)
        parts = [apply(self.columns_in_.read(self, one), *self.nodes_.walk) for one in _blocks(X)]
        return np.concatenate(parts)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return which nodes each row passes, as a sparse matrix of rows by nodes."""
        leaf = self.apply(X)
        tree = self.nodes_
        steps = tree.depth[leaf] + 1
        start = np.concatenate([[0], np.cumsum(steps)])
        passed = np.empty(start[-1], dtype=np.int32)
        at, node = start[1:] - 1, leaf.astype(np.int64)
        while len(node):
            passed[at] = node
            node = tree.parent[node].astype(np.int64)
            at, node = at[node >= 0] - 1, node[node >= 0]
        return csr_matrix(
            (np.ones(len(passed), dtype=np.int64), passed, start), shape=(len(leaf), tree.n_nodes)
        )

    def rules(self) -> list[str]:
        """Return one readable line per leaf: its conditions, then its prediction and size.

        Conditions on one column are put together. "or missing" is added for columns that had
        missing values in training, and stands for the rows that no surrogate places.
        """
        check_is_fitted(self)
        shown, tree = self._shown(self.nodes_), self.nodes_
        share = tree.weight / tree.weight[0]
        return [
            f"{condition} -> {self._leaf_text(shown, leaf)} "
            f"({100 * share[leaf]:.3g}% of the weight, n = {tree.n[leaf]})"
            for leaf, condition in self._conditions().items()
        ]

    def _leaf_text(self, shown: Array, leaf: int) -> str:
        return ", ".join(f"{one:.6g}" for one in np.atleast_1d(shown[leaf]))

    def _wording(self) -> Wording:
        return Wording(self.columns_in_.names, self.columns_in_.levels, self._missing_seen.tolist())

    def _conditions(self) -> dict[int, str]:
        wording = self._wording()
        return {leaf: wording.term(cell) for leaf, cell in self._cells().items()}

    def _cells(self) -> dict[int, Term]:
        terms = rules.leaf_terms(self.nodes_, self._n_levels, surrogates=False)
        return {leaf: found[0] for leaf, found in terms.items() if found}

    def leaves(self) -> Any:
        """Return a frame with one row per leaf.

        Returns
        -------
        data frame
            leaf (number of the node), rule, n, share (of the weight), value (the prediction;
            value_0, value_1, ... of several responses), impurity, and diameter: that of the leaf's
            cell, cut to the range of the training rows, with each column measured by its range (a
            category counts 0 or 1). A tree is consistent if, as rows grow in number, diameters go
            to 0 and n to infinity.
        """
        check_is_fitted(self)
        tree = self.nodes_
        conditions, cells = self._conditions(), self._cells().values()
        where = np.array(list(conditions))
        return self._make_frame(
            {
                "leaf": where,
                "rule": list(conditions.values()),
                "n": tree.n[where],
                "share": tree.weight[where] / tree.weight[0],
                **self._value_columns(self._shown(tree)[where]),
                "impurity": tree.impurity[where],
                "diameter": cell_diameters(cells, self._low, self._high, self._n_levels),
            }
        )

    def _value_columns(self, shown: Array) -> dict[str, Array]:
        if shown.ndim == 1:
            return {"value": shown}
        return {f"value_{k}": shown[:, k] for k in range(shown.shape[1])}

    def permutation_importance(
        self,
        X: Any,
        y: Any,
        *,
        n_repeats: int = 10,
        scoring: Any = None,
        sample_weight: Any = None,
        random_state: Any = None,
    ) -> Any:
        """Return how much worse the tree predicts when a column is shuffled.

        Parameters
        ----------
        X, y : array-like
            Rows to judge by, best not those of the fit.
        n_repeats : int
            Shuffles of each column.
        scoring : str or callable, optional
            Score, greater is better; accuracy or R squared by default.
        sample_weight : array-like of shape (n,), optional
            Row weights.
        random_state : int, RandomState, Generator or None
            Seed of the shuffles.

        Returns
        -------
        data frame
            column, importance (mean loss of score) and std over the shuffles.
        """
        check_is_fitted(self)
        model: Any = copy(self)
        # Texts are read once, not after each shuffle.
        model.columns_in_ = SimpleNamespace(read=lambda _, codes: codes)
        found = permutation_importance(
            model,
            self.columns_in_.read(self, X),
            np.asarray(y),
            n_repeats=n_repeats,
            scoring=scoring,
            sample_weight=sample_weight,
            random_state=random_state,
        )
        return self._make_frame(
            {
                "column": self.columns_in_.names,
                "importance": found.importances_mean,
                "std": found.importances_std,
            }
        )

    def summary(self) -> Summary:
        """Return size, errors, importance and (of a small tree) rules, as text, HTML, Markdown."""
        check_is_fitted(self)
        tree = self.nodes_
        facts: dict[str, Any] = {
            "rows": int(tree.n[0]),
            "leaves": tree.n_leaves,
            "depth": tree.max_depth,
            "ccp_alpha": self.ccp_alpha_,
            "training error": float(tree.risk[tree.is_leaf].sum()),
        }
        path: Any = getattr(self, "path_", None)
        if path is not None:
            place = int(np.flatnonzero(path.values == self.ccp_alpha_)[0])
            facts[f"error ({path.estimate})"] = path.error[place]
            facts["its standard error"] = path.error_se[place]
        sections = [Section("", {name: [value] for name, value in facts.items()})]
        gain = self.nodes_.importance(len(self._n_levels))
        used = np.argsort(-gain, kind="stable")
        used = used[gain[used] > 0]
        if len(used):
            columns = {
                "column": [self.columns_in_.names[j] for j in used],
                "importance": gain[used].tolist(),
                "share": (gain[used] / gain.sum()).tolist(),
            }
            sections.append(Section("Importance", columns))
        if tree.n_leaves <= _RULES_SHOWN:
            sections.append(Section("Rules", {"rule": self.rules()}))
        return Summary(type(self).__name__, tuple(sections))

    def plot(self, kind: str = "tree", X: Any = None, y: Any = None) -> Any:
        """Draw the tree, or what it predicts.

        Parameters
        ----------
        kind : {"tree", "partition", "step", "path"}
            The tree; the plane cut into cells (two inputs); the step function (one input); or the
            errors along the path.
        X, y : array-like, optional
            Rows to draw with ``"partition"`` and ``"step"``.
        """
        check_is_fitted(self)
        if self.n_outputs_ > 1 and kind != "path":
            raise InputError(
                "A tree of several responses has no picture; read rules() or leaves()."
            )
        if kind == "tree":
            return tree_chart(self)
        if kind == "partition":
            return partition_chart(self, X, y)
        if kind == "step":
            return step_chart(self, X, y)
        if kind == "path" and hasattr(self, "path_"):
            return self.path_.plot(
                select=self.select if self.select in ("min", "one_se") else "min"
            )
        raise InputError(
            f"plot has no kind {kind!r} for this model; use 'tree', 'partition' (two inputs), "
            "'step' (one input), or 'path' (after a fit with ccp_alpha='auto')."
        )


def _blocks(X: Any) -> Iterator[Any]:
    """Yield the rows of a sparse matrix in blocks that can be filled up."""
    rows = X.tocsr()
    for first in range(0, max(rows.shape[0], 1), _BLOCK):
        yield rows[first : first + _BLOCK]
