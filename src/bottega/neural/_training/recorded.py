"""Steps that a CUDA device repeats from a recording.

A step of dense layers is a hundred kernels, most of which take longer to be launched than to run.
Recorded once as a CUDA graph, they are launched together: the same kernels, with the same numbers.
"""

from collections.abc import Callable

import torch

from bottega.neural._training.batches import Batch

__all__ = ["RecordedGradient"]

_BEFORE = 3  # times that PyTorch wants the work done on another stream before it is recorded


class RecordedGradient:
    """Loss and gradient of batches, recorded with the first; others than it are worked out anew.

    Parameters
    ----------
    differentiate : callable
        Returns the loss of a batch and leaves its derivatives in the gradient. It must do the same
        for each batch of one shape, leave nothing else behind, and not depend on chance.
    """

    def __init__(self, differentiate: Callable[[Batch], torch.Tensor]) -> None:
        self._differentiate = differentiate
        self._batch: Batch | None = None  # where the recording reads its rows
        self._graph = torch.cuda.CUDAGraph()

    def __call__(self, batch: Batch) -> torch.Tensor:
        """Return the loss of a batch, and leave its derivatives in the gradient."""
        if self._batch is None:
            self._batch = self._record(batch)
        recorded, given = _tensors(self._batch), _tensors(batch)
        if [each.shape for each in recorded] != [each.shape for each in given]:
            return self._differentiate(batch)
        for place, rows in zip(recorded, given, strict=True):
            place.copy_(rows)
        self._graph.replay()
        return self._loss.clone()

    def _record(self, batch: Batch) -> Batch:
        inputs = tuple(each.clone() for each in batch.inputs)
        weight = None if batch.weight is None else batch.weight.clone()
        place = Batch(inputs, batch.targets.clone(), weight)
        apart = torch.cuda.Stream()
        apart.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(apart):
            for _ in range(_BEFORE):
                self._differentiate(place)
        torch.cuda.current_stream().wait_stream(apart)
        # Other threads may ask for memory meanwhile, as fits side by side do.
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._loss = self._differentiate(place)
        return place


def _tensors(batch: Batch) -> list[torch.Tensor]:
    found = [*batch.inputs, batch.targets]
    return found if batch.weight is None else [*found, batch.weight]
