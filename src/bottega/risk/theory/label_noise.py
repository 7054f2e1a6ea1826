r"""Noisy labels of three kinds, and what they do to the Bayes risk.

People disagree about the label (`annotators`), the features do not determine it
(`hidden_features`), or the features are measured with error (`noisy_features`). The three may be
put on top of one another: each takes a generator and returns one.

For classes, annotators who err with probability q make of :math:`\eta = P(Y = 1 \mid x)` the value
:math:`q + (1 - 2q)\eta`: the best rule stays and the Bayes risk R becomes :math:`q + (1 - 2q) R`.
The other two change the best rule itself. What becomes of its risk can be computed for a
`FiniteDistribution`, and is NaN for any other generator unless you say what it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.params import Integer
from bottega.core.seeds import seed_of
from bottega.core.typing import Array, FloatArray
from bottega.data.make import Sample
from bottega.risk.theory.finite_distribution import FiniteDistribution
from bottega.risk.theory.simulation import Generator

__all__ = ["annotators", "hidden_features", "noisy_features"]


@dataclass(frozen=True)
class _Noisy:
    """A generator that spoils what another one draws; the same seed spoils the same rows."""

    source: Generator
    spoil: Callable[[Sample, np.random.Generator], Sample]

    def __post_init__(self) -> None:
        if not callable(self.source):
            raise InputError(
                "source must be a generator (n, random_state=...) -> Sample or a "
                f"FiniteDistribution; got {type(self.source).__name__}."
            )

    @property
    def depth(self) -> int:
        return 1 + getattr(self.source, "depth", 0)

    def __call__(self, n: int, *, random_state: Any = 0) -> Sample:
        seed = seed_of(random_state)
        rng = np.random.default_rng([seed, self.depth])  # each layer of noise has its own stream
        return self.spoil(self.source(n, random_state=seed), rng)


def annotators(
    source: Any, disagreement: float, *, n_annotators: int = 1, labels: Sequence[Any] = (0, 1)
) -> Any:
    """Let people give the labels, who do not always agree.

    Parameters
    ----------
    source : generator or FiniteDistribution
        Where the rows come from.
    disagreement : float
        For classes, the probability with which an annotator gives another label than the source
        (each other label equally often), less than it would be by guessing. For a generator of
        squared loss, the standard deviation of an annotator's number about that of the source.
    n_annotators : int
        How many are asked: the majority of an odd number for two classes, the mean for numbers.
    labels : sequence
        The classes of a generator; a FiniteDistribution knows its own.

    Returns
    -------
    generator or FiniteDistribution
        As `source`. The Bayes risk is known if that of `source` is: with q the probability that
        the label given is another and K classes, ``1 - (1 - R)(1 - q K/(K - 1)) - q/(K - 1)``; for
        numbers ``R + disagreement^2 / n_annotators``.

    Examples
    --------
    >>> from functools import partial
    >>> from bottega.data import make
    >>> noisy = annotators(partial(make.xor, cluster_std=0.3), 0.2)
    >>> round(noisy(10, random_state=1).bayes_risk, 4)
    0.2005
    """
    Integer(1).check("annotators", "n_annotators", n_annotators)
    if not disagreement >= 0:
        raise ParameterError(f"disagreement={disagreement!r} is not allowed; give 0 or more.")
    if isinstance(source, FiniteDistribution):
        rate = _majority_rate(disagreement, n_annotators, len(source.labels))
        channel = _channel(rate, len(source.labels))
        return replace(source, joint=source.joint @ channel)
    return _Noisy(source, partial(_annotate, disagreement, n_annotators, np.asarray(labels)))


def _majority_rate(disagreement: float, n_annotators: int, n_labels: int) -> float:
    """Return the probability that the label settled on is another than the source's."""
    if not disagreement < 1 - 1 / n_labels:
        raise ParameterError(
            f"disagreement={disagreement!r} is not allowed; with {n_labels} classes it must be "
            f"below {1 - 1 / n_labels:.4g}, what guessing gives."
        )
    if n_annotators == 1:
        return disagreement
    if n_labels != 2 or n_annotators % 2 == 0:
        raise ParameterError(
            f"n_annotators={n_annotators} with {n_labels} classes is not allowed; a majority needs "
            "two classes and an odd number of annotators."
        )
    return float(stats.binom.sf(n_annotators // 2, n_annotators, disagreement))


def _channel(rate: float, n: int) -> FloatArray:
    """Return the probabilities of what is written for each of n values (rows: the value)."""
    if n == 1:
        return np.ones((1, 1))
    return np.full((n, n), rate / (n - 1)) + np.eye(n) * (1 - rate - rate / (n - 1))


def _annotate(
    disagreement: float, n_annotators: int, labels: Array, sample: Sample, rng: np.random.Generator
) -> Sample:
    if sample.loss == "squared_error":
        spread = disagreement / np.sqrt(n_annotators)
        y = sample.y + spread * rng.normal(size=len(sample.y))
        return replace(sample, y=y, bayes_risk=sample.bayes_risk + spread**2)
    K = len(labels)
    rate = _majority_rate(disagreement, n_annotators, K)
    place = {label: i for i, label in enumerate(labels.tolist())}
    unknown = set(np.unique(sample.y).tolist()) - set(place)
    if unknown:
        raise InputError(
            f"The source gives labels {sorted(unknown)} that are not among labels="
            f"{labels.tolist()}; name all its classes."
        )
    codes = np.array([place[label] for label in sample.y.tolist()], dtype=np.intp)
    wrong = rng.uniform(size=len(codes)) < rate
    codes = (codes + wrong * rng.integers(1, K, size=len(codes))) % K
    known = sample.loss == "zero_one"
    risk = 1 - (1 - sample.bayes_risk) * (1 - rate * K / (K - 1)) - rate / (K - 1)
    return replace(sample, y=labels[codes], bayes_risk=risk if known else np.nan)


def hidden_features(
    source: Any,
    columns: int | Sequence[int],
    *,
    bayes: Callable[[Array], Array] | None = None,
    bayes_risk: float = np.nan,
) -> Any:
    """Hide features: what is left need not determine the label.

    Parameters
    ----------
    source : generator or FiniteDistribution
        Where the rows come from.
    columns : int or sequence of int
        Columns of X to take away.
    bayes, bayes_risk : callable and float, optional
        The best predictor from what is seen and its risk, if you know them. For a
        FiniteDistribution they are computed.

    Returns
    -------
    generator or FiniteDistribution
        As `source`.

    Examples
    --------
    The exclusive or of two fair bits is certain with both and a coin toss with one:

    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> D = FiniteDistribution(np.array([[1, 0], [0, 1], [0, 1], [1, 0]]) / 4, points=corners)
    >>> D.bayes_risk, hidden_features(D, 1).bayes_risk
    (0.0, 0.5)
    """
    hidden = np.unique(np.atleast_1d(np.asarray(columns)))
    if isinstance(source, FiniteDistribution):
        points = _without(hidden, source.points)
        left, where = np.unique(points, axis=0, return_inverse=True)
        joint = np.zeros((len(left), len(source.labels)))
        np.add.at(joint, where.ravel(), source.joint)
        return replace(source, joint=joint, points=left)
    return _Noisy(source, partial(_hide, hidden, bayes or _not_known, bayes_risk))


def _without(hidden: Array, X: Array) -> Array:
    d = np.shape(X)[1]
    if len(_columns(hidden, d)) == d:
        raise ParameterError(f"All {d} columns are hidden; leave at least one.")
    return np.delete(np.asarray(X), hidden, axis=1)


def _hide(
    hidden: Array,
    bayes: Callable[[Array], Array],
    bayes_risk: float,
    sample: Sample,
    rng: np.random.Generator,  # noqa: ARG001
) -> Sample:
    X = _without(hidden, sample.X)
    return replace(sample, X=X, bayes=bayes, bayes_risk=bayes_risk)


def _not_known(X: Array) -> Array:  # noqa: ARG001
    raise InputError(
        "The best predictor is not known after this noise; give it with bayes= and bayes_risk= "
        "where the noise is put on."
    )


@documented_like(hidden_features)
def noisy_features(
    source: Any,
    noise: float,
    *,
    columns: int | Sequence[int] | None = None,
    bayes: Callable[[Array], Array] | None = None,
    bayes_risk: float = np.nan,
) -> Any:
    """Measure the features with error: the label belongs to a point near the one that is seen.

    Parameters
    ----------
    noise : float
        For a generator, the standard deviation of the normal error of each measurement. For a
        FiniteDistribution, the probability with which a feature is read as another of its values
        (each equally often).
    columns : int or sequence of int, optional
        Which columns; all by default.

    Returns
    -------
    generator or FiniteDistribution
        As `source`.

    Examples
    --------
    Normal errors of 0.3 on clusters of spread 0.4 make clusters of spread 0.5:

    >>> from functools import partial
    >>> from bottega.data import make
    >>> seen = make.xor(1, cluster_std=0.5)
    >>> noisy = noisy_features(partial(make.xor, cluster_std=0.4), 0.3,
    ...                        bayes=seen.bayes, bayes_risk=seen.bayes_risk)
    >>> round(noisy(10).bayes_risk, 4)
    0.0445
    """
    if not noise >= 0:
        raise ParameterError(f"noise={noise!r} is not allowed; give 0 or more.")
    spoilt = None if columns is None else np.unique(np.atleast_1d(np.asarray(columns)))
    if isinstance(source, FiniteDistribution):
        return _misread(source, noise, _columns(spoilt, source.points.shape[1]))
    return _Noisy(source, partial(_measure, noise, spoilt, bayes or _not_known, bayes_risk))


def _columns(spoilt: Array | None, d: int) -> Array:
    if spoilt is None:
        return np.arange(d)
    if spoilt.dtype.kind not in "iu" or np.any((spoilt < 0) | (spoilt >= d)):
        raise ParameterError(
            f"columns={spoilt.tolist()} is not allowed; X has columns 0 to {d - 1}."
        )
    return spoilt


def _measure(
    noise: float,
    spoilt: Array | None,
    bayes: Callable[[Array], Array],
    bayes_risk: float,
    sample: Sample,
    rng: np.random.Generator,
) -> Sample:
    X = np.array(sample.X, dtype=np.float64)
    places = _columns(spoilt, X.shape[1])
    X[:, places] += noise * rng.normal(size=(len(X), len(places)))
    return replace(sample, X=X, bayes=bayes, bayes_risk=bayes_risk)


def _misread(source: FiniteDistribution, noise: float, places: Array) -> FiniteDistribution:
    """Return the distribution of what is read, feature after feature."""
    if not noise <= 1:
        raise ParameterError(f"noise={noise!r} is not allowed; it is a probability here.")
    mass = dict(zip(map(tuple, source.points.tolist()), source.joint, strict=True))
    for j in places.tolist():
        levels = sorted({point[j] for point in mass})
        channel = _channel(noise, len(levels))
        read: dict[tuple[Any, ...], FloatArray] = {}
        for point, joint in mass.items():
            for level, share in zip(levels, channel[levels.index(point[j])], strict=True):
                if share > 0:
                    seen = (*point[:j], level, *point[j + 1 :])
                    read[seen] = read.get(seen, 0.0) + share * joint
        mass = read
    points = sorted(mass)
    joint = np.array([mass[point] for point in points])
    return replace(source, joint=joint, points=np.array(points, dtype=source.points.dtype))
