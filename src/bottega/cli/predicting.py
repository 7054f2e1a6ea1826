"""``bottega predict``: read a model and new rows, write one prediction per row as CSV."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.cli.levels import UNKNOWN, handle_new_levels
from bottega.cli.live import shown_progress
from bottega.cli.notes import warnings_as_notes
from bottega.cli.outputs import check_outputs, followed, say, write_out
from bottega.cli.spreadsheet import as_csv
from bottega.core.errors import InputError, did_you_mean
from bottega.core.files import write_atomically
from bottega.data import read_frame
from bottega.data.read.files import Paths, format_of
from bottega.report.words import limits_in_words
from bottega.workbench import SavedModel, load

__all__ = ["predict"]


def predict(
    model: Path,
    data: Paths,
    *,
    out: Path | None,
    ids: Sequence[str],
    probabilities: bool,
    interval: float | None,
    handle_unknown: str | None,
    reading: dict[str, Any],
    stream: bool = False,
    quiet: bool,
) -> None:
    """Predict new rows; the columns `ids` go along, and intervals where a level is given."""
    if handle_unknown not in (None, *UNKNOWN):
        raise InputError(f"--handle-unknown {handle_unknown!r}: use one of {', '.join(UNKNOWN)}.")
    if interval is not None and not 0 < interval < 1:
        raise InputError(
            f"--interval {interval:g}: give the share of new rows that the intervals should "
            "cover, between 0 and 1, such as 0.9."
        )
    if not stream:
        check_outputs({"--out": out}, {"the data": data, "the model": str(model)})
    elif out is None:
        raise InputError("--stream: give --out the name of a new folder of Parquet files.")
    elif format_of(str(out)) is not None:
        raise InputError(
            f"--out {str(out)!r} is the name of a file, and --stream writes a folder of Parquet "
            "files; give the name of a new folder."
        )
    saved = load(model)
    if interval is not None and saved.intervals is None:
        raise InputError(_why_no_limits(saved))
    steps = saved.model.named_steps
    labels = getattr(steps.get("encode") or steps.get("columns"), "text_columns", None) or ()
    if stream:
        from bottega.scale import predict_to

        assert out is not None

        def columns_of(frame: Any) -> dict[str, Any]:
            if handle_unknown is not None:
                handle_new_levels(saved, frame, labels, handle_unknown)
            return _predictions(saved, frame, probabilities, interval)

        with shown_progress("predicting", quiet=quiet), warnings_as_notes(quiet, parts=True):
            written = [*labels, *(set(ids) - set(saved.columns))]
            count = predict_to(
                saved, data, out, ids=ids, columns=columns_of, text=written, **reading
            )
        say(f"{count:,} predictions by {saved.method}: {out}", quiet)
        if interval is not None:
            say(f"note: {limits_in_words(saved.intervals, interval)}", quiet)
        return
    frame = read_frame(data, **reading, text=[*labels, *(set(ids) - set(saved.columns))])
    columns = _ids(frame, ids)
    if handle_unknown is not None:
        handle_new_levels(saved, frame, labels, handle_unknown)
    with shown_progress("predicting", quiet=quiet), warnings_as_notes(quiet):
        for name, values in _predictions(saved, frame, probabilities, interval).items():
            if name in columns:
                raise InputError(
                    f"--id {name!r} has the name of a column of predictions; rename it in the data."
                )
            columns[name] = values
    text, changed = as_csv(columns)
    if out is None:
        write_out(text, end="")
    else:
        write_atomically(followed(out), text.encode())
        say(f"{len(frame):,} predictions by {saved.method}: {out}", quiet)
    if interval is not None:
        say(f"note: {limits_in_words(saved.intervals, interval)}", quiet)
    if changed:
        say(
            f"note: {changed:,} different text{'' if changed == 1 else 's'} that a spreadsheet "
            f"would take for a formula begin{'s' if changed == 1 else ''} with an apostrophe in "
            "the output",
            quiet,
        )


def _why_no_limits(saved: SavedModel) -> str:
    if saved.task == "classification" and not hasattr(saved.model, "predict_proba"):
        return (
            f"--interval: the method {saved.method} gives no probabilities, which sets of classes "
            "are made of."
        )
    other = "; --probabilities tells how sure each class is" * (saved.task == "classification")
    return (
        "--interval: the model file has no limits for new rows. Locked rows or the folds calibrate "
        "them when a model is saved, but not where rows follow time, have both weights and groups, "
        f"or the comparison was stopped{other}."
    )


def _ids(frame: Any, ids: Sequence[str]) -> dict[str, Any]:
    """Return the columns that tell the rows apart, as they are written."""
    rows = nw.from_native(frame, eager_only=True)
    for name in ids:
        if name not in rows.columns:
            raise InputError(
                f"--id {name!r}: the data have no such column.{did_you_mean(name, rows.columns)} "
                f"The columns are {', '.join(map(repr, rows.columns[:8]))}"
                f"{', ...' if len(rows.columns) > 8 else ''}."
            )
    return {name: rows[name].to_list() for name in ids}


def _predictions(
    saved: SavedModel, frame: Any, probabilities: bool, interval: float | None
) -> dict[str, Any]:
    columns = {f"predicted_{saved.target}": saved.predict(frame)}
    if interval is not None:
        limits = saved.interval(frame, level=interval)
        if saved.task == "classification":
            columns[f"set_{saved.target}"] = ["|".join(map(str, labels)) for labels in limits]
        else:
            lower, upper = np.asarray(limits).T
            columns |= {f"lower_{saved.target}": lower, f"upper_{saved.target}": upper}
    if probabilities:
        chances = saved.predict_proba(frame)
        columns |= {f"probability_{label}": chances[:, k] for k, label in enumerate(saved.classes)}
    return columns
