"""The matrix of texts and stems."""

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import vstack
from sklearn.base import TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.errors import DataWarning, InputError, NotKept, ParameterError, warn_caller
from bottega.core.params import AnyOf, Anything, Boolean, Choice, Integer, OrNone, Parameter, Real
from bottega.core.rows import Rows
from bottega.data.texts.counts import (
    TermCounts,
    choose_terms,
    count_known,
    count_terms,
    inverse_frequencies,
    weigh,
)
from bottega.text._inputs.counted import CountedTexts
from bottega.text._inputs.estimator import TextEstimator, texts_of
from bottega.text.text_cleaner import TextCleaner

__all__ = ["StemMatrix"]


class StemMatrix(TransformerMixin, TextEstimator):
    r"""Turn texts into a sparse matrix with one row per text and one column per stem.

    Entries tell whether a text has a stem (``"binary"``), how often (``"counts"``), or how much of
    the text it is, stems of many texts counting less (``"tf-idf"``): counts times
    :math:`\log((1 + n) / (1 + n_s)) + 1`, where :math:`n_s` of n texts have the stem, each row
    divided by its length.

    Parameters
    ----------
    cleaner : TextCleaner, optional
        How words are found; by default ``TextCleaner()``.
    weighting : {"binary", "counts", "tf-idf"}, default="binary"
        What the entries are.
    ngram_range : tuple of (int, int), default=(1, 1)
        The fewest and the most stems of a column: (1, 2) adds pairs of neighbours, (1, 3) triples.
    min_df, max_df : int or float, default=1 and 1.0
        Columns in fewer texts, or in more, are left out: a number of texts, or a share of them for
        a float. Larger `min_df` and smaller `max_df` leave out more.
    max_features : int, optional
        The most columns; the commonest are kept, the first by name among equals.
    vocabulary : list of str, optional
        The columns, in this order, instead of those found.
    n_features : int, optional
        Hash stems to so many columns, without a vocabulary: memory stays bounded whatever comes,
        and columns have no names. Stems may share a column; more columns make that rarer.
    norm : {"l2", "l1", None}, default="l2"
        Of the rows, with ``"tf-idf"``.
    smooth_idf : bool, default=True
        Whether a further text that has every stem is imagined, with ``"tf-idf"``.
    sublinear_tf : bool, default=False
        Whether counts become 1 + log(count), with ``"tf-idf"``.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of each stem; empty with `n_features`.
    cleaner_ : TextCleaner
        The cleaner, fitted.
    n_texts_, n_empty_ : int
        Texts seen, and those without any stem: their rows are zero.
    texts_, times_ : ndarray of int
        In how many texts each column is, and how often it occurs in all.
    idf_ : ndarray
        What counts are multiplied with; only with ``"tf-idf"``.

    Notes
    -----
    A fit and a transformation each take one pass over the texts, `fit_transform` one in all. The
    cost goes with the number of words, and stems are found once per distinct word. On the same
    words the matrix equals those of scikit-learn's ``CountVectorizer``, ``TfidfTransformer`` and
    ``HashingVectorizer`` (with ``alternate_sign=False``).

    A `Corpus` that is a stream, and a source (`bottega.scale.source`), are read block by block;
    `transform_blocks` gives their rows so, and only one block is in memory. The vocabulary of a fit
    is, unless stems are hashed.

    Do not use it where the order of words decides.

    References
    ----------
    .. [1] Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information
       Retrieval. Cambridge University Press. Chapter 6.
    .. [2] Weinberger, K. et al. (2009). Feature hashing for large scale multitask learning. ICML.

    Examples
    --------
    >>> texts = ["Clean air and clean water", "The water is not clean"]
    >>> stems = StemMatrix(weighting="counts").fit(texts)
    >>> stems.get_feature_names_out().tolist()
    ['air', 'clean', 'not', 'water']
    >>> stems.transform(texts).toarray().tolist()
    [[1, 2, 0, 1], [0, 1, 1, 1]]
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "cleaner": Anything(help="how words are found: a TextCleaner"),
        "weighting": Choice("binary", "counts", "tf-idf", help="what the entries are"),
        "ngram_range": Anything(help="the fewest and the most stems of a column"),
        "min_df": AnyOf(Integer(1), Real(0, 1), help="columns in fewer texts are left out"),
        "max_df": AnyOf(Integer(1), Real(0, 1), help="columns in more texts are left out"),
        "max_features": OrNone(Integer(1), help="the most columns"),
        "vocabulary": Anything(help="the columns, instead of those found"),
        "n_features": OrNone(Integer(1, 2**31 - 1), help="columns that stems are hashed to"),
        "norm": OrNone(Choice("l2", "l1"), help="of the rows, with tf-idf"),
        "smooth_idf": Boolean(help="whether a further text with every stem is imagined"),
        "sublinear_tf": Boolean(help="whether counts become 1 + log(count)"),
    }
    card: ClassVar[Card] = Card(
        method="stem_matrix",
        title="Stem matrix",
        task="text",
        strengths=(
            "Makes texts rows of a table, which every method takes.",
            "Columns have names that can be read.",
            "Reads corpora larger than memory.",
        ),
        weaknesses=(
            "Has many columns, most of them zero: methods must take wide or sparse tables.",
            "The order of words is lost, but for neighbours.",
        ),
        assumptions=("What a text says shows in which stems it has.",),
        cost="length of the texts",
        source="D216, D217, D218",
        takes=frozenset({"text", "missing"}),
    )

    def __init__(
        self,
        cleaner: TextCleaner | None = None,
        *,
        weighting: str = "binary",
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        vocabulary: Any = None,
        n_features: int | None = None,
        norm: str | None = "l2",
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        self.cleaner = cleaner
        self.weighting = weighting
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.n_features = n_features
        self.norm = norm
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def _check_params(self) -> None:
        super()._check_params()
        sizes = self.ngram_range
        pair = isinstance(sizes, tuple | list) and len(sizes) == 2
        if not (pair and all(isinstance(n, int) for n in sizes) and 1 <= sizes[0] <= sizes[1] <= 3):
            raise ParameterError(
                f"StemMatrix: ngram_range={sizes!r} is not allowed; ngram_range must be two whole "
                "numbers from 1 to 3, the smaller one first."
            )
        if self.cleaner is not None and not isinstance(self.cleaner, TextCleaner):
            raise ParameterError(
                f"StemMatrix: cleaner is of type {type(self.cleaner).__name__}; give a TextCleaner."
            )
        if self.vocabulary is not None and self.n_features is not None:
            raise ParameterError("StemMatrix: give vocabulary or n_features, not both.")

    def _prepare(self, rows: Rows) -> CountedTexts:
        """Learn the language, and count the terms of all texts."""
        counted = rows.X if isinstance(rows.X, CountedTexts) else CountedTexts(rows.X, keep=False)
        texts = counted.texts
        self.cleaner_ = clone(self.cleaner) if self.cleaner is not None else TextCleaner()
        self.cleaner_.fit(texts)
        cleaning = self.cleaner_.cleaning_
        if self.n_features is None and self.vocabulary is None:
            counted.counts = count_terms(texts, cleaning, self._sizes, keep=counted.keep)
            return counted
        known: Any = self._given_columns() if self.n_features is None else self.n_features
        width = known if isinstance(known, int) else len(known)
        total, in_texts = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
        n_texts = n_empty = 0
        blocks = []
        for found in count_known(texts, cleaning, self._sizes, known):
            total += np.bincount(found.indices, found.data, minlength=width).astype(np.int64)
            in_texts += np.bincount(found.indices, minlength=width)
            n_texts += found.shape[0]
            n_empty += int(np.sum(np.diff(found.indptr) == 0))
            if counted.keep:
                blocks.append(found)
        names = [] if isinstance(known, int) else list(known)
        matrix = vstack(blocks, format="csr") if blocks else None
        counted.counts = TermCounts(names, in_texts, total, n_texts, n_empty, matrix)
        return counted

    def _given_columns(self) -> dict[str, int]:
        names = [str(name) for name in self.vocabulary]
        if len(set(names)) < len(names) or not names:
            raise ParameterError(
                "StemMatrix: vocabulary must hold at least one stem, and none twice."
            )
        return {name: j for j, name in enumerate(names)}

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.ngram_range[0], self.ngram_range[1]

    def _settle(self, work: CountedTexts, setting: Mapping[str, Any]) -> None:
        counts = work.counts
        if not counts.n_texts:
            raise InputError("There are no texts; at least one is required.")
        if self.n_features is not None or self.vocabulary is not None:
            chosen = np.arange(len(counts.texts))
        else:
            chosen = choose_terms(counts, self.min_df, self.max_df, self.max_features)
        if not len(chosen) or not np.any(counts.texts):
            raise InputError(_nothing_left(counts))
        work.chosen = chosen
        self.vocabulary_ = {counts.names[i]: j for j, i in enumerate(chosen) if counts.names}
        self.n_texts_, self.n_empty_ = counts.n_texts, counts.n_empty
        self.texts_, self.times_ = counts.texts[chosen], counts.times[chosen]
        if self.weighting == "tf-idf":
            self._check_frequencies()
            self.idf_ = inverse_frequencies(self.texts_, self.n_texts_, smooth=self.smooth_idf)
        if self.n_empty_:
            warn_caller(
                f"{self.n_empty_:,} of {self.n_texts_:,} texts have no stem once they are clean; "
                "their rows are zero.",
                DataWarning,
            )

    def _check_frequencies(self) -> None:
        if not self.smooth_idf and np.any(self.texts_ == 0):
            raise InputError(
                f"{int(np.sum(self.texts_ == 0)):,} columns are in no text, and their inverse "
                "frequency is infinite; give smooth_idf=True."
            )

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the stems of texts and return their matrix, in one pass.

        Parameters
        ----------
        X : iterable of str, data frame of one column, Corpus or source
            Texts.
        y : None
            Not used.
        """
        counted = CountedTexts(texts_of(X, type(self).__name__), keep=True, given=X)
        self.fit(counted)
        found = counted.counts.matrix[:, counted.chosen]
        found.sort_indices()
        return self._weighted(found)

    def transform(self, X: Any) -> Any:
        """Return the matrix of texts; stems that `fit` has not seen are left out.

        Parameters
        ----------
        X : iterable of str, data frame of one column, Corpus or source
            Texts.

        Returns
        -------
        sparse matrix of shape (n, number of columns)
            In rows (CSR); whole numbers, but for ``"tf-idf"``.
        """
        blocks = list(self.transform_blocks(X))
        if not blocks:
            raise InputError("There are no texts; at least one is required.")
        return vstack(blocks, format="csr") if len(blocks) > 1 else blocks[0]

    def transform_blocks(self, X: Any) -> Iterator[Any]:
        """Yield the matrix of texts in blocks of rows, as many as `transform` holds together."""
        check_is_fitted(self)
        columns = self.vocabulary_ if self.n_features is None else self.n_features
        for found in count_known(texts_of(X), self.cleaner_.cleaning_, self._sizes, columns):
            yield self._weighted(found)

    def _weighted(self, counts: Any) -> Any:
        if self.weighting == "counts":
            return counts
        if self.weighting == "binary":
            counts.data.fill(1)
            return counts
        return weigh(counts, self.idf_, self.norm, sublinear=self.sublinear_tf)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the stem of each column."""
        check_is_fitted(self)
        self._refuse_hashed()
        return np.array(list(self.vocabulary_), dtype=object)

    def frequencies(self) -> Any:
        """Return the vocabulary as a data frame: stem, texts that have it, their share, times."""
        check_is_fitted(self)
        self._refuse_hashed()
        order = np.lexsort([np.arange(len(self.texts_)), -self.texts_])
        names = self.get_feature_names_out()
        columns = {
            "stem": names[order],
            "texts": self.texts_[order],
            "share": self.texts_[order] / self.n_texts_,
            "times": self.times_[order],
        }
        return self._make_frame(columns)

    def without(self, *stems: str) -> "StemMatrix":
        """Return the fitted matrix without the columns of these stems."""
        names = self.get_feature_names_out().tolist()
        unknown = [stem for stem in stems if stem not in self.vocabulary_]
        if unknown:
            raise InputError(f"There is no column {unknown[0]!r} to leave out.")
        kept = [j for j, name in enumerate(names) if name not in stems]
        if not kept:
            raise InputError("No column would be left.")
        found = copy(self)
        found.vocabulary_ = {names[j]: i for i, j in enumerate(kept)}
        for name in ("texts_", "times_", "idf_"):
            if hasattr(self, name):
                setattr(found, name, getattr(self, name)[kept])
        return found

    def _refuse_hashed(self) -> None:
        if self.n_features is not None:
            raise NotKept(
                "Stems were hashed (n_features is given), so columns have no names; leave "
                "n_features out to keep a vocabulary."
            )


def _nothing_left(counts: TermCounts) -> str:
    if counts.n_empty == counts.n_texts:
        return (
            f"None of the {counts.n_texts:,} texts has a word that is kept: they are empty, or "
            "hold stop words, numbers, signs and other alphabets; see TextCleaner's parameters."
        )
    return "No stem is left: all are in too few or too many texts; lower min_df or raise max_df."
