"""The commands and their options.

Nothing heavy is imported here: each command imports what it does when it runs, so that ``--help``
answers at once. Data go to standard output, messages to standard error. Exit codes: 0 done, 1 it
went wrong on our side, was stopped, or not all that was asked for could be written (the rest was),
2 the input or the call is wrong.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from threading import enumerate as enumerate_threads
from threading import main_thread
from typing import Annotated

try:
    import typer
except ModuleNotFoundError:  # the extra is what brings the command line
    sys.exit("The command line needs typer and rich: run  pip install 'bottega[cli]'.")

from bottega.cli.errors import in_one_sentence

__all__ = ["app", "main"]

app = typer.Typer(
    name="bottega",
    help="Compare methods on a table honestly and predict with the best; describe a table.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


Data = Annotated[
    list[str],
    typer.Argument(
        help="CSV, TSV, Parquet, JSON lines, a folder or glob of them, a DuckDB file, or diabetes, "
        "iris, wine, breast_cancer; several files of one format are one table."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no messages.")]
Decimal = Annotated[
    str | None,
    typer.Option(help="Decimal sign of numbers, '.' or ','; found in each column by default."),
]
Encoding = Annotated[str, typer.Option(help="Text encoding of the file.")]
On = Annotated[str | None, typer.Option(help="Work on a Dask scheduler (its address), processes.")]
Stream = Annotated[
    bool, typer.Option("--stream", help="Some rows at a time; --out is then a Parquet folder.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]


@app.command()
def compare(
    data: Data,
    target: Annotated[str | None, typer.Option(help="Column to predict.")] = None,
    methods: Annotated[
        str | None, typer.Option(help="Methods to compare, separated by commas (see: methods).")
    ] = None,
    exclude: Annotated[
        str | None, typer.Option(help="Methods to leave out, separated by commas.")
    ] = None,
    with_: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="Methods to take in though they would sit out, such as voting; or lightgbm and "
            "xgboost, with their own defaults, where they are installed.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="What methods are tuned and ranked by: rmse, r2, mae, mse, poisson, or a loss "
            "such as huber; of classes auc, f1, accuracy, balanced_accuracy, log_loss, brier, cost."
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="What errors cost: OBSERVED:PREDICTED=COST, separated by commas "
            "(ill:healthy=10,healthy:ill=1), or a CSV file (a line per predicted class)."
        ),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(help="balanced: rows of rare classes weigh more, all classes the same."),
    ] = None,
    no_stack: Annotated[
        bool,
        typer.Option("--no-stack", help="Do not combine the leaders."),
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Time that all of it may take, charts apart: 90s, 2m, 1h30m; what was cut is told."
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Keep finished folds in this file, and go on from it when it exists."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the HTML report here.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the best model here (skops).")] = None,
    leaderboard: Annotated[
        Path | None, typer.Option(help="Write the leaderboard here as CSV.")
    ] = None,
    charts: Annotated[
        Path | None, typer.Option(help="Write the charts into this folder, as PNG and SVG.")
    ] = None,
    select: Annotated[
        str, typer.Option(help="Rule that picks from each path: min, one_se, aic, ...")
    ] = "min",
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
    encoding: Encoding = "utf-8",
    decimal: Decimal = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    on: On = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Do not read all rows into memory: draw some, and let methods that can learn "
            "from the others chunk by chunk. Files that are too large for memory are taken so.",
        ),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(help="Rows drawn of data that are not read into memory; 100,000 by default."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the whole result to standard output as JSON.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Compare all methods that fit the task; print the leaderboard, write the report."""
    with in_one_sentence():
        from bottega.cli import commands, comparing
        from bottega.cli.inputs import one_table

        comparing.compare(
            one_table(data),
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
                "decimal": decimal,
            },
            comparing={
                "methods": commands.parse_names(methods),
                "exclude": commands.parse_names(exclude) or (),
                "with_": commands.parse_names(with_) or (),
                "measure": measure,
                "class_weight": commands.parse_class_weight(class_weight),
                "stack": not no_stack,
                "budget": budget,
                "resume": resume,
                "select": select,
                "outer": outer,
                "interval": interval,
                "test_size": test_size,
                "random_state": random_state,
                "sample": sample,
                "n_jobs": jobs,
            },
            cost=cost,
            again=again,
            wanted=comparing.Wanted(out, save, leaderboard, charts, as_json),
            on=on,
            stream=stream,
            quiet=quiet,
        )


