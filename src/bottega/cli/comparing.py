"""``bottega compare``: read, compare, certify, and write all that was asked for."""

import json
import math
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.cli.costs import read_costs
from bottega.cli.live import shown_progress
from bottega.cli.notes import warnings_as_notes
from bottega.cli.outputs import Ending, check_folder, check_outputs, followed, say, write_out
from bottega.cli.spreadsheet import as_csv
from bottega.core import interruption
from bottega.core.errors import BottegaError, InputError, TestSetAlreadyUsed, require
from bottega.core.files import write_atomically
from bottega.data import read
from bottega.data.read.files import Paths, is_bundled
from bottega.report.content import URGENT
from bottega.report.wording import in_words_of_the_command_line
from bottega.scale import on as place
from bottega.scale import source
from bottega.workbench import Comparison
from bottega.workbench import compare as compare_methods
from bottega.workbench.drawn import SAMPLE, DrawnTable, draw_table
from bottega.workbench.memory import is_larger_than_memory
from bottega.workbench.sizes import SMALL

__all__ = ["Wanted", "compare", "plain", "stopped_by_terminate"]

_OF_FILES = ("table", "query", "encoding", "decimal")
_OF_SOURCE = ("target", "kinds", "weight", "group", "ignore", *_OF_FILES)


@dataclass(frozen=True)
class Wanted:
    """What a comparison should leave behind.

    Attributes
    ----------
    out, save, leaderboard : Path or None
        Files for the report, the best model and the leaderboard.
    charts : Path or None
        Folder for the charts.
    as_json : bool
        Whether standard output gets JSON instead of a table.
    """

    out: Path | None = None
    save: Path | None = None
    leaderboard: Path | None = None
    charts: Path | None = None
    as_json: bool = False

    def check(self, data: Paths, resume: Path | None, cost: str | None) -> None:
        """Refuse, before the work, what could not be written after it."""
        inputs: dict[str, Paths] = {"the data": data}
        if cost is not None and cost.lower().endswith(".csv"):
            inputs["the costs"] = cost
        files = {
            "--out": self.out,
            "--save": self.save,
            "--leaderboard": self.leaderboard,
            "--resume": resume,
        }
        check_outputs(files, inputs)
        check_folder("--charts", self.charts)
        modules = ["jinja2"] if self.out is not None else []
        if self.out is not None or self.charts is not None:
            modules += ["altair", "vl_convert"]
        for module in modules:
            require(module, "report,plot")


def compare(
    data: Paths,
    *,
    reading: dict[str, Any],
    comparing: dict[str, Any],
    cost: str | None,
    again: bool,
    wanted: Wanted,
    on: str | None = None,
    stream: bool = False,
    quiet: bool,
) -> None:
    """Read, compare, certify, print the leaderboard, write report, model, charts."""
    wanted.check(data, comparing.get("resume"), cost)
    if cost is not None and comparing["measure"] not in (None, "cost"):
        raise InputError("Give --measure or --cost, not both: costs are what rows are judged by.")
    if cost is None and comparing["measure"] == "cost":
        raise InputError(
            "--measure cost: say what errors cost, --cost OBSERVED:PREDICTED=COST, or a CSV file."
        )
    if reading["group"] is not None and reading["time"] is not None:
        raise InputError(
            "Give --group or --time, not both: rows are held out by whole groups, or by what comes "
            "later; leave the other column out with --ignore."
        )
    with stopped_by_terminate(), interruption.remembered(), warnings_as_notes(quiet) as said:
        large = stream or is_larger_than_memory(data)
        sample = comparing["sample"]
        if sample is None:
            comparing = {**comparing, "sample": SAMPLE}
        elif not large:
            say("note: --sample has no effect without --stream: all rows are in memory", quiet)
        table = _drawn(data, reading, comparing) if large else read(data, **reading)
        if table.target is None:
            known = ", ".join(repr(column.name) for column in table.columns[:8])
            more = ", ..." if len(table.columns) > 8 else ""
            raise InputError(
                f"Which column should be predicted? Name it, --target: one of {known}{more}."
            )
        if comparing["class_weight"] is not None and table.task == "regression":
            raise InputError(
                "Class weights are for classes, and the target is a number; leave --class-weight "
                "out."
            )
        if cost is not None:
            comparing = {**comparing, "measure": read_costs(cost, table.classes)}
        with shown_progress("comparing", quiet=quiet), place(on or "memory"):
            command = shlex.join(["bottega", *sys.argv[1:]])
            found = compare_methods(table, command=command, **comparing)
        ending = Ending()
        for finding in sorted(table.warnings, key=lambda each: each.code not in URGENT):
            said.add(finding.message)
            kind = "warning" if finding.code in URGENT else "note"
            say(f"{kind}: {in_words_of_the_command_line(finding.message)}", quiet)
        if found.test is not None and not found.interrupted:
            with ending.step("there is no certificate, and the rows stay locked"):
                _certify(found, again)
        if found.table.unlabelled is not None and not found.interrupted:
            with suppress(BottegaError):  # no texts, or too few; the report says so
                found.proportions()
        with ending.step("the result could not be printed"):
            _print_result(found, wanted, quiet)
        _write_files(found, wanted, ending, quiet)
    if found.interrupted:
        say("stopped early: only what was done by then is shown", quiet)
    ending.close()
    if found.interrupted or ending.failed:
        raise SystemExit(1)


