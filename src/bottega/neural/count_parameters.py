"""Numbers of weights: of layers before they are made, and of networks."""

from itertools import pairwise
from typing import Any

from bottega.core.errors import InputError
from bottega.core.kinds import Integer

__all__ = ["conv_parameters", "count_parameters", "dense_parameters"]


def dense_parameters(*sizes: int, bias: bool = True) -> int:
    """Return the number of weights of dense layers of these sizes, inputs first.

    Parameters
    ----------
    *sizes : int
        Number of inputs, of units of each hidden layer, of outputs.
    bias : bool
        Whether each unit has one more weight, its bias.

    Examples
    --------
    >>> dense_parameters(100 * 100, 1000, bias=False)
    10000000
    """
    if len(sizes) < 2:
        raise InputError(f"sizes={sizes} are too few: give at least inputs and outputs.")
    for size in sizes:
        Integer(1).check("dense_parameters", "sizes", size)
    return sum((a + bias) * b for a, b in pairwise(sizes))


def conv_parameters(
    kernel: int | tuple[int, int], channels_in: int, channels_out: int, *, bias: bool = True
) -> int:
    """Return the number of weights of a convolution, whatever the size of the image.

    Parameters
    ----------
    kernel : int or (int, int)
        Height and width of the filters.
    channels_in, channels_out : int
        Maps that come in, and filters.
    bias : bool
        Whether each filter has a bias.

    Examples
    --------
    >>> conv_parameters(5, 1, 1000, bias=False)
    25000
    """
    high, wide = (kernel, kernel) if isinstance(kernel, int) else kernel
    for size in (high, wide, channels_in, channels_out):
        Integer(1).check("conv_parameters", "sizes", size)
    return (high * wide * channels_in + bias) * channels_out


def count_parameters(network: Any, trainable: bool = True) -> int:
    """Return the number of weights of a network.

    Parameters
    ----------
    network : torch.nn.Module, or fitted network of bottega
        The network.
    trainable : bool
        Count the weights that are learnt only; not those that are held fixed.

    Examples
    --------
    >>> import torch
    >>> count_parameters(torch.nn.Linear(3, 4))
    16
    """
    module = network._module() if hasattr(network, "arrays_") else network
    if not callable(getattr(module, "parameters", None)):
        raise InputError(
            f"{type(network).__name__} has no weights to count; give a torch module or a fitted "
            "network."
        )
    return sum(p.numel() for p in module.parameters() if p.requires_grad or not trainable)
