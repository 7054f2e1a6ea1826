"""What stands in the report: everything the template shows, computed and worded."""

from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.cards import CAPABILITIES
from bottega.core.errors import BottegaError
from bottega.plot import (
    coefficient_chart,
    confusion_chart,
    observed_chart,
    path_chart,
    residual_chart,
    roc_chart,
    target_chart,
)
from bottega.plot.theme import number
from bottega.report import words
from bottega.report.explained import explained
from bottega.report.figures import Figure, Figures
from bottega.report.overview import column_rows
from bottega.report.parts import attempt
from bottega.report.standing import leaderboard
from bottega.report.texts import text_figures, unread_texts
from bottega.report.units import error_in_words, units_of
from bottega.report.verdict import certificate_sentence, verdict
from bottega.report.wording import in_words_of
from bottega.workbench.results import chosen_in_words
from bottega.workbench.sizes import SMALL

__all__ = ["URGENT", "content"]

_DRAWN_COEFFICIENTS = 5  # methods, from the best on, whose coefficients are drawn along their path
# Findings about rows that depend on others: they may make every error of the report too small.
URGENT = ("time_order", "copies_apart")
_LEVEL = 0.9  # of the limits for new rows that the report speaks of


def content(comparison: Any, date: datetime | None = None) -> dict[str, Any]:
    """Return the variables of the template; `drawn` holds the charts."""
    date = datetime.now().astimezone() if date is None else date
    board = _rows_of(comparison.leaderboard)
    best = comparison.results[comparison.best_method]
    figures, troubles = Figures(), list[str]()
    misses = attempt("What the winner misses", lambda: _misses(comparison, best, figures), troubles)
    methods = [
        attempt(
            f"The part on {row['title']}",
            partial(_method, comparison, row["method"], row["title"], figures, place),
            troubles,
        )
        for place, row in enumerate(board)
    ]
    parts: dict[str, Any] = {
        "verdict": verdict(comparison, board),
        "leaderboard": leaderboard(comparison, board, figures),
        "certificate": _certificate(comparison),
        "limits": attempt("The limits for new rows", lambda: _limits(comparison), troubles),
        "explained": explained(comparison, figures),
        "unread": attempt(
            "The rows without a label", lambda: unread_texts(comparison, figures), troubles
        ),
        "misses": {"title": best.card.title, "figures": misses or []},
        "methods": [each for each in methods if each is not None],
        "data": _data(comparison, figures, troubles),
        "repeat": {
            "command": comparison.command,
            "seed": comparison.random_state,
            "seconds": words.took(comparison),
            "versions": dict(comparison.versions),
            "date": f"{date:%Y-%m-%d %H:%M %Z}".strip(),
        },
        "drawn": figures,
    }
    troubles += [*parts["explained"]["troubles"], *figures.failed]
    return {"head": _head(comparison, troubles), **parts}


def _rows_of(frame: Any) -> list[dict[str, Any]]:
    return list(nw.from_native(frame, eager_only=True).iter_rows(named=True))


def _head(comparison: Any, troubles: list[str]) -> dict[str, Any]:
    table = comparison.table
    features = sum(column.role == "feature" for column in table.columns)
    what = (
        f"classification into {len(table.classes)} classes"
        if comparison.task == "classification"
        else "regression"
    )
    alerts = []
    if comparison.interrupted:
        alerts.append(
            "The comparison was stopped before all methods were done; only finished methods are "
            "shown, and a missing one might have been better."
        )
    away = [
        (reason.removeprefix("skipped:").strip().rstrip("."), names)
        for reason, names in comparison.not_shown.items()
        if reason.startswith("skipped")
    ]
    alerts += [
        f"Not shown: {', '.join(names)} ({reason.rstrip('.')})."
        for reason, names in comparison.not_shown.items()
        if not reason.startswith("skipped")
    ]
    return {
        "data": words.data_name(table.source),
        "target": comparison.target,
        "task": what,
        "alerts": [*alerts, *troubles],
        "urgent": _findings(comparison, urgent=True),
        "cut": list(comparison.cut),
        "notes": [words.sentence(note) for note in comparison.notes],
        "away": [(reason, ", ".join(names)) for reason, names in away],
        "n_away": sum(len(names) for _, names in away),
        "facts": [
            ("Task", what),
            ("Rows", f"{comparison.n_rows:,}"),
            *(
                [("Rows in memory", f"{table.n_rows:,}")]
                if comparison.n_rows > table.n_rows
                else []
            ),
            ("Columns used", f"{features:,}"),
            ("Methods", f"{len(comparison.results):,}"),
            ("Compared in", words.took(comparison)),
        ],
    }


def _certificate(comparison: Any) -> dict[str, Any]:
    certificate = comparison.certificate
    looks = comparison.looks
    if comparison.n_test == 0:
        looked = "No rows were locked away."
    else:
        times = {0: "never", 1: "once"}.get(looks, f"{looks} times")
        looked = f"The locked part ({comparison.n_test:,} rows) has been opened {times}."
        if comparison.looks_in_words and certificate is not None:
            looked = words.sentence(comparison.looks_in_words)
    return {
        "sentence": certificate_sentence(comparison),
        "looked": looked,
        "looked_twice": bool(comparison.looks_in_words),
        "ledger": comparison.ledger_note,
        "method": None if certificate is None else certificate.method,
        "quantity": None if certificate is None else certificate.quantity,
        "estimate": None if certificate is None else number(float(certificate.estimate)),
        "lower": None if certificate is None else _limit(certificate.lower),
        "upper": None if certificate is None else _limit(certificate.upper),
        "assumptions": ()
        if certificate is None
        else [words.for_readers(each) for each in certificate.assumptions],
    }


