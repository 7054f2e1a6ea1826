"""Texts along the dimensions of a method that finds them without tags."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.sparse import is_sparse
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["LatentScores", "latent_scores"]


@dataclass(frozen=True, eq=False, repr=False)
class LatentScores(Shown):
    """Places of texts along latent dimensions; made by `latent_scores`.

    Attributes
    ----------
    estimator : estimator
        The method that found the dimensions, fitted.
    scores : ndarray of shape (n, dimensions)
        The places of the texts.
    stems : ndarray of shape (p,)
        The stems.
    correlations : ndarray of shape (p, dimensions)
        Correlation of each stem's column with each dimension; NaN for a constant column.
    texts : ndarray of int
        In how many texts each stem is.
    """

    estimator: Any
    scores: FloatArray
    stems: Array
    correlations: FloatArray
    texts: IntArray
    like: Any = None

    def ends(self, dimension: int = 0, most: int = 10) -> tuple[list[str], list[str]]:
        """Return the stems of the low and of the high end of a dimension, the outermost first."""
        value = np.nan_to_num(self.correlations[:, dimension])
        order = np.argsort(value, kind="stable")
        low, high = order[:most], order[::-1][:most]
        return (
            [str(self.stems[j]) for j in low if value[j] < 0],
            [str(self.stems[j]) for j in high if value[j] > 0],
        )

    def to_frame(self, like: Any = None) -> Any:
        """Return the stems with the texts that have them and their correlations."""
        columns: dict[str, Any] = {"stem": self.stems.tolist(), "texts": self.texts}
        for d in range(self.correlations.shape[1]):
            columns[f"dimension {d + 1}"] = self.correlations[:, d]
        return make_frame(columns, self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the stems of both ends of each dimension."""
        number = range(self.scores.shape[1])
        columns: dict[str, list[Any]] = {
            "dimension": [d + 1 for d in number],
            "low end": [", ".join(self.ends(d, 5)[0]) for d in number],
            "high end": [", ".join(self.ends(d, 5)[1]) for d in number],
        }
        return Summary(f"Scores of {len(self.scores):,} texts", (Section("", columns),))

    def plot(self, *, most: int = 40) -> Any:
        """Draw the map of the stems, by the first two dimensions."""
        from bottega.plot import stem_map_chart

        if self.scores.shape[1] < 2:
            raise InputError("A map needs two dimensions, and there is one; see `ends`.")
        return stem_map_chart(self.stems.tolist(), self.correlations[:, :2], self.texts, most=most)


def latent_scores(
    S: Any, estimator: Any, stems: Any = None, *, high: Sequence[str] = ()
) -> LatentScores:
    """Place texts along the dimensions that a method finds in their stem matrix.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (n, p)
        A stem matrix.
    estimator : estimator with ``fit_transform``
        Such as `PCA`, `FactorAnalysis`, `MDS` or `TSNE` of `bottega.latent`; it is not changed.
    stems : sequence of str, optional
        The names of the columns; ``0``, ``1``, ... by default.
    high : sequence of str
        Stems that belong to the high end of the first dimension. By default, and for the others,
        the stem of the largest correlation is at the high end: the sign is arbitrary.

    Returns
    -------
    LatentScores
        With `scores`, `correlations`, `ends` and `plot`.

    Notes
    -----
    What a dimension means is for the reader to tell, from the stems of its ends: the first one is
    often the length of texts or their subject, and not an opinion. A method that takes no sparse
    matrix gets all of it as an array.

    Examples
    --------
    >>> from bottega.latent import PCA
    >>> from bottega.text import StemMatrix
    >>> texts = ["good film", "good story good", "bad film", "bad music bad"]
    >>> matrix = StemMatrix().fit(texts)
    >>> names = matrix.get_feature_names_out()
    >>> found = latent_scores(matrix.transform(texts), PCA(1), names, high=["good"])
    >>> found.ends(most=1)
    (['bad'], ['good'])
    """
    table = S.tocsr() if is_sparse(S) else np.asarray(S, dtype=np.float64)
    names = np.array(
        [str(j) for j in range(table.shape[1])] if stems is None else list(stems), dtype=object
    )
    if len(names) != table.shape[1]:
        raise InputError(f"S has {table.shape[1]} columns and there are {len(names)} stems.")
    unknown = [each for each in high if each not in names]
    if unknown:
        raise InputError(f"high names the stem {unknown[0]!r}, which is no column of S.")
    model = clone(estimator)
    taken: Any = table.astype(np.float64)
    if is_sparse(taken) and not get_tags(model).input_tags.sparse:
        taken = taken.toarray()
    scores = np.asarray(model.fit_transform(taken), dtype=np.float64)
    scores = scores[:, None] if scores.ndim == 1 else scores
    found = _correlations(table, scores)
    strongest = np.argmax(np.abs(np.nan_to_num(found)), axis=0)
    sign = np.where(np.nan_to_num(found)[strongest, np.arange(found.shape[1])] < 0, -1.0, 1.0)
    if len(high):
        mean = np.nan_to_num(found[np.isin(names, list(high)), 0]).mean()
        sign[0] = -1.0 if mean < 0 else 1.0
    in_texts = np.asarray((table != 0).sum(axis=0)).ravel().astype(np.int64)
    return LatentScores(model, scores * sign, names, found * sign, in_texts)


def _correlations(S: Any, scores: FloatArray) -> FloatArray:
    """Return the correlations of the columns of S with the scores; S may be sparse."""
    n = S.shape[0]
    centred = scores - scores.mean(axis=0)
    product = np.asarray(S.T @ centred)
    square = S.multiply(S) if is_sparse(S) else S**2
    mean = np.asarray(S.sum(axis=0), dtype=np.float64).ravel() / n
    spread = np.asarray(square.sum(axis=0), dtype=np.float64).ravel() - n * mean**2
    size = np.sqrt(np.maximum(spread, 0.0))[:, None] * np.sqrt(np.sum(centred**2, axis=0))[None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 1e-12, product / size, np.nan)
