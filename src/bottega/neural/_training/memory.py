"""What is said where a device has too little memory."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from bottega.core.errors import InputError

__all__ = ["memory_for"]

# Of a processor, in PyTorch's words; the latter of sizes that no number counts.
_WORDS = ("can't allocate memory", "Storage size calculation overflowed")


@contextmanager
def memory_for(what: str, remedy: str) -> Iterator[None]:
    """Say what does not fit into memory, and what to give instead."""
    try:
        yield
    except RuntimeError as error:
        short = isinstance(error, torch.OutOfMemoryError)
        if not short and not any(word in str(error) for word in _WORDS):
            raise
        raise InputError(
            f"The device has too little memory for {what} ({str(error).splitlines()[0]}). Give "
            f"{remedy}, or device='cpu' where it is another one."
        ) from error
