"""The surface blended from local polynomials at the vertices of a k-d tree alone.

Symbols
-------
functional  value or slope of the local polynomial at a vertex; F of them in all
A           n by F: weights of the functionals at each row (`Cells.blend`), few in each row
R           F by n: how each response enters each functional (`LocalFits.rows`)
S = A R     the smoother

Neither A nor R is held as a whole: they are met cell by cell, and what is asked of S follows from
three F by F matrices, RA, RR' and A'A.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray
from bottega.smooth._local.rows import TrainingFit
from bottega.smooth._loess.cells import Cells, build_cells
from bottega.smooth._loess.fits import LocalFits

_ENTRIES = 4_000_000  # of R that are in memory at once


@stored
@dataclass(frozen=True)
class BlendedSurface:
    """Values and slopes at the vertices, and the cells that join them."""

    fits: LocalFits
    cells: Cells
    h: FloatArray  # radii of the vertices' windows
    found: FloatArray  # value and slopes at each vertex: (V, 1 + p)
    C: FloatArray  # from which the rows of R follow: (V, 1 + p, k)
    widened: int  # windows of vertices that held too few rows

    def _each_cell(self, Z: FloatArray) -> Iterator[tuple[int, IntArray, IntArray, FloatArray]]:
        """Yield for each cell with points: its number, the points, its vertices, their weights."""
        V = self.cells.vertices
        Z = np.clip(Z, V.min(axis=0), V.max(axis=0))  # the callers see to points outside
        for cell, rows in enumerate(self.cells.members(Z)):
            if len(rows):
                yield cell, rows, *self.cells.blend(cell, Z[rows])

    def training(self, *, two_delta: bool = False) -> TrainingFit:
        """Return the fit at the rows it was made from, on request with `two_delta`."""
        fitted, leverage, RA, RR, AA = self._sums()
        return TrainingFit(
            fitted,
            leverage,
            float(np.sum(RR * AA)),
            self.widened,
            _two_delta(len(fitted), RA, RR, AA) if two_delta else np.nan,
        )

    def _sums(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return S y, diag S, RA, RR' and A'A."""
        fits = self.fits
        n = len(fits.y)
        V, width = self.found.shape
        RA, RR, AA = (np.zeros((V * width, V * width)) for _ in range(3))
        fitted, leverage = np.empty(n), np.empty(n)
        for cell, members, ids, blending in self._each_cell(fits.X):
            active = self._touching(cell)
            block = max(1, _ENTRIES // (len(active) * width))
            own = _functionals(ids, width)
            touched = _functionals(active, width)
            place = np.searchsorted(active, ids)  # a cell's vertices always touch it
            for start in range(0, len(members), block):
                rows = members[start : start + block]
                A = blending[start : start + block]
                R = self._rows(active, rows)
                fitted[rows] = np.einsum("mvf,vf->m", A, self.found[ids])
                leverage[rows] = np.einsum("mvf,vfm->m", A, R[place])
                A = A.reshape(len(rows), -1)
                R = R.reshape(-1, len(rows))
                RA[np.ix_(touched, own)] += R @ A
                RR[np.ix_(touched, touched)] += R @ R.T
                AA[np.ix_(own, own)] += A.T @ A
        return fitted, leverage, RA, RR, AA

    def _touching(self, cell: int) -> IntArray:
        """Return the vertices whose windows reach into a cell, its own among them."""
        low, high = self.cells.box(cell)
        V = self.cells.vertices
        gap = np.maximum(np.maximum(low - V, V - high), 0)
        return np.flatnonzero(np.sum(gap**2, axis=1) < self.h**2)

    def _rows(self, ids: IntArray, which: Any = slice(None)) -> FloatArray:
        return self.fits.rows(self.cells.vertices[ids], self.h[ids], self.C[ids], which)

    def evaluate(
        self, Z: FloatArray, *, lengths: bool = False, count: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return functionals at points and, on request, the variance of the first over sigma^2.

        Values are blended; derivatives, and all outside the box of the cells, are those of the
        local polynomials of the points.
        """
        fits, inside = self.fits, self.cells.inside(Z)
        if count > 1:
            return fits.evaluate(Z, count=count)
        found, length = np.empty((len(Z), 1)), np.full((len(Z), 1), np.nan)
        for _, rows, ids, A in self._each_cell(Z):
            found[rows, 0] = np.einsum("mvf,vf->m", A, self.found[ids])
            if lengths:
                near = fits.reach(self.cells.vertices[ids], self.h[ids])
                R = self._rows(ids, near).reshape(A[0].size, -1)
                inner = (R * fits.variance[near]) @ R.T
                flat = A.reshape(len(rows), -1)
                length[rows, 0] = np.sum((flat @ inner) * flat, axis=1)
        if not np.all(inside):
            found[~inside], length[~inside] = fits.evaluate(Z[~inside])
        return found, length

    def refit(self, y: FloatArray) -> "BlendedSurface":
        """Return the surface of other responses of the same rows."""
        return _fit_vertices(self.fits.refit(y), self.cells, self.h, self.widened)

    def matrix(self, Z: FloatArray) -> FloatArray:
        """Return the rows of the smoother at points: (points, rows)."""
        fits = self.fits
        found = np.empty((len(Z), len(fits.y)))
        inside = self.cells.inside(Z)
        for _, rows, ids, A in self._each_cell(Z):
            R = self._rows(ids)
            found[rows] = A.reshape(len(rows), -1) @ R.reshape(A[0].size, -1)
        if not np.all(inside):
            found[~inside] = fits.matrix(Z[~inside])
        return found


def _two_delta(n: int, RA: FloatArray, RR: FloatArray, AA: FloatArray) -> float:
    """Return tr(((I - S)(I - S)')^2) of S = A R.

    With P = S + S' - SS' it is n - 2 tr P + tr P^2, and each trace is one of F by F matrices.
    """
    tr_s, tr_sst = np.trace(RA), np.sum(RR * AA)
    both = RR @ AA
    tr_p_squared = (
        2 * np.sum(RA * RA.T) + 2 * tr_sst - 4 * np.sum(RA * both.T) + np.sum(both * both.T)
    )
    return float(n - 2 * (2 * tr_s - tr_sst) + tr_p_squared)


def _functionals(ids: IntArray, width: int) -> IntArray:
    """Return the numbers of all functionals of some vertices."""
    return (ids[:, None] * width + np.arange(width)).ravel()


def blend_surface(fits: LocalFits, most: int) -> BlendedSurface:
    """Fit local polynomials at the vertices of cells of at most `most` rows."""
    cells = build_cells(fits.X, most)
    h, widened = fits.windows.radii(cells.vertices)
    return _fit_vertices(fits, cells, h, int(widened.sum()))


def _fit_vertices(fits: LocalFits, cells: Cells, h: FloatArray, widened: int) -> BlendedSurface:
    p = fits.X.shape[1]
    found, C, _ = fits.at(cells.vertices, h, count=1 + p)
    if found.shape[1] < 1 + p:  # a local constant has no slope
        found = np.pad(found, ((0, 0), (0, p)))
        C = np.pad(C, ((0, 0), (0, p), (0, 0)))
    return BlendedSurface(fits, cells, h, found, C, widened)
