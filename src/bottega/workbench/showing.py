"""A comparison as text, HTML and plain values."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.tables import Section, Summary
from bottega.workbench.budget import TOO_SLOW
from bottega.workbench.leaderboard import leaderboard_columns, versus_baseline
from bottega.workbench.results import comparable

__all__ = ["ShownComparison"]

# The columns that a prompt shows: one screen is not wide enough for all.
_BRIEF = ("method", "error", "std. error", "vs baseline", "95% interval", "chosen", "learned from")


class ShownComparison:
    """What a `Comparison` shows of itself; its attributes are those of the comparison."""

    results: Any
    nested: Any
    measure: Any
    certificate: Any
    score_certificate: Any
    verdict: Any
    leaderboard: Any
    test: Any
    table: Any
    skipped: dict[str, str]
    cut: tuple[str, ...]
    notes: tuple[str, ...]
    versions: dict[str, str]
    task: Any
    target: Any
    loss: Any
    n_rows: Any
    n_train: Any
    n_test: Any
    looks: Any
    interrupted: Any
    best_method: Any
    select: str
    outer: int
    random_state: int
    command: str
    budget: float | None
    seconds: float
    _proportions: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, for JSON."""
        rows = nw.from_native(self.leaderboard, eager_only=True).rows(named=True)
        verdict = self.verdict
        return {
            "target": self.target,
            "task": self.task,
            "measure": self.measure.name,
            "loss": self.loss,
            "n_rows": self.n_rows,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "test_looks": self.looks,
            "select": self.select,
            "outer": self.outer,
            "random_state": self.random_state,
            "best": self.best_method,
            "leaderboard": [dict(row) for row in rows],
            "verdict": {
                "margin": verdict.margin,
                "margin_in_words": verdict.margin_in_words,
                "simpler": verdict.simpler,
                "rivals": [dict(vars(rival)) for rival in verdict.rivals],
            },
            "certificate": None if self.certificate is None else dict(vars(self.certificate)),
            "score_certificate": None
            if self.score_certificate is None
            else dict(vars(self.score_certificate)),
            "proportions": None if self._proportions is None else self._proportions.to_dict(),
            "findings": [finding.message for finding in self.table.warnings],
            "skipped": dict(self.skipped),
            "cut": list(self.cut),
            "notes": list(self.notes),
            "budget": self.budget,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "command": self.command,
            "versions": dict(self.versions),
        }

    def summary(self) -> Summary:
        """Return the leaderboard as a table that shows itself as text, HTML and Markdown."""
        columns = leaderboard_columns(self.results, self.nested)
        limits = zip(columns["difference_conf_low"], columns["difference_conf_high"], strict=True)
        score = [self.measure.name] if self.measure.shown else []
        beside = [name for name in ("auc", "lift") if name in columns and name not in score]
        shown: dict[str, list[Any]] = {
            "method": columns["method"],
            **{name: columns[name] for name in score},
            "error": columns["error"],
            "std. error": columns["std_error"],
            "vs baseline": [_less_or_more(share) for share in columns["versus_baseline"]],
            "to the best": columns["difference"],
            "95% interval": [
                "-" if method == self.best_method else f"[{low:.4g}, {high:.4g}]"
                for method, (low, high) in zip(columns["method"], limits, strict=True)
            ],
            **{name: columns[name] for name in beside},
            "df": columns["df"],
            "chosen": columns["chosen"],
            **(
                {"learned from": [f"{rows:,}" for rows in columns["learned_from"]]}
                if "learned_from" in columns
                else {}
            ),
            "seconds": [f"{seconds:.2g}" for seconds in columns["seconds"]],
        }
        if min(columns["folds"]) < max(columns["folds"]):
            shown["folds"] = columns["folds"]
        title = f"{self.task.capitalize()} of {self.target} on {self.n_train:,} rows"
        if self.n_rows > self.table.n_rows:
            title += f" of {self.n_rows:,}"
        return Summary(title, (Section("", shown),), tuple(self._notes()))

    def _notes(self) -> list[str]:
        mean = "" if self.measure.form in ("root", "folds", "share") else "mean "
        notes = [
            f"error: {mean}{self.loss} over {self.outer} outer folds, tuning inside each "
            f"(rule {self.select}); interval: of the difference to the best; seconds: of one fit, "
            "that to all training rows, tuning included",
        ]
        best = self.results[self.best_method]
        whole = [each for each in self.results.values() if not each.partial]
        if any(comparable(each, best) < best.error for each in whole):
            notes.append(
                f"{self.best_method} comes first: a mean of the leaders is preferred to one method "
                "unless that is better by more than two standard errors of the difference"
            )
        if np.isnan(best.std_error) and np.isfinite(best.upper):
            rows = int(np.count_nonzero(best.fold >= 0))
            notes.append(
                f"{self.best_method}: the same loss on all {rows:,} rows leaves no standard error; "
                f"with {100 * (1 - best.nested.delta):g} % confidence its error is between "
                f"{best.lower:.3g} and {best.upper:.3g}"
            )
        if len({each.folds_done for each in self.results.values()}) > 1:
            notes.append(
                "methods of fewer folds have their place by the difference to the best over the "
                "folds of both, whatever their error: folds are not equally hard"
            )
        if self.interrupted:
            notes.append("stopped early: only the methods that were done are shown")
        if self.measure.tuned_by:
            notes.append(self.measure.tuned_by)
        if self.certificate is not None:
            notes.append(f"on {self.n_test:,} locked rows: {self.certificate}")
        if self.score_certificate is not None:
            notes.append(f"on the same rows: {self.score_certificate}")
        if self.looks_in_words:
            notes.append(self.looks_in_words)
        if self.ledger_note:
            notes.append(self.ledger_note)
        if self._proportions is not None:
            notes += self._proportions.in_words(self.target)
        notes += [*self.cut, *self.notes]
        others = [pair for pair in self.not_shown.items() if pair[0] != TOO_SLOW]  # told in cut
        reasons = sorted(others, key=lambda pair: pair[0].startswith("skipped"))
        return notes + [f"{', '.join(names)}: {reason}" for reason, names in reasons]

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
        brief = Section("", {name: columns[name] for name in _BRIEF if name in columns})
        return repr(Summary(whole.title, (brief,), whole.notes))

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def _less_or_more(share: float) -> str:
    """Write the share of the baseline's error that is removed."""
    if share == 0 or np.isnan(share):
        return "-"
    return versus_baseline(share, lambda part: f"{100 * part:.1f}%")
