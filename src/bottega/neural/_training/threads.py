"""How many threads a training is worth."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from bottega.core.parallel import spare_threads

__all__ = ["threads_for"]

_LARGE = 2e7  # products of a step from which on a second thread is worth waiting for


@contextmanager
def threads_for(batch_size: int, n_weights: int, n_jobs: int | None) -> Iterator[None]:
    """Keep PyTorch to the threads that steps of this size are worth, never more than outside.

    Small products of matrices take longer in two threads than in one. The number belongs to the
    thread that sets it.
    """
    outside = torch.get_num_threads()
    wanted = spare_threads(n_jobs) if batch_size * n_weights >= _LARGE else 1
    torch.set_num_threads(min(wanted, outside))
    try:
        yield
    finally:
        torch.set_num_threads(outside)
