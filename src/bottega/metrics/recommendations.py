"""How good lists of recommendations and predicted ratings are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.stats import norm

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import is_frame, make_frame
from bottega.core.params import Integer
from bottega.core.results import check_level
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array, FloatArray
from bottega.plot import intervals_chart

__all__ = ["RecommendationScores", "recommendations", "rmse"]

MEASURES = {
    "precision": "share of the recommended items that are relevant",
    "recall": "share of the relevant items that are recommended",
    "ndcg": "gain of the list, discounted by rank, as a share of the best list's",
    "average_precision": "mean precision at the ranks of relevant items",
    "hit_rate": "share of users with a relevant item on the list",
}


@dataclass(frozen=True, eq=False, repr=False)
class RecommendationScores:
    """Measures of lists of recommendations, user by user; made by `recommendations`.

    Attributes
    ----------
    n : int
        Length of the lists.
    users : ndarray of shape (u,)
        Users with relevant items.
    precision, recall, ndcg, average_precision, hit_rate : ndarray of shape (u,)
        The measures of each user's list; see `recommendations`.
    like : object
        Frame library that tables are shown in.
    """

    n: int
    users: Array
    precision: FloatArray
    recall: FloatArray
    ndcg: FloatArray
    average_precision: FloatArray
    hit_rate: FloatArray
    like: Any = None

    def means(self) -> dict[str, float]:
        """Return the mean of each measure over the users."""
        return {name: float(np.mean(getattr(self, name))) for name in MEASURES}

    def tidy(self, level: float = 0.95, like: Any = None) -> Any:
        """Return the means over users with intervals, one row per measure.

        Parameters
        ----------
        level : float
            Of confidence, for the mean over users like these (normal approximation).
        like : data frame or str, optional
            A frame, or the name of a library, whose kind of frame is returned.

        Returns
        -------
        data frame
            ``measure, estimate, std_error, conf_low, conf_high``.
        """
        half = norm.ppf(0.5 + check_level(level) / 2)
        found = np.array([getattr(self, name) for name in MEASURES])
        mean, count = found.mean(axis=1), found.shape[1]
        spread = found.std(axis=1, ddof=1) if count > 1 else np.full(len(MEASURES), np.nan)
        error = spread / np.sqrt(count)
        columns: dict[str, list[Any]] = {
            "measure": [f"{name}@{self.n}" for name in MEASURES],
            "estimate": mean,
            "std_error": error,
            "conf_low": np.maximum(mean - half * error, 0.0),
            "conf_high": np.minimum(mean + half * error, 1.0),
        }
        return make_frame(columns, self.like if like is None else like)

    def to_frame(self, like: Any = None) -> Any:
        """Return the measures of each user, one row per user."""
        columns = {"user": self.users, **{name: getattr(self, name) for name in MEASURES}}
        return make_frame(columns, self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the means with what they mean in words."""
        columns: dict[str, Any] = {
            "measure": [f"{name}@{self.n}" for name in MEASURES],
            "mean over users": list(self.means().values()),
            "": list(MEASURES.values()),
        }
        note = f"{len(self.users):,} users with relevant items"
        return Summary("Recommendations", (Section("", columns),), (note,))

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().to_html()

    def plot(self, level: float = 0.95) -> Any:
        """Draw the means over users with their intervals."""
        table = nw.from_native(self.tidy(level), eager_only=True)
        ends = np.column_stack([table[name].to_numpy() for name in ("conf_low", "conf_high")])
        return intervals_chart(
            table["measure"].to_list(),
            table["estimate"].to_numpy(),
            ends,
            x_title="mean over users",
            title=f"Lists of {self.n} recommendations",
            subtitle=f"{len(self.users):,} users; intervals of {level:.0%} confidence.",
        )


def recommendations(
    relevant: Any, recommended: Any, *, n: int = 10, gain: str | None = None
) -> RecommendationScores:
    r"""Return how good lists of recommendations are, against items known to be relevant.

    With hits :math:`h_k \in \{0, 1\}` (gains :math:`g_k`) at the ranks k = 1, ..., n of a list and
    R relevant items, precision is :math:`\sum_k h_k / n`, recall :math:`\sum_k h_k / R`, and the
    average precision :math:`\sum_k h_k\, (h_1 + \dots + h_k) / k\, / \min(R, n)`, whose mean over
    users is known as MAP. NDCG is :math:`\sum_k g_k / \log_2(k + 1)` as a share of that of the best
    list.

    Parameters
    ----------
    relevant : data frame or mapping
        What users liked: a frame with the columns ``user`` and ``item``, or a mapping from users to
        their items. A mapping from users to mappings from items to gains has gains other than one.
    recommended : data frame or mapping
        Lists, the best item first: a frame with the columns ``user`` and ``item``, as
        `MatrixFactorization.recommend` returns, or a mapping from users to lists of items.
    n : int
        Items of each list that count. Missing ones count as misses.
    gain : str, optional
        Column of `relevant` with the gain of an item, at least 0; one by default.

    Returns
    -------
    RecommendationScores
        Over the users with relevant items. A user without recommendations scores zero.

    Examples
    --------
    >>> found = recommendations({"Ann": ["Alien", "Heat"]}, {"Ann": ["Heat", "Up", "Alien"]}, n=2)
    >>> found.means()["precision"], found.means()["recall"], found.means()["hit_rate"]
    (0.5, 0.5, 1.0)
    """
    Integer(1).check("recommendations", "n", n)
    gains, lists = _gains(relevant, gain), _lists(recommended)
    if not gains:
        raise InputError("There are no relevant items, so no list can be judged; give some.")
    rows = np.array([_of_user(gains[user], lists.get(user, [])[:n], n) for user in gains])
    like = next((each for each in (recommended, relevant) if is_frame(each)), None)
    measured = dict(zip(MEASURES, rows.T, strict=True))
    return RecommendationScores(n, np.array(list(gains)), **measured, like=like)


