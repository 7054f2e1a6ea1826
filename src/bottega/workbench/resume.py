"""What a comparison has done so far, in a file from which another run can go on.

The file is a zip of NumPy arrays and one text of JSON; nothing in it is ever executed. It is
written whole or not at all, as folds finish. Models are not in it: those of all rows are fitted
again.
"""

import io
import json
import time
import zipfile
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.files import write_atomically
from bottega.core.typing import Array
from bottega.risk.estimate.nested_engine import Answer, Part

__all__ = ["Saved", "digest_of"]

_FORMAT = "bottega comparison 1"
_EVERY = 2.0  # seconds between two writings


def digest_of(values: Array | None) -> str:
    """Return a short text that stands for one value per row; empty for None."""
    if values is None:
        return ""
    array = np.asarray(values)
    if array.dtype.kind in "OU":
        content = "\0".join(map(str, array.tolist())).encode()
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

    Raises
    ------
    InputError
        When the file is of another comparison, or none of ours.
    """

    def __init__(self, path: Any, call: Mapping[str, Any], classes: Array | None) -> None:
        self.path, self.call, self.classes = FilePath(path), dict(call), classes
        self._answers: dict[tuple[str, str], Answer] = {}
        self._written, self._new = time.monotonic(), False
        if self.path.exists():
            self._read()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, name: str, part: Part) -> Answer | None:
        """Return the answer of a method on a part, None where there is none yet."""
        return self._answers.get((name, _key(part)))

    def add(self, name: str, part: Part, answer: Answer) -> None:
        """Keep an answer; the file is written now and then."""
        key = name, _key(part)
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
        for i, ((name, part), answer) in enumerate(self._answers.items()):
            line = {
                "method": name,
                "part": part,
                "setting": _plain(answer.setting),
                "least": None if np.isnan(answer.least) else answer.least,
                "seconds": answer.seconds,
                "losses": len(answer.losses),
                "held_out": len(answer.held_out),
            }
            lines.append(line)
            for j, losses in enumerate(answer.losses):
                arrays[f"{i}.losses{j}"] = losses
            for j, held in enumerate(answer.held_out):
                arrays[f"{i}.held_out{j}"] = self._coded(held)
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

    def _named(self, codes: Array) -> Array:
        if self.classes is None or codes.ndim > 1:
            return codes
        return np.asarray(self.classes)[codes]

    def _read(self) -> None:
        try:
            with np.load(self.path, allow_pickle=False) as file:
                about = json.loads(file["about"].tobytes().decode())
                found = self._answers_in(about, file)
        except (OSError, ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{str(self.path)!r} is not a file that a comparison can resume from; name a new "
                "file, which is then written."
            ) from error
        other = [name for name, value in self.call.items() if about["call"].get(name) != value]
        if other:
            raise InputError(
                f"{str(self.path)!r} is of another comparison (it differs in {', '.join(other)}); "
                "repeat the call as it was, or name a new file."
            )
        self._answers = found

    def _answers_in(self, about: Any, file: Any) -> dict[tuple[str, str], Answer]:
        if about["format"] != _FORMAT:
            raise ValueError("another format")
        about["call"].items()  # a mapping
        found = {}
        for i, line in enumerate(about["answers"]):
            predicted = f"{i}.predicted"
            shares = f"{i}.probabilities"
            found[str(line["method"]), str(line["part"])] = Answer(
                predicted=self._named(file[predicted]) if predicted in file else None,
                probabilities=file.get(shares),
                losses=tuple(file[f"{i}.losses{j}"] for j in range(int(line["losses"]))),
                setting=line["setting"],
                least=np.nan if line["least"] is None else float(line["least"]),
                model=None,
                seconds=float(line["seconds"]),
                held_out=tuple(
                    self._named(file[f"{i}.held_out{j}"]) for j in range(int(line["held_out"]))
                ),
            )
        return found


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
