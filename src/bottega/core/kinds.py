"""Kinds of values that a parameter may have: numbers, truth values, words, functions, seeds."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral
from numbers import Real as RealNumber
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError, did_you_mean

__all__ = [
    "Anything",
    "Boolean",
    "Choice",
    "ClassWeight",
    "Function",
    "Integer",
    "Nothing",
    "Parameter",
    "Real",
    "Seed",
    "Text",
]


@dataclass(frozen=True)
class Parameter(ABC):
    """What one parameter may be, with a line of help."""

    help: str = field(default="", kw_only=True)

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Return True if `value` is allowed."""

    @abstractmethod
    def describe(self) -> str:
        """Return the allowed set in words, fit to follow 'must be'."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return the allowed set as JSON schema."""

    @abstractmethod
    def parse(self, text: str) -> Any:
        """Read a value typed on a command line; ValueError if it is not of this kind."""

    def words(self) -> tuple[str, ...]:
        """Return the words that are allowed by name."""
        return ()

    def check(self, owner: str, name: str, value: Any) -> None:
        """Raise `ParameterError` unless `value` is allowed."""
        if not self.accepts(value):
            meant = did_you_mean(value, self.words()) if isinstance(value, str) else ""
            raise ParameterError(
                f"{owner}: {name}={value!r} is not allowed; {name} must be {self.describe()}."
                f"{meant}"
            )


def _interval(
    low: float | None, high: float | None, open_low: bool, open_high: bool, endless: bool = False
) -> str:
    left = "(-inf" if low is None else f"{'(' if open_low else '['}{low:g}"
    right = "inf" if high is None else f"{high:g}"
    right += ")" if (not endless if high is None else open_high) else "]"
    return f"{left}, {right}"


@dataclass(frozen=True)
class Real(Parameter):
    """A number in an interval; `log` says that it is best searched on the log scale.

    It is finite, unless the interval is `endless`: then infinity is allowed too.
    """

    low: float | None = None
    high: float | None = None
    log: bool = field(default=False, kw_only=True)
    open_low: bool = field(default=False, kw_only=True)
    open_high: bool = field(default=False, kw_only=True)
    endless: bool = field(default=False, kw_only=True)

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a number inside the interval."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, RealNumber):
            return False
        number = float(value)
        if not np.isfinite(number):
            return self.endless and number == np.inf
        if self.low is not None and (number < self.low or (self.open_low and number == self.low)):
            return False
        return not (
            self.high is not None
            and (number > self.high or (self.open_high and number == self.high))
        )

    def describe(self) -> str:
        """Return the interval in words."""
        ends = self.low, self.high, self.open_low, self.open_high, self.endless
        return f"a number in {_interval(*ends)}"

    def schema(self) -> dict[str, Any]:
        """Return the interval as JSON schema."""
        found: dict[str, Any] = {"type": "number"}
        if self.low is not None:
            found["exclusiveMinimum" if self.open_low else "minimum"] = self.low
        if self.high is not None:
            found["exclusiveMaximum" if self.open_high else "maximum"] = self.high
        if self.log:
            found["scale"] = "log"
        return found

    def parse(self, text: str) -> float:
        """Read a number."""
        return float(text)


@dataclass(frozen=True)
class Integer(Parameter):
    """A whole number in a closed interval."""

    low: int | None = None
    high: int | None = None

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a whole number inside the interval."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
            return False
        return (self.low is None or int(value) >= self.low) and (
            self.high is None or int(value) <= self.high
        )

    def describe(self) -> str:
        """Return the interval in words."""
        return f"a whole number in {_interval(self.low, self.high, False, False)}"

    def schema(self) -> dict[str, Any]:
        """Return the interval as JSON schema."""
        found: dict[str, Any] = {"type": "integer"}
        if self.low is not None:
            found["minimum"] = self.low
        if self.high is not None:
            found["maximum"] = self.high
        return found

    def parse(self, text: str) -> int:
        """Read a whole number."""
        return int(text)


