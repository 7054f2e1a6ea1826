"""What all networks share: one way from rows to tensors, to a trained module, to predictions.

A subclass gives hooks: how its inputs are read (`_check_rows`), what is learned from them
(`_learn_inputs`), the arrays that its module takes (`_arrays`), a description of the module in
plain words and numbers (`_describe`), the module of such a description (`_build`), and the output
activation with its loss (`_criterion`). Fitted models keep arrays and the description; the module
is built again when it is needed.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from bottega.core.classes import decided
from bottega.core.devices import torch_on
from bottega.core.errors import ConvergenceWarning, ParameterError, warn_caller
from bottega.core.estimator import Walk
from bottega.core.losses import Loss, get_loss
from bottega.core.path import Path
from bottega.core.row_order import own_order
from bottega.core.rows import Rows
from bottega.core.seeds import seed_of
from bottega.core.tuned import Tuned
from bottega.core.typing import Array, FloatArray
from bottega.neural._network.looking import LookingInto
from bottega.neural._network.parameters import DEFAULTS
from bottega.neural._network.tables import TargetScale

if TYPE_CHECKING:
    from bottega.neural._network.work import NetworkWork
    from bottega.neural._training.criteria import NetworkCriterion
    from bottega.neural._training.loop import NetworkTraining

__all__ = ["Network"]


class Network(LookingInto, Tuned):
    """A PyTorch module that is trained on rows, as a scikit-learn estimator.

    Attributes that every network learns: ``arrays_`` (dict of parameters and running means),
    ``description_`` (dict), ``loss_curve_``, ``n_iter_``, ``max_iter_``, ``loss_``, ``best_loss_``.
    """

    knob: ClassVar[str] = "max_iter"
    simplifies: ClassVar[bool] = False
    not_stored: ClassVar[tuple[str, ...]] = ("module",)  # code, which no file holds

    _most_at_once: ClassVar[int] = 200  # rows of a batch where its size is "auto"

    best_loss_: float | None
    best_validation_score_: float | None
    validation_loss_curve_: list[float] | None
    validation_scores_: list[float] | None

    # ------------------------------------------------------------------ hooks of a subclass

    def _learn_inputs(self, rows: Rows) -> Any:
        """Return what the inputs are read by, learned from training rows; a `@stored` object."""
        return None

    @abstractmethod
    def _arrays(self, X: Any, learned: Any) -> tuple[Array, ...]:
        """Return what the module's ``forward`` takes: arrays with one entry per row.

        Arrays of numbers become tensors in the network's precision, whole numbers codes (int64).
        """

    @abstractmethod
    def _describe(self, work: "NetworkWork", setting: Mapping[str, Any]) -> dict[str, Any]:
        """Return the architecture: words, numbers, truth values, lists and dicts of them."""

    @staticmethod
    @abstractmethod
    def _build(description: Mapping[str, Any]) -> Any:
        """Return the torch module of a description; its first weights do not matter."""

    def _criterion(self) -> "NetworkCriterion":
        """Return the output activation and the loss: by the task, unless a class says otherwise."""
        from bottega.neural._training import criteria

        if not is_classifier(self):
            return criteria.SquaredCost()
        return criteria.BinaryCrossEntropy() if len(self.classes_) == 2 else criteria.CrossEntropy()

    def _learn_responses(self, rows: Rows) -> Any:
        """Return what responses are read by: standard units of numbers, None for classes."""
        if is_classifier(self) or rows.y is None:
            return None
        y = rows.y.reshape(len(rows.y), -1)
        return TargetScale.of(y, rows.weight, bool(getattr(self, "standardize", True)))

    def _targets(self, rows: Rows, responses: Any, criterion: "NetworkCriterion") -> Array:
        """Return what the outputs are compared with: an array with one entry per row."""
        if responses is not None:
            return np.asarray(responses.inward(rows.y.reshape(len(rows.y), -1)))
        if criterion.long_targets:
            return np.asarray(rows.y, dtype=np.int64)
        if len(self.classes_) == 2:
            return np.asarray(rows.y, dtype=np.float64)[:, None]
        return np.eye(len(self.classes_))[rows.y]

    def _n_outputs(self, work: "NetworkWork") -> int:
        """Return how many outputs the module has."""
        if work.criterion.long_targets:
            return len(self.classes_)
        return int(work.resident.targets.shape[1])

    def _order(self, rows: Rows) -> Any:
        """Return the order in which batches take the rows: one that depends on them alone.

        A class whose inputs are not an array of two dimensions orders them itself, or returns None.
        """
        if not self._option("shuffle") or np.ndim(rows.X) != 2:
            return None
        return own_order(rows.X, rows.y, rows.weight)

    def _candidates(self, work: "NetworkWork") -> list[dict[str, Any]]:
        """Return the settings of the other knobs among which the path chooses."""
        return [{}]

    # ------------------------------------------------------------------ from rows to tensors

    def _option(self, name: str) -> Any:
        """Return a parameter, or what it is for a class that does not have it."""
        return getattr(self, name, DEFAULTS.get(name))

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        torch_on(self._option("device"), instead="device='cpu'")
        rows = super()._read(X, y, sample_weight)
        self._check_batch_size(len(rows))
        self._start_drawing()
        self._vector = rows.y is None or rows.y.ndim == 1
        return rows

    def _start_drawing(self) -> None:
        """Draw the seed that all trainings of a fit share."""
        self._seed = seed_of(getattr(self, "random_state", 0))

    def _prepare(self, rows: Rows) -> "NetworkWork":
        order = self._order(rows)
        ordered = rows if order is None else rows.take(order)
        learned, responses = self._learn_inputs(ordered), self._learn_responses(ordered)
        dtype = self._option("dtype")
        if dtype == "auto" and self._option("solver") == "lbfgs":
            dtype = "float64"  # whose minimum lies below the rounding of single precision
        return self._work(rows, ordered, learned, responses, dtype)

    def _work(
        self, given: Rows, rows: Rows, learned: Any, responses: Any, dtype: str
    ) -> "NetworkWork":
        """Return rows as tensors on the device, read by what was learned before."""
        from bottega.neural._network.work import NetworkWork, precision

        _, device, _ = torch_on(self._option("device"), instead="device='cpu'")
        criterion = self._criterion()
        real = precision(dtype, len(rows), device)
        epochs = self._option("max_iter")
        return NetworkWork(
            given=given,
            rows=rows,
            learned=learned,
            responses=responses,
            resident=self._tensors(rows, learned, responses, criterion, device, real),
            criterion=criterion,
            device=device,
            dtype=real,
            seed=self._seed,
            horizon=int(self._option("max_epochs") if isinstance(epochs, str) else epochs),
        )

    def _tensors(
        self,
        rows: Rows,
        learned: Any,
        responses: Any,
        criterion: "NetworkCriterion",
        device: Any,
        dtype: Any,
    ) -> Any:
        """Return rows as tensors on the device."""
        from bottega.neural._network.work import tensors, weight_tensor
        from bottega.neural._training.batches import ResidentRows

        arrays = [*self._arrays(rows.X, learned), self._targets(rows, responses, criterion)]
        *inputs, targets = tensors(arrays, device, dtype)
        weight = weight_tensor(rows.weight, device, dtype)
        return ResidentRows(tuple(inputs), targets, *weight)

    # ------------------------------------------------------------------ training

    def _check_batch_size(self, n: int) -> None:
        given = self._option("batch_size")
        if not isinstance(given, str) and given > n:
            raise ParameterError(
                f"{type(self).__name__}: batch_size={given} is larger than the {n} training rows; "
                "give at most as many, or 'auto'."
            )

    def _batch_size(self, n: int) -> int:
        """Return the rows of a step, of n rows: of a fold or a block there may be fewer."""
        given = self._option("batch_size")
        return min(self._most_at_once if isinstance(given, str) else int(given), n)

    def _training(
        self, work: "NetworkWork", setting: Mapping[str, Any], start: int = 0
    ) -> "NetworkTraining":
        """Return a training that has not begun: module, first weights, optimiser."""
        from bottega.neural._network.trainings import new_training

        return new_training(self, work, setting, start)

    def _settle(self, work: "NetworkWork", setting: Mapping[str, Any]) -> None:
        from bottega.neural._network.trainings import trained

        epochs = int(setting[self.knob])
        found = trained(self, work, setting, epochs)
        self._keep(work, setting, found.training)
        self.max_iter_ = epochs
        if found.validation:
            self.validation_loss_curve_ = found.validation
            self.validation_scores_ = found.scores
            self.best_validation_score_ = max(found.scores)
        if self._option("early_stopping"):
            self.best_loss_ = None
        self.__dict__.pop("_earlier", None)
        short = found.training.falls_short
        if short is not None and not isinstance(self._option("max_iter"), str):
            warn_caller(f"{type(self).__name__}: {short}", ConvergenceWarning)

    def _keep(
        self, work: "NetworkWork", setting: Mapping[str, Any], training: "NetworkTraining"
    ) -> None:
        """Set the learned attributes of a module that is trained."""
        from bottega.neural._network.work import arrays_of

        self.inputs_, self.responses_ = work.learned, work.responses
        self.description_ = self._describe(work, setting)
        self.arrays_ = arrays_of(training.module)
        self.precision_ = str(work.dtype).removeprefix("torch.")
        self.out_activation_ = work.criterion.out_activation
        self.loss_curve_ = list(training.history.loss)
        self.loss_ = self.loss_curve_[-1]
        self.best_loss_ = min(self.loss_curve_)
        self.validation_loss_curve_ = self.validation_scores_ = None
        self.best_validation_score_ = None
        self.n_iter_, self.t_ = training.epochs, training.seen
        self.n_outputs_ = self._n_outputs(work)
        self._built = training.module

    # ------------------------------------------------------------------ the path

    def _given(self, work: "NetworkWork") -> dict[str, Any] | None:
        given = {name: self._option(name) for name in self.knobs}
        if self._option("early_stopping") and given[self.knob] == "auto":
            given[self.knob] = int(self._option("max_epochs"))  # rows held out stop it earlier
        if any(isinstance(value, str) for value in given.values()):
            return None
        return {self.knob: given[self.knob]}

    @property
    def _folds_by(self) -> Any:
        return self._option("cv")

    def _path(self, work: "NetworkWork", values: Any, loss: Loss | None) -> Path:
        return self._curve(work, work.rows, Walk(values=values, loss=loss))

    def _curve(
        self, work: "NetworkWork", rows: Rows | None, walk: Walk, honest: bool = True
    ) -> Path:
        """Return the path, judged while it is made: epochs that are of no use are not run."""
        if hasattr(self, "_earlier"):
            raise ParameterError(
                f"{type(self).__name__}: warm_start=True goes on from weights that have seen the "
                "rows which would be held out to choose; give max_iter and the other knobs."
            )
        from bottega.neural._network.paths import judged_curve

        loss = self._own_loss(work) if walk.loss is None else get_loss(walk.loss, self.card.task)
        assert loss is not None
        if is_classifier(self):
            loss = loss.for_classes(self.classes_)
        values = None if walk.values is None else self._check_values(walk.values)
        return judged_curve(self, work, values, walk.cv, loss)

    def _predictions(
        self,
        work: "NetworkWork",
        settings: Sequence[Mapping[str, Any]],
        X_new: Any,
        method: str,
    ) -> Array:
        from bottega.neural._network.paths import predictions_of

        return predictions_of(self, work, settings, X_new, method)

    # ------------------------------------------------------------------ predictions

    def _module(self) -> Any:
        """Return the trained module, built again from its arrays where a file held the model."""
        built = getattr(self, "_built", None)
        if built is None:
            from bottega.neural._network.modules import rebuilt_module
            from bottega.neural._network.work import precision

            _, device, _ = torch_on(self._option("device"), instead="device='cpu'")
            built = rebuilt_module(self, device, precision(self.precision_, 0, device))
            self._built = built
        return built

    def _raw_outputs(self, X: Any) -> Any:
        """Return the outputs of the module, a tensor, for checked inputs."""
        from bottega.neural._network.work import tensors
        from bottega.neural._training.loop import evaluate

        module = self._module()
        p = next(module.parameters())
        return evaluate(module, tensors(self._arrays(X, self.inputs_), p.device, p.dtype))

    def _outputs(self, X: Any) -> FloatArray:
        """Return numbers in the units of the responses, or probabilities, for checked inputs."""
        return self._numbers(self._raw_outputs(X), self._criterion(), self.responses_)

    def _numbers(self, outputs: Any, criterion: "NetworkCriterion", responses: Any) -> FloatArray:
        """Return what a user reads, of the outputs of a module."""
        found = criterion.predictions(outputs).double().cpu().numpy()
        if responses is None:
            return np.asarray(found)
        found = responses.outward(found)
        return np.asarray(found[:, 0] if self._single else found)

    @property
    def _single(self) -> bool:
        """Whether there was one response, given as a vector."""
        return bool(getattr(self, "_vector", True))

    def _validation_score(self, outputs: Any, held: "NetworkWork") -> float:
        """Return the accuracy, or R squared, of the outputs for rows held out."""
        y, w = held.rows.y, held.rows.weights
        predicted = self._predicted(
            self._numbers(outputs, held.criterion, held.responses), "predict"
        )
        if is_classifier(self):
            right = (predicted == y).reshape(len(y), -1).all(axis=1)  # all labels of a row
            return float(np.average(right, weights=w))
        gap, spread = y - predicted, y - np.average(y, axis=0, weights=w)
        total = float((w @ spread**2).sum())
        return 1 - float((w @ gap**2).sum()) / total if total > 0 else 0.0

    def _predicted(self, outputs: FloatArray, method: str) -> Array:
        """Return numbers, probabilities, or codes of classes, of what `_outputs` gives."""
        if not is_classifier(self) or method == "predict_proba":
            return outputs
        return decided(outputs)

    def _forget(self) -> None:
        known = vars(self) if self._option("warm_start") else {}
        warm = {name: known[name] for name in ("arrays_", "classes_") if name in known}
        super()._forget()
        if "arrays_" in warm:
            self._earlier = warm

    def __getstate__(self) -> dict[str, Any]:
        """Return all but modules, the user's among them: a fitted model's file holds no code."""
        state = dict(super().__getstate__())
        state.pop("_built", None)
        if "arrays_" in state and state.get("module") is not None:
            state["module"] = None
        return state
