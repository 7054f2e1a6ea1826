r"""Empirical risk minimisation over a finite class.

The algorithm returns a member of :math:`\arg\min_{f \in F} \ell_S(f)`, which may have many: here it
is returned whole.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.losses import Loss, get_loss
from bottega.core.typing import FloatArray, IntArray
from bottega.data.make import Sample
from bottega.risk.theory.class_size import ClassSize, class_size
from bottega.risk.theory.hypotheses import minimisers, predictions_on
from bottega.risk.theory.simulation import loss_of_sample

__all__ = ["Minimisers", "empirical_risk", "erm"]


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
        X, y, meant = S.X, S.y, loss_of_sample(S)
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
