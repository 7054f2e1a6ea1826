"""One fit of a mixture, and all fits that share rows: the prepared work of the estimator."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bottega.cluster._mixture.density import Expanded
from bottega.cluster._mixture.families import is_diagonal, n_parameters, own_scales
from bottega.cluster._mixture.parameters import MixtureParameters, MixtureUnits
from bottega.cluster._mixture.source import (
    ColumnMoments,
    MixtureChunks,
    MixtureRows,
    sample_places,
)
from bottega.cluster._mixture.starts import Starts, check_given
from bottega.cluster._mixture.sums import MixtureSums, bound_of, maximise
from bottega.core.errors import InputError, ParameterError
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.em import Ascent, ascend

__all__ = ["MixtureOptions", "MixtureWork", "NormalFit"]

_NOTHING = 1e-10  # of the largest deviation along an axis: what rounding leaves of none


@dataclass(frozen=True, eq=False)
class MixtureOptions:
    """How mixtures are fitted: the parameters of the estimator that are no knob."""

    tol: float
    reg_covar: float
    max_iter: int
    n_init: int
    start: Any
    weights: Any
    means: Any
    precisions: Any
    seeds: list[int]
    warm: Any = None  # weights, means, covariances of an earlier fit
    device: Any = None


@dataclass(frozen=True, eq=False)
class NormalFit:
    """A fitted mixture, its start, and how it got there."""

    family: str
    units: MixtureUnits
    start: MixtureParameters
    ascent: Ascent
    last: MixtureSums
    total: float  # weight of the rows

    @property
    def parameters(self) -> MixtureParameters:
        """What was found."""
        found: MixtureParameters = self.ascent.parameters
        return found

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the rows in the units of the data."""
        return float(self.ascent.after_e[-1])

    @property
    def df(self) -> int:
        """Free parameters."""
        return n_parameters(self.family, *self.parameters.means.shape)

    def criteria(self) -> dict[str, float]:
        """Return AIC, BIC and ICL: smaller is better."""
        deviance = -2 * self.log_likelihood
        bic = deviance + self.df * np.log(self.total)
        return {"aic": deviance + 2 * self.df, "bic": bic, "icl": bic + 2 * self.last.doubt}


