r"""Normal classes with covariances of their own, drawn towards the pooled one and a multiple of I.

Symbols
-------
K       classes that were seen
p, r    columns that vary within classes, and directions
T_k, T  scatter of class k, and of all classes, in standard coordinates
v_k, v  what they are divided by: n_k - 1 and n - K
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bottega.classify._generative.gaussian import TOLERANCE, Gaussians, standardized, whitened
from bottega.classify._generative.walk import GaussianWork, NormalClasses, Scorer, standard_frame
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.matrix_columns import beyond_encoding
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["OwnCovariances"]

# Shares of the pooled covariance on the path, from the simplest model on.
_POOLING = (1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0)
# Shares of the multiple of the identity, where these are chosen too.
_SHRINKAGE = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0)


@dataclass(frozen=True)
class _TwoScatters:
    """The scatters of the classes, and the bases in which each of them and the pooled are diagonal.

    In the basis of class k, of shape (p, r), the pooled covariance is the identity, and the scatter
    of the class has the `values` of its row.
    """

    center: FloatArray
    scale: FloatArray
    varies: BoolArray
    mean: FloatArray
    scatter: FloatArray  # (K, p, p), zero in columns that do not vary
    divisors: FloatArray
    divisor: float
    bases: FloatArray  # (K, p, r)
    values: FloatArray  # (K, r)

    def variances(self, pooling: Any) -> FloatArray:
        """Return the variances along the bases, against the pooled ones: (settings, K, r)."""
        share = np.atleast_1d(np.asarray(pooling, dtype=np.float64))[:, None, None]
        own, common = self.divisors[:, None], self.divisor
        total = (1 - share) * own + share * common
        found = (1 - share) * self.values + share * common
        return np.where(total > 0, found / np.where(total > 0, total, 1.0), 0.0)

    def covariance(self, setting: Mapping[str, Any]) -> FloatArray:
        """Return the covariances at a setting, in standard coordinates: (K, p, p)."""
        share, ridge = float(setting["pooling"]), float(setting["shrinkage"])
        total = (1 - share) * self.divisors + share * self.divisor
        mixed = (1 - share) * self.scatter + share * self.scatter.sum(axis=0)
        mixed = mixed / np.where(total > 0, total, 1.0)[:, None, None]
        p = max(int(self.varies.sum()), 1)
        level = np.trace(mixed, axis1=1, axis2=2) / p
        target = level[:, None, None] * np.diag(self.varies.astype(np.float64))
        return (1 - ridge) * mixed + ridge * target

    def groups(self, settings: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return settings that share a basis for each class: places, bases and variances.

        Without shrinkage all of them do, with shrinkage those of one pooling.
        """
        ridges = np.array([float(setting["shrinkage"]) for setting in settings])
        pooling = np.array([float(setting["pooling"]) for setting in settings])
        plain = np.flatnonzero(ridges == 0)
        found: list[Any] = []
        if len(plain):
            variances = np.maximum(self.variances(pooling[plain]), TOLERANCE)
            found.append((plain, self.bases, variances))
        for share in np.unique(pooling[ridges > 0]):
            places = np.flatnonzero((ridges > 0) & (pooling == share))
            mixed = self.covariance({"pooling": share, "shrinkage": 0.0})
            values, vectors = np.linalg.eigh(mixed[:, self.varies][:, :, self.varies])
            bases = np.zeros((len(mixed), len(self.varies), values.shape[1]))
            bases[:, self.varies] = vectors
            level = values.mean(axis=1, keepdims=True) if values.size else values
            ridge = ridges[places, None, None]
            variances = (1 - ridge) * np.maximum(values, 0.0) + ridge * level
            found.append((places, bases, np.maximum(variances, TOLERANCE)))
        return found

    def singular(self, setting: Mapping[str, Any]) -> BoolArray:
        """Return the classes whose covariance has no inverse at a setting."""
        if float(setting["shrinkage"]) > 0:
            level = np.trace(self.covariance(setting), axis1=1, axis2=2)
            return level <= TOLERANCE
        return self.variances(setting["pooling"])[0].min(axis=1, initial=1.0) <= TOLERANCE


