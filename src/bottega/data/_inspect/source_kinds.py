"""What the columns of a source are for, and of which kinds they are: learnt in one pass."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.data import convert
from bottega.data._encode.statistics import NumberStatistics
from bottega.data._inspect.chunk_kinds import ChunkedColumn
from bottega.data._inspect.examine import check_kinds
from bottega.data._inspect.notes import is_left_out
from bottega.data._inspect.roles import assign_roles
from bottega.data.columns import UNUSABLE
from bottega.data.convert import Frame
from bottega.data.read.files import is_boolean
from bottega.data.read.rows import FrameRows
from bottega.data.role_columns import with_target

__all__ = ["ColumnRoles", "SourceKinds"]


@dataclass(frozen=True)
class ColumnRoles:
    """What columns are for, where they are not inputs."""

    target: str | None
    weight: str | None
    group: str | None
    ignore: set[str]

    @property
    def used(self) -> list[str]:
        """The columns that chunks are made of, beside the inputs."""
        return [name for name in (self.target, self.weight) if name is not None]


class SourceKinds:
    """One pass over the rows: the kinds of the columns, and statistics if all are numbers.

    Parameters
    ----------
    source : FrameRows
        The rows.
    roles : ColumnRoles
        What columns are for.
    given : mapping of str to str
        Kinds that are not to be inferred.
    text : list of str
        Columns to read as they are written.

    Attributes
    ----------
    kinds : dict of str to str
        Of the columns to learn from.
    decimal : dict of str to str
        Decimal signs of written numbers.
    text : list of str
        Columns to read as they are written: the target too, if its labels are Yes and No.
    numbers : NumberStatistics or None
        Of the rows that have a target.
    """

    def __init__(
        self, source: FrameRows, roles: ColumnRoles, given: Mapping[str, str], text: list[str]
    ) -> None:
        self._source, self._roles, self._given, self.text = source, roles, given, text
        self._columns: dict[str, ChunkedColumn] = {}
        self._names: list[str] = []
        self._rows = 0
        self._statistics: NumberStatistics | None = None
        self._pass()
        if not self._rows:
            raise InputError("The source has no rows to learn from.")
        seen = {name: column.profile() for name, column in self._columns.items()}
        used = [name for name in self._names if name in given or not is_left_out(seen[name])]
        kinds = {name: given.get(name) or seen[name].kind for name in used}
        self.kinds = {name: kind for name, kind in kinds.items() if kind not in UNUSABLE}
        if not self.kinds:
            raise InputError(
                "No column is left to learn from; give kinds={...} to use one, or add columns."
            )
        signs = {name: seen[name].decimal for name in self.kinds if name in seen}
        self.decimal = {name: sign for name, sign in signs.items() if sign is not None}
        self.numbers = None
        if self._statistics is not None and self._statistics.rows and not self.decimal:
            place = {name: j for j, name in enumerate(self._names)}
            at = np.array([place[name] for name in self.kinds])
            if set(self.kinds.values()) == {"number"}:
                self.numbers = self._statistics.take(at)

    def _pass(self) -> None:
        roles, numeric = self._roles, not self._given
        for number, frame in enumerate(map(convert.as_frame, self._source.frames(None, self.text))):
            if not number:
                check_kinds(self._given, frame.columns)
                found = assign_roles(
                    frame, roles.target, roles.weight, roles.group, None, roles.ignore
                )
                self._names = [name for name, role in found.items() if role == "feature"]
                if self._target_is_written(frame):
                    self._pass()
                    return
                self._columns = {
                    name: ChunkedColumn(name) for name in self._names if name not in self._given
                }
                self._statistics = NumberStatistics() if numeric else None
            self._check_names(frame, number)
            self._rows += len(frame)
            for name, column in self._columns.items():
                column.update(frame[name])
            if self._statistics is not None:
                self._add_numbers(frame)

    def _target_is_written(self, frame: Frame) -> bool:
        """Have labels read as they are written, Yes and No too; return True if they were not."""
        target = self._roles.target
        if target is None or not is_boolean(frame, target) or target in self.text:
            return False
        self.text = [*self.text, target]
        return True

    def _check_names(self, frame: Frame, number: int) -> None:
        found = set(frame.columns)
        absent = [name for name in self._names if name not in found]
        if absent:
            raise InputError(
                f"Chunk {number + 1} of the rows has other columns than the first one: it lacks "
                f"{absent[0]!r}. Give all files and parts the same columns."
            )

    def _add_numbers(self, frame: Frame) -> None:
        """Take in the numbers of the rows that have a target; give up where not all are numbers."""
        stored = (convert.storage(frame[name]) for name in self._names)
        if not all(each in ("integer", "number") for each in stored):
            self._statistics = None
            return
        for rows in with_target([frame], self._roles.target):
            matrix = rows.select(self._names).to_numpy()
            if matrix.dtype.kind not in "fiu" or np.isinf(matrix).any():
                self._statistics = None
                return
            assert self._statistics is not None
            self._statistics.update(np.asarray(matrix, dtype=np.float64))
