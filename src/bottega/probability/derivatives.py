"""Derivatives with respect to vectors and matrices, as a table that can be checked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.frames import make_frame
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray

__all__ = ["MatrixDerivative", "MatrixDerivatives", "matrix_derivatives"]

Constants = dict[str, FloatArray]
_STEP = 6e-6  # of central differences: about the cube root of the rounding


@dataclass(frozen=True)
class MatrixDerivative:
    """One identity: a function of x (or X) with constants, and its derivative.

    Attributes
    ----------
    formula, derivative : str
        Both sides in words of algebra.
    layout : {"row", "column"}
        How the numbers of a derivative stand. Row (numerator) layout: entry (i, j) is the
        derivative of output i by input j, so that of a number is a row. Column (denominator)
        layout: the derivative of a number has the shape of what it is taken by.
    variable : {"x", "X"}
        A vector or a matrix.
    function, gradient : callable
        Both sides as functions of the variable and of the constants (a dictionary with a, b, A).
    """

    formula: str
    derivative: str
    layout: str
    variable: str
    function: Callable[[FloatArray, Constants], Any]
    gradient: Callable[[FloatArray, Constants], Any]

    def error(self, x: FloatArray, constants: Constants) -> float:
        """Return the largest difference of the derivative from central differences at x."""
        exact = np.asarray(self.gradient(x, constants), dtype=np.float64)
        numeric = differences(self.function, x, constants, self.layout)
        return float(np.abs(exact - numeric.reshape(exact.shape)).max())


def differences(
    function: Callable[[FloatArray, Constants], Any],
    x: FloatArray,
    constants: Constants,
    layout: str,
) -> FloatArray:
    """Return central differences, output by input or (in columns) input by output."""
    rows = []
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = _STEP
        high, low = (np.ravel(function(x + s, constants)) for s in (step, -step))
        rows.append((high - low) / (2 * _STEP))
    found = np.array(rows)  # (inputs, outputs)
    return found if layout == "column" else found.T


@dataclass(frozen=True, repr=False)
class MatrixDerivatives(Shown):
    """The identities as a table."""

    identities: tuple[MatrixDerivative, ...]

    def __iter__(self) -> Iterator[MatrixDerivative]:
        return iter(self.identities)

    def __len__(self) -> int:
        return len(self.identities)

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per identity: ``formula, derivative, variable, layout``."""
        return make_frame(self._columns(), like)

    def summary(self) -> Summary:
        """Return the table, which shows itself as text, HTML and Markdown."""
        note = "Rows: output by input. Columns: the shape of the variable."
        return Summary("Matrix derivatives", (Section("", self._columns()),), (note,))

    def check(self, *, size: int = 4, random_state: Any = None, like: Any = None) -> Any:
        """Compare each identity with central differences at random points.

        Parameters
        ----------
        size : int
            Length of the vectors; matrices are square.
        random_state : int, RandomState, Generator or None
            What makes the points repeatable.
        like : data frame, optional
            A frame of the library in which the answer should be.

        Returns
        -------
        data frame
            The table with a column ``error``: the largest difference.
        """
        rng = np.random.default_rng(seed_of(random_state, "check"))
        constants = {"a": rng.normal(size=size), "b": rng.normal(size=size)}
        constants["A"] = rng.normal(size=(size, size))
        points = {"x": rng.normal(size=size), "X": rng.normal(size=(size, size))}
        errors = [each.error(points[each.variable], constants) for each in self.identities]
        return make_frame({**self._columns(), "error": np.array(errors)}, like)

    def _columns(self) -> dict[str, list[str]]:
        return {
            word: [getattr(each, word) for each in self.identities]
            for word in ("formula", "derivative", "variable", "layout")
        }


def matrix_derivatives() -> MatrixDerivatives:
    """Return the derivatives by vectors and matrices that least squares and likelihoods need.

    Returns
    -------
    MatrixDerivatives
        A table; its entries have both sides as functions, and `check` compares them with finite
        differences.

    References
    ----------
    .. [1] Petersen, K. and Pedersen, M. (2012). The Matrix Cookbook. Technical University of
       Denmark.

    Examples
    --------
    >>> table = matrix_derivatives()
    >>> [each.derivative for each in table if each.formula == "x'Ax"]
    ["x'(A + A')"]
    >>> bool(table.check(random_state=0)["error"].max() < 1e-8)
    True
    """
    return MatrixDerivatives(_IDENTITIES)


def _row(
    formula: str,
    derivative: str,
    function: Callable[[FloatArray, Constants], Any],
    gradient: Callable[[FloatArray, Constants], Any],
) -> MatrixDerivative:
    return MatrixDerivative(formula, derivative, "row", "x", function, gradient)


def _column(
    formula: str,
    derivative: str,
    variable: str,
    function: Callable[[FloatArray, Constants], Any],
    gradient: Callable[[FloatArray, Constants], Any],
) -> MatrixDerivative:
    return MatrixDerivative(formula, derivative, "column", variable, function, gradient)


def _single_entries(X: FloatArray, _: Constants) -> FloatArray:
    """Return the derivatives of X by each X_ij: a matrix with a single 1, for every entry."""
    return np.eye(X.size)


_IDENTITIES = (
    _row("a'x", "a'", lambda x, c: c["a"] @ x, lambda _, c: c["a"][None]),
    _row("x'x", "2x'", lambda x, _: x @ x, lambda x, _: 2 * x[None]),
    _row(
        "(x'a)^2",
        "2x'aa'",
        lambda x, c: (x @ c["a"]) ** 2,
        lambda x, c: 2 * x[None] @ np.outer(c["a"], c["a"]),
    ),
    _row("Ax", "A", lambda x, c: c["A"] @ x, lambda _, c: c["A"]),
    _row("x'A", "A'", lambda x, c: x @ c["A"], lambda _, c: c["A"].T),
    _row(
        "x'Ax",
        "x'(A + A')",
        lambda x, c: x @ c["A"] @ x,
        lambda x, c: x[None] @ (c["A"] + c["A"].T),
    ),
    _row("x", "I", lambda x, _: x, lambda x, _: np.eye(len(x))),
    _column("x'a", "a", "x", lambda x, c: x @ c["a"], lambda _, c: c["a"]),
    _column(
        "a'Xb", "ab'", "X", lambda X, c: c["a"] @ X @ c["b"], lambda _, c: np.outer(c["a"], c["b"])
    ),
    _column(
        "a'X'b",
        "ba'",
        "X",
        lambda X, c: c["a"] @ X.T @ c["b"],
        lambda _, c: np.outer(c["b"], c["a"]),
    ),
    _column(
        "a'Xa", "aa'", "X", lambda X, c: c["a"] @ X @ c["a"], lambda _, c: np.outer(c["a"], c["a"])
    ),
    _column("X, by X_ij", "J^ij (1 at i, j)", "X", lambda X, _: X, _single_entries),
)
