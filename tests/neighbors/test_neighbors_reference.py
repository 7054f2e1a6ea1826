"""Values computed in R (tests/reference/neighbors/knn.R)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bottega.neighbors import (
    NearestNeighborsClassifier,
    NearestNeighborsRegressor,
    ParzenClassifier,
)

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "neighbors" / "knn.json").read_text()
)
# R wrote the numbers with 15 to 17 digits, and both sides only add up a few dozen terms.
TOLERANCE = 1e-12


def comparable(answer: dict[str, Any]) -> np.ndarray:
    """Rows without equal votes, which R breaks at random."""
    return np.abs(np.asarray(answer["prob"]) - 0.5) > 1e-9


@pytest.mark.parametrize("kind", ["smooth", "grid"])
@pytest.mark.parametrize("at", range(4))
def test_votes_are_those_of_class_knn(kind: str, at: int) -> None:
    data = REFERENCE[kind]
    answer = data["knn"][at]
    model = NearestNeighborsClassifier(n_neighbors=answer["k"]).fit(data["train"], data["labels"])
    shares = model.predict_proba(data["new"])
    np.testing.assert_allclose(shares.max(axis=1), answer["prob"], rtol=TOLERANCE)
    kept = comparable(answer)
    assert kept.sum() >= 20
    np.testing.assert_array_equal(
        model.predict(data["new"])[kept], np.asarray(answer["label"])[kept]
    )


@pytest.mark.parametrize("kind", ["smooth", "grid"])
@pytest.mark.parametrize("at", range(4))
def test_leave_one_out_is_that_of_class_knn_cv(kind: str, at: int) -> None:
    data = REFERENCE[kind]
    answer = data["knn_cv"][at]
    X, y = np.asarray(data["train"]), np.asarray(data["labels"])
    ours = np.empty_like(y)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = NearestNeighborsClassifier(n_neighbors=answer["k"]).fit(X[rest], y[rest])
        ours[i] = model.predict(X[i : i + 1])[0]
    kept = comparable(answer)
    np.testing.assert_array_equal(ours[kept], np.asarray(answer["label"])[kept])
    # The path is the same thing without refitting.
    path = NearestNeighborsClassifier().path(X, y, values=[answer["k"]])
    assert path.error[0] == pytest.approx(np.mean(ours != y), abs=1e-15)


def test_regression_leave_one_out() -> None:
    answer = REFERENCE["regression"]
    path = NearestNeighborsRegressor().path(
        REFERENCE["smooth"]["train"], answer["response"], values=answer["k"]
    )
    assert path.values.tolist() == answer["k"][::-1]
    np.testing.assert_allclose(path.error[::-1], answer["loo"], rtol=TOLERANCE)


@pytest.mark.parametrize("answer", REFERENCE["parzen"], ids=lambda each: str(each["sigma"]))
def test_parzen_is_bayes_rule_on_normal_mixtures(answer: dict[str, Any]) -> None:
    data = REFERENCE["smooth"]
    X, y = np.asarray(data["train"]), np.asarray(data["labels"])
    model = ParzenClassifier(bandwidth=answer["sigma"]).fit(X, y)
    # dnorm(...) products of up to three factors down to 1e-100: relative rounding near 1e-14.
    np.testing.assert_allclose(model.predict_proba(data["new"]), answer["posterior"], rtol=1e-10)
    np.testing.assert_allclose(
        model.log_density(data["new"]), answer["log_density"], rtol=1e-12, atol=1e-12
    )
    left_out = model.classes_[np.argmax(answer["loo_posterior"], axis=1)]
    path = ParzenClassifier().path(X, y, values=[answer["sigma"]])
    assert path.error[0] == pytest.approx(np.mean(left_out != y), abs=1e-15)
