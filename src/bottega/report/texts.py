"""Texts in a report: the stems that are typical of each class."""

import warnings
from functools import partial
from typing import Any

from bottega.core.errors import DataWarning
from bottega.data import convert
from bottega.report.figures import Figure, Figures

__all__ = ["text_figures"]

_MOST_STEMS = 8  # of a class
_MOST_CLASSES = 10
_LEAST_TEXTS = 2


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
    from bottega.text import StemMatrix, TextCleaner, typical_stems

    texts = convert.texts(table.series(name))
    # Words of other alphabets are kept only where the language is not known, as in the models.
    cleaner = TextCleaner().fit(["" if text is None else text for text in texts])
    cleaner.set_params(other_alphabets=cleaner.language_ is None)
    matrix = StemMatrix(cleaner, min_df=_LEAST_TEXTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # empty texts are listed as missing values
        S = matrix.fit_transform(texts)
    return typical_stems(S, table.y, matrix.get_feature_names_out(), most=_MOST_STEMS).plot()
