"""What sets clusters apart: the columns in which each differs most from all other rows."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import backend_of, default_names, is_frame, make_frame
from bottega.core.rows import check_weight
from bottega.core.sparse import is_sparse
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["ClusterProfiles", "what_sets_apart"]

_MOST_LEVELS = 20  # of a column, the most frequent ones
_LEAST_DIFFERENCE = 0.25  # standard deviations: what is worth a word


@dataclass(frozen=True)
class _Trait:
    """One column (or one level of a category, or its missing values) of one cluster."""

    column: str
    kind: str
    level: str | None
    here: float
    elsewhere: float
    difference: float


@dataclass(frozen=True, repr=False)
class ClusterProfiles(Shown):
    """What sets each cluster apart, see `what_sets_apart`.

    Attributes
    ----------
    labels : tuple
        The labels of the clusters, in order.
    counts : tuple of int
        Rows of each.
    traits : tuple of tuple
        Of each cluster the columns, those that differ most first.
    skipped : tuple of str
        Columns that are neither numbers nor categories.
    """

    labels: tuple[Any, ...]
    counts: tuple[int, ...]
    traits: tuple[tuple[_Trait, ...], ...]
    skipped: tuple[str, ...] = ()
    _like: str | None = field(default=None)

    def to_frame(self) -> Any:
        """Return one row per cluster and column, those that differ most first in each cluster.

        Columns: ``cluster``, ``column``, ``kind`` ("number", "level" or "missing"), ``level``,
        ``here`` and ``elsewhere`` (mean, or share of the rows), ``difference`` (in standard
        deviations of the column).
        """
        pairs = [
            (label, trait)
            for label, traits in zip(self.labels, self.traits, strict=True)
            for trait in traits
        ]
        names = ("column", "kind", "level", "here", "elsewhere", "difference")
        columns: dict[str, Any] = {"cluster": [label for label, _ in pairs]}
        columns |= {name: [getattr(trait, name) for _, trait in pairs] for name in names}
        return make_frame(columns, self._like)

    def words(self, most: int = 4, least: float = _LEAST_DIFFERENCE) -> list[str]:
        """Return one sentence per cluster.

        Parameters
        ----------
        most : int
            Traits in a sentence, at most.
        least : float
            Difference, in standard deviations, from which on a trait is named.
        """
        return [
            f"{_name(label)} ({count:,} row{'s' if count != 1 else ''}): "
            + (", ".join(_in_words(trait) for trait in _told(traits, most, least)) or _LIKE_OTHERS)
            for label, count, traits in zip(self.labels, self.counts, self.traits, strict=True)
        ]

    def summary(self) -> Summary:
        """Return the clusters with their sizes and what sets them apart."""
        apart = [sentence.partition(": ")[2] for sentence in self.words()]
        columns: dict[str, Any] = {
            "cluster": [str(label) for label in self.labels],
            "rows": list(self.counts),
            "what sets it apart from all other rows": apart,
        }
        notes = []
        if self.skipped:
            notes.append(f"neither numbers nor categories: {', '.join(self.skipped)}")
        return Summary("Clusters", (Section("", columns),), tuple(notes))

    def plot(self, most: int = 12) -> Any:
        """Draw the differences of the columns that set clusters apart most.

        Parameters
        ----------
        most : int
            Columns (or levels) to draw.

        Returns
        -------
        altair.LayerChart
            One row per column, one dot per cluster.
        """
        from bottega.plot import dots_chart

        largest: dict[str, float] = {}
        found: list[dict[str, float]] = []
        for traits in self.traits:
            here = {_short(trait): trait.difference for trait in traits}
            found.append(here)
            for name, value in here.items():
                largest[name] = max(largest.get(name, 0.0), abs(value))
        names = sorted(largest, key=lambda name: -largest[name])[:most]
        return dots_chart(
            names,
            {
                _name(label): [here.get(name, np.nan) for name in names]
                for label, here in zip(self.labels, found, strict=True)
            },
            x_title="difference from all other rows (standard deviations)",
            title="What sets the clusters apart",
            subtitle="Mean of the cluster less that of all other rows, in standard deviations.",
            zero=False,
        )


_LIKE_OTHERS = "differs little from the other rows"


def what_sets_apart(X: Any, labels: Any, *, sample_weight: Any = None) -> ClusterProfiles:
    r"""Find the columns that distinguish each cluster from all other rows.

    For a number, :math:`d = (\bar x_k - \bar x_{-k}) / s`: the mean of the cluster less that of all
    other rows, in standard deviations of the column. A level of a category, and the missing values
    of a column, are judged in the same way as columns of zeros and ones, whose means are shares.

    Parameters
    ----------
    X : data frame, Table or array-like of shape (n, p)
        Numbers and categories; values may be missing (they are left out of means and shares, and
        their own share is judged too).
    labels : array-like of shape (n,)
        The cluster of each row; -1 (noise of `DensityClusters`) is named so.
    sample_weight : array-like of shape (n,), optional
        Row weights.

    Returns
    -------
    ClusterProfiles
        Shows itself as a table; `words` are sentences, `to_frame` all numbers.

    Notes
    -----
    Only the 20 most frequent levels of a category are looked at; of a column with two levels the
    one that is more frequent in the cluster. The clusters were made to differ in these columns, so
    the differences describe and are no tests.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [61, 63, 60, 40, 44, 41], "town": list("aabbbb")})
    >>> print(*what_sets_apart(people, [0, 0, 0, 1, 1, 1]).words(), sep="\n")
    cluster 0 (3 rows): higher age (61.3 vs 41.7), town = a more often (67% vs 0%)
    cluster 1 (3 rows): lower age (41.7 vs 61.3), town = b more often (100% vs 33%)
    """
    X = getattr(X, "X", X) if type(X).__name__ == "Table" else X
    columns = dict(_columns(X))
    n = len(next(iter(columns.values()))) if columns else 0
    given = np.asarray(labels)
    if given.shape != (n,):
        raise InputError(
            f"labels has shape {given.shape}; it needs one label per row of X: ({n},)."
        )
    if not n:
        raise InputError("X has no rows or no columns; give at least one of each.")
    names, codes = np.unique(given, return_inverse=True)
    weight = check_weight(sample_weight, n)
    weights = np.ones(n) if weight is None else weight
    found: list[list[_Trait]] = [[] for _ in names]
    skipped = []
    for name, values in columns.items():
        kind, known = _read(name, values)
        if kind == "other":
            skipped.append(name)
            continue
        for code, trait in _traits(name, kind, known, codes, weights, len(names)):
            found[code].append(trait)
    order = [sorted(traits, key=lambda trait: -abs(trait.difference)) for traits in found]
    return ClusterProfiles(
        tuple(names.tolist()),
        tuple(np.bincount(codes, minlength=len(names)).tolist()),
        tuple(map(tuple, order)),
        tuple(skipped),
        backend_of(X) if is_frame(X) else None,
    )


def _columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Yield the columns with their names."""
    if is_frame(X):
        for series in nw.from_native(X, eager_only=True).iter_columns():
            yield str(series.name), series
        return
    table = X.toarray() if is_sparse(X) else np.asarray(X)
    if table.ndim != 2:
        raise InputError(f"X must be a table of rows and columns; got {table.ndim} axes.")
    yield from zip(default_names(table.shape[1]), table.T, strict=True)


