"""Rows that lie whole on a device, and the batches in which an epoch sees them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch

from bottega.core.errors import InputError

__all__ = ["Batch", "ResidentRows", "several_rows", "without_single_rows"]


def without_single_rows(size: int, n: int) -> int:
    """Return the least batch size from `size` on that leaves no row alone of n, which are several.

    A row alone has no variance, by which batch normalisation would divide.

    Examples
    --------
    >>> without_single_rows(20, 41), without_single_rows(20, 40)
    (21, 20)
    """
    while n % size == 1:
        size += 1
    return size


@contextmanager
def several_rows() -> Iterator[None]:
    """Say what to do where batch normalisation has met a batch of one row."""
    try:
        yield
    except ValueError as error:
        if "more than 1 value per channel" not in str(error):  # PyTorch's words
            raise
        raise InputError(
            "Batch normalisation divides by the spread of a batch, and a batch of one row has "
            "none (n_samples = 1, or batch_size = 1); give several rows and batch_size=2 or more, "
            "or batch_norm=False."
        ) from error


@dataclass(frozen=True)
class Batch:
    """Some rows: what the module takes, the targets, and the weights if there are any."""

    inputs: tuple[torch.Tensor, ...]
    targets: torch.Tensor
    weight: torch.Tensor | None

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class ResidentRows:
    """All rows as tensors on the device: a batch is a list of their positions.

    Attributes
    ----------
    inputs : tuple of torch.Tensor
        What the module's ``forward`` takes, each with one entry per row.
    targets : torch.Tensor
        One entry per row.
    weight : torch.Tensor of shape (n,) or None
        Weights of the rows, divided by `unit`.
    unit : float
        Size of the weights, which single precision might not hold.
    """

    inputs: Sequence[torch.Tensor]
    targets: torch.Tensor
    weight: torch.Tensor | None = None
    unit: float = 1.0

    def __len__(self) -> int:
        return len(self.targets)

    def take(self, rows: torch.Tensor) -> Batch:
        """Return the rows at some positions."""
        return Batch(
            tuple(each.index_select(0, rows) for each in self.inputs),
            self.targets.index_select(0, rows),
            None if self.weight is None else self.weight.index_select(0, rows),
        )

    def part(self, rows: torch.Tensor) -> "ResidentRows":
        """Return some of the rows, in the same units."""
        return replace(self, **vars(self.take(rows)))

    def all(self) -> Batch:
        """Return all rows as one batch."""
        return Batch(tuple(self.inputs), self.targets, self.weight)

    def total(self, batch: Batch) -> float:
        """Return the weight of a batch's rows together, or their number."""
        return self.unit * float(len(batch) if batch.weight is None else batch.weight.sum())

    def epoch(self, size: int, generator: torch.Generator | None) -> Iterator[Batch]:
        """Yield each row once, in batches of `size`: shuffled by `generator`, or as they come."""
        n = len(self)
        if size >= n:
            yield self.all()
            return
        if generator is None:
            for start in range(0, n, size):
                rows = slice(start, min(start + size, n))
                yield Batch(
                    tuple(each[rows] for each in self.inputs),
                    self.targets[rows],
                    None if self.weight is None else self.weight[rows],
                )
            return
        order = torch.randperm(n, generator=generator).to(self.targets.device)
        for rows in order.split(size):
            yield self.take(rows)
