"""A plane as a grid: what a model says there, regions of equal labels, and lines of equal value."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.core.typing import Array, FloatArray
from bottega.plot.theme import plain


def cell_middles(low: FloatArray, high: FloatArray, cells: int) -> FloatArray:
    """Return the middles of the cells of a grid, row by row from below."""
    middle = (np.arange(cells) + 0.5) / cells
    first, second = np.meshgrid(*(low[:, None] + (high - low)[:, None] * middle))
    return np.column_stack([first.ravel(), second.ravel()])


def on_grid(predict: Callable[[Any], Any], low: FloatArray, high: FloatArray, cells: int) -> Array:
    """Return the predictions at the middles of the cells of a grid, row by row from below."""
    return np.asarray(predict(cell_middles(low, high, cells))).reshape(cells, cells)


def rectangles(grid: Array, low: FloatArray, high: FloatArray) -> list[dict[str, Any]]:
    """Cover the grid by rectangles of one label: runs along a row, joined with those above."""
    cells = len(grid)
    at = [low[j] + (high[j] - low[j]) * np.arange(cells + 1) / cells for j in (0, 1)]
    open_runs: dict[tuple[int, int, str], int] = {}
    rows = []

    def close(run: tuple[int, int, str], bottom: int, top: int) -> None:
        rows.append(
            {
                "left": plain(at[0][run[0]]),
                "right": plain(at[0][run[1]]),
                "bottom": plain(at[1][bottom]),
                "top": plain(at[1][top]),
                "label": run[2],
            }
        )

    for i in range(cells):
        runs = set(_runs(grid[i]))
        for run in [run for run in open_runs if run not in runs]:
            close(run, open_runs.pop(run), i)
        for run in sorted(runs):
            open_runs.setdefault(run, i)
    for run, bottom in open_runs.items():
        close(run, bottom, cells)
    return rows


def _runs(labels: Array) -> list[tuple[int, int, str]]:
    """Return the stretches of equal labels of a row: start, stop, label."""
    cuts = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    starts, stops = [0, *cuts.tolist()], [*cuts.tolist(), len(labels)]
    return [(a, b, str(labels[a])) for a, b in zip(starts, stops, strict=True)]


def edges(grid: Array, low: FloatArray, high: FloatArray) -> list[dict[str, Any]]:
    """Return the boundary of a grid of labels as straight pieces, as long as they go."""
    cells = len(grid)
    at = [low[j] + (high[j] - low[j]) * np.arange(cells + 1) / cells for j in (0, 1)]
    rows = []
    for upright in (False, True):
        table = grid.T if upright else grid  # a piece lies between two rows of the table
        along, across = (at[1], at[0]) if upright else (at[0], at[1])
        for i, differs in enumerate(table[1:] != table[:-1], start=1):
            for a, b, word in _runs(differs):
                if word == "True":
                    start, stop = plain(along[a]), plain(along[b])
                    level = plain(across[i])
                    ends = (level, start, level, stop) if upright else (start, level, stop, level)
                    rows.append(dict(zip(("ax", "ay", "bx", "by"), ends, strict=True)))
    return rows


def contour(values: FloatArray, level: float, low: FloatArray, high: FloatArray) -> Any:
    """Return the line where values on a grid of cells have a level, as short straight pieces.

    Values stand at the middles of the cells; between four of them they are taken as linear along
    the sides (marching squares).
    """
    n = len(values)
    at = [low[j] + (high[j] - low[j]) * (np.arange(n) + 0.5) / n for j in (0, 1)]
    f = np.asarray(values, dtype=np.float64) - level
    f = np.where(f == 0, 1e-300, f)
    # The four sides of a square: lower, upper, left, right; each with its two corners.
    rows, columns = np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij")
    corners = {
        "lower": ((0, 0), (0, 1)),
        "upper": ((1, 0), (1, 1)),
        "left": ((0, 0), (1, 0)),
        "right": ((0, 1), (1, 1)),
    }
    points, crossed = [], []
    for (r0, c0), (r1, c1) in corners.values():
        first, second = f[rows + r0, columns + c0], f[rows + r1, columns + c1]
        crosses = first * second < 0
        gap = np.where(crosses, first - second, 1.0)
        share = np.where(crosses, first / gap, 0.0)
        x = at[0][columns + c0] + share * (at[0][columns + c1] - at[0][columns + c0])
        y = at[1][rows + r0] + share * (at[1][rows + r1] - at[1][rows + r0])
        points.append((x, y))
        crossed.append(crosses)
    pieces = []
    taken = np.stack(crossed)
    for i, j in zip(*np.nonzero(taken.any(axis=0)), strict=True):
        sides = np.flatnonzero(taken[:, i, j])
        # Four crossings are a saddle: two pieces, lower with left and upper with right.
        order = [0, 2, 1, 3] if len(sides) == 4 else sides.tolist()
        for a, b in zip(order[::2], order[1::2], strict=True):
            ends = (points[a][0][i, j], points[a][1][i, j], points[b][0][i, j], points[b][1][i, j])
            pieces.append(dict(zip(("ax", "ay", "bx", "by"), map(plain, ends), strict=True)))
    return pieces