def _read(name: str, values: Any) -> tuple[str, Array]:
    """Return the kind of a column ("number", "level" or "other") and its values.

    Numbers have NaN where they are missing, levels None.
    """
    if isinstance(values, nw.Series):
        if values.dtype.is_temporal() or values.dtype.is_nested():
            return "other", np.empty(0)
        if values.dtype.is_numeric():
            return "number", _finite(name, values.cast(nw.Float64).to_numpy())
        values = np.array(values.to_list(), dtype=object)
    if values.dtype.kind in "iuf":
        return "number", _finite(name, values.astype(np.float64))
    if values.dtype.kind == "O":
        kinds = {type(value) for value in values if not _is_missing(value)}
        numbers = all(issubclass(kind, int | float | np.number) for kind in kinds)
        if numbers and bool not in kinds:
            plain = [np.nan if _is_missing(value) else float(value) for value in values]
            return "number", _finite(name, np.array(plain))
    elif values.dtype.kind not in "bUS":
        return "other", np.empty(0)
    levels = [None if _is_missing(value) else str(value) for value in values.tolist()]
    return "level", np.array(levels, dtype=object)


def _is_missing(value: Any) -> bool:
    # NaN is not equal to itself; pandas' NA has no truth.
    return value is None or str(value) in ("<NA>", "NaT") or bool(value != value)


def _finite(name: str, values: FloatArray) -> FloatArray:
    if np.any(np.isinf(values)):
        raise InputError(f"Column {name!r} has infinite values; correct them, or make them NaN.")
    return values


