"""What stands in the report: everything the template shows, computed and worded."""

from datetime import datetime
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.cards import CAPABILITIES
from bottega.plot import (
    coefficient_chart,
    confusion_chart,
    leaderboard_chart,
    observed_chart,
    path_chart,
    residual_chart,
    roc_chart,
    target_chart,
)
from bottega.plot.theme import number
from bottega.report import words
from bottega.report.figures import Figure

__all__ = ["content"]

_MOST_COLUMNS = 200
_RANKING = (
    (
        "AUC",
        "the probability that a row of the second class has a higher score than one of the first: "
        "1 is perfect, 0.5 is chance.",
    ),
    (
        "Lift",
        "how many times more frequent the second class is among the tenth of the rows with the "
        "highest scores than among all rows.",
    ),
)


def content(comparison: Any, date: datetime) -> dict[str, Any]:
    """Return the variables of the template."""
    board = _rows_of(comparison.leaderboard)
    best = comparison.results[comparison.best_method]
    parts: dict[str, Any] = {
        "head": _head(comparison),
        "verdict": words.verdict(comparison, board),
        "leaderboard": _leaderboard(comparison, board),
        "certificate": _certificate(comparison),
        "methods": [
            _method(comparison, method, result, place)
            for place, (method, result) in enumerate(_ordered(comparison, board))
        ],
        "misses": {"title": best.card.title, "figures": _misses(comparison, best)},
        "data": _data(comparison.table),
        "repeat": {
            "command": comparison.command,
            "seed": comparison.random_state,
            "seconds": words.took(comparison),
            "versions": dict(comparison.versions),
            "date": f"{date:%Y-%m-%d %H:%M %Z}".strip(),
        },
    }
    figures = [parts["leaderboard"]["figure"], *parts["misses"]["figures"], parts["data"]["figure"]]
    figures += [figure for method in parts["methods"] for figure in method["figures"]]
    return {**parts, "figures": [figure for figure in figures if figure is not None]}


def _rows_of(frame: Any) -> list[dict[str, Any]]:
    return list(nw.from_native(frame, eager_only=True).iter_rows(named=True))


def _ordered(comparison: Any, board: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    return [(row["method"], comparison.results[row["method"]]) for row in board]


def _head(comparison: Any) -> dict[str, Any]:
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
    missing = [
        (reason, f"Not shown: {', '.join(names)} ({reason.rstrip('.')}).")
        for reason, names in comparison.not_shown.items()
    ]
    alerts += [sentence for reason, sentence in missing if not reason.startswith("skipped")]
    return {
        "skipped": [sentence for reason, sentence in missing if reason.startswith("skipped")],
        "data": words.data_name(table.source),
        "target": comparison.target,
        "task": what,
        "alerts": alerts,
        "facts": [
            ("Task", what),
            ("Rows", f"{table.n_rows:,}"),
            ("Columns used", f"{features:,}"),
            ("Methods", f"{len(comparison.results):,}"),
            ("Took", words.took(comparison)),
        ],
    }


def _leaderboard(comparison: Any, board: list[dict[str, Any]]) -> dict[str, Any]:
    share = comparison.loss == "misclassification"
    ranked = "auc" in board[0]
    rows = []
    for row in board:
        result = comparison.results[row["method"]]
        is_best = row["method"] == comparison.best_method
        rows.append(
            {
                "title": row["title"],
                "best": is_best,
                "error": words.percent(row["error"]) if share else number(float(row["error"])),
                "std_error": _small(row["std_error"], share),
                "versus": "–"
                if row["method"] == "baseline"
                else _less_or_more(row["versus_baseline"]),
                "difference": "–" if is_best else _small(row["difference"], share),
                "interval": "–"
                if is_best or not np.isfinite(row["difference_low"])
                else f"{_small(row['difference_low'], share)} to "
                f"{_small(row['difference_high'], share)}",
                "df": "–" if result.df is None else f"{result.df:,.1f}",
                "ranking": [number(float(row[name]), 3) for name in ("auc", "lift")]
                if ranked
                else [],
                "chosen": {"-": "–"}.get(row["chosen"], row["chosen"]),
                "seconds": words.duration(row["seconds"]),
            }
        )
    loss = comparison.loss
    wrong = " (the share of wrong predictions)" if loss == "misclassification" else ""
    explained = [
        (
            "Error",
            f"mean {loss}{wrong} over {comparison.outer} parts of the training rows, each "
            "predicted by models that had not seen it. Tuning was redone inside each part, so it "
            "is the error of the whole procedure. Smaller is better.",
        ),
        (
            "Std. error",
            "how far the error would typically move with other rows of the same kind; it allows "
            "for the training rows that the parts share.",
        ),
        (
            "Versus baseline",
            "how much less (or more) error than the baseline; 100% less is perfect.",
        ),
        (
            "Behind the best",
            "error minus that of the best method on the same parts, with its 95% interval. "
            "An interval that includes zero means the two cannot be told apart.",
        ),
        *(_RANKING if ranked else ()),
        (
            "Df",
            "degrees of freedom of the final model, where the method has them: how many free "
            "numbers its fit is worth.",
        ),
        (
            "Chosen",
            "what sets the method's complexity, picked on all training rows by "
            + words.RULES.get(comparison.select, f"the least {comparison.select.upper()}")
            + ".",
        ),
        ("Time", "to tune and fit the final model."),
    ]
    chart = leaderboard_chart(board, loss=loss, best=comparison.best_method)
    return {
        "rows": rows,
        "ranked": ranked,
        "explained": explained,
        "n_train": f"{comparison.n_train:,}",
        "outer": comparison.outer,
        "figure": Figure.of("leaderboard-chart", chart),
    }


def _small(value: float, share: bool) -> str:
    """Write a spread or a difference: three digits, or percentage points with one."""
    if not np.isfinite(value):
        return "–"
    return f"{100 * value:.1f}%".replace("-", "−") if share else number(float(value), 3)


def _less_or_more(share: float) -> str:
    if share is None or not np.isfinite(share):
        return "–"
    return f"{words.percent(abs(share))} {'less' if share >= 0 else 'more'}"


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
        "sentence": words.certificate_sentence(comparison),
        "looked": looked,
        "looked_twice": bool(comparison.looks_in_words),
        "ledger": comparison.ledger_note,
        "method": None if certificate is None else certificate.method,
        "quantity": None if certificate is None else certificate.quantity,
        "estimate": None if certificate is None else number(float(certificate.estimate)),
        "lower": None if certificate is None else number(float(certificate.lower)),
        "upper": None if certificate is None else number(float(certificate.upper)),
        "assumptions": ()
        if certificate is None
        else [words.for_readers(each) for each in certificate.assumptions],
    }


