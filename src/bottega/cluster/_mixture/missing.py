"""Rows with missing values: the exact density of what was observed.

The density of the observed columns is normal with their part of mean and covariance, and what is
missing has, given them, a normal distribution too. The sums of the M step take its mean in the
place of the value, and its covariance to the products.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.cluster._mixture.density import Centred, Expanded, responsibilities
from bottega.cluster._mixture.parameters import MixtureParameters
from bottega.cluster._mixture.sums import LOG_2PI, MixtureSums
from bottega.core.typing import FloatArray, IntArray

__all__ = ["filled", "logs_of_observed", "squares_of_observed", "sums_of_observed"]

_ROWS = 2048  # of a block


@dataclass(frozen=True, eq=False)
class _Patterns:
    """Rows with equally many values missing, by which of them are."""

    rows: IntArray
    which: IntArray  # pattern of each row
    seen: IntArray  # (patterns, observed)
    lost: IntArray  # (patterns, missing)


def _patterns_of(Z: FloatArray) -> list[_Patterns]:
    """Return the rows of Z (p, n) in groups with equally many values missing."""
    mask = np.isnan(Z.T)
    patterns, which = np.unique(mask, axis=0, return_inverse=True)
    which = which.reshape(-1)
    count = patterns.sum(axis=1)
    found = []
    for m in np.unique(count):
        kept = np.flatnonzero(count == m)
        order = np.argsort(patterns[kept], axis=1, kind="stable")  # observed columns first
        split = Z.shape[0] - int(m)
        rows = np.flatnonzero(np.isin(which, kept))
        number = np.searchsorted(kept, which[rows])
        found.append(_Patterns(rows, number, order[:, :split], order[:, split:]))
    return found


@dataclass(frozen=True, eq=False)
class _Conditional:
    """For each pattern: the observed part, and what is missing given it."""

    inverse: FloatArray  # of the observed covariance
    log_det: FloatArray
    gain: FloatArray  # from observed to missing
    rest: FloatArray  # covariance of what is missing given the observed

    @classmethod
    def of(cls, covariance: FloatArray, group: _Patterns) -> "_Conditional":
        seen, lost = group.seen, group.lost
        observed = covariance[seen[:, :, None], seen[:, None, :]]
        across = covariance[seen[:, :, None], lost[:, None, :]]
        inverse: FloatArray = np.linalg.inv(observed).astype(np.float64, copy=False)
        gain = inverse @ across
        rest = covariance[lost[:, :, None], lost[:, None, :]] - np.swapaxes(across, 1, 2) @ gain
        return cls(inverse, np.linalg.slogdet(observed)[1], gain, rest)


def _logs_and_fills(
    Z: FloatArray, parameters: MixtureParameters, groups: list[_Patterns]
) -> tuple[FloatArray, FloatArray, FloatArray, list[list[_Conditional]]]:
    """Return log densities, squared distances (k, n), completed rows, and the conditionals."""
    k, n = len(parameters.means), Z.shape[1]
    logs, squares = np.empty((k, n)), np.empty((k, n))
    full = np.repeat(Z[None], k, axis=0)
    covariances = parameters.covariances
    conditionals: list[list[_Conditional]] = []
    for j in range(k):
        mean, parts = parameters.means[j], []
        for group in groups:
            part = _Conditional.of(covariances[j], group)
            rows, which = group.rows, group.which
            seen, lost = group.seen[which], group.lost[which]
            gap = Z.T[rows[:, None], seen] - mean[seen]
            scaled = np.einsum("ni,nij->nj", gap, part.inverse[which])
            square = np.maximum(np.einsum("ni,ni->n", gap, scaled), 0.0)
            squares[j, rows] = square
            observed = seen.shape[1]
            logs[j, rows] = parameters.log_weights[j] - 0.5 * (
                observed * LOG_2PI + part.log_det[which] + square
            )
            guess = mean[lost] + np.einsum("ni,nij->nj", gap, part.gain[which])
            full[j][lost, rows[:, None]] = guess
            parts.append(part)
        conditionals.append(parts)
    return logs, squares, full, conditionals


def logs_of_observed(Z: FloatArray, parameters: MixtureParameters) -> FloatArray:
    """Return the log densities of the observed values, with the log weights: (k, n)."""
    return squares_of_observed(Z, parameters)[1]


def squares_of_observed(
    Z: FloatArray, parameters: MixtureParameters
) -> tuple[FloatArray, FloatArray]:
    """Return squared distances from each mean in the observed columns, and log densities (k, n)."""
    squares = np.empty((len(parameters.weights), Z.shape[1]))
    logs = np.empty_like(squares)
    for start in range(0, Z.shape[1], _ROWS):
        part = slice(start, start + _ROWS)
        found = _logs_and_fills(Z[:, part], parameters, _patterns_of(Z[:, part]))
        logs[:, part], squares[:, part] = found[:2]
    return squares, logs


def filled(Z: FloatArray, parameters: MixtureParameters) -> FloatArray:
    """Return the rows with what is missing replaced by its expectation under the mixture."""
    found = Z.copy()
    for start in range(0, Z.shape[1], _ROWS):
        block = Z[:, start : start + _ROWS]
        logs, _, full, _ = _logs_and_fills(block, parameters, _patterns_of(block))
        q, _ = responsibilities(logs, None)
        found[:, start : start + _ROWS] = np.einsum("kn,kpn->pn", q, full)
    return found


def sums_of_observed(
    Z: FloatArray, weight: Any, density: Expanded | Centred, parameters: MixtureParameters
) -> MixtureSums:
    """Return the expected sums of rows with missing values, about the points of `density`."""
    k, p = parameters.means.shape
    diagonal = parameters.vectors is None
    mass, first = np.zeros(k), np.zeros((k, p))
    second = np.zeros((k, p, p))
    totals = np.zeros(3)
    for start in range(0, Z.shape[1], _ROWS):
        block = Z[:, start : start + _ROWS]
        groups = _patterns_of(block)
        logs, _, full, conditionals = _logs_and_fills(block, parameters, groups)
        w = None if weight is None else weight[start : start + _ROWS]
        q, here = responsibilities(logs, w)
        totals += here
        mass += q.sum(axis=1)
        for j in range(k):
            gap = full[j] - density.about[j][:, None]
            first[j] += gap @ q[j]
            second[j] += (gap * q[j]) @ gap.T
            for group, part in zip(groups, conditionals[j], strict=True):
                m = group.lost.shape[1]
                if not m:
                    continue
                share = np.bincount(group.which, q[j, group.rows], minlength=len(group.lost))
                at = group.lost[:, :, None], group.lost[:, None, :]
                np.add.at(second[j], at, share[:, None, None] * part.rest)
                log_det = np.linalg.slogdet(part.rest)[1]
                totals[1] += 0.5 * float(share @ (m * (1 + LOG_2PI) + log_det))
    if diagonal:
        second = np.diagonal(second, axis1=1, axis2=2).copy()
    return MixtureSums(mass, density.about, first, second, totals, parameters)
