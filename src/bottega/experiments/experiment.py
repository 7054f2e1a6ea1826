"""A claim of the course notes, put to the test: the numbers, the verdict and a picture."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import make_frame

__all__ = ["CLAIMS", "Claim", "Experiment", "claims", "experiment", "run"]


@dataclass(frozen=True)
class Claim:
    """One claim that a program can test.

    Attributes
    ----------
    id : str
        Where the claim is listed: ``"A-E05"``, ``"D-E3"`` or ``"M-X12"``.
    text : str
        The claim in one sentence.
    items : str
        Items of the notes it rests on.
    verdict : str
        ``"holds"``, or ``"wrong: ..."`` or ``"holds only if ..."`` with the reason.
    call : callable
        The function that tests it.
    """

    id: str
    text: str
    items: str
    verdict: str
    call: Callable[..., "Experiment"]


CLAIMS: dict[str, Claim] = {}


@dataclass(frozen=True)
class Experiment:
    """What an experiment found.

    Attributes
    ----------
    columns : mapping of str to sequence
        The numbers, column by column.
    holds : bool
        Whether the numbers bear the verdict out.
    finding : str
        What was found, in one sentence with its numbers.
    draw : callable
        From no arguments to a chart.
    """

    columns: Mapping[str, Any]
    holds: bool
    finding: str
    draw: Callable[[], Any]

    def to_frame(self, like: Any = None) -> Any:
        """Return the numbers as a data frame."""
        return make_frame(self.columns, like)

    def plot(self) -> Any:
        """Return the chart."""
        return self.draw()

    def __str__(self) -> str:
        return f"{'borne out' if self.holds else 'NOT borne out'}: {self.finding}"


def experiment(
    *ids: str, claim: str, items: str, verdict: str = "holds"
) -> Callable[[Callable[..., Experiment]], Callable[..., Experiment]]:
    """Enter a function as the test of the claims `ids`."""

    def enter(call: Callable[..., Experiment]) -> Callable[..., Experiment]:
        @wraps(call)
        def tested(*args: Any, **options: Any) -> Experiment:
            return call(*args, **options)

        for each in ids:
            if each in CLAIMS:
                raise ValueError(f"The claim {each} is entered twice.")
            CLAIMS[each] = Claim(each, claim, items, verdict, tested)
        return tested

    return enter


def run(id: str, **options: Any) -> Experiment:
    """Test the claim with this id.

    Examples
    --------
    >>> from bottega import experiments
    >>> bool(experiments.run("A-E09").holds)
    True
    """
    if id not in CLAIMS:
        raise InputError(f"There is no experiment {id!r}.{did_you_mean(id, list(CLAIMS))}")
    return CLAIMS[id].call(**options)


def claims(like: Any = None) -> Any:
    """Return all claims as a data frame: id, claim, items, call and verdict.

    Examples
    --------
    >>> from bottega import experiments
    >>> experiments.claims().columns.tolist()
    ['id', 'claim', 'items', 'call', 'verdict']
    """
    return make_frame(
        {
            "id": [each.id for each in CLAIMS.values()],
            "claim": [each.text for each in CLAIMS.values()],
            "items": [each.items for each in CLAIMS.values()],
            "call": [f"bottega.experiments.{each.call.__name__}()" for each in CLAIMS.values()],
            "verdict": [each.verdict for each in CLAIMS.values()],
        },
        like,
    )
