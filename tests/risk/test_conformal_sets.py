"""Conformal sets of classes: by hand, by simulation, and what is refused."""

import math
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from bottega.core.errors import DataWarning, InputError
from bottega.data import read
from bottega.risk import PredictionSets, cross_conformal, split_conformal


class Shares:
    """A classifier of fixed probabilities: they are the inputs."""

    classes_ = np.array(["a", "b", "c"])

    def __sklearn_tags__(self):
        return LogisticRegression().__sklearn_tags__()

    def predict_proba(self, X):
        return np.asarray(X, dtype=float)


PROBABILITIES = np.array(
    [[0.9, 0.1, 0.0], [0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
)


def test_sets_by_hand():
    """The observed classes have probability 0.9, 0.3, 0.5, 0.7, 0.4; at level 0.5 the third largest
    (ceil(0.5 * 6) = 3) is 0.5: classes of at least this probability are in the set.
    """
    found = split_conformal(Shares(), PROBABILITIES, ["a", "b", "b", "c", "c"])
    assert isinstance(found, PredictionSets)
    new = np.array([[0.5, 0.5, 0.0], [0.4, 0.3, 0.3], [0.6, 0.2, 0.2]])
    assert found.sets(new, 0.5) == [["a", "b"], [], ["a"]]
    assert found.sets(new, 0.8)[1] == ["a", "b", "c"]
    with pytest.warns(DataWarning, match="5 calibration rows"):
        assert found.sets(new, 0.9) == [["a", "b", "c"]] * 3


def test_sets_of_equal_models_are_those_of_one():
    y = np.array(["a", "b", "b", "c", "c"])
    one = split_conformal(Shares(), PROBABILITIES, y)
    fits = [(Shares(), PROBABILITIES[k::2], y[k::2], None) for k in range(2)]
    several = cross_conformal(fits)
    assert several.kind == "CV+"
    for level in (0.2, 0.5, 0.8):
        inside = several.contains(PROBABILITIES, level)
        np.testing.assert_array_equal(inside, one.contains(PROBABILITIES, level))


def test_sets_cover_a_class_that_a_model_has_not_seen():
    table = read("iris")
    X, y = np.asarray(table.X, dtype=float), np.asarray(table.y)
    model = LogisticRegression(max_iter=1000).fit(X[y != y[0]], y[y != y[0]])
    found = split_conformal(model, X, y)
    assert list(found.classes) == sorted(set(y))
    assert found.contains(X, 0.9).shape == (150, 3)


@pytest.mark.slow
def test_sets_cover():
    """19 rows, level 0.9, 2,000 trials: at least 0.9 less 4 standard errors (1 in 10,000)."""

    def once(rng):
        shares = rng.dirichlet([1, 1, 1], size=20)
        y = Shares.classes_[[rng.choice(3, p=row) for row in shares]]
        found = split_conformal(Shares(), shares[:19], y[:19])
        return y[19] in found.sets(shares[19:], 0.9)[0]

    covered = np.mean([once(np.random.default_rng([7, i])) for i in range(2000)])
    assert covered > 0.9 - 4 * math.sqrt(0.09 / 2000)


def test_larger_levels_hold_larger_sets():
    found = split_conformal(Shares(), PROBABILITIES, ["a", "b", "b", "c", "c"])
    sets = [found.contains(PROBABILITIES, level) for level in (0.1, 0.3, 0.5, 0.8)]
    for small, large in pairwise(sets):
        assert np.all(large >= small)


def test_what_has_no_sets_is_refused():
    y = ["a", "b", "b", "c", "c"]
    with pytest.raises(InputError, match="for regression"):
        split_conformal(Shares(), PROBABILITIES, y, scale=Shares())
    with pytest.raises(InputError, match="has none to give"):
        split_conformal(RidgeClassifier().fit(PROBABILITIES, y), PROBABILITIES, y)
