"""What a terminal shows while a command works: a bar, and the leaderboard as it fills.

Where standard error is not a terminal nothing moves; one line says that kernels are being compiled.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from bottega.cli.outputs import say
from bottega.core import progress

__all__ = ["shown_progress"]

_LEAST_LINES = 12  # of a terminal that has room for the leaderboard
_OTHER_LINES = 7  # the bars, the heading, and what the shell wrote before


@contextmanager
def shown_progress(stage: str, *, quiet: bool) -> Iterator[None]:
    """Show the progress of one stage on the terminal, and that kernels are being compiled."""
    if quiet:
        yield
        return
    if not sys.stderr.isatty():
        with progress.listen(_say_once(f"{progress.PREPARING}, once on this machine")):
            yield
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=console
    )
    task = bar.add_task(stage, total=None)
    preparing = bar.add_task("", total=None, visible=False)
    standings = Standings(most=max(console.height - _OTHER_LINES, 0))

    def show(event: progress.Event) -> None:
        if event.stage == stage:
            bar.update(task, completed=event.done, total=event.total)
            standings.add(getattr(event, "detail", None))
        elif event.stage == progress.PREPARING:
            kernels = "1 kernel" if event.total == 1 else f"{event.total} kernels"
            bar.update(
                preparing,
                description=f"preparing {kernels}, once on this machine",
                completed=event.done,
                total=event.total,
                visible=True,
            )

    shown = Group(bar, standings) if console.height >= _LEAST_LINES else bar
    with Live(shown, console=console, transient=True), progress.listen(show):
        yield


class Standings:
    """The leaderboard so far: the mean error of each method over the folds that are done.

    Parameters
    ----------
    most : int
        Methods that are shown; the best ones.
    """

    def __init__(self, most: int = 20) -> None:
        self.most = most
        self._folds: dict[str, list[tuple[float, int]]] = {}
        self._lock = Lock()

    def add(self, detail: Any) -> None:
        """Add one fold: the method, its mean loss there, and the number of rows."""
        if detail is None or detail[1] is None:
            return
        method, loss, rows = detail
        with self._lock:
            self._folds.setdefault(method, []).append((float(loss), int(rows)))

    def rows(self) -> list[tuple[str, float, int]]:
        """Return method, mean loss and number of folds, the least loss first."""
        with self._lock:
            found = {method: list(folds) for method, folds in self._folds.items()}
        means = [
            (method, sum(loss * n for loss, n in folds) / sum(n for _, n in folds), len(folds))
            for method, folds in found.items()
        ]
        return sorted(means, key=lambda row: row[1])

    def __rich__(self) -> Any:
        from rich.table import Table

        rows = self.rows()
        table = Table(box=None, pad_edge=False)
        if not rows:
            return table
        table.add_column("so far", no_wrap=True)
        table.add_column("error", justify="right")
        table.add_column("folds", justify="right")
        for method, mean, folds in rows[: self.most]:
            table.add_row(method, f"{mean:.4g}", str(folds))
        if len(rows) > self.most:
            table.add_row(f"and {len(rows) - self.most} more", "", "")
        return table


def _say_once(message: str) -> Callable[[progress.Event], None]:
    """Return a listener that writes a message when the first kernel is compiled."""
    said = False

    def listener(event: progress.Event) -> None:
        nonlocal said
        if event.stage == progress.PREPARING and not said:
            said = True
            say(message)

    return listener
