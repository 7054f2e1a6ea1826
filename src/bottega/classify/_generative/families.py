r"""Distributions of single columns within classes: fitted, evaluated, drawn from.

========== ======================================== ===========================================
Family     Column                                   Fitted by
========== ======================================== ===========================================
gaussian   numbers                                  mean and standard deviation (divisor n - 1)
kernel     numbers of any shape                     normals about all values, of one width
bernoulli  0 and 1                                  share of ones, with pseudo-counts
poisson    counts                                   mean, with pseudo-rows at the common mean
categorical levels                                  shares, with pseudo-counts
========== ======================================== ===========================================
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from bottega.classify._generative.column_sums import ColumnSums
from bottega.classify._generative.gaussian import FAR
from bottega.classify._generative.moments import row_blocks
from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.core.validate import check_columns

__all__ = ["ColumnModels", "chosen_families", "fitted_columns"]

_LOG_2PI = float(np.log(2 * np.pi))
_EXACT = 1e-26  # variance against the squared mean of a column that is constant but for rounding
_MOST = 1000  # kernels of one column and class
_LARGEST_COUNT = 1e300
_NOISE = 0.25  # by which variance over mean of counts may be off one


def chosen_families(
    sums: ColumnSums, declared: list[str], kinds: list[str], names: list[str]
) -> list[str]:
    """Return the family of each column: the one declared, else by what the column holds.

    Zeros and ones are Bernoulli, categories categorical; whole numbers from 0 on are counts if
    their variance within classes is about their mean, as Poisson's is; other numbers are normal. A
    column that does not vary is ``"constant"``: it says nothing.
    """
    total, mean, scatter = _together(sums)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = scatter > _EXACT * total * mean**2
    found = []
    for j, family in enumerate(declared):
        if sums.levels[j] is not None:
            found.append("categorical")
        elif not spread[j]:
            found.append("constant")
        elif family != "auto":
            _refuse_unsuitable(sums, j, family, names[j])
            found.append(family)
        elif sums.binary[j] or kinds[j] == "boolean":
            found.append("bernoulli")
        else:
            found.append("poisson" if sums.whole[j] and _is_poisson(sums, j) else "gaussian")
    return found


def _refuse_unsuitable(sums: ColumnSums, j: int, family: str, name: str) -> None:
    fits = {"poisson": sums.whole[j], "bernoulli": sums.binary[j]}
    if not fits.get(family, True):
        values = "whole numbers from 0 on" if family == "poisson" else "0 and 1"
        raise InputError(
            f"distributions: column {name!r} holds other values than {values}, which {family!r} is "
            "for; leave it out, or give 'gaussian' or 'kernel'."
        )


def _is_poisson(sums: ColumnSums, j: int) -> bool:
    many = sums.seen[:, j] > 1
    df = float(np.sum(sums.seen[many, j] - 1))
    expected = float((sums.seen[many, j] - 1) @ sums.mean[many, j])
    if df <= 0 or expected <= 0:
        return False
    ratio = float(sums.scatter[many, j].sum()) / expected
    return abs(ratio - 1) <= _NOISE


def _together(sums: ColumnSums) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weight, mean and scatter of each column over all classes."""
    total = sums.seen.sum(axis=0)
    mean = (sums.seen * sums.mean).sum(axis=0) / np.where(total > 0, total, 1.0)
    gap = np.where(sums.seen > 0, sums.mean - mean, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused afterwards
        return total, mean, (sums.scatter + sums.seen * gap**2).sum(axis=0)


@stored
@dataclass(frozen=True, eq=False)
class ColumnModels:
    """The fitted distributions of all columns in the classes that were seen.

    Attributes
    ----------
    families : list of str
        Family of each column.
    mean, sd : ndarray of shape (K, p)
        Mean and standard deviation, of columns that are numbers.
    shares : list of (ndarray of shape (K, L) or None)
        Probabilities of the levels of categories; NaN for a level that no row that counts has.
    kernels : list of (list or None)
        Centres, shares and width of the kernels of each class.
    """

    families: list[str]
    mean: FloatArray
    sd: FloatArray
    shares: list[Any]
    kernels: list[Any]

    def _of(self, family: str) -> IntArray:
        return np.flatnonzero(np.array(self.families) == family)

    def log_density(self, X: FloatArray) -> FloatArray:
        """Return the log-density of what is observed of each row in each class: (m, K)."""
        found = np.zeros((len(X), len(self.mean)))
        for part in row_blocks(*X.shape):
            block = X[part]
            with np.errstate(over="ignore"):
                found[part] = self._gaussian(block) + self._bernoulli(block)
                found[part] += self._poisson(block) + self._categorical(block)
            found[part] += self._kernel(block)
        return found

    def _gaussian(self, X: FloatArray) -> FloatArray:
        columns, K = self._of("gaussian"), len(self.mean)
        out = np.zeros((len(X), K))
        if not len(columns):
            return out
        x = X if len(columns) == X.shape[1] else X[:, columns]
        gone = np.isnan(x) if np.isnan(x.sum()) else None
        logs = np.log(self.sd[:, columns]) + 0.5 * _LOG_2PI
        for k in range(K):
            z = x - self.mean[k, columns]
            z *= 1 / self.sd[k, columns]
            if gone is not None:
                z[gone] = 0.0
            square = np.einsum("ij,ij->i", z, z)
            if not np.isfinite(square).all():  # rows that are very far
                np.clip(z, -FAR, FAR, out=z)
                square = np.einsum("ij,ij->i", z, z)
            out[:, k] = -0.5 * square
            out[:, k] -= logs[k].sum() if gone is None else ~gone @ logs[k]
        return out

    def _bernoulli(self, X: FloatArray) -> FloatArray | float:
        columns = self._of("bernoulli")
        if not len(columns):
            return 0.0
        x, p = X[:, columns], self.mean[:, columns]
        with np.errstate(divide="ignore"):
            one, zero = np.log(p), np.log1p(-p)
        return _dot(x == 1, one) + _dot(x == 0, zero)

    def _poisson(self, X: FloatArray) -> FloatArray | float:
        columns = self._of("poisson")
        if not len(columns):
            return 0.0
        x, rate = X[:, columns], np.maximum(self.mean[:, columns], 1e-300)
        x = np.minimum(x, _LARGEST_COUNT)
        possible = (x >= 0) & (x == np.floor(x))
        x = np.where(possible, x, 0.0)
        constant = gammaln(x + 1).sum(axis=1, keepdims=True)
        return x @ np.log(rate).T - possible @ rate.T - constant

    def _categorical(self, X: FloatArray) -> FloatArray:
        out = np.zeros((len(X), len(self.mean)))
        for j in self._of("categorical"):
            with np.errstate(divide="ignore"):
                table = np.log(self.shares[j])
            known = ~np.isnan(table[0])  # levels of rows that count
            there = np.flatnonzero(X[:, j] < len(known))
            codes = X[there, j].astype(np.intp)
            out[there[known[codes]]] += table[:, codes[known[codes]]].T
        return out

    def _kernel(self, X: FloatArray) -> FloatArray:
        out = np.zeros((len(X), len(self.mean)))
        for j in self._of("kernel"):
            there = np.flatnonzero(~np.isnan(X[:, j]))
            for k, (centers, shares, width) in enumerate(self.kernels[j]):
                for rows in np.array_split(there, max(1, len(there) * len(centers) // 2**20)):
                    z = (X[rows, j, None] - centers) / width
                    z = -0.5 * np.clip(z, -FAR, FAR) ** 2
                    top = z.max(axis=1, keepdims=True)
                    total = np.log(np.exp(z - top) @ shares) + top[:, 0]
                    out[rows, k] += total - np.log(width) - 0.5 * _LOG_2PI
        return out

    def filled(self, X: FloatArray, shares: FloatArray) -> FloatArray:
        """Return rows without gaps, `shares` being the probabilities of their classes."""
        out = X.copy()
        gone = np.isnan(X)
        for j in np.flatnonzero(gone.any(axis=0)):
            rows = gone[:, j]
            if self.families[j] == "categorical":
                likely = shares[rows] @ np.nan_to_num(self.shares[j])
                out[rows, j] = np.argmax(likely, axis=1)
            else:
                out[rows, j] = shares[rows] @ self.mean[:, j]
                if self.families[j] == "bernoulli":
                    out[rows, j] = out[rows, j] >= 0.5
        return out

    def drawn(self, codes: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return a row drawn from the class of each code."""
        out = np.empty((len(codes), len(self.families)))
        for j, family in enumerate(self.families):
            mean, sd = self.mean[codes, j], self.sd[codes, j]
            if family == "gaussian":
                out[:, j] = rng.normal(mean, sd)
            elif family == "poisson":
                out[:, j] = rng.poisson(mean)
            elif family == "bernoulli":
                out[:, j] = rng.random(len(codes)) < mean
            elif family == "constant":
                out[:, j] = mean
            else:
                for k in np.unique(codes):
                    out[codes == k, j] = self._drawn_from(j, k, int(np.sum(codes == k)), rng)
        return out

    def _drawn_from(self, j: int, k: int, count: int, rng: np.random.Generator) -> FloatArray:
        if self.families[j] == "categorical":
            shares = np.nan_to_num(self.shares[j][k])
            return rng.choice(len(shares), size=count, p=shares).astype(np.float64)
        centers, shares, width = self.kernels[j][k]
        noise = width * rng.normal(size=count)
        return np.asarray(rng.choice(centers, size=count, p=shares) + noise)


def fitted_columns(
    sums: ColumnSums,
    families: list[str],
    *,
    alpha: float,
    var_smoothing: float,
    bandwidth: float,
) -> ColumnModels:
    """Return the distributions of the columns in the classes that were seen."""
    present = sums.count > 0
    total, mean, scatter = _together(sums)
    number = np.array([levels is None for levels in sums.levels])
    share = np.where(total > 0, total, 1.0)
    check_columns(np.where(number, scatter / share, 1.0), mean=np.abs(mean))
    seen, means = sums.seen[present], np.where(sums.seen > 0, sums.mean, mean)[present]
    means[:, (total == 0) & number] = np.nan  # nothing is known of a column without values
    sd = _deviations(sums, present, scatter / share, var_smoothing)
    for j, family in enumerate(families):
        if family == "bernoulli":
            means[:, j] = _shares_of_ones(seen[:, j], means[:, j], alpha, mean[j])
        elif family == "poisson":
            weight = seen[:, j] + alpha
            ratio = (seen[:, j] * means[:, j] + alpha * mean[j]) / np.where(weight > 0, weight, 1.0)
            means[:, j] = np.where(weight > 0, ratio, mean[j])
    shares = [None if each is None else _smoothed(each[present], alpha) for each in sums.levels]
    kernels: list[Any] = [None] * len(families)
    for j, family in enumerate(families):
        if family == "kernel":
            parts = [part for part, here in zip(sums.values[j], present, strict=True) if here]
            kernels[j] = [
                _kernels(values, weights, sd[k, j], means[k, j], bandwidth)
                for k, (values, weights) in enumerate(parts)
            ]
    return ColumnModels(list(families), means, sd, shares, kernels)


def _deviations(
    sums: ColumnSums, present: BoolArray, variance: FloatArray, smoothing: float
) -> FloatArray:
    """Return standard deviations within classes, none below a share of that of the column.

    A class with fewer than two values has the deviation that the classes have together.
    """
    # Weights that are less than one on average count as rows do.
    rows = np.maximum(sums.observed, 1)
    df = np.maximum(np.maximum(sums.seen - 1, sums.seen * (rows - 1) / rows), 0.0)
    total = df.sum(axis=0)
    pooled = sums.scatter.sum(axis=0) / np.where(total > 0, total, 1.0)
    own = np.where(df > 0, sums.scatter / np.where(df > 0, df, 1.0), pooled)
    least = np.where(variance > 0, smoothing * variance, 1.0)
    return np.sqrt(np.maximum(own, least))[present]


def _shares_of_ones(seen: FloatArray, mean: FloatArray, alpha: float, all_rows: float) -> Any:
    weight = seen + 2 * alpha
    return np.where(weight > 0, (seen * mean + alpha) / np.where(weight > 0, weight, 1), all_rows)


def _smoothed(counts: FloatArray, alpha: float) -> FloatArray:
    """Return shares of the levels in each class, with pseudo-counts for each level that was seen.

    A class without any value has the shares of all classes together.
    """
    together = counts.sum(axis=0)
    seen = together > 0
    weight = counts.sum(axis=1, keepdims=True) + alpha * np.count_nonzero(seen)
    shares = np.where(weight > 0, (counts + alpha) / np.where(weight > 0, weight, 1.0), 0.0)
    shares = np.where(weight > 0, shares, together / max(float(together.sum()), 1e-300))
    return np.where(seen, shares, np.nan)


def _kernels(values: Any, weights: Any, sd: float, mean: float, bandwidth: float) -> Any:
    """Return centres, shares and width of the kernels of one column in one class."""
    if not len(values):
        return np.array([mean]), np.array([1.0]), float(sd * bandwidth)
    centers, place = np.unique(values, return_inverse=True)
    weight: FloatArray = np.bincount(place, weights=weights).astype(np.float64)
    total = float(weight.sum())
    quarter, half = (_quantile(centers, weight, q) for q in (0.25, 0.75))
    spread = (half - quarter) / 1.34
    low = min(sd, spread) if spread > 0 else sd
    width = bandwidth * 0.9 * float(low) * max(total, 1.0) ** -0.2
    if len(centers) > _MOST:
        centers, weight = _binned(centers, weight)
    return centers, weight / weight.sum(), width


def _quantile(values: FloatArray, weight: FloatArray, q: float) -> float:
    """Return R's default quantile of values that stand as often as their weights say."""
    ends = np.cumsum(weight)
    place = max((ends[-1] - 1) * q, 0.0)
    at = np.searchsorted(ends, [np.floor(place), np.floor(place) + 1], side="right")
    low, high = values[np.minimum(at, len(values) - 1)]
    return float(low + (place - np.floor(place)) * (high - low))


def _binned(values: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weights shared out between the two nearest points of a grid."""
    grid = np.linspace(values[0], values[-1], _MOST)
    step = grid[1] - grid[0]
    place = np.minimum(((values - grid[0]) / step).astype(np.intp), _MOST - 2)
    part = (values - grid[place]) / step
    found = np.zeros(_MOST)
    np.add.at(found, place, weight * (1 - part))
    np.add.at(found, place + 1, weight * part)
    return grid[found > 0], found[found > 0]


def _dot(flags: BoolArray, logs: FloatArray) -> FloatArray:
    """Return sums of logarithms where flags are set; minus infinity counts where it is set."""
    finite = np.isfinite(logs)
    found = flags.astype(np.float64) @ np.where(finite, logs, 0.0).T
    if not finite.all():
        found[(flags.astype(np.float64) @ (~finite).T.astype(np.float64)) > 0] = -np.inf
    return np.asarray(found)
