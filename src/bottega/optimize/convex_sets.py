"""Is a set convex? By a membership oracle on samples, or as an intersection of convex sets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.optimize._convexity.piece import Piece
from bottega.optimize._convexity.places import RegionSampler
from bottega.optimize._convexity.reasons import Reason

__all__ = ["SetConvexity", "convex_set"]

_SHARES = (0.5, 0.25, 0.75)
_TRIES = 200  # draws per point of the set that is wanted, before it counts as empty


@dataclass(frozen=True, eq=False, repr=False)
class SetConvexity(Shown):
    """What `convex_set` found.

    Attributes
    ----------
    verdict : str
        ``"convex"`` (proved by rules), ``"not convex"`` (with a witness) or
        ``"no violation found"``.
    x, y : ndarray of shape (d,) or None
        Two points of the set, of which a point in between is not in it.
    share : float or None
        The number lambda of the point in between, ``share * x + (1 - share) * y``.
    between : ndarray of shape (d,) or None
        That point.
    tried : int
        Segments that were looked at.
    reasons : tuple of Reason
        The proofs, of sets given by pieces.
    """

    verdict: str
    x: FloatArray | None
    y: FloatArray | None
    share: float | None
    between: FloatArray | None
    tried: int
    reasons: tuple[Reason, ...]
    contains: Any = field(repr=False)
    box: tuple[FloatArray, FloatArray] | None = field(repr=False)

    @property
    def convex(self) -> bool | None:
        """True or False where that is proved, None where it is not known."""
        return {"convex": True, "not convex": False}.get(self.verdict)

    def to_frame(self, like: Any = None) -> Any:
        """Return the witness as a data frame: one row each for x, y and the point in between."""
        if self.x is None or self.y is None or self.between is None:
            return make_frame({"point": np.array([], dtype=str)}, like)
        rows = np.array([self.x, self.y, self.between])
        columns: dict[str, Any] = {"point": np.array(["x", "y", "between"])}
        columns.update({f"x{j}": rows[:, j] for j in range(rows.shape[1])})
        return make_frame(columns, like)

    def summary(self) -> Summary:
        """Return what was found as a table that shows itself."""
        sections = []
        if self.x is not None and self.y is not None and self.between is not None:
            entries = range(min(len(self.x), 10))
            points = {"x (inside)": self.x, "y (inside)": self.y, "between (outside)": self.between}
            columns: dict[str, Any] = {"entry": [f"x{j}" for j in entries]}
            columns.update({k: [float(v[j]) for j in entries] for k, v in points.items()})
            sections.append(Section("", columns))
        if self.reasons:
            lines = [line for reason in self.reasons for line in reason.lines()]
            sections.append(Section("", {"rules": lines}))
        note = {
            "convex": "The set is an intersection of sets {f(x) <= 0} of convex functions.",
            "not convex": "Two points of the set have a point between them that is not in it.",
        }.get(self.verdict, f"No violation on {self.tried} segments; samples prove nothing.")
        return Summary(f"Set: {self.verdict}", tuple(sections), notes=(note,))

    def plot(self) -> Any:
        """Draw a set of the plane, and the witness in it.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import set_chart

        return set_chart(self)


