"""Accelerators: the one place where a device that a user names is looked for."""

from typing import Any

from bottega.core.errors import ParameterError, require

__all__ = ["torch_on"]


def torch_on(device: str) -> tuple[Any, Any, Any]:
    """Return PyTorch, the device of that name, and the precision to use there, or refuse it.

    PyTorch is imported here, inside a call, and nowhere else in the package's own import.

    Parameters
    ----------
    device : str
        As PyTorch names them: ``"cuda"``, ``"cuda:1"``, ``"mps"``, ``"cpu"``.

    Returns
    -------
    tuple of (module, torch.device, torch.dtype)
        Double precision, but for ``"mps"``, which has only single precision.
    """
    torch = require("torch", "neural")
    try:
        found = torch.device(device)
        torch.zeros(1, device=found)
    except (AssertionError, NotImplementedError, RuntimeError) as error:
        raise ParameterError(
            f"device={device!r} cannot be used here ({str(error).splitlines()[0].rstrip('.')}); "
            "use device=None for this machine's processor."
        ) from error
    return torch, found, torch.float32 if found.type == "mps" else torch.float64
