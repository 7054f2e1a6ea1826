"""What a tree of classes says: a class as a normal form, and a bound on its true error."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.certificate import Certificate
from bottega.core.errors import InputError, NotKept
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.tree import rules
from bottega.tree._grow.class_weights import code_of
from bottega.tree._grow.structure import Tree
from bottega.tree._prune.losses import leaf_labels
from bottega.tree._read.fitted import FittedTree
from bottega.tree.tree_code import Alphabet, code_length, srm_margin

_ASSUMED = (
    "The rows are independent draws from one distribution, and new rows come from it too.",
    "Columns that are 0 or 1 in every training row are so by definition.",
    "Columns without missing values in training never have any, and categories have no levels "
    "beyond those of training.",
)


class CertifiedTree(FittedTree):
    """What a tree of classes says of a class, and promises about new rows."""

    @property
    def n_classes_(self) -> Any:
        """Number of classes; an array of them, one per response, if there are several."""
        check_is_fitted(self)
        if self.n_outputs_ == 1:
            return len(self.classes_)
        return np.array([len(each) for each in self.classes_])

    def _by_response(self, value: FloatArray) -> list[FloatArray]:
        return np.split(value, np.cumsum([len(each) for each in self.classes_])[:-1], axis=1)

    def dnf(self, label: Any) -> rules.DNF:
        """Return a class as a disjunctive normal form: a union of boxes.

        Parameters
        ----------
        label : object
            One of `classes_`.

        Returns
        -------
        DNF
            Its ``holds(X)`` equals ``predict(X) == label`` on every input, missing values and
            unseen levels included. Joined and shortened where its terms allow it.
        """
        check_is_fitted(self)
        if self.n_outputs_ > 1:
            raise InputError("A normal form is of the classes of one response; y has several.")
        code = code_of(label, self.classes_, "label")
        chosen = self._labels(self.nodes_) == code
        terms = rules.dnf_terms(self.nodes_, chosen, self._n_levels)
        return rules.DNF(label, tuple(terms), self._wording(), self)

    @property
    def certificate_(self) -> Certificate:
        """Bound on the true error from the training error and the size of the tree.

        Holds for all trees at once, so also for one that was chosen by looking at them
        (`bottega.tree.tree_code`). A column of numbers has 2^64 tests, so it is far from tight with
        few rows. There is none for weighted rows, priors and costs, several branches per split,
        and surrogates; asking for it then raises an error that says why.
        """
        check_is_fitted(self)
        reason = self._no_bound(self._weighted)
        if reason:
            raise NotKept(f"There is no certificate: {reason}")
        tree = self.nodes_
        m = int(tree.n[0])
        error = float(tree.risk[tree.is_leaf].sum())
        length, margin = self._margin(tree.n_nodes, m)
        return Certificate(
            estimate=error,
            lower=max(0.0, error - margin),
            upper=min(1.0, error + margin),
            delta=float(self.delta),
            method=f"structural risk minimisation, {length:,} bits",
            assumptions=_ASSUMED,
            n=m,
            quantity="misclassification",
        )

    def _margin(self, n_nodes: int, m: int) -> tuple[int, float]:
        """Return the bits of a tree and how far its training and true error may differ."""
        length = code_length(n_nodes, self._alphabet.n_tests, len(self.classes_))
        return length, srm_margin(length, m, self.delta)

    @property
    def _alphabet(self) -> Alphabet:
        return Alphabet(self._boolean, self._missing_seen, self._n_levels)

    def _no_bound(self, weighted: bool) -> str:
        """Return why there is no bound; an empty string where there is one."""
        if self.n_outputs_ > 1:
            return "the bound is for the classes of one response; y has several."
        if weighted:
            return "the bound is for rows that count alike; fit without sample_weight."
        if self.cost is not None or self.priors is not None:
            return (
                "the bound is for the share of errors, not for costs or other priors; fit without."
            )
        if self.multiway is True or self.multiway > 2:
            return "the code is one of binary trees; fit with multiway=False."
        if self.missing == "surrogate":
            return (
                "the code has no words for surrogates, whose number would make the bound empty; "
                "fit with missing='direction'."
            )
        return ""

    def _labels(self, tree: Tree) -> IntArray:
        if self.n_outputs_ > 1:
            return np.column_stack([leaf_labels(one) for one in self._by_response(tree.value)])
        return leaf_labels(tree.value, self._costs, self._default)

    def _shown(self, tree: Tree) -> Array:
        labels = self._labels(tree)
        if self.n_outputs_ == 1:
            return self.classes_[labels]
        return np.column_stack([a[k] for a, k in zip(self.classes_, labels.T, strict=True)])

    def _leaf_text(self, shown: Array, leaf: int) -> str:
        if self.n_outputs_ > 1:
            return ", ".join(str(one) for one in shown[leaf])
        share = self.nodes_.value[leaf, code_of(shown[leaf], self.classes_, "label")]
        return f"{shown[leaf]} with probability {share:.3g}"
