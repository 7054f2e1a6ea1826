"""The ledger of opened test parts, so that a part is opened once across processes too.

Each locked part that was opened has one small file in the user's state folder, named by a
fingerprint of its rows, with one line per look: when, and the seed of the split. Beside it stand
hashes of some of the rows (at most 8 KB), by which parts that overlap are recognised. Nothing of
the data themselves is written, and nothing leaves the machine. The environment variable
``BOTTEGA_LEDGER`` names another folder, or switches the ledger off (``BOTTEGA_LEDGER=off``).
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.files import user_folder
from bottega.core.folds import scramble
from bottega.core.typing import Array

__all__ = ["Entry", "fingerprint", "ledger_folder", "row_hashes"]

_OFF = ("off", "0", "no", "false")
_HASHES = ".rows"  # the ending of the files with hashes of rows
_KEPT = 1024  # hashes of a part


def ledger_folder() -> Path | None:
    """Return the folder of the ledger; None where it is switched off or there is no home folder."""
    wanted = os.environ.get("BOTTEGA_LEDGER", "").strip()
    if wanted.lower() in _OFF:
        return None
    if wanted:
        return Path(wanted)
    home = user_folder("state")
    return None if home is None else home / "opened-test-parts"


def fingerprint(frame: Any) -> str:
    """Return a short text that stands for the names and values of a data frame.

    Numbers are taken as 64-bit floats and everything else as text, so the same rows have the same
    fingerprint whichever library holds them.

    Examples
    --------
    >>> import pandas as pd
    >>> one = fingerprint(pd.DataFrame({"x": [1, 2]}))
    >>> one == fingerprint(pd.DataFrame({"x": [1.0, 2.0]}))
    True
    >>> one == fingerprint(pd.DataFrame({"x": [2, 1]}))
    False
    """
    digest = blake2b(digest_size=16)
    for series in nw.from_native(frame, eager_only=True).iter_columns():
        digest.update(f"\0{series.name}\0".encode())
        if series.dtype.is_numeric():
            digest.update(np.ascontiguousarray(series.to_numpy(), dtype=np.float64).tobytes())
        else:
            missing = series.is_null().to_numpy()
            values = zip(series.to_list(), missing, strict=True)
            digest.update(
                "\0".join("" if none else str(value) for value, none in values).encode(
                    "utf-8", "surrogatepass"
                )
            )
            digest.update(np.packbits(missing).tobytes())
    return digest.hexdigest()


def row_hashes(frame: Any) -> Array:
    """Return 64 bits for each row of a data frame, whatever the order of its columns.

    Examples
    --------
    >>> import pandas as pd
    >>> one = row_hashes(pd.DataFrame({"x": [1, 2], "c": ["a", "b"]}))
    >>> other = row_hashes(pd.DataFrame({"c": ["b", "b"], "x": [2.0, 3.0]}))
    >>> bool(one[1] == other[0]), bool(one[1] == other[1])
    (True, False)
    """
    data = nw.from_native(frame, eager_only=True)
    total = np.zeros(len(data), dtype=np.uint64)
    for series in data.iter_columns():
        if series.dtype.is_numeric():
            numbers = np.asarray(series.to_numpy(), dtype=np.float64) + 0.0  # minus zero is zero
            bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
        else:
            missing = series.is_null().to_numpy()
            texts = [
                None if none else str(v) for v, none in zip(series.to_list(), missing, strict=True)
            ]
            known = {text: _bits(f"={text}" if text is not None else "") for text in set(texts)}
            bits = np.array([known[text] for text in texts], dtype=np.uint64)
        total += scramble(scramble(bits) ^ np.uint64(_bits(str(series.name))))
    return total


def _bits(text: str) -> int:
    return int.from_bytes(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


@dataclass(frozen=True)
class Entry:
    """What the ledger knows about one locked part.

    Attributes
    ----------
    file : Path or None
        Where its looks are written down; None where the ledger is switched off.
    """

    file: Path | None

    @classmethod
    def of(cls, frame: Any) -> "Entry":
        """Return the entry of the rows of a data frame."""
        folder = ledger_folder()
        return cls(None if folder is None else folder / fingerprint(frame))

    def looks(self) -> tuple[int, datetime | None]:
        """Return how often the part was opened, by any process, and when first."""
        if self.file is None:
            return 0, None
        if not self.file.is_file():
            return 0, None
        lines: list[str] = []
        first = datetime.fromtimestamp(self.file.stat().st_mtime)
        # A file that cannot be read, or is just being written, was opened all the same.
        with suppress(OSError, IndexError, ValueError):
            lines = self.file.read_text(encoding="utf-8", errors="replace").splitlines()
            first = datetime.fromisoformat(lines[0].split()[0])
        return max(len(lines), 1), first.astimezone().replace(tzinfo=None)

    def overlap(self, frame: Any) -> float:
        """Return about what share of the rows was in other parts that were opened.

        Each part keeps its smallest hashes, which are a random choice of its rows; those of them
        among the rows here tell how many the two have in common: exactly for up to 1,024 rows.
        """
        if self.file is None or not self.file.parent.is_dir():
            return 0.0
        others = [
            file
            for file in self.file.parent.glob(f"*{_HASHES}")
            if file.stem != self.file.name and file.with_suffix("").is_file()
        ]
        if not others:
            return 0.0
        hashes = row_hashes(frame)
        kept, most = np.zeros(0, dtype=np.uint64), 0.0
        for file in others:
            with suppress(OSError, ValueError, IndexError):
                stored = np.frombuffer(file.read_bytes(), dtype="<u8").astype(np.uint64)
                n, some = float(stored[0]), stored[1:]
                most = max(most, float(np.isin(some, hashes).mean()) * n / len(hashes))
                kept = np.append(kept, some)
        return float(min(1.0, max(most, np.isin(hashes, kept).mean())))

    def _keep_hashes(self, frame: Any) -> None:
        assert self.file is not None
        hashes = np.unique(row_hashes(frame))
        kept = np.append(np.uint64(len(hashes)), hashes[:_KEPT]).astype("<u8")
        with suppress(OSError):
            self.file.with_name(self.file.name + _HASHES).write_bytes(kept.tobytes())

    def enter(self, seed: int | None, *, first: bool, frame: Any = None) -> str:
        """Write down one look; return what went wrong, or nothing.

        Parameters
        ----------
        seed : int, optional
            Seed of the split.
        first : bool
            Whether the part must not have been opened before. Of two processes that come at the
            same time one creates the file, and the other gets a FileExistsError.
        frame : data frame, optional
            The rows, of which hashes are kept.
        """
        if self.file is None:
            return ""
        how = os.O_WRONLY | os.O_CREAT | (os.O_EXCL if first else os.O_APPEND)
        line = f"{datetime.now().isoformat(timespec='seconds')} seed={seed}\n"
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.file, how, 0o600)
        except FileExistsError:
            if first and self.file.is_file():
                raise
            return self._unwritable("there is a file where its folder should be")
        except OSError as error:
            return self._unwritable(error.strerror or str(error))
        try:
            os.write(handle, line.encode())  # one short line: whole, or not at all
        except OSError as error:
            return self._unwritable(error.strerror or str(error))
        finally:
            os.close(handle)
        if frame is not None:
            self._keep_hashes(frame)
        return ""

    def _unwritable(self, reason: str) -> str:
        return (
            f"The ledger of opened test parts could not be written ({reason}), so other processes "
            "will not know that these rows were opened."
        )