@dataclass(frozen=True)
class Boolean(Parameter):
    """True or False."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a truth value."""
        return isinstance(value, bool | np.bool_)

    def describe(self) -> str:
        """Return the two values."""
        return "True or False"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a truth value."""
        return {"type": "boolean"}

    def parse(self, text: str) -> bool:
        """Read yes/no, true/false, on/off, 1/0."""
        word = text.strip().lower()
        if word in {"true", "yes", "on", "1"}:
            return True
        if word in {"false", "no", "off", "0"}:
            return False
        raise ValueError(f"{text!r} is not a truth value")


@dataclass(frozen=True, init=False)
class Choice(Parameter):
    """One of the named options."""

    options: tuple[str, ...]

    def __init__(self, *options: str, help: str = "") -> None:
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "help", help)

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is one of the options."""
        return isinstance(value, str) and value in self.options

    def describe(self) -> str:
        """Return the options in words."""
        return "one of " + ", ".join(repr(option) for option in self.options)

    def words(self) -> tuple[str, ...]:
        """Return the options."""
        return self.options

    def schema(self) -> dict[str, Any]:
        """Return the options as JSON schema."""
        return {"type": "string", "enum": list(self.options)}

    def parse(self, text: str) -> str:
        """Read one of the options."""
        if text not in self.options:
            raise ValueError(f"{text!r} is not {self.describe()}")
        return text


@dataclass(frozen=True)
class Text(Parameter):
    """Any string."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a string."""
        return isinstance(value, str)

    def describe(self) -> str:
        """Return the words 'a string'."""
        return "a string"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a string."""
        return {"type": "string"}

    def parse(self, text: str) -> str:
        """Return the text as it is."""
        return text


@dataclass(frozen=True)
class Function(Parameter):
    """Any callable; it cannot be given on a command line."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` can be called."""
        return callable(value)

    def describe(self) -> str:
        """Return the words 'a callable'."""
        return "a callable"

    def schema(self) -> dict[str, Any]:
        """Return a schema that admits nothing: a function has no JSON form."""
        return {"not": {}}

    def parse(self, text: str) -> Any:
        """Refuse: a function cannot be typed in."""
        raise ValueError("a function can only be given from Python")


@dataclass(frozen=True)
class Seed(Parameter):
    """A seed of randomness: None, a whole number, or a NumPy generator."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` can seed a generator."""
        if value is None or isinstance(value, np.random.Generator | np.random.RandomState):
            return True
        return Integer(0).accepts(value)

    def describe(self) -> str:
        """Return the allowed seeds in words."""
        return "None, a whole number at least 0, or a numpy random generator"

    def schema(self) -> dict[str, Any]:
        """Return the JSON form: a whole number or null."""
        return {"type": ["integer", "null"], "minimum": 0}

    def parse(self, text: str) -> int:
        """Read a whole number."""
        return int(text)


@dataclass(frozen=True)
class Nothing(Parameter):
    """None."""

    def accepts(self, value: Any) -> bool:
        """Return True for None."""
        return value is None

    def describe(self) -> str:
        """Return the word `None`."""
        return "None"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of null."""
        return {"type": "null"}

    def parse(self, text: str) -> None:
        """Read none, null, or nothing."""
        if text.strip().lower() not in {"none", "null", ""}:
            raise ValueError(f"{text!r} is not None")


@dataclass(frozen=True)
class Anything(Parameter):
    """A value that only the data can judge (a label, say)."""

    def accepts(self, value: Any) -> bool:
        """Admit everything."""
        return True

    def describe(self) -> str:
        """Return the words 'anything'."""
        return "anything"

    def schema(self) -> dict[str, Any]:
        """Return the schema that admits everything."""
        return {}

    def parse(self, text: str) -> str:
        """Return the text as it is."""
        return text


@dataclass(frozen=True)
class ClassWeight(Parameter):
    """Weights of classes: None, the word 'balanced', or a dict by label.

    With `several` also a list of dicts, one for each response.
    """

    several: bool = False

    def accepts(self, value: Any) -> bool:
        """Return True for None, 'balanced' and a mapping."""
        if self.several and isinstance(value, list | tuple):
            return all(isinstance(each, Mapping) for each in value)
        return value is None or isinstance(value, Mapping) or self._is_word(value)

    @staticmethod
    def _is_word(value: Any) -> bool:
        return isinstance(value, str) and value == "balanced"

    def describe(self) -> str:
        """Return the forms in words."""
        more = "; for several responses a list of such dicts" if self.several else ""
        return f"None, 'balanced', or a dict of a number for each class{more}"

    def schema(self) -> dict[str, Any]:
        """Return the forms as JSON schema; the keys of an object are strings."""
        return {"anyOf": [{"type": "null"}, {"type": "string", "enum": ["balanced"]}]}

    def parse(self, text: str) -> str | None:
        """Read 'balanced', or none."""
        if self._is_word(text):
            return text
        Nothing().parse(text)
        return None
