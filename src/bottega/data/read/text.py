"""Text files before DuckDB sees them: encoding, header and lines of the wrong length."""

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import lru_cache, wraps
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from bottega.core.errors import InputError
from bottega.data._inspect import written, written_dates

_CHUNK = 1 << 20
LONGEST_LINE = 30_000_000  # bytes: a text may be long
_LOOKED_AT = 1000  # lines that show how numbers are written
_POWER = r"([eE][+-]?[0-9]{1,2})?"
_WITH_COMMA = re.compile(rf"[+-]?[0-9]{{1,15}}(,[0-9]{{1,15}})?{_POWER}")
_PARTED = re.compile(rf"[+-]?[1-9][0-9]{{0,2}},[0-9]{{3}}{_POWER}")  # perhaps between thousands
_KEPT = 1 << 15  # files whose habits are kept

_Found = TypeVar("_Found")


MISSING_MARKERS = ("", "NA", "NaN", "null", "?")  # "None" may be a level: no airbags, say


class File(NamedTuple):
    """A file to read, and the name to call it by: a re-encoded copy goes by its original's."""

    path: str
    name: str


def _open(path: str) -> Any:
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else open(path, "rb")


def check_readable(path: str) -> None:
    """Raise when a file cannot be opened or is empty."""
    try:
        with _open(path) as file:
            first = file.read(1)
    except PermissionError as error:
        raise InputError(
            f"The file {path!r} may not be read (permission denied); change its permissions."
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"The file {path!r} cannot be opened: {error}.") from error
    if not first:
        raise InputError(f"The file {path!r} is empty.")


def as_utf8(files: list[File], encoding: str, folder: str, errors: str = "strict") -> list[File]:
    """Check that text files are UTF-8, or write UTF-8 copies of them into `folder`.

    Bytes that cannot be read are refused, or replaced by a sign where `errors` is ``"replace"``.
    """
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"The encoding {encoding!r} is not known; try 'utf-8', 'latin-1' or 'utf-16'."
        ) from error
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)
    except LookupError as error:  # it turns bytes into bytes, or text into text
        raise InputError(
            f"{encoding!r} is no encoding of text; try 'utf-8', 'latin-1' or 'utf-16'."
        ) from error
    plain = codec.name in ("utf-8", "utf-8-sig") and errors == "strict"
    result = []
    for number, file in enumerate(files):
        copy = None if plain else os.path.join(folder, f"{number}.csv")
        _decode(file.path, codec.name, copy, errors, files)
        result.append(File(copy or file.path, file.name))
    return result


