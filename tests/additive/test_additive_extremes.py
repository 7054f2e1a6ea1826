"""Additive models at the ends: too many coefficients, nothing to explain, the smallest numbers."""

import numpy as np
import pandas as pd
import pytest

from bottega.additive import AdditiveModel
from bottega.core.errors import BottegaError, DataWarning, InputError

ENGINES = ("penalized", "backfitting")


def _rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(80, 3))
    return X, np.sin(5 * X[:, 0]) + 0.1 * rng.normal(size=80)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_to_explain(engine: str) -> None:
    X, y = _rows()
    np.testing.assert_array_equal(AdditiveModel(engine=engine).fit(X, 0 * y).predict(X), 0)
    np.testing.assert_allclose(AdditiveModel(engine=engine).fit(0 * X, y).predict(X), y.mean())


@pytest.mark.parametrize("engine", ENGINES)
def test_inputs_among_the_smallest_numbers(engine: str) -> None:
    X, y = _rows()
    small = np.round(X) * 5e-324
    found = AdditiveModel(engine=engine).fit(small, y).predict(small)
    expected = AdditiveModel(engine=engine).fit(np.round(X), y).predict(np.round(X))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_models_that_do_not_fit_into_memory_are_refused() -> None:
    X, y = _rows()
    with pytest.raises(InputError, match="coefficients"):
        AdditiveModel("tensor(x0, x1, x2, n_splines=60)").fit(X, y)
    with pytest.raises(InputError, match="25,000,000 coefficients"):
        AdditiveModel("tensor(x0, x1, n_splines=5000)").fit(X, y)
    frame = pd.DataFrame({"shop": [f"s{i}" for i in range(10_001)], "x": np.arange(10_001.0)})
    with pytest.raises(InputError, match=r"random\(shop\).*10,00"):
        AdditiveModel("random(shop) + x").fit(frame, np.arange(10_001.0) % 7)


def test_a_number_of_many_digits() -> None:
    X, y = _rows()
    with pytest.raises(BottegaError, match="df"):
        AdditiveModel(f"smooth(x0, df={'9' * 6000})").fit(X, y)


def test_a_first_chunk_without_spread() -> None:
    X, y = _rows()
    small = 1e-9 * y
    chunks = AdditiveModel().fit_chunks([(X, 0 * small), (X, small)])
    whole = AdditiveModel().fit(np.vstack([X, X]), np.r_[0 * small, small])
    np.testing.assert_allclose(chunks.predict(X), whole.predict(X), atol=1e-15)


def test_a_wild_number_in_a_column_is_named() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(0, 10, 200)})
    frame.loc[7, "age"] = 1e12
    with pytest.warns(DataWarning, match="Column 'age' goes from .* to 1e\\+12, and nine tenths"):
        AdditiveModel().fit(frame, np.sin(frame["age"]))


@pytest.mark.parametrize("method", ["reml", "gcv"])
def test_a_wild_response_that_the_first_chunk_does_not_have(method: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=1_000)
    y[700] = 1e120
    whole = AdditiveModel(method=method).fit(X, y)
    parts = AdditiveModel(method=method).fit_chunks([(X[:500], y[:500]), (X[500:], y[500:])])
    # The response is standardised by all rows, or by the first chunk.
    expected = whole.predict(X)
    np.testing.assert_allclose(parts.predict(X), expected, atol=1e-9 * np.ptp(expected))


def test_responses_in_chunks_whose_squares_overflow_are_refused() -> None:
    X, y = np.random.default_rng(0).normal(size=(2, 500, 1))
    y[400] = 1e200
    chunks = [(X[:250], y[:250, 0]), (X[250:], y[250:, 0])]
    with pytest.raises(InputError, match="squares of these numbers overflow"):
        AdditiveModel().fit_chunks(chunks)
