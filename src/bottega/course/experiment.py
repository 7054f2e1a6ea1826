"""A claim of the course notes, put to the test: the numbers, the verdict and a picture."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

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
    quick : mapping of str to object
        Options of `call` for a quick run with the same verdict.
    """

    id: str
    text: str
    items: str
    verdict: str
    call: Callable[..., "Experiment"]
    quick: Mapping[str, Any]


CLAIMS: dict[str, Claim] = {}


@dataclass(frozen=True)
class Experiment:
    """What an experiment found.

    Attributes
    ----------
    columns : mapping of str to sequence
        The numbers, column by column.
    holds : bool
        True if the numbers support the verdict.
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
        return f"{'supported' if self.holds else 'NOT supported'}: {self.finding}"


F = TypeVar("F", bound=Callable[..., Experiment])


def experiment(
    *ids: str,
    claim: str,
    items: str,
    verdict: str = "holds",
    quick: Mapping[str, Any] | None = None,
) -> Callable[[F], F]:
    """Register a function as the test of the claims `ids`; the parameters are those of `Claim`."""

    def register(call: F) -> F:
        for each in ids:
            if each in CLAIMS:
                raise ValueError(f"The claim {each} is registered twice.")
            CLAIMS[each] = Claim(each, claim, items, verdict, call, quick or {})
        return call

    return register


def run(id: str, **options: Any) -> Experiment:
    """Test the claim with this id.

    Examples
    --------
    >>> from bottega import course
    >>> bool(course.run("A-E09").holds)
    True
    """
    if id not in CLAIMS:
        raise InputError(f"There is no experiment {id!r}.{did_you_mean(id, list(CLAIMS))}")
    return CLAIMS[id].call(**options)


def claims(like: Any = None) -> Any:
    """Return all claims as a data frame: id, claim, items, call and verdict.

    Examples
    --------
    >>> from bottega import course
    >>> course.claims().columns.tolist()
    ['id', 'claim', 'items', 'call', 'verdict']
    """
    listed = sorted(CLAIMS.values(), key=lambda claim: (claim.id[:3], int(claim.id[3:])))
    return make_frame(
        {
            "id": [each.id for each in listed],
            "claim": [each.text for each in listed],
            "items": [each.items for each in listed],
            "call": [f"bottega.course.{each.call.__name__}()" for each in listed],
            "verdict": [each.verdict for each in listed],
        },
        like,
    )
