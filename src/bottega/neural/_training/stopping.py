"""When to stop: a number of epochs that bring too little."""

from dataclasses import dataclass
from math import inf

__all__ = ["EpochPatience"]


@dataclass
class EpochPatience:
    """Counts the epochs that did not lower a loss by more than `tol` below the least so far.

    Examples
    --------
    >>> patience = EpochPatience(tol=0.1, epochs=2)
    >>> [patience.used_up(loss) for loss in (3.0, 2.0, 1.95, 1.99, 1.94)]
    [False, False, False, False, True]
    """

    tol: float
    epochs: int
    least: float = inf
    without: int = 0

    def used_up(self, loss: float) -> bool:
        """Take in the loss of an epoch; return whether more than `epochs` in a row were of no use.

        As in scikit-learn.
        """
        self.without = self.without + 1 if loss > self.least - self.tol else 0
        self.least = min(self.least, loss)
        return self.without > self.epochs

    def start_again(self) -> None:
        """Forget the epochs without use, not the least loss."""
        self.without = 0
