"""Texts along one dimension, by scores of words."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.estimator import Unweighted
from bottega.core.params import Boolean, Parameter
from bottega.core.rows import Rows
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray

__all__ = ["WordScores"]


class WordScores(Unweighted):
    r"""Place texts along one dimension, by the words of texts whose places are known.

    With :math:`F_{wr}` the share of word w among the words of reference text r, and :math:`A_r` its
    position, the score of a word is the mean position of the texts that it may come from,
    :math:`S_w = \sum_r A_r F_{wr} / \sum_r F_{wr}`, and that of a text the mean score of its words.

    Parameters
    ----------
    rescale : bool, default=False
        Whether positions are stretched so that the two extreme reference texts get their own
        positions back [2]_. Without it all texts lie nearer to the middle than the references,
        because most words are used by all of them.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        The score of each word; NaN for words that no reference text has.
    intercept_, slope_ : float
        Of the stretching: 0 and 1 without it.

    Notes
    -----
    The model has a closed form [1]_ and costs one pass over the entries of S, which should be
    counts. Words that no reference has are left out of a text, and a text without any other has no
    position (NaN, with a warning).

    Do not use it with references that differ in genre or date from the texts: differences in
    vocabulary of any cause count as distance. Positions of single short texts are very uncertain.

    References
    ----------
    .. [1] Laver, M., Benoit, K. and Garry, J. (2003). Extracting policy positions from political
       texts using words as data. American Political Science Review 97, 311-331.
    .. [2] Martin, L. W. and Vanberg, G. (2008). A robust transformation procedure for interpreting
       political text. Political Analysis 16, 93-100.

    Examples
    --------
    >>> S = [[8, 2, 0], [0, 2, 8]]
    >>> model = WordScores().fit(S, [-1.0, 1.0])
    >>> model.scores_.tolist(), model.predict([[1, 0, 3]]).tolist()
    ([-1.0, 0.0, 1.0], [0.5])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "rescale": Boolean(help="whether extreme reference texts get their own positions back"),
    }
    card: ClassVar[Card] = Card(
        method="word_scores",
        title="Word scores",
        task="text",
        strengths=(
            "A closed form: nothing to tune, nothing to converge.",
            "Scores of words can be read.",
        ),
        weaknesses=(
            "Words that all texts use pull every text to the middle.",
            "Knows nothing but words of the reference texts.",
        ),
        assumptions=(
            "The positions of the reference texts are known.",
            "Texts differ in words because they differ in position.",
        ),
        cost="entries of S",
        source="D220",
        takes=frozenset({"number"}),
        wide=True,
    )

    _least_rows: ClassVar[int] = 2

    def __init__(self, rescale: bool = False) -> None:
        self.rescale = rescale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        return tags

    def _prepare(self, rows: Rows) -> tuple[Any, FloatArray]:
        _refuse_negative(rows.X)
        position = np.asarray(rows.y, dtype=np.float64)
        share, words = _shares(rows.X)
        kept = np.flatnonzero(words > 0)
        if len(np.unique(position[kept])) < 2:
            raise InputError(
                "The reference texts that have words are all at one position; at least two "
                "positions are required."
            )
        return share[kept], position[kept]

    def _settle(self, work: tuple[Any, FloatArray], setting: Mapping[str, Any]) -> None:
        share, position = work
        total = np.asarray(share.sum(axis=0)).ravel()
        mean = np.asarray(share.T @ position).ravel()
        self.scores_ = np.where(total > 0, mean / np.where(total > 0, total, 1.0), np.nan)
        self.intercept_, self.slope_ = 0.0, 1.0
        if self.rescale:
            low, high = int(np.argmin(position)), int(np.argmax(position))
            raw, _ = self._raw(share[[low, high]])
            if raw[0] == raw[1]:
                raise InputError("Both extreme reference texts have the same score; no rescaling.")
            self.slope_ = float((position[high] - position[low]) / (raw[1] - raw[0]))
            self.intercept_ = float(position[low] - self.slope_ * raw[0])

    def _raw(self, S: Any) -> tuple[FloatArray, FloatArray]:
        """Return the mean score of the words of each text, and its standard error."""
        known = ~np.isnan(self.scores_)
        score = np.where(known, self.scores_, 0.0)
        words = np.asarray(S @ known.astype(np.float64)).ravel()
        count = np.where(words > 0, words, 1.0)
        mean = np.asarray(S @ score).ravel() / count
        square = np.asarray(S @ score**2).ravel() / count
        spread = np.maximum(square - mean**2, 0.0)
        empty = words <= 0
        return np.where(empty, np.nan, mean), np.where(empty, np.nan, np.sqrt(spread / count))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the position of each text.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, p)
            Counts of the same words.
        return_std : bool
            Whether to return the standard errors of the positions, too: of a mean of so many words.

        Returns
        -------
        ndarray of shape (m,), or two of them
            NaN for a text that has no word of the reference texts.
        """
        S = self._check_new(X)
        _refuse_negative(S)
        found, error = self._raw(S)
        lost = int(np.isnan(found).sum())
        if lost == len(found):
            raise InputError(
                "None of these texts has a word in common with the reference texts; were they "
                "cleaned in the same way?"
            )
        if lost:
            warn_caller(
                f"{lost:,} of {len(found):,} texts have no word in common with the reference "
                "texts, and no position (NaN).",
                DataWarning,
            )
        position = self.intercept_ + self.slope_ * found
        return (position, abs(self.slope_) * error) if return_std else position

    def words(self, stems: Any) -> Any:
        """Return the scores of words as a data frame, the lowest first; those without are left out.

        Parameters
        ----------
        stems : sequence of str
            The names of the columns.
        """
        names: Array = np.array(list(stems), dtype=object)
        if len(names) != len(self.scores_):
            raise InputError(f"There are {len(self.scores_)} words and {len(names)} names.")
        order = np.argsort(self.scores_, kind="stable")
        order = order[~np.isnan(self.scores_[order])]
        return self._make_frame({"stem": names[order], "score": self.scores_[order]})


def _shares(S: Any) -> tuple[Any, FloatArray]:
    """Return each count as a share of its text, and how many words each text has."""
    words = np.asarray(S.sum(axis=1), dtype=np.float64).ravel()
    inverse = 1.0 / np.where(words > 0, words, 1.0)
    if is_sparse(S):
        return S.tocsr().multiply(inverse[:, None]).tocsr(), words
    return S * inverse[:, None], words


def _refuse_negative(S: Any) -> None:
    entries = S.data if is_sparse(S) else S
    if entries.size and entries.min() < 0:
        raise InputError(
            "Negative values in data passed to WordScores: S holds counts of words, which are not "
            "below zero."
        )
