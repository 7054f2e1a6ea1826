"""How large the output of a convolution is."""

from bottega.core.errors import InputError
from bottega.core.kinds import Integer
from bottega.neural._images.padding import sides

__all__ = ["conv_size"]


def conv_size(
    size: int,
    kernel: int,
    *,
    padding: str | int = "valid",
    stride: int = 1,
    dilation: int = 1,
) -> int:
    r"""Return the length of the output of a convolution or a pooling along one axis.

    .. math:: D' = \left\lfloor \frac{D + P - \delta (K - 1) - 1}{S} \right\rfloor + 1

    Parameters
    ----------
    size : int
        Length D of the input.
    kernel : int
        Length K of the filter.
    padding : {"valid", "same", "full"} or int
        ``"valid"``: no zeros, D' = D - K + 1. ``"same"``: P = K - 1 zeros, D' = D with stride 1.
        ``"full"``: K - 1 zeros on each side, D' = D + K - 1. A number: zeros on each side, so P is
        twice it.
    stride : int
        Step S of the filter; with a larger one fewer positions are visited. What does not fill a
        whole step at the end is left out.
    dilation : int
        Distance :math:`\delta` between the entries of the filter in the input.

    Returns
    -------
    int
        Length D' of the output.

    Examples
    --------
    >>> [conv_size(15, 3, padding=each) for each in ("valid", "same", "full")]
    [13, 15, 17]
    >>> conv_size(28, 3, padding=1, stride=2)
    14
    """
    given = {"size": size, "kernel": kernel, "stride": stride, "dilation": dilation}
    for name, value in given.items():
        Integer(1).check("conv_size", name, value)
    total = sum(sides(kernel, padding, dilation))
    room = size + total - dilation * (kernel - 1) - 1
    if room < 0:
        raise InputError(
            f"A filter of length {dilation * (kernel - 1) + 1} does not fit into {size + total} "
            f"places (size={size}, with {total} zeros); use a smaller kernel or padding='same'."
        )
    return room // stride + 1
