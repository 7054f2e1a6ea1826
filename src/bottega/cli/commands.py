"""What the commands do; `app` only declares their options."""

import json
import math
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.cli.costs import read_costs
from bottega.cli.wording import in_words_of_the_command_line
from bottega.core import progress
from bottega.core.cards import CAPABILITIES, Card
from bottega.core.errors import (
    BottegaError,
    InputError,
    TestSetAlreadyUsed,
    did_you_mean,
    require,
)
from bottega.core.files import write_atomically
from bottega.core.frames import make_frame
from bottega.core.tables import Section, Summary
from bottega.data import read, read_frame
from bottega.registry import FIELDS, cards, in_words
from bottega.workbench import Comparison, load
from bottega.workbench import compare as compare_methods
from bottega.workbench import warmup as warm_up

__all__ = ["compare", "methods", "parse_kinds", "predict", "warmup"]


def compare(
    data: str,
    *,
    reading: dict[str, Any],
    comparing: dict[str, Any],
    cost: str | None,
    again: bool,
    out: Path | None,
    save: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read, compare, certify, print the leaderboard, write report and model."""
    for path in (out, save):
        _check_writable(path)
    if out is not None:
        for module in ("jinja2", "altair", "vl_convert"):
            require(module, "report,plot")
    if cost is not None and comparing["loss"] is not None:
        raise InputError("Give --loss or --cost, not both: costs are what rows are judged by.")
    if reading["group"] is not None and reading["time"] is not None:
        raise InputError(
            "Give --group or --time, not both: rows are held out by whole groups, or by what comes "
            "later; leave the other column out with --ignore."
        )
    table = read(data, **reading)
    if cost is not None and table.target is not None:
        comparing = {**comparing, "loss": read_costs(cost, table.classes)}
    with _progress_bar("comparing", quiet=quiet):
        found = compare_methods(table, command=shlex.join(["bottega", *sys.argv[1:]]), **comparing)
    for finding in table.warnings:
        _say(f"note: {in_words_of_the_command_line(finding.message)}", quiet)
    if found.test is not None:
        try:
            found.certify(again=again)
        except TestSetAlreadyUsed:
            pass  # the summary and the report say so
        except BottegaError as error:  # what was computed is shown all the same
            reason = in_words_of_the_command_line(str(error))
            _say(f"note: there is no certificate, and the rows stay locked: {reason}", quiet)
    if as_json:
        _print(json.dumps(_as_json(found), indent=2))
        if found.looks_in_words:
            _say(f"note: {in_words_of_the_command_line(found.looks_in_words)}", quiet)
    else:
        _print(in_words_of_the_command_line(str(found.summary())))
    if save is not None:
        _say(f"model: {found.save(save)}", quiet)
    if out is not None:
        _say(f"report: {found.report(out)}", quiet)
    if found.interrupted:
        _say("stopped early: only the methods that were done are shown", quiet)
        raise SystemExit(1)


def predict(
    model: Path,
    data: str,
    *,
    out: Path | None,
    probabilities: bool,
    handle_unknown: str,
    encoding: str,
    quiet: bool,
) -> None:
    """Read a model and new rows, write one prediction per row as CSV."""
    if handle_unknown not in ("error", "ignore"):
        raise InputError(f"--handle-unknown {handle_unknown!r}: use error or ignore.")
    _check_writable(out)
    saved = load(model)
    encoder = saved.model.named_steps.get("encode")
    labels: list[str] = []
    if encoder is not None:
        encoder.set_params(handle_unknown=handle_unknown)
        kinds = zip(saved.columns, encoder.kinds_, strict=True)
        labels = [name for name, kind in kinds if kind == "category"]
    frame = read_frame(data, encoding=encoding, text=labels)
    with _progress_bar("predicting", quiet=quiet):
        columns = {f"predicted_{saved.target}": saved.predict(frame)}
        chances = saved.predict_proba(frame) if probabilities else None
    if chances is not None:
        columns |= {f"probability_{label}": chances[:, k] for k, label in enumerate(saved.classes)}
    text = nw.from_native(make_frame(columns), eager_only=True).write_csv()
    if out is None:
        _print(text, end="")
    else:
        write_atomically(out, text.encode())
        _say(f"{len(frame):,} predictions by {saved.method}: {out}", quiet)


def methods(method: str | None, task: str | None, *, as_json: bool) -> None:
    """Print the catalogue, or the cards of one method."""
    known = sorted({card.task for card in cards()})
    if task not in (None, *known):
        raise InputError(f"--task {task!r}: use one of {', '.join(known)}.")
    found = [card for card in cards() if task in (None, card.task)]
    if method is not None:
        names = {card.method for card in found}
        if method not in names:
            raise InputError(f"There is no method {method!r}.{did_you_mean(method, names)}")
        found = [card for card in found if card.method == method]
    if as_json:
        rows = [{name: in_words(card, name) for name in FIELDS} for card in found]
        _print(json.dumps(rows, indent=2))
        return
    if method is not None:
        _print("\n\n".join(map(_card_in_words, found)))
        return
    columns = {
        "method": [card.method for card in found],
        "task": [card.task for card in found],
        "title": [card.title for card in found],
        "knob": [card.knob or "-" for card in found],
        "offers": [
            ", ".join(name for name in CAPABILITIES if getattr(card, name)) for card in found
        ],
    }
    _print(str(Summary("Methods", (Section("", columns),))))


def _card_in_words(card: Card) -> str:
    """Write a card for a reader."""
    title = f"{card.title} ({card.task}): {in_words(card, 'estimator')}"
    lines = [title, "=" * len(title)]
    lines.append(
        f"knob: {card.knob or 'none'}; takes: {in_words(card, 'takes')}; cost of a fit with its "
        f"path: {card.cost}"
    )
    offers = [words for name, words in CAPABILITIES.items() if getattr(card, name)]
    lines += [f"It {'; '.join(offers)}."] if offers else []
    for heading in ("strengths", "weaknesses", "assumptions"):
        sentences = getattr(card, heading)
        lines += [f"{heading}:", *(f"- {sentence}" for sentence in sentences)] if sentences else []
    return "\n".join(lines)


def warmup(*, quiet: bool) -> None:
    """Compile every kernel."""
    with _progress_bar("compiling", quiet=quiet):
        seconds = warm_up()
    _say(f"all kernels compiled in {seconds:.1f} s", quiet)


def parse_kinds(pairs: list[str]) -> dict[str, str] | None:
    """Read the NAME=KIND options."""
    kinds = {}
    for pair in pairs:
        name, sign, kind = pair.rpartition("=")
        if not sign:
            raise InputError(f"--kind {pair!r}: write NAME=KIND, for example age=number.")
        kinds[name] = kind
    return kinds or None


def _check_writable(path: Path | None) -> None:
    """Refuse at once a file that could not be written after minutes of work."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r} to write in; make it first.")


