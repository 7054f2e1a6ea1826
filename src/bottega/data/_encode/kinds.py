"""The kinds of the columns that an encoder reads."""

from collections.abc import Mapping

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.data._inspect import convert
from bottega.data._inspect.convert import Frame, Series
from bottega.data.columns import KINDS, UNUSABLE, profile


def choose_kinds(frame: Frame, kinds: Mapping[str, str] | None) -> list[str]:
    """Return the kind of each column: as given, or inferred; raise for one that has no encoding."""
    given = {str(name): kind for name, kind in (kinds or {}).items()}
    for name, wish in given.items():
        if name not in frame.columns:
            raise InputError(
                f"kinds names a column {name!r} that is not there."
                f"{did_you_mean(name, frame.columns)}"
            )
        if wish not in KINDS:
            raise ParameterError(
                f"Column {name!r} cannot be of kind {wish!r}.{did_you_mean(wish, KINDS)} "
                f"The kinds are {', '.join(KINDS)}."
            )
    chosen = []
    for name, dtype in frame.schema.items():
        kind = given.get(name)
        if kind is None:
            kind = "number" if dtype.is_numeric() else _infer(frame[name])
        if kind in UNUSABLE:
            raise InputError(
                f"Column {name!r} is of kind {kind}, which cannot be encoded; drop it, or give "
                f"kinds={{{name!r}: 'category'}}."
            )
        chosen.append(kind)
    return chosen


def _infer(series: Series) -> str:
    """Infer the kind of a column that is not stored as numbers.

    A part of a table may lack what the whole has: a column constant in it is no reason to stop.
    """
    stored = convert.storage(series)
    if stored != "string":
        return "number" if stored in ("empty", "integer") else stored
    levels = {text.strip().lower() for text in convert.texts(series) if text is not None}
    if levels and (levels <= {"yes", "no"} or levels <= {"true", "false"}):
        return "boolean"
    kind = profile(series).kind
    return "category" if kind == "constant" else kind
