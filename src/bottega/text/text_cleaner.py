"""Cleaning texts: what is taken out, and the roots of what is left."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.errors import ParameterError
from bottega.core.params import AnyOf, Anything, Boolean, Integer, OrNone, Parameter, Real, Text
from bottega.core.rows import Rows
from bottega.data.texts.cleaning import Cleaning, joined_marks
from bottega.data.texts.counts import beyond_limits, count_terms
from bottega.data.texts.language import check_language, find_language
from bottega.data.texts.numbering import Numbering, blocks_of
from bottega.data.texts.stop_words import STOP_WORDS
from bottega.data.texts.words import BREAK
from bottega.text._inputs.estimator import TextEstimator, texts_of

__all__ = ["TextCleaner"]


class TextCleaner(TransformerMixin, TextEstimator):
    """Take out of texts what says nothing about their subject, and reduce words to their roots.

    In this order: entities of HTML (``&amp;``) become the signs that they stand for; capitals
    become small; marks beside letters are joined to them; tags of HTML,
    addresses (URLs), names of accounts (``@name``) and idioms go; what is left is cut into words,
    so that special characters go; stop words, numbers and words of other alphabets go; words become
    stems; stems that are too rare or too frequent in `fit` go.

    Parameters
    ----------
    language : str or None, default="auto"
        Of the stop words and stems: ``"english"``, ``"italian"``, or another one that
        snowballstemmer knows. ``"auto"`` finds English and Italian by their commonest words, and
        leaves words of other languages as they are; None leaves all words as they are.
    stop_words : "auto", list of str or None, default="auto"
        Words to take out before they are stemmed. ``"auto"`` has lists for English and Italian,
        in which words that deny ("not", "non") are not: they matter to what a text says.
    idioms : list of str or dict of str to str, optional
        Phrases to take out, or what to put in their place (one word keeps a phrase together).
    lowercase : bool, default=True
        Whether capitals become small.
    emoji : bool, default=False
        Whether emoji are kept, each as a word.
    urls, mentions, markup, numbers, other_alphabets : bool, default=False
        Whether parts of addresses, names of accounts, parts of HTML tags, numbers, and words of
        alphabets other than the Latin one are kept; ``markup=True`` leaves entities of HTML as they
        are, too. Languages that are written otherwise (Russian,
        Greek, Arabic) need ``other_alphabets=True``.
    min_length : int, default=2
        Shorter words are taken out.
    min_df, max_df : int or float, default=1 and 1.0
        Stems in fewer texts, or in more, are taken out: a number of texts, or a share of them for a
        float. Both are learnt in `fit`.

    Attributes
    ----------
    language_ : str or None
        The language found, or given.
    cleaning_ : Cleaning
        All settings, for other methods to read texts by.
    rare_, frequent_ : list of str
        Stems that are too rare and too frequent.

    Notes
    -----
    Each distinct word is looked at once, so the cost goes with the length of the texts plus the
    number of distinct words. A fit looks at the first 1,000 texts for the language, and at all of
    them only where a threshold is given.

    Do not clean texts for a model that reads sentences; the order of words is lost on stems. Stems
    join words that are spelt alike and mean different things ("mean", "meaning").

    References
    ----------
    .. [1] Porter, M. F. (2001). Snowball: a language for stemming algorithms.
    .. [2] Ceron, A., Curini, L. and Iacus, S. M. (2016). Politics and Big Data. Routledge.

    Examples
    --------
    >>> texts = ["The tests were running @home: see https://example.org", "They run a test!"]
    >>> cleaner = TextCleaner().fit(texts)
    >>> cleaner.language_, cleaner.transform(texts)
    ('english', ['test run see', 'run test'])
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "language": OrNone(
            Text(), help="of stop words and stems; 'auto' finds English and Italian"
        ),
        "stop_words": Anything(help="words to take out: 'auto', a list, or None"),
        "idioms": Anything(help="phrases to take out, or a dict of what replaces them"),
        "lowercase": Boolean(help="whether capitals become small"),
        "emoji": Boolean(help="whether emoji are kept"),
        "urls": Boolean(help="whether parts of addresses are kept"),
        "mentions": Boolean(help="whether names of accounts are kept"),
        "markup": Boolean(help="whether parts of HTML tags are kept"),
        "numbers": Boolean(help="whether numbers are kept"),
        "other_alphabets": Boolean(help="whether words in other alphabets are kept"),
        "min_length": Integer(1, 20, help="shorter words are taken out"),
        "min_df": AnyOf(Integer(1), Real(0, 1), help="stems in fewer texts are taken out"),
        "max_df": AnyOf(Integer(1), Real(0, 1), help="stems in more texts are taken out"),
    }
    card: ClassVar[Card] = Card(
        method="text_cleaner",
        title="Text cleaner",
        task="text",
        strengths=(
            "Joins the forms of a word, so that few texts show more.",
            "Stems each distinct word once: fast on large corpora.",
        ),
        weaknesses=(
            "The order of words, and with it irony and denial, is lost.",
            "Stems may join words of different meaning.",
        ),
        assumptions=("The texts are in one language.",),
        cost="length of the texts",
        source="D214, D215, D216",
        takes=frozenset({"text", "missing"}),
    )

    def __init__(
        self,
        language: str | None = "auto",
        *,
        stop_words: Any = "auto",
        idioms: Any = None,
        lowercase: bool = True,
        emoji: bool = False,
        urls: bool = False,
        mentions: bool = False,
        markup: bool = False,
        numbers: bool = False,
        other_alphabets: bool = False,
        min_length: int = 2,
        min_df: float = 1,
        max_df: float = 1.0,
    ) -> None:
        self.language = language
        self.stop_words = stop_words
        self.idioms = idioms
        self.lowercase = lowercase
        self.emoji = emoji
        self.urls = urls
        self.mentions = mentions
        self.markup = markup
        self.numbers = numbers
        self.other_alphabets = other_alphabets
        self.min_length = min_length
        self.min_df = min_df
        self.max_df = max_df

    def _check_params(self) -> None:
        super()._check_params()
        check_language(self.language)

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        texts = work.X
        language = find_language(texts) if self.language == "auto" else self.language
        settings: dict[str, Any] = {
            "language": language,
            "stop_words": self._stop_words(language),
            "idioms": self._idioms(),
            "lowercase": self.lowercase,
            "emoji": self.emoji,
            "urls": self.urls,
            "mentions": self.mentions,
            "markup": self.markup,
            "numbers": self.numbers,
            "alphabets": self.other_alphabets,
            "min_length": self.min_length,
        }
        self.language_ = language
        self.rare_: list[str] = []
        self.frequent_: list[str] = []
        if self.min_df != 1 or self.max_df != 1.0 or isinstance(self.max_df, int):
            counts = count_terms(texts, Cleaning(**settings))
            rare, frequent = beyond_limits(counts, self.min_df, self.max_df)
            self.rare_ = sorted(counts.names[i] for i in np.flatnonzero(rare))
            self.frequent_ = sorted(counts.names[i] for i in np.flatnonzero(frequent))
        self.cleaning_ = Cleaning(**settings, terms_out=(*self.rare_, *self.frequent_))

    def _stop_words(self, language: str | None) -> tuple[str, ...]:
        given = self.stop_words
        if given is None:
            return ()
        if isinstance(given, str):
            if given != "auto":
                raise ParameterError(
                    f"TextCleaner: stop_words={given!r} is not allowed; give 'auto', a list of "
                    "words, or None."
                )
            return tuple(sorted(STOP_WORDS.get(language or "", ())))
        return tuple(sorted(joined_marks(str(word).lower()) for word in given))

    def _idioms(self) -> tuple[tuple[str, str], ...]:
        given = self.idioms
        if given is None:
            return ()
        if isinstance(given, str):
            raise ParameterError(
                f"TextCleaner: idioms={given!r} is one phrase; give a list of phrases, or a dict."
            )
        pairs = given.items() if isinstance(given, Mapping) else ((each, "") for each in given)
        found = [
            (" ".join(joined_marks(str(phrase).lower()).split()), self._written(by))
            for phrase, by in pairs
        ]
        if not all(phrase for phrase, _ in found):
            raise ParameterError("TextCleaner: one of the idioms is empty; leave it out.")
        return tuple(found)

    def _written(self, replacement: Any) -> str:
        text = joined_marks(str(replacement)).replace(BREAK, " ")
        return text.lower() if self.lowercase else text

    def transform(self, X: Any) -> list[str]:
        """Return the stems of each text, in their order, with a blank between any two.

        Parameters
        ----------
        X : iterable of str, data frame of one column, Corpus or source
            Texts.
        """
        return [" ".join(stems) for stems in self.stems(X)]

    def stems(self, X: Any) -> Iterator[list[str]]:
        """Yield the list of stems of each text."""
        check_is_fitted(self)
        for block in blocks_of(texts_of(X)):
            numbering = Numbering(self.cleaning_)
            row, term = numbering.read(block)
            starts = np.searchsorted(row, np.arange(len(block) + 1)).tolist()
            found = list(map(numbering.names.__getitem__, term.tolist()))
            for start, stop in pairwise(starts):
                yield found[start:stop]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the name of the one column of clean texts."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", ["text"])
        return np.array(list(names), dtype=object)
