"""Several procedures judged by nested cross-validation over the same folds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.risk.estimate.compare_errors import ErrorComparison, compare_folds
from bottega.risk.estimate.nested_interval import mean_and_variance
from bottega.risk.estimate.nested_result import NestedCV

__all__ = ["NestedComparison"]


@dataclass(frozen=True, repr=False, eq=False)
class NestedComparison(Shown, Mapping[str, NestedCV]):
    """Procedures over the same folds: a mapping of names to `NestedCV`; made by `nested_cv`.

    Attributes
    ----------
    results : dict of str to NestedCV
        What was found about each procedure, in the order they were given.
    failures : dict of str to str
        Procedures that failed, with the reason.
    complete : bool
        Whether all of the work was done; False after Ctrl-C.
    n_train, n_test : ndarray of shape (repeats, K)
        Effective numbers of independent units (rows, or groups) that each fold trains and tests
        on.
    """

    results: dict[str, NestedCV]
    failures: dict[str, str]
    complete: bool
    n_train: FloatArray = field(repr=False)
    n_test: FloatArray = field(repr=False)

    def __getitem__(self, name: str) -> NestedCV:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def best(self) -> str:
        """Name of the procedure with the least error."""
        return min(self.results, key=lambda name: self.results[name].error)

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return self.results[self.best].loss

    def difference(self, a: str, b: str, delta: float | None = None) -> ErrorComparison:
        """Compare the errors of two procedures over the same folds.

        The variance of the mean difference is Nadeau and Bengio's, with the rows and weights of
        each fold (`corrected_variance`), averaged over the repetitions; the interval is Student's
        with K - 1 degrees of freedom, and not narrower than that of independent differences.

        Parameters
        ----------
        a, b : str
            Names of the procedures.
        delta : float, optional
            Probability with which the interval may miss; as given to `nested_cv` by default.

        Returns
        -------
        ErrorComparison
            Its difference is the error of `a` minus that of `b`.
        """
        first, second = self.results[a], self.results[b]
        apart = [
            first.rows.units(np.flatnonzero(fold >= 0), gap[fold >= 0])
            for gap, fold in zip(first.losses - second.losses, first.fold, strict=True)
        ]
        return compare_folds(
            (first.error, second.error),
            first.fold_errors - second.fold_errors,
            first.shares,
            self.n_test,
            self.n_train,
            usual=float(np.mean([mean_and_variance(*units)[1] for units in apart])),
            delta=first.delta if delta is None else delta,
            names=(a, b),
            n=int(np.count_nonzero(first.fold[0] >= 0)),
        )

    def _columns(self) -> dict[str, list[Any]]:
        """Return one row per procedure, the least error first, compared with the best."""
        order = sorted(self.results, key=lambda name: self.results[name].error)
        found = [self.results[name] for name in order]
        to_best = [self.difference(name, order[0]) for name in order]
        return {
            "name": order,
            "error": [each.error for each in found],
            "estimate": [each.estimate for each in found],
            "std_error": [each.std_error for each in found],
            "lower": [each.lower for each in found],
            "upper": [each.upper for each in found],
            "difference": [each.difference for each in to_best],
            "difference_low": [each.lower for each in to_best],
            "difference_high": [each.upper for each in to_best],
            "p_value": [each.p_value for each in to_best],
        }

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per procedure: error, interval, and difference to the best."""
        return make_frame(self._columns(), like)

    def summary(self) -> Summary:
        """Return the procedures as a table that shows itself as text, HTML and Markdown."""
        best = self.results[self.best]
        notes = [
            f"{best.loss}, over the same {best.fold_errors.shape[1]} outer folds; difference: to "
            f"the error of {self.best}, with its {100 * (1 - best.delta):g}% interval"
        ]
        notes += [f"{name}: {reason}" for name, reason in self.failures.items()]
        if not self.complete:
            notes.append("interrupted: only what was done is shown")
        return Summary("Nested cross-validation", (Section("", self._columns()),), tuple(notes))
