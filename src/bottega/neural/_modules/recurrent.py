"""Networks for sequences: one state, changed step by step by the same weights.

A step takes the state before it and the input, h(t) = f(h(t-1), x(t)); the number of weights does
not depend on the length of a sequence. The three patterns of the notes differ in what is an output
and in what goes on to the next step.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from bottega.neural._modules.random_layers import DroppedUnits

__all__ = [
    "CELLS",
    "PATTERNS",
    "OutputRecurrence",
    "SequenceNetwork",
    "inside",
    "mean_over_steps",
    "sequence_network",
]

CELLS = {"vanilla": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
PATTERNS = ("last", "every", "output")


def inside(lengths: torch.Tensor, steps: int) -> torch.Tensor:
    """Return 1 for the steps of each sequence, 0 for what fills it up, of shape (n, T).

    Examples
    --------
    >>> inside(torch.tensor([1, 3]), 3)
    tensor([[1., 0., 0.],
            [1., 1., 1.]])
    """
    places = torch.arange(steps, device=lengths.device)
    return (places < lengths[:, None]).to(torch.get_default_dtype())


def mean_over_steps(values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return the mean of values (n, T, d) over the steps of each sequence."""
    mask = inside(lengths, values.shape[1]).to(values.dtype)[:, :, None]
    return (values * mask).sum(1) / lengths[:, None].to(values.dtype)


class OutputRecurrence(nn.Module):
    """Pattern B: the state is made of the input and of the output before it.

    h(t) = tanh(U x(t) + W o(t-1) + b) and o(t) = V h(t) + c, with o(0) = 0: what the output does
    not show is forgotten.
    """

    def __init__(self, n_inputs: int, width: int, n_outputs: int) -> None:
        super().__init__()
        self.enter = nn.Linear(n_inputs, width)
        self.again = nn.Linear(n_outputs, width, bias=False)
        self.leave = nn.Linear(width, n_outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs (n, T, k) for inputs (n, T, d)."""
        entered = self.enter(x)
        o = x.new_zeros(len(x), self.leave.out_features)
        found = []
        for t in range(x.shape[1]):
            o = self.leave(torch.tanh(entered[:, t] + self.again(o)))
            found.append(o)
        return torch.stack(found, 1)


class SequenceNetwork(nn.Module):
    """A recurrent network with one of the three patterns.

    ``"last"`` (C): one output, from the state after the last step. ``"every"`` (A): an output at
    every step; the answer is their mean. ``"output"`` (B): the same with `OutputRecurrence`.
    With `by_step` the answer of the last two is the output of each step.
    """

    def __init__(
        self,
        n_inputs: int,
        width: int,
        n_outputs: int,
        *,
        cell: str = "gru",
        pattern: str = "last",
        layers: int = 1,
        bidirectional: bool = False,
        keep: float = 1.0,
        by_step: bool = False,
    ) -> None:
        super().__init__()
        self.n_inputs, self.pattern, self.by_step = n_inputs, pattern, by_step
        self.drop = DroppedUnits(keep)
        if pattern == "output":
            self.steps: nn.Module = OutputRecurrence(n_inputs, width, n_outputs)
            return
        self.steps = CELLS[cell](
            n_inputs, width, layers, batch_first=True, bidirectional=bidirectional
        )
        self.leave = nn.Linear(width * (1 + bidirectional), n_outputs)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Return the answers for sequences (n, T, d), or (n, T) of single numbers."""
        x, lengths = as_sequences(x, lengths, self.n_inputs)
        if self.pattern == "last":
            return self.leave(self.drop(self._last(x, lengths)))
        found = self.step_outputs(x, lengths)
        return found.flatten(1) if self.by_step else mean_over_steps(found, lengths)

    def step_outputs(self, x: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Return the output of each step, of shape (n, T, k)."""
        x, lengths = as_sequences(x, lengths, self.n_inputs)
        if self.pattern == "output":
            return self.steps(x)
        return self.leave(self.drop(self._states(x, lengths)))

    def _states(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the state at every step; sequences of unequal length are packed."""
        if bool((lengths == x.shape[1]).all()):
            return self.steps(x)[0]
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.steps(packed)[0], batch_first=True, total_length=x.shape[1]
        )
        return states

    def _last(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the state after the last step; of the way back that of the first step."""
        states = self._states(x, lengths)
        rows = torch.arange(len(x), device=x.device)
        last = states[rows, lengths - 1]
        if not self.steps.bidirectional:
            return last
        width = states.shape[2] // 2
        return torch.cat([last[:, :width], states[:, 0, width:]], 1)


def as_sequences(
    x: torch.Tensor, lengths: torch.Tensor | None, n_inputs: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sequences of shape (n, T, d) and their lengths, all of T where none are given."""
    x = x.reshape(len(x), -1, n_inputs)
    if lengths is None:
        lengths = torch.full((len(x),), x.shape[1], dtype=torch.int64, device=x.device)
    return x, lengths


def sequence_network(description: Mapping[str, Any]) -> SequenceNetwork:
    """Return the network of a description, with PyTorch's own first weights."""
    return SequenceNetwork(
        description["n_inputs"],
        description["width"],
        description["n_outputs"],
        cell=description["cell"],
        pattern=description["pattern"],
        layers=description["layers"],
        bidirectional=description["bidirectional"],
        keep=description["keep"],
        by_step=description["by_step"],
    )
