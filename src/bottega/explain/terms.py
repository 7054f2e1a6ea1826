"""What a model is made of, where it can be read: coefficients, terms or rules."""

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.pipeline import Pipeline

from bottega.core.errors import NotKept
from bottega.core.frames import default_names, make_frame
from bottega.core.results import tidy_columns
from bottega.core.tables import Section, Shown, Summary
from bottega.plot import terms_chart

__all__ = ["Terms"]

_SHOWN = 20
_INTERCEPT = "(Intercept)"


@dataclass(frozen=True, eq=False, repr=False)
class Terms(Shown):
    """The coefficients, the terms or the rules of a model.

    Attributes
    ----------
    kind : {"coefficients", "terms", "rules"}
        Which of them; terms are those of an additive model: curves and surfaces with their degrees
        of freedom, beside levels and slopes.
    columns : dict of str to list
        The columns of ``tidy()``: term, estimate, std_error, ... (response first where there are
        several); or one column, rule.
    notes : tuple of str
        What a reader must know.
    """

    kind: str
    columns: dict[str, list[Any]]
    notes: tuple[str, ...]
    model: Any
    like: Any = None

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per term or rule."""
        return make_frame(self.columns, self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the coefficients as a table, the largest first, the terms, or the rules."""
        known = {
            name: values
            for name, values in self.columns.items()
            if not all(isinstance(v, float) and np.isnan(v) for v in values)
        }
        notes = list(self.notes)
        count = len(next(iter(self.columns.values())))
        order = list(range(count))
        if self.kind == "coefficients":
            sizes = np.nan_to_num(np.abs(self.columns["estimate"]), nan=-1.0)
            order = np.argsort(-sizes, kind="stable").tolist()
        if count > _SHOWN:
            notes.append(f"the first {_SHOWN} of {count:,} are shown; to_frame() has them all")
        shown = {name: [values[i] for i in order[:_SHOWN]] for name, values in known.items()}
        return Summary(self.kind.capitalize(), (Section("", shown),), tuple(notes))

    def plot(self) -> Any:
        """Draw the coefficients, the effects of terms, or the tree that the rules are of."""
        if self.kind == "rules":
            return self.model.plot()
        if self.kind == "terms":
            return self.model.effects().plot()
        names = list(self.columns["term"])
        if "response" in self.columns:
            responses = self.columns["response"]
            names = [f"{r}: {name}" for r, name in zip(responses, names, strict=True)]
        kept = [i for i, term in enumerate(self.columns["term"]) if term != _INTERCEPT]
        ends = [[self.columns[end][i] for end in ("conf_low", "conf_high")] for i in kept]
        return terms_chart(
            [names[i] for i in kept], [self.columns["estimate"][i] for i in kept], ends
        )


def terms_of(model: Any, like: Any = None) -> Terms | None:
    """Return what a fitted model is made of; None where it cannot be read."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    last = getattr(steps[-1], "estimator_", steps[-1])
    if callable(getattr(last, "rules", None)):
        note = "each row falls under exactly one rule"
        return Terms("rules", {"rule": list(last.rules())}, (note,), last, like)
    if hasattr(last, "dual_coef_") and not hasattr(last, "coef_"):
        return None  # coefficients of rows tell a reader nothing about the inputs
    try:
        if callable(getattr(last, "tidy", None)):
            frame = nw.from_native(last.tidy(), eager_only=True)
            columns = {name: frame[name].to_list() for name in frame.columns}
        elif hasattr(last, "coef_"):
            columns = _coefficients(last)
        else:
            return None
    except NotKept:
        return None
    names = None if hasattr(last, "feature_names_in_") else _names(model)
    if names is not None:
        places = dict(zip(default_names(len(names)), names, strict=True))
        columns["term"] = [places.get(term, term) for term in columns["term"]]
    notes = []
    if any(getattr(step, "standardize", None) is True for step in steps[:-1]):
        notes.append(
            "numbers enter with mean 0 and standard deviation 1: an estimate is the effect of one "
            "standard deviation"
        )
    kind = "terms" if "edf" in columns else "coefficients"
    return Terms(kind, columns, tuple(notes), last, like)


def _coefficients(model: Any) -> dict[str, list[Any]]:
    """Return the columns of tidy for a model that has `coef_` but no `tidy`."""
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    intercept = np.broadcast_to(getattr(model, "intercept_", 0.0), len(coef))
    terms = [_INTERCEPT, *default_names(coef.shape[1])]
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        terms[1:] = map(str, names)
    estimate = np.column_stack([intercept, coef]).T
    several = len(coef) > 1
    classes = getattr(model, "classes_", None)
    columns = tidy_columns(
        terms,
        estimate if several else estimate[:, 0],
        response=classes if classes is not None and len(classes) == len(coef) else None,
    )
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


def _names(model: Any) -> list[str] | None:
    """Return the names of the columns that the last step of a pipeline gets."""
    if not isinstance(model, Pipeline) or len(model.steps) < 2:
        return None
    try:
        return [str(name) for name in model[:-1].get_feature_names_out()]
    except (AttributeError, ValueError):  # a step without names
        return None
