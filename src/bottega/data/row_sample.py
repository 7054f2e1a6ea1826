"""A random sample of rows that come in chunks: one pass, each class with its share."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.deal import scramble
from bottega.data import convert
from bottega.data.convert import Frame

__all__ = ["sample_rows"]

_AT_HAND = 40  # rows of a class that are kept while reading, however rare it is
_SPARE = 2  # times as many rows are kept as wanted, so that every class has its share


def sample_rows(
    frames: Iterable[Frame],
    size: int,
    seed: int,
    target: str | None = None,
    counts: Counter[Any] | None = None,
) -> Any:
    """Return about `size` rows, drawn at random without replacement, in their order.

    Every row has a number that looks random, and those with the least are taken: which ones does
    not depend on the chunks. With a target of labels each class has its share of the rows, rounded
    up or down by chance: more of a rare class would make errors of these rows another quantity
    than those of all rows.

    Parameters
    ----------
    frames : iterable of frames
        The rows, in one pass.
    size : int
        Rows wanted; all where there are fewer.
    seed : int
        Another sample for another seed.
    target : str, optional
        The column whose classes keep their shares; None for none.
    counts : Counter, optional
        Takes in how many rows each class has.
    """
    kept: list[Frame] = []
    keys: list[np.ndarray] = []
    labels: list[np.ndarray] = []
    counts = Counter() if counts is None else counts
    start, bound = 0, np.uint64(np.iinfo(np.uint64).max)
    held = 0
    shift = scramble(np.array([seed], dtype=np.uint64))
    for frame in frames:
        numbers = np.arange(start, start + len(frame), dtype=np.uint64)
        start += len(frame)
        key = scramble(scramble(numbers) ^ shift)
        label = _labels(frame, target)
        before = {name: counts[name] for name in set(label.tolist())}
        counts.update(label.tolist())
        few = [name for name, seen in before.items() if seen < _AT_HAND]
        at = np.flatnonzero((key <= bound) | np.isin(label, few))
        kept.append(frame[at, :])
        keys.append(key[at])
        labels.append(label[at])
        held += len(at)
        if held > 2 * _SPARE * size + 2 * _AT_HAND * len(counts):
            kept, keys, labels, bound = _thinned(kept, keys, labels, _SPARE * size)
            held = len(keys[0])
    if not kept:
        return None
    key, label = np.concatenate(keys), np.concatenate(labels)
    rows = nw.concat(kept, how="vertical") if len(kept) > 1 else kept[0]
    if start > size:
        chosen = np.zeros(len(key), dtype=bool)
        names = sorted(counts)
        ends = np.cumsum([size * counts[name] for name in names]) / start
        wanted = np.diff(np.floor(ends + shift[0] / 2.0**64), prepend=0).astype(int)
        for name, share in zip(names, wanted, strict=True):
            members = np.flatnonzero(label == name)
            chosen[members[np.argsort(key[members])[:share]]] = True
        rows = rows[np.flatnonzero(chosen), :]
    return rows.to_native()


def _labels(frame: Frame, target: str | None) -> np.ndarray:
    if target is None:
        return np.zeros(len(frame), dtype=np.int8)
    return np.array([str(each) for each in convert.labels(frame[target])], dtype=object)


def _thinned(kept: Any, keys: Any, labels: Any, size: int) -> tuple[Any, Any, Any, Any]:
    """Return the rows with the least numbers, and of each class some in any case."""
    key, label = np.concatenate(keys), np.concatenate(labels)
    order = np.argsort(key)
    chosen = np.zeros(len(key), dtype=bool)
    chosen[order[:size]] = True
    for name in set(label.tolist()):
        members = np.flatnonzero(label == name)
        chosen[members[np.argsort(key[members])[:_AT_HAND]]] = True
    at = np.flatnonzero(chosen)
    rows = nw.concat(kept, how="vertical")[at, :]
    return [rows], [key[at]], [label[at]], key[order[min(size, len(key)) - 1]]
