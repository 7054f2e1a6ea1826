"""Labels that are missing are refused with their row, by every way of reading them."""

import numpy as np
import pandas as pd
import pytest

from bottega.classify import CalibratedClassifierCV, LinearDiscriminant, LogisticRegression
from bottega.core.errors import InputError
from bottega.kernel import LinearSVM, SupportVectorClassifier

X = np.random.default_rng(0).normal(size=(20, 2))
LABELS = ["yes", "no"] * 10


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LinearDiscriminant(),
        CalibratedClassifierCV(),
        LinearSVM(),
        SupportVectorClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize(
    "y",
    [
        np.array([*LABELS[:4], None, *LABELS[5:]], dtype=object),
        pd.Series([*LABELS[:4], None, *LABELS[5:]], dtype="string"),
        pd.Series([*LABELS[:4], pd.NA, *LABELS[5:]], dtype=object),
    ],
    ids=["None", "texts with NA", "objects with NA"],
)
def test_missing_labels_are_refused_with_their_row(model, y):
    with pytest.raises(InputError, match=r"y has 1 missing label .* row 4 \(counted from 0\)"):
        model.fit(X, y)
