"""A model file holds no code."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bottega.core import BaselineRegressor
from bottega.core.errors import InputError
from bottega.core.losses import Huber
from bottega.core.stored import refuse_functions
from bottega.workbench.persist import SavedModel, load, save


def saved(model):
    return SavedModel(model, "baseline", "regression", "y", ("x",), "", "0.1.0")


def own_loss(y, z):
    return np.abs(y - z) ** 1.5


@pytest.mark.parametrize("inside", [False, True])
def test_a_loss_that_is_a_function_is_refused_at_save(tmp_path, inside):
    model = BaselineRegressor(loss=own_loss)
    if inside:
        model = make_pipeline(StandardScaler(), model)
    model.fit(np.arange(6.0)[:, None], np.arange(6.0))
    path = tmp_path / "model.skops"
    with pytest.raises(InputError, match="BaselineRegressor is a function"):
        save(saved(model), path)
    assert not path.exists()


def test_losses_with_names_are_stored(tmp_path):
    for loss in ("absolute_error", Huber(0.5)):
        model = BaselineRegressor(loss=loss).fit(np.arange(6.0)[:, None], np.arange(6.0))
        refuse_functions(model)
        path = save(saved(model), tmp_path / "model.skops")
        assert load(path).model.constant_ == model.constant_
