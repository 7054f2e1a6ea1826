"""``bottega compare --stream``: methods on data larger than memory."""

import json
from typing import Any

import narwhals.stable.v2 as nw

from bottega.cli.live import shown_progress
from bottega.cli.outputs import check_outputs, followed, say, write_out
from bottega.cli.spreadsheet import as_csv
from bottega.core.errors import InputError
from bottega.core.files import write_atomically
from bottega.scale import on as place
from bottega.scale import source
from bottega.workbench import compare_source

__all__ = ["compare_stream"]

# What a comparison of all rows in memory can do, and one of a stream cannot.
_NOT_HERE = {
    **{"class_weight": "--class-weight", "budget": "--budget", "resume": "--resume"},
    **{"with_": "--with", "exclude": "--exclude"},
}
_READ = ("target", "kinds", "weight", "group", "ignore", "table", "query", "encoding")


def compare_stream(
    data: str,
    reading: dict[str, Any],
    comparing: dict[str, Any],
    wanted: Any,
    *,
    on: str | None,
    cost: str | None,
    quiet: bool,
) -> None:
    """Compare, print the leaderboard and the certificate."""
    refused = [option for name, option in _NOT_HERE.items() if comparing[name]]
    refused += ["--time"] * (reading["time"] is not None) + ["--cost"] * (cost is not None)
    given = {"--out": wanted.out, "--save": wanted.save, "--charts": wanted.charts}
    refused += [option for option, path in given.items() if path is not None]
    if refused:
        raise InputError(f"{refused[0]} needs all rows in memory; leave it out, or leave --stream.")
    if reading["target"] is None:
        raise InputError("--stream: name the column to predict, --target.")
    check_outputs({"--leaderboard": wanted.leaderboard}, {"the data": data})
    with shown_progress("comparing", quiet=quiet), place(on or "memory"):
        rows = source(data, **{name: reading[name] for name in _READ})
        found = compare_source(
            rows,  # type: ignore[arg-type]
            methods=comparing["methods"],
            loss=comparing["measure"],
            outer=comparing["outer"],
            task=reading["task"],
            random_state=comparing["random_state"],
        )
    for name, reason in found.skipped.items():
        say(f"note: {name} {reason}", quiet)
    board = nw.from_native(found.leaderboard, eager_only=True)
    columns = {name: board[name].to_list() for name in board.columns}
    if wanted.leaderboard is not None:
        write_atomically(followed(wanted.leaderboard), as_csv(columns)[0].encode())
    if wanted.as_json:
        write_out(json.dumps({"leaderboard": columns, "certificate": str(found.certificate)}))
    else:
        write_out(str(found.summary()))
