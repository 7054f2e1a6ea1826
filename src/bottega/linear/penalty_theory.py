"""Theory of penalties: when the lasso finds the support, and what each of them does."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.linear._penalized.constraint import check_positive
from bottega.optimize.proximal import soft_threshold

__all__ = [
    "Irrepresentable",
    "PenaltyRegion",
    "irrepresentable",
    "orthogonal_shrinkage",
    "penalty_region",
]

_PENALTIES = ("ridge", "lasso", "subset")
# A value this close to one is one: the condition asks for less.
_ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class Irrepresentable(Shown):
    """The irrepresentable condition of a design: its value and the verdict.

    Attributes
    ----------
    value : float
        Largest of `each`.
    holds : bool
        Whether the value is below one.
    margin : float
        One minus the value: the epsilon of the condition, which must be positive.
    each : ndarray of shape (p - s,)
        One number per column outside the support.
    columns : ndarray of int
        Those columns.
    worst : int or None
        The column with the largest number.
    with_signs : bool
        Whether the signs of the true coefficients were used.
    """

    value: float
    holds: bool
    margin: float
    each: FloatArray
    columns: IntArray
    worst: int | None
    with_signs: bool

    def summary(self) -> Summary:
        """Return the condition as a table that shows itself as text, HTML and Markdown."""
        row: dict[str, list[Any]] = {
            "value": [self.value],
            "margin": [self.margin],
            "holds": [self.holds],
            "worst column": [self.worst],
        }
        verdict = (
            "With coefficients large enough the lasso can find the support as n grows."
            if self.holds
            else "A column outside the support is too well imitated by those inside: the lasso "
            "takes it in too, however large n is. The adaptive lasso need not."
        )
        kind = "for the given signs" if self.with_signs else "for every choice of signs"
        note = f"The condition is read {kind} of the true coefficients."
        return Summary("Irrepresentable condition", (Section("", row),), (verdict, note))


def irrepresentable(X: Any, support: Any, *, signs: Any = None) -> Irrepresentable:
    r"""Check whether the lasso can find the support of the true coefficients on a design.

    The value is

    .. math:: \max_{j \notin S} \| (X_S^\top X_S)^{-1} X_S^\top x_j \|_1, \qquad\text{or}\qquad
              \max_{j \notin S} | x_j^\top X_S (X_S^\top X_S)^{-1} \mathrm{sgn}(\beta_S) |

    with `signs`, and the condition holds when it is at most :math:`1 - \varepsilon` for some
    :math:`\varepsilon > 0`, that is, below one (the notes admit :math:`\varepsilon = 0`, which is
    not enough).

    Parameters
    ----------
    X : array-like of shape (n, p)
        Inputs as the penalty sees them: centre and scale them first if the fit does so.
    support : array-like of int or bool
        Columns whose true coefficient is not zero, as positions or as p flags.
    signs : array-like of shape (s,), optional
        Signs of the true coefficients on the support, in its order (with flags: from the left);
        without them the condition is that of all sign patterns at once.

    Returns
    -------
    Irrepresentable

    Examples
    --------
    Two independent columns and a third that leans on both: harmless if their effects differ in
    sign, misleading if they agree.

    >>> X = np.vstack([np.eye(2), [[0, 0]]])
    >>> X = np.column_stack([X, [0.7, 0.7, 0.1]])
    >>> found = irrepresentable(X, [0, 1])
    >>> round(found.value, 6), found.holds
    (1.4, False)
    >>> irrepresentable(X, [0, 1], signs=[1, -1]).holds
    True
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or not np.all(np.isfinite(X)):
        raise InputError("X must be a table of finite numbers.")
    p = X.shape[1]
    inside = _positions(support, p)
    outside = np.setdiff1d(np.arange(p), inside)
    A = X[:, inside]
    if np.linalg.matrix_rank(A) < len(inside):
        raise InputError(
            "The columns of the support are collinear, so X_S'X_S has no inverse: leave some out."
        )
    weights = np.linalg.lstsq(A, X[:, outside], rcond=None)[0]
    if signs is None:
        each = np.abs(weights).sum(axis=0)
    else:
        sign = np.sign(np.asarray(signs, dtype=np.float64))
        if sign.shape != inside.shape or np.any(sign == 0):
            raise InputError(
                f"signs must be {len(inside)} numbers that are not zero, one per column of the "
                f"support; got {signs!r}."
            )
        each = np.abs(sign @ weights)
    value = float(each.max(initial=0.0))
    return Irrepresentable(
        value=value,
        holds=1 - value > _ROUNDING,
        margin=1 - value,
        each=each,
        columns=outside,
        worst=int(outside[np.argmax(each)]) if len(outside) else None,
        with_signs=signs is not None,
    )