class MixtureWork:
    """Rows with their starts and fits: every family and number of components is fitted once."""

    def __init__(
        self,
        moments: ColumnMoments,
        options: MixtureOptions,
        rows: Any,
        chunks: Any = None,
        counted: float = 1.0,
    ) -> None:
        self.moments = moments
        self.options = options
        self.n = moments.count
        self.total = moments.weight
        self.p = len(moments.mean)
        self.flat = int(np.count_nonzero(~moments.varies))
        self.left_out: list[str] = []  # families that the path does not go over
        self._rows = rows
        self._chunks = chunks
        self._counted = counted  # what weights in chunks are multiplied by to count rows
        self._sources: dict[bool, Any] = {}
        self._starts: dict[bool, Starts] = {}
        self._trees: dict[str, Any] = {}
        self._begun: dict[Any, FloatArray] = {}
        self._fits: dict[tuple[int, str], NormalFit] = {}

    def source(self, family: str) -> Any:
        """Return the rows in the units that suit a family."""
        own = own_scales(family)
        if own not in self._sources:
            units = self.moments.units(own)
            rows: Any = self._rows or (None, None)
            X, weight = rows
            if self._chunks is not None:
                self._sources[own] = MixtureChunks(self._chunks, self.moments, units, self._counted)
            elif self.options.device is not None:
                from bottega.cluster._mixture.torch import TorchSource

                self._sources[own] = TorchSource(X, weight, units, self.options.device)
            else:
                self._sources[own] = MixtureRows(X, weight, units)
        return self._sources[own]

    def _starts_of(self, family: str) -> Starts:
        own = own_scales(family)
        if own not in self._starts:
            source = self.source(family)
            if self._chunks is not None:
                X, weight = source.sample()
            else:
                X, weight = self._rows
                if isinstance(self.options.start, str):
                    places = sample_places(len(X))
                    X, weight = X[places], None if weight is None else weight[places]
            self._starts[own] = Starts(source.units.into(X), weight, self._trees)
        return self._starts[own]

    @cached_property
    def collinear(self) -> IntArray:
        """The columns of which one is, to rounding, a combination of others; constant ones aside.

        None where rows are no more than columns: then any are.
        """
        starts = self._starts_of("VVV")
        Z, varies = starts.Z, np.flatnonzero(self.moments.varies)
        if Z.shape[1] <= self.p or not len(varies):
            return varies[:0]
        weight = np.ones(Z.shape[1]) if starts.weight is None else starts.weight
        table = (Z[varies] - np.average(Z[varies], axis=1, weights=weight)[:, None]) * weight**0.5
        size = np.linalg.norm(table, axis=1, keepdims=True)
        axes, spread, _ = np.linalg.svd(table / np.where(size > 0, size, 1.0), full_matrices=False)
        without = np.abs(axes[:, spread <= _NOTHING * spread[0]])
        return varies[np.any(without > 1e-6, axis=1)]

    def begin(self, k: int, family: str, trial: int = 0) -> FloatArray:
        """Return the responsibilities that fits of so many components start from."""
        if k > self.n:
            raise InputError(
                f"n_components={k} is more than the {self.n} rows; use at most {self.n}, and far "
                "fewer for components that mean something."
            )
        own, how = own_scales(family), self.options.start
        key = (k, own, trial)
        if key not in self._begun:
            starts = self._starts_of(family)
            if isinstance(how, str):
                seed = self.options.seeds[trial]
                self._begun[key] = starts.responsibilities(how, k, seed, trial)
            elif self._chunks is not None:
                raise ParameterError(
                    "GaussianMixture: a fit in chunks cannot start from init_params given row by "
                    "row; give a word, or means_init with weights_init and precisions_init."
                )
            else:
                given = check_given(how, self.n, k)
                weight = starts.weight
                self._begun[key] = given if weight is None else given * weight
        return self._begun[key]

    def fit(self, k: int, family: str) -> NormalFit:
        """Return the mixture of k components of a family: the best of several starts."""
        if (k, family) not in self._fits:
            count = 1 if self.options.warm is not None else self.options.n_init
            found = [self._climb(k, family, trial) for trial in range(count)]
            self._fits[k, family] = max(found, key=lambda fit: fit.log_likelihood)
        return self._fits[k, family]

    def _climb(self, k: int, family: str, trial: int) -> NormalFit:
        source, floor = self.source(family), self._floor
        start = self._start(k, family, trial)
        last: dict[str, MixtureSums] = {}

        def e_step(parameters: MixtureParameters) -> MixtureSums:
            last["q"] = source.expect(parameters)
            return last["q"]

        with one_thread():
            ascent = ascend(
                start,
                e_step,
                lambda q: maximise(q, family, floor, self.flat),
                bound_of,
                max_iter=self.options.max_iter,
                tol=self.options.tol * self.total,
                entropy=lambda q: q.entropy,
            )
        shift = self._shift(source.units)
        ascent = replace(
            ascent,
            after_e=ascent.after_e - shift,
            after_m=ascent.after_m - shift,
            log_likelihood=ascent.log_likelihood - shift,
        )
        return NormalFit(family, source.units, start, ascent, last["q"], self.total)

    @property
    def _floor(self) -> float:
        return max(self.options.reg_covar, 1e-14)

    def _shift(self, units: MixtureUnits) -> float:
        """Return what the logarithms of the densities lose in the units of the data."""
        return float(self.moments.mass @ np.log(units.scale))

    def _start(self, k: int, family: str, trial: int) -> MixtureParameters:
        options, units = self.options, self.source(family).units
        if options.warm is not None:
            weights, means, covariances = options.warm
            return _from_user(family, units, weights, means, covariances, self._floor)
        given = (options.weights, options.means, options.precisions)
        if all(part is not None for part in given):
            weights, means, precisions = self._check_given(k, family)
            covariances = np.linalg.inv(precisions)
            return _from_user(family, units, weights, means, covariances, self._floor)
        q = self.begin(k, family, trial)
        found = self._from_responsibilities(q, family)
        if all(part is None for part in given):
            return found
        weights, means, precisions = self._check_given(k, family)
        return _from_user(
            family,
            units,
            found.weights if weights is None else weights,
            _to_user(units, found)[0] if means is None else means,
            _to_user(units, found)[1] if precisions is None else np.linalg.inv(precisions),
            self._floor,
        )

    def _from_responsibilities(self, q: FloatArray, family: str) -> MixtureParameters:
        k, p = len(q), self.p
        flat = np.ones((k, p))
        vectors = None if is_diagonal(family) else np.repeat(np.eye(p)[None], k, axis=0)
        blank = MixtureParameters(np.full(k, 1 / k), 0 * flat, flat, vectors, np.zeros(k, bool))
        Z = self._starts_of(family).Z
        sums = replace(Expanded(blank).sums_given(Z, q), parameters=None)
        return maximise(sums, family, self._floor, self.flat)

    def _check_given(self, k: int, family: str) -> tuple[Any, Any, Any]:
        """Return weights, means and precision matrices that a user starts from, checked."""
        options, p = self.options, self.p
        weights = _shaped("weights_init", options.weights, [(k,)])
        if weights is not None and (np.any(weights < 0) or abs(weights.sum() - 1) > 1e-6):
            raise ParameterError(
                "GaussianMixture: weights_init must be shares that sum to 1; their sum is "
                f"{weights.sum():.6g}."
            )
        means = _shaped("means_init", options.means, [(k, p)])
        own = {"EEE": (p, p), "VVI": (k, p), "VII": (k,)}.get(family, (k, p, p))
        precisions = _shaped("precisions_init", options.precisions, sorted({(k, p, p), own}))
        if precisions is not None:
            if precisions.shape != (k, p, p):
                table = {"EEE": lambda a: np.repeat(a[None], k, axis=0)}.get(
                    family, lambda a: a.reshape(k, -1)[:, :, None] * np.eye(p)
                )
                precisions = table(precisions)
            lowest = np.linalg.eigvalsh(precisions).min()
            if not np.allclose(precisions, np.swapaxes(precisions, 1, 2)) or lowest <= 0:
                raise ParameterError(
                    "GaussianMixture: precisions_init must be symmetric and positive definite."
                )
        return weights, means, precisions


