"""Typed declarations of parameters.

Each estimator declares its parameters once, as a mapping of names to the objects of this module
and of `bottega.core.kinds`. The declaration validates what a user gives, writes the error message,
documents itself and lists itself as JSON schema, from which the command line and the web page make
their options.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import Signature, signature
from typing import Any

from bottega.core.kinds import (
    Anything,
    Boolean,
    Choice,
    ClassWeight,
    Function,
    Integer,
    Nothing,
    Parameter,
    Real,
    Seed,
    Text,
)

__all__ = [
    "AnyOf",
    "Anything",
    "Auto",
    "Boolean",
    "Choice",
    "ClassWeight",
    "Function",
    "Integer",
    "Jobs",
    "OrNone",
    "Parameter",
    "Real",
    "Seed",
    "Text",
    "check_params",
    "schema",
]


@dataclass(frozen=True, init=False)
class AnyOf(Parameter):
    """Whatever one of several declarations admits."""

    parts: tuple[Parameter, ...]

    def __init__(self, *parts: Parameter, help: str = "") -> None:
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "help", help)

    def accepts(self, value: Any) -> bool:
        """Return True if any part admits `value`."""
        return any(part.accepts(value) for part in self.parts)

    def words(self) -> tuple[str, ...]:
        """Return the words of all parts."""
        return tuple(word for part in self.parts for word in part.words())

    def describe(self) -> str:
        """Return the parts joined by 'or'."""
        return ", or ".join(part.describe() for part in self.parts)

    def schema(self) -> dict[str, Any]:
        """Return the parts that have a JSON form."""
        forms = [part.schema() for part in self.parts if not isinstance(part, Function)]
        return forms[0] if len(forms) == 1 else {"anyOf": forms}

    def parse(self, text: str) -> Any:
        """Return what the first part that understands the text makes of it."""
        for part in self.parts:
            try:
                return part.parse(text)
            except ValueError:
                continue
        raise ValueError(f"{text!r} is not {self.describe()}")


def Auto(inner: Parameter, *, help: str = "") -> AnyOf:  # noqa: N802
    """Declare a parameter that may be ``"auto"``: chosen from the data."""
    return AnyOf(Choice("auto"), inner, help=help or inner.help)


def without_words(parameter: Parameter) -> Parameter:
    """Return what a declaration admits beside words such as ``"auto"`` and None."""
    if not isinstance(parameter, AnyOf):
        return parameter
    words = (Choice, Text, Function, Nothing)
    parts = [without_words(part) for part in parameter.parts if not isinstance(part, words)]
    return parts[0] if len(parts) == 1 else AnyOf(*parts)


def OrNone(inner: Parameter, *, help: str = "") -> AnyOf:  # noqa: N802
    """Declare a parameter that may be None."""
    return AnyOf(Nothing(), inner, help=help or inner.help)


def Jobs() -> AnyOf:  # noqa: N802
    """Declare `n_jobs`."""
    help = "threads that work side by side; None or -1 for all cores"
    return OrNone(AnyOf(Integer(1), Integer(high=-1)), help=help)


def check_params(estimator: Any) -> None:
    """Check every declared parameter of an estimator; the first bad one raises."""
    declared: Mapping[str, Parameter] = estimator.params
    owner = type(estimator).__name__
    for name, parameter in declared.items():
        parameter.check(owner, name, getattr(estimator, name))


def schema(estimator_class: Any) -> dict[str, Any]:
    """Return the JSON schema of an estimator's parameters, with defaults and help.

    Examples
    --------
    >>> from bottega.linear import Ridge
    >>> schema(Ridge)["properties"]["standardize"]["default"]
    True
    """
    arguments = signature(estimator_class).parameters
    properties = {}
    for name, parameter in estimator_class.params.items():
        form = parameter.schema()
        if form == {"not": {}}:
            continue
        properties[name] = {**form, "description": parameter.help}
        if arguments[name].default is not Signature.empty:
            properties[name]["default"] = arguments[name].default
    return {
        "title": estimator_class.__name__,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
