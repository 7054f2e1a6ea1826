"""The complexity path: one curve for every method, and one vocabulary of rules to pick from it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bottega.core.errors import BottegaError, ParameterError, did_you_mean
from bottega.core.frames import make_frame
from bottega.core.params import Choice
from bottega.core.stored import stored
from bottega.core.tables import Section, Summary, show
from bottega.core.typing import Array, FloatArray

__all__ = ["ALL_RULES", "CRITERIA", "ESTIMATES", "RULES", "Path", "Rule", "along", "check_rule"]

# How an error was estimated, in words.
ESTIMATES = {
    "loo": "leave-one-out",
    "gcv": "generalised cross-validation",
    "cv": "cross-validation",
    "oob": "out-of-bag rows",
    "validation": "validation rows",
    "blocks": "blocks of rows and columns held out",
    "entries": "entries held out",
    "stability": "agreement between halves of the rows",
}
CRITERIA = ("aic", "aicc", "bic", "hq", "gcv", "cp")
RULES = ("min", "one_se", *CRITERIA)
# With those that only one method has: smoothing splines, classification trees.
ALL_RULES = (*RULES, "reml", "srm")
_SHOWN = 14  # models in the table of a bare path
_EQUAL = 1e-12  # relative difference that the order of sums may make


def Rule(*, help: str = "") -> Choice:  # noqa: N802
    """Declare a parameter that names a rule for picking from a path."""
    return Choice(*RULES, help=help or "rule that picks from the path when the knob is 'auto'")


def check_rule(select: str) -> None:
    """Raise unless some method picks from its path by this rule."""
    if select == "reduced_error":
        raise ParameterError(
            "select='reduced_error' prunes a tree by rows that its growth did not see: it picks "
            "from no path, so folds inside cannot choose by it. Judge such a tree as it is, by "
            "cross_validate(TreeClassifier(select='reduced_error'), X, y)."
        )
    if select not in ALL_RULES:
        raise ParameterError(
            f"select={select!r} is not allowed; use one of {', '.join(ALL_RULES)}."
            + did_you_mean(str(select), ALL_RULES)
        )


def along(knob: str, values: Iterable[Any]) -> tuple[dict[str, Any], ...]:
    """Return the settings of a path over one knob.

    Examples
    --------
    >>> along("alpha", np.array([10.0, 1.0]))
    ({'alpha': 10.0}, {'alpha': 1.0})
    """
    return tuple({knob: _plain(value)} for value in values)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


@stored
@dataclass(frozen=True, repr=False)
class Path:
    """The curve of a method over its settings, the simplest model first.

    Attributes
    ----------
    settings : tuple of dict
        The parameters of each model, fit for ``set_params``: one knob, or several.
    train_error : ndarray of shape (m,)
        Mean loss on the rows the model was fitted to.
    error : ndarray of shape (m,)
        Honest estimate of the mean loss on new rows: the (weighted) mean over held-out rows.
    error_se : ndarray of shape (m,)
        Its standard error: that of a mean over rows, the standard deviation of the rows' losses
        over the root of their number, whatever held the rows out. It exists for every estimate,
        does not depend on the number of folds, and is much less noisy than the spread of ten fold
        means. It takes the losses of different rows as independent, so it is a little too small.
    estimate : {"loo", "gcv", "cv", "oob", "validation", "blocks", "entries", "stability"} or None
        How `error` was estimated; None where it was not (`error` is then NaN).
    loss : str
        Name of the loss that the errors average.
    df : ndarray of shape (m,) or None
        (Equivalent) degrees of freedom, where the method has them; never decreasing.
    complexity : ndarray of shape (m,)
        What orders the models; df by default. Never decreasing.
    criteria : dict of str to ndarray
        Further criteria to be minimised (aic, bic, gcv, ...).
    measured : dict of str to ndarray or None
        What some of the criteria are made from, under the same names: a mean silhouette, of which
        the largest is best, where the criterion is one less it. Frames and tables show it.
    scale : float, ndarray or None
        Residual standard deviation of a model rich enough to have little bias, used by Cp.
    coef : ndarray of shape (m, ...) or None
        Coefficients, where the method has them.
    fold_error : ndarray of shape (folds, m) or None
        Mean loss in each fold, where folds held the rows out.
    select : str or None
        Rule by which the estimator that walked the path picks from it.

    Examples
    --------
    >>> curve = Path(along("k", [9, 5, 1]), df=[1, 2, 10], train_error=[4, 2, 0],
    ...              error=[4.1, 3.9, 6], error_se=[0.3, 0.3, 0.5], estimate="loo",
    ...              loss="squared error")
    >>> int(curve.values[curve.best("min")]), curve.settings[curve.best("one_se")]
    (5, {'k': 9})
    """

    settings: Sequence[Mapping[str, Any]]
    train_error: FloatArray
    loss: str
    error: FloatArray | None = None
    error_se: FloatArray | None = None
    estimate: str | None = None
    df: FloatArray | None = None
    complexity: FloatArray = None  # type: ignore[assignment]
    criteria: Mapping[str, FloatArray] = field(default_factory=dict)
    scale: Any = None
    coef: FloatArray | None = None
    fold_error: FloatArray | None = None
    select: str | None = None
    refit: Callable[[Mapping[str, Any]], Any] | None = field(default=None, compare=False)
    measured: Mapping[str, FloatArray] | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "settings", tuple(dict(setting) for setting in self.settings))
        m = len(self.settings)
        if m == 0:
            raise ValueError("A path needs at least one setting.")
        if self.error is None:
            put(self, "error", np.full(m, np.nan))
            put(self, "error_se", np.full(m, np.nan))
        if self.complexity is None:
            put(self, "complexity", self.df)
        if self.complexity is None:
            raise ValueError("A path without df needs a complexity that orders its models.")
        for name in ("complexity", "df", "train_error", "error", "error_se"):
            if name == "df" and self.df is None:
                continue
            column = np.asarray(getattr(self, name), dtype=np.float64)
            if column.shape != (m,):
                raise ValueError(f"{name} has shape {column.shape}; the path has {m} settings.")
            put(self, name, column)
        criteria = {name: np.asarray(c, dtype=np.float64) for name, c in self.criteria.items()}
        put(self, "criteria", criteria)
        fall = np.diff(self.complexity)
        if np.any(fall < -1e-6 * (1 + np.abs(self.complexity[:-1]))):
            raise ValueError("A path starts with the simplest model: complexity must not decrease.")

    @property
    def knobs(self) -> tuple[str, ...]:
        """Names of the parameters that the settings set."""
        return tuple(self.settings[0])

    @property
    def varying(self) -> tuple[str, ...]:
        """Names of the parameters that differ between models; of a path of one model, all."""
        first = {name: str(value) for name, value in self.settings[0].items()}
        found = [
            name
            for name in self.knobs
            if any(str(setting[name]) != first[name] for setting in self.settings)
        ]
        return tuple(found) or self.knobs

    @property
    def knob(self) -> str:
        """Name of the parameter that varies along the path."""
        varying = self.varying
        if len(varying) > 1 and len({str(setting) for setting in self.settings}) > 1:
            raise BottegaError(
                f"This path varies several parameters ({', '.join(varying)}), so it has no single "
                "knob: use settings."
            )
        return varying[0]

    @property
    def values(self) -> Array:
        """Values of the one parameter that varies."""
        knob = self.knob
        return np.asarray([setting[knob] for setting in self.settings])

    def __len__(self) -> int:
        return len(self.settings)

    def best(self, select: str = "min") -> int:
        """Return the position that a rule picks.

        ``"min"`` takes the least honest error; ``"one_se"`` the simplest model whose error is at
        most the least error plus its standard error (the least, where GCV judges: it has no
        standard error); any key of `criteria` its least value. Among equals the simplest wins.
        """
        if select in ("min", "one_se"):
            least = _argmin(self.error, select)
            if select == "min":
                return least
            limit = self.error[least] + self.error_se[least]  # type: ignore[index]
            if self.estimate == "gcv":  # a criterion: it has no standard error
                return least
            if np.isnan(limit):
                raise ParameterError(
                    f"The error of this path ({self.estimate}) has no standard error, so 'one_se' "
                    "cannot pick from it; use 'min', or a criterion."
                )
            return int(np.flatnonzero(self.error[: least + 1] <= limit)[0])  # type: ignore[index]
        if select not in self.criteria:
            known = ", ".join(["min", "one_se", *self.criteria])
            raise ParameterError(
                f"This path ({', '.join(self.knobs)}) has no rule {select!r}; use one of {known}."
            )
        return _argmin(self.criteria[select], select)

    def at(self, i: int) -> Any:
        """Return the estimator fitted at position `i`."""
        if self.refit is None:
            raise BottegaError(
                "This path was stored without its data, so it cannot fit a model: "
                "call path(X, y) on the estimator and use at() on what it returns."
            )
        return self.refit(self.settings[i])

    def without_data(self) -> "Path":
        """Return the same curve without the means to refit (what a fitted model keeps)."""
        return replace(self, refit=None)

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            name: [_in_a_cell(setting[name]) for setting in self.settings] for name in self.knobs
        }
        if self.df is not None:
            columns["df"] = self.df
        elif len(self.knobs) > 1:
            columns["complexity"] = self.complexity
        return columns | {
            "train_error": self.train_error,
            "error": self.error,
            "error_se": self.error_se,
            **self.judged,
        }

    @property
    def judged(self) -> dict[str, FloatArray]:
        """The criteria as a reader knows them: what is `measured`, and the others themselves."""
        return {**self.criteria, **(self.measured or {})}

    def to_frame(self, like: Any = None) -> Any:
        """Return the curve as a data frame, one row per setting.

        Criteria stand there as a reader knows them (`judged`), of some the largest is best.
        """
        columns = {
            name: np.asarray(column) if isinstance(column, list) else column
            for name, column in self._columns().items()
        }
        return make_frame(columns, like)

    def plot(self, *, select: str | None = None) -> Any:
        """Draw the training and the honest error against the knob, with the picked point.

        Parameters
        ----------
        select : str, optional
            Rule that picks; the estimator's own by default.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import cluster_path_chart, criteria_chart, family_chart, path_chart

        if self.estimate == "stability":  # no loss of rows, which could share its axis
            return cluster_path_chart(self)
        rule = select or self.select or "one_se"
        judged = np.any(np.isfinite(self.error))  # type: ignore[arg-type]
        if not judged and rule in self.criteria and rule != "gcv":
            if {"n_components", "covariance_type"} == {*self.varying}:  # a mixture's families
                return family_chart(self, criterion=rule)
            return criteria_chart(self, which=[rule])
        return path_chart(self, select=select)

    def summary(self) -> Summary:
        """Return some of the models as a table, the picked one and that of least error among them.

        It shows itself as text, HTML and Markdown; `to_frame` has all models.
        """
        marks = self._marks()
        spread = np.linspace(0, len(self) - 1, min(len(self), _SHOWN - len(marks))).round()
        rows = sorted({*spread.astype(int).tolist(), *marks})
        left_out = {*self.knobs} - {*self.varying} | {*self.criteria} - {self.select}
        columns = {
            name: [column[i] for i in rows]
            for name, column in self._columns().items()
            if name not in left_out and not _all_missing(column)
        }
        if marks:
            columns[""] = [", ".join(marks.get(i, ())) for i in rows]
        same = [name for name in self.knobs if name not in self.varying]
        notes = []
        if self.estimate is not None:
            how = ESTIMATES.get(self.estimate, self.estimate)
            notes.append(f"error: mean {self.loss} on new rows, estimated by {how}")
        if same:
            fixed = ", ".join(f"{name} = {show(self.settings[0][name])}" for name in same)
            notes.append(f"all models have {fixed}")
        if len(rows) < len(self):
            notes.append(f"{len(rows)} of {len(self):,} models, simple to complex; see to_frame()")
        title = f"Path along {', '.join(self.varying)}: {len(self):,} models"
        return Summary(title, (Section("", columns),), tuple(notes))

    def _marks(self) -> dict[int, tuple[str, ...]]:
        """Return the positions of the picked model and of that with the least error."""
        marks: dict[int, tuple[str, ...]] = {}
        for rule, words in (("min", "least error"), (self.select, f"picked by {self.select}")):
            if rule is None:
                continue
            try:
                place = self.best(rule)
            except BottegaError:  # the path was not judged this way
                continue
            marks[place] = (*marks.get(place, ()), words)
        return marks

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().to_html()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "refit": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _in_a_cell(value: Any) -> Any:
    """Return a value as a table shows it: a sequence, such as layers of a network, as a text."""
    return str(value) if isinstance(value, tuple) else value


def _all_missing(column: Any) -> bool:
    array = np.asarray(column)
    return array.dtype.kind == "f" and bool(np.all(np.isnan(array)))


def _argmin(column: Any, rule: str) -> int:
    if not np.any(np.isfinite(column)):
        raise BottegaError(f"No setting of the path has a finite {rule!r}; pick by another rule.")
    values = np.where(np.isnan(column), np.inf, column)
    least = float(values.min())
    # The first one that only rounding may tell from the least: the order of sums must not decide.
    limit = least + _EQUAL * abs(least) if np.isfinite(least) else least
    return int(np.argmax(values <= limit))
