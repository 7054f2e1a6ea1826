"""Which classes are taken for which."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array
from bottega.plot.theme import altair, finish, plain

__all__ = ["MOST_CLASSES", "confusion_chart"]

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
    alt = altair()
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != pred.shape:
        raise InputError(
            f"y_true and y_pred must be two columns of equal length; "
            f"they have shapes {true.shape} and {pred.shape}."
        )
    known = np.unique(np.concatenate([true, pred])) if classes is None else np.asarray(classes)
    table, labels, mixed = _count(true, pred, known)
    column_total = table.sum(axis=0)
    rows = [
        {
            "observed": labels[j],
            "predicted": labels[i],
            "count": int(table[i, j]),
            "of_observed": plain(table[i, j] / column_total[j]) if column_total[j] else None,
            "of_all": plain(table[i, j] / max(true.size, 1)),
            "kind": "wrong" if i != j else "mixed" if labels[i] == mixed else "right",
        }
        for i in range(len(labels))
        for j in range(len(labels))
    ]
    few = len(labels) <= _FEW_CLASSES
    step = min(360 // len(labels), 110) if few else 30
    long_names = max(len(label) for label in labels) * 7 > step
    base = alt.Chart().encode(
        x=alt.X(
            "observed",
            type="nominal",
            sort=labels,
            title="observed class",
            axis=alt.Axis(
                orient="top",
                domain=False,
                ticks=False,
                labelAngle=-45 if long_names else 0,
                labelLimit=110,
            ),
        ),
        y=alt.Y(
            "predicted",
            type="nominal",
            sort=labels,
            title="predicted class",
            axis=alt.Axis(domain=False, ticks=False, labelLimit=130),
        ),
        tooltip=[
            alt.Tooltip("predicted", type="nominal", title="predicted"),
            alt.Tooltip("observed", type="nominal", title="observed"),
            alt.Tooltip("count", type="quantitative", title="rows", format=","),
            alt.Tooltip(
                "of_observed",
                type="quantitative",
                title="share of the observed class",
                format=".1%",
            ),
            alt.Tooltip("of_all", type="quantitative", title="share of all rows", format=".1%"),
        ],
    )
    # Shares of a column keep a rare class as visible as a frequent one; half opacity at most
    # keeps the number in the cell readable.
    cells = base.mark_rect(stroke=None, cornerRadius=3).encode(
        fillOpacity=alt.FillOpacity(
            "of_observed",
            type="quantitative",
            scale=alt.Scale(domain=[0, 1], range=[0.04, 0.5]),
            legend=None,
        ),
        fill=alt.Fill(
            "kind",
            type="nominal",
            scale=alt.Scale(domain=["right", "wrong", "mixed"], range="category"),
            legend=None,
        ),
    )
    counts = base.mark_text(style="label", fontSize=10 if step < 40 else 14).encode(
        text=alt.Text("count", type="quantitative", format=",")
    )
    wrong = int(true.size - np.count_nonzero(true == pred))
    share = f"{wrong:,} of {true.size:,} rows ({wrong / max(true.size, 1):.1%}) are wrong"
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


def _count(true: Array, pred: Array, known: Array) -> tuple[Array, list[str], str | None]:
    """Return counts (predicted by observed), labels, and the name of the rest if there is one."""
    shown = known
    if known.size > MOST_CLASSES:
        sizes = np.array([np.count_nonzero(true == label) for label in known])
        shown = known[np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])]
    place = {label: i for i, label in enumerate(shown.tolist())}
    labels = [str(label) for label in place]
    rest = len(labels)
    codes = [
        np.array([place.get(v, rest) for v in each.tolist()], dtype=int) for each in (pred, true)
    ]
    name = None
    if known.size > MOST_CLASSES or any(np.any(code == rest) for code in codes):
        name = "other"
        while name in labels:  # a class may be called so
            name += "…"
        labels.append(name)
    size = len(labels)
    table = np.bincount(codes[0] * size + codes[1], minlength=size**2).reshape(size, size)
    return table, labels, name
