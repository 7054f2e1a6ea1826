"""The words that decided the class of a text."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["DecidingWords", "deciding_words"]

_EXACT = 1e-8
_ROWS = 5_000  # texts with a word left out that are predicted at a time


@dataclass(frozen=True, eq=False, repr=False)
class DecidingWords(Shown):
    """What each word of a text adds to its class; made by `deciding_words`.

    Attributes
    ----------
    predicted : ndarray of shape (n,)
        The class of each text.
    row : ndarray of int
        The text of each word.
    stem : list of str
        The words, those that count most first in each text.
    contribution : ndarray
        What they add to the score of the predicted class.
    exact : bool
        Whether contributions add up to the decision function; else each is the change when the word
        alone is left out.
    what : str
        What the contributions are of.
    """

    predicted: Array
    row: IntArray
    stem: list[str]
    contribution: FloatArray
    exact: bool
    what: str
    like: Any = None

    def of(self, text: int) -> list[tuple[str, float]]:
        """Return the words of one text with their contributions."""
        at = np.flatnonzero(self.row == text)
        return [(self.stem[i], float(self.contribution[i])) for i in at]

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "text": self.row.tolist(),
            "predicted": self.predicted[self.row].tolist(),
            "stem": self.stem,
            "contribution": self.contribution.tolist(),
        }

    def to_frame(self, like: Any = None) -> Any:
        """Return text, predicted class, stem and contribution."""
        return make_frame(self._columns(), self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the words of each text."""
        how = "they add up" if self.exact else "each is the change when the word alone is left out"
        notes = (f"contribution: to the {self.what} of the predicted class; {how}",)
        return Summary("Deciding words", (Section("", self._columns()),), notes)

    def plot(self, text: int = 0) -> Any:
        """Draw the contributions of the words of one text."""
        from bottega.plot import importance_chart

        pairs = self.of(text)
        if not pairs:
            raise InputError(f"Text {text} has no word that the model knows.")
        note = f"Contributions to the {self.what} of {self.predicted[text]!s}."
        return importance_chart(
            [stem for stem, _ in pairs], [value for _, value in pairs],
            what="contribution", note=note, title="Deciding words",
        )  # fmt: skip


def deciding_words(model: Any, S: Any, stems: Any = None, *, most: int = 10) -> DecidingWords:
    """Return the words that decided the class of each text.

    Parameters
    ----------
    model : fitted classifier, or Pipeline that ends in one
        Of any kind. The steps before the last one of a pipeline make its columns, named.
    S : array-like or sparse matrix of shape (n, p); texts for a pipeline
        The rows of a stem matrix that are to be explained.
    stems : sequence of str, optional
        The names of the columns; those of the pipeline's by default.
    most : int
        The most words per text.

    Returns
    -------
    DecidingWords
        With `of`, `to_frame` and `plot`.

    Notes
    -----
    Where the decision function is linear (``coef_`` and ``intercept_`` reproduce it), the
    contribution of a word is its coefficient times its entry: exact, and they add up. Any other
    classifier predicts each text again without each of its words in turn, and the contribution is
    what the probability (or the score) of the predicted class loses; words that stand in for one
    another then both seem to matter little. Cost: one prediction per word of a text.

    Examples
    --------
    >>> from bottega.classify import NaiveBayes
    >>> from bottega.text import StemMatrix
    >>> texts = ["good film", "good story", "bad film", "bad music"]
    >>> matrix = StemMatrix()
    >>> S = matrix.fit_transform(texts).toarray()
    >>> model = NaiveBayes().fit(S, ["for", "for", "against", "against"])
    >>> found = deciding_words(model, S[:1], matrix.get_feature_names_out())
    >>> found.of(0)[0][0], found.predicted.tolist()
    ('good', ['for'])
    """
    if isinstance(model, Pipeline):
        stems = model[:-1].get_feature_names_out() if stems is None else stems
        S, model = model[:-1].transform(S), model[-1]
    rows = csr_matrix(S, dtype=np.float64)
    rows.eliminate_zeros()
    names = [str(j) for j in range(rows.shape[1])] if stems is None else [str(s) for s in stems]
    if len(names) != rows.shape[1]:
        raise InputError(f"S has {rows.shape[1]} columns and there are {len(names)} stems.")
    given = _as_taken(model, rows)
    predicted = np.asarray(model.predict(given))
    codes = np.searchsorted(model.classes_, predicted)
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    weights = _linear(model, given)
    if weights is not None:
        value = rows.data * np.asarray(weights)[codes[row], rows.indices]
        what = "decision function"
    else:
        value, what = _left_out(model, rows, codes)
    order = np.lexsort([rows.indices, -np.abs(value), row])
    rank = np.arange(len(order)) - rows.indptr[row[order]]
    order = order[rank < most]
    found = [names[j] for j in rows.indices[order]]
    return DecidingWords(predicted, row[order], found, value[order], weights is not None, what)


def _as_taken(model: Any, rows: Any) -> Any:
    """Return rows as the model takes them: sparse, or as an array."""
    return rows if get_tags(model).input_tags.sparse else rows.toarray()


def _linear(model: Any, S: Any) -> FloatArray | None:
    """Return the coefficients of each class if they reproduce the decision function, or None."""
    coef = getattr(model, "coef_", None)
    if coef is None or not hasattr(model, "decision_function"):
        return None
    coef = np.atleast_2d(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef))
    score = np.asarray(model.decision_function(S), dtype=np.float64)
    if coef.shape[1] != S.shape[1] or coef.shape[0] != (1 if score.ndim == 1 else score.shape[1]):
        return None
    linear = np.asarray(S @ coef.T) + np.ravel(getattr(model, "intercept_", 0.0))
    scale = 1.0 + float(np.abs(score).max(initial=0.0))
    if not np.allclose(linear.reshape(score.shape), score, rtol=0, atol=_EXACT * scale):
        return None
    return np.vstack([-coef, coef]) if score.ndim == 1 else coef


def _left_out(model: Any, rows: Any, codes: IntArray) -> tuple[FloatArray, str]:
    """Return what the predicted class loses when each word of a text is left out in turn."""
    outcome, what = _outcome(model)
    full = outcome(_as_taken(model, rows))[np.arange(rows.shape[0]), codes]
    text = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    value = np.zeros(len(rows.data))
    for start in range(0, len(value), _ROWS):
        part = np.arange(start, min(start + _ROWS, len(value)))
        without = rows[text[part]].tolil()
        without[np.arange(len(part)), rows.indices[part]] = 0.0
        found = outcome(_as_taken(model, csr_matrix(without)))[
            np.arange(len(part)), codes[text[part]]
        ]
        value[part] = full[text[part]] - found
    return value, what


def _outcome(model: Any) -> tuple[Any, str]:
    if hasattr(model, "predict_proba"):
        return lambda S: np.asarray(model.predict_proba(S)), "probability"
    if hasattr(model, "decision_function"):

        def score(S: Any) -> FloatArray:
            found = np.asarray(model.decision_function(S), dtype=np.float64)
            return np.column_stack([-found, found]) if found.ndim == 1 else found

        return score, "decision function"
    labels = np.asarray(model.classes_)
    return lambda S: (model.predict(S)[:, None] == labels).astype(np.float64), "predicted class"
