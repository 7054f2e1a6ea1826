"""Word scores of the table that Laver, Benoit and Garry (2003) print, in exact fractions.

Writes ``word_scores.json``. The article prints -0.45 for the new text; the further digits are those
that the tests of the R package austin have, and the fractions below must give them.
"""

import json
from fractions import Fraction
from math import sqrt
from pathlib import Path

COUNTS = [2, 3, 10, 22, 45, 78, 115, 146, 158, 146, 115, 78, 45, 22, 10, 3, 2]
FIRST = [0, 5, 10, 15, 20]  # each text has 17 words in a row of 37, from this one on
POSITIONS = [Fraction(-3, 2), Fraction(-3, 4), Fraction(0), Fraction(3, 4), Fraction(3, 2)]
NEW_FIRST = 7
PUBLISHED = (-0.4480591, 0.01189767)
N_WORDS = 37


def shares(first):
    """Return how much of a text each word is."""
    total = sum(COUNTS)
    found = [Fraction(0)] * N_WORDS
    for k, count in enumerate(COUNTS):
        found[first + k] = Fraction(count, total)
    return found


def main():
    texts = [shares(first) for first in FIRST]
    score = []
    for w in range(N_WORDS):
        column = [text[w] for text in texts]
        likely = [each / sum(column) for each in column]  # P(text | word)
        score.append(sum(p * a for p, a in zip(likely, POSITIONS, strict=True)))
    new = shares(NEW_FIRST)
    position = sum(f * s for f, s in zip(new, score, strict=True))
    spread = sum(f * (s - position) ** 2 for f, s in zip(new, score, strict=True))
    std_error = sqrt(spread) / sqrt(sum(COUNTS))
    found = (float(position), std_error)
    for ours, theirs in zip(found, PUBLISHED, strict=True):
        assert abs(ours / theirs - 1) < 1e-6, (ours, theirs)
    answer = {
        "source": "Laver, Benoit and Garry (2003), American Political Science Review 97, Table 1: "
        "37 words (A to ZK), five reference texts and one text to be scored (the article prints "
        "-0.45); by exact fractions, which agree with the tests of the R package austin",
        "counts": COUNTS,
        "first_word": FIRST,
        "positions": [float(each) for each in POSITIONS],
        "new_first_word": NEW_FIRST,
        "words": {str(w): float(score[w]) for w in (0, 5, 25, 36)},
        "new_position": found[0],
        "new_std_error": found[1],
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()
