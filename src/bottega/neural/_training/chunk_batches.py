"""Rows in chunks as batches: an epoch is a pass over the chunks, and tensors are made of each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from bottega.core.lazy import cached_property
from bottega.core.rows import Rows
from bottega.neural._network.chunk_inputs import ChunkInputs
from bottega.neural._network.work import tensors
from bottega.neural._training.batches import Batch
from bottega.neural._training.criteria import NetworkCriterion

__all__ = ["ChunkBatches"]


@dataclass(frozen=True, eq=False)
class ChunkBatches:
    """What stands in the place of `bottega.neural._training.batches.ResidentRows`.

    Batches have the same size whatever the chunks: what is left of one goes on with the next.
    Shuffled, the parts of the source come in a new order in each epoch and the rows of each chunk.

    Attributes
    ----------
    rows : Rows
        Their inputs are `ChunkInputs`.
    unit : float
        Size of the weights, which single precision might not hold.
    model : Network
        What makes arrays of inputs and responses.
    learned, responses
        What they are read by.
    criterion : NetworkCriterion
        Output activation and loss.
    device, dtype
        Of the tensors.
    """

    rows: Rows
    unit: float
    model: Any
    learned: Any
    responses: Any
    criterion: NetworkCriterion
    device: torch.device
    dtype: torch.dtype

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def _head(self) -> Batch:
        return next(self._blocks(None))

    @property
    def inputs(self) -> tuple[torch.Tensor, ...]:
        """What the module takes, of the first rows."""
        return self._head.inputs

    @property
    def targets(self) -> torch.Tensor:
        """Targets of the first rows."""
        return self._head.targets

    def part(self, rows: torch.Tensor) -> "ChunkBatches":
        """Return some of the rows."""
        return replace(self, rows=self.rows.take(rows.cpu().numpy()))

    def all(self) -> Batch:
        """Return all rows as one batch, in memory."""
        found = list(self._blocks(None))
        return found[0] if len(found) == 1 else _joined(found)

    def total(self, batch: Batch) -> float:
        """Return the weight of a batch's rows together, or their number."""
        return self.unit * float(len(batch) if batch.weight is None else batch.weight.sum())

    def epoch(self, size: int, generator: torch.Generator | None) -> Iterator[Batch]:
        """Yield each row once, in batches of `size`: shuffled by `generator`, or as they come."""
        rng = None
        if generator is not None:
            drawn = torch.randint(2**62, (1,), generator=generator)
            rng = np.random.default_rng(int(drawn))
        waiting: list[Batch] = []
        for block in self._blocks(rng):
            waiting.append(block)
            if sum(map(len, waiting)) < size:
                continue
            whole = _joined(waiting)
            full = len(whole) // size * size
            for start in range(0, full, size):
                yield _rows_of(whole, slice(start, start + size))
            waiting = [_rows_of(whole, slice(full, None))] if full < len(whole) else []
        if waiting:
            yield _joined(waiting)

    def _blocks(self, rng: np.random.Generator | None) -> Iterator[Batch]:
        inputs: ChunkInputs = self.rows.X
        for place, X in inputs.blocks(rng):
            block = Rows(X, self.rows.y[place])
            arrays = [*self.model._arrays(X, self.learned)]
            arrays.append(self.model._targets(block, self.responses, self.criterion))
            if self.rows.weight is not None:
                arrays.append(np.maximum(self.rows.weight[place] / self.unit, 1e-30))
            made = tensors(arrays, self.device, self.dtype)
            if self.rows.weight is None:
                yield Batch(made[:-1], made[-1], None)
            else:
                yield Batch(made[:-2], made[-2], made[-1])


def _rows_of(batch: Batch, rows: slice) -> Batch:
    weight = None if batch.weight is None else batch.weight[rows]
    return Batch(tuple(each[rows] for each in batch.inputs), batch.targets[rows], weight)


def _joined(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    weight = None
    if batches[0].weight is not None:
        weight = torch.cat([each.weight for each in batches if each.weight is not None])
    inputs = zip(*(each.inputs for each in batches), strict=True)
    return Batch(
        tuple(torch.cat(each) for each in inputs),
        torch.cat([each.targets for each in batches]),
        weight,
    )