def _of_user(gains: Mapping[Any, float], items: list[Any], n: int) -> tuple[float, ...]:
    if len(set(items)) < len(items):
        raise InputError("A list recommends an item more than once; leave out the later ones.")
    gain = np.array([gains.get(item, 0.0) for item in items])
    hit = gain > 0
    ranks = np.arange(1, len(items) + 1)
    hits, wanted = int(hit.sum()), sum(value > 0 for value in gains.values())
    best = np.sort(list(gains.values()))[::-1][:n]
    ideal = float(np.sum(best / np.log2(np.arange(2, len(best) + 2))))
    return (
        hits / n,
        hits / wanted,
        float(np.sum(gain / np.log2(ranks + 1))) / ideal,
        float(np.sum((np.cumsum(hit) / ranks)[hit])) / min(wanted, n),
        float(hits > 0),
    )


def _gains(relevant: Any, column: str | None) -> dict[Any, dict[Any, float]]:
    """Return the items of each user with their gains, users with a gain above zero alone."""
    if is_frame(relevant):
        names = ("user", "item") if column is None else ("user", "item", column)
        parts = _columns(relevant, names, "relevant")
        values = parts[2] if column is not None else [1.0] * len(parts[0])
        found: dict[Any, dict[Any, float]] = {}
        for user, item, value in zip(parts[0], parts[1], values, strict=True):
            found.setdefault(user, {})[item] = float(value)
    elif isinstance(relevant, Mapping):
        found = {
            user: {item: float(value) for item, value in items.items()}
            if isinstance(items, Mapping)
            else dict.fromkeys(items, 1.0)
            for user, items in relevant.items()
        }
    else:
        raise InputError("relevant must be a data frame, or a mapping from users to items.")
    for user, items in found.items():
        if not all(0 <= value < np.inf for value in items.values()):
            raise InputError(f"The gains of user {user!r} must be finite and not negative.")
    return {user: items for user, items in found.items() if any(items.values())}


def _lists(recommended: Any) -> dict[Any, list[Any]]:
    if is_frame(recommended):
        found: dict[Any, list[Any]] = {}
        for user, item in zip(*_columns(recommended, ("user", "item"), "recommended"), strict=True):
            found.setdefault(user, []).append(item)
        return found
    if isinstance(recommended, Mapping):
        return {user: list(items) for user, items in recommended.items()}
    raise InputError("recommended must be a data frame, or a mapping from users to lists of items.")


def _columns(frame: Any, names: tuple[str, ...], what: str) -> list[list[Any]]:
    table = nw.from_native(frame, eager_only=True)
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(repr, table.columns))
            raise InputError(f"{what} has no column {name!r}; its columns are {known}.")
    return [table[name].to_list() for name in names]


def rmse(y_true: Any, y_pred: Any, *, form: str = "standard") -> float:
    """Return the root of the mean squared error of predicted ratings.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Known and predicted ratings.
    form : {"standard", "root_sum"}
        ``"root_sum"`` divides the root of the sum of squares by n, a form that is found in print.
        Both have the same minimiser, but the second falls with n for errors of one size.

    Returns
    -------
    float

    Examples
    --------
    >>> rmse([1, 2, 3, 4], [2, 3, 4, 5]), rmse([1, 2, 3, 4], [2, 3, 4, 5], form="root_sum")
    (1.0, 0.5)
    """
    if form not in ("standard", "root_sum"):
        raise ParameterError(f"form={form!r} is not allowed; use 'standard' or 'root_sum'.")
    true, pred = np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
    if true.ndim != 1 or true.shape != pred.shape or not len(true):
        raise InputError(
            "y_true and y_pred must be two columns of equal length; they have shapes "
            f"{true.shape} and {pred.shape}."
        )
    gap = true - pred
    if not np.all(np.isfinite(gap)):
        raise InputError("Ratings and predictions must be finite numbers; leave out the others.")
    most = float(np.max(np.abs(gap))) or 1.0
    root = most * float(np.sqrt(np.sum((gap / most) ** 2)))
    return root / len(gap) if form == "root_sum" else root / float(np.sqrt(len(gap)))
