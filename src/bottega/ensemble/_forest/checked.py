"""Whether the packed trees of a forest that was read from a file can be walked."""

from typing import Any

import numpy as np

from bottega.core.loaded import insist, is_array
from bottega.core.typing import Array
from bottega.ensemble._forest.growth import BinnedRows
from bottega.ensemble._forest.packed import Forest
from bottega.ensemble._kernels.words import FEATURE, LEAF, LOW, SET
from bottega.tree._grow.bins import MAX_BINS, Bins


def check_forest(forest: Any, n_columns: int) -> None:
    """Raise unless rows of `n_columns` codes can walk every tree, and every walk ends in a leaf."""
    insist(isinstance(forest, Forest), "the trees of a forest")
    insist(is_array(forest.words, np.uint64, (None,)), "nodes of a forest")
    insist(is_array(forest.sets, np.uint64, (None, 4)), "sets of levels of a forest")
    insist(is_array(forest.values, np.float64, (None, None)), "values of leaves of a forest")
    nodes, sets, values = len(forest.words), len(forest.sets), len(forest.values)
    for start, end in (
        (forest.tree_start, nodes),
        (forest.set_start, sets),
        (forest.value_start, values),
    ):
        insist(is_array(start, np.int64, (len(forest.tree_start),)), "trees of a forest")
        insist(start[0] == 0 and start[-1] == end, "trees of a forest")
        insist(np.diff(start) >= 0, "trees of a forest")
    sizes = np.diff(forest.tree_start)
    insist(len(sizes) > 0 and np.all(sizes > 0), "trees of a forest")
    insist(is_array(forest.set_of, np.int32, (nodes if sets else None,)), "sets of levels")
    tree = np.repeat(np.arange(len(sizes)), sizes)
    number = np.arange(nodes) - forest.tree_start[tree]
    words = forest.words
    insist(_bits(words, FEATURE, 0xFFFFF) < n_columns, "a test on a column that is not there")
    leaf, on_set = _bits(words, LEAF, 1) == 1, _bits(words, SET, 1) == 1
    low = _bits(words, 0, LOW)
    # Children come after their parent: so every walk goes on, and comes to an end.
    insist((low > number)[~leaf] & (low + 1 < sizes[tree])[~leaf], "a child is no node")
    insist((low < np.diff(forest.value_start)[tree])[leaf], "a leaf has no value")
    insist(not np.any(on_set & leaf), "a leaf")
    if np.any(on_set):
        insist(sets > 0, "sets of levels of a forest")
        at, most = forest.set_of[on_set], np.diff(forest.set_start)[tree[on_set]]
        insist((at >= 0) & (at < most), "sets of levels of a forest")


def _bits(words: Array, shift: int, mask: int) -> Array:
    return ((words >> np.uint64(shift)) & np.uint64(mask)).astype(np.int64)


def check_bins(bins: Any, n_columns: int) -> None:
    """Raise unless values of `n_columns` columns can be looked up in the bins."""
    insist(isinstance(bins, Bins), "bins")
    insist(is_array(bins.n_bins, np.int64, (n_columns,)), "numbers of bins")
    insist((bins.n_bins >= 1) & (bins.n_bins <= MAX_BINS), "numbers of bins")
    insist(is_array(bins.categorical, np.bool_, (n_columns,)), "kinds of columns")
    for name in ("cuts", "low", "high"):
        insist(is_array(getattr(bins, name), np.float64, (n_columns, MAX_BINS)), f"{name} of bins")
    insist(is_array(bins.level_bin, np.uint8, (None,)), "bins of levels")
    start = bins.level_start
    insist(is_array(start, np.int64, (n_columns + 1,)), "bins of levels")
    insist(np.all(np.diff(start) >= 0) and start[0] == 0, "bins of levels")
    insist(start[-1] == len(bins.level_bin), "bins of levels")


def check_rows(rows: Any, n_columns: int, n_classes: int) -> None:
    """Raise unless trees can be grown on the rows again."""
    insist(isinstance(rows, BinnedRows), "training rows")
    check_bins(rows.bins, n_columns)
    insist(is_array(rows.codes, np.uint8, (None, n_columns)), "codes of training rows")
    insist(rows.codes.flags.c_contiguous and len(rows.codes) > 0, "codes of training rows")
    n = len(rows.codes)
    insist(is_array(rows.y, np.float64, (n,)), "training responses")
    insist(is_array(rows.weight, np.float64, (n,)), "weights of training rows")
    insist(is_array(rows.positions, np.int64, (None,)), "places of training rows")
    insist((rows.positions >= 0) & (rows.positions < n), "places of training rows")
    insist(rows.n_classes == n_classes, "the number of classes")
    for j, most in enumerate(rows.bins.n_bins.tolist()):
        column = rows.codes[:, j]
        insist((column < most) | (column == MAX_BINS), "codes of training rows")
    if n_classes:
        whole = (rows.y == np.floor(rows.y)) & (rows.y >= 0) & (rows.y < n_classes)
        insist(whole, "training responses")
