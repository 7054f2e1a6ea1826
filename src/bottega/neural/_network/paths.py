"""The path over epochs: every number of epochs of one training, judged on rows held out."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.judge import errors_of_folds, row_losses
from bottega.core.losses import Loss
from bottega.core.path import Path
from bottega.core.rounds import round_numbers
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.neural._network.work import NetworkWork, tensors, weight_tensor
from bottega.neural._training.threads import threads_for

if TYPE_CHECKING:
    from bottega.neural._network.estimator import Network
    from bottega.neural._training.loop import NetworkTraining

__all__ = ["judged_curve", "predictions_of"]

_FIRST_STEPS = 64  # of the optimiser, after which it is first asked whether more are of use
_FIRST_EPOCHS = 20
_TRAINING_ROWS = 2_000  # of each fold, by which the training error is judged
_FEW_ROWS = 500  # up to these every row is held out once; of more rows a fifth is


class Stage:
    """A training, and what its module predicts for some rows after some numbers of epochs."""

    def __init__(self, model: "Network", work: NetworkWork, setting: Mapping[str, Any]) -> None:
        self.model, self.work = model, work
        self.training: NetworkTraining = model._training(work, setting)

    def inputs(self, X: Any) -> tuple[Any, ...]:
        """Return checked inputs as tensors."""
        arrays = self.model._arrays(X, self.work.learned)
        return tensors(arrays, self.work.device, self.work.dtype)

    def predicted(self, inputs: tuple[Any, ...], method: str) -> Array:
        """Return what the module predicts now."""
        outputs = self.training.outputs(inputs)
        numbers = self.model._numbers(outputs, self.work.criterion, self.work.responses)
        return self.model._predicted(numbers, method)


@dataclass(eq=False)
class JudgedTraining:
    """A fold's training, and the losses of its rows after the numbers of epochs looked at."""

    stage: Stage
    test: Rows
    held: list[FloatArray] = field(default_factory=list)  # losses of held-out rows
    own: list[float] = field(default_factory=list)  # their mean under the loss of the training
    trained: list[float] = field(default_factory=list)  # mean loss of training rows

    def __post_init__(self) -> None:
        work = self.stage.work
        step = -(-len(work.rows) // _TRAINING_ROWS)
        self.seen = work.rows.take(np.arange(0, len(work.rows), step))
        self.seen_inputs = self.stage.inputs(self.seen.X)
        self.test_inputs = self.stage.inputs(self.test.X)
        model = self.stage.model
        targets = model._targets(self.test, work.responses, work.criterion)
        (self.targets,) = tensors([targets], work.device, work.dtype)
        self.weight, _ = weight_tensor(self.test.weight, work.device, work.dtype)

    def judge(self, epochs: Sequence[int], loss: Loss, total: int) -> None:
        """Judge after each of these numbers of epochs, which come after those judged before."""
        stage = self.stage
        model, criterion = stage.model, stage.work.criterion
        for epoch in epochs:
            stage.training.advance(epoch, stage="epochs of the path", total=total)
            outputs = stage.training.outputs(self.test_inputs)
            self.own.append(float(criterion.mean(outputs, self.targets, self.weight)))
            numbers = model._numbers(outputs, criterion, stage.work.responses)
            predicted = model._predicted(numbers, loss.method)
            self.held.append(_losses(loss, self.test.y, predicted))
            fitted = stage.predicted(self.seen_inputs, loss.method)
            mean = np.average(_losses(loss, self.seen.y, fitted), weights=self.seen.weight)
            self.trained.append(float(mean))


def _losses(loss: Loss, y: Any, predicted: Array) -> FloatArray:
    with np.errstate(over="ignore"):  # of steps that are too long; infinity is the worst
        return np.asarray(row_losses(loss, y, predicted[:, None])[:, 0])


def judged_curve(model: "Network", work: NetworkWork, values: Any, cv: Any, loss: Loss) -> Path:
    """Return the path over epochs, and over the settings of other knobs that are left open."""
    rows = work.given
    if len(rows) < 2:
        raise InputError(
            f"Choosing {model.knob} needs rows to hold out; got n_samples = {len(rows)}. Give a "
            "value, or more rows."
        )
    cv = model._folds_by if cv is None else cv
    if isinstance(cv, str) and cv == "auto":
        cv = 3 if len(rows) <= _FEW_ROWS else getattr(rows.X, "held_share", 0.2)
    pairs, estimate = model._held_out(rows, cv)
    if not pairs:  # of every class there is one row, dealt to one fold: each row by itself
        pairs, estimate = model._held_out(rows, "loo")
    works = [copy(model)._prepare(rows.take(train)) for train, _ in pairs]
    if values is not None:  # a rate that falls to zero does so at the last of them
        works = [replace(each, horizon=max(each.horizon, int(max(values)))) for each in works]
    tests = [rows.take(test) for _, test in pairs]
    found: list[dict[str, Any]] = []
    for candidate in model._candidates(work):
        folds = [
            JudgedTraining(Stage(model, each, candidate), test)
            for each, test in zip(works, tests, strict=True)
        ]
        training = folds[0].stage.training
        size = training.rules.batch_size
        with threads_for(size, len(training.weights), model._option("n_jobs")):
            if values is None:
                epochs = _judge_until_enough(model, folds, loss)
            else:
                epochs = np.unique(values).tolist()
                for fold in folds:
                    fold.judge(epochs, loss, max(epochs))
        shares = np.array([fold.stage.work.rows.total_weight for fold in folds])
        train_error = shares @ np.array([fold.trained for fold in folds]) / shares.sum()
        parts = [np.column_stack(fold.held) for fold in folds]
        judged = errors_of_folds(pairs, parts, rows.weight)
        size = len(training.weights)
        found += [
            {
                "setting": {model.knob: epoch, **candidate},
                "order": (size, -float(candidate.get("alpha", 0.0)), epoch),
                "train_error": train_error[i],
                "error": judged["error"][i],
                "error_se": judged["error_se"][i],
                "fold_error": judged["fold_error"][:, i],
            }
            for i, epoch in enumerate(epochs)
        ]
    found.sort(key=lambda each: each["order"])
    epochs_alone = len({each["order"][:2] for each in found}) == 1
    return Path(
        tuple(each["setting"] for each in found),
        complexity=np.array(
            [each["order"][2] if epochs_alone else i + 1 for i, each in enumerate(found)],
            dtype=np.float64,
        ),
        train_error=np.array([each["train_error"] for each in found]),
        error=np.array([each["error"] for each in found]),
        error_se=np.array([each["error_se"] for each in found]),
        fold_error=np.stack([each["fold_error"] for each in found], axis=1),
        estimate=estimate,
        loss=loss.title,
    )


def _judge_until_enough(model: "Network", folds: list[JudgedTraining], loss: Loss) -> list[int]:
    """Judge twice as many epochs again and again, while the loss falls in the later half.

    The loss is that of the training, whatever the rows are judged by.
    """
    most = int(model._option("max_epochs"))
    grid = round_numbers(most)
    rules = folds[0].stage.training.rules
    steps = -(-len(folds[0].stage.work.rows) // rules.batch_size)
    done, stop = 0, min(max(_FIRST_EPOCHS, _FIRST_STEPS // steps), most)
    shares = np.array([fold.test.total_weight for fold in folds])
    while True:
        there = int(np.searchsorted(grid, stop, side="right"))
        for fold in folds:
            fold.judge(grid[done:there], loss, most)
        done = there
        mean = shares @ np.array([fold.own for fold in folds])
        least = grid[int(np.argmin(mean))]
        over = all(fold.stage.training.finished for fold in folds)
        if stop >= most or 2 * least <= stop or over:
            return grid[:done]
        stop = min(2 * stop, most)


def predictions_of(
    model: "Network",
    work: NetworkWork,
    settings: Sequence[Mapping[str, Any]],
    X_new: Any,
    method: str,
) -> Array:
    """Return what each setting predicts for checked inputs; epochs of one network run once."""
    found: dict[int, Array] = {}
    groups: dict[str, list[int]] = {}
    for i, setting in enumerate(settings):
        others = {name: value for name, value in setting.items() if name != model.knob}
        groups.setdefault(repr(sorted(others.items())), []).append(i)
    for members in groups.values():
        stage = Stage(model, work, settings[members[0]])
        inputs = stage.inputs(X_new)
        size = stage.training.rules.batch_size
        with threads_for(size, len(stage.training.weights), model._option("n_jobs")):
            for i in sorted(members, key=lambda i: settings[i][model.knob]):
                stage.training.advance(int(settings[i][model.knob]))
                found[i] = stage.predicted(inputs, method)
    return np.stack([found[i] for i in range(len(settings))], axis=1)
