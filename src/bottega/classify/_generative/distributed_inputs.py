"""Inputs of mixed kinds, each with the distribution that the user gives it."""

from collections.abc import Mapping
from typing import Any

from bottega.core.errors import ParameterError
from bottega.core.stored import stored
from bottega.data.mixed_inputs import MixedInputs

__all__ = ["FAMILIES", "DistributedInputs", "check_distributions"]

FAMILIES = ("gaussian", "kernel", "bernoulli", "categorical", "poisson")


@stored
class DistributedInputs(MixedInputs):
    """Reads inputs of mixed kinds, and knows the distribution that is declared for each column.

    Attributes
    ----------
    declared : list of str
        The distribution that the user gives each column, ``"auto"`` for none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.declared: list[str] = []

    def start(self, estimator: Any, kinds: list[str]) -> None:
        super().start(estimator, kinds)
        self.declared = self._declarations(estimator.distributions)
        for j, family in enumerate(self.declared):
            if family == "categorical":
                self.levels[j] = []

    def _declarations(self, given: Any) -> list[str]:
        """Return the distribution that is given for each column."""
        if isinstance(given, str):
            return ["auto" if kind == "category" else given for kind in self.kinds]
        found = ["auto"] * len(self.kinds)
        for one, family in given.items():
            found[self.number_of(one, "distributions")] = family
        for kind, family, name in zip(self.kinds, found, self.names, strict=True):
            if kind == "category" and family not in ("auto", "categorical"):
                raise ParameterError(
                    f"distributions: column {name!r} holds categories, and {family!r} is for "
                    "numbers; leave it out, or give 'categorical'."
                )
        return found


def check_distributions(given: Any) -> bool:
    """Return True for a distribution, ``"auto"``, or a mapping of columns to distributions."""
    if isinstance(given, Mapping):
        return all(isinstance(each, str) and each in FAMILIES for each in given.values())
    return isinstance(given, str) and given in ("auto", *FAMILIES)
