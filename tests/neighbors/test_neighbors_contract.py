"""scikit-learn's own checks of an estimator, in full."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from bottega.neighbors import (
    NearestNeighborsClassifier,
    NearestNeighborsRegressor,
    ParzenClassifier,
)


@parametrize_with_checks(
    [
        NearestNeighborsClassifier(),
        NearestNeighborsClassifier(n_neighbors=3),
        NearestNeighborsRegressor(),
        NearestNeighborsRegressor(n_neighbors=3),
        ParzenClassifier(),
        ParzenClassifier(bandwidth=1.0),
    ]
)
def test_estimator_keeps_the_contract(estimator: Any, check: Any) -> None:
    check(estimator)
