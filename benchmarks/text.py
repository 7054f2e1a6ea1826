"""Stem matrices against scikit-learn's vectorizers, and five million texts as a stream."""

from collections.abc import Iterator

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.measure import Result, extra_memory, in_turns
from bottega.data.texts.stems import stems_of
from bottega.text import StemMatrix, TextCleaner

ENDINGS = {
    "english": ["", "s", "ing", "ed", "ly", "ness", "ation", "ful", "er", "ers"],
    "italian": ["o", "i", "a", "are", "ato", "mente", "azione", "it\u00e0", "er\u00f2", "\u00ec"],
}


def run() -> Iterator[Result]:
    yield from short_texts(100_000, "english")
    yield from short_texts(100_000, "italian")
    yield streamed(5_000_000)


def texts_of(n, language="english", words=40_000, seed=0):
    """Return n texts of about 15 words: frequencies as in a language, eight forms of a root."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghilmnoprstuv"))
    roots = ["".join(rng.choice(letters, rng.integers(3, 8))) for _ in range(words // 8)]
    known = np.array(
        [root + end for root in roots for end in rng.permutation(ENDINGS[language])[:8]]
    )
    share = 1 / np.arange(1, len(known) + 1)
    lengths = rng.poisson(15, n) + 1
    drawn = known[rng.choice(len(known), size=lengths.sum(), p=share / share.sum())]
    return [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]


def short_texts(n, language) -> Iterator[Result]:
    """Clean, stem and count, every time from nothing: no stem is remembered."""
    import snowballstemmer

    texts = texts_of(n, language)
    stemmer = snowballstemmer.stemmer(language)
    plain = CountVectorizer()
    split = plain.build_tokenizer()
    stemming = CountVectorizer(tokenizer=lambda text: stemmer.stemWords(split(text)),
                               token_pattern=None)  # fmt: skip
    ours = StemMatrix(TextCleaner(language, stop_words=None, numbers=True), weighting="counts")

    def from_nothing():
        stems_of.cache_clear()
        return ours.fit_transform(texts)

    calls = {
        "ours": from_nothing,
        "plain": lambda: plain.fit_transform(texts),
        "stemming": lambda: stemming.fit_transform(texts),
    }
    medians = in_turns(calls, 5)
    found, expected = from_nothing(), stemming.fit_transform(texts)
    wrong = (found != expected).nnz
    accuracy = f"{wrong} of {expected.nnz:,} entries differ from the stemming peer's"
    engine = type(stemmer).__module__.split(".")[0]
    case = (
        f"stem matrix of {n:,} short {language.title()} texts, {found.shape[1]:,} stems ({engine})"
    )
    yield Result(case, "CountVectorizer with a stemming tokenizer",
                 medians["ours"], medians["stemming"], bar=3, accuracy=accuracy)  # fmt: skip
    yield Result(case, "CountVectorizer without stems", medians["ours"], medians["plain"],
                 bar=1, accuracy="the peer neither cleans nor stems")  # fmt: skip


_STREAM = """
from benchmarks.text import texts_of
from bottega.text import Corpus, StemMatrix, TextCleaner

texts = texts_of(20_000)


def stream(n):
    def passes():
        for start in range(0, n, len(texts)):
            yield [f"{text} new{start + i}" for i, text in enumerate(texts)], None

    corpus = Corpus._streamed(passes)
    matrix = StemMatrix(TextCleaner("english"), n_features=2**18, weighting="tf-idf").fit(corpus)
    assert sum(block.shape[0] for block in matrix.transform_blocks(corpus)) == n


stream(20_000)
"""


def streamed(n) -> Result:
    """Two passes over a stream in which every text has a word of its own."""
    extra = extra_memory(_STREAM, f"stream({n})", unit="2**20")
    return Result(
        f"hashed stems of {n:,} streamed texts, {n:,} distinct words and more",
        "a limit of 1 GB more memory than before",
        extra, 1024, bar=1, accuracy="every row came out", unit="MB", limit=True,
    )  # fmt: skip
