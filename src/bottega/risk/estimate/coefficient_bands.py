"""How far coefficients along a path would change with other rows: bands by resampling."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from bottega.core.errors import InputError
from bottega.core.frames import backend_of, default_names, is_frame, make_frame
from bottega.core.parallel import in_threads
from bottega.core.params import Integer
from bottega.core.path import Path
from bottega.core.results import check_level
from bottega.core.rows import check_weight
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.core.tuned import Tuned, bare_path
from bottega.core.typing import FloatArray
from bottega.plot import coefficient_chart

__all__ = ["CoefficientBands", "coefficient_bands"]


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientBands(Shown):
    """Coefficients along a path with their limits; made by `coefficient_bands`.

    Attributes
    ----------
    path : Path
        The path on all rows.
    coef : ndarray of shape (m, p)
        Its coefficients.
    lower, upper : ndarray of shape (m, p)
        Limits of each.
    nonzero : ndarray of shape (m, p)
        Share of the replicates in which a coefficient is not zero.
    names : list of str
        The inputs.
    level : float
        Share of the replicates between the limits.
    """

    path: Path
    coef: FloatArray
    lower: FloatArray
    upper: FloatArray
    nonzero: FloatArray
    names: list[str]
    level: float
    like: Any = None

    def tidy(self, like: Any = None) -> Any:
        """Return one row per value of the knob and input, as a data frame."""
        m, p = self.coef.shape
        columns = {
            str(self.path.knob): np.repeat(self.path.values, p),
            "term": self.names * m,
            "estimate": self.coef.ravel(),
            "conf_low": self.lower.ravel(),
            "conf_high": self.upper.ravel(),
            "nonzero": self.nonzero.ravel(),
        }
        return make_frame(columns, self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the coefficients of the picked model with their limits."""
        at = self.path.best(self.path.select or "min")
        columns = {
            "term": self.names,
            "estimate": self.coef[at].tolist(),
            "conf_low": self.lower[at].tolist(),
            "conf_high": self.upper[at].tolist(),
            "nonzero": self.nonzero[at].tolist(),
        }
        value = f"{self.path.knob} = {self.path.values[at]:.4g}"
        note = f"{100 * self.level:g} % of the replicates lie between the limits"
        return Summary(f"Coefficients at {value}", (Section("", columns),), (note,))

    def plot(self, *, select: str = "min", against: str | None = None) -> Any:
        """Draw the coefficients along the path in their bands.

        Parameters
        ----------
        select, against
            As in `bottega.plot.coefficient_chart`.
        """
        path = replace(self.path, coef=self.coef)
        bands = (self.lower, self.upper)
        return coefficient_chart(
            path, select=select, names=self.names, against=against, bands=bands
        )


def coefficient_bands(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    label: Any = None,
    values: Any = None,
    level: float = 0.9,
    n_resamples: int = 100,
    random_state: Any = 0,
) -> CoefficientBands:
    """Return coefficients along a path with bands by resampling.

    In each replicate every row has a random weight of mean one (the Bayesian bootstrap), and the
    path is walked again at the same values of the knob.

    Parameters
    ----------
    estimator : estimator
        With a path that has coefficients, and sample weights: ridge, lasso, elastic net, logistic
        regression.
    X : array-like or data frame of shape (n, p)
        Inputs.
    y : array-like of shape (n,)
        Responses or classes.
    sample_weight : array-like of shape (n,), optional
        Row weights.
    label : object, optional
        Of more than two classes the one whose coefficients are wanted.
    values : array-like, optional
        Values of the knob; the method's own by default.
    level : float
        Share of the replicates between the limits.
    n_resamples : int
        Replicates.
    random_state : int, RandomState, Generator or None
        Seed of these.

    Returns
    -------
    CoefficientBands
        With `tidy`, `plot` and `nonzero`, how often each coefficient is chosen.

    Notes
    -----
    Limits say how far an estimate varies, its shrinkage included: they are no confidence limits of
    the true coefficients of a penalised model.

    References
    ----------
    .. [1] Rubin, D. B. (1981). The Bayesian bootstrap. Annals of Statistics 9, 130-134.

    Examples
    --------
    >>> from bottega.linear import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> found = coefficient_bands(Ridge(), X, X[:, 0] + 0.1 * rng.normal(size=60))
    >>> bool(np.all(found.lower[-1] <= found.coef[-1])), found.coef.shape[1]
    (True, 2)
    """
    if not isinstance(estimator, Tuned) or not estimator.card.weights:
        raise InputError(
            f"{type(estimator).__name__} has no path over a knob with sample weights to resample."
        )
    check_level(level)
    Integer(10).check("coefficient_bands", "n_resamples", n_resamples)
    whole = estimator.path(X, y, sample_weight=sample_weight, values=values)
    if whole.coef is None or whole.knob is None:
        raise InputError(f"The path of {type(estimator).__name__} has no coefficients.")
    place = _place_of(estimator, whole, y, label)
    n = len(y)
    given = check_weight(sample_weight, n)
    rng = np.random.default_rng(seed_of(random_state, "coefficient_bands"))
    draws = rng.exponential(size=(n_resamples, n)) * (1.0 if given is None else given)

    def walk(weight: FloatArray) -> FloatArray:
        curve = bare_path(estimator, X, y, sample_weight=weight, values=whole.values)
        return _picked(curve.coef, place)

    found = np.array(in_threads(walk, draws, stage="replicates"))
    tail = (1 - level) / 2
    lower, upper = np.quantile(found, [tail, 1 - tail], axis=0)
    coef = _picked(whole.coef, place)
    return CoefficientBands(
        whole,
        coef,
        np.minimum(lower, coef),
        np.maximum(upper, coef),
        np.mean(found != 0, axis=0),
        list(X.columns) if is_frame(X) else default_names(coef.shape[1]),
        level,
        backend_of(X) if is_frame(X) else None,
    )


def _place_of(estimator: Any, path: Path, y: Any, label: Any) -> int | None:
    """Return which class the coefficients are of; None where there is one vector."""
    if np.asarray(path.coef).ndim == 2:
        return None
    if not is_classifier(estimator):
        raise InputError("Several responses have several paths; give one response.")
    classes = np.unique(np.asarray(y)).tolist()
    if label not in classes:
        raise InputError(
            f"label={label!r} is not among the classes {', '.join(map(str, classes))}; say whose "
            "coefficients are wanted."
        )
    return classes.index(label)


def _picked(coef: Any, place: int | None) -> FloatArray:
    found = np.asarray(coef, dtype=np.float64)
    return found if place is None else found[:, place]
