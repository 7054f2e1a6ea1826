"""Known functions of a vector, to build others of: each sum, maximum or composition proves itself.

Functions of one number (`square`, `exponential`, ...) are summed over the entries of a vector, so
``square()`` is the squared length; inside one another, ``exponential()(square())``, they take the
number that the inner one gives.
"""

from typing import Any

from bottega.core.errors import ParameterError
from bottega.optimize._convexity.curves import CURVES
from bottega.optimize._convexity.piece import Piece, SumOfCurves, constant_of
from bottega.optimize._convexity.rules import Affine, Largest, LogSumExp, NormPiece

__all__ = [
    "absolute",
    "affine",
    "cube",
    "exponential",
    "hinge",
    "huber",
    "log_sum_exp",
    "logarithm",
    "logistic",
    "maximum",
    "minimum",
    "negative_entropy",
    "negative_log",
    "norm",
    "positive_part",
    "reciprocal",
    "sigmoid",
    "sine",
    "square",
    "square_root",
]


def affine(a: Any, b: float = 0.0) -> Piece:
    """Return x -> a.x + b.

    Examples
    --------
    >>> affine([1.0, 2.0], 3.0)([1.0, 1.0])
    6.0
    """
    return Affine(a, b)


def norm(order: float = 2) -> Piece:
    """Return the norm of order 1, 2 or infinity; convex."""
    return NormPiece(order)


def log_sum_exp() -> Piece:
    """Return log of the sum of exponentials of the entries: a smooth maximum; convex."""
    return LogSumExp()


def square() -> Piece:
    """Return the sum of the squares of the entries; convex."""
    return SumOfCurves(CURVES["square"])


def absolute() -> Piece:
    """Return the sum of the absolute values of the entries; convex."""
    return SumOfCurves(CURVES["absolute"])


def exponential() -> Piece:
    """Return the sum of the exponentials of the entries; convex and non-decreasing."""
    return SumOfCurves(CURVES["exponential"])


def negative_log() -> Piece:
    """Return minus the sum of the logarithms; convex, infinite unless all entries are positive."""
    return SumOfCurves(CURVES["negative_log"])


def logarithm() -> Piece:
    """Return the sum of the logarithms; concave and non-decreasing on positive entries."""
    return SumOfCurves(CURVES["logarithm"])


def square_root() -> Piece:
    """Return the sum of the square roots; concave and non-decreasing on entries from 0 on."""
    return SumOfCurves(CURVES["square_root"])


def reciprocal() -> Piece:
    """Return the sum of 1/x; convex, infinite unless all entries are positive."""
    return SumOfCurves(CURVES["reciprocal"])


def negative_entropy() -> Piece:
    """Return the sum of x log x; convex on entries from 0 on."""
    return SumOfCurves(CURVES["negative_entropy"])


def hinge() -> Piece:
    """Return the sum of max(0, 1 - x): the loss of support vectors; convex, non-increasing."""
    return SumOfCurves(CURVES["hinge"])


def positive_part() -> Piece:
    """Return the sum of max(0, x); convex and non-decreasing."""
    return SumOfCurves(CURVES["positive_part"])


def logistic() -> Piece:
    """Return the sum of log(1 + exp(-x)): the loss of logistic regression; convex."""
    return SumOfCurves(CURVES["logistic"])


def huber() -> Piece:
    """Return the sum of x^2/2 up to 1 and |x| - 1/2 beyond; convex."""
    return SumOfCurves(CURVES["huber"])


def cube() -> Piece:
    """Return the sum of x^3: convex from 0 on, concave below, neither on the whole line."""
    return SumOfCurves(CURVES["cube"])


def sigmoid() -> Piece:
    """Return the sum of 1/(1 + exp(-x)): convex below 0, concave above, neither on the line."""
    return SumOfCurves(CURVES["sigmoid"])


def sine() -> Piece:
    """Return the sum of the sines: neither convex nor concave."""
    return SumOfCurves(CURVES["sine"])


def maximum(*pieces: Any) -> Piece:
    """Return the largest of pieces and numbers at each point; convex if they all are.

    Examples
    --------
    The hinge is the largest of two affine functions.

    >>> print(maximum(0.0, 1 - affine([1.0])).reason())
    max(0, 1 + -1 * a.(x)) is convex: the largest of convex functions
      0 is affine: a constant
      1 + -1 * a.(x) is affine: a sum of affine functions
        1 is affine: a constant
        -1 * a.(x) is affine: a negative multiple of an affine function
          a.(x) is affine: a known function
    """
    if not pieces:
        raise ParameterError("maximum() takes at least one piece.")
    return Largest([constant_of(piece) for piece in pieces])


def minimum(*pieces: Any) -> Piece:
    """Return the smallest of pieces and numbers at each point; concave if they all are."""
    if not pieces:
        raise ParameterError("minimum() takes at least one piece.")
    return -Largest([-constant_of(piece) for piece in pieces])
