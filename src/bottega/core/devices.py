"""Accelerators: the one place where PyTorch, and a device that a user names, are looked for."""

from typing import Any

from bottega.core.errors import ParameterError, require

__all__ = ["torch_on"]


def torch_on(device: str, *, instead: str = "device=None") -> tuple[Any, Any, Any]:
    """Return PyTorch, the device of that name, and the precision to use there, or refuse it.

    PyTorch is looked for here, inside a call: without it one sentence says how to install it.

    Parameters
    ----------
    device : str
        As PyTorch names them: ``"cuda"``, ``"cuda:1"``, ``"mps"``, ``"cpu"``; ``"auto"`` for the
        first NVIDIA card where there is one, else the processor.
    instead : str
        What the message proposes where the device cannot be used.

    Returns
    -------
    tuple of (module, torch.device, torch.dtype)
        Double precision, but for ``"mps"``, which has only single precision.
    """
    torch = require("torch", "neural")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(device)
        torch.zeros(1, device=found)
    except (AssertionError, NotImplementedError, RuntimeError) as error:
        raise ParameterError(
            f"device={device!r} cannot be used here ({str(error).splitlines()[0].rstrip('.')}); "
            f"use {instead} for this machine's processor."
        ) from error
    return torch, found, torch.float32 if found.type == "mps" else torch.float64