def _limit(value: float) -> str:
    return "no limit" if np.isinf(value) else number(float(value))


def _limits(comparison: Any) -> str | None:
    """Say how far limits for new rows can be trusted, where something calibrated them."""
    calibrated = comparison.certificate is not None or comparison.n_train <= SMALL
    if comparison.interrupted or comparison.table.time is not None or not calibrated:
        return None
    with suppress(BottegaError):  # a method without probabilities, for one
        return words.sentence(words.limits_in_words(comparison.intervals, _LEVEL))
    return None


def _method(
    comparison: Any, method: str, title: str, figures: Figures, place: int
) -> dict[str, Any]:
    result, select = comparison.results[method], comparison.select
    card, path = result.card, result.path
    shown: list[Figure | None] = []
    sentence, other = "", ""
    if path is not None:
        shown.append(figures.make(f"path-{method}", lambda: path_chart(path, select=select)))
        sentence = words.picked_sentence(path, path.best(select))
        other = words.other_pick_sentence(path, select) if result.both_picks else ""
        if (
            place < _DRAWN_COEFFICIENTS
            and path.coef is not None
            and np.ndim(path.coef) == 2
            and np.shape(path.coef)[1] > 1
        ):
            names = _coefficient_names(result)
            shown.append(
                figures.make(
                    f"coefficients-{method}",
                    lambda: coefficient_chart(path, select=select, names=names),
                )
            )
    elif result.partial and result.folds_done == comparison.outer:
        sentence = "It was judged on all outer folds, and there is no model of all training rows."
    elif result.partial:
        sentence = (
            f"It was stopped after {result.folds_done} of {comparison.outer} outer folds, so there "
            "is no model of all training rows."
        )
    elif result.tuned and card.knob is None:  # weights of other methods, say
        sentence = f"On all training rows: {chosen_in_words(result.tuned)}."
    elif card.knob is None:
        sentence = "It has no complexity knob, so there is nothing to tune."
    offers = [text for name, text in CAPABILITIES.items() if getattr(card, name)]
    return {
        "name": method,
        "title": title,
        "best": method == comparison.best_method,
        "error": error_in_words(result.error, comparison.measure, units_of(comparison)),
        "sentence": sentence,
        "other_pick": other,
        "folds": words.fold_sentence(result.fold_settings, result.tuned) if card.knob else "",
        "strengths": card.strengths,
        "weaknesses": card.weaknesses,
        "assumptions": card.assumptions,
        "offers": offers,
        "takes": ", ".join(sorted(card.takes)),
        "cost": card.cost,
        "figures": [figure for figure in shown if figure is not None],
    }


def _coefficient_names(result: Any) -> list[str] | None:
    """Return the names of the encoded columns, where the fitted procedure tells them."""
    steps = getattr(getattr(result, "model", None), "steps", None)
    if not steps or len(steps) < 2:
        return None
    try:
        names = [str(name) for name in steps[0][1].get_feature_names_out()]
    except (AttributeError, ValueError):
        return None
    return names if len(names) == np.shape(result.path.coef)[1] else None


def _misses(comparison: Any, best: Any, figures: Figures) -> list[Figure]:
    """Return the charts of where the best method is wrong, from its out-of-fold predictions."""
    y, predicted = np.asarray(comparison.y_train), np.asarray(best.predicted)
    fold = getattr(best, "fold", None)
    seen = np.ones(len(y), dtype=bool) if fold is None else np.asarray(fold) >= 0
    y, predicted = y[seen], predicted[seen]
    if comparison.task == "regression":
        what = comparison.target
        shown = [
            figures.make("observed", lambda: observed_chart(y, predicted, what=what)),
            figures.make("residuals", lambda: residual_chart(predicted, y - predicted, what=what)),
        ]
    else:
        classes = np.unique(y) if best.classes is None else np.asarray(best.classes)
        shown = [figures.make("confusion", lambda: confusion_chart(y, predicted, classes))]
        if best.probability is not None and np.unique(y).size > 1:
            scores = np.asarray(best.probability)[seen]
            shown.append(figures.make("roc", lambda: roc_chart(y, scores, classes)))
    return [figure for figure in shown if figure is not None]


def _findings(comparison: Any, *, urgent: bool) -> list[str]:
    return [
        in_words_of(comparison.command, finding.message)
        for finding in comparison.table.warnings
        if (finding.code in URGENT) == urgent
    ]


def _data(comparison: Any, figures: Figures, troubles: list[str]) -> dict[str, Any]:
    table = comparison.table
    rows, left_out = column_rows(table)
    return {
        "rows": rows,
        "left_out": left_out,
        "findings": _findings(comparison, urgent=False),
        "figure": figures.make(
            "target", lambda: target_chart(table.y, table.task, name=table.target)
        ),
        "texts": attempt("The texts", lambda: text_figures(comparison, figures), troubles) or [],
    }
