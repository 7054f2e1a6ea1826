"""What a comparison has done so far, in a file from which another run can go on.

The file is a zip of NumPy arrays and one text of JSON; nothing in it is ever executed. It is
written whole or not at all, as folds finish. Models are not in it: those of all rows are fitted
again.
"""

import io
import json
import math
import time
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ModelFileError
from bottega.core.files import write_atomically
from bottega.core.loaded import insist
from bottega.core.typing import Array
from bottega.risk.estimate.nested_engine import Answer, Part

__all__ = ["Saved", "digest_of"]

_FORMAT = "bottega comparison 1"
_EVERY = 2.0  # seconds between two writings
_LONGEST = 50_000_000  # bytes of what is told about the answers
_ROUNDING = 1e-6  # by which a probability may leave its range

_Key = tuple[str, str, int | None]  # method, part, and rows learnt from where not all were


def digest_of(values: Array | None) -> str:
    """Return a short text that stands for one value per row; empty for None."""
    if values is None:
        return ""
    array = np.asarray(values)
    if array.dtype.kind in "OU":
        content = "\0".join(map(str, array.tolist())).encode("utf-8", "surrogatepass")
    else:
        content = np.ascontiguousarray(array).tobytes()
    return blake2b(content, digest_size=16).hexdigest()