def _shaped(name: str, given: Any, shapes: list[tuple[int, ...]]) -> Any:
    """Return what a user gave as an array of one of the shapes; None stays None."""
    if given is None:
        return None
    found = np.asarray(given, dtype=np.float64)
    if found.shape not in shapes or not np.all(np.isfinite(found)):
        words = " or ".join(str(shape) for shape in shapes)
        raise ParameterError(
            f"GaussianMixture: {name} has shape {found.shape}; it needs finite numbers of shape "
            f"{words}."
        )
    return found


def _to_user(units: MixtureUnits, parameters: MixtureParameters) -> tuple[FloatArray, FloatArray]:
    """Return means and covariances in the units of the data."""
    means = units.center + units.scale * parameters.means
    return means, parameters.covariances * units.scale[:, None] * units.scale


def _from_user(
    family: str, units: MixtureUnits, weights: Any, means: Any, covariances: Any, floor: float
) -> MixtureParameters:
    """Return parameters in the units of the work."""
    inside = (means - units.center) / units.scale
    scaled = covariances / units.scale[:, None] / units.scale
    if is_diagonal(family):
        values, vectors = np.diagonal(scaled, axis1=1, axis2=2).copy(), None
    else:
        values, vectors = np.linalg.eigh(scaled)
    values = np.maximum(values, floor)
    return MixtureParameters(
        np.asarray(weights, dtype=np.float64), inside, values, vectors, np.zeros(len(inside), bool)
    )
