"""Normal classes that share one covariance: the path of its shrinkage, flat boundaries."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np

from bottega.classify._generative.gaussian import Gaussians, standardized
from bottega.classify._generative.moments import class_moments, row_blocks
from bottega.classify._generative.robust import robust_moments
from bottega.classify._generative.selection import forward_selection
from bottega.classify._generative.shrinkage import ledoit_wolf, oracle_approximating
from bottega.classify._generative.stream import StreamedClasses
from bottega.classify._generative.walk import (
    GaussianWork,
    NormalClasses,
    Scorer,
    no_rows,
    standard_frame,
)
from bottega.classify._generative.within_classes import WithinClasses, decomposed
from bottega.core.errors import DataWarning, InputError, ParameterError, warn_caller
from bottega.core.matrix_columns import beyond_encoding
from bottega.core.path import along
from bottega.core.rows import Rows
from bottega.core.signs import signed
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["CommonCovariance"]

# Shrinkage on the path, from the simplest model on.
_GRID = (1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001, 0)


class CommonCovariance(NormalClasses, StreamedClasses):
    """A classifier with normal classes and one covariance, shrunk towards its diagonal."""

    shrinkage: Any
    covariance: str
    n_features_to_select: Any
    n_components: int | None

    _pooled: ClassVar[bool] = True

    @property
    def _by_moments(self) -> bool:
        return self.covariance == "pooled"

    def _given(self, work: GaussianWork) -> dict[str, Any] | None:
        if work.solved.formula is not None:
            return {"shrinkage": work.solved.formula}
        return super()._given(work)

    def _solved(self, work: GaussianWork) -> WithinClasses:
        moments = work.moments
        center, scale, varies = standard_frame(moments)
        if self.covariance == "robust" and varies.any():
            work.moments = moments = robust_moments(moments, work.reduce, varies)
            center, scale, varies = standard_frame(moments)
        used = varies & self._selected(moments)
        V, values = decomposed(moments, scale, used, work.rows if self._by_moments else None)
        mean = (moments.mean[moments.count > 0] - center) / scale
        formula = None
        if self.shrinkage == "ledoit_wolf":
            formula = ledoit_wolf(moments, used, work.reduce) if used.any() else 1.0
        elif self.shrinkage == "oas":
            formula = oracle_approximating(values, int(used.sum()), float(moments.weight.sum()))
        return WithinClasses(center, scale, varies, used, V, values, mean, formula)

    def _selected(self, moments: Any) -> BoolArray:
        """Return which inputs forward selection takes."""
        wanted, p = self.n_features_to_select, moments.mean.shape[1]
        if wanted is None or np.count_nonzero(moments.count) < 2:
            return np.ones(p, dtype=bool)
        found = forward_selection(moments)
        count = int(np.argmin(getattr(found, wanted))) if isinstance(wanted, str) else int(wanted)
        if count > p:
            raise ParameterError(
                f"n_features_to_select={count} is more than the {p} columns of X; give at most {p}."
            )
        chosen = np.zeros(p, dtype=bool)
        chosen[found.order[: max(count, 1)]] = True  # one input at least tells something
        return chosen

    def _settings(self, work: GaussianWork, values: Any) -> list[dict[str, Any]]:
        if values is None:
            full = work.solved.rank == work.solved.p
            return list(along("shrinkage", map(float, _GRID if full else _GRID[:-1])))
        return list(along("shrinkage", np.unique(np.asarray(values, dtype=np.float64))[::-1]))

    def _complexity(self, settings: Sequence[Mapping[str, Any]]) -> FloatArray:
        return np.array([1.0 - setting["shrinkage"] for setting in settings])

    def _scorer(self, work: GaussianWork, settings: Sequence[Mapping[str, Any]]) -> Scorer:
        found: WithinClasses = work.solved
        slopes = found.coefficients([setting["shrinkage"] for setting in settings])
        constant = self._log_priors(work) - 0.5 * np.sum(slopes * found.mean, axis=2)
        coef = slopes.reshape(constant.size, len(found.scale)).T

        def score(X: FloatArray) -> FloatArray:
            Z = standardized(X, found.center, found.scale)
            return (Z @ coef).reshape(len(X), *constant.shape) + constant

        return score

    def _settle(self, work: GaussianWork, setting: Mapping[str, Any]) -> None:
        found: WithinClasses = work.solved
        self._refuse_constant(found.used)
        self._warn_separating(work.moments, found.varies)
        shrinkage = float(setting["shrinkage"])
        if found.rank_at(shrinkage) < np.sum(beyond_encoding(found.used)):
            warn_caller(
                f"{type(self).__name__}: rows vary within classes in {found.rank} of "
                f"{found.p} directions (inputs are collinear, or rows too few); the "
                "others are left out. Use shrinkage above 0 to use them all.",
                DataWarning,
            )
        self._settled(work, shrinkage)

    def _settled(self, work: GaussianWork, shrinkage: float) -> None:
        """Set everything learnt at one shrinkage."""
        found: WithinClasses = work.solved
        self.shrinkage_ = shrinkage
        self._statistics_so_far = work.moments
        self.selected_ = found.used.copy()
        standard, (root, log_det) = found.covariance(shrinkage), found.root(shrinkage)
        frame = found.center, found.scale, found.mean
        self._keep(work, Gaussians(*frame, standard[None], [root], np.array([log_det])))
        self.covariance_ = standard * np.outer(found.scale, found.scale)
        self._set_scores(found, shrinkage)
        self._set_coordinates(found, root)

    def _set_scores(self, found: WithinClasses, shrinkage: float) -> None:
        """Set coefficients and intercepts on the scale of the inputs."""
        slopes = found.coefficients(shrinkage)[0]  # in standard coordinates
        constant = self._log_prior() - 0.5 * np.sum(slopes * found.mean, axis=1)
        self._linear = slopes, constant
        coef = np.zeros((len(self.classes_), len(found.scale)))
        intercept = np.full(len(self.classes_), -np.inf)
        coef[self._present] = slopes / found.scale
        intercept[self._present] = constant - coef[self._present] @ found.center
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept

    def _set_coordinates(self, found: WithinClasses, root: FloatArray) -> None:
        """Set the directions that separate the class means most, against unit covariance."""
        share = self.priors_[self._present]
        middle = share @ found.mean / share.sum()
        spread = np.sqrt(share)[:, None] * ((found.mean - middle) @ root)
        _, size, directions = np.linalg.svd(spread, full_matrices=False)
        d = min(max(len(self._present) - 1, 0), root.shape[1])
        scalings = signed(root @ directions[:d].T)
        total = np.sum(size[:d] ** 2)
        self.explained_variance_ratio_ = size[:d] ** 2 / (total if total > 0 else 1.0)
        self.scalings_ = scalings / found.scale[:, None]
        self.xbar_ = found.center + found.scale * middle
        self._n_features_out = d if self.n_components is None else min(self.n_components, d)

    def _worked(self, work: GaussianWork) -> GaussianWork:
        most = min(len(self.classes_) - 1, work.moments.mean.shape[1])
        if self.n_components is not None and self.n_components > most > 0:
            raise ParameterError(
                f"n_components={self.n_components} is more than min(n_features, n_classes - 1) = "
                f"{most} coordinates that separate the classes; give at most {most}."
            )
        return super()._worked(work)

    def _take_in(self, rows: Rows, first: bool) -> None:
        for name, word in (("covariance", "robust"), ("shrinkage", "ledoit_wolf")):
            if getattr(self, name) == word:
                raise InputError(
                    f"{name}={word!r} looks at the rows more than once, and a stream keeps none; "
                    "use fit or fit_chunks, or another value."
                )
        K = len(self.classes_)
        new = class_moments(rows.X, rows.y, rows.weight, K, pooled=True)
        moments = new if first else deepcopy(self._statistics_so_far).merge(new)
        work = GaussianWork(moments, no_rows)
        found = work.solved = self._solved(work)
        value: Any = self.shrinkage
        if isinstance(value, str):
            n = float(moments.weight.sum())
            value = oracle_approximating(found.values, found.p, n)
        self._settled(work, float(value))

    def _scores(self, X: FloatArray) -> FloatArray:
        slopes, constant = self._linear
        center, scale = self.densities_.center, self.densities_.scale
        coef = (slopes / scale).T
        found = np.empty((len(X), len(constant)))
        for part in row_blocks(*X.shape):
            found[part] = (X[part] - center) @ coef + constant
            if not np.isfinite(found[part]).all():  # rows that are very far
                found[part] = standardized(X[part], center, scale) @ slopes.T + constant
        return found