def _method(comparison: Any, method: str, result: Any, place: int) -> dict[str, Any]:
    card, path = result.card, result.path
    figures, sentence = [], ""
    if path is not None:
        figures.append(Figure.of(f"path-{place}", path_chart(path, select=comparison.select)))
        sentence = words.picked_sentence(path, path.best(comparison.select))
        if path.coef is not None and np.ndim(path.coef) == 2 and np.shape(path.coef)[1] > 1:
            figures.append(
                Figure.of(
                    f"coefficients-{place}",
                    coefficient_chart(
                        path, select=comparison.select, names=_coefficient_names(result)
                    ),
                )
            )
    elif card.knob is None:
        sentence = "It has no complexity knob, so there is nothing to tune."
    offers = [text for name, text in CAPABILITIES.items() if getattr(card, name)]
    return {
        "name": method,
        "title": card.title,
        "best": method == comparison.best_method,
        "error": words.error_in_words(result.error, comparison.loss),
        "sentence": sentence,
        "folds": words.fold_sentence(result.fold_settings, result.tuned),
        "strengths": card.strengths,
        "weaknesses": card.weaknesses,
        "assumptions": card.assumptions,
        "offers": offers,
        "takes": ", ".join(sorted(card.takes)),
        "cost": card.cost,
        "figures": figures,
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


def _misses(comparison: Any, best: Any) -> list[Figure]:
    """Return the charts of where the best method is wrong, from its out-of-fold predictions."""
    y, predicted = np.asarray(comparison.y_train), np.asarray(best.predicted)
    fold = getattr(best, "fold", None)
    seen = np.ones(len(y), dtype=bool) if fold is None else np.asarray(fold) >= 0
    y, predicted = y[seen], predicted[seen]
    if comparison.task == "regression":
        what = comparison.target
        return [
            Figure.of("observed", observed_chart(y, predicted, what=what)),
            Figure.of("residuals", residual_chart(predicted, y - predicted, what=what)),
        ]
    classes = np.unique(y) if best.classes is None else np.asarray(best.classes)
    figures = [Figure.of("confusion", confusion_chart(y, predicted, classes))]
    if best.probability is not None and np.unique(y).size > 1:
        scores = np.asarray(best.probability)[seen]
        figures.append(Figure.of("roc", roc_chart(y, scores, classes)))
    return figures


def _values_of(row: dict[str, Any]) -> str:
    """Say what a column holds: its range, or its most common label."""
    if row["low"] == "":
        return f"most often {row['most_common']}" if row["most_common"] != "" else ""
    low, high = row["low"], row["high"]
    if row["kind"] == "number":
        low, high = number(float(low)), number(float(high))
    return f"{low} to {high}"


def _data(table: Any) -> dict[str, Any]:
    overview = _rows_of(table.overview())
    rows = [
        {
            "column": row["column"],
            "kind": row["kind"],
            "role": row["role"],
            "missing": f"{row['missing']:,}"
            + (f" ({words.percent(row['missing_share'])})" if row["missing"] else ""),
            "distinct": f"{row['distinct']:,}",
            "values": _values_of(row),
        }
        for row in overview[:_MOST_COLUMNS]
    ]
    return {
        "rows": rows,
        "left_out": len(overview) - len(rows),
        "findings": [finding.message for finding in table.warnings],
        "figure": Figure.of("target", target_chart(table.y, table.task, name=table.target)),
    }
