"""What the columns of a source are for, and of which kinds they are: learnt in one pass."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.data import convert, findings
from bottega.data._encode.statistics import NumberStatistics
from bottega.data._inspect.chunk_kinds import ChunkedColumn
from bottega.data._inspect.examine import check_kinds
from bottega.data._inspect.notes import about_feature, about_kinds, is_left_out
from bottega.data._inspect.roles import assign_roles
from bottega.data._inspect.written import usual_sign, writing
from bottega.data.columns import UNUSABLE, Profile, text_profile
from bottega.data.convert import Frame
from bottega.data.findings import Finding
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
    decimal : {".", ","}, optional
        The decimal sign of numbers that are written as text; found column by column otherwise.

    Attributes
    ----------
    kinds : dict of str to str
        Of the columns to learn from.
    decimal : dict of str to str
        Decimal signs of written numbers.
    role_decimal : dict of str to str
        Decimal signs of responses and weights that are written numbers.
    day_first : dict of str to bool
        Of columns with dates like 31/1/2026, whether the day comes first.
    rows, absent : int
        How many rows there are, and how many of them have no target.
    text : list of str
        Columns to read as they are written: the target too, if its labels are Yes and No.
    numbers : NumberStatistics or None
        Of the rows that have a target.
    """

    def __init__(
        self,
        source: FrameRows,
        roles: ColumnRoles,
        given: Mapping[str, str],
        text: list[str],
        decimal: str | None = None,
    ) -> None:
        self._source, self._roles, self._given, self.text = source, roles, given, text
        self._columns: dict[str, ChunkedColumn] = {}
        self._names: list[str] = []
        self._texts: dict[str, Counter[str]] = {}
        self._sign = decimal
        self.rows = self.absent = 0
        self._statistics: NumberStatistics | None = None
        self._pass()
        if not self.rows:
            raise InputError("The source has no rows to learn from.")
        self._usual: str | None = None
        self._seen = seen = self._profiles()
        used = [name for name in self._names if name in given or not is_left_out(seen[name])]
        kinds = {name: given.get(name) or seen[name].kind for name in used}
        self.kinds = {name: kind for name, kind in kinds.items() if kind not in UNUSABLE}
        if not self.kinds:
            raise InputError(
                "No column is left to learn from; give kinds={...} to use one, or add columns."
            )
        signs = {name: seen[name].decimal for name in self.kinds if name in seen}
        self.decimal = {name: sign for name, sign in signs.items() if sign is not None}
        self.decimal |= {n: s for n, s in map(self._asked_sign, self._names) if s is not None}
        self.role_decimal = {n: s for n, s in map(self._role_sign, roles.used) if s is not None}
        days = {name: self._day_first(name) for name, kind in self.kinds.items() if kind == "date"}
        self.day_first = {name: first for name, first in days.items() if first is not None}
        self.numbers = None
        if self._statistics is not None and self._statistics.rows and not self.decimal:
            place = {name: j for j, name in enumerate(self._names)}
            at = np.array([place[name] for name in self.kinds])
            if set(self.kinds.values()) == {"number"}:
                self.numbers = self._statistics.take(at)

    @property
    def notes(self) -> list[Finding]:
        """What is to be known about the columns, as a table says it."""
        target = self._roles.target
        found = [] if target is None else list(findings.about_gaps(self.absent, self.rows, target))
        for name, seen in self._seen.items():
            found += about_feature(name, seen, chosen=False)
        used = {name: seen for name, seen in self._seen.items() if name in self.kinds}
        # How dates and rare levels are encoded is for the encoder of the source.
        kept = about_kinds(used, self.rows - self.absent)
        return found + [each for each in kept if each.code == "text"]

    def _profiles(self) -> dict[str, Profile]:
        """Return what the columns hold; numbers that can be read in two ways as the others are."""
        seen = {name: column.profile(self._sign) for name, column in self._columns.items()}
        written = {n: p for n, p in seen.items() if p.decimal is not None and p.writing is not None}
        roles = (texts for name, texts in self._texts.items() if name in self._roles.used)
        self._usual = usual_sign([*(self._columns[name].levels for name in written), *roles])
        for name, profile in written.items():
            if profile.writing is not None and not profile.writing.sure:
                seen[name] = self._columns[name].profile(self._sign, self._usual)
        return seen

    def _asked_sign(self, name: str) -> tuple[str, str | None]:
        """Return the decimal sign of a column that is to be read as numbers, written as text."""
        texts = self._texts.get(name)
        if self._given.get(name) != "number" or not texts:
            return name, None
        found = writing(sorted(texts), self._sign, self._usual)
        return name, found.decimal if len(found.values) == len(texts) else None

    def _role_sign(self, name: str) -> tuple[str, str | None]:
        """Return the decimal sign of responses or weights, None where they are no such numbers."""
        texts = self._texts.get(name)
        if not texts or self._given.get(name) == "number":
            return self._asked_sign(name)
        seen = text_profile(texts, self.rows, None, self._sign, self._usual)
        if name == self._roles.target and seen.words is not None and seen.gaps_only:
            self.absent += seen.words[2]  # words for a missing value, such as "unknown"
        if name == self._roles.target and seen.words is not None and not seen.gaps_only:
            word, _, many = seen.words
            raise InputError(
                f"Column {name!r} mixes numbers and text: {many:,} of its {texts.total():,} values "
                f"{'is not a number' if many == 1 else 'are not numbers'}, {convert.short(word)} "
                f"among them; correct them, or give kinds={{{name!r}: 'category'}} if they are "
                "labels."
            )
        return name, seen.decimal

    def _day_first(self, name: str) -> bool | None:
        if name in self._seen:
            return self._seen[name].day_first
        return convert.day_order(name, self._texts.get(name, ()))

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
                asked = [n for n in self._names if self._given.get(n) in ("number", "date")]
                written = [n for n in roles.used if self._given.get(n) in (None, "number")]
                self._texts = {name: Counter() for name in (*asked, *written)}
            self._check_names(frame, number)
            self.rows += len(frame)
            if roles.target is not None:
                self.absent += int(convert.missing(frame[roles.target]).sum())
            for name, texts in self._texts.items():
                if convert.storage(frame[name]) in ("string", "mixed"):
                    texts.update(text for text in convert.labels(frame[name]) if text is not None)
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
        stored = [convert.storage(frame[name]) for name in self._names]
        if not stored or not all(each in ("integer", "number") for each in stored):
            self._statistics = None
            return
        for rows in with_target([frame], self._roles.target):
            matrix = rows.select(self._names).to_numpy()
            if matrix.dtype.kind not in "fiu" or np.isinf(matrix).any():
                self._statistics = None
                return
            assert self._statistics is not None
            self._statistics.update(np.asarray(matrix, dtype=np.float64))