def _drawn(data: Paths, reading: dict[str, Any], comparing: dict[str, Any]) -> DrawnTable:
    """Return rows drawn of data that are not read into memory as a whole."""
    if reading["target"] is None and not (isinstance(data, str) and is_bundled(data)):
        raise InputError("Rows are drawn for one target: name the column to predict, --target.")
    given = {name: reading[name] for name in _OF_SOURCE}
    given["target"] = given["target"] or "target"
    return draw_table(
        source(data, **given),
        comparing["sample"],
        task=reading["task"],
        time=reading["time"],
        seed=comparing["random_state"],
    )


def _certify(found: Comparison, again: bool) -> None:
    with suppress(TestSetAlreadyUsed):  # the summary and the report say so
        found.certify(again=again)


def _print_result(found: Comparison, wanted: Wanted, quiet: bool) -> None:
    if not wanted.as_json:
        write_out(in_words_of_the_command_line(str(found.summary())))
        return
    write_out(json.dumps(as_json(found), indent=2, allow_nan=False))
    if found.looks_in_words:
        say(f"note: {in_words_of_the_command_line(found.looks_in_words)}", quiet)


def _write_files(found: Comparison, wanted: Wanted, ending: Ending, quiet: bool) -> None:
    """Write each file that was asked for, the quick ones first."""
    if wanted.leaderboard is not None:
        with ending.step("the leaderboard was not written"):
            frame = nw.from_native(found.leaderboard, eager_only=True)
            text, _ = as_csv({name: frame[name].to_list() for name in frame.columns})
            write_atomically(followed(wanted.leaderboard), text.encode())
            say(f"leaderboard: {wanted.leaderboard}", quiet)
    if wanted.save is not None:
        if not ending.stopped:
            with ending.step("the model has no limits for new rows"):
                _calibrate(found)
        with ending.step("the model was not written"):
            _save(found, followed(wanted.save), ending)
            say(f"model: {wanted.save}", quiet)
    if wanted.out is not None and not ending.leaves("the report was not written"):
        with ending.step("the report was not written"):
            with shown_progress("explaining", quiet=quiet):
                found.report(followed(wanted.out))
            say(f"report: {wanted.out}", quiet)
    if wanted.charts is not None and not ending.leaves("the charts were not written"):
        with ending.step("not all charts were written"):
            from bottega.report import write_charts

            written = write_charts(found, wanted.charts)
            say(f"charts: {len(written)} files in {wanted.charts}", quiet)


def _save(found: Comparison, path: Path, ending: Ending) -> None:
    """Write the model; one stop does not lose it, a second one does."""
    try:
        found.save(path)
    except KeyboardInterrupt:
        ending.stop()
        found.save(path)


def _calibrate(found: Comparison) -> None:
    """Let the folds calibrate the intervals of the saved model where no locked rows did."""
    calibrated = found.certificate is not None or found.train.time is not None
    if not calibrated and not found.interrupted and found.n_train <= SMALL:
        with suppress(BottegaError):  # a method without probabilities, for one
            _ = found.intervals


@contextmanager
def stopped_by_terminate() -> Iterator[None]:
    """Let SIGTERM stop the work as Ctrl-C does, so that what is there is written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    before = signal.signal(signal.SIGTERM, interruption.press)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def as_json(found: Comparison) -> Any:
    """Return the comparison as plain values, with null for what is not a number."""
    told = found.to_dict()
    told["findings"] = [in_words_of_the_command_line(message) for message in told["findings"]]
    return plain(told)


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it, with null for what is not a number."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
