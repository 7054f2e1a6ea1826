"""``bottega describe``: read, describe, and write all that was asked for."""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from bottega.cli.comparing import plain, stopped_by_terminate
from bottega.cli.live import shown_progress
from bottega.cli.outputs import Ending, check_outputs, followed, say, write_out
from bottega.cli.spreadsheet import as_csv
from bottega.core import interruption
from bottega.core.errors import require
from bottega.core.files import write_atomically
from bottega.data import Table, read
from bottega.data.read.files import Paths
from bottega.report.wording import in_words_of_the_command_line
from bottega.workbench import Description
from bottega.workbench import describe as describe_table

__all__ = ["Asked", "describe"]


@dataclass(frozen=True)
class Asked:
    """What a description should leave behind.

    Attributes
    ----------
    out, rows_out : Path or None
        Files for the report, and for clusters and scores of the rows.
    as_json : bool
        Whether standard output gets JSON instead of tables.
    """

    out: Path | None = None
    rows_out: Path | None = None
    as_json: bool = False

    def check(self, data: Paths) -> None:
        """Refuse, before the work, what could not be written after it."""
        check_outputs({"--out": self.out, "--rows-out": self.rows_out}, {"the data": data})
        if self.out is not None:
            for module in ("jinja2", "altair", "vl_convert"):
                require(module, "report,plot")


def describe(
    data: Paths,
    *,
    reading: dict[str, Any],
    columns: Sequence[str] | None,
    exclude: Sequence[str],
    describing: dict[str, Any],
    asked: Asked,
    quiet: bool,
) -> None:
    """Read, describe, print what was found, write the report and the rows."""
    asked.check(data)
    with stopped_by_terminate(), interruption.remembered():
        table = read(data, **reading)
        with shown_progress("describing", quiet=quiet):
            found = describe_table(
                table,
                columns=None if columns is None else _names(columns, table),
                exclude=_names(exclude, table),
                command=shlex.join(["bottega", *sys.argv[1:]]),
                **describing,
            )
        ending = Ending()
        with ending.step("the result could not be printed"):
            if asked.as_json:
                write_out(json.dumps(as_json(found), indent=2, allow_nan=False))
            else:
                write_out(in_words_of_the_command_line(str(found.summary())))
        _write_files(found, asked, ending, quiet)
    if found.interrupted:
        say("stopped early: only what was done by then is shown", quiet)
    ending.close()
    if found.interrupted or ending.failed:
        raise SystemExit(1)


def _write_files(found: Description, asked: Asked, ending: Ending, quiet: bool) -> None:
    """Write each file that was asked for, the quick one first."""
    if asked.rows_out is not None:
        with ending.step("the rows were not written"):
            frame = nw.from_native(found.to_frame(), eager_only=True)
            text, _ = as_csv({name: frame[name].to_list() for name in frame.columns})
            write_atomically(followed(asked.rows_out), text.encode())
            say(f"rows: {asked.rows_out}", quiet)
    if asked.out is not None and not ending.leaves("the report was not written"):
        with ending.step("the report was not written"):
            found.report(followed(asked.out))
            say(f"report: {asked.out}", quiet)


def _names(given: Sequence[str], table: Table) -> list[str]:
    """Return names of columns: each option is one, or several separated by commas."""
    known = {column.name for column in table.columns}
    found: list[str] = []
    for text in given:
        parts = [text] if text in known else [part.strip() for part in text.split(",")]
        found += [part for part in parts if part]
    return found


def as_json(found: Description) -> Any:
    """Return the description as plain values, with null for what is not a number."""
    told = found.to_dict()
    told["findings"] = [in_words_of_the_command_line(message) for message in told["findings"]]
    return plain(told)
