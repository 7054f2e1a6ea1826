"""Log densities of all components, and sums under responsibilities, by few large products.

The logarithm of a normal density is linear in the products of pairs of columns, the columns and
one. With these as features of a block of rows, one matrix product gives the densities of all
components and another the sums of the M step. It takes half the operations of a product with a
triangular matrix per component, and both products are large. In the units of the data the
cancellation in the expanded square is harmless until a component is much smaller than the whole;
then, and with many columns, rows are taken about each mean.
"""

from typing import Any

import numpy as np

from bottega.cluster._mixture.parameters import MixtureParameters
from bottega.cluster._mixture.sums import LOG_2PI, MixtureSums
from bottega.core.typing import FloatArray

__all__ = ["Centred", "Expanded", "density_of", "responsibilities"]

_WIDE = 48  # columns from which on products of pairs take too much memory
_SMALL = 1e-7  # variance, in the units of the data, below which squares are not expanded
_NUMBERS = 2**18  # of a block of features: it stays in the cache


def density_of(parameters: MixtureParameters) -> "Expanded | Centred":
    """Return the way to compute log densities that suits the parameters."""
    p = parameters.means.shape[1]
    small = float(parameters.values.min()) < _SMALL
    wide = p > _WIDE and parameters.vectors is not None
    return Centred(parameters) if small or wide else Expanded(parameters)


def responsibilities(logs: FloatArray, weight: Any) -> tuple[FloatArray, FloatArray]:
    """Turn log densities (k, n), which are spent, into weighted responsibilities.

    Returns them with the log-likelihood, the entropy, and minus the sum of the logarithms of the
    largest responsibility of each row.
    """
    top = logs.max(axis=0)
    logs -= top
    found = np.exp(logs)
    total = found.sum(axis=0)
    found *= 1 / total if weight is None else weight / total
    level = np.log(total)
    if weight is None:
        height, doubt = float(top.sum()), float(level.sum())
    else:
        height, doubt = float(weight @ top), float(weight @ level)
    spread = doubt - float(np.vdot(found, logs))
    return found, np.array([height + doubt, spread, doubt])


