"""Is a function convex? By rules, by eigenvalues, or by looking for a chord below the graph."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.frames import make_frame
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.optimize._convexity.chords import Witness
from bottega.optimize._convexity.piece import Piece
from bottega.optimize._convexity.places import RegionSampler
from bottega.optimize._convexity.reasons import Reason
from bottega.optimize._convexity.search import ConvexityCheck, ViolationSearch, along_eigenvector
from bottega.optimize.objective import Objective
from bottega.optimize.quadratic_function import QuadraticFunction

__all__ = ["Convexity", "ConvexityCheck", "Piece", "Reason", "Witness", "convexity"]


@dataclass(frozen=True, eq=False, repr=False)
class Convexity(Shown):
    """What `convexity` found.

    Attributes
    ----------
    verdict : str
        ``"convex"`` (proved), ``"not convex"`` (with a witness) or ``"no violation found"``.
    method : str
        ``"eigenvalues"``, ``"rules"`` or ``"samples"``.
    witness : Witness or None
        Two points whose chord lies below the graph, if f is not convex.
    checks : tuple of ConvexityCheck
        What was tried on samples, and the worst that was met.
    reason : Reason or None
        The proof, of a function built of known pieces.
    message : str
        The verdict in a sentence.
    """

    verdict: str
    method: str
    witness: Witness | None
    checks: tuple[ConvexityCheck, ...]
    reason: Reason | None
    message: str
    closest: Witness | None = field(repr=False)
    f: Any = field(repr=False)
    box: tuple[FloatArray, FloatArray] | None = field(repr=False)

    @property
    def convex(self) -> bool | None:
        """True or False where that is proved, None where it is not known."""
        return {"convex": True, "not convex": False}.get(self.verdict)

    def to_frame(self, like: Any = None) -> Any:
        """Return the checks as a data frame, one row per check.

        Columns: ``check``, ``tried``, ``violations``, ``worst`` (the smallest margin: negative
        is a violation).
        """
        return make_frame(_columns(self.checks), like)

    def summary(self) -> Summary:
        """Return what was found as a table that shows itself."""
        sections = []
        if self.checks:
            sections.append(Section("Checks on samples", _columns(self.checks)))
        if self.witness is not None:
            w = self.witness
            facts = {
                "lambda": w.share,
                "f in between": w.value,
                "chord there": w.chord,
                "violation": w.violation,
                "rounding": w.rounding,
            }
            rows: dict[str, list[Any]] = {"": list(facts), "witness": list(facts.values())}
            sections.append(Section("", rows))
            ends = {f"x{j}": (w.x[j], w.y[j], w.between[j]) for j in range(min(len(w.x), 10))}
            columns: dict[str, list[Any]] = {"entry": list(ends)}
            for i, name in enumerate(("x", "y", "between")):
                columns[name] = [float(each[i]) for each in ends.values()]
            sections.append(Section("", columns))
        if self.reason is not None:
            sections.append(Section("", {"rules": self.reason.lines()}))
        return Summary(f"Convexity: {self.verdict}", tuple(sections), notes=(self.message,))

    def plot(self) -> Any:
        """Draw the graph along a line with its chord: the witness, or the tightest chord met.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import convexity_chart

        return convexity_chart(self)


