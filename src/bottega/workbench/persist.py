"""A saved model: one skops file that never runs code when it is opened.

The file holds the fitted procedure and what a table must have to be predicted. Only classes of
bottega's own catalogue, the parts of fitted models that are marked by `bottega.core.stored`, and
the plain types that skops knows to be safe are ever built from it. What a file states of its sizes
is looked at before anything is read, and a model that has a method ``check_loaded`` is asked to
look at what it was given before anybody else uses it.
"""

import json
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import bottega
from bottega.core.errors import InputError, ModelFileError, require
from bottega.core.files import write_atomically
from bottega.core.frames import is_frame
from bottega.core.stored import refuse_functions, stored_types
from bottega.registry import estimators
from bottega.workbench._outside.boosters import OutsideBooster
from bottega.workbench.features import inputs_of

__all__ = ["SavedModel", "load", "save", "trusted_types"]

_FORMAT = "bottega model 1"
_SCHEMA = "schema.json"
# Trees of scikit-learn's boosting: their nodes are checked where they are loaded.
_CHECKED_HERE = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"


@dataclass(frozen=True)
class SavedModel:
    """A fitted procedure with what it needs to know about a table.

    Attributes
    ----------
    model : Pipeline
        The fitted procedure.
    method : str
        Short name of the method.
    task : {"regression", "classification"}
        What it predicts.
    target : str
        Name of the column it predicts.
    columns : tuple of str
        The feature columns, in the order of the fit.
    certificate : str
        The certificate of the test part in words; empty when there was none.
    version : str
        Version of bottega that saved it.
    intervals : PredictionIntervals, PredictionSets or None
        What `interval` is made by; None where nothing calibrated it.
    day_first : dict of str to bool
        Of columns with dates like 31/1/2026, whether the day comes first.
    """

    model: Any
    method: str
    task: str
    target: str
    columns: tuple[str, ...]
    certificate: str
    version: str
    intervals: Any = None
    day_first: dict[str, bool] = field(default_factory=dict)

    def predict(self, data: Any) -> Any:
        """Return the prediction for each row of a frame (or of an array in the fit's order)."""
        return self.model.predict(self._features(data))

    def predict_proba(self, data: Any) -> Any:
        """Return the class probabilities for each row."""
        if not hasattr(self.model, "predict_proba"):
            raise InputError(f"The method {self.method!r} gives no probabilities.")
        return self.model.predict_proba(self._features(data))

    def interval(self, data: Any, level: float = 0.9) -> Any:
        """Return limits that hold the response of each row with probability `level`.

        Parameters
        ----------
        data : data frame
            Rows to predict.
        level : float
            Probability, over rows to come.

        Returns
        -------
        ndarray of shape (n, 2), or list of lists of classes
            Lower and upper limit, or for classification the classes that cannot be excluded.
        """
        if self.intervals is None:
            raise InputError(
                "The model file has no prediction intervals: nothing calibrated them. Compare with "
                "locked rows and certify before saving, or save after asking for intervals."
            )
        inputs = self._features(data)
        if self.task == "classification":
            return self.intervals.sets(inputs, level=level)
        return np.column_stack(self.intervals.interval(inputs, level=level))

    @property
    def classes(self) -> Any:
        """The classes, for a classifier."""
        return getattr(self.model, "classes_", None)

    def _features(self, data: Any) -> Any:
        if not is_frame(data):
            return data
        return inputs_of(self.model, data, self.columns, self.day_first)


def trusted_types() -> list[str]:
    """Return the names of the types, beyond skops' own safe ones, a model file may hold."""
    for name in _modules_with_parts():
        import_module(name)
    own = {f"{each.__module__}.{each.__name__}" for each in estimators()}
    return sorted(own | stored_types() | {_CHECKED_HERE})


@cache
def _modules_with_parts() -> tuple[str, ...]:
    """Return the modules of the package that mark parts of fitted models as stored.

    A method may import a part of its machinery when it needs it only, so a process that has not
    fitted the method may not know the part yet.
    """
    found = []
    for folder in map(FilePath, bottega.__path__):
        for file in sorted(folder.rglob("*.py")):
            if "\n@stored\n" in file.read_text(encoding="utf-8"):
                inside = file.relative_to(folder).with_suffix("").parts
                found.append(".".join(["bottega", *inside]).removesuffix(".__init__"))
    return tuple(found)


