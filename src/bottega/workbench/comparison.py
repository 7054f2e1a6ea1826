"""The outcome of a comparison: leaderboard, best model, certificate, report, model file."""

from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import bottega
from bottega.core.certificate import Certificate
from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.losses import Loss
from bottega.core.tables import Section, Summary
from bottega.core.typing import Array
from bottega.data import LockedPart, Table
from bottega.risk import NestedComparison, certify
from bottega.workbench.persist import SavedModel, save
from bottega.workbench.results import MethodResult, leaderboard_columns

__all__ = ["Comparison"]

# The columns that a prompt shows: one screen is not wide enough for all.
_BRIEF = ("method", "error", "std. error", "vs baseline", "95% interval", "chosen")


@dataclass
class Comparison:
    """Many methods on one data set, compared honestly; made by `bottega.compare`.

    Attributes
    ----------
    table : Table
        Everything that was read.
    train : Table
        The rows that methods were fitted to and compared on.
    test : LockedPart or None
        The locked rows; None when none were set aside.
    results : dict of str to MethodResult
        One record per method.
    nested : NestedComparison
        Errors of the methods over the same outer folds.
    skipped : dict of str to str
        Methods that are not among the results, with the reason.
    select, outer, random_state
        The rule that picks from each path, the number of outer folds, the seed.
    row_loss : Loss
        What rows are judged by.
    command : str
        The call that repeats the comparison.
    versions : dict of str to str
        Versions of the libraries.
    seconds : float
        Wall-clock time of the whole comparison, without `preparing_seconds`.
    preparing_seconds : float
        Time in which kernels were compiled, which is done once on a machine.
    certificate : Certificate or None
        Set by `certify`.
    """

    table: Table
    train: Table
    test: LockedPart | None
    results: dict[str, MethodResult]
    nested: NestedComparison
    skipped: dict[str, str]
    select: str
    outer: int
    random_state: int
    row_loss: Loss
    command: str
    versions: dict[str, str]
    seconds: float
    preparing_seconds: float
    certificate: Certificate | None = field(default=None)

    @property
    def loss(self) -> str:
        """Name of the loss that the errors average."""
        return self.row_loss.title

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before all methods were done."""
        return not self.nested.complete

    @property
    def task(self) -> str:
        """What is predicted: "regression" or "classification"."""
        return str(self.table.task)

    @property
    def target(self) -> str:
        """Name of the column that is predicted."""
        return str(self.table.target)

    @property
    def n_train(self) -> int:
        """Number of rows compared on."""
        return self.train.n_rows

    @property
    def n_test(self) -> int:
        """Number of locked rows."""
        return 0 if self.test is None else self.test.n_rows

    @property
    def looks(self) -> int:
        """How often the locked part was opened, by this process or another."""
        return 0 if self.test is None else self.test.looks

    @property
    def y_train(self) -> Array:
        """The target of the training rows."""
        return np.asarray(self.train.y)

    @property
    def best_method(self) -> str:
        """Short name of the method with the least error."""
        return min(self.results, key=lambda method: self.results[method].error)

    @property
    def best(self) -> Any:
        """The best procedure, fitted to all training rows."""
        return self.results[self.best_method].model

    @property
    def leaderboard(self) -> Any:
        """One row per method, the least error first, as a data frame.

        `error`, `std_error`, `lower` and `upper` are of the whole procedure, tuning included;
        `versus_baseline` is the share of the baseline's error that is removed; `difference` is the
        error minus that of the best, over the same folds, with its 95 % interval; `auc` and `lift`
        (for two classes) say how well the scores order the rows; `df` and `chosen` describe the
        model fitted to all training rows; `seconds` is the time of that fit, tuning included.
        """
        return make_frame(leaderboard_columns(self.results, self.nested), self.table.frame)

    def certify(
        self, *, delta: float = 0.05, again: bool = False, ledger: bool = True
    ) -> Certificate:
        """Open the locked part and return the best model's error on it with its interval.

        Parameters
        ----------
        delta : float
            Probability with which the interval may miss the risk.
        again : bool
            Look a second time, which makes the answer optimistic; without it a second look raises
            `TestSetAlreadyUsed`.
        ledger : bool
            Whether other processes are asked if they opened these rows, and told that this one
            does; see `bottega.data.LockedPart`.
        """
        if self.test is None:
            raise InputError(
                "No rows were set aside for a certificate; compare with a share of them, "
                "test_size=0.25."
            )
        with self.test.opened(again=again, ledger=ledger) as part:
            found = certify(self.best, part, delta=delta, loss=self.row_loss)
        self.certificate = replace(found, assumptions=(*found.assumptions, self.test.told))
        return self.certificate

    def report(self, path: Any) -> FilePath:
        """Write the HTML report, one file that works offline, and return its path."""
        from bottega.report import write  # the report is made of comparisons: a circle otherwise

        return write(self, path)

    def save(self, path: Any) -> FilePath:
        """Write the best model to a skops file that `bottega.load` and ``bottega predict`` read."""
        columns = [column.name for column in self.table.columns if column.role == "feature"]
        saved = SavedModel(
            model=self.best,
            method=self.best_method,
            task=self.task,
            target=self.target,
            columns=tuple(columns),
            certificate="" if self.certificate is None else str(self.certificate),
            version=bottega.__version__,
        )
        return save(saved, path)

    def summary(self) -> Summary:
        """Return the leaderboard as a table that shows itself as text, HTML and Markdown."""
        columns = leaderboard_columns(self.results, self.nested)
        limits = zip(columns["difference_low"], columns["difference_high"], strict=True)
        shown: dict[str, list[Any]] = {
            "method": columns["method"],
            "error": columns["error"],
            "std. error": columns["std_error"],
            "vs baseline": [_less_or_more(share) for share in columns["versus_baseline"]],
            "to the best": columns["difference"],
            "95% interval": [
                "-" if method == self.best_method else f"[{low:.4g}, {high:.4g}]"
                for method, (low, high) in zip(columns["method"], limits, strict=True)
            ],
            **{name: columns[name] for name in ("auc", "lift") if name in columns},
            "df": columns["df"],
            "chosen": columns["chosen"],
            "seconds": [f"{seconds:.2g}" for seconds in columns["seconds"]],
        }
        title = f"{self.task.capitalize()} of {self.target} on {self.n_train:,} rows"
        return Summary(title, (Section("", shown),), tuple(self._notes()))

    def _notes(self) -> list[str]:
        notes = [
            f"error: mean {self.loss} over {self.outer} outer folds, tuning inside each "
            f"(rule {self.select}); interval: of the difference to the best",
        ]
        if self.certificate is not None:
            notes.append(f"on {self.n_test:,} locked rows: {self.certificate}")
        if self.looks_in_words:
            notes.append(self.looks_in_words)
        if self.ledger_note:
            notes.append(self.ledger_note)
        notes += [f"{', '.join(names)}: {reason}" for reason, names in self.not_shown.items()]
        if self.interrupted:
            notes.append("stopped early: only the methods that were done are shown")
        return notes

    @property
    def ledger_note(self) -> str:
        """Why other processes will not know that the locked rows were opened; empty if they do."""
        return "" if self.test is None else self.test.note

    @property
    def looks_in_words(self) -> str:
        """What is to be said about earlier looks at the locked rows; empty if there were none."""
        looks = self.looks
        if self.test is None or looks < (1 if self.certificate is None else 2):
            return "" if self.test is None else self.test.overlap_in_words
        first = f"first at {self.test.first_opened:%Y-%m-%d %H:%M}"
        if self.certificate is None:
            return (
                f"the {self.n_test:,} locked rows were opened before ({first}), so they give no "
                "certificate: get new test rows, or give again=True for a second look"
            )
        return (
            f"the locked rows have been opened {looks} times ({first}): every further look lets "
            "its result slip into later choices, so the claim is weaker than it reads"
        )

    @property
    def not_shown(self) -> dict[str, list[str]]:
        """The methods that failed or were skipped, by reason."""
        found: dict[str, list[str]] = {}
        for method, reason in self.skipped.items():
            found.setdefault(reason, []).append(method)
        return found

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        whole = self.summary()
        columns = whole.sections[0].columns
        brief = Section("", {name: columns[name] for name in _BRIEF})
        return repr(Summary(whole.title, (brief,), whole.notes))

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def _less_or_more(share: float) -> str:
    """Write the share of the baseline's error that is removed."""
    if share == 0 or np.isnan(share):
        return "-"
    return f"{100 * abs(share):.1f}% {'less' if share > 0 else 'more'}"
