"""Which classes are taken for which."""

from typing import Any

import numpy as np

from bottega.core.cross_table import cross_table
from bottega.core.errors import InputError
from bottega.core.typing import Array, IntArray
from bottega.plot._parts import apart, shade, tips, y_names
from bottega.plot.theme import altair, finish, plain

__all__ = ["confusion_chart", "confusion_table_chart"]

MOST_CLASSES = 20
_FEW_CLASSES = 8


def confusion_chart(y_true: Any, y_pred: Any, classes: Any = None) -> Any:
    """Draw the confusion table: rows are predictions, columns are observations.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Observed and predicted labels.
    classes : array-like of shape (K,), optional
        The labels in the order to show them; those that occur, sorted, by default. Of more than
        20 the most frequent 20 are shown and the rest is put together as "other".

    Returns
    -------
    altair.LayerChart
        Counts stand in the cells; pointing at one shows its share of its column and of all rows.

    Examples
    --------
    >>> confusion_chart(["a", "b", "b"], ["a", "a", "b"]).to_dict()["title"]["text"]
    'Predicted and observed classes'
    """
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != pred.shape:
        raise InputError(
            f"y_true and y_pred must be two columns of equal length; "
            f"they have shapes {true.shape} and {pred.shape}."
        )
    known = np.unique(np.concatenate([true, pred])) if classes is None else np.asarray(classes)
    return _draw(cross_table(pred, true, known), known)


def confusion_table_chart(table: Any, labels: Any) -> Any:
    """Draw a confusion table that is counted already.

    Parameters
    ----------
    table : array-like of shape (K, K)
        Counts; rows are predictions, columns observations.
    labels : array-like of shape (K,)
        The classes.

    Returns
    -------
    altair.LayerChart
        As `confusion_chart`.

    Examples
    --------
    >>> chart = confusion_table_chart([[5, 2], [1, 2]], ["ham", "spam"])
    >>> chart.to_dict()["title"]["subtitle"][0]
    '3 of 10 rows (30.0%) are wrong.'
    """
    counts, known = np.asarray(table), np.asarray(labels)
    if counts.shape != (len(known), len(known)):
        raise InputError(
            f"table has shape {counts.shape}; with {len(known)} labels it must be square of that "
            "size."
        )
    return _draw(np.pad(counts, (0, 1)), known)


def _draw(counts: IntArray, known: Array) -> Any:
    """Draw counts whose last row and column count values outside the classes."""
    alt = altair()
    rows_in_all = int(counts.sum())
    wrong = rows_in_all - int(np.trace(counts[:-1, :-1]))
    table, labels, mixed = _put_together(counts, known)
    column_total = table.sum(axis=0)
    rows = [
        {
            "observed": labels[j],
            "predicted": labels[i],
            "count": plain(table[i, j]),
            "of_observed": plain(table[i, j] / column_total[j]) if column_total[j] else None,
            "of_all": plain(table[i, j] / max(rows_in_all, 1)),
            "kind": "wrong" if i != j else "mixed" if labels[i] == mixed else "right",
        }
        for i in range(len(labels))
        for j in range(len(labels))
    ]
    few = len(labels) <= _FEW_CLASSES
    step = min(360 // len(labels), 110) if few else 30
    long_names = max(len(label) for label in labels) * 7 > step
    names = alt.Axis(
        orient="top", domain=False, ticks=False, labelAngle=-45 if long_names else 0, labelLimit=110
    )
    base = alt.Chart().encode(
        x=alt.X("observed", type="nominal", sort=labels, title="observed class", axis=names),
        y=y_names("predicted", labels, "predicted class", labelLimit=130),
        tooltip=tips(
            ("predicted:N", "predicted"),
            ("observed:N", "observed"),
            ("count:Q", "rows", ","),
            ("of_observed:Q", "share of the observed class", ".1%"),
            ("of_all:Q", "share of all rows", ".1%"),
        ),
    )
    # Shares of a column keep a rare class as visible as a frequent one; half opacity at most
    # keeps the number in the cell readable.
    cells = base.mark_rect(stroke=None, cornerRadius=3).encode(
        fillOpacity=shade(alt.FillOpacity, "of_observed", 0.04, 0.5),
        fill=apart(alt.Fill, "kind", ["right", "wrong", "mixed"], "category"),
    )
    counts = base.mark_text(style="label", fontSize=10 if step < 40 else 14).encode(
        text=alt.Text("count", type="quantitative", format=",")
    )
    share = f"{wrong:,} of {rows_in_all:,} rows ({wrong / max(rows_in_all, 1):.1%}) are wrong"
    notes = [f"{share}.", "Colour: share of the observed class."]
    if mixed is not None:
        notes.append(f"{mixed}: the less frequent classes together, right or wrong.")
    return finish(
        alt.layer(cells, counts, data=alt.Data(values=rows)),
        title="Predicted and observed classes",
        subtitle=notes,
        description=(
            f"Confusion table of {len(labels)} classes, rows predicted, columns observed; {share}."
        ),
        # A small table may be drawn to fit where it stands; the cells of a large one must stay
        # wide enough for their numbers.
        width=step * len(labels) if few else alt.Step(step),
        height=min(step, 80) * len(labels),
    )


def _put_together(counts: IntArray, known: Array) -> tuple[IntArray, list[str], str | None]:
    """Return the table to show, its labels, and the name of the rest if there is one."""
    shown = np.arange(len(known))
    if len(known) > MOST_CLASSES:
        sizes = counts[:, :-1].sum(axis=0)
        shown = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    labels = [str(label) for label in known[shown].tolist()]
    place = np.full(len(counts), len(shown))  # the rest, unless shown
    place[shown] = np.arange(len(shown))
    table = np.zeros((len(shown) + 1, len(shown) + 1), dtype=counts.dtype)
    np.add.at(table, (place[:, np.newaxis], place[np.newaxis, :]), counts)
    if not table[-1].any() and not table[:, -1].any() and len(known) <= MOST_CLASSES:
        return table[:-1, :-1], labels, None
    name = "other"
    while name in labels:  # a class may be called so
        name += "…"
    return table, [*labels, name], name
