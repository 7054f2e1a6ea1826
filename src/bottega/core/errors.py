"""The errors a user can meet. Each message says what is wrong, where, and what to do about it."""

import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bottega.core.matrix_columns import current_columns

if TYPE_CHECKING:
    from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "BottegaError",
    "ConvergenceWarning",
    "DataWarning",
    "EngineError",
    "InputError",
    "MissingExtra",
    "ModelFileError",
    "NotKept",
    "ParameterError",
    "TestSetAlreadyUsed",
    "did_you_mean",
    "refuse_unknown",
    "require",
    "warn_caller",
]

_LEAST_START = 4  # letters that are taken for the start of a longer name
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


def __getattr__(name: str) -> Any:
    if name == "ConvergenceWarning":  # loaded on first use: scikit-learn takes its time
        from sklearn.exceptions import ConvergenceWarning

        return ConvergenceWarning
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class BottegaError(Exception):
    """Whatever bottega raises on purpose."""


class InputError(BottegaError, ValueError):
    """The data cannot be used as they are."""


class Unforeseen(InputError):
    """Rows are not what their files, or the first of them, let expect: they are to be read anew."""


class UnforeseenClass(Unforeseen):
    """A class appears that the first rows do not have."""


class ParameterError(InputError, TypeError):
    """A parameter has a value outside its declared set."""


class EngineError(BottegaError, RuntimeError):
    """The processes that work was sent to cannot do it."""


class ModelFileError(InputError):
    """A file is not a model saved by bottega, or may not be trusted."""


class NotKept(InputError, AttributeError):
    """Something that this fit did not keep: ``hasattr`` says no."""


class MissingExtra(BottegaError, ImportError):
    """An optional library is needed and not installed."""


class TestSetAlreadyUsed(BottegaError, RuntimeError):
    """The locked test part was asked for its score a second time."""

    __test__ = False  # not a test case, whatever pytest thinks of the name


class DataWarning(UserWarning):
    """Something about the data the user should know before trusting the result."""


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests the nearest known name, or an empty string.

    Examples
    --------
    >>> did_you_mean("pirce", ["price", "rooms"])
    " Did you mean 'price'?"
    >>> did_you_mean("logistic", ["linear_svm", "logistic_regression"])
    " Did you mean 'logistic_regression'?"
    """
    names = {str(name).casefold(): str(name) for name in known}
    asked = str(given).casefold()
    near = get_close_matches(asked, names, n=1, cutoff=0.6)
    if not near and len(asked) >= _LEAST_START:
        near = [name for name in names if name.startswith(asked)]
    return f" Did you mean {names[near[0]]!r}?" if near else ""


def refuse_unknown(owner: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise where a function was given an option that it does not have."""
    for name in given:
        if name not in known:
            raise ParameterError(
                f"{owner} has no option {name!r}; there are {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )


def require(module: str, extra: str) -> ModuleType:
    """Import an optional library, or say which extra of bottega brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise MissingExtra(
            f"This needs the library {module.split('.')[0]!r}, which is not installed: "
            f"run  pip install 'bottega[{extra}]'."
        ) from error


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of bottega that led here: a place the user knows."""
    columns = current_columns()
    if columns is not None:
        if columns.silent and issubclass(category, DataWarning):
            return
        message = columns.in_words(message)
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
