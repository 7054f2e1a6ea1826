"""The card of a method: what it is, what it needs, what it offers, when to use it."""

from dataclasses import dataclass

__all__ = ["CAPABILITIES", "Card"]

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
    """One declaration a method, from which tests, comparison, pages and docs are made.

    Attributes
    ----------
    method : str
        Short name, the same for the classifier and the regressor of a method.
    title : str
        Name in words.
    task : {"regression", "classification"}
        What it predicts.
    knob : str or None
        Parameter that sets its complexity.
    strengths, weaknesses : tuple of str
        In words, one sentence each.
    cost : str
        Order of the cost of a fit with its whole path.
    source : str
        Items of the course notes it implements.
    standardize : bool
        Whether it wants its inputs on one scale first.
    most_rows : int or None
        Beyond this many rows a fit takes minutes: a comparison leaves the method out unless it is
        asked for by name.
    twin_of : str or None
        Method that gives the same answer, or one so near that a comparison shows one of the two,
        unless both are asked for by name.
    n_inputs : int or None
        The most input columns it takes: a comparison leaves the method out of a wider table.
    ordered : bool
        Whether it learns the rows in their order, so that another order is another answer.
    missing, categories, wide, stream, chunks, linear_smoother, probabilities, weights, multioutput
        Capabilities, see `CAPABILITIES`.
    """

    method: str
    title: str
    task: str
    knob: str | None
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    cost: str
    source: str
    standardize: bool = False
    most_rows: int | None = None
    twin_of: str | None = None
    n_inputs: int | None = None
    ordered: bool = False
    missing: bool = False
    categories: bool = False
    wide: bool = False
    stream: bool = False
    chunks: bool = False
    linear_smoother: bool = False
    probabilities: bool = False
    weights: bool = False
    multioutput: bool = False
