"""What all settings of a network share: the rows as tensors, the device and the seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from bottega.core.errors import InputError
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.neural._training.criteria import NetworkCriterion

__all__ = ["NetworkWork", "arrays_of", "load_arrays", "tensors", "weight_tensor"]

_SMALL = 2_000  # up to so many rows double precision costs next to nothing


@dataclass(frozen=True)
class NetworkWork:
    """Rows that are ready for training.

    Attributes
    ----------
    given : Rows
        As they were read.
    rows : Rows
        In the order in which batches take them.
    learned : Any
        What the inputs are read by, such as means and scales.
    responses : Any
        What responses are read by; None for classes.
    resident : ResidentRows or ChunkBatches
        The rows as tensors on the device, or what makes them of chunks.
    criterion : NetworkCriterion
        Output activation and loss.
    device, dtype
        Of the tensors.
    seed : int
        Of all that is drawn.
    horizon : int
        Epochs over which a falling learning rate falls.
    """

    given: Rows
    rows: Rows
    learned: Any
    responses: Any
    resident: Any
    criterion: NetworkCriterion
    device: torch.device
    dtype: torch.dtype
    seed: int
    horizon: int

    def part(self, rows: Array) -> "NetworkWork":
        """Return the same with some of the rows, scaled as all of them."""
        resident = self.resident.part(torch.as_tensor(rows, device=self.device))
        return replace(self, rows=self.rows.take(rows), resident=resident)


def precision(word: str, n_rows: int, device: torch.device) -> torch.dtype:
    """Return the precision of a network: ``"auto"`` is double for small tables on a processor."""
    if word == "auto":
        return torch.float64 if n_rows <= _SMALL and device.type == "cpu" else torch.float32
    return torch.float64 if word == "float64" else torch.float32


def tensors(
    arrays: Sequence[Array], device: torch.device, dtype: torch.dtype
) -> tuple[torch.Tensor, ...]:
    """Return arrays as tensors on a device: numbers in its precision, whole numbers as codes."""
    try:
        return tuple(
            torch.as_tensor(
                np.ascontiguousarray(each), dtype=dtype if each.dtype.kind == "f" else torch.int64
            ).to(device)
            for each in arrays
        )
    except torch.OutOfMemoryError as error:
        size = sum(each.size for each in arrays)
        raise InputError(
            f"The device {device} has too little memory for the {size:,} numbers of these rows; "
            "use device='cpu', fewer rows, or partial_fit on one part after another."
        ) from error


def weight_tensor(
    weight: FloatArray | None, device: torch.device, dtype: torch.dtype
) -> tuple[torch.Tensor | None, float]:
    """Return weights of rows as a tensor, and the power of two that they were divided by.

    So weights of any size are numbers in single precision; the least are 1e-30 of the largest.
    """
    if weight is None:
        return None, 1.0
    unit = 2.0 ** np.floor(np.log2(weight.max()))
    (found,) = tensors([np.maximum(weight / unit, 1e-30)], device, dtype)
    return found, float(unit)


def arrays_of(module: torch.nn.Module) -> dict[str, FloatArray]:
    """Return all parameters and running means of a module as arrays, by name."""
    return {name: each.detach().cpu().numpy().copy() for name, each in module.state_dict().items()}


def load_arrays(module: torch.nn.Module, arrays: Mapping[str, Array]) -> None:
    """Put arrays into a module of the same architecture."""
    module.load_state_dict({name: torch.as_tensor(each) for name, each in arrays.items()})
