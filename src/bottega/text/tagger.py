"""Tags by a dictionary of words."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import vstack
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.errors import ParameterError
from bottega.core.params import Anything, Parameter, Real
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.data.texts.counts import count_known
from bottega.data.texts.numbering import Numbering
from bottega.text._inputs.estimator import TextEstimator, texts_of
from bottega.text.text_cleaner import TextCleaner

__all__ = ["Tagger"]


class Tagger(TextEstimator):
    """Tag texts by an ontological dictionary: lists of the words of each tag, with weights.

    A text gets the tag with the largest sum of weights of its words, the first in sorted order
    among equals; without a word of any tag it gets `default`.

    Parameters
    ----------
    dictionary : dict of str to (list of str, or dict of str to float)
        The words of each tag, or their weights (1 for those of a list). Phrases of two or three
        words are found, too. Words are reduced to their stems like those of the texts.
    cleaner : TextCleaner, optional
        How words are found; by default ``TextCleaner()``.
    default : object, optional
        The tag of texts without any of the words; None by default.
    threshold : float, default=0.0
        Sums up to it count as none; larger values leave more texts without a tag.

    Attributes
    ----------
    classes_ : ndarray
        The tags, sorted.
    vocabulary_ : dict of str to int
        The stems of the words, by column.
    weights_ : ndarray of shape (stems, tags)
        Their weights.
    cleaner_ : TextCleaner
        The cleaner, fitted.

    Notes
    -----
    A fit learns the language of the texts and nothing else. Cost: one pass over the texts.

    A dictionary is made for a subject and a time: "unpredictable" is praise for a film and none for
    brakes. Denial and irony go unnoticed. Texts that people have read and tagged are better, if
    costly: compare the tags with some of those (`krippendorff_alpha`) before trusting them.

    References
    ----------
    .. [1] Ceron, A., Curini, L. and Iacus, S. M. (2016). Politics and Big Data. Routledge.

    Examples
    --------
    >>> words = {"for": ["clean", "healthy"], "against": {"pollution": 1.0, "waste": 0.5}}
    >>> texts = ["It keeps the air clean.", "It is polluting the air.", "I read about it."]
    >>> Tagger(words, default="neutral").fit(texts).predict(texts).tolist()
    ['for', 'against', 'neutral']
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "dictionary": Anything(help="the words of each tag, with or without weights"),
        "cleaner": Anything(help="how words are found: a TextCleaner"),
        "default": Anything(help="the tag of texts without any of the words"),
        "threshold": Real(0, None, help="sums of weights up to it count as none"),
    }
    card: ClassVar[Card] = Card(
        method="tagger",
        title="Dictionary tagger",
        task="text",
        strengths=(
            "Needs no text that anybody has read.",
            "Every tag can be traced to words.",
        ),
        weaknesses=(
            "As good as its dictionary, which is made for one subject and ages.",
            "Denial and irony go unnoticed.",
        ),
        assumptions=("The words of a tag mean it wherever they stand.",),
        cost="length of the texts",
        source="D219",
        takes=frozenset({"text", "missing"}),
    )

    def __init__(
        self,
        dictionary: Mapping[str, Any] | None = None,
        *,
        cleaner: TextCleaner | None = None,
        default: Any = None,
        threshold: float = 0.0,
    ) -> None:
        self.dictionary = dictionary
        self.cleaner = cleaner
        self.default = default
        self.threshold = threshold

    def _check_params(self) -> None:
        super()._check_params()
        given = self.dictionary
        if not isinstance(given, Mapping) or not given:
            raise ParameterError(
                "Tagger: dictionary must be a dict of the words of each tag, such as "
                "{'for': ['clean'], 'against': ['waste']}."
            )
        for tag, words in given.items():
            if isinstance(words, str) or not len(words):
                raise ParameterError(
                    f"Tagger: the tag {tag!r} has no list of words; give it at least one word, as "
                    "a list or as a dict of weights."
                )

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        assert self.dictionary is not None
        self.cleaner_ = clone(self.cleaner) if self.cleaner is not None else TextCleaner()
        self.cleaner_.fit(work.X)
        self.classes_: Array = np.array(sorted(self.dictionary), dtype=object)
        weights: dict[str, FloatArray] = {}
        for k, tag in enumerate(self.classes_):
            words = self.dictionary[tag]
            pairs = words.items() if isinstance(words, Mapping) else ((word, 1.0) for word in words)
            for word, weight in pairs:
                row = weights.setdefault(self._stem(word, tag), np.zeros(len(self.classes_)))
                row[k] = float(weight)
        self.vocabulary_ = {stem: j for j, stem in enumerate(sorted(weights))}
        self.weights_: FloatArray = np.array([weights[stem] for stem in self.vocabulary_])

    def _stem(self, word: str, tag: Any) -> str:
        numbering = Numbering(self.cleaner_.cleaning_)
        _, found = numbering.read([str(word)])
        if not 1 <= len(found) <= 3:
            raise ParameterError(
                f"Tagger: {word!r} of the tag {tag!r} has {len(found)} words once it is clean, and "
                "one to three are required; stop words, numbers and signs are taken out (see "
                "TextCleaner)."
            )
        return " ".join(numbering.names[i] for i in found)

    def scores(self, X: Any) -> FloatArray:
        """Return the sum of the weights of the words of each text, one column per tag."""
        check_is_fitted(self)
        blocks = list(count_known(texts_of(X), self.cleaner_.cleaning_, (1, 3), self.vocabulary_))
        if not blocks:
            return np.zeros((0, len(self.classes_)))
        return np.asarray(vstack(blocks) @ self.weights_)

    def predict(self, X: Any) -> Array:
        """Return the tag of each text.

        Parameters
        ----------
        X : iterable of str, data frame of one column, Corpus or source
            Texts.

        Returns
        -------
        ndarray of shape (n,)
            Tags; `default` where no word of any tag is found.
        """
        scores = self.scores(X)
        found = np.full(len(scores), self.default, dtype=object)
        some = scores.max(axis=1, initial=-np.inf) > self.threshold
        found[some] = self.classes_[np.argmax(scores[some], axis=1)]
        return found
