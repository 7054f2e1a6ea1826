r"""Empirical risk minimisation over a finite class, and how its size compares with the rows.

The algorithm returns a member of :math:`\arg\min_{f \in F} \ell_S(f)`, which may have many: here it
is returned whole.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.losses import Loss, get_loss
from bottega.core.params import Integer
from bottega.core.typing import FloatArray, IntArray
from bottega.data.make import Sample
from bottega.risk.theory.hypotheses import minimisers, predictions_on

__all__ = ["ClassSize", "Minimisers", "class_size", "empirical_risk", "erm"]


@dataclass(frozen=True)
class ClassSize:
    """The size of a finite class against the number of training rows.

    Attributes
    ----------
    bits : float
        log2 of the number of hypotheses: the rows needed, by the rule of thumb.
    m : int
        The rows given.
    expect : {"overfitting", "neither", "underfitting"}
        What empirical risk minimisation is prone to.
    """

    bits: float
    m: int
    expect: str

    def __str__(self) -> str:
        words = {
            "overfitting": "too few rows to tell the hypotheses apart: expect overfitting",
            "neither": "enough rows to tell the hypotheses apart",
            "underfitting": "far fewer hypotheses than the rows could tell apart: if the training "
            "error is high, the class is too poor (underfitting)",
        }
        return f"log2 of the class size is {self.bits:.4g}, with {self.m:,} rows: " + (
            words[self.expect] + "."
        )


def class_size(n_hypotheses: float, m: int, *, ample: float = 10.0) -> ClassSize:
    """Compare log2 of the size of a class with the number of training rows.

    The rule of thumb asks for m of about log2(#F): a row with two labels can at best halve the
    hypotheses that are left. The course gives no thresholds; here fewer rows than log2(#F) mean
    overfitting, and more than `ample` times as many the danger of underfitting. It is a rule of
    thumb, no bound: for one see `bounds.erm_finite`.

    Parameters
    ----------
    n_hypotheses : float
        Number of hypotheses; a Python integer may be beyond any float.
    m : int
        Number of training rows.
    ample : float
        How many times log2(#F) rows are more than such a class can use.

    Returns
    -------
    ClassSize

    Examples
    --------
    >>> class_size(32, 3).expect
    'overfitting'
    >>> class_size(2 ** 2 ** 10, 2000).expect  # all functions of 10 bits
    'neither'
    """
    Integer(1).check("class_size", "m", m)
    if not n_hypotheses >= 1 or n_hypotheses == math.inf:
        raise ParameterError(
            f"n_hypotheses={n_hypotheses!r} is not allowed; a finite class has at least one."
        )
    if not ample >= 1:
        raise ParameterError(f"ample={ample!r} is not allowed; give a number of at least 1.")
    bits = math.log2(n_hypotheses)
    expect = "overfitting" if bits > m else "underfitting" if ample * bits < m else "neither"
    return ClassSize(bits, m, expect)


@dataclass(frozen=True)
class Minimisers:
    """All hypotheses of least training error.

    Attributes
    ----------
    indices : ndarray of int
        Their positions in the class, from 0.
    error : float
        The least training error.
    errors : ndarray
        Training error of every hypothesis.
    m : int
        Number of training rows.
    """

    indices: IntArray
    error: float
    errors: FloatArray
    m: int

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def size(self) -> ClassSize:
        """The size of the class against the number of rows."""
        return class_size(len(self.errors), self.m)

    def to_frame(self, like: Any = None) -> Any:
        """Return every hypothesis with its training error and whether it is a minimiser."""
        place = np.arange(len(self.errors))
        columns = {
            "hypothesis": place,
            "train_error": self.errors,
            "minimiser": np.isin(place, self.indices),
        }
        return make_frame(columns, like)


def empirical_risk(hypotheses: Any, S: Any, *, loss: str | Loss | None = None) -> FloatArray:
    """Return the mean loss of each hypothesis on labelled rows.

    Parameters
    ----------
    hypotheses, S, loss
        As in `erm`.

    Returns
    -------
    ndarray of shape (h,)

    Examples
    --------
    >>> from bottega.risk import labellings
    >>> empirical_risk(labellings(2), ([0, 1], [1, -1]))
    array([0.5, 0. , 1. , 0.5])
    """
    if isinstance(S, Sample):
        X, y, meant = S.X, S.y, get_loss(S.loss)
    else:
        try:
            X, y = S
        except (TypeError, ValueError) as error:
            raise InputError("S must be a Sample, or a pair (X, y).") from error
        X, y, meant = np.asarray(X), np.asarray(y), get_loss("zero_one")
    if len(X) != len(y) or not len(y):
        raise InputError(
            f"S has {len(X)} rows of X and {len(y)} of y; the mean of a loss needs equally many, "
            "at least one."
        )
    judge = meant if loss is None else get_loss(loss)
    return np.asarray(judge(np.asarray(y), predictions_on(hypotheses, X)).mean(axis=1))


def erm(hypotheses: Any, S: Any, *, loss: str | Loss | None = None) -> Minimisers:
    r"""Return the set of hypotheses with the least training error.

    .. math:: \arg\min_{f \in F} \frac{1}{m} \sum_t \ell(y_t, f(x_t))

    Parameters
    ----------
    hypotheses : array-like of shape (h, k), or sequence of callables or fitted models
        The class F. An array lists labellings of k numbered points, and the rows of S are then
        numbers of points; predictions on the m rows of S are labellings of ``range(m)``.
    S : Sample or pair (X, y)
        The training rows.
    loss : str or Loss, optional
        The loss; the Sample's own, or zero-one.

    Returns
    -------
    Minimisers

    Notes
    -----
    Costs one prediction for each hypothesis and row. Errors that differ by rounding only (1e-12)
    count as equal. Which minimiser is taken is not for the training rows to say: their risks may
    lie far apart.

    Examples
    --------
    Five points, all 32 labellings, three training rows: four functions fit them, and only the
    third of these is the truth.

    >>> from bottega.risk import labellings
    >>> F = labellings(5)
    >>> found = erm(F, ([0, 1, 2], [1, 1, 1]))
    >>> found.indices.tolist(), found.error
    ([0, 1, 2, 3], 0.0)
    >>> empirical_risk(F[found.indices], ([3, 4], [-1, 1])).tolist()
    [0.5, 1.0, 0.0, 0.5]
    """
    errors = empirical_risk(hypotheses, S, loss=loss)
    rows = S.y if isinstance(S, Sample) else S[1]
    return Minimisers(minimisers(errors), float(errors.min()), errors, len(rows))
