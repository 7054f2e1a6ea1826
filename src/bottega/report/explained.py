"""The winner explained: what it uses, in which way, and how far its answers can be trusted."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.plot.theme import number
from bottega.report.figures import Figure, Figures
from bottega.report.parts import attempt
from bottega.report.units import Units, units_of_loss
from bottega.report.words import listed
from bottega.report.words import sentence as sentence_of

__all__ = ["explained"]

_MOST_TERMS = 20
_MOST_ROWS = 10
_MOST_INPUTS = 6  # columns beside an observed and a predicted value
_LONGEST = 60  # characters of a cell
_LONGEST_RULE = 240
_TITLES = {
    "term": "Term",
    "rule": "Rule",
    "estimate": "Estimate",
    "statistic": "Statistic",
    "row": "Row",
    "observed": "Observed",
    "predicted": "Predicted",
    "loss": "Loss",
    "std_error": "Std. error",
    "p_value": "p value",
    "kind": "Kind",
    "edf": "Degrees of freedom",
    "ref_df": "Reference df",
    "inputs": "Inputs",
    "degree": "Degree",
    "std_dev": "Std. dev.",
    "conf_low": "From",
    "conf_high": "To",
}


def explained(comparison: Any, figures: Figures) -> dict[str, Any]:
    """Return what the template shows of the winner; no part where there is nothing to explain.

    Each part is computed by itself: one that fails is left out, and told among `troubles`.
    """
    nothing: dict[str, Any] = {"shown": False, "troubles": [], "checks": [], "worst": None}
    if comparison.interrupted or comparison.best_method == "baseline":
        return nothing
    troubles: list[str] = []
    found = attempt("The explanation", comparison.explain, troubles)
    if found is None:
        return {**nothing, "troubles": troubles}
    measure = comparison.measure
    parts = {
        "importance": attempt(
            "The importance of the inputs", lambda: _importance(found, measure, figures), troubles
        ),
        "effects": attempt(
            "The effects", lambda: _drawn("effects", found.effects, figures), troubles
        ),
        "terms": attempt("The terms of the model", lambda: _terms(found.terms), troubles),
        "checks": [
            figure
            for name in ("calibration", "lift")
            if (figure := attempt(f"The {name}", partial(_check, found, name, figures), troubles))
        ],
        "worst": attempt("The rows it misses most", lambda: _worst(found), troubles),
    }
    return {"shown": any(parts.values()), "troubles": troubles, **parts}


def _drawn(name: str, result: Any, figures: Figures) -> Figure | None:
    return None if result is None or not len(result) else figures.make(name, result.plot)


def _check(found: Any, name: str, figures: Figures) -> Figure | None:
    result = getattr(found, name)
    return None if result is None else figures.make(name, result.plot)


def _importance(found: Any, measure: Any, figures: Figures) -> dict[str, Any]:
    importance = found.importance
    rows = _rows(importance.to_frame())
    units = units_of_loss(measure.loss, float(importance.error))
    tuned = measure.shown or measure.form != "mean"
    what = f"mean {measure.loss.title}" if tuned else "error"
    useful = [row for row in rows if row["conf_low"] > 0]
    useful.sort(key=lambda row: -row["increase"])
    told = [f"{row['column']} by {_with_limits(row, units)}" for row in useful[:3]]
    if told:
        sentence = (
            f"If an input is shuffled, the model can no longer use it, and the {what} on held-out "
            f"rows rises: for {listed(told)} (95% intervals)."
        )
    elif importance.few_folds:
        most = max(rows, key=lambda row: row["increase"])
        sentence = (
            f"{importance.folds} folds are too few to tell which inputs are needed: the {what} on "
            f"held-out rows rises most when {most['column']} is shuffled, by "
            f"{_with_limits(most, units)} (95% interval)."
        )
    else:
        sentence = (
            "No single input is needed for sure: when one of them is shuffled, the interval of the "
            "rise in error includes zero."
        )
    unused = sum(not _matters(row) for row in rows)
    unsure = len(rows) - len(useful) - unused
    if told and unsure and importance.few_folds:
        left = [row for row in rows if row["conf_low"] <= 0 and _matters(row)]
        most = max(left, key=lambda row: row["increase"])
        sentence += (
            f" For {_others(unsure)}, {most['column']} above all (by {_with_limits(most, units)}), "
            f"{importance.folds} folds are too few to tell."
        )
    elif told and unsure:
        sentence += f" The rise for {_others(unsure)} cannot be told from zero."
    if told and unused:
        sentence += f" Shuffling {_others(unused)} leaves the error as it is."
    return {
        "sentence": sentence,
        "figure": figures.make("importance", importance.plot),
        "notes": [sentence_of(note) for note in importance.notes[:1]],
        "together": [
            f"{listed(row['column'].split(' + '))} go together, so each can stand in for the "
            f"other: shuffled as one they raise the error by {_with_limits(row, units)}."
            for row in (
                [] if importance.together is None else _rows(importance.together.to_frame())
            )
            if _matters(row)
        ],
    }


def _matters(row: dict[str, Any]) -> bool:
    """Return True unless shuffling changed nothing at all."""
    return any(row[name] != 0 for name in ("increase", "conf_low", "conf_high"))


def _others(count: int) -> str:
    return "1 other input" if count == 1 else f"{count:,} other inputs"


def _with_limits(row: dict[str, Any], units: Units) -> str:
    low, high = (units.bare_difference(row[name]) for name in ("conf_low", "conf_high"))
    return f"{units.difference(row['increase'])} ({low} to {high})"


def _terms(terms: Any) -> dict[str, Any] | None:
    if terms is None:
        return None
    frame = nw.from_native(terms.to_frame(), eager_only=True)
    notes = [sentence_of(note) for note in terms.notes]
    if terms.kind == "coefficients":
        size = np.abs(frame["estimate"].to_numpy())
        zeros = int((size == 0).sum())
        kept = np.flatnonzero(size != 0)
        if len(kept) > _MOST_TERMS:
            kept = kept[np.argsort(-size[kept], kind="stable")]
        frame = frame[kept, :]
        if zeros:
            notes.append(f"{zeros:,} further coefficient{'s are' if zeros > 1 else ' is'} zero.")
    elif "kind" in frame.columns and len(frame) > _MOST_TERMS:
        frame, levels = frame.filter(nw.col("kind") != "level"), len(frame)
        if levels > len(frame):
            notes.append(f"The {levels - len(frame):,} levels of the factors are in its summary().")
    table = _table(frame.to_native(), _MOST_TERMS, longest=_LONGEST_RULE)
    return {"kind": terms.kind, "notes": notes, **table}


def _worst(found: Any) -> dict[str, Any] | None:
    if found.worst_rows is None:
        return None
    frame = nw.from_native(found.worst_rows.to_frame(), eager_only=True)
    first = [name for name in ("row", "observed", "predicted", "loss") if name in frame.columns]
    inputs = [name for name in frame.columns if name not in first]
    leading = [name for name in _leading(found) if name in inputs]
    chosen = (leading or inputs)[:_MOST_INPUTS]
    table = _table(
        frame.select([*first, *chosen]).to_native(), _MOST_ROWS, {n: _TITLES[n] for n in first}
    )
    return {**table, "left_out": 0}


def _leading(found: Any) -> list[str]:
    try:
        return [str(name) for name in found.importance.leading(_MOST_INPUTS)]
    except Exception:  # told where the importance is shown
        return []


def _rows(frame: Any) -> list[dict[str, Any]]:
    return list(nw.from_native(frame, eager_only=True).iter_rows(named=True))


def _table(
    frame: Any, most: int, titles: Mapping[str, str] = _TITLES, longest: int = _LONGEST
) -> dict[str, Any]:
    """Return a frame as the template shows one: headings, cells as text, what is left out."""
    rows = _rows(frame)
    names = list(rows[0]) if rows else []
    names = [name for name in names if not all(_missing(row[name]) for row in rows)]
    numeric = [all(_missing(row[name]) or _is_number(row[name]) for row in rows) for name in names]
    return {
        "columns": [
            {"title": titles.get(name, name), "numeric": is_number}
            for name, is_number in zip(names, numeric, strict=True)
        ],
        "rows": [[_cell(row[name], longest) for name in names] for row in rows[:most]],
        "left_out": max(len(rows) - most, 0),
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _missing(value: Any) -> bool:
    return value is None or bool(np.all(value != value))


def _cell(value: Any, longest: int) -> str:
    if _missing(value):
        return "–"
    text = number(value) if _is_number(value) else str(value).removesuffix(" 00:00:00")
    return text if len(text) <= longest else text[: longest - 1] + "…"