def _positions(support: Any, p: int) -> IntArray:
    given = np.asarray(support)
    if given.dtype == bool and given.shape == (p,):
        given = np.flatnonzero(given)
    good = given.ndim == 1 and len(given) and given.dtype.kind in "iu"
    if not good or given.min() < 0 or given.max() >= p or len(np.unique(given)) < len(given):
        raise InputError(
            f"support must name different columns by positions from 0 to {p - 1}, or be {p} "
            f"flags; got {support!r}."
        )
    return np.asarray(given, dtype=np.intp)


def orthogonal_shrinkage(b: Any, alpha: float, *, penalty: str = "lasso") -> Any:
    r"""Return what a penalty makes of a least-squares coefficient when :math:`X^\top X = I`.

    Parameters
    ----------
    b : float or array-like
        Least-squares coefficients.
    alpha : float
        Strength of the penalty, at least 0.
    penalty : {"ridge", "lasso", "subset"}
        ``"ridge"``: :math:`b / (1 + \alpha)`, the minimum of
        :math:`RSS + \alpha \|\beta\|_2^2`. ``"lasso"``:
        :math:`\mathrm{sgn}(b) (|b| - \alpha)_+`, the minimum of
        :math:`RSS / 2 + \alpha \|\beta\|_1` (the notes misprint :math:`(|b - \alpha|)_+`).
        ``"subset"``: :math:`b\, 1(|b| > \sqrt{2 \alpha})`, the minimum of
        :math:`RSS / 2 + \alpha \|\beta\|_0`: a coefficient stays as it is or goes.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> penalties = ("ridge", "lasso", "subset")
    >>> [round(orthogonal_shrinkage(2, 0.5, penalty=each), 4) for each in penalties]
    [1.3333, 1.5, 2.0]
    >>> [round(orthogonal_shrinkage(0.3, 0.5, penalty=each), 4) for each in penalties]
    [0.2, 0.0, 0.0]
    """
    if penalty not in _PENALTIES:
        raise InputError(f"penalty={penalty!r} is not allowed; use one of {', '.join(_PENALTIES)}.")
    if not (np.ndim(alpha) == 0 and np.isfinite(alpha) and alpha >= 0):
        raise InputError(f"alpha={alpha!r} is not allowed; alpha must be a number of at least 0.")
    coef = np.asarray(b, dtype=np.float64)
    if penalty == "ridge":
        found = coef / (1 + alpha)
    elif penalty == "lasso":
        found = soft_threshold(coef, float(alpha))
    else:
        found = np.where(np.abs(coef) > np.sqrt(2 * alpha), coef, 0.0)
    return float(found) if found.ndim == 0 else found


@dataclass(frozen=True)
class PenaltyRegion:
    r"""The boundary of a penalty's region for two coefficients.

    Attributes
    ----------
    q, s : float
        Exponent and size: the region is :math:`|b_1|^q + |b_2|^q \le s`.
    b1, b2 : ndarray
        Points of the boundary in order, closed: the last is the first.
    convex : bool
        Whether the region is convex: for q of at least 1.
    corners : bool
        Whether the boundary has corners on the axes, where some coefficients are zero: for q up to
        1. Only q = 1 has both, so it is the smallest exponent with a convex region and the
        largest that gives zeros (the notes' caption calls it the smallest with corners).
    """

    q: float
    s: float
    b1: FloatArray
    b2: FloatArray
    convex: bool
    corners: bool


def penalty_region(q: float, *, s: float = 1.0, points: int = 400) -> PenaltyRegion:
    r"""Return the boundary of :math:`|b_1|^q + |b_2|^q \le s`.

    Parameters
    ----------
    q : float
        Exponent, positive: 1 is the lasso, 2 ridge; below 1 the region is not convex.
    s : float
        Size of the region, positive.
    points : int
        Points on the boundary, a multiple of 4 so that those on the axes are among them.

    Returns
    -------
    PenaltyRegion

    Examples
    --------
    >>> region = penalty_region(1, points=4)
    >>> region.b1.round(3).tolist(), region.b2.round(3).tolist()
    ([1.0, 0.0, -1.0, 0.0, 1.0], [0.0, 1.0, 0.0, -1.0, 0.0])
    >>> region.convex, region.corners, penalty_region(0.5).convex
    (True, True, False)
    """
    for name, value in (("q", q), ("s", s)):
        check_positive(name, value)
    if points != int(points) or points < 4 or points % 4:
        raise InputError(f"points={points!r} is not allowed; give a multiple of 4, at least 4.")
    # cos^2 + sin^2 = 1, so their 2/q-th powers lie on the boundary, denser where it is steep.
    angle = np.arange(points // 4) * (2 * np.pi / points)
    radius = s ** (1 / q)
    along = radius * np.cos(angle) ** (2 / q)
    across = radius * np.sin(angle) ** (2 / q)
    b1 = np.concatenate([along, -across, -along, across, along[:1]])
    b2 = np.concatenate([across, along, -across, -along, across[:1]])
    return PenaltyRegion(float(q), float(s), b1 + 0.0, b2 + 0.0, bool(q >= 1), bool(q <= 1))
