"""What was found, in sentences."""

from typing import Any

import numpy as np

from bottega.workbench._describing.clusters import FoundClusters
from bottega.workbench._describing.components import FoundComponents
from bottega.workbench._describing.outliers import FoundOutliers, UnusualRow
from bottega.workbench._describing.relations import ColumnPair

__all__ = [
    "clusters_in_words",
    "components_in_words",
    "outliers_in_words",
    "pair_in_words",
    "value_in_words",
    "why_unusual",
]


def components_in_words(found: FoundComponents) -> str:
    """Say how far columns vary together."""
    if len(found.columns) == 1:
        return "There is one column, and none that could vary together with it."
    if not found.kept:
        return (
            "The columns hardly vary together: no component has more of the variance than in "
            "tables whose columns are unrelated."
        )
    share = 100 * float(np.sum(found.shares[: found.kept]))
    if found.kept == 1:
        return (
            f"One component has more of the variance than chance would give it: {share:.0f}% "
            f"({_carried(found, 0)})."
        )
    return (
        f"{_number(found.kept).capitalize()} components have more of the variance than chance "
        f"would give them, together {share:.0f}%; the first ({100 * found.shares[0]:.0f}%) is "
        f"carried by {_carried(found, 0)}."
    )


def _carried(found: FoundComponents, k: int) -> str:
    names = [name for name, _ in found.carriers(k, most=4)]
    return ", ".join(names)


def clusters_in_words(found: FoundClusters) -> str:
    """Say how many clusters there are."""
    where = "the number columns" if found.by == "mixture" else "all columns"
    if found.count == 1:
        return f"There is no evidence of more than one cluster in {where}."
    sizes = ", ".join(f"{size:,}" for size in found.sizes)
    return f"The rows form {_number(found.count)} clusters in {where}, of {sizes} rows."


def outliers_in_words(found: FoundOutliers) -> str:
    """Say how many rows are unusual, and how many would be without a reason."""
    chance = (
        f"a share of {found.false_alarm:g}, or about {_count(found.expected)}, would be if all "
        "rows were ordinary"
    )
    if not found.count:
        return f"No row is unlike all others in the number columns ({chance})."
    one = found.count == 1
    told = (
        f"{_number(found.count).capitalize()} row{' is' if one else 's are'} unlike the others in "
        f"the number columns ({chance})"
    )
    if found.heavy:
        told += "; so many mean that large values are common here, not that all are mistakes"
    return f"{told}."


def _count(expected: float) -> str:
    return f"{expected:,.0f}" if expected >= 9.5 else f"{expected:.1g}"


def _number(count: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if count < len(words) else f"{count:,}"


def pair_in_words(pair: ColumnPair) -> str:
    """Say how two columns belong together."""
    first, second = repr(pair.first), repr(pair.second)
    if pair.kind == "equal":
        return f"{first} and {second} hold the same values"
    if pair.kind == "correlation":
        way = "rises" if pair.strength > 0 else "falls"
        return f"{second} {way} with {first} (rank correlation {pair.strength:.2f})"
    if pair.kind == "means":
        return f"{second} depends on {first} (correlation ratio {pair.strength:.2f})"
    return f"The levels of {first} and {second} go together (Cramér's V {pair.strength:.2f})"


def why_unusual(row: UnusualRow, table: Any) -> str:
    """Name the columns that make a row unusual, with what was to be expected."""
    return "; ".join(
        f"{name} is {value_in_words(value, name, table)}, expected about "
        f"{value_in_words(expected, name, table, rounded=True)}"
        for name, value, expected in row.columns
    )


def value_in_words(value: float, name: str, table: Any, rounded: bool = False) -> str:
    """Write a number, or the date that a number of days stands for."""
    if table.column(name).kind == "date":
        day = np.datetime64(round(value), "D") if np.isfinite(value) else None
        return str(day)
    digits = 3 if rounded else 6
    if 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}" if rounded or value == round(value) else f"{value:,.2f}"
    return f"{value:.{digits}g}"
