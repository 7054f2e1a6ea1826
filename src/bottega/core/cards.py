"""The card of a method: what it is, what it takes, what it offers, when to use it."""

from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from typing import Any

from sklearn.utils import get_tags

__all__ = ["CAPABILITIES", "INPUTS", "TASKS", "Card"]

TASKS = (
    *("regression", "classification", "clustering", "decomposition", "density"),
    *("text", "quantification", "experts"),
)
INPUTS = ("number", "category", "missing", "text", "image", "sequence")
CAPABILITIES = {
    "missing": "takes missing values as they are",
    "categories": "takes categories as they are",
    "wide": "works with more columns than rows",
    "stream": "learns row by row",
    "chunks": "fits data larger than memory",
    "linear_smoother": "predicts by a matrix that does not depend on y",
    "probabilities": "gives class probabilities",
    "weights": "takes sample weights",
    "multioutput": "takes several responses",
}


@dataclass(frozen=True)
class Card:
    """The one declaration of a method, from which tests, comparison, pages and docs are made.

    What the class itself shows (its knob, chunks, streams, probabilities, weights, several
    responses, a smoother matrix) is derived from it, not declared.

    Attributes
    ----------
    method : str
        Short name, the same for the classifier and the regressor of a method.
    title : str
        Name in words.
    task : str
        What it is for, one of `TASKS`.
    strengths, weaknesses, assumptions : tuple of str
        In words, one sentence each.
    cost : str
        Order of the cost of a fit with its whole path.
    source : str
        Items of the course notes it implements.
    takes : frozenset of str
        Kinds of inputs it takes as they are, from `INPUTS`.
    wide : bool
        Whether it works with more columns than rows.
    standardize : bool
        Whether it needs its inputs on one scale first.
    most_rows : int or None
        Beyond this many rows a fit takes minutes: a comparison skips the method unless it is asked
        for by name.
    twin_of : str or None
        Method that gives the same answer, or one so near that a comparison shows one of the two,
        unless both are asked for by name.
    n_inputs : int or None
        The most input columns it takes: a comparison skips the method for a wider table.
    ordered : bool
        Whether it learns the rows in their order, so that another order is another answer.
    needs : tuple of (library, extra) or None
        A library that only an extra of the package brings: without it a comparison skips the
        method.
    estimator : type or None
        The class, set when it is defined.
    """

    method: str
    title: str
    task: str
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    assumptions: tuple[str, ...]
    cost: str
    source: str
    takes: frozenset[str] = frozenset({"number"})
    wide: bool = False
    standardize: bool = False
    most_rows: int | None = None
    twin_of: str | None = None
    n_inputs: int | None = None
    ordered: bool = False
    needs: tuple[str, str] | None = None
    estimator: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"task={self.task!r} is not one of {', '.join(TASKS)}.")
        unknown = set(self.takes) - set(INPUTS)
        if unknown:
            raise ValueError(f"takes={sorted(unknown)} is not among {', '.join(INPUTS)}.")

    @property
    def topic(self) -> str:
        """Folder of the package that its class is in, such as "linear"."""
        _, _, inside = getattr(self.estimator, "__module__", "").partition(".")
        return inside.partition(".")[0]

    @property
    def knob(self) -> str | None:
        """Parameter that sets its complexity."""
        return getattr(self.estimator, "knob", None)

    @property
    def knobs(self) -> tuple[str, ...]:
        """All parameters that its path may set."""
        return getattr(self.estimator, "knobs", ())

    @property
    def missing(self) -> bool:
        """Whether it takes missing values as they are."""
        return "missing" in self.takes

    @property
    def categories(self) -> bool:
        """Whether it takes categories as they are."""
        return "category" in self.takes

    @property
    def stream(self) -> bool:
        """Whether it learns row by row."""
        return hasattr(self.estimator, "partial_fit")

    @property
    def chunks(self) -> bool:
        """Whether it fits data larger than memory."""
        return hasattr(self.estimator, "fit_chunks")

    @property
    def linear_smoother(self) -> bool:
        """Whether it predicts by a matrix that does not depend on y."""
        return hasattr(self.estimator, "loo_residuals_")

    @property
    def probabilities(self) -> bool:
        """Whether it gives class probabilities."""
        return hasattr(self.estimator, "predict_proba")

    @property
    def weights(self) -> bool:
        """Whether it takes sample weights."""
        return "sample_weight" in signature(self.estimator.fit).parameters

    @property
    def multioutput(self) -> bool:
        """Whether it takes several responses."""
        return _takes_several(self.estimator)


@cache
def _takes_several(estimator: Any) -> bool:
    try:
        return bool(get_tags(estimator()).target_tags.multi_output)
    except TypeError:  # a class that cannot be made without arguments
        return False
