"""What exact growth works with, as named tuples of arrays and numbers.

A node is a segment [start, stop) of the row numbers `order[j]` in every column j, sorted by the
column with missing rows last; splitting a node partitions its segments and keeps them sorted.

n, p, K      rows, columns, classes (0: regression)
W, mu, d     weight and mean of a node; sum of w (z - mu) left of a boundary. A boundary gains
             W d^2 / (W_l W_r): the form without cancellation
W psi        weight times impurity, the unit of all gains here
side         child of the missing rows; -1: there are none in the node
"""

from typing import Any, NamedTuple

EXACT, UNIFORM, RANDOM = range(3)
ASTRAY = 2  # where the split sends a row that has no value in its column
EVERY_LEVEL = -1  # a child for each level


class Data(NamedTuple):
    """What is known of the rows."""

    X: Any  # a row per column of the data: one column alone has the layout of many
    order: Any
    has_missing: Any
    categorical: Any
    n_levels: Any
    monotone: Any
    barred: Any  # no split of these columns is made that gains nothing
    # w and w z: z is the centred response, or 1 for the second of two classes; only z, which then
    # takes half the memory, where all weights are one
    wz: Any
    w: Any
    code: Any
    n_classes: int
    xlogx: Any  # c log2 c of whole numbers c, when all weights are one; else empty


class Rules(NamedTuple):
    """How to grow."""

    criterion: int
    thresholds: int
    n_thresholds: int
    surrogate: bool
    n_surrogates: int
    multiway: int  # most groups of levels: two, more, or EVERY_LEVEL
    max_depth: int
    max_leaves: int
    min_split: int
    min_leaf: int
    min_weight: float  # least weight of a leaf
    min_gain: float  # in units of W psi
    min_impurity: float
    max_features: int
    seed: int


class Scratch(NamedTuple):
    """Scratch buffers of the search for a split."""

    left: Any  # (K,) counts
    right: Any
    gone: Any  # (K,) counts of the missing rows
    f_l: Any  # (K,) terms of sums over classes
    f_r: Any
    candidates: Any
    columns: Any
    random: Any


class Levels(NamedTuple):
    """Scratch buffers for the levels of a category in a node, with room for a missing one."""

    code: Any
    n: Any
    w: Any
    d: Any
    score: Any
    rank: Any
    counts: Any
    child: Any  # (all codes,) the child of each level that is in the node
