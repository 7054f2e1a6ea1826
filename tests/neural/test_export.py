"""ONNX files predict what the model predicts."""

import os

import numpy as np
import pandas as pd
import pytest

from bottega.core import errors
from bottega.neural import NetworkClassifier, NetworkRegressor

RNG = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame(
    {
        "far": 1e4 + RNG.normal(size=N),
        "gaps": np.where(np.arange(N) % 5 == 0, np.nan, RNG.normal(size=N)),
        "kind": RNG.choice(["u", "v", "w"], N),
    }
)
Y = FRAME["far"] - 1e4 + (FRAME["kind"] == "u")


def evaluator():
    if os.environ.get("BOTTEGA_REQUIRE_ALL") == "1":
        from onnx.reference import ReferenceEvaluator
    else:
        reason = "the extra onnx is not installed, so its files cannot be run"
        ReferenceEvaluator = pytest.importorskip("onnx.reference", reason=reason).ReferenceEvaluator
    return ReferenceEvaluator


@pytest.mark.parametrize(
    "model",
    [
        NetworkRegressor((5, 4), activation="tanh", batch_norm=True),
        NetworkRegressor((5,), activation="leaky_relu", dtype="float32"),
        NetworkRegressor((5,), activation="relu", loss="poisson"),
        NetworkClassifier((5,)),
        NetworkClassifier((5,), activation="logistic", out_activation="softmax"),
        NetworkClassifier((5,), activation="identity", out_activation="logistic"),
    ],
    ids=lambda model: f"{type(model).__name__}-{model.activation}",
)
def test_the_file_predicts_the_same(model, tmp_path):
    run = evaluator()
    labels = Y > 0.5 if getattr(model, "out_activation", "") == "auto" else np.digitize(Y, [0, 1])
    regression = isinstance(model, NetworkRegressor)
    amounts = Y - Y.min() if getattr(model, "loss", "") == "poisson" else Y
    model.set_params(max_iter=5).fit(FRAME, amounts if regression else labels)
    file = model.to_onnx(tmp_path / "model.onnx")
    X = model.columns_in_.read(model, FRAME)
    (found,) = run(str(file)).run(None, {"X": X})
    expected = model.predict(FRAME)[:, None] if regression else model.predict_proba(FRAME)
    # Single precision rounds in another order.
    assert found == pytest.approx(expected, abs=1e-5 if model.dtype == "float32" else 1e-11)


def test_the_file_of_several_labels(tmp_path):
    run = evaluator()
    labels = np.column_stack([Y > 0, Y > 1, Y < 0.5]).astype(int)
    model = NetworkClassifier((5,), max_iter=3).fit(FRAME[["far"]], labels)
    X = FRAME[["far"]].to_numpy()
    (found,) = run(str(model.to_onnx(tmp_path / "model.onnx"))).run(None, {"X": X})
    assert found == pytest.approx(model.predict_proba(FRAME[["far"]]), abs=1e-11)


def test_without_onnx_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    model = NetworkRegressor((3,), max_iter=1).fit(FRAME[["far"]], Y)

    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(errors, "import_module", missing)
    with pytest.raises(errors.MissingExtra, match=r"pip install 'bottega\[onnx\]'"):
        model.to_onnx(tmp_path / "model.onnx")


def test_a_module_of_ones_own_is_left_to_torch(tmp_path):
    evaluator()
    import torch

    model = NetworkRegressor(module=torch.nn.Linear(1, 1), max_iter=1).fit(FRAME[["far"]], Y)
    with pytest.raises(errors.InputError, match=r"torch\.onnx\.export"):
        model.to_onnx(tmp_path / "model.onnx")
