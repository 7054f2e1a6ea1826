"""A training as arrays, from which it goes on exactly as it would have."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch

from bottega.core.typing import Array
from bottega.neural._modules.random_layers import RandomLayer

if TYPE_CHECKING:
    from bottega.neural._training.loop import NetworkTraining

__all__ = ["layer_generator", "load_state", "state_of"]


def layer_generator(module: torch.nn.Module) -> torch.Generator | None:
    """Return the generator that the random layers of a module share, if it has such layers."""
    found = (each.generator for each in module.modules() if isinstance(each, RandomLayer))
    return next(found, None)


def state_of(training: "NetworkTraining") -> dict[str, Array]:
    """Return all that a training would lose with the process, as arrays."""
    patience = training.patience
    state = {
        "weights": training.weights.values.cpu().numpy().copy(),
        "order": training.generator.get_state().numpy().copy(),
        "counts": np.array(
            [
                *(training.epochs, training.steps, training.seen),
                *(training.optimizer.steps, training.schedule.lowered),
            ],
            dtype=np.int64,
        ),
        "finished": np.array(training.finished),
        "loss": np.array(training.history.loss),
        "patience": np.array(
            [0.0, 0.0] if patience is None else [patience.least, patience.without]
        ),
    }
    for name, each in training.optimizer.state.items():
        state[f"optimizer.{name}"] = each.cpu().numpy().copy()
    for name, each in training.module.named_buffers():
        state[f"buffer.{name}"] = each.cpu().numpy().copy()
    drawing = layer_generator(training.module)
    if drawing is not None:
        state["drawing"] = drawing.get_state().numpy().copy()
    return state


def load_state(training: "NetworkTraining", state: Mapping[str, Array]) -> None:
    """Bring a new training to where another one was."""
    training.weights.values.copy_(torch.as_tensor(state["weights"]))
    training.generator.set_state(torch.as_tensor(state["order"]))
    training.epochs, training.steps, training.seen, *others = map(int, state["counts"])
    training.optimizer.steps, training.schedule.lowered = others
    training.finished = bool(state["finished"])
    training.history.loss = [float(each) for each in state["loss"]]
    if training.patience is not None:
        training.patience.least = float(state["patience"][0])
        training.patience.without = int(state["patience"][1])
    for name, each in training.optimizer.state.items():
        each.copy_(torch.as_tensor(state[f"optimizer.{name}"]))
    for name, each in training.module.named_buffers():
        each.copy_(torch.as_tensor(state[f"buffer.{name}"]))
    drawing = layer_generator(training.module)
    if drawing is not None:
        drawing.set_state(torch.as_tensor(state["drawing"]))
