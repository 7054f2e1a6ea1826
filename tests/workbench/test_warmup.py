"""`bottega warmup` reaches kernels that a plain fit does not use."""

from importlib import import_module

from bottega.linear import RecursiveLeastSquares
from bottega.linear._decomposition import triangle


def test_the_kernel_of_a_stream_row_by_row(monkeypatch):
    rows = []

    def counted(R, X, *others):
        rows.append(len(X))
        return kernel(R, X, *others)

    kernel = triangle.absorb_rows
    monkeypatch.setattr(triangle, "absorb_rows", counted)
    warmup = import_module("bottega.workbench.warmup")
    monkeypatch.setattr(warmup, "estimators", lambda: (RecursiveLeastSquares,))
    assert warmup.warmup() > 0
    assert rows
    assert set(rows) == {24}
