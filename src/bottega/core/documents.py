"""Docstrings of twins, written once: what two classes share is described in one of them."""

import inspect
import re
from collections.abc import Callable
from textwrap import wrap
from typing import Any, TypeVar

__all__ = ["documented_like", "with_inputs"]

T = TypeVar("T", bound=Callable[..., Any])  # a class, or a function

_HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
_SHARED = ("Parameters", "Attributes")
_WIDTH = 96
_INPUTS = {
    "n_features_in_": "n_features_in_ : int\n    Number of columns seen in `fit`.",
    "feature_names_in_": "feature_names_in_ : ndarray of shape (p,)\n"
    "    Names of the columns, when X is a data frame.",
}


def documented_like(other: Any, *, without: tuple[str, ...] = ()) -> Callable[[T], T]:
    r"""Complete the docstring of a class or a function by the entries that another describes.

    The numpydoc sections Parameters and Attributes get the entries of `other` that the docstring
    does not have itself: parameters, in the order of the signature, and attributes, but for those
    named in `without`.

    Examples
    --------
    >>> class First:
    ...     "One.\n\nParameters\n----------\na : int\n    A number."
    ...     def __init__(self, a): ...
    >>> @documented_like(First)
    ... class Second:
    ...     "Two."
    ...     def __init__(self, a): ...
    >>> Second.__doc__
    'Two.\n\nParameters\n----------\na : int\n    A number.'
    """

    def complete(cls: T) -> T:
        own, theirs = _sections(cls.__doc__), _sections(other.__doc__)
        constructor = [name for name in inspect.signature(cls).parameters if name != "self"]
        for heading in _SHARED:
            known = _entries(theirs.get(heading, ""))
            here = _entries(own.get(heading, ""))
            if heading == "Parameters":
                names = [name for name in constructor if name in here or name in known]
            else:
                names = [name for name in known if name not in without]
                names += [name for name in here if name not in names]
            if names:
                own[heading] = "\n".join(here.get(name, known.get(name, "")) for name in names)
        cls.__doc__ = _joined(own)
        return cls

    return complete


def with_inputs(text: str | None, note: str = "") -> str | None:
    """Return a class's docstring with the attributes that scikit-learn sets from the inputs.

    A `note` goes to the end of its Notes.
    """
    sections = _sections(text)
    if note and "Notes" in sections:
        sections["Notes"] += "\n\n" + "\n".join(wrap(note, _WIDTH))
        text = _joined(sections)
    known = _entries(sections.get("Attributes", ""))
    if not known:
        return text
    sections["Attributes"] = "\n".join((known | _INPUTS | known).values())
    return _joined(sections)


def _sections(text: str | None) -> dict[str, str]:
    """Return the sections of a docstring by heading; what stands before them under ''."""
    parts = _HEADING.split(inspect.cleandoc(text or ""))
    found = {"": parts[0].strip("\n")}
    found |= {
        heading: body.strip("\n") for heading, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    return found


def _entries(body: str) -> dict[str, str]:
    """Return the entries of a section by the (first) name they describe."""
    found: dict[str, str] = {}
    name = None
    for line in body.split("\n"):
        if line and not line[0].isspace():
            name = line.split(":")[0].split(",")[0].strip()
            found[name] = line
        elif name is not None:
            found[name] += "\n" + line
    return {name: entry.rstrip() for name, entry in found.items()}


def _joined(sections: dict[str, str]) -> str:
    """Return the docstring with Parameters and Attributes first, the others in their order."""
    order = ["", *_SHARED, *(name for name in sections if name and name not in _SHARED)]
    parts = []
    for heading in order:
        if heading in sections:
            rule = f"{heading}\n{'-' * len(heading)}\n" if heading else ""
            parts.append(rule + sections[heading])
    return "\n\n".join(parts)
