"""Strong convexity and smoothness: how much a function bends at least and at most."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.frames import make_frame
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.optimize._convexity.chords import finite_or_said
from bottega.optimize._convexity.piece import Piece
from bottega.optimize._convexity.places import RegionSampler
from bottega.optimize.objective import Objective
from bottega.optimize.quadratic_function import QuadraticFunction

__all__ = ["CurvatureBounds", "curvature_bounds"]


@dataclass(frozen=True, repr=False)
class CurvatureBounds(Shown):
    """The constants of strong convexity and of smoothness, each between two bounds.

    Attributes
    ----------
    strong_convexity : tuple of float
        Bounds of the largest sigma for which f is sigma-strongly convex: the lower one proved (0
        if nothing is, or minus infinity if f is not known to be convex), the upper one seen.
    smoothness : tuple of float
        Bounds of the least L for which the gradient changes by at most L times the distance: the
        lower one seen, the upper one proved (infinite if nothing is).
    exact : bool
        True if the two bounds agree.
    tried : int
        Pairs of points that were looked at.
    """

    strong_convexity: tuple[float, float]
    smoothness: tuple[float, float]
    exact: bool
    tried: int

    @property
    def condition(self) -> tuple[float, float]:
        """Bounds of the condition number L / sigma, which sets the pace of descent."""
        (s_low, s_high), (l_low, l_high) = self.strong_convexity, self.smoothness
        return (
            l_low / s_high if s_high > 0 else np.inf,
            l_high / s_low if s_low > 0 else np.inf,
        )

    def to_frame(self, like: Any = None) -> Any:
        """Return the bounds as a data frame: ``constant``, ``lower``, ``upper``."""
        return make_frame(self._columns(), like)

    def _columns(self) -> dict[str, Any]:
        rows = {
            "strong convexity": self.strong_convexity,
            "smoothness": self.smoothness,
            "condition number": self.condition,
        }
        return {
            "constant": list(rows),
            "lower": [low for low, _ in rows.values()],
            "upper": [high for _, high in rows.values()],
        }

    def summary(self) -> Summary:
        """Return the bounds as a table that shows itself."""
        note = (
            "Exact, from eigenvalues."
            if self.exact
            else f"From {self.tried} pairs of points: what they show bounds the constants on the "
            "one side, what rules prove on the other."
        )
        return Summary("Curvature", (Section("", self._columns()),), notes=(note,))


def curvature_bounds(
    f: Any,
    region: Any = None,
    *,
    gradient: Any = None,
    hessian: Any = None,
    n_samples: int = 1000,
    tol: float = 1e-12,
    random_state: Any = None,
) -> CurvatureBounds:
    r"""Bound the constants of strong convexity and smoothness of a function.

    f is :math:`\sigma`-strongly convex and L-smooth if for all u and w

    .. math::
        \frac{\sigma}{2} \lVert u - w \rVert^2 \le
        f(u) - f(w) - \nabla f(w)^\top (u - w) \le \frac{L}{2} \lVert u - w \rVert^2 .

    Every pair of points therefore bounds :math:`\sigma` from above and L from below. The other
    bounds come from rules, for a `Piece`; the constants of a `QuadraticFunction` are the extreme
    eigenvalues of its matrix.

    Parameters
    ----------
    f : callable, Piece or QuadraticFunction
        The function.
    region : tuple (low, high), array-like of shape (n, d), or callable, optional
        Where the constants are wanted, as in `convexity`; not needed of a quadratic function. A
        smaller region has a larger sigma and a smaller L.
    gradient, hessian : callable, optional
        Derivatives as `Objective` takes them; differences by default, which are right to about
        1e-9.
    n_samples : int, default=1000
        Pairs of points.
    tol : float, default=1e-12
        Relative rounding of f's values; 1e-9 at least where the gradient is a difference.
    random_state : int, Generator or None, default=None
        Of the points.

    Returns
    -------
    CurvatureBounds
        The constants, between their bounds.

    References
    ----------
    .. [1] Nesterov, Y. (2004). Introductory Lectures on Convex Optimization. Kluwer, section 2.1.

    Examples
    --------
    >>> found = curvature_bounds(QuadraticFunction([[2.0, 0.0], [0.0, 10.0]]))
    >>> found.strong_convexity, found.smoothness, found.condition
    ((2.0, 2.0), (10.0, 10.0), (5.0, 5.0))
    """
    if not (isinstance(n_samples, int | np.integer) and n_samples >= 1):
        raise ParameterError(
            f"n_samples={n_samples!r} is not allowed; give a whole number above 0."
        )
    if isinstance(f, QuadraticFunction):
        low, high = f.bends
        size = max(abs(low), abs(high))
        return CurvatureBounds((low, low), (size, size), True, 0)
    rng = np.random.default_rng(seed_of(random_state, "curvature_bounds"))
    proved, inputs = (-np.inf, np.inf), None
    if isinstance(f, Piece):
        inputs = f.inputs
        proved = (f.bends[0], max(abs(f.bends[0]), abs(f.bends[1])))
        if f.curvature in ("convex", "affine"):
            proved = (max(f.bends[0], 0.0), f.bends[1])
        gradient = f.gradient if gradient is None else gradient
        if f.differentiable and hessian is None:
            hessian = f.hessian
        objective = Objective(f.value, gradient, hessian)
    else:
        objective = Objective(f, gradient, hessian)
    if gradient is None:
        tol = max(tol, 1e-9)
    places = RegionSampler(region, inputs, rng)
    least, most = np.inf, 0.0
    for w, u in zip(*places.pairs(int(n_samples)), strict=True):
        fw, fu = finite_or_said(objective.value, w), finite_or_said(objective.value, u)
        step = u - w
        size = float(np.sqrt(np.sum(step * step)))
        if not (np.isfinite(fw) and np.isfinite(fu)) or size == 0:
            continue
        slope = float(objective.gradient(w) @ step)
        rounding = tol * max(abs(fw), abs(fu), abs(slope))
        bend = fu - fw - slope
        least = min(least, 2 * (bend + rounding) / size / size)
        most = max(most, 2 * (abs(bend) - rounding) / size / size)
    if hessian is not None:
        for x in places.draw(max(1, int(n_samples) // 20)):
            matrix = objective.hessian(x)
            if np.all(np.isfinite(matrix)):
                values = np.linalg.eigvalsh((matrix + matrix.T) / 2)
                least = min(least, float(values[0]))
                most = max(most, float(np.max(np.abs(values))))
    # Rules and samples may differ by rounding where they agree.
    strong = (min(proved[0], least), least)
    smooth = (most, max(proved[1], most))
    return CurvatureBounds(strong, smooth, bool(strong[0] == least and smooth[1] == most),
                           int(n_samples))  # fmt: skip
