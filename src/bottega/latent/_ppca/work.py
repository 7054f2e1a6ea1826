"""What all numbers of components share: axes of complete rows, or rows with missing values."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bottega.core.added_sums import AddedSums
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.moments import Moments
from bottega.core.row_counts import as_counts, rows_of_weight
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.latent._ppca.ascent import climb_by_em, climb_by_gradient, climbed
from bottega.latent._ppca.axes import PrincipalAxes
from bottega.latent._ppca.latent_normal import LatentNormal
from bottega.latent._ppca.observed import ObservedMeans, ObservedRows
from bottega.latent._ppca.sums import LatentSums
from bottega.latent._reading.sizes import check_sizes
from bottega.optimize.em import Ascent

__all__ = ["LatentWork", "prepared", "prepared_chunks"]


@dataclass(frozen=True)
class LatentWork:
    """Prepared rows: their axes, and what gives the expectations of EM about a centre.

    For rows with missing values the axes are those of products of entries observed together: a
    start. `source` are the rows, groups of them, or chunks of them that are read again.
    """

    axes: PrincipalAxes
    complete: bool
    source: Any
    center: FloatArray
    rows: int
    unit: float = 1.0  # of the weights of chunks: a factor that makes them count rows

    @property
    def weight(self) -> float:
        """Sum of the weights of the rows."""
        return self.axes.weight

    @property
    def most(self) -> int:
        """Components beyond which the noise would vanish."""
        return max(min(len(self.center), self.axes.rank) - 1, 0)

    def solve(self, count: int, method: str, tol: float, max_iter: int) -> Ascent:
        """Return the maximum of the likelihood with `count` latent variables."""
        start = self.axes.model(count)
        if method == "closed" or (count == 0 and self.complete):
            value = float(self.axes.log_likelihoods(np.array([count]))[0])
            return climbed(start, [value], 1, True)
        climb = climb_by_gradient if method == "gradient" else climb_by_em
        spread = self.axes.total / len(self.center)
        if self.complete:
            # The axes are the answer; the ascent starts beside them, at noise of all the variance.
            W = _spread_out(*start.W.shape) * np.sqrt(spread)
            start = LatentNormal(start.mean, W, spread)
        else:
            W = np.where(np.any(start.W, axis=0), start.W, 1e-3 * np.sqrt(spread))
            start = replace(start, W=W, noise=max(start.noise, 1e-4 * spread))
        about = replace(start, mean=start.mean - self.center)
        found = climb(self.expect, about, floor=self.axes.floor, tol=tol, max_iter=max_iter)
        model = found.parameters
        return replace(found, parameters=replace(model, mean=model.mean + self.center).on_axes())

    def expect(self, model: LatentNormal) -> LatentSums:
        """Return the sums that EM and the gradient need, given a model about the centre."""
        if isinstance(self.source, ObservedRows):
            return self.source.expect(model)
        unit, center = self.unit, self.center

        def of_chunk(X: FloatArray, _y: Any, w: Any, _fold: Any) -> LatentSums:
            weight = w if unit == 1 else unit * (np.ones(len(X)) if w is None else w)
            return ObservedRows(X, weight, center).expect(model)

        found: LatentSums = self.source.reduce(of_chunk)
        return found


def _spread_out(p: int, K: int) -> FloatArray:
    """Return K directions that no rotation or order of the columns makes equal."""
    angles = np.outer(np.arange(1, p + 1), np.arange(1, K + 1)) * np.pi / (p + 1)
    found, _ = np.linalg.qr(np.cos(angles) + 0.1 * np.sin(7 * angles))
    return np.asarray(found)


def prepared(rows: Rows, owner: str, names: Sequence[str]) -> LatentWork:
    """Return the prepared rows of a fit; NaN is missing."""
    X, w = rows.X, as_counts(rows.weight)
    check_sizes(X)
    if not np.isnan(X).any():
        if len(X) < X.shape[1]:
            axes = PrincipalAxes.of_wide(X, w)
            source: Any = ObservedRows(X, w, axes.mean)
        else:
            moments = Moments().update(X, w=w)
            axes, source = PrincipalAxes.of_moments(moments), ObservedRows.of_moments(moments)
        return LatentWork(_varying(axes, owner), True, source, axes.mean, len(X))
    center = ObservedMeans.of(X, w).mean
    _check_columns(center, owner, names)
    source = ObservedRows(X, w, center)
    empty = source.empty
    if empty:
        warn_caller(
            f"{owner}: {empty} of {len(X)} rows have no observed value; they say nothing about "
            "the parameters and are left out of the fit.",
            DataWarning,
        )
    axes = _pairwise_axes(center, *source.together())
    return LatentWork(_varying(axes, owner), False, source, center, len(X) - empty)


def prepared_chunks(
    moments: Moments | None, chunks: CheckedChunks, owner: str, names: Sequence[str]
) -> LatentWork:
    """Return the prepared work of rows in chunks; `moments` are None where values are missing."""
    if moments is not None:
        rows = rows_of_weight(moments.weight, moments.count)
        moments = _reweighted(moments, rows / moments.weight)
        axes = PrincipalAxes.of_moments(moments)
        source: Any = ObservedRows.of_moments(moments)
        return LatentWork(_varying(axes, owner), True, source, axes.mean, moments.count)
    center = chunks.reduce(lambda X, _y, w, _fold: ObservedMeans.of(X, w)).mean
    _check_columns(center, owner, names)

    def together(X: FloatArray, _y: Any, w: Any, _fold: Any) -> AddedSums:
        told = ~np.isnan(X).all(axis=1)
        some = np.count_nonzero(told if w is None else told & (w > 0))
        return AddedSums((*ObservedRows(X, w, center).together(), len(X), int(some)))

    products, entries, weight, count, some = chunks.reduce(together).values
    unit = rows_of_weight(weight, some) / weight
    axes = _pairwise_axes(center, products * unit, entries * unit, weight * unit)
    return LatentWork(_varying(axes, owner), False, chunks, center, count, unit)


def _reweighted(moments: Moments, factor: float) -> Moments:
    if factor == 1:
        return moments
    found = copy(moments)
    found.weight, found.scatter = moments.weight * factor, moments.scatter * factor
    return found


def _pairwise_axes(
    center: FloatArray, products: FloatArray, entries: FloatArray, weight: float
) -> PrincipalAxes:
    """Return the axes of the products over the share of rows that would have both entries."""
    share = entries / weight
    together = np.outer(share, share)
    together[np.diag_indices_from(together)] = share
    return PrincipalAxes.of_covariance(center, products / (weight * together), weight)


def _check_columns(center: FloatArray, owner: str, names: Sequence[str]) -> None:
    never = np.flatnonzero(np.isnan(center))
    if len(never):
        raise InputError(
            f"{owner}: column {names[never[0]]!r} of X has no observed value"
            + (f", nor have {len(never) - 1} others" if len(never) > 1 else "")
            + "; leave it out."
        )


def _varying(axes: PrincipalAxes, owner: str) -> PrincipalAxes:
    if not axes.rank or not axes.total > 0:
        raise InputError(
            f"{owner}: the rows of X do not differ, so they have no density; give rows that vary."
        )
    return axes