def _as_json(found: Comparison) -> dict[str, Any]:
    """Return the comparison as plain values, with null for what is not a number."""
    rows = nw.from_native(found.leaderboard, eager_only=True).rows(named=True)
    certificate = found.certificate
    return {
        "target": found.target,
        "task": found.task,
        "loss": found.loss,
        "n_train": found.n_train,
        "n_test": found.n_test,
        "test_looks": found.looks,
        "select": found.select,
        "outer": found.outer,
        "random_state": found.random_state,
        "best": found.best_method,
        "leaderboard": [{name: _plain(value) for name, value in row.items()} for row in rows],
        "certificate": None
        if certificate is None
        else {name: _plain(value) for name, value in certificate.__dict__.items()},
        "findings": [finding.message for finding in found.table.warnings],
        "skipped": found.skipped,
        "interrupted": found.interrupted,
        "versions": found.versions,
    }


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value


@contextmanager
def _progress_bar(stage: str, *, quiet: bool) -> Iterator[None]:
    """Show the progress of one stage on the terminal, and that kernels are being compiled.

    Where standard error is not a terminal, one line says that kernels are being compiled.
    """
    if quiet:
        yield
        return
    if not sys.stderr.isatty():
        with progress.listen(_say_once(f"{progress.PREPARING}, once on this machine")):
            yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(stage, total=None)
        preparing = bar.add_task("", total=None, visible=False)

        def show(event: progress.Event) -> None:
            if event.stage == stage:
                bar.update(task, completed=event.done, total=event.total)
            elif event.stage == progress.PREPARING:
                kernels = "1 kernel" if event.total == 1 else f"{event.total} kernels"
                bar.update(
                    preparing,
                    description=f"preparing {kernels}, once on this machine",
                    completed=event.done,
                    total=event.total,
                    visible=True,
                )

        with progress.listen(show):
            yield


def _say_once(message: str) -> Callable[[progress.Event], None]:
    """Return a listener that writes a message when the first kernel is compiled."""
    said = False

    def listener(event: progress.Event) -> None:
        nonlocal said
        if event.stage == progress.PREPARING and not said:
            said = True
            _say(message, quiet=False)

    return listener


def _print(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


def _say(message: str, quiet: bool) -> None:
    if not quiet:
        sys.stderr.write(message + "\n")
