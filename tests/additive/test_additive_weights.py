"""Weights of any size: only their ratios count where the scale is estimated."""

import numpy as np
import pytest

from bottega.additive import (
    AdaptiveSplines,
    AdaptiveSplinesClassifier,
    AdditiveClassifier,
    AdditiveModel,
)
from bottega.core.errors import InputError
from bottega.core.rows import are_counts


def _rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(90, 2))
    mean = np.exp(np.sin(6 * X[:, 0]) + X[:, 1] ** 2)
    return X, mean * rng.gamma(2, 0.5, 90), rng.uniform(0.5, 1.5, 90)


@pytest.mark.parametrize("settings", [{}, {"link": "log"}, {"family": "gamma"}, {"method": "loo"}])
def test_units_of_weights_do_not_matter(settings: dict[str, str]) -> None:
    X, y, weight = _rows()
    expected = AdditiveModel(**settings).fit(X, y, sample_weight=weight)
    for unit in (1e-95, 1e-13, 2.0**-30, 1e95):  # so far up every number is whole, but no count
        found = AdditiveModel(**settings).fit(X, y, sample_weight=unit * weight)
        assert found.df_ == pytest.approx(expected.df_, rel=1e-6)
        np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-6)


def test_units_of_the_response_with_a_link() -> None:
    X, y, _ = _rows()
    expected = AdditiveModel(link="log").fit(X, y).predict(X)
    for unit in (1e-30, 1e30):
        found = AdditiveModel(link="log").fit(X, unit * y).predict(X)
        np.testing.assert_allclose(found / unit, expected, rtol=1e-3)  # where the steps end


def test_so_many_trials_are_refused() -> None:
    X, y, weight = _rows()
    with pytest.raises(InputError, match="counts trials"):
        AdditiveClassifier().fit(X, y > 1, sample_weight=1e20 * weight)


@pytest.mark.parametrize("unit", [1e-20, 0.7, 1e60])
def test_equal_weights_are_as_none_in_adaptive_splines(unit: float) -> None:
    X, y, _ = _rows()
    expected = AdaptiveSplines().fit(X, y).predict(X)
    found = AdaptiveSplines().fit(X, y, sample_weight=np.full(90, unit)).predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_class_of_next_to_no_weight_is_refused() -> None:
    X, y, _ = _rows()
    with pytest.raises(InputError, match="weights of one class"):
        AdaptiveSplinesClassifier(class_weight={False: 1e90}).fit(X, y > 1)


def test_whole_numbers_count_as_long_as_they_can_be_counted() -> None:
    assert are_counts(np.array([1.0, 3.0]))
    assert not are_counts(np.array([1.0, 0.5]))
    assert not are_counts(np.array([1.0, 1e17]))
