"""The thin-plate spline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.lists import Alphas, alphas_of
from bottega.core.losses import Loss
from bottega.core.params import Auto, Boolean, Integer, Parameter, Real
from bottega.core.path import Path, Rule, along
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.smooth._path.penalized import penalty_grid
from bottega.smooth._path.scores import FIXED_KNOB, NOISE, largest_first, loo_path
from bottega.smooth._surface.points import Scaling, make_points, make_scaling, space_filling
from bottega.smooth._surface.surface import Surface
from bottega.smooth._surface.thin_plate import ThinPlateFit, decompose, with_ones

__all__ = ["ThinPlateSpline"]

_FULL = 2_000  # with more distinct points than this, rank="auto" takes fewer knots
_FEW = 300  # that many


@dataclass(frozen=True)
class _PlateWork:
    """The rows, their scaled points and the decomposition from which every penalty follows."""

    rows: Rows
    scaling: Scaling
    fit: ThinPlateFit

    def unit(self, alphas: Any) -> FloatArray:
        """Return penalties for the scaled points; refuse 0 where points are too close for it."""
        found = np.atleast_1d(np.asarray(alphas, dtype=np.float64)) / self.scaling.unit
        seen = self.fit.seen
        if found.min() == 0 and len(seen) and seen.min() <= 1e-14 * seen.max():
            raise InputError(
                "alpha=0 passes through every point, and some points are too close together for "
                "that; give a positive alpha."
            )
        return found


class ThinPlateSpline(Surface):
    r"""The surface that balances closeness to the data against its own bending, any way one turns.

    .. math:: \min_f \sum_i w_i \{y_i - f(x_i)\}^2 + \alpha \int \sum_{j,k}
              \Bigl(\frac{\partial^2 f}{\partial x_j\, \partial x_k}\Bigr)^2 dx

    over all functions of one, two or three inputs with square integrable second derivatives. In two
    inputs the integrand is :math:`f_{xx}^2 + 2 f_{xy}^2 + f_{yy}^2`: the mixed term counts twice,
    and the answer does not change when the axes are turned. In one input it is the cubic
    smoothing spline.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Penalty on bending, :math:`\alpha`, in the units of the inputs; larger is smoother. 0
        passes through the mean response of every point; a very large one is the least squares
        plane. ``"auto"`` picks from the path by the rule `select`.
    rank : int or "auto", default="auto"
        Number of knots, at least 10. ``"auto"`` is every distinct point up to 2,000 of them (the
        exact solution), else 300, chosen to fill the space: `rank_error_` says what that changes.
    standardize : bool, default=False
        Whether to divide each input by its standard deviation before distances are taken; `alpha`
        is then in units of those. Inputs in different units have no common distance without it.
    select : str, default="one_se"
        Rule that picks from the path: ``"min"`` or ``"one_se"`` of the leave-one-out error, or a
        criterion (``"aic"``, ``"aicc"``, ``"bic"``, ``"hq"``, ``"gcv"``, ``"cp"``).
    alphas : int or array-like, default=50
        Penalties on the path: how many, or which.

    Attributes
    ----------
    alpha_ : float
        The penalty in use.
    rank_ : int
        Number of knots in use.
    rank_error_ : float
        What the choice of knots changes, in the unit of y: root mean square difference, over the
        points, between this surface and the one with half as many knots at the same penalty. 0 when
        every distinct point is a knot.
    path_ : Path
        The whole curve, when `alpha` is ``"auto"``.
    smoother_ : Smoother
        What df, sigma, leverages, leave-one-out and the criteria follow from.

    Notes
    -----
    With m distinct points the exact solution is a plane plus one radial function per point. One
    eigendecomposition, O(m^3) time and m^2 memory, gives every penalty with its df and exact
    leave-one-out errors, O(m^2) each. With k < m knots the cost is O(m k^2 + k^3) and the memory
    O(k^2) beside the data. Then the knots, and with them the space of surfaces, stay when a row is
    left out, and df at the same penalty is a little lower.

    df lies between d + 1 (a plane of d inputs) and the number of distinct points. Rows at the same
    point become one of their mean and total weight; what they differ among themselves is kept in
    the residual sum of squares, the leave-one-out error and the criteria. An input that does not
    vary is left out.

    Derivatives: with one input that varies up to the third; with two the slopes, as second
    derivatives are infinite at every point of the data; with three the slopes too, which jump at
    the knots (there the middle is given).

    Beyond the data the surface goes on bending, less and less; do not trust it there. Not for
    inputs without a common scale, steps or ridges, nor for more than three inputs: with second
    derivatives alone there is no continuous solution.

    References
    ----------
    .. [1] Duchon, J. (1977). Splines minimizing rotation-invariant semi-norms in Sobolev spaces.
       In Constructive Theory of Functions of Several Variables, 85-100. Springer.
    .. [2] Wahba, G. (1990). Spline models for observational data. SIAM.
    .. [3] Wood, S. N. (2003). Thin plate regression splines. Journal of the Royal Statistical
       Society B 65, 95-114.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(200, 2))
    >>> y = np.exp(-2 * (X**2).sum(axis=1)) + 0.1 * rng.normal(size=200)
    >>> model = ThinPlateSpline(select="min").fit(X, y)
    >>> bool(abs(model.predict([[0.0, 0.0]])[0] - 1) < 0.15)
    True
    >>> round(ThinPlateSpline(1e9).fit(X, y).df_, 3)
    3.0
    """

    knob: ClassVar[str] = "alpha"
    params: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Auto(Real(0, None, log=True), help="penalty on bending"),
        "rank": Auto(Integer(10, None), help="number of knots"),
        "standardize": Boolean(help="put the inputs on one scale first"),
        "select": Rule(),
        "alphas": Alphas(),
    }
    card: ClassVar[Card] = Card(
        method="thin_plate_spline",
        title="Thin-plate spline",
        task="regression",
        strengths=(
            "A smooth surface over two or three inputs, interactions and all.",
            "Does not depend on how the axes are turned: made for places on a map.",
            "The whole path with exact leave-one-out errors comes from one decomposition.",
        ),
        weaknesses=(
            "One penalty in every direction: inputs need a common scale.",
            "Takes at most three inputs.",
            "The exact solution costs the cube of the number of distinct points.",
            "Needs many rows: near rows become rare as inputs are added.",
        ),
        assumptions=(
            "The mean of the response is a smooth function of the inputs, about equally rough "
            "everywhere and in every direction.",
            "Distances between rows mean something: the inputs share a scale.",
            NOISE,
            FIXED_KNOB,
        ),
        cost="n^3 up to 2,000 points, then n rank^2",
        source="D121, D123-D126",
        standardize=True,
        n_inputs=3,
    )

    def __init__(
        self,
        alpha: float | str = "auto",
        *,
        rank: int | str = "auto",
        standardize: bool = False,
        select: str = "one_se",
        alphas: Any = 50,
    ) -> None:
        self.alpha = alpha
        self.rank = rank
        self.standardize = standardize
        self.select = select
        self.alphas = alphas

    def _prepare(self, rows: Rows) -> _PlateWork:
        scaling = make_scaling(rows.X, rows.weight, standardize=self.standardize)
        points = make_points(scaling(rows.X), rows.y, rows.weight)
        m, d = points.u.shape
        if m < d + 1:
            raise InputError(
                f"A surface over {d} inputs needs at least {d + 1} distinct points; there are {m}."
            )
        rank = (m if m <= _FULL else _FEW) if isinstance(self.rank, str) else int(self.rank)
        fit = decompose(points, space_filling(points.u, rank) if rank < m else None)
        return _PlateWork(rows, scaling, fit)

    def _path(self, work: _PlateWork, values: Any, loss: Loss | None) -> Path:
        values = alphas_of(values, self.alphas)
        if values is None:
            seen = work.fit.seen
            # From a penalty that flattens every shape to one that flattens none.
            alphas = penalty_grid(seen[seen > 0], self.alphas) * work.scaling.unit
        else:
            alphas = largest_first(values)
        scores = work.fit.scores(work.unit(alphas), work.rows, loss)
        return loo_path(along(self.knob, alphas), scores, work.rows, loss)

    def _curves(self, work: _PlateWork, values: Sequence[Any], X_new: FloatArray) -> Array:
        bent = work.fit.coordinates(work.unit(values))
        found = np.empty((len(X_new), len(values)))
        for part, b, shapes in work.fit.basis.rows(work.scaling(X_new)):
            found[part] = (b @ work.fit.on_plane)[:, None] + shapes @ bent
        return found

    def _settle(self, work: _PlateWork, setting: Mapping[str, Any]) -> None:
        fit = work.fit
        self.alpha_ = float(setting["alpha"])
        penalty = work.unit(self.alpha_)
        self._basis, self._alpha = fit.basis, float(penalty[0])
        self._flat, self._bent = fit.on_plane, fit.coordinates(penalty)[:, 0]
        self.rank_, self.rank_error_ = len(fit.basis.knots), _rank_error(fit, penalty)
        self._keep(work.scaling, fit, penalty, work.rows)

    def _check_orders(self, orders: tuple[int, ...]) -> None:
        most = 3 if len(orders) == 1 else 1
        if sum(orders) > most:
            raise InputError(
                f"A thin-plate spline over {len(orders)} inputs that vary has derivatives up to "
                f"order {most}; a derivative of order {sum(orders)} was asked for."
            )

    def _surface_at(self, u: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        found = np.empty(len(u))
        for part, b, shapes in self._basis.rows(u, orders):
            found[part] = b @ self._flat + shapes @ self._bent
        return found

    def _noise_at(self, u: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        parts = [
            np.hstack([b, shapes / (self._basis.seen + self._alpha)])
            for _, b, shapes in self._basis.rows(u, orders)
        ]
        return np.concatenate(parts)

    def _matrix(self, X: FloatArray) -> FloatArray:
        points = self._points
        if self.rank_ == len(points.u):
            b = with_ones(points.u) @ self._basis.free
            V = self._basis.mix / points.root[:, None]
        else:
            blocks = [(b, shapes / self._basis.seen) for _, b, shapes in self._basis.rows(points.u)]
            b, V = (np.concatenate(each) for each in zip(*blocks, strict=True))
            V = V * points.root[:, None]
        at_points = np.hstack([points.root[:, None] * b, V])
        pull = self._pull / points.root[points.of_row]
        return np.asarray((self._noise_rows(X) @ at_points.T)[:, points.of_row] * pull)


def _rank_error(fit: ThinPlateFit, penalty: FloatArray) -> float:
    """Return the difference to a fit with half as many knots, over the points."""
    knots = fit.basis.knots
    if len(knots) == len(fit.points.u):
        return 0.0
    fewer = decompose(fit.points, knots[: len(knots) // 2])
    gap = (fit.at_points(penalty)[0] - fewer.at_points(penalty)[0])[:, 0]
    return float(np.sqrt(np.average(gap**2, weights=fit.points.root**2)))
