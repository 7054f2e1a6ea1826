"""A claim about risk, with its interval, its confidence and what it assumes."""

import math
from dataclasses import dataclass
from html import escape

from bottega.core.tables import wrapped

__all__ = ["Certificate"]


@dataclass(frozen=True, repr=False)
class Certificate:
    """An estimate of risk that says how far it can be trusted.

    Attributes
    ----------
    estimate : float
        The estimated risk.
    lower, upper : float
        Bounds that hold together with probability at least ``1 - delta``; an infinite bound
        claims nothing on its side.
    delta : float
        Probability with which the claim may be false.
    method : str
        Name of the bound or interval.
    assumptions : tuple of str
        What must be true for the claim to hold, one sentence each.
    n : int
        Number of rows the estimate rests on.
    quantity : str
        What is estimated, in words.
    approximate : bool
        Whether the confidence is only reached as n grows (a normal approximation).
    n_groups : int or None
        Number of groups that the rows are in, where the groups are the independent units.

    Examples
    --------
    >>> rows = ("The rows are independent.",)
    >>> print(Certificate(0.1, 0.06, 0.16, 0.05, "Clopper-Pearson", rows, 200))
    risk 0.1, between 0.06 and 0.16 with probability at least 95% (Clopper-Pearson, n = 200)
    """

    estimate: float
    lower: float
    upper: float
    delta: float
    method: str
    assumptions: tuple[str, ...]
    n: int
    quantity: str = "risk"
    approximate: bool = False
    n_groups: int | None = None

    def __post_init__(self) -> None:
        if not self.lower <= self.estimate <= self.upper:
            raise ValueError(
                f"A certificate's estimate must lie between its bounds; got "
                f"{self.lower} <= {self.estimate} <= {self.upper}."
            )
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must lie strictly between 0 and 1; got {self.delta}.")
        object.__setattr__(self, "assumptions", tuple(self.assumptions))

    @property
    def confidence(self) -> float:
        """The probability with which the claim holds, at least."""
        return 1 - self.delta

    @property
    def is_without_limits(self) -> bool:
        """Whether the rows say nothing about how large the quantity may be."""
        return math.isinf(self.upper) and self.lower <= 0

    def __str__(self) -> str:
        how = f"({self.method}, n = {self._size()})"
        if self.is_without_limits:
            return f"{self.quantity} {self.estimate:.4g} {how}"
        return (
            f"{self.quantity} {self.estimate:.4g}, between {self.lower:.4g} and {self.upper:.4g} "
            f"with probability {'about' if self.approximate else 'at least'} "
            f"{100 * self.confidence:.12g}% {how}"
        )

    def _size(self) -> str:
        if self.n_groups is None:
            return f"{self.n:,}"
        return f"{self.n_groups:,} groups with {self.n:,} rows"

    def __repr__(self) -> str:
        lines = wrapped(str(self))
        if self.assumptions:
            lines.append("This holds if:")
            lines += [line for sentence in self.assumptions for line in wrapped(sentence, "- ")]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        assumed = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.assumptions)
        return (
            f'<div class="bottega-certificate"><p><strong>{escape(str(self))}</strong></p>'
            f"<p>This holds if:</p><ul>{assumed}</ul></div>"
        )
