"""A folder of Parquet files that is there whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bottega.core.errors import InputError, require

__all__ = ["ParquetFolder"]

_FILE = 2_000_000  # rows after which another file begins


class ParquetFolder:
    """Write columns, block after block, into a folder that appears when all is written.

    Parameters
    ----------
    folder : path
        It must not exist, or be empty; its parent must exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with ParquetFolder(f"{parent}/out") as out:
    ...         out.write({"x": [1.0, 2.0]})
    ...     os.listdir(f"{parent}/out")
    ['part-00000.parquet']
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._name = str(folder)
        if "\0" in self._name:
            raise InputError(f"{self._name!r} is no name of a folder: it holds a null character.")
        self.path = Path(os.path.realpath(folder))  # a link stays, and what it names is written
        if self.path == Path.cwd():
            raise InputError(
                f"{self._name!r} is the folder that this process works in, and cannot be replaced; "
                "give the name of a new folder."
            )
        try:
            exists = self.path.exists()
        except OSError as error:
            raise self._failed(error) from error
        if exists and (not self.path.is_dir() or any(self.path.iterdir())):
            raise InputError(
                f"{self._name!r} exists already; give the name of a new folder, or of an empty one."
            )
        if not self.path.parent.is_dir():
            raise InputError(f"There is no folder {str(self.path.parent)!r} to write in.")
        self._pa = require("pyarrow", "data")
        self._writer: Any = None
        self._files = self._in_file = 0
        self._schema: Any = None
        self.rows = 0

    def __enter__(self) -> Self:
        try:
            made = tempfile.mkdtemp(dir=self.path.parent, prefix=f".{self.path.name}-unfinished-")
        except OSError as error:
            raise self._failed(error) from error
        self._made = Path(made)
        return self

    def write(self, columns: Mapping[str, Any]) -> None:
        """Write a block of rows; all blocks have the same columns."""
        try:
            block = self._alike(self._pa.table(dict(columns)))
            self._schema = block.schema
            if self._writer is None or self._in_file >= _FILE:
                self._next_file()
            self._writer.write_table(block)
        except OSError as error:
            raise self._failed(error) from error
        except self._pa.ArrowException as error:
            if self._schema is None:
                told = f"The columns cannot be written ({error}); give numbers, texts or dates."
            else:
                told = (
                    "The columns to write are not of the types that the first block has "
                    f"({error}); make them of one type in all blocks."
                )
            raise InputError(told) from error
        self.rows += block.num_rows
        self._in_file += block.num_rows

    def _alike(self, block: Any) -> Any:
        """Return a block with the types of the first; Arrow refuses numbers that would change."""
        if self._schema is None or block.schema == self._schema:
            return block
        if set(block.column_names) != set(self._schema.names):
            raise InputError("The columns to write are not those of the first block.")
        block = block.select(self._schema.names)
        for ours, first in zip(block.schema, self._schema, strict=True):
            if self._family(ours.type) not in ("null", self._family(first.type)):
                raise self._pa.ArrowInvalid(f"{first.name!r} was {first.type}, is {ours.type}")
        return block.cast(self._schema)

    def _family(self, kind: Any) -> str:
        """Return what types are called whose values Arrow turns into one another, or refuses to."""
        types = self._pa.types
        if types.is_integer(kind) or types.is_floating(kind):
            return "number"
        if types.is_string(kind) or types.is_large_string(kind):
            return "text"
        if types.is_dictionary(kind):
            return "labels"
        return "time" if types.is_timestamp(kind) else str(kind)

    def _next_file(self) -> None:
        import pyarrow.parquet as parquet

        self._close()
        name = f"part-{self._files:05d}.parquet"
        self._writer = parquet.ParquetWriter(self._made / name, self._schema)
        self._files, self._in_file = self._files + 1, 0

    def _close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._close()
            if kind is None:
                os.chmod(self._made, 0o755)
                if self.path.exists():
                    self.path.rmdir()
                self._made.rename(self.path)
        except OSError as failure:
            if kind is None:
                raise self._failed(failure) from failure
        finally:
            shutil.rmtree(self._made, ignore_errors=True)

    def _failed(self, error: OSError) -> InputError:
        return InputError(
            f"Cannot write the folder {self._name!r}: {error.strerror or error}. Nothing was "
            "left of it; make room or choose another place."
        )
