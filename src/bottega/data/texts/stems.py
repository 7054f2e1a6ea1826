"""The roots of words, each word stemmed once."""

from functools import cache
from threading import Lock

from bottega.core.errors import require

_MOST = 1 << 20  # words whose stems are remembered, some 100 MB at most


class StemCache(dict[str, str]):
    """The stems of words in one language: a word that is not there is stemmed and kept.

    The rules are those of Snowball (Porter 2001, "Snowball: a language for stemming algorithms").
    One object serves all fits of a process: the folds of a comparison share most of their words.
    snowballstemmer takes some 20 microseconds per word, and 1 where PyStemmer, which it uses by
    itself, is installed too.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stemmer = require("snowballstemmer", "text").stemmer(language)
        if hasattr(self._stemmer, "maxCacheSize"):  # PyStemmer need not remember what is kept here
            self._stemmer.maxCacheSize = 0
        self._lock = Lock()  # a stemmer holds the word that it works on

    def __missing__(self, word: str) -> str:
        with self._lock:
            stem = str(self._stemmer.stemWord(word))
            if len(self) >= _MOST:
                self.clear()
            self[word] = stem
        return stem


@cache
def stems_of(language: str) -> StemCache:
    """Return the stems of a language."""
    return StemCache(language)
