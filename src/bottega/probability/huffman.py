"""Huffman's code: the prefix code with the fewest bits per symbol."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from bottega.core.entropy import as_distribution, entropy
from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.stored import stored
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray

__all__ = ["PrefixCode", "huffman"]


@stored
@dataclass(frozen=True, repr=False)
class PrefixCode(Shown):
    """A code in which no word is the beginning of another, so that no separators are needed.

    Attributes
    ----------
    words : dict of symbol to str
        Word of each symbol, of the characters 0 and 1.
    shares : dict of symbol to float
        Probability of each symbol.
    """

    words: dict[Hashable, str]
    shares: dict[Hashable, float]

    @property
    def mean_length(self) -> float:
        """Expected bits per symbol."""
        return float(sum(self.shares[symbol] * len(word) for symbol, word in self.words.items()))

    @property
    def entropy(self) -> float:
        """The bits per symbol that no code can go below; Huffman's is at most one above it."""
        return float(entropy(list(self.shares.values())))

    def encode(self, symbols: Iterable[Hashable]) -> str:
        """Return the words of symbols, one after the other."""
        found = []
        for symbol in symbols:
            if symbol not in self.words:
                known = ", ".join(map(repr, list(self.words)[:10]))
                raise InputError(f"{symbol!r} has no word in this code; it has {known}.")
            found.append(self.words[symbol])
        return "".join(found)

    def decode(self, bits: str) -> list[Hashable]:
        """Return the symbols whose words follow one another in `bits`."""
        if not isinstance(bits, str):
            raise InputError(f"bits has to be a text of 0 and 1; got {type(bits).__name__}.")
        symbols = {word: symbol for symbol, word in self.words.items()}
        longest = max(map(len, symbols))
        found, start = [], 0
        for stop in range(1, len(bits) + 1):
            word = bits[start:stop]
            if word in symbols:
                found.append(symbols[word])
                start = stop
            elif len(word) >= longest:
                raise InputError(f"No word of this code begins at bit {start}: {word!r}.")
        if start < len(bits):
            raise InputError(
                f"The bits end within a word: {bits[start:]!r} is left over from bit {start} on."
            )
        return found

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per symbol: ``symbol, probability, word, length, optimal_length``.

        The optimal length is log2(1 / probability), rarely a whole number.
        """
        return make_frame(
            {
                "symbol": list(self.words),
                "probability": np.array(list(self.shares.values())),
                "word": list(self.words.values()),
                "length": np.array([len(word) for word in self.words.values()]),
                "optimal_length": self._optimal(),
            },
            like,
        )

    def _optimal(self) -> FloatArray:
        with np.errstate(divide="ignore"):
            return -np.log2(np.array(list(self.shares.values()))) + 0.0  # no -0

    def summary(self) -> Summary:
        """Return the code as a table that shows itself as text, HTML and Markdown."""
        columns: dict[str, list[Any]] = {
            "symbol": [str(symbol) for symbol in self.words],
            "probability": list(self.shares.values()),
            "word": list(self.words.values()),
            "length": [len(word) for word in self.words.values()],
        }
        note = f"{self.mean_length:.4g} bits per symbol; entropy {self.entropy:.4g} bits."
        return Summary(
            f"Prefix code of {len(self.words):,} symbols", (Section("", columns),), (note,)
        )

    def plot(self) -> Any:
        """Draw the length of each word beside the length that would be optimal.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import dots_chart

        lengths = [len(word) for word in self.words.values()]
        names = [
            f"{symbol} ({share:.3g}): {word}"
            for (symbol, word), share in zip(self.words.items(), self.shares.values(), strict=True)
        ]
        return dots_chart(
            names,
            {"length of the word": lengths, "log2(1 / probability)": self._optimal()},
            x_title="bits",
            rings=("log2(1 / probability)",),
            title="Prefix code",
            subtitle=f"{self.mean_length:.4g} bits per symbol; no code goes below the entropy, "
            f"{self.entropy:.4g}.",
        )


def huffman(shares: Any) -> PrefixCode:
    r"""Return the prefix code with the fewest bits per symbol.

    The two rarest symbols are merged into one until a single one is left (Huffman's algorithm);
    a symbol's word has as many bits as it took part in merges. The mean length L obeys
    :math:`H \le L \le H + 1`, and is H if all probabilities are powers of 1/2.

    Parameters
    ----------
    shares : mapping of symbol to number, or array-like of numbers
        Probabilities or counts; an array is about the symbols 0, 1, ...

    Returns
    -------
    PrefixCode
        The words, with `encode`, `decode`, `mean_length` and `entropy`.

    Notes
    -----
    Of equal weights the one that stands first is merged first, symbols before merged ones, which
    keeps the longest word short; the words are those of the canonical code: shorter ones first, of
    equal length in the order of the symbols. The cost is K log K for K symbols. To code single
    symbols costs up to one bit each more than the entropy: code blocks of them where that matters.

    References
    ----------
    .. [1] Huffman, D. (1952). A method for the construction of minimum-redundancy codes.
       Proceedings of the IRE 40, 1098-1101.

    Examples
    --------
    >>> code = huffman({"dog": 0.5, "cat": 0.25, "fish": 0.125, "bird": 0.125})
    >>> code.words
    {'dog': '0', 'cat': '10', 'fish': '110', 'bird': '111'}
    >>> code.mean_length, code.entropy
    (1.75, 1.75)
    >>> code.encode(["cat", "dog", "bird"]), code.decode("100111")
    ('100111', ['cat', 'dog', 'bird'])
    """
    given = shares if isinstance(shares, Mapping) else dict(enumerate(np.ravel(shares).tolist()))
    symbols = list(given)
    try:
        p = as_distribution(list(given.values()), "shares")
    except (TypeError, ValueError):
        raise InputError(
            f"shares must be numbers that are not negative and not all zero; got {shares!r}."
        ) from None
    lengths = _lengths(p.tolist())
    words: dict[Hashable, str] = {}
    code, before = 0, 0
    for i in sorted(range(len(symbols)), key=lambda i: (lengths[i], i)):
        code <<= lengths[i] - before
        before = lengths[i]
        words[symbols[i]] = format(code, f"0{before}b")
        code += 1
    return PrefixCode(
        words={symbol: words[symbol] for symbol in symbols},
        shares=dict(zip(symbols, p.tolist(), strict=True)),
    )


def _lengths(weights: list[float]) -> list[int]:
    """Return the length of each word: the depth of its leaf."""
    count = len(weights)
    if count == 1:
        return [1]  # a word of no bits could not be counted
    heap = [(weight, i) for i, weight in enumerate(weights)]
    heapify(heap)
    above = [0] * (2 * count - 1)
    for merged in range(count, 2 * count - 1):
        (first, i), (second, j) = heappop(heap), heappop(heap)
        above[i] = above[j] = merged
        heappush(heap, (first + second, merged))
    depth = [0] * (2 * count - 1)
    for node in range(2 * count - 3, -1, -1):
        depth[node] = depth[above[node]] + 1
    return depth[:count]