def convexity(
    f: Any,
    region: Any = None,
    *,
    gradient: Any = None,
    hessian: Any = None,
    n_samples: int = 1000,
    tol: float = 1e-12,
    random_state: Any = None,
) -> Convexity:
    r"""Check whether a function is convex, and show two points if it is not.

    A `QuadraticFunction` is judged by its eigenvalues and a `Piece` (see `bottega.optimize.pieces`)
    by rules; both can be proved convex. Of any other function, and where no rule applies, samples
    of the region are put to three tests, which can refute convexity but not prove it:

    .. math::
        f(\lambda x + (1 - \lambda) y) \le \lambda f(x) + (1 - \lambda) f(y), \qquad
        f(y) \ge f(x) + \nabla f(x)^\top (y - x), \qquad
        \nabla^2 f(x) \succeq 0.

    A violation of the second or third counts only if it leads to a chord below the graph by more
    than rounding, so that a wrong gradient does not speak against f.

    Parameters
    ----------
    f : callable, Piece or QuadraticFunction
        ``f(x)`` returns a number for a vector x; infinite outside of its domain.
    region : tuple (low, high), array-like of shape (n, d), or callable, optional
        Where to look, a convex set: a box, points among which to draw, or a sampler
        ``region(rng, n)`` that returns n rows. Not needed where rules or eigenvalues decide.
    gradient, hessian : callable, optional
        Derivatives as `Objective` takes them. Without a gradient the test by tangents is left
        out; without Hessian and gradient, second derivatives are differences, in up to 10 inputs.
    n_samples : int, default=1000
        Chords and tangents to try; second derivatives are taken at a twentieth as many points.
        More find smaller violations.
    tol : float, default=1e-12
        Relative rounding of f's values: violations below it times \|f\| do not count. Raise it for
        an f that is computed inexactly.
    random_state : int, Generator or None, default=None
        Of the samples.

    Returns
    -------
    Convexity
        Verdict, witness, checks and, of pieces, the proof.

    Raises
    ------
    InputError
        If f is not a number at some point of the region.

    Notes
    -----
    Costs 3 values of f per chord, 2 values and 1 gradient per tangent. A function that is convex
    but for a small dent may pass: the verdict is then "no violation found", never "convex".

    References
    ----------
    .. [1] Boyd, S. and Vandenberghe, L. (2004). Convex Optimization. Cambridge University Press,
       chapter 3.

    Examples
    --------
    >>> found = convexity(lambda x: float(x[0] ** 4 - x[0] ** 2), (-1.0, 1.0), random_state=0)
    >>> found.verdict, found.witness.violation > 0.2
    ('not convex', True)
    >>> from bottega.optimize.pieces import absolute, square
    >>> f = square().of([[1.0, 2.0]], -3.0) + 0.5 * absolute()
    >>> convexity(f).verdict
    'convex'
    """
    if not (isinstance(n_samples, int | np.integer) and n_samples >= 1):
        raise ParameterError(
            f"n_samples={n_samples!r} is not allowed; give a whole number above 0."
        )
    if not tol >= 0:
        raise ParameterError(f"tol={tol!r} is not allowed; give a number that is not negative.")
    rng = np.random.default_rng(seed_of(random_state, "convexity"))
    reason = None
    if isinstance(f, Piece):
        reason = f.reason()
        method = "eigenvalues" if isinstance(f, QuadraticFunction) else "rules"
        places = None if region is None else RegionSampler(region, f.inputs, rng)
        if reason.kind in ("convex", "affine"):
            return Convexity(
                "convex", method, None, (), reason, f"f is convex: {reason.rule}.", None, f.value,
                None if places is None else places.box,
            )  # fmt: skip
        if isinstance(f, QuadraticFunction):
            return _indefinite(f, reason, places, tol)
        gradient = f.gradient if gradient is None else gradient
        hessian = f.hessian if hessian is None else hessian
        objective = Objective(f.value, gradient, hessian)
        places = places or RegionSampler(region, f.inputs, rng)
    else:
        objective = Objective(f, gradient, hessian)
        places = RegionSampler(region, None, rng)
    search = ViolationSearch(objective, places, tol, hessian is not None)
    checks = [search.chords(int(n_samples))]
    if gradient is not None:
        checks.append(search.tangents(int(n_samples)))
    if hessian is not None or (gradient is not None and places.d <= 50) or places.d <= 10:
        checks.append(search.curvatures(max(1, int(n_samples) // 20)))
    message, verdict = _judge(search.worst, checks)
    return Convexity(
        verdict, "samples", search.worst, tuple(checks), reason, message,
        search.worst or search.closest, objective.value, places.box,
    )  # fmt: skip


def _judge(worst: Witness | None, checks: list[ConvexityCheck]) -> tuple[str, str]:
    if worst is not None:
        return f"f is not convex: {worst}.", "not convex"
    tried = ", ".join(f"{check.tried} {check.name}" for check in checks)
    doubt = [check for check in checks if check.violations]
    message = f"No violation in {tried}; samples can refute convexity, not prove it."
    if doubt:
        names = " and ".join(check.name for check in doubt)
        message += (
            f" The check by {names} failed without a chord to confirm it: check the derivatives "
            "with check_gradient."
        )
    return message, "no violation found"


def _indefinite(
    f: QuadraticFunction, reason: Reason, places: RegionSampler | None, tol: float
) -> Convexity:
    """Return the verdict on a quadratic function with a negative eigenvalue: its witness."""
    centre = np.zeros(len(f.b)) if places is None else places.draw(64).mean(axis=0)
    v = f.eigenvectors[:, 0]
    reach = 1.0 if places is None else places.reach(centre, v)
    found = along_eigenvector(f.value, centre, v, reach, tol)
    while not found.real and reach < 1e100:  # the longer, the more the square counts
        reach *= 100
        found = along_eigenvector(f.value, np.zeros(len(f.b)), v, reach, tol)
    message = f"f is not convex: the smallest eigenvalue of its matrix is {f.bends[0]:.4g}."
    box = None if places is None else places.box
    return Convexity("not convex", "eigenvalues", found, (), reason, message, found, f.value, box)


def _columns(checks: tuple[ConvexityCheck, ...]) -> dict[str, Any]:
    return {
        "check": [check.name for check in checks],
        "tried": [check.tried for check in checks],
        "violations": [check.violations for check in checks],
        "worst": [check.worst for check in checks],
    }
