"""What a command says when it fails: one sentence, and an exit code."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

__all__ = ["in_one_sentence"]


def _stop() -> NoReturn:
    typer.echo("stopped", err=True)
    raise SystemExit(1) from None


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Turn every error into one sentence on standard error and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        _stop()
    except BrokenPipeError:
        raise  # the reader of our output has gone (``| head``); typer ends quietly
    except Exception as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
            _stop()
        if os.environ.get("BOTTEGA_TRACEBACK"):
            raise
        from bottega.core.errors import BottegaError

        if isinstance(error, BottegaError):
            from bottega.report.wording import in_words_of_the_command_line

            typer.echo(f"error: {in_words_of_the_command_line(str(error))}", err=True)
            raise SystemExit(2) from None
        typer.echo(
            f"internal error: {type(error).__name__}: {error}\n"
            "This is a fault of bottega; set BOTTEGA_TRACEBACK=1 to see where it happened.",
            err=True,
        )
        raise SystemExit(1) from None
