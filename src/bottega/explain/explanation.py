"""A model explained by the rows that its folds held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bottega.core.lazy import cached_property
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.explain._rows.held_out import HeldOut
from bottega.explain._rows.scores import calibration_of, lift_of
from bottega.explain.effects import Effect, EffectMaker, Effects
from bottega.explain.importance import Importance, importance_of
from bottega.explain.row_explanation import RowExplanation, row_of
from bottega.explain.terms import Terms, terms_of
from bottega.explain.worst_rows import WorstRows, worst_rows_of
from bottega.metrics import Calibration, Lift

__all__ = ["Explanation", "explain"]

LEADING = 6  # inputs whose effects are shown


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Shown):
    """What a model does with its inputs, and where it errs; made by `explain`.

    Each part is computed when it is first asked for, shows itself as a table, and has `to_frame()`
    and `plot()`.

    Attributes
    ----------
    held : HeldOut
        The rows and the models of the folds.
    model : estimator
        The model that `terms` and `row` are about.
    seed : int
        Seed of what is sampled.
    """

    held: HeldOut
    model: Any
    seed: int

    @cached_property
    def importance(self) -> Importance:
        """How much the loss of held-out rows grows when a column is shuffled, with intervals."""
        return importance_of(self.held, self.seed)

    @cached_property
    def effects(self) -> Effects:
        """How the prediction changes with the six most important inputs, of those that are used.

        Texts are left out: one effect of each stem would say more.
        """
        found = zip(self.importance.columns, self.importance.increase, strict=True)
        shown = [(name, gain) for name, gain in found if not self.held.column(name).is_text]
        used = [name for name, gain in shown if gain != 0]
        named = (used or [name for name, _ in shown])[:LEADING]
        return Effects({name: self.effect(name) for name in named})

    def effect(self, column: str) -> Effect:
        """Return how the prediction changes with one input.

        Parameters
        ----------
        column : str
            Any of the inputs.
        """
        return self._effects.effect(column)

    @cached_property
    def _effects(self) -> EffectMaker:
        return EffectMaker(self.held, self.seed)

    @cached_property
    def calibration(self) -> Calibration | None:
        """Predicted against observed means; None for a classifier without probabilities."""
        return calibration_of(self.held)

    @cached_property
    def lift(self) -> Lift | None:
        """How soon the rows of the class are found; None without probabilities of classes."""
        return lift_of(self.held)

    @cached_property
    def worst_rows(self) -> WorstRows:
        """The ten held-out rows of largest loss, with their values."""
        return worst_rows_of(self.held)

    @cached_property
    def terms(self) -> Terms | None:
        """The coefficients, terms or rules of the model; None where it cannot be read."""
        return terms_of(self.model, self.held.library)

    def row(self, row: Any) -> RowExplanation:
        """Return what each value of one row adds to the model's prediction.

        Parameters
        ----------
        row : data frame of one row, mapping, sequence or int
            The row: columns in any order, others are ignored; values by the names of the columns;
            the numbers of a matrix; or the number of a held-out row, as `worst_rows` has it.
        """
        return row_of(self.held, self.model, row, self.seed)

    def summary(self) -> Summary:
        """Return the importance of the inputs, and what else can be asked for."""
        found = self.importance.summary()
        parts = ["effects", "worst_rows", "row(...)"]
        parts += ["calibration"] * (self.calibration is not None)
        parts += ["lift"] * (self.lift is not None)
        parts += ["terms"] * (self.terms is not None)
        head = found.sections[0]
        first = Section(head.heading, {name: column[:12] for name, column in head.columns.items()})
        notes = (*found.notes, "there are also " + ", ".join(sorted(parts)))
        return Summary(found.title, (first, *found.sections[1:]), notes)


def explain(
    fits: Sequence[tuple[Any, ...]],
    *,
    loss: Any = None,
    columns: Sequence[str] | None = None,
    model: Any = None,
    rows: Sequence[Any] | None = None,
    groups: Sequence[Any] | None = None,
    label: Any = None,
    target: str = "response",
    random_state: Any = 0,
) -> Explanation:
    """Explain a procedure by its models of several folds and the rows that each of them held out.

    Parameters
    ----------
    fits : sequence of (model, X, y, sample_weight)
        For each fold a fitted model and rows that it was not fitted to, as the model takes them
        (raw frames, if it is a pipeline); weights may be None, or left out. One fold will do.
    loss : str, Loss or callable, optional
        What a row is judged by; the loss of the task by default.
    columns : sequence of str, optional
        Inputs to explain; all by default. The columns of a matrix are called x0, x1, ...
    model : fitted estimator, optional
        The model fitted to all rows, which `Explanation.terms` and `Explanation.row` are about;
        that of the first fold by default.
    rows : sequence of array-like, optional
        For each fold what its rows are called, such as their numbers in the table.
    groups : sequence of array-like, optional
        For each fold the group of each row, where rows of one group depend on each other: the
        intervals take groups as the independent units.
    label : object, optional
        Class whose probability is explained: the second of two, or the most frequent of more.
    target : str
        Name of what is predicted.
    random_state : int, RandomState, Generator or None
        Seed of shuffles and samples.

    Returns
    -------
    Explanation
        With `importance`, `effects`, `calibration`, `lift`, `worst_rows`, `terms` and `row`.

    See Also
    --------
    sklearn.inspection.permutation_importance, sklearn.inspection.partial_dependence : For one
        model, without folds, intervals and local effects.

    Examples
    --------
    >>> import bottega
    >>> from bottega.core.folds import make_folds
    >>> from bottega.core.frames import take_rows
    >>> from bottega.data.prepare import prepare
    >>> from bottega.linear import LeastSquares
    >>> table = bottega.read("diabetes")
    >>> fits = [
    ...     (prepare(LeastSquares(), table).fit(take_rows(table.X, train), table.y[train]),
    ...      take_rows(table.X, test), table.y[test], None)
    ...     for train, test in make_folds(5, table.n_rows)]
    >>> found = explain(fits)
    >>> found.importance.leading(2), found.importance.together.columns
    (('s1', 's5'), ('s1 + s2', 's3 + s4'))
    >>> found.row(0).exact
    True
    """
    held = HeldOut.of(
        fits, loss=loss, columns=columns, groups=groups, rows=rows, label=label, target=target
    )
    first = held.models[0] if model is None else model
    return Explanation(held, first, seed_of(random_state, "explain"))
