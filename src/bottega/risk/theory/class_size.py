"""The size of a finite class against the number of training rows: a rule of thumb."""

import math
from dataclasses import dataclass

from bottega.core.errors import ParameterError
from bottega.risk.theory.simulation import check_count

__all__ = ["ClassSize", "class_size"]


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
    check_count("m", m, 1)
    if not n_hypotheses >= 1 or n_hypotheses == math.inf:
        raise ParameterError(
            f"n_hypotheses={n_hypotheses!r} is not allowed; a finite class has at least one."
        )
    if not ample >= 1:
        raise ParameterError(f"ample={ample!r} is not allowed; give a number of at least 1.")
    bits = math.log2(n_hypotheses)
    expect = "overfitting" if bits > m else "underfitting" if ample * bits < m else "neither"
    return ClassSize(bits, m, expect)
