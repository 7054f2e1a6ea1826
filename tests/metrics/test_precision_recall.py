"""Precision and recall along a knob (M123)."""

import numpy as np
import pytest
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from bottega.core.errors import InputError
from bottega.data import make
from bottega.metrics import precision_recall_path
from bottega.metrics.precision_recall import _union_area
from bottega.neighbors import NearestNeighborsClassifier


@pytest.fixture(scope="module")
def sample():
    return make.two_gaussians(240, distance=1.5, prior=0.25, random_state=2)


def test_each_point_is_that_of_scikit_learns_cross_validation(sample):
    ks = [1, 3, 9, 27]
    folds = StratifiedKFold(4)
    found = precision_recall_path(
        KNeighborsClassifier(), sample.X, sample.y, ks, knob="n_neighbors", cv=folds
    )
    assert found.pos_label == 1
    for i, k in enumerate(ks):
        said = cross_val_predict(KNeighborsClassifier(k), sample.X, sample.y, cv=folds)
        assert found.precision[i] == pytest.approx(precision_score(sample.y, said))
        assert found.recall[i] == pytest.approx(recall_score(sample.y, said))
        assert found.confusions[i].n == 240
    frame = found.to_frame()
    assert frame["n_neighbors"].tolist() == ks
    assert frame.columns.tolist() == ["n_neighbors", "precision", "recall", "f1", "accuracy"]


def test_the_estimators_own_knob_and_frames(sample):
    import pandas as pd

    frame = pd.DataFrame(sample.X, columns=["a", "b"])
    words = np.where(sample.y == 1, "rare", "common")
    found = precision_recall_path(NearestNeighborsClassifier(), frame, words, [1, 5])
    assert found.knob == "n_neighbors"
    assert found.pos_label == "rare"
    other = precision_recall_path(
        NearestNeighborsClassifier(), frame, words, [1, 5], pos_label="common"
    )
    # Recall of one class is the specificity of the other.
    specificity = [each.of("common").specificity for each in other.confusions]
    np.testing.assert_allclose(found.recall, specificity)


def test_a_constant_has_no_precision(sample):
    found = precision_recall_path(NearestNeighborsClassifier(), sample.X, sample.y, [1, 150])
    assert np.isnan(found.precision[1])
    assert found.recall[1] == 0
    assert found.f1[1] == 0
    # The point without precision adds nothing to the area.
    assert found.area == pytest.approx(found.precision[0] * found.recall[0])


@pytest.mark.parametrize(
    ("precision", "recall", "area"),
    [
        ([1.0], [1.0], 1.0),  # the ideal of M123
        ([0.5, 1.0], [1.0, 0.5], 0.75),
        ([0.5, 0.4], [0.5, 0.4], 0.25),  # the second is worse in both
        ([1.0, 0.5, 0.75], [0.2, 0.8, 0.2], 0.5 * 0.8 + 0.5 * 0.2),
        ([np.nan, 0.5], [0.0, 0.5], 0.25),
        ([np.nan], [0.0], 0.0),
    ],
)
def test_area_by_hand(precision, recall, area):
    assert _union_area(np.array(precision), np.array(recall)) == pytest.approx(area)


def test_area_equals_counting_on_a_grid():
    """A million points of the unit square, up to the cells that the steps cut: 30 edges of one
    cell in a thousand each."""
    rng = np.random.default_rng(1)
    p, r = rng.uniform(size=(2, 15))
    cells = (np.arange(1000) + 0.5) / 1000
    reached = np.zeros((1000, 1000), dtype=bool)
    for width, height in zip(p, r, strict=True):
        reached |= (cells[:, None] <= width) & (cells[None, :] <= height)
    assert _union_area(p, r) == pytest.approx(reached.mean(), abs=0.002)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"values": []}, "values is empty"),
        ({"values": [1], "pos_label": 7}, "pos_label=7 does not occur"),
        ({"values": [1], "y": np.zeros(240, dtype=int)}, "only the class 0"),
        ({"values": [1], "estimator": KNeighborsClassifier()}, "does not name its knob"),
    ],
)
def test_bad_input_is_refused(sample, options, says):
    call = {"estimator": NearestNeighborsClassifier(), "X": sample.X, "y": sample.y} | options
    with pytest.raises(InputError, match=says):
        precision_recall_path(**call)
