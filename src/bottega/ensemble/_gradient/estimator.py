"""What boosted classes and boosted numbers share: the rounds, their path, and its judgement."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.estimator import Walk
from bottega.core.judge import mean_and_se
from bottega.core.losses import Loss, get_loss
from bottega.core.path import Path, along
from bottega.core.rounds import round_numbers
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._gradient.booster import Booster, threads_for
from bottega.ensemble._gradient.checked import check_boosted
from bottega.tree._grow.chunk_columns import ColumnChunks, gather_columns
from bottega.tree._grow.column_reader import read_columns

_FIRST = 32  # rounds after which it is first asked whether more are of use
_TRAINING_ROWS = 2_000  # of each fold, by which the training error is judged
_ROWS_PER_LEAF = 250  # of trees whose size is not given: small tables want small trees
_MANY_ROWS = 20_000  # beyond this one part is held out, instead of each of five
_SHARED = (
    *("learning_rate", "max_leaf_nodes", "max_depth", "min_samples_leaf", "l2_regularization"),
    *("max_features", "max_bins"),
)


@dataclass(eq=False)
class JudgedFold:
    """A fold, the model of its training rows, and the losses after some numbers of rounds."""

    train: Rows
    test: Rows
    booster: Booster
    held: list[FloatArray] = field(default_factory=list)  # losses of the held-out rows
    own: list[float] = field(default_factory=list)  # their mean under the loss that trees lower
    trained: list[float] = field(default_factory=list)  # mean loss of training rows


class GradientBase(Tuned, ColumnChunks):
    """Adds up trees, each fitted to the gradient of a loss at what the others predict.

    A subclass gives `_template(**options)`, scikit-learn's estimator; `_descent`, the loss that it
    lowers; and `_predicted(outputs, method)`, what its numbers or class shares predict.
    """

    knob: ClassVar[str] = "n_estimators"
    in_chunks: ClassVar[str] = (
        "Of rows in chunks each value's bin is kept, one byte, and the trees grow on one number "
        "per bin (beyond 1 GiB in a temporary file, 8 bytes per value). Where no column has "
        "more than 255 distinct values the answer is that of `fit`; of others the quantiles of "
        "100,000 rows are the cut points, which scikit-learn would place a little differently, "
        "and new rows are read by the same bins."
    )
    simplifies: ClassVar[bool] = False

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        columns, y = read_columns(self, X, y)
        self._know(columns, y)
        return columns, y

    def _know(self, columns: Any, y: Array) -> None:
        """Check what is asked of the columns and responses, and keep it."""
        self._signs = self._check_signs(columns.n_levels)
        self._groups = self._check_groups(len(columns.n_levels))

    def _gather(self, checked: CheckedChunks) -> Rows:
        columns, y, weight = gather_columns(self, checked)
        self._know(columns, y)
        self._seed = seed_of(self.random_state)
        binned = columns.binned()
        self.columns_in_.bins = binned.bins  # by which new rows are read, too
        return Rows(binned, y, weight)

    def _check_signs(self, n_levels: IntArray) -> list[int] | None:
        """Return the direction that each column must keep to, if any must."""
        given, names = self.monotonic_cst, self.columns_in_.names
        if given is None:
            return None
        if isinstance(given, Mapping):
            for name in given:
                if name not in names:
                    raise ParameterError(
                        f"monotonic_cst names a column {name!r} that is not there."
                        + did_you_mean(str(name), names)
                    )
            given = [given.get(name, 0) for name in names]
        signs = np.asarray(given)
        if signs.shape != (len(names),) or not np.all(np.isin(signs, (-1, 0, 1))):
            raise ParameterError(
                f"monotonic_cst={self.monotonic_cst!r} is not allowed; give -1, 0 or 1 for each of "
                f"the {len(names)} columns, or a dict of their names."
            )
        ordered = np.flatnonzero((signs != 0) & (n_levels > 0))
        if len(ordered):
            raise ParameterError(
                f"monotonic_cst asks for a direction along {names[ordered[0]]!r}, which is a "
                "category; give 0 for it."
            )
        return [int(sign) for sign in signs] if np.any(signs) else None

    def _check_groups(self, p: int) -> list[set[int]] | None:
        """Return the sets of columns that may meet in one tree, if not all may."""
        given = self.interaction_cst
        if given is None:
            return None
        if isinstance(given, str) and given == "no_interactions":
            return [{j} for j in range(p)]
        if isinstance(given, str) and given == "pairwise":
            return [set(pair) for pair in combinations(range(p), 2)] or [{0}]
        try:
            groups = [{int(j) for j in group} for group in given]
        except (TypeError, ValueError):
            groups = []
        if not groups or any(not 0 <= j < p for group in groups for j in group):
            raise ParameterError(
                f"interaction_cst={given!r} is not allowed; give 'pairwise', 'no_interactions' or "
                f"a list of lists of column numbers from 0 to {p - 1}."
            )
        rest = set(range(p)).difference(*groups)
        return [*groups, rest] if rest else groups

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Read the rows, and draw the seed that the folds of a path share."""
        rows = super()._read(X, y, sample_weight)
        self._seed = seed_of(self.random_state)
        return rows

    def _boosted(self, rows: Rows) -> Booster:
        """Return a model of the rows that has no trees yet."""

        def make(source: IntArray, n: int) -> Any:
            options = {name: getattr(self, name) for name in _SHARED}
            if isinstance(self.max_leaf_nodes, str):
                options["max_leaf_nodes"] = int(np.clip(n // _ROWS_PER_LEAF, 4, 31))
            if self._signs is not None:
                options["monotonic_cst"] = [self._signs[j] for j in source]
            if self._groups is not None:
                options["interaction_cst"] = [
                    np.flatnonzero(np.isin(source, list(group))).tolist() for group in self._groups
                ]
            return self._template(
                **options,
                early_stopping=False,
                warm_start=True,
                categorical_features=None,
                random_state=self._seed % 2**32,
            )

        n_classes = len(self.classes_) if is_classifier(self) else 0
        return Booster(rows, make, n_classes, positive=self._positive)

    @property
    def _positive(self) -> bool:
        """Whether the responses are positive by their nature."""
        return False

    def _prepare(self, rows: Rows) -> Rows:
        return rows

    @property
    def _folds_by(self) -> Any:
        return self.cv

    def _path(self, work: Rows, values: Any, loss: Loss | None) -> Path:
        return self._curve(work, work, Walk(values=values, loss=loss))

    def _curve(self, work: Rows, rows: Rows | None, walk: Walk, honest: bool = True) -> Path:
        """Return the path, judged while it is made: rounds that are of no use are not run."""
        rows = work
        loss = self._own_loss(work) if walk.loss is None else get_loss(walk.loss, self.card.task)
        assert loss is not None
        if is_classifier(self):
            loss = loss.for_classes(self.classes_)
        if len(rows) < 2:
            raise InputError(
                f"Choosing n_estimators needs rows to hold out; got n_samples = {len(rows)}. Give "
                "a value, or more rows."
            )
        cv = self.cv if walk.cv is None else walk.cv
        if isinstance(cv, str) and cv == "auto":
            cv = 5 if len(rows) <= _MANY_ROWS else 0.2
        pairs, estimate = self._held_out(rows, cv)
        if not pairs:  # of every class there is one row, dealt to one fold: each row by itself
            pairs, estimate = self._held_out(rows, "loo")
        parts = [(rows.take(train), rows.take(test)) for train, test in pairs]
        folds = [JudgedFold(train, test, self._boosted(train)) for train, test in parts]
        if walk.values is None:
            rounds = self._judge_until_enough(folds, loss)
        else:
            rounds = np.unique(self._check_values(walk.values)).tolist()
            self._judge_rounds(folds, rounds, loss)
        tested = np.concatenate([test for _, test in pairs])
        held = np.concatenate([np.column_stack(fold.held) for fold in folds])
        return self._judged(rows, rounds, folds, tested, held, loss, estimate)

    def _judge_until_enough(self, folds: list[JudgedFold], loss: Loss) -> list[int]:
        """Judge twice as many rounds again and again, while the loss falls in the later half.

        The loss is that which the trees lower, whatever the rows are judged by.
        """
        grid = round_numbers(self.max_estimators)
        done, stop = 0, min(_FIRST, self.max_estimators)
        shares = np.array([fold.test.total_weight for fold in folds])
        while True:
            there = int(np.searchsorted(grid, stop, side="right"))
            self._judge_rounds(folds, grid[done:there], loss)
            done = there
            mean = shares @ np.array([fold.own for fold in folds])
            least = grid[int(np.argmin(mean))]
            if stop >= self.max_estimators or 2 * least <= stop:
                return grid[:done]
            stop = min(2 * stop, self.max_estimators)

    def _judge_rounds(self, folds: list[JudgedFold], rounds: Sequence[int], loss: Loss) -> None:
        """Judge each fold after these numbers of rounds, which come after those judged before."""
        wanted = set(rounds)

        def judge(fold: JudgedFold) -> None:
            w, step = fold.train.weight, -(-len(fold.train) // _TRAINING_ROWS)
            some = np.arange(0, len(fold.train), step)
            seen = fold.train.take(some)
            with threads_for(len(fold.train), self.n_jobs):
                fold.booster.grow(max(rounds))
                both = zip(
                    fold.booster.trees.staged(fold.test.X.X),
                    fold.booster.trees.staged(seen.X.X),
                    strict=False,
                )
                for number, (held, trained) in enumerate(both, start=1):
                    if number in wanted:
                        losses = self._losses(loss, fold.test.y, held)
                        own = losses
                        if loss != self._descent:
                            own = self._losses(self._descent, fold.test.y, held)
                        fold.held.append(losses)
                        fold.own.append(float(np.average(own, weights=fold.test.weight)))
                        mean = np.average(
                            self._losses(loss, seen.y, trained),
                            weights=None if w is None else w[some],
                        )
                        fold.trained.append(float(mean))
                    if number == max(rounds):
                        break

        for fold in folds:  # one after another: threads share out the rows where there are many
            judge(fold)

    def _losses(self, loss: Loss, y: Array, outputs: Array) -> FloatArray:
        return loss.of_rows(y, self._predicted(outputs, loss.method))

    def _judged(
        self,
        rows: Rows,
        rounds: list[int],
        folds: list[JudgedFold],
        tested: IntArray,
        held: FloatArray,
        loss: Loss,
        estimate: str,
    ) -> Path:
        # A row that is held out several times is one row: its losses are averaged first.
        distinct, place, times = np.unique(tested, return_inverse=True, return_counts=True)
        total = np.zeros((len(distinct), len(rounds)))
        np.add.at(total, place, held)
        w = None if rows.weight is None else rows.weight[distinct]
        error, error_se = mean_and_se(total / times[:, None], w)
        shares = np.array([fold.train.total_weight for fold in folds])
        return Path(
            along(self.knob, rounds),
            complexity=np.array(rounds, dtype=np.float64),
            train_error=shares @ np.array([fold.trained for fold in folds]) / shares.sum(),
            error=error,
            error_se=error_se,
            fold_error=np.array(
                [
                    np.average(np.column_stack(fold.held), axis=0, weights=fold.test.weight)
                    for fold in folds
                ]
            ),
            estimate=estimate,
            loss=loss.title,
        )

    def _predictions(
        self, work: Rows, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        rounds = [int(setting[self.knob]) for setting in settings]
        booster = self._boosted(work)
        found: dict[int, Array] = {}
        with threads_for(len(work), self.n_jobs):
            booster.grow(max(rounds))
            for number, outputs in enumerate(booster.trees.staged(X_new.X), start=1):
                if number in rounds:
                    found[number] = self._predicted(outputs, method)
                if number == max(rounds):
                    break
        return np.stack([found[number] for number in rounds], axis=1)

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        self.n_estimators_ = int(setting[self.knob])
        booster = self._boosted(work)
        with threads_for(len(work), self.n_jobs):
            booster.grow(self.n_estimators_)
        self.trees_ = booster.trees

    def check_loaded(self) -> None:
        """Raise unless trees that were read from a file can be walked."""
        if hasattr(self, "trees_"):
            check_boosted(self.trees_, len(self.columns_in_.values))

    def _outputs(self, X: Any) -> Array:
        """Return the numbers or the class shares that are predicted for new rows."""
        check_is_fitted(self)
        matrix = self.columns_in_.read(self, X)
        with threads_for(len(matrix), self.n_jobs):
            return self.trees_.predict(matrix)

    def _staged(self, X: Any, method: str) -> Iterator[Array]:
        check_is_fitted(self)
        matrix = self.columns_in_.read(self, X)
        for outputs in islice(self.trees_.staged(matrix), self.n_estimators_):
            yield self._predicted(outputs, method)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
