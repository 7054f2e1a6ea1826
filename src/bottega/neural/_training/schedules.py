"""How long steps are, from epoch to epoch."""

from dataclasses import dataclass
from math import cos, pi

__all__ = ["SCHEDULES", "Schedule"]

SCHEDULES = ("constant", "inverse", "invscaling", "adaptive", "step", "cosine")
_HALVED = 300  # steps after which an inverse rate is half the first
_SMALLEST = 1e-6  # below this an adaptive rate ends the training, as in scikit-learn


@dataclass
class Schedule:
    """The learning rate, by the word for how it changes.

    Attributes
    ----------
    how : {"constant", "inverse", "invscaling", "adaptive", "step", "cosine"}
        ``"inverse"`` divides by 1 + t / 300 after t steps: few steps stay long, many come to
        rest, however many there will be; ``"invscaling"`` divides by the number of rows seen so
        far, to the power `power_t`; ``"adaptive"`` divides by 5 each time the loss has stopped
        falling; ``"step"`` halves every tenth of the `horizon`; ``"cosine"`` falls to zero over it
        along half a wave.
    start : float
        The first rate.
    power_t : float
        Power of ``"invscaling"``.
    horizon : int
        Epochs over which ``"step"`` and ``"cosine"`` fall.
    lowered : int
        How often an adaptive rate was lowered so far.
    """

    how: str
    start: float
    power_t: float = 0.5
    horizon: int = 200
    lowered: int = 0

    def rate(self, epoch: int, rows_seen: int, steps: int) -> float:
        """Return the rate of an epoch, the first of which is 0, after so many rows and steps."""
        if self.how == "inverse":
            return self.start / (1 + steps / _HALVED)
        if self.how == "invscaling" and epoch:
            return float(self.start / (rows_seen + 1) ** self.power_t)
        if self.how == "adaptive":
            return self.start / 5**self.lowered
        if self.how == "step":
            return float(self.start * 0.5 ** (10 * epoch // self.horizon))
        if self.how == "cosine":
            return self.start * (1 + cos(pi * min(epoch / self.horizon, 1))) / 2
        return self.start

    def goes_on(self) -> bool:
        """Lower an adaptive rate where the loss no longer falls; return whether to train on."""
        if self.how != "adaptive" or self.start / 5**self.lowered <= _SMALLEST:
            return False
        self.lowered += 1
        return True