def _traits(
    name: str, kind: str, values: Array, codes: IntArray, weights: FloatArray, n_clusters: int
) -> Iterator[tuple[int, _Trait]]:
    """Yield each cluster with its trait in one column."""
    number = kind == "number"
    absent = np.isnan(values) if number else np.array([value is None for value in values])
    present = ~absent
    here_codes, here_weights = codes[present], weights[present]
    if number and np.any(present):
        for found in _differences(values[present], here_codes, here_weights, n_clusters):
            yield found[0], _Trait(name, "number", None, *found[1:])
    if kind == "level" and np.any(present):
        levels, level_codes = np.unique(values[present].astype(str), return_inverse=True)
        share = np.bincount(level_codes, here_weights)
        frequent = np.argsort(-share, kind="stable")[:_MOST_LEVELS]
        for level in sorted(frequent.tolist()):
            is_level = (level_codes == level).astype(np.float64)
            for found in _differences(is_level, here_codes, here_weights, n_clusters):
                if len(levels) == 2 and (found[3] < 0 or (found[3] == 0 and level == 1)):
                    continue  # the other level says the same
                yield found[0], _Trait(name, "level", str(levels[level]), *found[1:])
    if np.any(absent):
        for found in _differences(absent.astype(np.float64), codes, weights, n_clusters):
            yield found[0], _Trait(name, "missing", None, *found[1:])


def _differences(
    values: FloatArray, codes: IntArray, weights: FloatArray, n_clusters: int
) -> Iterator[tuple[int, float, float, float]]:
    """Yield (cluster, its mean, mean of all other rows, difference in standard deviations)."""
    unit = float(np.max(np.abs(values))) or 1.0
    low, high = float(np.min(values)), float(np.max(values))
    center = low / 2 + high / 2
    scaled = (values / unit) - center / unit  # about the middle: no digits are lost far from zero
    heaviest = float(np.max(weights))
    if heaviest == 0:  # nothing is known of rows that count
        return
    share = weights / heaviest
    share = share / share.sum()
    mass = np.bincount(codes, share, minlength=n_clusters)
    sums = np.bincount(codes, share * scaled, minlength=n_clusters)
    total = sums.sum()
    spread = np.sqrt(share @ (scaled - total) ** 2)
    for k in range(n_clusters):
        others = np.arange(n_clusters) != k
        rest = mass[others].sum()  # one less the mass would be what rounding leaves
        if mass[k] == 0 or rest == 0:
            continue
        here, elsewhere = sums[k] / mass[k], sums[others].sum() / rest
        difference = (here - elsewhere) / spread if low < high and spread > 0 else 0.0
        yield (
            k,
            float(np.clip(here * unit + center, low, high)),
            float(np.clip(elsewhere * unit + center, low, high)),
            float(difference),
        )


def _told(traits: tuple[_Trait, ...], most: int, least: float) -> list[_Trait]:
    """Return the traits to name: the largest, at most two levels of one category."""
    told: list[_Trait] = []
    for trait in traits:
        if abs(trait.difference) < least or len(told) == most:
            break
        if sum(each.column == trait.column for each in told) < 2:
            told.append(trait)
    return told


def _name(label: Any) -> str:
    return "noise" if isinstance(label, int) and label == -1 else f"cluster {label}"


def _short(trait: _Trait) -> str:
    return trait.column + {
        "number": "",
        "level": f" = {trait.level}",
        "missing": " missing",
    }.get(trait.kind, "")


def _in_words(trait: _Trait) -> str:
    if trait.kind == "number":
        here, elsewhere = _two_numbers(trait.here, trait.elsewhere)
        side = "higher" if trait.difference > 0 else "lower"
        return f"{side} {trait.column} ({here} vs {elsewhere})"
    often = "more" if trait.difference > 0 else "less"
    return f"{_short(trait)} {often} often ({trait.here:.0%} vs {trait.elsewhere:.0%})"


def _two_numbers(a: float, b: float) -> tuple[str, str]:
    """Write two numbers with as few digits as tell them apart."""
    for digits in (3, 4, 5, 7, 10):
        words = tuple(
            f"{v:,.0f}" if 10 ** (digits - 1) <= abs(v) < 1e9 else f"{v:.{digits}g}" for v in (a, b)
        )
        if words[0] != words[1]:
            break
    return words[0], words[1]
