"""Looking into a network while rows pass through it: activations, gradients, weights by layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from bottega.core.typing import FloatArray
from bottega.neural._training.batches import Batch
from bottega.neural._training.criteria import NetworkCriterion

__all__ = ["LayerLook", "activations_by_layer", "look_at_layers"]

_BENT = (nn.ReLU, nn.LeakyReLU, nn.Sigmoid, nn.Tanh)
_FLAT = 0.01  # a slope below this share of the largest one is saturation
_SAME = 1e-6  # relative difference of two units that are the same


@dataclass(frozen=True)
class LayerLook:
    """What was seen in one layer.

    Attributes
    ----------
    name : str
        The layer.
    activation : str
        Its activation; empty for the output layer.
    units : int
        Number of units.
    mean, sd : float
        Of the activations (outputs) over rows and units.
    dead : float
        Share of ReLU units that are 0 for every row.
    saturated : float
        Share of rows and units where a sigmoid or tanh is flat.
    gradient : float
        Root mean square of the derivatives of the loss by the layer's weights.
    weight : float
        Root mean square of the weights.
    twins : int
        Units whose incoming weights are those of another unit.
    """

    name: str
    activation: str
    units: int
    mean: float
    sd: float
    dead: float
    saturated: float
    gradient: float
    weight: float
    twins: int


def activations_by_layer(
    module: nn.Module, inputs: tuple[torch.Tensor, ...]
) -> dict[str, FloatArray]:
    """Return what each activation function of a module gives for some rows, by layer."""
    with _watching(module) as seen, torch.no_grad():
        module.eval()
        module(*inputs)
    return {name: each.cpu().double().numpy() for name, (_, each) in seen.items()}


class _watching:  # noqa: N801
    """Keep what activation functions return inside the block."""

    def __init__(self, module: nn.Module) -> None:
        self.seen: dict[str, tuple[nn.Module, torch.Tensor]] = {}
        layers = [each for each in module.modules() if isinstance(each, _BENT)]
        self.handles = [
            layer.register_forward_hook(self._keeper(f"hidden {i}"))
            for i, layer in enumerate(layers, start=1)
        ]

    def _keeper(self, name: str) -> Any:
        def keep(layer: nn.Module, _: Any, output: torch.Tensor) -> None:
            self.seen[name] = (layer, output.detach())

        return keep

    def __enter__(self) -> Mapping[str, tuple[nn.Module, torch.Tensor]]:
        return self.seen

    def __exit__(self, *_: object) -> None:
        for handle in self.handles:
            handle.remove()


def look_at_layers(module: nn.Module, batch: Batch, criterion: NetworkCriterion) -> list[LayerLook]:
    """Pass rows through a module and back, as in training, and look at each layer with weights."""
    module.eval()
    named = [
        (name, p) for name, p in module.named_parameters() if p.ndim > 1 and "embedding" not in name
    ]
    with _watching(module) as seen:
        outputs = module(*batch.inputs)
        loss = criterion.mean(outputs, batch.targets, batch.weight)
        slopes = torch.autograd.grad(loss, [p for _, p in named], allow_unused=True)
    bent = list(seen.values())
    found = []
    for i, ((_, p), slope) in enumerate(zip(named, slopes, strict=True)):
        layer, a = bent[i] if i < len(bent) else (None, outputs.detach())
        last = i == len(named) - 1
        found.append(
            LayerLook(
                name="output" if last else f"hidden {i + 1}",
                activation="" if layer is None or last else type(layer).__name__,
                units=int(p.shape[0]),
                mean=float(a.mean()),
                sd=float(a.std(correction=0)),
                dead=_dead(layer, a),
                saturated=_saturated(layer, a),
                gradient=0.0 if slope is None else float(slope.square().mean().sqrt()),
                weight=float(p.detach().square().mean().sqrt()),
                twins=_twins(p.detach()),
            )
        )
    return found


def _dead(layer: nn.Module | None, a: torch.Tensor) -> float:
    if not isinstance(layer, nn.ReLU):
        return 0.0
    return float((a.reshape(len(a), -1) <= 0).all(0).double().mean())


def _saturated(layer: nn.Module | None, a: torch.Tensor) -> float:
    if isinstance(layer, nn.Sigmoid):
        return float((4 * a * (1 - a) < _FLAT).double().mean())
    if isinstance(layer, nn.Tanh):
        return float((1 - a * a < _FLAT).double().mean())
    return 0.0


def _twins(p: torch.Tensor) -> int:
    """Return how many units have the incoming weights of another one."""
    rows = p.reshape(len(p), -1).double()
    size = rows.norm(dim=1).max().clamp_min(torch.finfo(torch.float64).tiny)
    near = torch.cdist(rows, rows) < _SAME * size
    return int((near.sum(1) > 1).sum())
