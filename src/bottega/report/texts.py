"""Texts in a report: the stems typical of each class, and the classes of texts without a label."""

import warnings
from functools import partial
from typing import Any

from bottega.core.errors import BottegaError, DataWarning
from bottega.report.figures import Figure, Figures
from bottega.report.words import percent

__all__ = ["text_figures", "unread_texts"]

_MOST_STEMS = 8  # of a class
_MOST_CLASSES = 10


def text_figures(comparison: Any, figures: Figures) -> list[dict[str, Any]]:
    """Return the typical stems of each column of texts, from the training rows."""
    table = comparison.table
    names = [each.name for each in table.columns if (each.kind, each.role) == ("text", "feature")]
    if not names or table.classes is None or len(table.classes) > _MOST_CLASSES:
        return []
    found = []
    for place, name in enumerate(names):
        figure = figures.make(f"stems-{place}", partial(_typical, comparison.train, name))
        found.append({"name": name, "figure": figure})
    return [each for each in found if each["figure"] is not None]


def _typical(table: Any, name: str) -> Figure:
    from bottega.text import typical_stems
    from bottega.workbench.unread import stem_matrix_of, texts_of

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # empty texts are listed as missing values
        matrix, S = stem_matrix_of(texts_of(table.series(name)))
    return typical_stems(S, table.y, matrix.get_feature_names_out(), most=_MOST_STEMS).plot()


def unread_texts(comparison: Any, figures: Figures) -> dict[str, Any] | None:
    """Return the proportions of the classes among rows without a label; None without texts.

    Where they cannot be estimated, ``sentence`` says why, and there is nothing else.
    """
    table = comparison.table
    if table.classes is None or "text" not in table.kinds.values():
        return None
    try:
        found = comparison.proportions()
    except BottegaError as error:
        return {"sentence": str(error), "rows": []}
    low, high = found.proportions.interval
    columns = (found.labelled, found.proportions.estimate[0], low[0], high[0], found.counted)
    rows = zip(found.proportions.classes, *columns, strict=True)
    best = comparison.results[comparison.best_method].card.title
    return {
        "sentence": (
            f"{found.n_unread:,} rows have a text but no value of {comparison.target}. The "
            "proportions of the classes among them are estimated as a whole, from the stems of "
            f"their texts: {found.n_labelled:,} training rows say which stems the texts of each "
            "class have. Nothing is said about a single row."
        ),
        "level": f"{100 * found.proportions.level:g}%",
        "rows": [
            {
                "class": str(name),
                "labelled": percent(share),
                "estimate": percent(estimate),
                "interval": f"{percent(low)} to {percent(high)}",
                "counted": percent(counted),
            }
            for name, share, estimate, low, high, counted in rows
        ],
        "counted_by": best,
        "assumption": found.assumption,
        "doubtful": found.doubtful,
        "notes": found.notes,
        "figure": figures.make("proportions", found.proportions.plot),
    }
