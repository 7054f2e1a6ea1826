"""Cells and blending of the interpolated surface."""

import subprocess
import sys

import numpy as np
import pytest

from bottega.smooth import Loess
from bottega.smooth._loess.cells import build_cells


def scattered(n=300, p=2, seed=0):
    return np.random.default_rng(seed).exponential(size=(n, p))


def surface(cells, values, cell, Z):
    ids, weights = cells.blend(cell, Z)
    return np.einsum("mvf,vf->m", weights, values[ids])


@pytest.mark.parametrize("p", [1, 2, 3])
def test_cells_share_the_rows_and_are_small(p):
    X = scattered(p=p)
    cells = build_cells(X, 20)
    members = cells.members(X)
    assert sorted(np.concatenate(members)) == list(range(len(X)))
    assert max(len(rows) for rows in members) <= 20
    for cell, rows in enumerate(members):
        low, high = cells.box(cell)
        assert np.all((low <= X[rows]) & (high >= X[rows]))
    assert len(np.unique(cells.vertices, axis=0)) == len(cells.vertices)
    assert np.all(cells.inside(X))
    assert not cells.inside(X + 100).any()


def test_ties_are_not_cut_apart():
    x = np.repeat([1.0, 2.0, 3.0], [50, 3, 50])[:, None]
    cells = build_cells(x, 5)
    assert sorted(cells.cut_at[cells.cut_dim >= 0]) == [1.0, 2.0]


@pytest.mark.parametrize("p", [1, 2, 3])
def test_surface_has_the_values_and_slopes_of_its_vertices(p):
    cells = build_cells(scattered(p=p), 40)
    # Of a smooth function, so that a difference over a short step is its slope.
    V = cells.vertices
    values = np.column_stack([np.sin(V).sum(axis=1), np.cos(V)])
    for cell in range(len(cells)):
        corners = cells.corners[cell]
        low, high = cells.box(cell)
        V = cells.vertices[corners]
        assert surface(cells, values, cell, V) == pytest.approx(values[corners, 0], abs=1e-12)
        step = 1e-6 * (high - low) * np.where(low == V, 1, -1)  # into the cell
        for c in range(p):
            ahead = V.copy()
            ahead[:, c] += step[:, c]
            slope = (surface(cells, values, cell, ahead) - values[corners, 0]) / step[:, c]
            # A difference over a millionth of the cell: its own error is of that order.
            assert slope == pytest.approx(values[corners, 1 + c], abs=1e-3, rel=1e-3)


def test_cells_of_different_sizes_meet_without_a_crack():
    cells = build_cells(scattered(), 12)
    values = np.random.default_rng(1).normal(size=(len(cells.vertices), 3))
    met = hanging = 0
    for a in range(len(cells)):
        for b in range(len(cells)):
            low = np.maximum(cells.box(a)[0], cells.box(b)[0])
            high = np.minimum(cells.box(a)[1], cells.box(b)[1])
            if a < b and np.sum(high > low) == 1 and np.sum(high == low) == 1:
                edge = low + np.linspace(0, 1, 9)[:, None] * (high - low)
                here, there = (surface(cells, values, cell, edge) for cell in (a, b))
                assert here == pytest.approx(there, abs=1e-9)
                met += 1
                hanging += len(cells.blend(a, edge)[0]) > 4
    assert met > 20
    assert hanging > 5


def test_blending_is_close_to_the_direct_fit():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1000, 1))
    y = np.sin(12 * X[:, 0]) + 0.3 * rng.normal(size=1000)
    direct, blended = (Loess(0.2, surface=s).fit(X, y) for s in ("direct", "interpolate"))
    gap = np.abs(direct.predict(X) - blended.predict(X)).max()
    assert gap < 0.05  # a sixth of the noise
    fine = Loess(0.2, surface="interpolate", cell=0.02).fit(X, y)
    assert np.abs(direct.predict(X) - fine.predict(X)).max() < gap / 3


MILLION = """
import numpy as np
from bottega.smooth import Loess
rng = np.random.default_rng(0)
x = rng.uniform(size=1_000_000)
y = np.sin(12 * x) + 0.3 * rng.normal(size=len(x))
model = Loess(0.1).fit(x[:, None], y)
assert model.surface_ == "interpolate"
grid = np.linspace(0.01, 0.99, 50)
mean, std = model.predict(grid[:, None], return_std=True)
# What getrusage tells begins with the size of the process that started this one.
peak = open("/proc/self/status").read().split("VmHWM:")[1].split()[0]
print(np.abs(mean - np.sin(12 * grid)).max(), std.max(), model.df_, int(peak) / 2**20)
"""


@pytest.mark.slow
def test_a_million_rows_take_less_than_two_gigabytes():
    out = subprocess.run(
        [sys.executable, "-c", MILLION], capture_output=True, text=True, check=True
    ).stdout
    error, std, df, gigabytes = map(float, out.split())
    assert gigabytes < 2
    # Noise of 0.3 over a window's 100,000 rows; the bias of a span of 0.1 on this wave is 4e-3.
    assert std < 0.005
    assert error < 0.01
    assert 20 < df < 40