class OwnCovariances(NormalClasses):
    """A classifier with a normal distribution of its own for each class."""

    pooling: Any
    shrinkage: Any
    standardize: bool

    _pooled: ClassVar[bool] = False

    def _solved(self, work: GaussianWork) -> _TwoScatters:
        moments = work.moments
        center, scale, varies = standard_frame(moments)
        if not self.standardize:
            scale = np.ones_like(scale)
        seen = moments.count > 0
        scatter = moments.scatter[seen] / np.outer(scale, scale)
        scatter = scatter * np.outer(varies, varies)
        divisor = moments.divisor() if varies.any() else 1.0
        pooled = scatter.sum(axis=0) / divisor
        root = whitened(pooled)[0]
        values, turns = np.linalg.eigh(root.T @ scatter @ root)
        mean = (moments.mean[seen] - center) / scale
        bases, values = root @ turns, np.maximum(values, 0.0)
        divisors = moments.divisors()[seen]
        return _TwoScatters(center, scale, varies, mean, scatter, divisors, divisor, bases, values)

    def _settings(self, work: GaussianWork, values: Any) -> list[dict[str, Any]]:
        grid = {
            "pooling": np.array(_POOLING, dtype=np.float64),
            "shrinkage": np.array(_SHRINKAGE, dtype=np.float64),
        }
        for name in grid:
            if getattr(self, name) != "auto":
                grid[name] = np.array([float(getattr(self, name))])
        if values is not None:
            grid["pooling"] = np.unique(np.asarray(values, dtype=np.float64))[::-1]
        pairs = [
            {"pooling": float(share), "shrinkage": float(ridge)}
            for share in grid["pooling"]
            for ridge in grid["shrinkage"]
        ]
        pairs.sort(key=lambda pair: (1 - pair["pooling"]) + (1 - pair["shrinkage"]))
        if values is None and work.solved.varies.any():
            pairs = [pair for pair in pairs if not work.solved.singular(pair).any()]
        return pairs or [{"pooling": 1.0, "shrinkage": float(grid["shrinkage"][0])}]

    def _complexity(self, settings: Sequence[Mapping[str, Any]]) -> FloatArray:
        return np.array([2.0 - pair["pooling"] - pair["shrinkage"] for pair in settings])

    def _scorer(self, work: GaussianWork, settings: Sequence[Mapping[str, Any]]) -> Scorer:
        found: _TwoScatters = work.solved
        log_prior = self._log_priors(work)
        groups = found.groups(settings)

        def score(X: FloatArray) -> FloatArray:
            Z = standardized(X, found.center, found.scale)
            out = np.empty((len(X), len(settings), len(found.mean)))
            for k, mean in enumerate(found.mean):
                for places, bases, variances in groups:  # all of a group from one product
                    U = (Z - mean) @ bases[k]
                    square = (U**2) @ (1 / variances[:, k]).T
                    out[:, places, k] = square + np.sum(np.log(variances[:, k]), axis=1)
            return log_prior - 0.5 * out

        return score

    def _settle(self, work: GaussianWork, setting: Mapping[str, Any]) -> None:
        found: _TwoScatters = work.solved
        self._refuse_constant(found.varies)
        self._refuse_singular(work, setting)
        self._warn_separating(work.moments, found.varies)
        r, p = found.bases.shape[2], int(found.varies.sum())
        if r < np.sum(beyond_encoding(found.varies)) and float(setting["shrinkage"]) == 0:
            warn_caller(
                f"{type(self).__name__}: rows vary within classes in {r} of {p} directions (inputs "
                "are collinear, or rows too few); the others are left out. Use shrinkage above 0 "
                "to use them all.",
                DataWarning,
            )
        self.pooling_, self.shrinkage_ = float(setting["pooling"]), float(setting["shrinkage"])
        covariance = found.covariance(setting)
        densities = Gaussians.of(found.center, found.scale, found.mean, covariance)
        self._keep(work, densities)
        self.covariance_ = covariance * np.outer(found.scale, found.scale)

    def _refuse_singular(self, work: GaussianWork, setting: Mapping[str, Any]) -> None:
        lost = work.solved.singular(setting)
        if lost.any():
            k = int(np.flatnonzero(work.moments.count)[np.argmax(lost)])
            raise InputError(
                f"The covariance of class {self.classes_.tolist()[k]!r} is singular: its "
                f"{work.moments.count[k]} rows do not vary in all directions of the "
                f"{int(work.solved.varies.sum())} inputs. Give pooling (or shrinkage) above 0, "
                "or more rows."
            )
