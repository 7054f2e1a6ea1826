"""Steps that a CUDA device repeats from a recording: the same numbers as one by one."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from bottega.neural import NetworkClassifier, NetworkRegressor  # noqa: E402
from bottega.neural._training.recorded import RecordedGradient  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

N = 1000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 7))
CODES = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1])
KINDS = {
    "classes": (NetworkClassifier, CODES, None),
    "two classes": (NetworkClassifier, CODES > 0, None),
    "numbers": (NetworkRegressor, np.column_stack([X[:, 0] * X[:, 1], X[:, 2]]), None),
    "weights": (NetworkRegressor, X[:, 0] * X[:, 1], RNG.uniform(0.5, 2, N)),
}


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("batch_size", [64, N])
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_curve_is_that_of_steps_one_by_one(kind, batch_size, autocast, monkeypatch):
    make, y, weight = KINDS[kind]
    options = {"batch_size": batch_size, "max_iter": 5, "device": "cuda", "random_state": 0}
    recorded = make((16, 8), autocast=autocast, **options).fit(X, y, sample_weight=weight)
    monkeypatch.setattr(RecordedGradient, "__call__", lambda self, b: self._differentiate(b))
    plain = make((16, 8), autocast=autocast, **options).fit(X, y, sample_weight=weight)
    assert recorded.loss_curve_ == plain.loss_curve_
    np.testing.assert_array_equal(recorded.predict(X), plain.predict(X))
    assert recorded.loss_curve_[-1] < recorded.loss_curve_[0]