class Expanded:
    """Log densities by products of columns: ``coefficients @ features``."""

    def __init__(self, parameters: MixtureParameters) -> None:
        self.parameters = parameters
        k, p = parameters.means.shape
        self.k, self.p = k, p
        self.diagonal = parameters.vectors is None
        pairs = p if self.diagonal else p * (p + 1) // 2
        self.width = pairs + p + 1
        self.rows = max(_NUMBERS // self.width, 64)
        self.about = np.zeros((k, p))
        precision = parameters.precisions
        self.coefficients = np.empty((k, self.width))
        if self.diagonal:
            self.coefficients[:, :pairs] = -0.5 * precision
            linear = precision * parameters.means
        else:
            first, second = np.triu_indices(p)
            twice = np.where(first == second, 0.5, 1.0)
            self.coefficients[:, :pairs] = -precision[:, first, second] * twice
            linear = np.einsum("kij,kj->ki", precision, parameters.means)
        self.coefficients[:, pairs:-1] = linear
        square = np.sum(linear * parameters.means, axis=1)
        self.coefficients[:, -1] = parameters.log_weights - 0.5 * (
            p * LOG_2PI + parameters.log_det + square
        )

    def features(self, Z: FloatArray, room: FloatArray) -> FloatArray:
        """Fill the first columns of `room` with the features of rows, and return them."""
        p, n = Z.shape
        found = room[:, :n]
        at = 0
        if self.diagonal:
            np.multiply(Z, Z, out=found[:p])
            at = p
        else:
            for i in range(p):
                np.multiply(Z[i], Z[i:], out=found[at : at + p - i])
                at += p - i
        found[at : at + p] = Z
        found[-1] = 1.0
        return found

    def logs(self, Z: FloatArray) -> FloatArray:
        """Return the log densities with the log weights: (k, n)."""
        n = Z.shape[1]
        found = np.empty((self.k, n))
        room = np.empty((self.width, min(n, self.rows)))
        for start in range(0, n, self.rows):
            part = slice(start, start + self.rows)
            found[:, part] = self.coefficients @ self.features(Z[:, part], room)
        return found

    def sums(self, Z: FloatArray, weight: Any) -> MixtureSums:
        """Return the expected sums of the rows: an E step and what its M step needs."""
        n = Z.shape[1]
        collected = np.zeros((self.k, self.width))
        totals = np.zeros(3)
        room = np.empty((self.width, min(n, self.rows)))
        for start in range(0, n, self.rows):
            part = slice(start, start + self.rows)
            features = self.features(Z[:, part], room)
            w = None if weight is None else weight[part]
            q, here = responsibilities(self.coefficients @ features, w)
            collected += q @ features.T
            totals += here
        return self.unfold(collected, totals)

    def sums_given(self, Z: FloatArray, q: FloatArray) -> MixtureSums:
        """Return the sums under responsibilities that are given, weights included."""
        n = Z.shape[1]
        collected = np.zeros((self.k, self.width))
        room = np.empty((self.width, min(n, self.rows)))
        for start in range(0, n, self.rows):
            part = slice(start, start + self.rows)
            collected += q[:, part] @ self.features(Z[:, part], room).T
        return self.unfold(collected, np.zeros(3))

    def unfold(self, collected: FloatArray, totals: FloatArray) -> MixtureSums:
        """Return sums of the features under responsibilities as sums of rows and products."""
        k, p = self.k, self.p
        pairs = self.width - p - 1
        if self.diagonal:
            second = collected[:, :pairs]
        else:
            first, last = np.triu_indices(p)
            second = np.empty((k, p, p))
            second[:, first, last] = collected[:, :pairs]
            second[:, last, first] = collected[:, :pairs]
        mass, linear = collected[:, -1], collected[:, pairs:-1]
        return MixtureSums(mass, self.about, linear, second, totals, self.parameters)


class Centred:
    """Log densities by rows about each mean: slower, and exact for components of any size."""

    def __init__(self, parameters: MixtureParameters) -> None:
        self.parameters = parameters
        self.k, self.p = parameters.means.shape
        self.diagonal = parameters.vectors is None
        self.rows = max(_NUMBERS // self.p, 64)
        self.about = parameters.means
        self.constant = parameters.log_weights - 0.5 * (self.p * LOG_2PI + parameters.log_det)
        root = 1 / np.sqrt(parameters.values)
        if parameters.vectors is None:
            self.root = root
        else:
            self.root = root[:, :, None] * np.swapaxes(parameters.vectors, 1, 2)

    def squares(self, Z: FloatArray) -> FloatArray:
        """Return the squared Mahalanobis distances from each mean: (k, n)."""
        found = np.empty((self.k, Z.shape[1]))
        for j in range(self.k):
            gap = Z - self.about[j][:, None]
            scaled = self.root[j][:, None] * gap if self.diagonal else self.root[j] @ gap
            found[j] = np.einsum("ij,ij->j", scaled, scaled)
        return found

    def logs(self, Z: FloatArray) -> FloatArray:
        """Return the log densities with the log weights: (k, n)."""
        return self.constant[:, None] - 0.5 * self.squares(Z)

    def sums(self, Z: FloatArray, weight: Any) -> MixtureSums:
        """Return the expected sums of the rows about the means."""
        shape = (self.k, self.p) if self.diagonal else (self.k, self.p, self.p)
        mass, first = np.zeros(self.k), np.zeros((self.k, self.p))
        second = np.zeros(shape)
        totals = np.zeros(3)
        for start in range(0, Z.shape[1], self.rows):
            block = Z[:, start : start + self.rows]
            w = None if weight is None else weight[start : start + self.rows]
            q, here = responsibilities(self.logs(block), w)
            totals += here
            mass += q.sum(axis=1)
            for j in range(self.k):
                gap = block - self.about[j][:, None]
                first[j] += gap @ q[j]
                second[j] += gap**2 @ q[j] if self.diagonal else (gap * q[j]) @ gap.T
        return MixtureSums(mass, self.about, first, second, totals, self.parameters)
