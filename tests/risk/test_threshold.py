"""The threshold of a decision: chosen on rows held out, whatever order the rows come in."""

import numpy as np

from bottega.neighbors import NearestNeighborsClassifier
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested_engine import Part
from bottega.risk.estimate.procedures import EstimatorProcedure, PlainInputs
from bottega.risk.threshold import ThresholdChoice, ThresholdClassifier


def test_the_order_of_the_rows_does_not_change_the_threshold():
    """Folds by the number of a row would: these five orders gave several thresholds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 0] + rng.normal(size=90) > 0.8, "yes", "no")
    found = set()
    for _ in range(5):
        procedure = EstimatorProcedure(
            NearestNeighborsClassifier(7),
            PlainInputs(X),
            JudgedRows(y, "classification"),
            decision=ThresholdChoice(),
        )
        model = procedure.fit(Part((0, ()), np.arange(90), ())).model
        assert isinstance(model, ThresholdClassifier)
        found.add(model.threshold)
        order = rng.permutation(90)
        X, y = X[order], y[order]
    assert len(found) == 1
