"""The characters and the words of a long text, each distinct one taken out of it once."""

from functools import cache

import numpy as np

from bottega.core.typing import Array, BoolArray, IntArray

# Stands between joined texts: a blank to every pattern, and no letter.
BREAK = "\x1e"

__all__ = ["BREAK", "characters_of", "words_of"]


def words_of(
    whole: str, least: int, *, by_blanks: bool = False
) -> tuple[IntArray, IntArray, list[str]]:
    r"""Return the text and the number of each word, in order, and the distinct words by number.

    Texts are joined by `BREAK`. A word is a run of at least `least` letters, digits and
    underscores (the pattern ``\w``), or, with `by_blanks`, of whatever stands between blanks.

    Examples
    --------
    >>> text, number, words = words_of(f"so be it{BREAK}so what", 2)
    >>> text.tolist(), number.tolist(), words
    ([0, 0, 0, 1, 1], [0, 1, 2, 0, 3], ['so', 'be', 'it', 'what'])
    """
    # Only texts need the kernel: a table of numbers is read without the compiler.
    from bottega.data._kernels.distinct_words import number_words

    of_word = _between_blanks() if by_blanks else _of_words()
    text, number, place = number_words(_codes(whole), of_word, least, ord(BREAK))
    starts, stops = place.T.tolist()
    return text, number, list(map(whole.__getitem__, map(slice, starts, stops)))


def characters_of(text: str) -> str:
    """Return the distinct characters of a text.

    Examples
    --------
    >>> characters_of("banana")
    'abn'
    """
    codes = _codes(text)
    stands = np.zeros(codes.max(initial=0) + 1, dtype=np.bool_)
    stands[codes] = True
    return "".join(map(chr, np.flatnonzero(stands).tolist()))


def _codes(text: str) -> Array:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


@cache
def _of_words() -> BoolArray:
    r"""Return for each character of Unicode whether it is one of ``\w``."""
    characters = np.arange(0x110000, dtype=np.uint32).view("U1")
    return np.strings.isalnum(characters) | (characters == "_")


@cache
def _between_blanks() -> BoolArray:
    found = np.ones(0x110000, dtype=np.bool_)
    found[[ord(" "), ord(BREAK)]] = False
    return found
