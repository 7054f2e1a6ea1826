"""A surface from values and slopes at the vertices of a k-d tree, blended inside its cells.

The box of the rows is cut at medians until no cell holds more than a given number of rows. Where
the corners of the cells carry a value and a gradient, cubic Hermite blending joins them: in one
dimension a cubic in each cell, in more the product of cubics. In two dimensions a cell may meet
smaller ones along an edge; there the edge follows their vertices too, and the cell is the blend of
its four edges (Gordon's transfinite interpolation), so that the surface has no cracks.

Everything is linear in the values and slopes, and only the weights are computed here.

References
----------
Cleveland, W. S. and Grosse, E. (1991). Computational methods for local regression. Statistics and
Computing 1, 47-62.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray

_MARGIN = 0.005  # of the range, on each side of the box


@stored
@dataclass(frozen=True)
class Cells:
    """The leaves of the tree."""

    vertices: FloatArray  # corners of the cells, each once: (V, p)
    # The tree, node by node from the root: which column is cut and where, the nodes on both sides.
    # In a leaf `cut_dim` is -1 and `below` is the number of the cell.
    cut_dim: IntArray
    cut_at: FloatArray
    below: IntArray
    above: IntArray
    # Vertices of each cell; bit c of a corner's number says whether it is the upper in column c.
    corners: IntArray

    def __len__(self) -> int:
        return len(self.corners)

    def box(self, cell: int) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper corner of a cell."""
        corners = self.corners[cell]
        return self.vertices[corners[0]], self.vertices[corners[-1]]

    def inside(self, Z: FloatArray) -> BoolArray:
        """Return which points lie in the box that the cells fill."""
        low, high = self.vertices.min(axis=0), self.vertices.max(axis=0)
        inside: BoolArray = np.all((low <= Z) & (high >= Z), axis=1)
        return inside

    def members(self, Z: FloatArray) -> list[IntArray]:
        """Return the positions of the points of Z in each cell (a point on a cut: below it)."""
        found: list[IntArray] = [np.empty(0, dtype=np.intp)] * len(self)
        pending = [(0, np.arange(len(Z)))]
        while pending:
            node, rows = pending.pop()
            if self.cut_dim[node] < 0:
                found[self.below[node]] = rows
                continue
            low = Z[rows, self.cut_dim[node]] <= self.cut_at[node]
            pending.append((int(self.below[node]), rows[low]))
            pending.append((int(self.above[node]), rows[~low]))
        return found

    def blend(self, cell: int, Z: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the vertices that make the surface at points of a cell, each once, and weights.

        The weights, (m, v, 1 + p), are of the value and of each slope of a vertex.
        """
        if self.vertices.shape[1] == 2:
            return self._blend_plane(cell, Z)
        corners = self.corners[cell]
        return corners, _corner_weights(Z, *self.box(cell))

    def _blend_plane(self, cell: int, Z: FloatArray) -> tuple[IntArray, FloatArray]:
        """Blend the four edges of a cell: both pairs of opposite edges, less the corners."""
        corners = self.corners[cell]
        low, high = self.box(cell)
        edges = {(c, side): self._on_edge(low, high, c, side) for c in (0, 1) for side in (0, 1)}
        if all(len(edge) == 2 for edge in edges.values()):  # then all three terms are equal
            return corners, _corner_weights(Z, low, high)
        ids = np.unique(np.concatenate([corners, *edges.values()]))
        weights = np.zeros((len(Z), len(ids), 3))
        weights[:, np.searchsorted(ids, corners)] -= _corner_weights(Z, low, high)
        for c in (0, 1):  # edges across column c, running along the other column
            along = 1 - c
            value, slope = _hermite(Z[:, c], low[c], high[c])
            for side in (0, 1):
                edge = edges[c, side]
                ends, share, tangent = self._segment(edge, along, Z[:, along])
                for end in (0, 1):
                    rows, where = np.arange(len(Z)), np.searchsorted(ids, ends[:, end])
                    weights[rows, where, 0] += value[side] * share[end]
                    weights[rows, where, 1 + along] += value[side] * tangent[end]
                    weights[rows, where, 1 + c] += slope[side] * share[end]
        return ids, weights

    def _on_edge(self, low: FloatArray, high: FloatArray, c: int, side: int) -> IntArray:
        """Return the vertices on an edge of a cell, in their order along it."""
        along = 1 - c
        V = self.vertices
        on = np.flatnonzero(
            (V[:, c] == (low, high)[side][c])
            & (V[:, along] >= low[along])
            & (V[:, along] <= high[along])
        )
        return on[np.argsort(V[on, along])]

    def _segment(
        self, edge: IntArray, along: int, z: FloatArray
    ) -> tuple[IntArray, tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Return the two vertices about each point of an edge, and their cubic weights."""
        t = self.vertices[edge, along]
        i = np.clip(np.searchsorted(t, z, side="left") - 1, 0, len(t) - 2)
        share, tangent = _hermite(z, t[i], t[i + 1])
        return np.column_stack([edge[i], edge[i + 1]]), share, tangent


def _hermite(
    z: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Return the weights of the values and of the slopes at both ends of a cubic."""
    width = high - low
    s = (z - low) / width
    r = 1 - s
    return (r * r * (1 + 2 * s), s * s * (1 + 2 * r)), (s * r * r * width, -s * s * r * width)


def _corner_weights(Z: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the weights of the product of cubics: (m, 2**p, 1 + p)."""
    p = Z.shape[1]
    parts = [_hermite(Z[:, c], low[c], high[c]) for c in range(p)]
    weights = np.empty((len(Z), 2**p, 1 + p))
    for corner, bits in enumerate(product((0, 1), repeat=p)):
        bits = bits[::-1]  # the first column is the lowest bit
        for f in range(1 + p):
            total = np.ones(len(Z))
            for c in range(p):
                total = total * parts[c][1 if f == c + 1 else 0][bits[c]]
            weights[:, corner, f] = total
    return weights


def build_cells(X: FloatArray, most: int) -> Cells:
    """Cut the box of the rows until no cell holds more than `most` of them.

    A cell is cut across the column where its rows spread most, at the lower median; among ties,
    at the nearest row that differs from the next one (upwards first). A cell without such a row
    is not cut.
    """
    p = X.shape[1]
    low, high = X.min(axis=0), X.max(axis=0)
    margin = _MARGIN * np.maximum(high - low, 1e-10 * np.maximum(abs(low), abs(high)) + 1e-30)
    numbers: dict[tuple[float, ...], int] = {}

    def corner_numbers(low: FloatArray, high: FloatArray) -> list[int]:
        ends = (low, high)
        return [
            numbers.setdefault(
                tuple(float(ends[bits[p - 1 - c]][c]) for c in range(p)), len(numbers)
            )
            for bits in product((0, 1), repeat=p)
        ]

    nodes: list[list[Any]] = []  # column and place of the cut, the nodes below and above
    corners: list[list[int]] = []
    pending = [(low - margin, high + margin, X, -1, 0)]
    for low, high, rows, parent, side in pending:  # grows while it is walked: breadth first
        node = len(nodes)
        if parent >= 0:
            nodes[parent][2 + side] = node
        cut = _cut(rows) if len(rows) > max(most, 1) else None
        if cut is None:
            nodes.append([-1, 0.0, len(corners), -1])
            corners.append(corner_numbers(low, high))
            continue
        c, t = cut
        nodes.append([c, t, -1, -1])
        middle_high, middle_low = high.copy(), low.copy()
        middle_high[c] = middle_low[c] = t
        lower = rows[:, c] <= t
        pending.append((low, middle_high, rows[lower], node, 0))
        pending.append((middle_low, high, rows[~lower], node, 1))
    vertices = np.array(list(numbers), dtype=np.float64).reshape(-1, p)
    dims, cuts, below, above = zip(*nodes, strict=True)
    whole = [np.array(each, dtype=np.intp) for each in (dims, below, above, corners)]
    return Cells(vertices, whole[0], np.array(cuts), *whole[1:])


def _cut(rows: FloatArray) -> tuple[int, float] | None:
    """Return the column and the value where a cell is cut, or None where nothing can be."""
    c = int(np.argmax(rows.max(axis=0) - rows.min(axis=0)))
    x = np.sort(rows[:, c])
    steps = np.flatnonzero(x[:-1] != x[1:])  # rows that differ from the next
    middle = (len(x) - 1) // 2
    # The search for a cut goes as far down as it can go up: it ends before a lone lowest row.
    steps = steps[steps >= 2 * middle + 2 - len(x)]
    if not len(steps):
        return None
    distance = np.abs(steps - middle) - 0.5 * (steps > middle)  # upwards first
    return c, float(x[steps[np.argmin(distance)]])
