"""What the tree of classes and the tree of numbers share: growing, the path, the choice of size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import Bunch, Tags

from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.folds import Fold, make_folds
from bottega.core.judge import LossSums
from bottega.core.lazy import cached_property
from bottega.core.losses import ABSOLUTE_ERROR, POISSON, SQUARED_ERROR, Loss
from bottega.core.parallel import in_threads
from bottega.core.path import Path, along
from bottega.core.rows import Rows
from bottega.core.seeds import seeds_of
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.tree._grow.binned import grow_binned
from bottega.tree._grow.binned_columns import BinnedColumns, leaves_of
from bottega.tree._grow.chunk_columns import ColumnChunks, gather_columns
from bottega.tree._grow.column_reader import read_columns, read_response
from bottega.tree._grow.columns import Columns
from bottega.tree._grow.exact import grow
from bottega.tree._grow.joint import check_counts, grow_joint
from bottega.tree._grow.options import GrowOptions, count_features
from bottega.tree._grow.structure import Tree
from bottega.tree._kernels.prune import stops
from bottega.tree._prune.losses import loss_sums, node_losses, sums_at, unit_of_losses
from bottega.tree._prune.parameters import GROWTH
from bottega.tree._prune.sequence import PruningSequence, members_shown, prune, pruning_sequence
from bottega.tree._prune.validation import reduced_error, refit_leaves, stopped_at
from bottega.tree._read.fitted import FittedTree

_OPTIONS = [f.name for f in fields(GrowOptions) if f.name in (*GROWTH, "criterion")]
_LOSSES = {"absolute_error": ABSOLUTE_ERROR, "poisson": POISSON}


@dataclass(frozen=True, eq=False)
class GrownTree:
    """The tree as it is grown and its pruning sequence, made when they are first asked for."""

    model: Any
    rows: Rows
    target: dict[str, Any]

    @cached_property
    def full(self) -> Tree:
        """The tree before pruning."""
        return self.model._grow(self.rows, self.target)

    @cached_property
    def sequence(self) -> PruningSequence:
        """Its nested subtrees."""
        return self.model._sequence(self.full, self.target)


class TreeBase(FittedTree, Tuned, ColumnChunks):
    """Grows a tree, prunes it along its weakest-link sequence, and reads it.

    A subclass gives `_criteria(work, alphas)`, criteria along the path besides the honest error.
    """

    knob: ClassVar[str] = "ccp_alpha"
    in_chunks: ClassVar[str] = (
        'Rows in chunks are grown on bins, as with ``thresholds="binned"``: passes over them '
        "learn the bins, and one byte per value is kept (beyond 1 GiB in a temporary file). The "
        "tree is that of the same rows in memory where its size is given. Where rows are held "
        "out to choose it, the folds share the bins of all rows, so that another size may be "
        "chosen if a column has more than 255 distinct values."
    )

    def _target(self, rows: Rows) -> dict[str, Any]:
        """Return what growing must know of the classes."""
        return {}

    def _labels(self, tree: Tree) -> IntArray | None:
        """Return the code of the class that each node predicts; None for numbers."""
        return None

    def _sequence(self, tree: Tree, target: dict[str, Any]) -> PruningSequence:
        return pruning_sequence(tree)

    def _loss_under(self, target: dict[str, Any]) -> Loss:
        """Return the loss that the tree is pruned by: costs and priors count."""
        return _LOSSES.get(self.criterion, SQUARED_ERROR)

    def _check_params(self) -> None:
        super()._check_params()
        if self.n_leaves is not None and not isinstance(self.ccp_alpha, str):
            raise InputError(
                f"ccp_alpha={self.ccp_alpha!r} and n_leaves={self.n_leaves!r} both set the size of "
                "the tree; give one of them."
            )
        if self.splitter == "random" and self.thresholds != "exact":
            raise InputError(
                f"splitter='random' draws the thresholds, and thresholds={self.thresholds!r} sets "
                "them otherwise; give one of them."
            )

    def _check_rows(self, X: Any, y: Any) -> tuple[Columns, Array]:
        if self.criterion == "poisson":
            check_counts(read_response(self, y))
        columns, y = read_columns(self, X, y)
        self._know(columns, y)
        return columns, y

    def _know(self, columns: Any, y: Array) -> None:
        """Keep what the tree must know of its columns and responses."""
        self._low, self._high, self._missing_seen, self._n_levels = columns.ranges()
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        self._joint = self.n_outputs_ > 1 or self.criterion in _LOSSES
        p = len(self._n_levels)
        self.max_features_ = count_features(self.max_features, p)
        if self._joint:
            self._check_joint()
        drawn = self.splitter == "random" or self.thresholds == "random" or self.max_features_ < p
        self._seed = seeds_of(self.random_state, 1)[0] if drawn else 0

    def _gather(self, checked: CheckedChunks) -> Rows:
        self._refuse_in_chunks()
        columns, y, weight = gather_columns(self, checked)
        self._know(columns, y)
        return Rows(columns.binned(), y, weight)

    def _refuse_in_chunks(self) -> None:
        """Refuse what needs the rows themselves, beside what bins do not go with anyway."""
        for name, asked in {
            f"splitter={self.splitter!r}": self.splitter != "best",
            f"thresholds={self.thresholds!r}": self.thresholds not in ("exact", "binned"),
            f"criterion={self.criterion!r}": self.criterion in _LOSSES,
            f"missing={self.missing!r}": self.missing != "direction",
            f"multiway={self.multiway!r}": bool(self.multiway) and self.multiway != 2,
            "monotonic_cst": self.monotonic_cst is not None and bool(np.any(self.monotonic_cst)),
        }.items():
            if asked:
                raise InputError(
                    f"A fit in chunks grows the tree on bins, which {name} does not go with; leave "
                    "it out, or fit a sample in memory."
                )

    def _check_joint(self) -> None:
        """Refuse what several responses, medians and counts do not go with."""
        free = isinstance(self.ccp_alpha, str) and self.n_leaves is None
        for name, asked in {
            "thresholds='binned'": self.thresholds == "binned",
            "target_error": self.target_error is not None,
            "select='reduced_error'": free and self.select == "reduced_error",
        }.items():
            if asked:
                raise InputError(
                    f"{name} is for one response and not for criterion='absolute_error' or "
                    "'poisson'; leave it out."
                )

    def _prepare(self, rows: Rows) -> GrownTree:
        return GrownTree(self, rows, self._target(rows))

    def _grow(self, rows: Rows, target: dict[str, Any]) -> Tree:
        binned = self.thresholds == "binned" or isinstance(rows.X, BinnedColumns)
        grower = grow_binned if binned else grow_joint if self._joint else grow
        given = {name: getattr(self, name) for name in _OPTIONS}
        given["max_features"] = (
            self.max_features_ if self.max_features_ < len(self._n_levels) else None
        )
        if self.splitter == "random":
            given |= {"thresholds": "random", "n_thresholds": 1}
        elif binned:
            given["thresholds"] = "exact"
        options = GrowOptions(**given, seed=self._seed)
        if self.target_error is None or len(rows) < 2:
            return grower(rows.X, rows.y, rows.weight, options, **target)
        train, held = self._validation_rows(rows)
        # A limit on leaves, even one that is hardly met, makes the best splits come first.
        most = max(len(train) - 1, 1)
        options = replace(options, max_leaf_nodes=min(self.max_leaf_nodes or most, most))
        tree = grower(train.X, train.y, train.weight, options, **target)
        loss = self._losses(tree, held, self._loss_under(target))[:, 0]
        tree = stopped_at(tree, loss, self.target_error * held.total_weight)
        return self._refitted(tree, rows, target)

    def _grow_reduced(self, rows: Rows, target: dict[str, Any]) -> Tree:
        """Grow on one part of the rows, cut back by the other, refit the leaves on all."""
        if len(rows) < 2:
            return self._grow(rows, target)
        train, held = self._validation_rows(rows)
        tree = self._grow(train, target)
        loss = self._losses(tree, held, self._loss_under(target))[:, 0]
        return self._refitted(reduced_error(tree, loss), rows, target)

    def _validation_rows(self, rows: Rows) -> tuple[Rows, Rows]:
        strata = rows.y if is_classifier(self) else None
        content = {"X": rows.X, "y": rows.y, "weight": rows.weight}
        train, held = make_folds(float(self.validation), len(rows), strata=strata, **content)[0]
        return rows.take(train), rows.take(held)

    def _refitted(self, tree: Tree, rows: Rows, target: dict[str, Any]) -> Tree:
        if self.monotonic_cst is not None and np.any(np.asarray(self.monotonic_cst) != 0):
            return tree  # means of other rows need not keep to the order
        how = {"criterion": self.criterion, **target}
        return refit_leaves(tree, rows.X, rows.y, rows.weight, **how)

    def _losses(self, tree: Tree, rows: Rows, loss: Loss, unit: float = 1.0) -> FloatArray:
        """Return the sums of the losses of rows at the nodes, squares in those of the unit."""
        leaf = leaves_of(rows.X, tree)
        return node_losses(tree, leaf, rows.y, rows.weight, loss, self._labels(tree), unit)

    def _own_loss(self, work: GrownTree) -> Loss:
        return self._loss_under(work.target)

    _instead: ClassVar[tuple[str, ...]] = ("n_leaves",)

    def _given(self, work: GrownTree) -> dict[str, Any] | None:
        if self.n_leaves is not None:
            return {"ccp_alpha": work.sequence.alpha_for(self.n_leaves)}
        if isinstance(self.ccp_alpha, str) and self.select == "reduced_error":
            return {"ccp_alpha": np.nan}
        if isinstance(self.ccp_alpha, str) and (self.max_depth or self.max_leaf_nodes) is not None:
            return {"ccp_alpha": 0.0}  # the size is given
        return super()._given(work)

    def _held_out(self, rows: Rows, cv: Any) -> tuple[list[Fold], str]:
        if is_classifier(self) and rows.y.ndim == 2:  # spread the classes of the first response
            given = rows.given and replace(rows.given, y=rows.given.y[:, 0])
            rows = replace(rows, y=rows.y[:, 0], given=given)
        return super()._held_out(rows, cv)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the penalties per leaf at which the pruned tree changes.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        Bunch
            ``ccp_alphas``, ascending from 0, and ``impurities``: what the leaves of each subtree
            add up to, in units of what the tree is pruned by (`prune_by`).
        """
        worker = clone(self)
        worker._check_params()
        sequence = worker._prepare(worker._read(X, y, sample_weight)).sequence
        return Bunch(ccp_alphas=sequence.alpha, impurities=sequence.risk)

    def _path(self, work: GrownTree, values: Any, loss: Loss | None) -> Path:
        full, sequence, rows = work.full, work.sequence, work.rows
        own = sequence.alpha[members_shown(sequence)]
        alphas = own if values is None else np.sort(values).astype(np.float64)[::-1]
        member = sequence.member(alphas)
        settings = along(self.knob, alphas)
        judged: dict[str, Any] = {"error": None, "error_se": None, "estimate": None}
        if loss is not None:
            folds, estimate = self._held_out(rows, self.cv) if len(rows) > 1 else ([], "cv")
            if folds:
                judged = self._held_out_error(work, folds, sequence.beta[member], loss)
            else:  # nothing can be held out
                error = self._train_error(work, rows, settings, loss)
                judged = {"error": error, "error_se": np.zeros(len(error))}
            judged["estimate"] = estimate
        return Path(
            settings,
            train_error=sums_at(full, sequence.collapse_alpha, full.risk, alphas),
            loss=(self._own_loss(work) if loss is None else loss).title,
            df=sequence.n_leaves[member].astype(np.float64),
            criteria=self._criteria(work, alphas),
            **judged,
        )

    def _held_out_error(
        self, work: GrownTree, folds: list[Fold], betas: FloatArray, loss: Loss
    ) -> dict[str, Any]:
        """Return `error`, `error_se` and `fold_error` at each penalty per leaf.

        Each held-out row walks its fold's tree once, whatever the number of penalties: the cost is
        n depth + N + m for n rows, N nodes and m penalties.
        """
        full = work.full
        numbers = self._labels(full) is None
        unit = unit_of_losses(loss, work.rows.y, full.value[0]) if numbers else 1.0

        def judge(fold: Fold) -> LossSums:
            train, test = (work.rows.take(part) for part in fold)
            tree = self._grow(train, work.target)
            collapse = self._sequence(tree, work.target).collapse_alpha
            lost = self._losses(tree, test, loss, unit)
            return loss_sums(sums_at(tree, collapse, lost, betas), test, unit)

        parts = in_threads(judge, folds, stage="folds", elsewhere=True)
        total = LossSums()
        for part in parts:
            total.merge(part)
        error, error_se = total.mean_and_se()
        fold_error = np.stack([part.mean for part in parts])
        return {"error": error, "error_se": error_se, "fold_error": fold_error}

    def _train_error(
        self, work: GrownTree, rows: Rows, settings: Sequence[Mapping[str, Any]], loss: Loss
    ) -> FloatArray:
        tree, alphas = work.full, np.array([setting["ccp_alpha"] for setting in settings])
        losses = self._losses(tree, rows, loss)[:, 0]
        return sums_at(tree, work.sequence.collapse_alpha, losses, alphas) / rows.total_weight

    def _predictions(
        self, work: GrownTree, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        tree, collapse = work.full, work.sequence.collapse_alpha
        value: Any = tree.value if method == "predict_proba" else self._labels(tree)
        if value is None:
            value = tree.value if self.n_outputs_ > 1 else tree.value[:, 0]
        leaf = leaves_of(X_new, tree)
        found = [
            value[stops(tree.parent, collapse <= setting["ccp_alpha"])[leaf]]
            for setting in settings
        ]
        return np.stack(found, axis=1)

    def _settle(self, work: GrownTree, setting: Mapping[str, Any]) -> None:
        self.ccp_alpha_ = float(setting["ccp_alpha"])
        if np.isnan(self.ccp_alpha_):
            self.nodes_ = self._grow_reduced(work.rows, work.target)
        elif self.ccp_alpha_ == 0:  # the tree as it is grown, without its sequence
            self.nodes_ = work.full
        else:
            self.nodes_ = prune(work.full, self.ccp_alpha_, work.sequence)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags
