"""Diagnoses of a fitted network on rows, and the check of one batch before any fit."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from bottega.core.typing import FloatArray
from bottega.neural._diagnosis.diagnosis import NetworkDiagnosis, OneBatchCheck
from bottega.neural._diagnosis.layers import activations_by_layer, look_at_layers
from bottega.neural._network.work import NetworkWork
from bottega.neural._training.penalties import WeightPenalty

__all__ = ["activations_of", "diagnosis_of", "one_batch"]

_ROWS = 2_000  # that are looked at


def diagnosis_of(model: Any, X: Any, y: Any) -> NetworkDiagnosis:
    """Return what the layers of a fitted network do with rows, at most 2,000 of them."""
    work = _work_like(model, X, y)
    return NetworkDiagnosis.of(look_at_layers(model._module(), work.resident.all(), work.criterion))


def activations_of(model: Any, X: Any, y: Any) -> dict[str, FloatArray]:
    """Return the activations of each hidden layer of a fitted network, at most 2,000 rows."""
    work = _work_like(model, X, y)
    return activations_by_layer(model._module(), tuple(work.resident.inputs))


def _work_like(model: Any, X: Any, y: Any) -> NetworkWork:
    reader = clone(model)
    rows = reader._read(X, y, None)
    rows = rows.take(np.arange(0, len(rows), -(-len(rows) // _ROWS)))
    return model._work(rows, rows, model.inputs_, model.responses_, model.precision_)


def one_batch(model: Any, X: Any, y: Any, n_rows: int, steps: int) -> OneBatchCheck:
    """Train a new network on a few rows alone, without penalties, dropout and noise."""
    reader = clone(model)
    plain = {
        "drop": None,
        "keep": None,
        "input_noise": 0.0,
        "hidden_noise": 0.0,
        "batch_size": "auto",
    }
    reader.set_params(**{k: v for k, v in plain.items() if k in reader.get_params(deep=False)})
    reader._check_params()
    work = reader._prepare(reader._read(X, y, None))
    few = work.part(np.arange(min(n_rows, len(work.rows))))
    training = reader._training(few, _first_of(reader, work))
    training.rules = replace(
        training.rules, penalty=WeightPenalty(), smoothness=0.0, batch_size=len(few.rows)
    )
    training.patience = None
    training.advance(steps)
    outputs = training.outputs(tuple(few.resident.inputs))
    last = float(work.criterion.mean(outputs, few.resident.targets, few.resident.weight))
    return OneBatchCheck((*training.history.loss, last), len(few.rows))


def _first_of(model: Any, work: NetworkWork) -> dict[str, Any]:
    """Return a setting of the knobs that are left open."""
    return model._candidates(work)[-1]
