"""What the methods that read texts share."""

from typing import Any

import numpy as np

from bottega.core.estimator import Unweighted
from bottega.core.frames import is_frame
from bottega.core.rows import Rows
from bottega.data.texts.reading import as_texts
from bottega.text._inputs.counted import CountedTexts
from bottega.text.corpus import Corpus

__all__ = ["TextEstimator", "texts_of"]


def texts_of(X: Any) -> Any:
    """Return texts that can be iterated over more than once."""
    return X if isinstance(X, Corpus | CountedTexts) else as_texts(X)


class TextEstimator(Unweighted):
    """An estimator whose rows are texts: a list of them, a column, or a `Corpus`."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        self._remember_frame(X)
        self.n_features_in_ = 1
        if is_frame(X):
            self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        return Rows(texts_of(X), y)
