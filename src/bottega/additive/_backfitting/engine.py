r"""Backfitting, and local scoring around it.

Symbols
-------
z, w    working response and weights: y and the row weights for the gaussian, else those of the
        likelihood at the last predictor
P       columns that are fitted together by least squares: ones, lines, levels, polynomials
beta    their coefficients
f_j     curve of term j beside its polynomial
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from bottega.additive._backfitting.pieces import CurvePiece, fixed_smoother
from bottega.additive._penalized.design import CodedRows
from bottega.additive._penalized.problem import null_deviance
from bottega.core.likelihood import Family
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = ["SEPARATED", "BackfittedFit", "backfit"]

_HALVINGS = 20
_FAR = 30.0
SEPARATED = 1e-3  # of the deviance of a constant: less is left where 0 and 1 are separated


@stored
@dataclass(frozen=True, eq=False)
class BackfittedFit:
    """A backfitted additive model.

    Attributes
    ----------
    beta : ndarray
        Coefficients of the columns that are fitted together.
    pieces : tuple of CurvePiece
        The curves, fitted.
    rank : int
        Number of these columns that are distinct.
    family : Family
        Distribution of the response, with its link.
    scale, deviance, null_deviance, loglik : float
        Of the fit.
    scale_known : bool
        Whether the family fixes the scale at 1.
    n : int
        Rows with positive weight.
    weight : float
        Sum of their weights.
    n_iter : int
        Rounds over the terms, all scorings together.
    converged : bool
    centres : ndarray of shape (terms,), optional
        What is taken off the effect of each term, so that its mean over the rows is zero.
    """

    beta: FloatArray
    pieces: tuple[CurvePiece, ...]
    rank: int
    family: Family
    scale: float
    scale_known: bool
    deviance: float
    null_deviance: float
    loglik: float
    n: int
    weight: float
    n_iter: int
    converged: bool
    centres: FloatArray | None = None
    engine: str = "backfitting"
    n_predictors: int = 1

    @property
    def df(self) -> float:
        """Degrees of freedom: of the columns fitted together, and of each curve beside them."""
        return self.rank + sum(piece.curved_df for piece in self.pieces)

    @property
    def df_residual(self) -> float:
        """Rows less degrees of freedom."""
        return self.n - self.df


@dataclass
class _Rounds:
    pieces: list[CurvePiece]
    beta: FloatArray
    curves: FloatArray  # (n, pieces)
    rounds: int = 0
    settled: bool = True


def _solver(P: FloatArray, w: FloatArray) -> tuple[FloatArray, int]:
    """Return the weighted pseudo-inverse of P and its rank."""
    root = np.sqrt(w)
    inverse, rank = linalg.pinv(P * root[:, None], return_rank=True)
    return np.asarray(inverse * root), int(rank)


def _rounds(
    X: FloatArray,
    P: FloatArray,
    z: FloatArray,
    w: FloatArray,
    state: _Rounds,
    tol: float,
    max_iter: int,
) -> tuple[_Rounds, int]:
    """Go over the terms until nothing changes, with fixed working response and weights."""
    inverse, rank = _solver(P, w)
    total = float(w.sum())
    templates, fitted = list(state.pieces), list(state.pieces)
    curves, settled, count = state.curves.copy(), not templates, 0
    after = P @ state.beta + curves.sum(axis=1)
    while not settled and count < max_iter:
        count += 1
        before, flat = after, P @ (inverse @ (z - curves.sum(axis=1)))
        for j, template in enumerate(templates):
            rest = z - flat - (curves.sum(axis=1) - curves[:, j])
            fitted[j], curves[:, j] = template.smoothed(X, rest, w)
            if count == 1:  # its knob is settled now, for these weights
                templates[j] = fixed_smoother(fitted[j])
        after = flat + curves.sum(axis=1)
        moved = float(w @ (after - before) ** 2) / total
        size = float(w @ (after - (w @ after) / total) ** 2) / total
        settled = moved <= tol**2 * size
    beta = inverse @ (z - curves.sum(axis=1))
    return _Rounds(fitted, beta, curves, state.rounds + count, settled), rank


def backfit(
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    offset: Any,
    P: FloatArray,
    pieces: list[CurvePiece],
    family: Family,
    *,
    tol: float,
    max_iter: int,
) -> BackfittedFit:
    """Fit the model: backfitting for the gaussian, else inside local scoring."""
    n = len(y)
    shift = np.zeros(n) + offset
    known = shift if np.any(shift) else None
    null = null_deviance([CodedRows((), (), y, weight, known)], family)
    plain = family.name == "gaussian" and family.the_link.name == "identity"
    if plain:
        state = _Rounds(list(pieces), np.zeros(P.shape[1]), np.zeros((n, len(pieces))))
        state, rank = _rounds(X, P, y - shift, weight, state, tol, max_iter)
        eta = P @ state.beta + state.curves.sum(axis=1) + shift
        converged = state.settled
    else:
        eta, state, rank, converged = _scored(
            X, y, weight, shift, P, pieces, family, null=null, tol=tol, max_iter=max_iter
        )
    mu = family.mean(eta)
    deviance = float(family.deviance(y, mu, weight))
    df = rank + sum(piece.curved_df for piece in state.pieces)
    left = max(n - df, 1e-300)
    scale = 1.0
    if not family.known_scale:
        pearson = float(weight @ ((y - mu) ** 2 / np.maximum(family.variance(mu), 1e-300)))
        scale = max(pearson / left, 1e-300)  # rows that are reproduced have no noise to speak of
    return BackfittedFit(
        beta=state.beta,
        pieces=tuple(state.pieces),
        rank=rank,
        family=family,
        scale=scale,
        scale_known=family.known_scale,
        deviance=deviance,
        null_deviance=null,
        loglik=float(family.saturated(y, weight, scale)[0]) - deviance / (2 * scale),
        n=n,
        weight=float(weight.sum()),
        n_iter=state.rounds,
        converged=converged,
    )


def _working(
    y: FloatArray, weight: FloatArray, eta: FloatArray, shift: FloatArray, family: Family
) -> tuple[FloatArray, FloatArray]:
    """Return working response (less the offset) and weights at a predictor."""
    score, information = family.scores(eta, y, weight)
    information = np.maximum(information, 1e-12 * weight)
    return eta - shift + score / information, information


def _scored(
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    shift: FloatArray,
    P: FloatArray,
    pieces: list[CurvePiece],
    family: Family,
    *,
    null: float,
    tol: float,
    max_iter: int,
) -> tuple[FloatArray, _Rounds, int, bool]:
    """Fit by local scoring: backfitting of the working response until the deviance settles."""
    eta = family.link(family.start(y, weight))
    state = _Rounds(list(pieces), np.zeros(P.shape[1]), np.zeros((len(y), len(pieces))))
    deviance, converged, rank = np.inf, False, 0
    for _ in range(max_iter):
        z, w = _working(y, weight, eta, shift, family)
        # Degrees of freedom that are asked for hold at the weights of each scoring.
        asked = _Rounds(list(pieces), state.beta, state.curves, state.rounds)
        found, rank = _rounds(X, P, z, w, asked, tol, max_iter)
        new = P @ found.beta + found.curves.sum(axis=1) + shift
        new, now = _stepped(y, weight, eta, new, deviance, family)
        state = found
        if family.name == "binomial":
            new = np.clip(new, -_FAR, _FAR)
        settled = abs(deviance - now) <= tol * (abs(now) + 0.1)
        eta, deviance = new, now
        if family.name == "binomial" and now < SEPARATED * null:
            converged = True  # the likelihood has no maximum: it ends here
            break
        if settled:
            converged = found.settled
            break
    return eta, state, rank, converged


def _stepped(
    y: FloatArray,
    weight: FloatArray,
    eta: FloatArray,
    new: FloatArray,
    deviance: float,
    family: Family,
) -> tuple[FloatArray, float]:
    """Return the new predictor, drawn back towards the last where the deviance is not finite."""
    for _ in range(_HALVINGS):
        mu = family.mean(new)
        if family.valid(new, mu):
            now = float(family.deviance(y, mu, weight))
            if np.isfinite(now):
                return new, now
        new = (new + eta) / 2
    return eta, deviance
