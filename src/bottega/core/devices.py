"""Accelerators: the one place where a device that a user names is looked for."""

from typing import Any

from bottega.core.errors import InputError, require

__all__ = ["torch_on"]


def torch_on(device: str) -> tuple[Any, Any]:
    """Return PyTorch and the device of that name, or say that it is not to be had.

    PyTorch is imported here, inside a call, and nowhere else in the package's own import.

    Parameters
    ----------
    device : str
        As PyTorch names them: ``"cuda"``, ``"cuda:1"``, ``"mps"``, ``"cpu"``.

    Returns
    -------
    tuple of (module, torch.device)
    """
    torch = require("torch", "neural")
    try:
        found = torch.device(device)
        torch.zeros(1, device=found)
    except (AssertionError, NotImplementedError, RuntimeError) as error:
        raise InputError(
            f"device={device!r} cannot be used here ({str(error).splitlines()[0].rstrip('.')}); "
            "use device=None for this machine's processor."
        ) from error
    return torch, found