class Saved:
    """The answers of the folds, by method and part, kept in a file.

    Parameters
    ----------
    path : path
        The file; one that is there is read, and must be of the same comparison.
    call : dict
        What the answers depend on: data, measure, folds, seed, version.
    classes : ndarray or None
        The classes: predictions are stored as their codes.
    tests : list of ndarray
        The rows of each outer fold: as many have an answer.

    Raises
    ------
    InputError
        When the file is of another comparison, or none of ours.
    """

    def __init__(
        self,
        path: Any,
        call: Mapping[str, Any],
        classes: Array | None,
        tests: Sequence[Array] = (),
    ) -> None:
        self.path, self.call, self.classes = FilePath(path), dict(call), classes
        self._sizes = [len(test) for test in tests]
        self._answers: dict[_Key, Answer] = {}
        self._written, self._new = time.monotonic(), False
        if self.path.exists():
            self._read()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, name: str, part: Part, rows: int | None = None) -> Answer | None:
        """Return the answer of a method on a part, None where there is none yet.

        `rows` is how many of the part's rows it learns from; None for all of them.
        """
        return self._answers.get((name, _key(part), rows))

    def rows_of(self, name: str) -> int | None:
        """Return the most rows that a method learned from where that was not all of them."""
        return max((rows for each, _, rows in self._answers if each == name and rows), default=None)

    def add(self, name: str, part: Part, answer: Answer, rows: int | None = None) -> None:
        """Keep an answer; the file is written now and then."""
        key = name, _key(part), rows
        if key in self._answers:
            return
        self._answers[key] = answer
        self._new = True
        if time.monotonic() - self._written > _EVERY:
            self.write()

    def write(self) -> None:
        """Write the file, if there is anything new."""
        if not self._new:
            return
        arrays: dict[str, Array] = {}
        lines = []
        # A task that was left running may still add one.
        for i, ((name, part, rows), answer) in enumerate(list(self._answers.items())):
            line = {
                "method": name,
                "part": part,
                "rows": rows,
                "setting": _plain(answer.setting),
                "least": None if np.isnan(answer.least) else answer.least,
                "seconds": answer.seconds,
                "losses": len(answer.losses),
            }
            lines.append(line)
            for j, losses in enumerate(answer.losses):
                arrays[f"{i}.losses{j}"] = losses
            if answer.predicted is not None:
                arrays[f"{i}.predicted"] = self._coded(answer.predicted)
            if answer.probabilities is not None:
                arrays[f"{i}.probabilities"] = answer.probabilities
        text = json.dumps({"format": _FORMAT, "call": self.call, "answers": lines})
        arrays["about"] = np.frombuffer(text.encode(), dtype=np.uint8)
        stream = io.BytesIO()
        np.savez_compressed(stream, allow_pickle=False, **arrays)
        write_atomically(self.path, stream.getvalue())
        self._written, self._new = time.monotonic(), False

    def _coded(self, predicted: Array) -> Array:
        if self.classes is None or predicted.ndim > 1:
            return predicted
        return np.searchsorted(self.classes, predicted)

    def _read(self) -> None:
        try:
            self._refuse_large()
            with np.load(self.path, allow_pickle=False) as file:
                about = json.loads(file["about"].tobytes().decode())
                insist(isinstance(about, dict) and about["format"] == _FORMAT, "another format")
                call = about["call"]
                insist(isinstance(call, dict) and isinstance(about["answers"], list), "no answers")
                other = [name for name, value in self.call.items() if call.get(name) != value]
                if not other:
                    self._answers = self._answers_in(about["answers"], file)
        except (
            OSError, ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile, zlib.error,
            ModelFileError,
        ) as error:  # fmt: skip
            raise InputError(
                f"{str(self.path)!r} is not a file that a comparison can resume from; name a new "
                "file, which is then written."
            ) from error
        if other:
            raise InputError(
                f"{str(self.path)!r} is of another comparison (it differs in {', '.join(other)}); "
                "repeat the call as it was, or name a new file."
            )

    def _refuse_large(self) -> None:
        """Refuse arrays that are larger than those of any answer, before any is read."""
        columns = 1 if self.classes is None else len(self.classes)
        most = 1_000 + 16 * columns * max(self._sizes, default=0)
        with zipfile.ZipFile(self.path) as file:
            for each in file.infolist():
                limit = _LONGEST if each.filename == "about.npy" else most
                insist(each.file_size <= limit, "too large")

    def _answers_in(self, lines: Any, file: Any) -> dict[_Key, Answer]:
        found = {}
        for i, line in enumerate(lines):
            sizes = [self._sizes[k] for k in _folds_of(line["part"])]
            insist(line["losses"] == len(sizes), "losses of other folds")
            rows = line.get("rows")
            insist(rows is None or (isinstance(rows, int) and rows > 0), "no number of rows")
            setting, least, seconds = line["setting"], line["least"], float(line["seconds"])
            insist(setting is None or isinstance(setting, dict), "no setting")
            insist(0 <= seconds < math.inf, "no time")
            predicted, shares = f"{i}.predicted", f"{i}.probabilities"
            losses = tuple(_finite(file[f"{i}.losses{j}"], (n,)) for j, n in enumerate(sizes))
            found[str(line["method"]), str(line["part"]), rows] = Answer(
                predicted=self._judged(file[predicted], sizes[0]) if predicted in file else None,
                probabilities=self._shares(file[shares], sizes[0]) if shares in file else None,
                losses=losses,
                setting=setting,
                least=np.nan if least is None else float(least),
                model=None,
                seconds=seconds,
            )
        return found

    def _judged(self, array: Array, n: int) -> Array:
        """Return predictions of n rows: numbers, labels by their codes, or shares of classes."""
        if self.classes is None:
            return _finite(array, (n,))
        if array.ndim > 1:
            return self._shares(array, n)
        insist(array.dtype.kind in "iu" and array.shape == (n,), "no codes of classes")
        insist((array >= 0) & (array < len(self.classes)), "no such class")
        return np.asarray(self.classes)[array]

    def _shares(self, array: Array, n: int) -> Array:
        insist(self.classes is not None, "shares of no classes")
        found = _finite(array, (n, len(np.asarray(self.classes))))
        insist((found >= -_ROUNDING) & (found <= 1 + _ROUNDING), "no probabilities")
        return found


def _finite(array: Array, shape: tuple[int, ...]) -> Array:
    insist(array.dtype.kind in "fiu" and array.shape == shape, "other rows")
    insist(np.isfinite(array), "no number")
    return array


def _folds_of(key: Any) -> list[int]:
    """Return the folds left out of a part, from its key."""
    numbers = [int(k) for k in str(key).split(":")[1].split(",")]
    insist([k >= 0 for k in numbers], "no such fold")
    return numbers


def _key(part: Part) -> str:
    repeat, left_out = part.key
    return f"{repeat}:{','.join(map(str, left_out))}"


def _plain(setting: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if setting is None:
        return None
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in setting.items()
    }
