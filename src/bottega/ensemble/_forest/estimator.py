"""What the forest of classes and the forest of numbers share: growing, choosing, predicting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError, ParameterError
from bottega.core.judge import mean_and_se
from bottega.core.losses import Loss, get_loss
from bottega.core.parallel import at_most
from bottega.core.path import Path, along
from bottega.core.row_order import own_order
from bottega.core.rows import Rows
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._forest.growth import BinnedRows, Grower, Grown, Tally
from bottega.ensemble._forest.listed import TreeRows, classes_of, mean_outputs
from bottega.ensemble._resampling.draws import sample_size
from bottega.ensemble._resampling.left_out import OutOfBag, WarmStart
from bottega.tree._grow.binned import NO_LIMIT
from bottega.tree._grow.chunk_columns import ChunkColumns, ColumnChunks, gather_columns
from bottega.tree._grow.column_reader import read_columns
from bottega.tree._grow.options import GrowOptions, count_features

_PATH_TREES = 50  # enough for every row to be left out many times
_MOST_COPIES = 20  # whole weights count as copies while they are no more than this on average
_LIGHT = 1e-12  # of the largest weight: less would be lost in rounding
_KEPT_ROWS = 20_000  # trees of the path are kept for the fit while they are small


@dataclass(frozen=True, eq=False)
class ForestWork:
    """The rows as the trees take them, their own order, and the trees of the path.

    The rows are binned for packed trees, and `listed` for a list of whole tree estimators.
    """

    order: IntArray
    n_columns: int
    binned: BinnedRows | None = None
    listed: TreeRows | None = None
    grown: dict[int, Grown] = field(default_factory=dict)

    @property
    def rows(self) -> BinnedRows:
        """The binned rows."""
        assert self.binned is not None
        return self.binned


class ForestBase(OutOfBag, WarmStart, Tuned, ColumnChunks):
    """Grows trees on samples of rows, a few columns tried at each split, and averages them.

    A subclass gives `_criterion(n_classes)`, the number of the impurity that is grown by,
    `_predicted(means, method)`, what mean leaf values (rows, V) predict (class codes), and
    `_template(max_features)`, a tree estimator as it is fitted to each sample.
    """

    knob: ClassVar[str] = "max_features"
    in_chunks: ClassVar[str] = (
        "Rows in chunks give the forest of the same rows in memory: passes over them learn "
        "their own order and the bins, and one byte per value is kept (beyond 1 GiB in a "
        "temporary file)."
    )
    simplifies: ClassVar[bool] = False

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        columns, y = read_columns(self, X, y, as_given=True)  # what is binned needs no copy
        self._know(columns, y)
        return columns, y

    def _know(self, columns: Any, y: Array) -> None:
        """Keep what the forest must know of its columns and responses."""
        p = len(columns.n_levels)
        if p >= 2**20:
            raise InputError(f"X has {p} columns; a forest takes fewer than {2**20}.")
        self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
        self._ranges = columns.ranges()

    def _gather(self, checked: CheckedChunks) -> Rows:
        columns, y, weight = gather_columns(self, checked)
        self._know(columns, y)
        self._before, self._seeds = self._begin()
        return Rows(columns, y, weight)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Read the rows, and draw the seeds that the folds of a path share."""
        rows = super()._read(X, y, sample_weight)
        self._before, self._seeds = self._begin()
        return rows

    @property
    def _balanced(self) -> bool:
        """Whether the classes of each sample are to weigh alike."""
        wanted = getattr(self, "class_weight", None)
        return isinstance(wanted, str) and wanted == "balanced_subsample" and self.bootstrap

    def _prepare(self, rows: Rows) -> ForestWork:
        """Bin the rows, in an order that does not depend on theirs."""
        columns, y = rows.X, np.asarray(rows.y, dtype=np.float64)
        order = own_order(columns, y)
        w: Any = rows.weights[order]
        positions = np.zeros(0, dtype=np.int64)
        if (
            rows.weight is not None
            and np.all(w == np.round(w))
            and w.sum() <= _MOST_COPIES * len(w)
        ):
            positions = np.repeat(np.arange(len(w)), w.astype(np.int64))
        elif rows.weight is not None:
            # Sums of the size of the number of rows; what would be lost in them is nearly nothing.
            w = np.maximum(w / w.mean(), _LIGHT * w.max() / w.mean())
        p = len(columns.n_levels)
        if self._needs_whole_trees(rows.weight is not None and not len(positions)):
            if isinstance(columns, ChunkColumns):
                raise InputError(
                    "A fit in chunks grows trees on bins: give criterion='squared_error' or one of "
                    "the classes', and leave out ccp_alpha, monotonic_cst and (with weights) "
                    "min_weight_fraction_leaf; or fit a sample in memory."
                )
            weight = None if rows.weight is None else w
            size = self._sample_size(len(positions) or len(y))
            how = (positions, size, self.bootstrap, self._balanced)
            listed = TreeRows(columns[order], self._shown(rows.y[order]), weight, *how)
            self._thresholds = "exact"
            return ForestWork(order, p, listed=listed)
        self._thresholds = "binned"
        before = self._before
        if before is None or "_rows_in" not in before:
            learnt_from = order if not len(positions) else order[positions]
            bins = columns.learn_bins(learnt_from)
        else:  # trees that are added take the bins of those that are there
            bins = before["_rows_in"].bins
        n_classes = len(self.classes_) if is_classifier(self) else 0
        codes = columns.encode(bins, order)
        return ForestWork(order, p, BinnedRows(bins, codes, y[order], w, positions, n_classes))

    def _needs_whole_trees(self, weighted: bool) -> bool:
        """Whether something is asked for that packed trees cannot do."""
        signs = self.monotonic_cst
        return (
            self.n_outputs_ > 1
            or self.criterion in ("absolute_error", "poisson")
            or self.ccp_alpha > 0
            or (signs is not None and bool(np.any(np.asarray(signs) != 0)))
            or (self.min_weight_fraction_leaf > 0 and (weighted or self._balanced))
        )

    def _sample_size(self, there: int) -> int:
        """Return how many rows each tree draws."""
        return sample_size(self.max_samples, there, None if self.bootstrap else there)

    def _settle(self, work: ForestWork, setting: Mapping[str, Any]) -> None:
        picked = int(setting[self.knob])
        self.max_features_ = picked
        if work.listed is not None:
            self._settle_listed(work, work.listed)
            return
        grown = self._grow(work, picked)
        self.forest_ = grown.forest
        self._rows_in, self._order = work.rows, work.order
        before = self._before or {}
        old = before.get("_batches", [])
        start = old[-1][1] if old else 0
        new = [(work.rows, len(self._seeds), picked)] if start < len(self._seeds) else []
        self._batches = [*old, *new]  # which rows the trees up to which number were grown on
        self._importance = grown.tally.importance
        if self._judges:
            self.oob_path_ = self._trees_path(grown.tally)
            out_of_bag = self._predicted(grown.tally.means, "predict_proba")
            if not self._draws_all:
                self._score_out_of_bag(work.rows.responses, out_of_bag, work.rows.weight)
                self._keep_out_of_bag(out_of_bag, work.order)
        self._before = None

    def _settle_listed(self, work: ForestWork, rows: TreeRows) -> None:
        before = self._before or {}
        old = before.get("_trees", [])
        template = self._template(self.max_features_)
        self._trees = [*old, *rows.fit_all(template, self._seeds[len(old) :])]
        self._order, self._listed_rows = work.order, replace(rows, columns=None)
        self._before = None
        several = is_classifier(self) and self.n_outputs_ > 1
        if several and type_of_target(rows.y) != "multilabel-indicator":
            if self.oob_score is True:
                raise InputError(
                    "The type of target cannot be used to compute OOB estimates: several responses "
                    "of more than two classes."
                )
            return
        if self._judges and not self._draws_all:
            found = rows.left_out(self._trees, self._seeds, classes_of(self))
            if self.n_outputs_ == 1:
                found = found[..., 0]
            if not is_classifier(self):
                found = found[:, 0]
            y = rows.y
            if is_classifier(self):
                pairs = zip(classes_of(self) or [], y.reshape(len(y), -1).T, strict=True)
                codes = np.column_stack([np.searchsorted(c, one) for c, one in pairs])
                y = codes if self.n_outputs_ > 1 else codes[:, 0]
            self._score_out_of_bag(y, found, rows.weight)
            self._keep_out_of_bag(found, work.order)

    def _grow(self, work: ForestWork, max_features: int) -> Grown:
        """Return the whole forest; the trees that the path has grown are not grown again."""
        done = work.grown.get(max_features)
        grower = self._grower(work.rows, max_features)
        before = self._before
        if done is None and before is not None and "_rows_in" in before:
            rows = before["_rows_in"]
            same = np.array_equal(rows.codes, work.rows.codes) and np.array_equal(
                rows.y, work.rows.y
            )
            trees = before["forest_"].trees
            seeds = self._seeds[: len(trees)] if same else None
            done = grower.again(trees, seeds, before["_importance"])
        start = 0 if done is None else len(done.trees)
        if done is not None and start == self.n_estimators:
            return done
        return grower.grow(self._seeds[start:], done, judge=self._judges, stage="trees")

    def _path_tally(self, work: ForestWork, max_features: int) -> Tally:
        """Return how the first trees of a forest do."""
        done = work.grown.get(max_features)
        if done is None:
            keep = len(work.rows.y) <= _KEPT_ROWS and self._before is None
            grower = self._grower(work.rows, max_features)
            done = grower.grow(self._seeds[:_PATH_TREES], keep=keep, stage="max_features")
            if keep:
                work.grown[max_features] = done
        return done.tally

    def _grower(self, rows: BinnedRows, max_features: int) -> Grower:
        size = self._sample_size(len(rows.positions) or len(rows.y))
        least = GrowOptions(
            min_samples_split=self.min_samples_split, min_samples_leaf=self.min_samples_leaf
        ).counted(size)
        return Grower(
            rows,
            self._criterion(rows.n_classes),
            max_features,
            size,
            self.bootstrap,
            NO_LIMIT if self.max_depth is None else self.max_depth,
            NO_LIMIT if self.max_leaf_nodes is None else self.max_leaf_nodes,
            int(least.min_samples_split),
            max(int(least.min_samples_leaf), ceil(self.min_weight_fraction_leaf * size)),
            float(self.min_impurity_decrease),
            self._balanced,
        )

    def _given(self, work: ForestWork) -> dict[str, Any] | None:
        p, given = work.n_columns, self.max_features
        if isinstance(given, str) and given == "auto":
            if work.listed is None and not self._draws_all:
                return None
            # No row is left out to judge by, or the trees are costly: the usual numbers.
            given = "sqrt" if is_classifier(self) else 1.0 if self.bootstrap else 1 / 3
        return {self.knob: count_features(given, p)}

    def _path(self, work: ForestWork, values: Any, loss: Loss | None) -> Path:
        """Return the out-of-bag error over the number of columns tried."""
        if work.listed is not None:
            raise InputError(
                "A path over max_features is for one response, criterion='squared_error' or one of "
                "the classes', and trees that are neither pruned nor monotone; give max_features."
            )
        p = work.rows.codes.shape[1]
        if values is None:
            tried = [np.log2(p), np.sqrt(p), p / 3, p / 2, p]
            values = np.maximum(1, np.round(tried)).astype(np.int64)
        values = _check_features(values, p)
        tallies = [self._path_tally(work, int(value)) for value in values]
        error = error_se = None
        if loss is not None:
            judged = np.array([self._judged(work.rows, tally, loss) for tally in tallies])
            best, done = int(np.argmin(judged[:, 0])), set()
            while self._judges and best not in done:  # what the fit states is what the path states
                done.add(best)
                work.grown[int(values[best])] = grown = self._grow(work, int(values[best]))
                tallies[best] = grown.tally
                judged[best] = self._judged(work.rows, grown.tally, loss)
                best = int(np.argmin(judged[:, 0]))
            error, error_se = judged.T
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
        return self._rows_in.bins.encode(self.columns_in_.read(self, X, as_given=True))

    def _means(self, X: Any) -> FloatArray:
        """Return the mean leaf values of new rows."""
        codes = self._codes(X)
        with at_most(self.n_jobs):
            return self.forest_.predict(codes)

    def _outputs(self, X: Any) -> list[FloatArray] | None:
        """Return the mean outputs of whole trees, one array per response; None of packed trees."""
        check_is_fitted(self)
        if not hasattr(self, "_trees"):
            return None
        matrix = self.columns_in_.read(self, X)
        with at_most(self.n_jobs):
            return mean_outputs(self._trees, matrix, classes_of(self))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


def _check_features(values: Any, p: int) -> IntArray:
    given = np.unique(np.asarray(values))
    if not len(given) or given.dtype.kind not in "iu" or given[0] < 1 or given[-1] > p:
        raise ParameterError(
            f"max_features={values!r} is not allowed; X has {p} columns, so give whole numbers "
            f"from 1 to {p}."
        )
    return given.astype(np.int64)
