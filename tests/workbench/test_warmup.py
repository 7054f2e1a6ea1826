"""`bottega warmup` reaches kernels that a plain fit does not use."""

from importlib import import_module

from bottega.core.errors import BottegaError
from bottega.data._kernels import distinct_words
from bottega.linear import RecursiveLeastSquares
from bottega.linear._decomposition import triangle
from bottega.text import StemMatrix


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


def test_the_kernel_of_texts(monkeypatch):
    calls = []

    def counted(codes, *others):
        calls.append(len(codes))
        return kernel(codes, *others)

    kernel = distinct_words.number_words
    monkeypatch.setattr(distinct_words, "number_words", counted)
    warmup = import_module("bottega.workbench.warmup")
    monkeypatch.setattr(warmup, "estimators", lambda: (StemMatrix,))
    assert warmup.warmup() > 0
    assert calls


def test_a_variant_that_finds_nothing_to_choose_does_not_end_it(monkeypatch):
    """The seeds of variants are drawn: any of them may meet rows that it has no model for."""
    fitted = []

    class Choosy(RecursiveLeastSquares):
        def fit(self, X, y, sample_weight=None):
            fitted.append(len(X))
            raise BottegaError("No setting of the path has a finite 'aic'.")

    warmup = import_module("bottega.workbench.warmup")
    monkeypatch.setattr(warmup, "estimators", lambda: (Choosy, RecursiveLeastSquares))
    assert warmup.warmup() > 0
    assert fitted
