"""The words of a long text, each distinct one numbered as it comes.

Words are found again by hashing (FNV-1a) with open addresses. A slot holds the hash of a word (31
bits) above its number (32 bits), -1 while it is empty; a word whose slot another one holds takes
the next that is empty. Words of one hash are told apart by their characters.
"""

import numpy as np

from bottega._jit import kernel

_START, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_HALF, _31_BITS = np.uint64(32), np.uint64(0x7FFFFFFF)
_NUMBER = 0xFFFFFFFF  # the bits of a slot that are one
_SLOTS = 1 << 12  # to begin with; at most half of them are taken


@kernel
def number_words(codes, of_word, least, end):
    """Return the text and the number of each word, and where each distinct word first stands.

    `codes` are the characters of texts, with `end` between any two; `of_word` says by code which
    are part of words. A word is a run of at least `least` of them that is not part of a longer one.
    """
    n = len(codes)
    most = (n + 1) // (least + 1)
    text, number = np.empty(most, np.int32), np.empty(most, np.int32)
    place = np.empty((most, 2), np.int64)
    slots = np.full(_SLOTS, -1)
    n_words = n_distinct = n_ended = start = 0
    while start < n:
        stop, hashed = start, _START
        while stop < n and of_word[codes[stop]]:
            hashed = (hashed ^ np.uint64(codes[stop])) * _PRIME
            stop += 1
        if stop - start >= least:
            short = np.int64((hashed ^ hashed >> _HALF) & _31_BITS)
            slot = short & (len(slots) - 1)
            known = -1
            while known < 0 and slots[slot] >= 0:
                if slots[slot] >> 32 == short:
                    known = slots[slot] & _NUMBER
                    i, j = start, place[known, 0]
                    if place[known, 1] - j != stop - start:
                        known = -1
                    while known >= 0 and i < stop:
                        if codes[i] != codes[j]:
                            known = -1
                        i, j = i + 1, j + 1
                slot = (slot + 1) & (len(slots) - 1)
            if known < 0:
                known = n_distinct
                slots[slot] = short << 32 | known
                place[known, 0], place[known, 1] = start, stop
                n_distinct += 1
                if 2 * n_distinct > len(slots):
                    slots = _more_slots(slots)
            text[n_words], number[n_words] = n_ended, known
            n_words += 1
        n_ended += stop < n and codes[stop] == end
        start = stop + 1
    return text[:n_words], number[:n_words], place[:n_distinct]


@kernel
def _more_slots(slots):
    more = np.full(4 * len(slots), -1)
    for held in slots:
        if held >= 0:
            slot = held >> 32 & (len(more) - 1)
            while more[slot] >= 0:
                slot = (slot + 1) & (len(more) - 1)
            more[slot] = held
    return more