def convex_set(
    contains: Any,
    region: Any = None,
    *,
    n_samples: int = 1000,
    random_state: Any = None,
) -> SetConvexity:
    r"""Check whether a set is convex: whether it holds every segment between two of its points.

    Parameters
    ----------
    contains : callable, or Piece or sequence of Piece
        ``contains(x)`` returns True if x is in the set; or functions f of which the set is
        :math:`\{x : f(x) \le 0\}`, several of them its intersection.
    region : tuple (low, high), array-like of shape (n, d), or callable
        Where to draw points: a box, points, or a sampler ``region(rng, n)``. Those outside of the
        set are left out. Not needed where all pieces are convex.
    n_samples : int, default=1000
        Segments to look at.
    random_state : int, Generator or None, default=None
        Of the draws.

    Returns
    -------
    SetConvexity
        The verdict, with a witness if the set is not convex. Only pieces can prove it convex.

    Raises
    ------
    InputError
        If too few of the points drawn are in the set to judge it.

    Notes
    -----
    Costs up to 3 calls of `contains` per segment, and those for draws outside of the set. A
    small or thin hole may be missed.

    Examples
    --------
    >>> import numpy as np
    >>> disc = convex_set(lambda x: np.hypot(*x) <= 1, ([-1, -1], [1, 1]), random_state=0)
    >>> ring = convex_set(lambda x: 0.5 <= np.hypot(*x) <= 1, ([-1, -1], [1, 1]), random_state=0)
    >>> disc.verdict, ring.verdict
    ('no violation found', 'not convex')
    >>> from bottega.optimize.pieces import affine, norm
    >>> convex_set([norm() - 1, affine([1.0, 1.0])]).verdict
    'convex'
    """
    if not (isinstance(n_samples, int | np.integer) and n_samples >= 1):
        raise ParameterError(
            f"n_samples={n_samples!r} is not allowed; give a whole number above 0."
        )
    pieces = [contains] if isinstance(contains, Piece) else contains
    reasons: tuple[Reason, ...] = ()
    inputs = None
    if isinstance(pieces, Sequence) and pieces and all(isinstance(p, Piece) for p in pieces):
        given: list[Piece] = list(pieces)
        reasons = tuple(piece.reason() for piece in given)
        lengths = [piece.inputs for piece in given if piece.inputs is not None]
        inputs = lengths[0] if lengths else None
        inside: Callable[[FloatArray], bool] = lambda x: all(p.value(x) <= 0 for p in given)  # noqa: E731
    elif callable(contains):
        inside = lambda x: bool(contains(x.copy()))  # noqa: E731
    else:
        raise ParameterError(
            f"contains={contains!r} is not allowed; give a function that returns True for points "
            "of the set, or pieces f for the set of all x with f(x) <= 0."
        )
    proved = bool(reasons) and all(reason.kind in ("convex", "affine") for reason in reasons)
    rng = np.random.default_rng(seed_of(random_state, "convex_set"))
    places = RegionSampler(region, inputs, rng) if region is not None or not proved else None
    box = None if places is None else places.box
    if proved or places is None:
        return SetConvexity("convex", None, None, None, None, 0, reasons, inside, box)
    points = _members(inside, places, min(2 * int(n_samples), 400))
    for tried in range(1, int(n_samples) + 1):
        x, y = points[rng.integers(len(points), size=2)]
        for share in (*_SHARES, float(rng.random())):
            between = share * x + (1 - share) * y
            if not inside(between) and _apart(x, y, between):
                return SetConvexity("not convex", x, y, share, between, tried, reasons, inside, box)
    return SetConvexity(
        "no violation found", None, None, None, None, int(n_samples), reasons, inside, box
    )


def _members(
    inside: Callable[[FloatArray], bool], places: RegionSampler, wanted: int
) -> FloatArray:
    """Return points of the set, drawn from the places."""
    found: list[FloatArray] = []
    drawn = 0
    while len(found) < wanted and drawn < _TRIES * wanted:
        batch = places.draw(min(4 * wanted, _TRIES * wanted - drawn))
        drawn += len(batch)
        found += [x for x in batch if inside(x)]
        if drawn >= 20_000 and len(found) >= 10:
            break
    if len(found) < 2:
        raise InputError(
            f"Only {len(found)} of {drawn} points drawn from region are in the set; at least 2 are "
            "required: give a region closer around the set, or a sampler."
        )
    return np.array(found[:wanted])


def _apart(x: FloatArray, y: FloatArray, between: FloatArray) -> bool:
    """Return True if the point in between is clearly another one than both ends."""
    size = 1e-9 * float(np.max(np.abs(x - y)))
    return size > 0 and all(float(np.max(np.abs(between - end))) > size for end in (x, y))
