"""P-splines: many B-splines, and a penalty on the differences of their coefficients."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg

from bottega.basis.spline_functions import LocalDesign, difference_penalty, even_knots
from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.params import Auto, Integer, Parameter, Real
from bottega.core.path import Path, Rule
from bottega.core.smoother import gaussian_criteria
from bottega.core.threads import one_thread
from bottega.core.typing import Array, FloatArray
from bottega.smooth._kernels import banded as kernels
from bottega.smooth._splines.basis_smoother import BasisSmoother, leave_one_out, local_design

__all__ = ["PSpline"]

# Directions in which the data say this much less than in their best one are not seen at all.
_UNSEEN = 1e-12


@dataclass(frozen=True)
class _Spectrum:
    """Gram matrix and penalty in coordinates in which both are diagonal.

    ``coef = root z``; there the Gram matrix is diag(seen) and the penalty diag(rough), and
    ``seen + mix * rough = 1``.
    """

    all_knots: FloatArray
    B: LocalDesign
    right: FloatArray
    root: FloatArray
    seen: FloatArray
    rough: FloatArray

    def inverse(self, alpha: float) -> FloatArray:
        """Return (B'WB + alpha D'D)^-1."""
        return np.asarray((self.root / (self.seen + alpha * self.rough)) @ self.root.T)

    def shares(self, alpha: Any) -> FloatArray:
        """Return the eigenvalues of the smoother, one row per penalty."""
        alpha = np.atleast_1d(np.asarray(alpha, dtype=np.float64))[:, None]
        return np.asarray(self.seen / (self.seen + alpha * self.rough))


class PSpline(BasisSmoother):
    r"""Many B-splines on even knots, kept smooth by a penalty on neighbouring coefficients.

    .. math:: \min_c \sum_i w_i \Bigl\{y_i - \sum_j c_j B_j(x_i)\Bigr\}^2
              + \alpha \sum_j (\Delta^m c_j)^2

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the penalty; larger is smoother. A very large one is the least squares
        polynomial of degree ``order - 1``. ``"auto"`` picks from the path by the rule `select`.
    n_basis : int, default=40
        Number of B-splines: enough to follow the truth; the penalty does the rest.
    degree : int, default=3
        Degree of the B-splines.
    order : int, default=2
        Order m of the differences.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    n_alphas : int, default=60
        Number of penalties on the path.

    Attributes
    ----------
    alpha_ : float
        The penalty in use.
    coef_ : ndarray of shape (n_basis,)
        Coefficients of the B-splines.
    knots_ : ndarray of shape (n_basis + degree + 1,)
        All knots, evenly spaced and going on beyond the data.
    path_ : Path
        The whole curve, when `alpha` is ``"auto"``.
    smoother_ : Smoother
        What df, sigma, leverages, leave-one-out and the criteria follow from.
    n_features_in_ : int
        Number of columns seen in `fit`, 1.
    feature_names_in_ : ndarray of shape (1,)
        Name of the column, when X is a data frame.

    Notes
    -----
    One eigendecomposition, O(n degree^2 + n_basis^3), serves every penalty; each on the path costs
    O(n degree^2 + n_basis^3) more for its exact leverages. df lies between `order` and the smaller
    of n_basis and the number of distinct x. More B-splines than distinct x are allowed: the penalty
    fills the gaps.

    Beyond the data the curve goes on as a straight line. Standard errors are those of the noise:
    they leave out the bias of the penalty.

    References
    ----------
    .. [1] Eilers, P. H. C. and Marx, B. D. (1996). Flexible smoothing with B-splines and penalties.
       Statistical Science 11, 89-121.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 10, size=200)
    >>> y = np.sin(x) + 0.3 * rng.normal(size=200)
    >>> model = PSpline(select="min").fit(x[:, None], y)
    >>> model.predict([[np.pi / 2], [3 * np.pi / 2]]).round(1)
    array([ 1., -1.])
    >>> 5 < model.df_ < 20
    True
    """

    knob: ClassVar[str] = "alpha"
    params: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Auto(Real(0, None, log=True), help="strength of the penalty"),
        "n_basis": Integer(4, None, help="number of B-splines"),
        "degree": Integer(1, None, help="degree of the B-splines"),
        "order": Integer(1, None, help="order of the differences that are penalised"),
        "select": Rule(),
        "n_alphas": Integer(2, None, help="number of penalties on the path"),
    }
    card: ClassVar[Card] = Card(
        method="pspline",
        title="P-spline",
        task="regression",
        knob="alpha",
        strengths=(
            "A smooth curve with few coefficients, whatever the number of rows.",
            "Neither the number nor the place of the knots matters much.",
            "The whole path with exact leave-one-out errors comes from one decomposition.",
        ),
        weaknesses=(
            "Even knots waste functions where there are few rows.",
            "One penalty for the whole range: too smooth where the truth is rough.",
            "Takes one input; several need an additive model.",
        ),
        cost="n + n_basis^3",
        source="D118-D120, D123-D126",
        n_inputs=1,
        weights=True,
        linear_smoother=True,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        n_basis: int = 40,
        degree: int = 3,
        order: int = 2,
        select: str = "one_se",
        n_alphas: int = 60,
    ) -> None:
        self.alpha = alpha
        self.n_basis = n_basis
        self.degree = degree
        self.order = order
        self.select = select
        self.n_alphas = n_alphas

    # ---- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the curve.

        Parameters
        ----------
        X : array-like or data frame of shape (n, 1)
            The input.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        PSpline
            The fitted estimator.
        """
        self._check_params()
        self._remember_frame(X)
        x, y, weight = self._validate(X, y, sample_weight)
        spectrum = self._decompose(x, y, weight)
        self.__dict__.pop("path_", None)  # of an earlier fit
        scale = None
        if isinstance(self.alpha, str):
            self.path_, scale = self._curve(spectrum, y, weight, None)
            self.alpha_ = float(self.path_.values[self.path_.best(self.select)])
        else:
            self.alpha_ = float(self.alpha)
        self._check_seen(spectrum, self.alpha_)
        self._linear_ends, self._degree = True, int(self.degree)
        self._all_knots = self.knots_ = spectrum.all_knots
        shares = spectrum.shares(self.alpha_)[0]
        self._keep(
            x,
            y,
            weight,
            spectrum.inverse(self.alpha_),
            spectrum.right,
            float(shares.sum()),
            float(shares @ shares),
            scale,
        )
        self.coef_ = self._coef
        scaled = spectrum.root * (
            np.sqrt(spectrum.seen) / (spectrum.seen + self.alpha_ * spectrum.rough)
        )
        self._noise = scaled @ scaled.T
        return self

    def _coefficient_covariance(self) -> FloatArray:
        return self._noise

    def _decompose(self, x: FloatArray, y: FloatArray, weight: FloatArray | None) -> _Spectrum:
        counted = x if weight is None else x[weight > 0]
        low, high = float(counted.min()), float(counted.max())
        distinct = len(np.unique(counted))
        size, degree, order = int(self.n_basis), int(self.degree), int(self.order)
        if distinct < order:
            raise InputError(
                f"PSpline with differences of order {order} needs at least {order} distinct values "
                f"of x; there are {distinct}."
            )
        if not high > low:
            raise InputError(
                f"All {len(counted)} values of x are equal ({low:g}); a curve needs more."
            )
        if size <= max(degree, order):
            raise InputError(
                f"n_basis={size} is too few for degree {degree} and differences of order {order}; "
                f"take at least {max(degree, order) + 1}."
            )
        knots = even_knots(low, high, size, degree)
        B = local_design(x, knots, degree, 0, True)
        w = np.ones(len(x)) if weight is None else weight
        band, right = kernels.band_gram(B.values, B.first, w, y, size)
        G = np.zeros((size, size))
        for k in range(min(len(band), size)):
            rows = np.arange(size - k)
            G[rows + k, rows] = G[rows, rows + k] = band[k, : size - k]
        D = difference_penalty(size, order)
        mix = float(np.trace(G) / np.trace(D))
        with one_thread():
            rough, root = linalg.eigh(D, G + mix * D)
        # Polynomials below the order are free of penalty, to the last digit.
        rough[:order] = 0.0
        seen = 1 - mix * rough
        seen[seen < _UNSEEN] = 0.0
        return _Spectrum(knots, B, right, root, seen, rough)

    def _check_seen(self, spectrum: _Spectrum, alpha: float) -> None:
        if alpha == 0 and np.any(spectrum.seen == 0):
            raise InputError(
                "alpha=0 leaves coefficients that no row determines; give a positive alpha or a "
                "smaller n_basis."
            )

    # ---- the path -------------------------------------------------------------------------------

    def _path(self, X: Any, y: Any, sample_weight: Any, values: Any) -> Path:
        spectrum = self._decompose(X, y, sample_weight)
        return self._curve(spectrum, y, sample_weight, values)[0]

    def _curve(
        self, spectrum: _Spectrum, y: FloatArray, weight: FloatArray | None, values: Any
    ) -> tuple[Path, float | None]:
        alphas = self._alphas(spectrum) if values is None else _check_alphas(values)
        self._check_seen(spectrum, float(alphas[-1]))
        found = np.array(
            [
                leave_one_out(spectrum.B, spectrum.inverse(alpha), spectrum.right, y, weight)[:3]
                for alpha in alphas
            ]
        )
        rss, error, spread = found.T
        df = spectrum.shares(alphas).sum(axis=1)
        n = len(y) if weight is None else int(np.count_nonzero(weight))
        rich = np.flatnonzero(df <= n / 2)
        scale = None
        if len(rich) and rss[rich[-1]] > 0:
            scale = float(np.sqrt(rss[rich[-1]] / (n - df[rich[-1]])))
        logs = 0.0 if weight is None else float(np.log(weight[weight > 0]).sum())
        curve = Path(
            knob=self.knob,
            values=alphas,
            df=df,
            train_error=rss / (float(n) if weight is None else float(weight.sum())),
            error=error,
            error_se=spread,
            estimate="loo",
            loss="squared error",
            criteria=gaussian_criteria(rss, df, n, scale=scale, log_weights=logs),
        )
        return curve, scale

    def _alphas(self, spectrum: _Spectrum) -> FloatArray:
        """Return penalties from one that bends almost nothing to one that bends almost all."""
        felt = (spectrum.rough > 0) & (spectrum.seen > 0)
        ratio = spectrum.seen[felt] / spectrum.rough[felt]
        if not len(ratio):
            return np.ones(1)
        top, bottom = 1e2 * ratio.max(), 1e-2 * ratio.min()
        # The directions that rows hardly see do not lengthen the grid.
        return np.geomspace(top, max(bottom, 1e-10 * top), self.n_alphas)

    def _path_predictions(
        self, X: Any, y: Any, sample_weight: Any, values: Array, X_new: Any
    ) -> Array:
        spectrum = self._decompose(X, y, sample_weight)
        B = local_design(X_new, spectrum.all_knots, int(self.degree), 0, True)
        coef = [spectrum.inverse(float(alpha)) @ spectrum.right for alpha in values]
        return B @ np.column_stack(coef)


def _check_alphas(values: Any) -> FloatArray:
    alphas = np.asarray(values, dtype=np.float64)
    if alphas.ndim != 1 or not len(alphas) or not np.all(np.isfinite(alphas) & (alphas >= 0)):
        raise InputError(
            f"values must be a list of finite penalties, none negative; got {values!r}."
        )
    return np.sort(alphas)[::-1]