def save(saved: SavedModel, path: Any) -> FilePath:
    """Write a model file."""
    refuse_functions(saved.model)
    _refuse_outside(saved.model)
    io = require("skops.io", "report")
    content = {"format": _FORMAT, **{f.name: getattr(saved, f.name) for f in fields(saved)}}
    content["columns"] = list(saved.columns)
    return write_atomically(path, io.dumps(content))


def load(path: Any) -> SavedModel:
    """Read a model file written by `Comparison.save` or ``bottega compare --save``.

    Nothing in the file is executed: a file that holds any type outside `trusted_types` is refused,
    as is one that would unpack to more than its own size, or whose trees lead nowhere.
    """
    path = FilePath(path)
    if not path.exists():
        raise ModelFileError(f"There is no file {str(path)!r}; check the path of the model.")
    if not path.is_file() or not zipfile.is_zipfile(path):
        raise ModelFileError(f"{str(path)!r} is not a model saved by bottega; save one anew.")
    io = require("skops.io", "report")
    allowed = trusted_types()
    try:
        _check_sizes(path)
        foreign = set(io.get_untrusted_types(file=path)) - set(allowed)
        if foreign:
            raise ModelFileError(
                f"{str(path)!r} holds the type {sorted(foreign)[0]}, which bottega never saves, so "
                "it is not opened; use a model saved by bottega."
            )
        with warnings.catch_warnings():
            # scikit-learn's version note is turned into our own check of versions below.
            warnings.simplefilter("ignore")
            content = io.load(path, trusted=allowed)
        _check_parts(content)
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(
            f"{str(path)!r} cannot be read as a model saved by bottega {bottega.__version__} "
            f"({type(error).__name__}); save the model anew."
        ) from error
    if not isinstance(content, dict) or content.pop("format", None) != _FORMAT:
        raise ModelFileError(f"{str(path)!r} is not a model saved by bottega; save one anew.")
    content["columns"] = tuple(content["columns"])
    return SavedModel(**content)


def _check_sizes(path: FilePath) -> None:
    """Refuse a file that would take much more memory than its own size.

    Model files are not compressed, so their parts together are no larger than the file, and every
    part is read once: a file in which many places name one part would read it many times.
    """
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        parts = {part.filename: part for part in archive.infolist()}
        packed = [part for part in parts.values() if part.compress_type != zipfile.ZIP_STORED]
        stated = sum(part.file_size for part in parts.values())
        if packed or len(parts) < len(archive.infolist()) or stated > size:
            raise ModelFileError(
                f"{str(path)!r} has {size:,} bytes and would unpack to {stated:,} or more; bottega "
                "saves models unpacked, so it is not opened. Use a model saved by bottega."
            )
        schema = json.loads(archive.read(_SCHEMA))
    read = [parts[name].file_size for name in _named_files(schema) if name in parts]
    if sum(read) > size:
        raise ModelFileError(
            f"{str(path)!r} has {size:,} bytes and names parts of {sum(read):,} bytes; it is not "
            "opened. Use a model saved by bottega."
        )


def _named_files(schema: Any) -> Iterator[str]:
    """Yield the name of the part behind each distinct object of the schema."""
    seen = set()
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            name, place = node.get("file"), (str(node.get("file")), str(node.get("__id__")))
            if isinstance(name, str) and ("__id__" not in node or place not in seen):
                seen.add(place)
                yield name
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _check_parts(content: Any) -> None:
    """Ask every part of a loaded model that can look at itself to do so."""
    for part in _parts_of(content):
        check = getattr(type(part), "check_loaded", None)
        if check is not None:
            check(part)


def _refuse_outside(model: Any) -> None:
    """Refuse a model of another library: what its file would run is not known here."""
    for part in _parts_of(model):
        if isinstance(part, OutsideBooster):
            raise InputError(
                f"A model of {part.card.title} cannot be written to a model file of bottega; keep "
                f"it with the library's own function, or compare without {part.card.method}."
            )


def _parts_of(content: Any) -> Iterator[Any]:
    """Yield an object and all that it holds, each once."""
    seen: set[int] = set()
    stack = [content]
    while stack:
        part = stack.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | np.ndarray | type):
            continue
        seen.add(id(part))
        yield part
        stack.extend(_inside(part))


def _inside(part: Any) -> Iterable[Any]:
    if isinstance(part, dict):
        return part.values()
    if isinstance(part, list | tuple | set | frozenset):
        return part
    return getattr(part, "__dict__", {}).values()
