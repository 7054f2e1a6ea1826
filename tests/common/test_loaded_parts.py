"""Parts of a model file that do not fit together are refused before a kernel follows them."""

import numpy as np
import pytest

from bottega.additive import AdditiveModel
from bottega.core.errors import ModelFileError
from bottega.ensemble import GradientBoostingRegressor
from bottega.kernel import KernelPerceptron
from bottega.neighbors import (
    NearestNeighborsClassifier,
    NearestNeighborsRegressor,
    ParzenClassifier,
)
from bottega.online import (
    ExponentialWeights,
    OnlineGradientDescentRegressor,
    OnlineRidge,
    Perceptron,
)
from bottega.smooth import (
    LocalRegression,
    Loess,
    PSpline,
    RegressionSpline,
    SmoothingSpline,
    TensorSpline,
    ThinPlateSpline,
)
from bottega.workbench import persist

RNG = np.random.default_rng(0)
X = RNG.random((40, 2))
Y = X[:, 0] + 0.1 * RNG.random(40)
CLASSES = (Y > 0.5).astype(int)


def saved(model, path):
    """Write a model file and return its path."""
    facts = (model.card.method, model.card.task, "y", ("a", "b"), "", "0")
    return persist.save(persist.SavedModel(model, *facts), path)


def shorter(owner, name):
    """Cut an array by its last entry, in a frozen part too."""
    object.__setattr__(owner, name, getattr(owner, name)[:-1].copy())


def narrower(owner, name):
    object.__setattr__(owner, name, getattr(owner, name)[:, :-1].copy())


def unknown_class(model):
    model.y_ = model.y_ + 7


# A class, its fit, and what was edited in the file.
EDITED = [
    (NearestNeighborsRegressor(3), 2, Y, lambda m: shorter(m, "y_")),
    (NearestNeighborsRegressor(3), 2, Y, lambda m: setattr(m, "n_neighbors_", 99)),
    (NearestNeighborsRegressor(3), 2, Y, lambda m: narrower(m.search_, "points")),
    (NearestNeighborsClassifier(3), 2, CLASSES, unknown_class),
    (
        NearestNeighborsRegressor(3, metric="mahalanobis"),
        2,
        Y,
        lambda m: shorter(m.search_.distance, "directions"),
    ),
    (ParzenClassifier(), 2, CLASSES, unknown_class),
    (ParzenClassifier(), 2, CLASSES, lambda m: narrower(m, "X_")),
    (LocalRegression(0.5), 2, Y, lambda m: shorter(m._rows, "y")),
    (LocalRegression(0.5), 1, Y, lambda m: shorter(m._rows, "weight")),
    (
        LocalRegression(0.5),
        1,
        Y,
        lambda m: object.__setattr__(m._surface.recipe, "degree", 3),
    ),
    (Loess(0.8), 2, Y, lambda m: shorter(m._surface, "y")),
    (Loess(0.8), 1, Y, lambda m: shorter(m._surface.windows, "mass")),
    (SmoothingSpline(1e-3), 1, Y, lambda m: shorter(m.curve_, "slope")),
    (SmoothingSpline(1e-3), 1, Y, lambda m: shorter(m, "_mean")),
    (PSpline(1.0), 1, Y, lambda m: shorter(m._spline, "coef")),
    (RegressionSpline(3), 1, Y, lambda m: narrower(m._spline, "M")),
    (Perceptron(), 2, CLASSES, lambda m: narrower(m, "_weights")),
    (KernelPerceptron(), 2, CLASSES, lambda m: shorter(m.updates_, "time")),
    (KernelPerceptron(), 2, CLASSES, lambda m: shorter(m.updates_, "used")),
    (OnlineGradientDescentRegressor(), 2, Y, lambda m: narrower(m, "_state")),
    (OnlineRidge(), 2, Y, lambda m: narrower(m, "_triangle")),
    (
        GradientBoostingRegressor(n_estimators=3),
        2,
        Y,
        lambda m: m.trees_.model._bin_mapper.is_categorical_.fill(100),
    ),
    (AdditiveModel(), 2, Y, lambda m: shorter(m.fit_, "coef")),
    (AdditiveModel(), 2, Y, lambda m: narrower(m.fit_, "gram")),
    (AdditiveModel(), 2, Y, lambda m: narrower(m.blocks_[1], "transform")),
    (AdditiveModel(), 2, Y, lambda m: shorter(m.blocks_[1].margins[0].basis, "knots")),
    (Loess(0.8), 1, Y, lambda m: m._rows.divisor.fill(np.nan)),
    (ExponentialWeights(), 2, X[:, 0], lambda m: shorter(m, "expert_losses_")),
]


@pytest.mark.parametrize(
    ("model", "columns", "y", "edit"),
    EDITED,
    ids=[f"{type(row[0]).__name__}-{i}" for i, row in enumerate(EDITED)],
)
def test_edited_models_are_refused(model, columns, y, edit, tmp_path):
    model.fit(X[:, :columns], y)
    persist.load(saved(model, tmp_path / "whole"))
    edit(model)
    edited = saved(model, tmp_path / "edited")
    with pytest.raises(ModelFileError, match="damaged"):
        persist.load(edited)


@pytest.mark.parametrize("model", [ThinPlateSpline(1e-3), TensorSpline(2), LocalRegression(0.2)])
def test_whole_models_come_back(model, tmp_path):
    expected = model.fit(X, Y).predict(X)
    again = persist.load(saved(model, tmp_path / "whole")).model
    np.testing.assert_array_equal(again.predict(X), expected)
