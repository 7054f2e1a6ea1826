r"""The penalties of an additive model: their sum, and the determinants REML needs.

Symbols
-------
p       coefficients that are kept
q       smoothing parameters, of which some may be given
rho     logarithms of the smoothing parameters, against a balance of rows and penalty
S_j     a penalty, times its balance: nonzero in its block alone
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from bottega.additive._terms.blocks import Block
from bottega.core.typing import BoolArray, FloatArray, IntArray

__all__ = ["LARGEST", "Determinant", "Penalties"]

# Logarithms of smoothing parameters beyond these no longer change a fit.
LARGEST = 25.0
_LARGEST_OF_SEVERAL = 18.0
_RANK = 1e-8


@dataclass(frozen=True, eq=False)
class Determinant:
    """Logarithm of the product of the non-zero eigenvalues of S, with its derivatives in rho."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


@dataclass(frozen=True, eq=False)
class _Group:
    """The penalties of one block, in coordinates of the space they act on."""

    members: IntArray  # positions among the smoothing parameters
    parts: list[FloatArray]  # (r, r) each
    rank: int
    logdet: float  # of the first part


class Penalties:
    """The penalties of all blocks on the coefficients that are kept.

    Parameters
    ----------
    blocks : sequence of Block
        Repeated for each predictor of a multinomial.
    kept : ndarray of bool
        Coefficients that are kept, of all blocks.
    gram : ndarray of shape (p, p)
        X'WX of some weights, on the kept coefficients: what the penalties are balanced against.
    shrink : bool
        Whether the penalties on null spaces count.
    ridge : float
        A small penalty on every coefficient, as a share of its diagonal entry of `gram`.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        kept: BoolArray,
        gram: FloatArray,
        *,
        shrink: bool = False,
        ridge: float = 0.0,
    ) -> None:
        self.p = int(kept.sum())
        self.where: list[slice] = []
        self.parts: list[FloatArray] = []
        self.balance: list[float] = []
        self.given: list[float] = []  # logarithm of a given smoothing parameter, or NaN
        self.of_block: list[list[int]] = []
        self.ridge = ridge * np.diag(gram)
        self._groups: list[_Group] = []
        start = place = 0
        for block in blocks:
            mine = np.flatnonzero(kept[start : start + block.size])
            here = slice(place, place + len(mine))
            start, place = start + block.size, place + len(mine)
            self._take(block, mine, here, gram[here, here], shrink)
        self.rho_given = np.array(self.given)
        self.free = np.flatnonzero(np.isnan(self.rho_given))
        several = {j for members in self.of_block if len(members) > 1 for j in members}
        self.upper = np.array([_LARGEST_OF_SEVERAL if j in several else LARGEST for j in self.free])
        self.null_dim = self.p - sum(group.rank for group in self._groups)

    def _take(
        self, block: Block, mine: IntArray, here: slice, gram: FloatArray, shrink: bool
    ) -> None:
        matrices = list(block.penalties)
        fixed: list[float | None] = list(block.fixed or [None] * len(matrices))
        if shrink and block.shrink is not None and block.fixed is None:
            matrices.append(block.shrink)
            fixed.append(None)
        members, raw = [], []
        for matrix, given in zip(matrices, fixed, strict=True):
            members.append(len(self.parts))
            part = matrix[np.ix_(mine, mine)]
            size = float(np.trace(part))
            rows = float(np.trace(gram))
            balance = rows / size if size > 0 and rows > 0 else 1.0
            self.where.append(here)
            self.parts.append(part * balance)
            self.balance.append(balance)
            with np.errstate(divide="ignore"):
                self.given.append(np.nan if given is None else float(np.log(given / balance)))
            raw.append(part * balance)
        self.of_block.append(members)
        # A parameter given as zero is no penalty at all.
        live = [k for k, j in enumerate(members) if self.given[j] != -np.inf]
        if not live or not len(mine):
            return
        total = sum(raw[k] for k in live)
        values, vectors = np.linalg.eigh(total)
        Q = vectors[:, values > _RANK * values[-1]] if values[-1] > 0 else vectors[:, :0]
        if Q.shape[1]:
            inside = [Q.T @ raw[k] @ Q for k in live]
            logdet = float(np.linalg.slogdet(inside[0])[1])
            places = np.array([members[k] for k in live])
            self._groups.append(_Group(places, inside, Q.shape[1], logdet))

    def __len__(self) -> int:
        return len(self.parts)

    def full(self, rho: FloatArray) -> FloatArray:
        """Return the logarithms of all smoothing parameters from those that are free."""
        found = self.rho_given.copy()
        found[self.free] = rho
        return found

    def total(self, rho: FloatArray) -> FloatArray:
        """Return S, from the logarithms of all smoothing parameters."""
        S = np.diag(self.ridge)
        for each, here, part in zip(np.exp(rho), self.where, self.parts, strict=True):
            S[here, here] += each * part
        return S

    def times(self, rho: FloatArray, beta: FloatArray) -> FloatArray:
        """Return the products of each penalty, times its parameter, with beta: (p, q)."""
        found = np.zeros((self.p, len(self)))
        for j, (each, here, part) in enumerate(
            zip(np.exp(rho), self.where, self.parts, strict=True)
        ):
            found[here, j] = each * (part @ beta[here])
        return found

    def traces(self, rho: FloatArray, M: FloatArray) -> FloatArray:
        """Return tr(M S_j) of each penalty, times its parameter, for a symmetric M."""
        return np.array(
            [
                each * np.vdot(part, M[here, here])
                for each, here, part in zip(np.exp(rho), self.where, self.parts, strict=True)
            ]
        )

    def products(self, rho: FloatArray, A: FloatArray, B: FloatArray) -> FloatArray:
        """Return tr(A S_i B S_j) for all pairs of penalties, times their parameters: (q, q)."""
        q = len(self)
        found = np.empty((q, q))
        weight = np.exp(rho)
        for i in range(q):
            left = A[:, self.where[i]] @ (weight[i] * self.parts[i])  # A S_i, (p, k)
            for j in range(q):
                right = weight[j] * (self.parts[j] @ left[self.where[j]])  # S_j A S_i
                found[i, j] = np.vdot(right, B[self.where[j], self.where[i]])
        return found

    def determinant(self, rho: FloatArray) -> Determinant:
        """Return the logarithm of the determinant of S on its range."""
        q = len(self)
        value, gradient, hessian = 0.0, np.zeros(q), np.zeros((q, q))
        for group in self._groups:
            weight = np.exp(rho[group.members])
            if len(weight) == 1:
                value += group.rank * float(rho[group.members[0]])
                value += group.logdet
                gradient[group.members] = group.rank
                continue
            total = sum(w * part for w, part in zip(weight, group.parts, strict=True))
            size = 1 / np.sqrt(np.diag(total))
            factor = linalg.cholesky(total * size[:, None] * size, lower=True)
            value += 2 * float(np.sum(np.log(np.diag(factor)) - np.log(size)))
            half = [
                linalg.solve_triangular(
                    factor,
                    linalg.solve_triangular(factor, part * size[:, None] * size, lower=True).T,
                    lower=True,
                )
                for part in group.parts
            ]
            half = [w * each for w, each in zip(weight, half, strict=True)]
            first = np.array([np.trace(each) for each in half])
            second = np.array([[np.vdot(a, b) for a in half] for b in half])
            gradient[group.members] = first
            hessian[np.ix_(group.members, group.members)] = np.diag(first) - second
        return Determinant(value, gradient, hessian)

    def alphas(self, rho: FloatArray) -> list[FloatArray]:
        """Return the smoothing parameters of each block."""
        found = np.exp(rho) * np.array(self.balance)
        return [found[members] for members in self.of_block]
