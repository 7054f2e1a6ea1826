"""Words and characters of joined texts, against the patterns that say what they are."""

import gc
import re
import sys
import unicodedata
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.data.texts import cleaning, words
from bottega.data.texts.cleaning import Cleaning, Scanner, joined_marks
from bottega.data.texts.numbering import Numbering
from bottega.data.texts.words import BREAK, characters_of, words_of

# Letters of which some change their number or their place as capitals become small, digits that are
# no decimals, blanks of all kinds, signs of which emoji are made, marks, and half a character.
SIGNS = (
    "aBz09_'-.\x00\t\n\x0b\x0c\r\x1c\x1e\x1f \x85\xa0\u2028\u2019\xe9\xc0\xdf\u0130\u0131\u017f"
    "\u03a3\u03c2\u0416\u05d0\u0627\u0e01\u4e2d\xb2\u0661\u2460\u2776\u2600\ufe0f\u200d\U0001f1ee"
    "\U0001f1f9\U0001f44d\U0001f3fd\u0300\u0316\u034f\u05b4\u064e\u0340\ufb1d\u1e9b\u0323\ud83d"
    "&;#<>@/:w\U0001d7d8"
)
ANY = st.one_of(st.sampled_from(SIGNS), st.characters(exclude_categories=()))
TEXTS = st.lists(st.text(ANY, max_size=40), min_size=1, max_size=5)


def by_pattern(pattern, whole):
    """Return the text and the word of each match, found by the pattern itself."""
    found, text = [], 0
    for token in pattern.findall(whole):
        if token == BREAK:
            text += 1
        else:
            found.append((text, token))
    return found


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.integers(1, 4), st.booleans(), st.booleans())
def test_words_are_those_of_the_pattern(texts, min_length, emoji, lowercase):
    scanner = Scanner(Cleaning(min_length=min_length, emoji=emoji, lowercase=lowercase))
    emojis = f"{cleaning._EMOJI}|" if emoji else ""
    pattern = re.compile(rf"{emojis}\w{{{min_length},}}|{BREAK}")
    text, number, distinct = scanner.words(texts)
    expected = by_pattern(pattern, scanner.joined(texts))
    assert [(i, distinct[k]) for i, k in zip(text, number, strict=True)] == expected
    assert distinct == list(dict.fromkeys(word for _, word in expected))


@settings(max_examples=200, deadline=None)
@given(st.text(ANY, max_size=60))
def test_marks_are_joined_in_any_text(text):
    text += text[-1:] * 40  # maybe a long run
    shorter = cleaning._LONG_RUN.sub(cleaning._without_marks, text)
    expected = cleaning._MARKS.sub("", unicodedata.normalize("NFC", shorter))
    assert joined_marks(text) == expected
    assert characters_of(text) == "".join(sorted(set(text)))


def test_every_character_of_unicode_is_known():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert "".join(map(chr, np.flatnonzero(words._of_words()))) == "".join(re.findall(r"\w", every))


# 31 bits of FNV-1a are equal; the words of the last two pairs begin alike, too.
@pytest.mark.parametrize("pair", ["gzwl hldt", "bafn icwl", "aohdrzo aoh", "hot hoteewe"])
def test_words_of_one_hash_are_told_apart(pair):
    one, other = pair.split()
    _, number, distinct = words_of(f"{one} {other} {one} {one}x {other}", 1)
    assert number.tolist() == [0, 1, 0, 2, 1]
    assert distinct == [one, other, f"{one}x"]


def test_distinct_words_may_be_many():
    names = [str(i) for i in range(300_000)]  # 300,000 of 2^31 hashes: some 20 are shared
    text, number, distinct = words_of(BREAK.join(names + names[::-1]), 1)
    assert distinct == names
    assert np.array_equal(text, np.arange(600_000))
    assert np.array_equal(number, np.r_[:300_000, 299_999:-1:-1])


@pytest.mark.parametrize("whole", ["", " ", "a", "a ", "!", BREAK, BREAK * 3])
def test_texts_without_a_word(whole):
    text, number, distinct = words_of(whole, 2)
    assert (len(text), len(number), distinct) == (0, 0, [])


def test_a_block_of_no_texts_has_no_terms():
    row, term = Numbering(Cleaning()).read([])
    assert (len(row), len(term)) == (0, 0)


def test_each_distinct_word_is_looked_at_once(monkeypatch):
    asked = []
    term = Scanner.term
    monkeypatch.setattr(Scanner, "term", lambda self, word: asked.append(word) or term(self, word))
    numbering = Numbering(Cleaning())
    for block in (["clean air", "clean water"], ["dirty air", "air"]):
        numbering.read(block)
    assert asked == ["clean", "air", "water", "dirty"]


def test_a_numbering_is_freed_as_soon_as_it_is_dropped():
    # A stream drops one per million terms; waiting for the garbage collector would add them up.
    numbering = Numbering(Cleaning("english"), (1, 2))
    numbering.read(["clean air"])
    dropped = weakref.ref(numbering)
    gc.disable()
    try:
        del numbering
        assert dropped() is None
    finally:
        gc.enable()
