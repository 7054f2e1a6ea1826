"""What locked rows say by the measure that was asked for, where that is no mean of row losses."""

from typing import Any

import numpy as np

from bottega import metrics
from bottega.core.certificate import Certificate
from bottega.core.typing import Array, FloatArray
from bottega.data import Table
from bottega.risk.estimate.judged_rows import assumption, class_probabilities
from bottega.workbench.measures import Measure, spread_of

__all__ = ["certify_score"]

_SAMPLES = 2_000  # of the bootstrap; fewer where rows are many
_WORK = 20_000_000  # rows times samples
_FEWEST = 400
_EQUAL = "no interval: the score has no spread"
_ROUNDING = 1e-12  # of scores, whose best is 1
_SILENT = (
    "All locked rows agree with this score, as when no row is wrong: they set no limit to that of "
    "new rows."
)
_NEARLY = (
    "Both classes have enough locked rows for the area to be nearly normal on the scale of log "
    "odds: the interval is approximate."
)
_NORMAL = (
    "The locked rows are many enough for samples of them, drawn with replacement, to vary as new "
    "rows would: the interval is approximate."
)


def certify_score(
    measure: Measure, model: Any, part: Table, of_loss: Certificate, rows: Any, seed: int
) -> Certificate | None:
    """Return the score on locked rows with its interval; None where the loss says it all.

    Parameters
    ----------
    measure : Measure
        What methods were ranked by.
    model : fitted procedure
        The winner.
    part : Table
        The locked rows, opened.
    of_loss : Certificate
        What is certified of the row loss.
    rows : JudgedRows
        The training rows: R squared is relative to the variance of their target.
    seed : int
        Seed of the samples.
    """
    if not measure.shown or measure.form not in ("share", "folds"):
        return None
    if measure.form == "share":
        low, middle, high = (
            1 - each / spread_of(rows) for each in (of_loss.upper, of_loss.estimate, of_loss.lower)
        )
        if of_loss.is_without_limits:  # that no score is above 1 is no limit that rows have set
            high = np.inf
        return _with(of_loss, middle, low, high, of_loss.method, of_loss.assumptions, measure)
    classes = rows.classes
    y = np.searchsorted(classes, np.asarray(part.y))
    predicted = np.searchsorted(classes, np.asarray(model.predict(part.X)))
    shares = None
    if hasattr(model, "predict_proba"):
        shares = class_probabilities(model, part.X, classes, measure.shown)
    scores = _Scores(measure, y, predicted, shares, part.weight, part.units)
    found = scores.of(np.ones(scores.n_units))
    if not np.isfinite(found):
        return None
    independent = assumption(part.units is not None, part.time is not None)
    plain = part.weight is None and part.units is None
    if measure.name == "auc" and plain and shares is not None and shares.shape[1] == 2:
        low, high = metrics.roc(y == 1, shares[:, 1]).interval(1 - of_loss.delta, scale="logit")
        if np.isfinite(low) and np.isfinite(high):
            told = (independent, _NEARLY)
            return _with(of_loss, found, low, high, "DeLong, log odds", told, measure)
    low, high = scores.limits(of_loss.delta, seed)
    return _with(of_loss, found, low, high, "bootstrap", (independent, _NORMAL), measure)


def _with(
    like: Certificate,
    estimate: float,
    low: float,
    high: float,
    method: str,
    assumptions: tuple[str, ...],
    measure: Measure,
) -> Certificate:
    if high - low <= _ROUNDING:  # an interval of one number would claim to be certain
        low, high, method, assumptions = -np.inf, np.inf, _EQUAL, (assumptions[0], _SILENT)
    return Certificate(
        estimate=estimate,
        lower=min(low, estimate),
        upper=max(high, estimate),
        delta=like.delta,
        method=method,
        assumptions=assumptions,
        n=like.n,
        quantity=measure.shown,
        approximate=True,
        n_groups=like.n_groups,
    )


class _Scores:
    """The score of rows of which each independent unit counts so many times."""

    def __init__(
        self,
        measure: Measure,
        y: Array,
        predicted: Array,
        shares: FloatArray | None,
        weight: FloatArray | None,
        groups: Array | None,
    ) -> None:
        assert measure.score is not None
        self.score, self.y, self.predicted, self.shares = measure.score, y, predicted, shares
        self.weight = np.ones(len(y)) if weight is None else weight
        self.unit = np.arange(len(y))
        if groups is not None:
            self.unit = np.unique(groups, return_inverse=True)[1]
        self.n_units = int(self.unit.max(initial=-1)) + 1

    def of(self, times: FloatArray) -> float:
        """Return the score where each unit counts so many times."""
        weight = self.weight * times[self.unit]
        at = np.flatnonzero(weight > 0)
        shares = None if self.shares is None else self.shares[at]
        return self.score(self.y[at], self.predicted[at], shares, weight[at])

    def limits(self, delta: float, seed: int) -> tuple[float, float]:
        """Return the quantiles of the score over samples of the units, with replacement."""
        rng, n = np.random.default_rng(seed), self.n_units
        count = int(np.clip(_WORK // max(len(self.y), 1), _FEWEST, _SAMPLES))
        equal = np.full(n, 1 / n)
        found = [self.of(rng.multinomial(n, equal).astype(np.float64)) for _ in range(count)]
        seen = np.array(found)[np.isfinite(found)]
        if not len(seen):
            return 0.0, 1.0
        low, high = np.quantile(seen, [delta / 2, 1 - delta / 2])
        return float(low), float(high)
