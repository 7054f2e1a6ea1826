"""Data larger than memory, as numbers: chunks that any ``fit_chunks`` takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from typing import Any

import narwhals.stable.v2 as nw
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from bottega.core.errors import DataWarning, InputError, did_you_mean, warn_caller
from bottega.core.matrix_columns import MatrixColumns
from bottega.core.parts import RowSource
from bottega.core.seeds import seed_of
from bottega.data import convert
from bottega.data._encode.levels import check_policy
from bottega.data._inspect.source_kinds import ColumnRoles, SourceKinds
from bottega.data.convert import Frame
from bottega.data.encoder import Encoder
from bottega.data.findings import Finding
from bottega.data.plain_numbers import PlainNumbers
from bottega.data.prepare import implied_names
from bottega.data.read import is_query
from bottega.data.read.files import is_path, path_in_words, path_of, short_name
from bottega.data.read.rows import FrameRows, StoredRows, rows_of
from bottega.data.role_columns import class_labels, exact_integers, whole_numbers, with_target
from bottega.data.row_sample import sample_rows

__all__ = ["EncodedChunks", "chunks"]

_TOLD = ("date_format", "unusable", "levels")  # findings that nobody expects


def chunks(
    source: Any,
    *,
    target: str | None = None,
    rows: int = 10_000,
    kinds: Mapping[str, str] | None = None,
    weight: str | None = None,
    group: str | None = None,
    ignore: str | Iterable[str] = (),
    encoder: Encoder | None = None,
    where: Any = None,
    table: str | None = None,
    query: str | None = None,
    encoding: str = "utf-8",
    decimal: str | None = None,
    columns: str | Iterable[str] | None = None,
) -> "EncodedChunks":
    """Return the rows of files, a database or a frame in chunks of numbers, ready to be fitted.

    The columns are read as `read` and `Encoder` read them together: kinds are inferred from all
    rows; keys and constants are left out; categories, missing values and the commonest stems of
    free texts are encoded the same in every chunk. One pass over the rows learns this where all
    columns are numbers (none, until the encoder is asked for, where the footers of Parquet files
    say that no number is missing), two where there are categories, dates or truth values, and one
    more for each column of texts. The medians, which stand in for missing values, are exact; a long
    column whose first rows are not like the others takes four passes more. At no time are more than
    a few chunks in memory, beside the distinct values of labels and keys (name columns with many of
    them in `ignore`) and the distinct stems of texts. Later passes read only the columns that are
    used.

    Parameters
    ----------
    source : path, frame, name or dataset
        What `read` takes; a pattern such as ``"folder/*.parquet"`` for many files; an Arrow
        dataset. (`bottega.scale.source` takes arrays and Dask's collections, too.)
    target : str, optional
        The column to predict; rows where it is missing are left out. Methods without responses
        need none.
    rows : int
        Rows of a chunk, up to the size of the pieces in which they come.
    kinds : dict of str to str, optional
        Kinds that override the inferred ones, as in `Table`.
    weight : str, optional
        The column of row weights.
    group : str, optional
        The column of groups, which is no input.
    ignore : str or iterable of str
        Columns to leave out.
    encoder : Encoder, optional
        How to encode; by default numbers keep their scale (``Encoder(standardize=False)``), as most
        methods that fit chunks standardise by themselves.
    where : str or Arrow expression, optional
        A condition that rows must meet: SQL for files (``"year >= 2020"``), an expression for an
        Arrow dataset. It is checked where the rows are read.
    table, query, encoding, decimal
        As in `read`.
    columns : str or iterable of str, optional
        The columns to learn from, where not all others are.

    Returns
    -------
    EncodedChunks
        It can be iterated over any number of times; its `warnings` say how columns are read.

    Warns
    -----
    DataWarning
        Of columns that are left out though they are neither keys nor constant, and of words among
        numbers.

    Examples
    --------
    >>> from bottega.linear import Ridge
    >>> diabetes = chunks("diabetes", target="target", rows=100)
    >>> [len(X) for X, y in diabetes]
    [100, 100, 100, 100, 42]
    >>> bool(Ridge(alpha=1.0).fit_chunks(diabetes).coef_[2] > 0)
    True
    """
    if is_query(source):
        raise InputError(
            "Chunks are iterated over more than once, and the rows of an executed query come once: "
            "give a file, or a DuckDB file with query=."
        )
    kinds = {str(name): kind for name, kind in (kinds or {}).items()}
    text = [name for name, kind in kinds.items() if kind in ("category", "text", "id")]
    if decimal not in (None, ".", ","):
        raise InputError(f"decimal is '.' or ',', not {decimal!r}.")
    options: dict[str, Any] = {"rows": rows, "table": table, "query": query, "encoding": encoding}
    options |= {"where": where, "decimal": decimal}
    for role, given in (("target", target), ("weight", weight), ("group", group)):
        if not (given is None or isinstance(given, str)):
            raise InputError(
                f"{role} is of type {type(given).__name__}; of a source with named columns it is "
                "the name of one: put the values into the data as a column, and give its name."
            )
    found = rows_of(source, options)
    left_out = {ignore} if isinstance(ignore, str) else set(ignore)
    if columns is not None:
        left_out |= _others(found, text, columns, {target, weight, group})
    roles = ColumnRoles(target, weight, group, left_out)
    return EncodedChunks(found, roles, kinds, text, encoder, decimal)


def _others(
    rows: FrameRows, text: list[str], columns: str | Iterable[str], roles: set[str | None]
) -> set[str]:
    """Return the columns that are not among those to learn from."""
    wanted = {columns} if isinstance(columns, str) else set(columns)
    known = next((convert.as_frame(each).columns for each in rows.frames(None, text)), [])
    for name in sorted(wanted - set(known), key=str):
        raise InputError(f"columns names {name!r}, which is no column.{did_you_mean(name, known)}")
    if not wanted - roles:
        raise InputError("columns names no column to learn from; name one, or leave it out.")
    return set(known) - wanted - roles


class EncodedChunks(RowSource):
    """Chunks ``(X, y)`` or ``(X, y, w)`` of encoded rows; made by `chunks`.

    X is a data frame with the names of the encoded columns, y the target: numbers as they are,
    anything else as labels; None without a target.

    Where the footers of Parquet files say that all inputs are numbers and none is missing, nothing
    is learnt before a fit: `kinds` and `encoder` are learnt when they are first asked for.
    """

    def __init__(
        self,
        source: FrameRows,
        roles: ColumnRoles,
        kinds: Mapping[str, str],
        text: list[str],
        encoder: Encoder | None,
        decimal: str | None = None,
    ) -> None:
        self._source, self._roles, self._text = source, roles, text
        self.in_files = self.name is not None
        self._given, self._kinds, self._encoder = dict(kinds), dict(kinds), encoder
        self._plain = self._learned = None
        self._decimal = decimal
        self._signs: dict[str, str] = {}  # of responses and weights that are written as text
        self._day_first: dict[str, bool] = {}
        self._warnings: tuple[Finding, ...] = ()
        if not kinds and encoder is None:
            others = roles.ignore | ({roles.group} if roles.group is not None else set())
            self._plain = PlainNumbers.of(source, roles.target, roles.weight, others)
        if self._plain is None:
            self.learn()

    def __repr__(self) -> str:
        roles = {"target": self.target, "weight": self.weight, "group": self.group}
        given = [f"{role}={name!r}" for role, name in roles.items() if name is not None]
        path: Any = getattr(self._source, "source", None)
        where = path_in_words(path_of(path)) if is_path(path) else "rows that are not in files"
        lines = [f"source({', '.join([where, *given])})"]
        if self._learned is not None:
            width = max(map(len, self._kinds))
            lines += [f"  {name:<{width}}  {kind}" for name, kind in self._kinds.items()]
            lines += [f"  ! {finding.message}" for finding in self._warnings]
        return "\n".join(lines)

    def learn(self) -> None:
        """Learn kinds and encoder from all rows, unless that is done."""
        if self._learned is not None:
            return
        if self._plain is not None:
            self._plain.check_alike()
        learner = SourceKinds(self._source, self._roles, self._given, self._text, self._decimal)
        self._kinds, self._text = learner.kinds, learner.text
        self._signs, self._day_first = learner.role_decimal, learner.day_first
        self._warnings = tuple(learner.notes)
        words = [name for name, kind in self._kinds.items() if kind == "number"]
        for each in self._warnings:
            if each.code in _TOLD or (each.code == "mixed" and each.column in words):
                warn_caller(each.message, DataWarning)
        encoder = clone(Encoder(standardize=False) if self._encoder is None else self._encoder)
        encoder.set_params(kinds=self._kinds, decimal=learner.decimal, day_first=self._day_first)
        frames = _FeatureFrames(self)
        if learner.numbers is None:
            encoder.fit_chunks(frames)
        else:
            encoder.fit_numbers(list(self._kinds), learner.numbers, frames)
        self._learned = encoder
        if not encoder.standardize:
            self._tell_units(encoder)

    def _tell_units(self, encoder: Encoder) -> None:
        """Warn of columns that have been brought to another unit: a model of them is in it."""
        for name, scale in encoder.changed_units.items():
            finding = Finding(
                "unit",
                name,
                f"Column {name!r} is taken in units of {scale:.3g}, since "
                "squares of its values would be lost: a model of these rows predicts others "
                "through source.pipeline(model), not by itself.",
            )
            self._warnings = (*self._warnings, finding)
            warn_caller(finding.message, DataWarning)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each feature."""
        self.learn()
        return self._kinds

    @property
    def encoder(self) -> Encoder:
        """The encoder, fitted; it encodes new rows in the same way."""
        self.learn()
        assert self._learned is not None
        return self._learned

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What to know about the columns: which are left out, and how the others are read."""
        self.learn()
        return self._warnings

    @property
    def day_first(self) -> dict[str, bool]:
        """Of columns with dates like 31/1/2026, whether the day comes first."""
        self.learn()
        return self._day_first

    @property
    def target(self) -> str | None:
        """The column to predict."""
        return self._roles.target

    @property
    def weight(self) -> str | None:
        """The column of row weights."""
        return self._roles.weight

    @property
    def group(self) -> str | None:
        """The column of groups."""
        return self._roles.group

    @property
    def ignore(self) -> frozenset[str]:
        """The columns that were left out on request."""
        return frozenset(self._roles.ignore)

    @property
    def decimal(self) -> str | None:
        """The decimal sign of numbers written as text, where it was given."""
        return self._decimal

    @property
    def encoding(self) -> str | None:
        """What tells how rows are encoded; None where numbers stay as they are."""
        return None if self._learned is None else self._learned.digest

    @property
    def name(self) -> str | None:
        """What the rows are read from: a path, the names of files; None where they are in none."""
        path: Any = getattr(self._source, "source", None)
        if not is_path(path):
            return None
        return short_name(path_of(path))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        names = [str(name) for name in self.encoder.get_feature_names_out()]
        for frame in self._rows():
            matrix = self.encoder.transform(self._features(frame))
            X = nw.from_numpy(matrix, names, backend=frame.implementation).to_native()
            y, weight = self.response_of(frame), self.weight_of(frame)
            yield (X, y) if weight is None else (X, y, weight)

    def responses(self) -> Iterator[tuple[Any, Any]]:
        """Yield responses and weights alone: no other column is read."""
        if self._roles.target is None:
            yield from super().responses()
            return
        self.learn()  # whether labels are read as they are written
        for frame in with_target(self.stored(self._roles.used), self._roles.target):
            yield self.response_of(frame), self.weight_of(frame)

    @property
    def made_of(self) -> MatrixColumns | None:
        """What the columns were made of; None where that is not learnt yet."""
        if self._learned is None:
            return None
        names = tuple(map(str, self._learned.get_feature_names_out()))
        return MatrixColumns(names, implied_names(self._learned), seen=True)

    def at_first_sight(self) -> RowSource:
        """Return the chunks as the files describe them, where that is known and may do."""
        return self if self._plain is None or self._learned is not None else self._plain

    def check_unchanged(self) -> None:
        """Raise where the files are not those that the source was made of.

        Processes elsewhere do not tell a file that was written again with the same size.
        """
        if isinstance(self._source, StoredRows):
            self._source.check_files()

    def parts(self) -> "list[EncodedChunks]":
        """Return the chunks in parts that other processes can read, encoded as they are here."""
        self.learn()
        found = []
        for source in self._source.parts(self._text):
            part = copy(self)
            part._source, part._plain = source, None  # which tells of the files of all parts
            found.append(part)
        return found

    def pipeline(self, model: Any, *, handle_unknown: str | None = None) -> Pipeline:
        """Return the encoder and a model fitted to these chunks as one, for rows as stored.

        Parameters
        ----------
        model : estimator
            Fitted to these chunks.
        handle_unknown : {"error", "ignore", "infrequent_if_exist"}, optional
            What to do with levels that the chunks do not have, as in `Encoder`; as the encoder of
            the chunks does by default.
        """
        encoder = deepcopy(self.encoder).set_output(transform="pandas")
        if handle_unknown is not None:
            check_policy(handle_unknown, None)
            encoder.set_params(handle_unknown=handle_unknown)
        return Pipeline([("encode", encoder), ("model", model)])

    def sample(self, size: int, *, random_state: Any = 0) -> Any:
        """Return a random sample of the rows as they are stored, as a frame.

        Parameters
        ----------
        size : int
            How many rows; all where there are fewer.
        random_state : int, RandomState, Generator or None
            Seed of the draw.

        Returns
        -------
        data frame
            Rows in their order. Where the target has labels each class has its share.
        """
        if size < 1:
            raise InputError(f"A sample of {size} rows is none; give size above 0.")
        seed = seed_of(random_state, "sample")
        return sample_rows(
            with_target(self.stored(), self._roles.target), size, seed, self._strata()
        )

    def stored(
        self, columns: Sequence[str] | None = None, text: Iterable[str] = ()
    ) -> Iterator[Frame]:
        """Yield frames of all rows as they are stored, those without a target too.

        Responses that are numbers written as text are numbers here, and dates like 31/1/2026
        written like 2026-01-31, where all rows together tell which part is the day.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns to read; all by default.
        text : iterable of str
            More columns to read from text files as they are written.
        """
        for chunk in self._source.frames(columns, [*self._text, *text]):
            yield self._as_learnt(convert.as_frame(chunk))

    def _as_learnt(self, frame: Frame) -> Frame:
        """Return rows with what only all of them tell: the order in dates, written responses."""
        made = [
            convert.with_iso_dates(frame[name], first)
            for name, first in self._day_first.items()
            if name in frame.columns
        ]
        for name, sign in self._signs.items():
            if name in frame.columns:
                values = convert.numbers(frame[name], sign)
                backend = frame.implementation
                made.append(nw.new_series(name, values, nw.Float64, backend=backend))
        return frame.with_columns(*made) if made else frame

    def _strata(self) -> str | None:
        """Return the target if it has labels."""
        target = self._roles.target
        first = None if target is None else next(self._rows(), None)
        if target is None or first is None:
            return None
        return None if convert.storage(first[target]) in ("integer", "number") else target

    def _rows(self) -> Iterator[Frame]:
        """Yield the rows that have a target, of the columns that are used."""
        frames = self.stored([*self._kinds, *self._roles.used])
        yield from with_target(frames, self._roles.target)

    def _features(self, frame: Frame) -> Any:
        return frame.select(list(self._kinds)).to_native()

    def response_of(self, frame: Frame) -> Any:
        """Return the responses of rows that have one; None where the source has no target."""
        if self._roles.target is None:
            return None
        series = frame[self._roles.target]
        kind = convert.storage(series)
        if kind == "integer":  # which may be labels, and are those of the column then
            return series.to_numpy()
        if kind != "number":
            return class_labels(series)
        exact = exact_integers(series)
        return whole_numbers(convert.numbers(series)) if exact is None else exact

    def weight_of(self, frame: Frame) -> Any:
        """Return the weights of rows; None where the source has none."""
        name = self._roles.weight
        return None if name is None else convert.numbers(frame[name])


class _FeatureFrames:
    """The feature columns of chunks, for the encoder to learn from."""

    def __init__(self, chunks: EncodedChunks) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[Any]:
        for frame in self._chunks._rows():
            yield self._chunks._features(frame)
