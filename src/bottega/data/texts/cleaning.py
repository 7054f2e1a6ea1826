"""What is taken out of texts: first signs and phrases of whole texts, then single words."""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from bottega.core.stored import stored
from bottega.core.typing import IntArray
from bottega.data.texts.stems import stems_of
from bottega.data.texts.words import BREAK, characters_of, words_of

_TAG = re.compile(rf"<[/!?]?[a-zA-Z][^<>{BREAK}]*>")
_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_MENTION = re.compile(r"(?<!\w)@\w+")
# Marks of Latin, Hebrew and Arabic letters that no letter of Unicode includes.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
                    "\u064b-\u065f\u0670]+")  # fmt: skip
# A run of marks is put in order in quadratic time, and none of 31 is a word.
_LONG_RUN = re.compile(r"[^\x00-\x7f\w\s]{31,}")
_BLANKS = rf"[^\S{BREAK}]+"
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}|"  # a flag is two letters
    "[\u2600-\u27bf\u2b05-\u2b55\U0001f1e6-\U0001f1ff\U0001f300-\U0001f64f\U0001f680-\U0001f6ff"
    "\U0001f900-\U0001faff](?:[\ufe0f\U0001f3fb-\U0001f3ff]|\u200d[\u2600-\u27bf\U0001f300-\U0001faff])*"
)
_LATIN = re.compile(r"[0-9_a-zA-ZªºÀ-ÖØ-öø-ɏḀ-ỿ]+")
_NUMBER = re.compile(r"[\d_]+")


@stored
@dataclass(frozen=True)
class Cleaning:
    """How texts are cleaned; the parameters of `TextCleaner`, with the language settled.

    Attributes
    ----------
    language : str or None
        Of the stems; None leaves words as they are.
    stop_words : tuple of str
        Words that are taken out before they are stemmed.
    terms_out : tuple of str
        Stems that are taken out.
    idioms : tuple of (str, str)
        Phrases, in lower case, and what stands in their place.
    lowercase, markup, urls, mentions, emoji, numbers, alphabets : bool
        Whether capitals become small, and whether tags, addresses, names of accounts, emoji,
        numbers and words of other alphabets than the Latin one are kept. Entities of HTML are read
        as the signs that they stand for, unless tags are kept.
    min_length : int
        Shorter words are taken out.
    """

    language: str | None = None
    stop_words: tuple[str, ...] = ()
    terms_out: tuple[str, ...] = ()
    idioms: tuple[tuple[str, str], ...] = ()
    lowercase: bool = True
    markup: bool = False
    urls: bool = False
    mentions: bool = False
    emoji: bool = False
    numbers: bool = False
    alphabets: bool = False
    min_length: int = 2


def joined_marks(text: str) -> str:
    """Return a text with marks joined to their letters, and without those that cannot be.

    Examples
    --------
    >>> joined_marks("perche\u0301") == "perch\u00e9"
    True
    """
    if text.isascii():
        return text
    # Most texts have no marks, and their characters tell so much sooner than a pattern does.
    signs = characters_of(text)
    if any(map(unicodedata.combining, signs)):
        text = _LONG_RUN.sub(_without_marks, text)
    joined = unicodedata.normalize("NFC", text)
    if joined != text:
        signs = characters_of(joined)
    return _MARKS.sub("", joined) if _MARKS.search(signs) else joined


def _without_marks(run: re.Match[str]) -> str:
    return "".join(sign for sign in run[0] if not unicodedata.combining(sign))


class Scanner:
    """Finds the words of texts, as a `Cleaning` says."""

    def __init__(self, cleaning: Cleaning) -> None:
        self.cleaning = cleaning
        self._stopped = frozenset(cleaning.stop_words)
        self._terms_out = frozenset(cleaning.terms_out)
        longest_first = sorted(cleaning.idioms, key=lambda pair: len(pair[0]), reverse=True)
        self._replacements = [by for _, by in longest_first]
        # The shortest form is the quickest one: a pattern is tried at every place of every text.
        word = r"\w" * (cleaning.min_length - 1) + r"\w+"
        self._signs = re.compile(f"{_EMOJI}|{word}|{BREAK}")
        words = (_BLANKS.join(map(re.escape, phrase.split())) for phrase, _ in longest_first)
        phrases = "|".join(f"({each})" for each in words)
        self._idiom = re.compile(rf"(?<!\w)(?:{phrases})(?!\w)", re.IGNORECASE)

    def words(self, texts: Sequence[str]) -> tuple[IntArray, IntArray, list[str]]:
        """Return the text and the number of each word, and the distinct words by number."""
        whole = self.joined(texts)
        if self.cleaning.emoji:  # what is one emoji takes a pattern to tell
            return words_of(" ".join(self._signs.findall(whole)), 1, by_blanks=True)
        return words_of(whole, self.cleaning.min_length)

    def joined(self, texts: Sequence[str]) -> str:
        """Return the texts as one, a `BREAK` between any two, without what patterns take out."""
        asked = self.cleaning
        whole = BREAK.join(texts)
        if whole.count(BREAK) >= max(len(texts), 1):  # some text has the sign in it
            whole = BREAK.join([text.replace(BREAK, " ") for text in texts])
        if not asked.markup and "&" in whole:
            whole = html.unescape(whole)
        if asked.lowercase:
            whole = whole.lower()
        whole = joined_marks(whole)
        # Looking for a sign costs next to nothing beside trying a pattern at every place.
        if not asked.markup and "<" in whole:
            whole = _TAG.sub(" ", whole)
        if not asked.urls and ("://" in whole or "www." in whole):
            whole = _URL.sub(" ", whole)
        if not asked.mentions and "@" in whole:
            whole = _MENTION.sub(" ", whole)
        return self._idiom.sub(self._replaced, whole) if self._replacements else whole

    def _replaced(self, found: re.Match[str]) -> str:
        return f" {self._replacements[(found.lastindex or 1) - 1]} "

    def term(self, token: str) -> str | None:
        """Return what a word counts as; None for one that is taken out."""
        asked = self.cleaning
        plain = token if asked.lowercase else token.lower()
        if plain in self._stopped or (not asked.numbers and _NUMBER.fullmatch(token)):
            return None
        if not token[0].isalnum() and token[0] != "_":  # an emoji: there is no stem of it
            return token
        if not asked.alphabets and not _LATIN.fullmatch(token):
            return None
        found = token if asked.language is None else stems_of(asked.language)[token]
        return None if found in self._terms_out or not found else found
