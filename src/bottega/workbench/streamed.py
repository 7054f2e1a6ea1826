"""A comparison of methods on a source that is larger than memory.

Rows are dealt by their number to folds, one of which is locked. In each fold a method that fits
chunks learns from all training rows; any other learns from a sample of them. All are judged on the
same held-out rows, which one pass predicts with every model.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import stats
from sklearn.base import clone

from bottega.core import progress
from bottega.core.certificate import Certificate
from bottega.core.chunks import is_empty
from bottega.core.engine import sent
from bottega.core.errors import EngineError, InputError, did_you_mean
from bottega.core.fold_rows import FoldRows
from bottega.core.frames import make_frame
from bottega.core.judge import LossSums
from bottega.core.losses import Loss, get_loss
from bottega.core.matrix_columns import MatrixColumns, made_of
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.data import EncodedChunks
from bottega.data.prepare import implied_names
from bottega.data.row_sample import sample_rows
from bottega.registry import methods as methods_for
from bottega.risk.certify import certify_losses
from bottega.workbench.entrants import unfitted
from bottega.workbench.leaderboard import rank_of

__all__ = ["StreamedComparison", "compare_source"]

_SAMPLE = 100_000  # rows that methods which need all of them in memory learn from
_LOCKED = 0  # the fold that only the certificate opens
_OTHERS = ("tree", "random_forest", "gradient_boosting")  # that learn from the sample by default
_FOLD = "(fold)"
_LEVEL = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class StreamedComparison(Shown):
    """What `compare_source` found.

    Attributes
    ----------
    leaderboard : data frame
        ``method``, ``error`` (mean loss of the held-out rows), ``std_error``, ``conf_low``,
        ``conf_high``, ``learned_from`` (rows of a fit), ``of`` (rows there were), ``seconds`` of
        all fits; the least error first.
    best : estimator
        The method with the least error, at a tie the simplest (as in `compare`), fitted to all
        rows but the locked ones, or to the sample.
    source : EncodedChunks
        The rows; ``source.pipeline(best)`` predicts rows as they are stored.
    certificate : Certificate
        Of the locked rows, which nothing else has looked at.
    skipped : dict of str to str
        Methods that failed, and why.
    loss : str
        What rows were judged by.
    """

    leaderboard: Any
    best: Any
    source: EncodedChunks
    certificate: Certificate
    skipped: dict[str, str]
    loss: str

    def summary(self) -> Summary:
        """Return the leaderboard as a table that shows itself."""
        rows = nw.from_native(self.leaderboard, eager_only=True)
        columns = {name: rows[name].to_list() for name in rows.columns}
        return Summary(
            f"Methods by {self.loss}",
            (Section("", columns),),
            notes=(
                "All methods are judged on the same held-out rows; `learned_from` says how many "
                "rows each has seen.",
                str(self.certificate),
            ),
        )


def compare_source(
    source: EncodedChunks,
    *,
    methods: Sequence[str] | None = None,
    loss: Any = None,
    outer: int = 3,
    sample: int = _SAMPLE,
    task: str | None = None,
    random_state: Any = 0,
) -> StreamedComparison:
    """Compare methods on rows that do not fit into memory.

    Parameters
    ----------
    source : EncodedChunks
        The rows, with a target (`bottega.scale.source`).
    methods : sequence of str, optional
        Short names from the catalogue. By default all that fit chunks, and a tree, a forest and
        boosting, which learn from the sample; the baseline is always among them.
    loss : str or Loss, optional
        What rows are judged by; the squared error, or the misclassification.
    outer : int
        Folds that judge; one more is locked for the certificate.
    sample : int
        Rows that methods which need all of them in memory learn from, each class with its share.
    task : {"regression", "classification"}, optional
        What the target is; by default more than two numbers are a regression, and two numbers or
        labels a classification, as in `bottega.data.read`.
    random_state : int, RandomState, Generator or None
        Seed of the sample.

    Returns
    -------
    StreamedComparison
        One leaderboard, the best model and a certificate.

    Notes
    -----
    Each fold costs one pass to judge all models, and those of the fits. The interval allows for
    the training rows that folds share (Nadeau and Bengio's variance). The encoder was learnt from
    the inputs of all rows, responses aside.

    Examples
    --------
    >>> from bottega import scale
    >>> rows = scale.source("iris", target="target")
    >>> found = compare_source(rows, methods=["linear_discriminant", "tree"])
    >>> found.leaderboard["method"].tolist()[0]
    'linear_discriminant'
    """
    if not isinstance(source, EncodedChunks) or source.target is None:
        raise InputError("compare_source takes a source with named columns and a target.")
    if outer < 2 or sample < 1:
        raise InputError(f"outer={outer!r} is at least 2 folds, sample={sample!r} at least a row.")
    task = _task_of(source, task)
    seed = seed_of(random_state, "compare_source")
    drawn = _SampledRows.of(source, outer + 1, sample, seed, task)
    judged_by = get_loss(loss, task)
    if judged_by.method != "predict":
        raise InputError(f"{judged_by.title} judges probabilities; give a loss of predictions.")
    entrants = [_Entrant(name, each, judged_by) for name, each in _chosen(task, methods).items()]
    sizes = np.zeros(outer + 1)  # rows of each fold
    for fold in range(1, outer + 1):
        held_out = FoldRows(source, outer + 1, [fold])
        train = [k for k in range(1, outer + 1) if k != fold]
        for entrant in entrants:
            entrant.learn(source, outer + 1, train, drawn)
        sizes[fold] = _judge(entrants, held_out, judged_by)
        progress.report("folds", fold, outer)
    able = [each for each in entrants if not each.failure]
    if not able:
        raise InputError("No method could be fitted: " + entrants[0].failure)
    able.sort(key=lambda each: rank_of(each.error, each.estimator.card))
    best = able[0].fitted(source, outer + 1, range(1, outer + 1), drawn)
    losses, weights = _losses_of(best, FoldRows(source, outer + 1, [_LOCKED]), judged_by)
    certificate = certify_losses(
        losses,
        sample_weight=weights,
        zero_one=judged_by.name == "zero_one",
        quantity=judged_by.title,
    )
    board = [each.line(sizes[1:], outer) for each in able]
    columns = {name: [line[name] for line in board] for name in board[0]}
    return StreamedComparison(
        leaderboard=make_frame(columns),
        best=best,
        source=source,
        certificate=certificate,
        skipped={each.name: each.failure for each in entrants if each.failure},
        loss=judged_by.title,
    )


def _task_of(source: EncodedChunks, task: str | None) -> str:
    """Return what a table in memory with this target would be for (`bottega.data.read`)."""
    seen: set[float] = set()
    for _, y, *_ in source:
        values = np.asarray(y)
        if values.dtype.kind not in "fiu":
            if task == "regression":
                raise InputError(f"Target {source.target!r} has labels; regression needs numbers.")
            return "classification"
        if task is not None:
            return task
        seen.update(np.unique(values).tolist())
        if len(seen) > 2:
            return "regression"
    if not seen:
        raise InputError("The source has no rows.")
    if len(seen) == 1:
        raise InputError(f"Target {source.target!r} has one value only: there is nothing to learn.")
    return "classification"


def _chosen(task: str, wanted: Sequence[str] | None) -> dict[str, Any]:
    known = methods_for(task)
    for name in wanted or ():
        if name not in known:
            raise InputError(f"There is no method {name!r} for {task}.{did_you_mean(name, known)}")
    names = [name for name, each in known.items() if each.card.chunks and each.card.twin_of is None]
    names = [*names, *_OTHERS] if wanted is None else list(wanted)
    return {name: known[name] for name in ["baseline", *names] if name in known}


@dataclass(frozen=True, eq=False)
class _SampledRows:
    """Rows in memory, with the fold of each."""

    X: Any
    y: Any
    fold: Any
    weight: FloatArray | None

    @classmethod
    def of(
        cls, source: EncodedChunks, folds: int, size: int, seed: int, task: str
    ) -> "_SampledRows":
        def frames() -> Any:
            for X, y, w, fold in FoldRows(source, folds, range(folds)).dealt():
                data = nw.from_native(X, eager_only=True)
                more = {"(y)": y, _FOLD: fold, "(w)": np.ones(len(y)) if w is None else w}
                columns = [
                    nw.new_series(name, np.asarray(values).tolist(), backend=data.implementation)
                    for name, values in more.items()
                ]
                yield data.with_columns(*columns)

        strata = "(y)" if task == "classification" else None
        rows = nw.from_native(sample_rows(frames(), size, seed, strata), eager_only=True)
        names = [name for name in rows.columns if name not in ("(y)", _FOLD, "(w)")]
        return cls(
            rows.select(names).to_native(),
            rows["(y)"].to_numpy(),
            rows[_FOLD].to_numpy(),
            rows["(w)"].to_numpy() if source.weight is not None else None,
        )

    def rows(self, folds: Any) -> tuple[Any, Any, Any]:
        """Return inputs, responses and weights of the rows of some folds."""
        at = np.flatnonzero(np.isin(self.fold, list(folds)))
        X = nw.from_native(self.X, eager_only=True)[at, :].to_native()
        return X, self.y[at], None if self.weight is None else self.weight[at]


class _Entrant:
    """A method, its model of the fold at hand, and the losses of all folds."""

    def __init__(self, name: str, estimator: Any, loss: Loss) -> None:
        self.name, self.estimator = name, unfitted(estimator, "min", loss)
        self.chunks = bool(estimator.card.chunks)
        self.weights = bool(estimator.card.weights)
        self.model: Any = None
        self.failure = ""
        self.folds: list[LossSums] = []
        self.seconds, self.learned = 0.0, 0

    def learn(self, source: EncodedChunks, count: int, folds: Any, drawn: _SampledRows) -> None:
        """Fit to the rows of some folds; a failure is remembered."""
        self.folds.append(LossSums())
        if self.failure:
            return
        start = perf_counter()
        with self._remembered():
            self.model = self.fitted(source, count, folds, drawn)
        self.seconds += perf_counter() - start

    def judge(self, X: Any, y: Any, w: Any, loss: Loss) -> None:
        """Take in the losses of held-out rows; a failure is remembered."""
        with self._remembered():
            losses = loss.of_rows(y, np.asarray(self.model.predict(X))[:, None])
            self.folds[-1].update(losses, w)

    @contextmanager
    def _remembered(self) -> Iterator[None]:
        """Remember a failure: that of one method must not take the others down."""
        try:
            yield
        except EngineError:  # no method's fault
            raise
        except Exception as error:
            self.failure = f"failed with {type(error).__name__}: {error}"

    def fitted(self, source: EncodedChunks, count: int, folds: Any, drawn: _SampledRows) -> Any:
        """Return a copy fitted to the rows of some folds, or to those of the sample."""
        model, encoder = clone(self.estimator), source.encoder
        names = tuple(encoder.get_feature_names_out())
        made = MatrixColumns(names, implied_names(encoder), type(model).__name__, silent=True)
        with made_of(made):
            if self.chunks:
                return model.fit(FoldRows(source, count, folds))
            X, y, w = drawn.rows(folds)
            self.learned = len(y)
            weighted = w is not None and self.weights
            return sent(partial(model.fit, X, y, **({"sample_weight": w} if weighted else {})))

    @property
    def error(self) -> float:
        """The mean loss of all held-out rows."""
        total = LossSums()
        for each in self.folds:
            total.merge(_copied(each))
        return float(total.mean[0])

    def line(self, sizes: FloatArray, outer: int) -> dict[str, Any]:
        """Return the line of the leaderboard."""
        means = np.array([float(each.mean[0]) for each in self.folds])
        spread = np.sqrt((1 / outer + 1 / (outer - 1)) * np.var(means, ddof=1))
        reach = spread * stats.t.ppf((1 + _LEVEL) / 2, outer - 1)
        of = round(float(sizes.sum()) * (outer - 1) / outer)
        return {
            "method": self.name,
            "error": self.error,
            "std_error": float(spread),
            "conf_low": self.error - reach,
            "conf_high": self.error + reach,
            "learned_from": of if self.chunks else min(self.learned, of),
            "of": of,
            "seconds": self.seconds,
        }


def _copied(sums: LossSums) -> LossSums:
    found = LossSums()
    vars(found).update(vars(sums))
    return found


def _judge(entrants: list[_Entrant], rows: FoldRows, loss: Loss) -> int:
    """Judge the models of all methods in one pass; return how many rows there were."""
    count = 0
    for X, y, w in rows:
        if is_empty(X):
            continue
        count += len(y)
        for entrant in entrants:
            if not entrant.failure:
                entrant.judge(X, y, w, loss)
    if not count:
        raise InputError("A fold has no rows: the source has too few for so many folds.")
    return count


def _losses_of(model: Any, rows: FoldRows, loss: Loss) -> tuple[FloatArray, FloatArray | None]:
    """Return the loss and the weight of each row."""
    losses, weights = [], []
    for X, y, w in rows:
        if is_empty(X):
            continue
        losses.append(loss.of_rows(y, np.asarray(model.predict(X))[:, None])[:, 0])
        weights.append(w)
    found = np.concatenate(losses)
    return found, None if weights[0] is None else np.concatenate(weights)