@app.command()
def describe(
    data: Data,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="Columns to describe, separated by commas (repeatable); all by default."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            "--ignore",
            help="Columns to leave out, separated by commas (repeatable).",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the HTML report here.")] = None,
    rows_out: Annotated[
        Path | None,
        typer.Option(help="Write cluster, outlier score and components of each row here as CSV."),
    ] = None,
    max_clusters: Annotated[int, typer.Option(help="The most clusters to look for.")] = 8,
    false_alarm: Annotated[
        float, typer.Option(help="Share of ordinary rows that may be called outliers.")
    ] = 0.001,
    random_state: Annotated[
        int, typer.Option("--seed", "--random-state", help="Seed of shuffles and samples.")
    ] = 0,
    kind: Annotated[
        list[str] | None, typer.Option(help="NAME=KIND: read a column as this kind (repeatable).")
    ] = None,
    table: Annotated[str | None, typer.Option(help="Table of a DuckDB file.")] = None,
    query: Annotated[str | None, typer.Option(help="SQL query on a DuckDB file.")] = None,
    encoding: Encoding = "utf-8",
    decimal: Decimal = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the whole result to standard output as JSON.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Describe a table without a target: components, clusters, outliers, repeated columns."""
    with in_one_sentence():
        from bottega.cli import commands, describing
        from bottega.cli.inputs import one_table

        describing.describe(
            one_table(data),
            reading={
                "kinds": commands.parse_kinds(kind or []),
                "table": table,
                "query": query,
                "encoding": encoding,
                "decimal": decimal,
            },
            columns=columns,
            exclude=exclude or [],
            describing={
                "max_clusters": max_clusters,
                "false_alarm": false_alarm,
                "random_state": random_state,
                "n_jobs": jobs,
            },
            asked=describing.Asked(out, rows_out, as_json),
            quiet=quiet,
        )


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="Model file written by compare --save.")],
    data: Annotated[
        list[str],
        typer.Argument(
            help="New rows, in any format that compare reads; several files are one table."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV to write; standard output otherwise.")
    ] = None,
    stream: Stream = False,
    ids: Annotated[
        list[str] | None,
        typer.Option("--id", help="Column of the new rows to copy beside them (repeatable)."),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column of probability for each class.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(help="Add limits that cover this share of new rows, such as 0.9."),
    ] = None,
    handle_unknown: Annotated[
        str | None,
        typer.Option(
            help="Category never seen: error, ignore, or infrequent_if_exist (with the rare ones); "
            "as the model learnt by default."
        ),
    ] = None,
    encoding: Encoding = "utf-8",
    decimal: Decimal = None,
    quiet: Quiet = False,
) -> None:
    """Predict new rows with a saved model."""
    with in_one_sentence():
        from bottega.cli import predicting
        from bottega.cli.inputs import one_table

        predicting.predict(
            model,
            one_table(data),
            out=out,
            ids=ids or [],
            probabilities=probabilities,
            interval=interval,
            handle_unknown=handle_unknown,
            reading={"encoding": encoding, "decimal": decimal},
            stream=stream,
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
    with in_one_sentence():
        from bottega.cli import commands

        commands.methods(method, task, as_json=as_json)


@app.command()
def warmup(quiet: Quiet = False) -> None:
    """Compile every kernel once, so that the first fit is as fast as the next."""
    with in_one_sentence():
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
    """Compare methods on a table honestly and predict with the best; describe a table."""


def main() -> None:
    """Run the command; threads that an interruption left at work do not hold it up."""
    try:
        app()
    except SystemExit as end:
        if any(each is not main_thread() for each in enumerate_threads()):
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))
        raise
