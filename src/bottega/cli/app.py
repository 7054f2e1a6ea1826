"""The commands and their options.

Nothing heavy is imported here: each command imports what it does when it runs, so that ``--help``
answers at once. Data go to standard output, messages to standard error. Exit codes: 0 done, 1 it
went wrong on our side (or was stopped), 2 the input or the call is wrong.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from bottega.cli.wording import in_words_of_the_command_line

try:
    import typer
except ModuleNotFoundError:  # the extra is what brings the command line
    sys.exit("The command line needs typer and rich: run  pip install 'bottega[cli]'.")

__all__ = ["app", "main"]

app = typer.Typer(
    name="bottega",
    help="Compare methods on a table honestly, and predict with the best.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Turn every error into one sentence on standard error and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("stopped", err=True)
        raise SystemExit(1) from None
    except BrokenPipeError:
        raise  # the reader of our output has gone (``| head``); typer ends quietly
    except Exception as error:
        if os.environ.get("BOTTEGA_TRACEBACK"):
            raise
        from bottega.core.errors import BottegaError

        if isinstance(error, BottegaError):
            typer.echo(f"error: {in_words_of_the_command_line(str(error))}", err=True)
            raise SystemExit(2) from None
        typer.echo(
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a fault of bottega; set BOTTEGA_TRACEBACK=1 to see where it happened.",
            err=True,
        )
        raise SystemExit(1) from None


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no messages.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]


@app.command()
def compare(
    data: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, Parquet, JSON lines, a folder or glob of them, a DuckDB file, "
            "or diabetes, iris, wine, breast_cancer."
        ),
    ],
    target: Annotated[str | None, typer.Option(help="Column to predict.")] = None,
    methods: Annotated[
        str | None, typer.Option(help="Methods to compare, separated by commas (see: methods).")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the HTML report here.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the best model here (skops).")] = None,
    loss: Annotated[
        str | None, typer.Option(help="What rows are judged by: absolute_error, log_loss, ...")
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="What errors cost: OBSERVED:PREDICTED=COST, separated by commas "
            "(ill:healthy=10,healthy:ill=1), or a CSV file (a line per predicted class)."
        ),
    ] = None,
    select: Annotated[str, typer.Option(help="Rule that picks from each path.")] = "one_se",
    outer: Annotated[int, typer.Option(help="Number of outer folds.")] = 5,
    interval: Annotated[
        str, typer.Option(help="How errors get their interval: nadeau_bengio, nested or auto.")
    ] = "nadeau_bengio",
    test_size: Annotated[
        float, typer.Option(help="Share of rows locked for the certificate.")
    ] = 0.25,
    again: Annotated[
        bool, typer.Option("--again", help="Open locked rows that were opened before.")
    ] = False,
    random_state: Annotated[int, typer.Option(help="Seed of the split and the folds.")] = 0,
    task: Annotated[str | None, typer.Option(help="regression or classification.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="NAME=KIND: read a column as this kind (repeatable).")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Leave a column out (repeatable).")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    group: Annotated[
        str | None, typer.Option(help="Column of groups that are never split.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="Column of time: the last rows test.")] = None,
    table: Annotated[str | None, typer.Option(help="Table of a DuckDB file.")] = None,
    query: Annotated[str | None, typer.Option(help="SQL query on a DuckDB file.")] = None,
    encoding: Annotated[str, typer.Option(help="Text encoding of the file.")] = "utf-8",
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare all methods that fit the task; print the leaderboard, write the report."""
    with _one_sentence():
        from bottega.cli import commands

        commands.compare(
            data,
            reading={
                "target": target,
                "kinds": commands.parse_kinds(kind or []),
                "weight": weight,
                "group": group,
                "time": time,
                "ignore": tuple(ignore or ()),
                "task": task,
                "table": table,
                "query": query,
                "encoding": encoding,
            },
            comparing={
                "methods": None if methods is None else [m.strip() for m in methods.split(",")],
                "loss": loss,
                "select": select,
                "outer": outer,
                "interval": interval,
                "test_size": test_size,
                "random_state": random_state,
                "n_jobs": jobs,
            },
            cost=cost,
            again=again,
            out=out,
            save=save,
            as_json=as_json,
            quiet=quiet,
        )


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="Model file written by compare --save.")],
    data: Annotated[str, typer.Argument(help="New rows, in any format that compare reads.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV to write; standard output otherwise.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column of probability for each class.")
    ] = False,
    handle_unknown: Annotated[
        str, typer.Option(help="What to do with a category never seen: error or ignore.")
    ] = "error",
    encoding: Annotated[str, typer.Option(help="Text encoding of the file.")] = "utf-8",
    quiet: Quiet = False,
) -> None:
    """Predict new rows with a saved model."""
    with _one_sentence():
        from bottega.cli import commands

        commands.predict(
            model,
            data,
            out=out,
            probabilities=probabilities,
            handle_unknown=handle_unknown,
            encoding=encoding,
            quiet=quiet,
        )


@app.command()
def methods(
    method: Annotated[str | None, typer.Argument(help="Show the card of this method.")] = None,
    task: Annotated[
        str | None, typer.Option(help="Only this task, such as regression or classification.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods and what they offer, or show the card of one."""
    with _one_sentence():
        from bottega.cli import commands

        commands.methods(method, task, as_json=as_json)


@app.command()
def warmup(quiet: Quiet = False) -> None:
    """Compile every kernel once, so that the first fit is as fast as the next."""
    with _one_sentence():
        from bottega.cli import commands

        commands.warmup(quiet=quiet)


def _show_version(value: bool) -> None:
    if value:
        import bottega

        typer.echo(f"bottega {bottega.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """Compare methods on a table honestly, and predict with the best."""


def main() -> None:
    """Run the command."""
    app()
