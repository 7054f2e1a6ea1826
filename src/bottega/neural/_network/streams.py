"""Learning from blocks of rows, one after the other: an epoch of each."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length

from bottega.core.classes import classes_of_stream, codes_in_stream
from bottega.core.errors import InputError, ParameterError
from bottega.core.rows import Rows, check_weight
from bottega.core.validate import read_response
from bottega.neural._network.work import load_arrays
from bottega.neural._training.state import load_state, state_of

if TYPE_CHECKING:
    from bottega.neural._network.table_network import TabularNetwork

__all__ = ["learn_block"]


def learn_block(model: "TabularNetwork", X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """Show the rows of one block once; the first block sets scales, levels and classes."""
    new = not hasattr(model, "arrays_")
    model._check_params()
    if getattr(model, "class_weight", None) == "balanced":
        raise ParameterError(
            f"{type(model).__name__}: class_weight='balanced' needs all rows at once; with "
            "partial_fit give a dict of weights."
        )
    if model.early_stopping:
        raise ParameterError(
            f"{type(model).__name__}: partial_fit does not support early_stopping=True, which "
            "holds rows out of all there are; give early_stopping=False."
        )
    if model.learning_rate in ("step", "cosine"):
        raise ParameterError(
            f"{type(model).__name__}: learning_rate={model.learning_rate!r} falls over a number of "
            "epochs, which partial_fit does not know; use 'inverse' or 'constant'."
        )
    before = dict(vars(model))
    try:
        rows = _read_block(model, X, y, classes, sample_weight, new=new)
        if new:
            work = model._prepare(rows)
        else:
            work = model._work(rows, rows, model.inputs_, model.responses_, model.precision_)
        training = model._training(work, {})
        if hasattr(model, "stream_"):
            load_state(training, model.stream_)
        elif not new:
            load_arrays(training.module, model.arrays_)
        training.patience = None
        training.finished = False
        training.advance(training.epochs + 1)
        model._keep(work, {}, training)
        model.max_iter_ = training.epochs
        model.stream_ = state_of(training)
    except BaseException:
        model.__dict__.clear()
        model.__dict__.update(before)
        raise


def _read_block(
    model: "TabularNetwork", X: Any, y: Any, classes: Any, sample_weight: Any, *, new: bool
) -> Rows:
    if new and not is_classifier(model):
        return model._read(X, y, sample_weight)
    if new:
        model._forget()
        matrix, labels = model._check_rows(X, y)
        if labels.ndim == 1:
            model.classes_ = classes_of_stream(labels, classes)
        model._remember_frame(X)
        model._start_drawing()
    else:
        names = getattr(model, "feature_names_in_", None)
        labels = read_response(model, y)
        if names is not None:  # which reading the responses forgets
            model.feature_names_in_ = names
        matrix = model._check_new(X)
        check_consistent_length(matrix, labels)
        if is_classifier(model) and np.shape(labels)[1:] != model._label_shape:
            raise InputError("y has another number of labels than in the first block.")
    weight = model._class_weighted(labels, check_weight(sample_weight, len(matrix)))
    if is_classifier(model) and labels.ndim == 2:
        labels = model._read_classes(labels)
    elif is_classifier(model):
        labels = codes_in_stream(labels, model.classes_, classes)
    elif (labels.ndim == 1) != model._vector:
        raise InputError("y has another number of responses than in the first block.")
    rows = Rows.of(matrix, np.asarray(labels), weight)
    return replace(rows, given=None, kept=None)
