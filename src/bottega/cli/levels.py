"""Categories that a saved model has not met: handled as the user asks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.data import Encoder
from bottega.workbench import SavedModel

__all__ = ["UNKNOWN", "handle_new_levels"]

UNKNOWN = ("error", "ignore", "infrequent_if_exist")


def handle_new_levels(
    saved: SavedModel, frame: Any, labels: Sequence[str], handle_unknown: str
) -> None:
    """Refuse new rows with a level that is new to the model, or tell the model what to do with it.

    Parameters
    ----------
    saved : SavedModel
        The model; its encoders are told, and those inside methods that take categories themselves.
    frame : data frame
        The new rows.
    labels : sequence of str
        The columns that are read as they are written, categories among them.
    handle_unknown : {"error", "ignore", "infrequent_if_exist"}
        As in `Encoder`.
    """
    if handle_unknown != "error":
        # The limits of new rows may come from models of their own.
        for encoder in _encoders([saved.model, saved.intervals]):
            encoder.set_params(handle_unknown=handle_unknown)
        return
    # A part of the model, or one that calibrates it, may have learnt from fewer rows: what counts
    # is whether a level is new to all of it.
    known: dict[str, set[str]] = {}
    encoded: set[str] = set()
    for encoder in _encoders([saved.model]):
        names = [str(name) for name in encoder.feature_names_in_]
        encoded.update(names)
        texts = [
            name for name, kind in zip(names, encoder.kinds_, strict=True) if kind == "category"
        ]
        for name, *levels in zip(texts, encoder.levels_, encoder.infrequent_levels_, strict=True):
            known.setdefault(name, set()).update(*levels)
    foreign = [name for name in labels if name not in encoded]
    if foreign:
        raise InputError(
            f"--handle-unknown error: the method {saved.method} does not look at the categories of "
            f"{foreign[0]!r}, so it cannot tell which are new; leave the option out."
        )
    rows = nw.from_native(frame, eager_only=True)
    for name in [
        each for each in known if each in rows.columns
    ]:  # a column that is missing is told by `predict`
        as_codes = Encoder(one_hot=False, handle_unknown="error", kinds={name: "category"})
        as_codes.fit(make_frame({name: sorted(known[name])}))
        as_codes.transform(rows.select(name).to_native())


def _encoders(parts: Iterable[Any]) -> Iterator[Encoder]:
    """Yield the fitted encoders in a model and in whatever it is made of."""
    seen: set[int] = set()
    stack = list(parts)
    while stack:
        part = stack.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | np.ndarray | type):
            continue
        seen.add(id(part))
        if isinstance(part, Encoder) and hasattr(part, "feature_names_in_"):
            yield part
        elif isinstance(part, dict):
            stack.extend(part.values())
        elif isinstance(part, list | tuple):
            stack.extend(part)
        else:
            stack.extend(getattr(part, "__dict__", {}).values())