def _decode(path: str, encoding: str, copy: str | None, errors: str, among: list[File]) -> None:
    """Read a text file to its end, writing it out as UTF-8 if there is a `copy` to write."""
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    lines = since = 0
    with ExitStack() as stack:
        file = stack.enter_context(_open(path))
        out = stack.enter_context(open(copy, "wb")) if copy else None
        chunk = b"anything"
        while chunk:
            try:
                chunk = file.read(_CHUNK)
            except (OSError, EOFError, zlib.error) as error:  # a damaged .gz
                raise InputError(f"The file {path!r} cannot be read: {error}.") from error
            held = decoder.getstate()[0]
            try:
                text = decoder.decode(chunk, final=not chunk)
                recoded = text.encode("utf-8") if out else b""
            except UnicodeError as error:
                before = (held + chunk)[: getattr(error, "start", None)]
                line = lines + before.count(b"\n") + 1
                marked = not lines and chunk[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
                raise InputError(
                    f"The file {path!r} is not {encoding.upper()} text: line {line} holds a byte "
                    f"that cannot be read; {_encoding_cure(encoding, marked, among)}."
                ) from error
            lines += text.count("\n")
            end = max(text.rfind("\n"), text.rfind("\r"))
            since = len(text[end + 1 :].encode()) + (since if end < 0 else 0)
            if since > LONGEST_LINE:
                raise InputError(
                    f"Line {lines + 1} of {path!r} is longer than {LONGEST_LINE:,} bytes, so "
                    "it is no table of rows; save it with one row per line."
                )
            if out:
                out.write(recoded)


def _encoding_cure(encoding: str, marked: bool, files: list[File]) -> str:
    """Say what to do with a file of another encoding; `marked` is one that begins as UTF-16 does.

    The encoding that is given is one for all files: it would garble those that are UTF-8.
    """
    cure = "'latin-1'" if encoding.startswith("utf-8") else "'utf-8' or another one"
    if marked:
        cure = "'utf-16'"
    if encoding.startswith("utf-8"):
        for other in files:
            if _is_utf8(other.path, plain=marked):
                return f"save the file as UTF-8, as {other.name!r} is"
    return f"give encoding={cure}, or save the file as UTF-8"


def _is_utf8(path: str, *, plain: bool) -> bool:
    """Return True if a file is UTF-8; one of ASCII alone, as Latin-1 is too, only with `plain`."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with _open(path) as file:
            while chunk := file.read(_CHUNK):
                decoder.decode(chunk)
                plain = plain or not chunk.isascii()
            decoder.decode(b"", final=True)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return False
    return plain


def header(file: File, kind: str) -> tuple[list[str], str]:
    """Return the column names and the separator of a CSV file."""
    with _lines(file) as lines:
        first = lines.readline()
        separator = "\t" if kind == "tsv" else _separator(first)
    with _lines(file) as lines:  # a quoted name may run over several of them: read them afresh
        names: list[str] = next(_rows(lines, separator), [])
    return [name.strip() for name in names], separator


def _rows(lines: Any, separator: str) -> Any:
    """Return a reader of the fields of lines, however long they are."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    return csv.reader(lines, delimiter=separator)


def _lines(file: File) -> io.TextIOWrapper:
    return io.TextIOWrapper(_open(file.path), "utf-8-sig", newline="")


def _separator(header: str) -> str:
    bare = re.sub(r'"[^"]*"', "", header)
    return max(",;\t|", key=bare.count)


def _once_per_state(find: Callable[[File, str], _Found]) -> Callable[[File, str], _Found]:
    """Keep what is found in a file until it is written again: every pass over it asks."""

    @lru_cache(_KEPT)
    def kept(file: File, kind: str, _: tuple[int, ...]) -> _Found:
        return find(file, kind)

    @wraps(find)
    def found(file: File, kind: str) -> _Found:
        now = os.stat(file.path)
        # A relative path is another file elsewhere, and the time of writing can be set.
        state = (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
        return kept(file, kind, state)

    return found


class Habits(NamedTuple):
    """How the numbers of a file are written.

    Attributes
    ----------
    sign : str or None
        The decimal sign that the file uses beyond doubt.
    pointed : frozenset of str
        Columns with points between thousands.
    commas : frozenset of str
        Columns whose commas are decimal signs beyond doubt.
    """

    sign: str | None
    pointed: frozenset[str]
    commas: frozenset[str]


@_once_per_state
def number_habits(file: File, kind: str) -> Habits:
    """Find how the numbers of a file are written; the first thousand lines decide.

    Between commas a decimal comma cannot be meant, but in quotes, and those come as text anyway.
    """
    names, separator = header(file, kind)
    if separator == ",":
        return Habits(None, frozenset(), frozenset())
    columns = [_telling(texts) for texts in _values(file, names, separator)]
    sign = written.usual_sign(columns)
    pointed, commas = set(), set()
    for name, texts in zip(names, columns, strict=True):
        found = written.writing(texts, usual=sign)
        if found.decimal == "," and any("." in text for text in found.values):
            pointed.add(name)
        elif found.decimal == "," and found.sure and found.values:
            commas.add(name)
    return Habits(sign, frozenset(pointed), frozenset(commas))


def _telling(texts: set[str]) -> set[str]:
    """Return one text of a column where it tells the same as all of them, which takes far longer.

    In texts of digits with one comma at most, a comma that cannot be between thousands is enough.
    """
    if all(map(_WITH_COMMA.fullmatch, texts)):
        for text in texts:
            if "," in text and not _PARTED.fullmatch(text):
                return {text}
    return texts


def _values(file: File, names: list[str], separator: str) -> list[set[str]]:
    """Return the distinct texts of each column in the first thousand lines, but for gaps."""
    columns: list[set[str]] = [set() for _ in names]
    with _lines(file) as lines, suppress(csv.Error):  # what cannot be read is said later
        for row in islice(_rows(lines, separator), 1, _LOOKED_AT + 1):
            for texts, field in zip(columns, row, strict=False):
                texts.add(field)
    return [texts.difference(MISSING_MARKERS) for texts in columns]


class DateHabits(NamedTuple):
    """What the first thousand lines of a file say about its dates.

    Attributes
    ----------
    unclear : frozenset of str
        Columns with dates like 1/31/2026 or 1/31/26.
    unseen : frozenset of str
        Columns without any value.
    """

    unclear: frozenset[str]
    unseen: frozenset[str]


@_once_per_state
def date_habits(file: File, kind: str) -> DateHabits:
    """Find the columns whose dates are not for DuckDB to read.

    It knows one format for all columns of a file, and takes the day for the first part where the
    values do not tell; those columns are read as they are written.
    """
    names, separator = header(file, kind)
    columns = dict(zip(names, _values(file, names, separator), strict=True))
    unread = written_dates.may_be_read_in_two_ways
    unclear = frozenset(name for name, texts in columns.items() if any(map(unread, texts)))
    return DateHabits(unclear, frozenset(name for name, texts in columns.items() if not texts))


def check_headers(files: list[File], kind: str) -> None:
    """Raise when a header names no columns, or two alike."""
    for file in files:
        try:
            names, _ = header(file, kind)
        except csv.Error as error:
            raise InputError(f"The first line of {file.name!r} cannot be read: {error}.") from error
        if not any(names):
            raise InputError(
                f"The first line of {file.name!r} is blank; put the column names there."
            )
        for name, count in Counter(names).items():
            if count > 1:
                called = (
                    f"The column name {name!r} stands" if name else "A column without a name is"
                )
                raise InputError(
                    f"{called} {count} times in the header of {file.name!r}; give every column a "
                    "name of its own."
                )
        if all(written.is_number(name) for name in names):
            raise InputError(
                f"The first line of {file.name!r} holds only numbers; put a line with the column "
                "names above it."
            )


def odd_line(file: File, kind: str) -> str | None:
    """Find the first line with more or fewer fields than the header."""
    names, separator = header(file, kind)
    with _lines(file) as lines:
        rows = _rows(lines, separator)
        try:
            for row in rows:
                if row and len(row) != len(names):
                    return (
                        f"Line {rows.line_num} of {file.name!r} has {len(row)} "
                        f"field{'' if len(row) == 1 else 's'} where the header has {len(names)}; "
                        "correct that line, or remove what stands above the header."
                    )
        except csv.Error:
            return None
    return None
