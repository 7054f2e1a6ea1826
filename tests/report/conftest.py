"""Comparisons to report on, made by hand so that every sentence can be checked, and a browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bottega.core.baseline import BaselineClassifier, BaselineRegressor
from bottega.core.cards import Card
from bottega.core.certificate import Certificate
from bottega.core.losses import SQUARED_ERROR, ZERO_ONE
from bottega.core.path import Path, along
from bottega.data import Table
from bottega.neighbors import NearestNeighborsRegressor
from bottega.plot import importance_chart, roc_chart
from bottega.workbench.leaderboard import Rival, Verdict
from bottega.workbench.measures import Measure
from bottega.workbench.results import chosen_in_words

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser of this machine; without one the test is skipped, loudly."""
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    reason = (
        f"NO BROWSER: none of {', '.join(BROWSERS)} is installed, so the report was NOT looked at "
        "in a browser. Install chromium (Debian: apt-get install chromium)."
    )
    if os.environ.get("BOTTEGA_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=BROWSER_ARGUMENTS)
        yield opened
        opened.close()


def _card(method: str, title: str, task: str, knob: str | None) -> Card:
    class Method(NearestNeighborsRegressor):
        pass

    Method.knob = knob
    return Card(
        method=method,
        title=title,
        task=task,
        strengths=("It is quick.",),
        weaknesses=("It is blunt.",),
        assumptions=("The world is flat.",),
        estimator=Method,
        cost="n p",
        source="D72",
        wide=True,
    )


def _path(knob: str, loss: str, coef: Any = None) -> Path:
    return Path(
        along(knob, [100.0, 10.0, 1.0]),
        df=[1.0, 2.0, 4.0],
        train_error=[5.0, 2.0, 1.0],
        error=[5.5, 2.6, 2.5],
        error_se=[0.5, 0.3, 0.3],
        estimate="loo",
        loss=loss,
        coef=coef,
    )


def _result(card: Card, error: float, se: float, path: Any, predicted: Any, **more: Any) -> Any:
    picked = None if path is None else path.settings[path.best("one_se")]
    return SimpleNamespace(
        card=card,
        error=error,
        std_error=se,
        df=None if path is None else 2.0,
        setting=picked,
        tuned=picked,
        seconds=0.25,
        path=path,
        fold_settings=[] if path is None else [path.settings[i] for i in (1, 1, 2)],
        predicted=predicted,
        partial=False,
        folds_done=3,
        both_picks={} if path is None or path.best("min") == path.best("one_se") else {"min": {}},
        **{"probability": None, "classes": None, **more},
    )


def _board(results: dict[str, Any], gaps: dict[str, tuple[float, float]]) -> pd.DataFrame:
    ordered = sorted(results.items(), key=lambda item: item[1].error)
    best, base = ordered[0][1].error, results["baseline"].error
    return pd.DataFrame(
        [
            {
                "method": method,
                "title": result.card.title,
                "error": result.error,
                "std_error": result.std_error,
                "versus_baseline": 1 - result.error / base,
                "difference": result.error - best,
                "difference_conf_low": gaps.get(method, (0.0, 0.0))[0],
                "difference_conf_high": gaps.get(method, (0.0, 0.0))[1],
                "df": np.nan,
                "chosen": chosen_in_words(result.setting),
                "seconds": result.seconds,
            }
            for method, result in ordered
        ]
    )


def _verdict(results: Any, gaps: Any, simpler: tuple[str, ...]) -> Verdict:
    best = min(results, key=lambda method: results[method].error)
    margin = 0.02 * results["baseline"].error
    rivals = tuple(
        Rival(
            method,
            result.card.title,
            result.error - results[best].error,
            *gaps[method],
            method in simpler,
            "its rules can be read",
            gaps[method][1] <= margin,
        )
        for method, result in results.items()
        if method not in (best, "baseline")
    )
    near = [rival.method for rival in rivals if rival.simpler and rival.within_margin]
    named = near[0] if near else None
    return Verdict(best, margin, "2 % of the baseline's error", rivals, named)


class Shown:
    """A part of an explanation: a frame, and a chart where it is drawn."""

    def __init__(self, frame: pd.DataFrame, chart: Any = None, **more: Any) -> None:
        self.frame, self.chart = frame, chart
        self.notes: tuple[str, ...] = ()
        self.__dict__.update(more)

    def to_frame(self) -> pd.DataFrame:
        return self.frame

    def plot(self) -> Any:
        return self.chart

    def __len__(self) -> int:
        return len(self.frame)


def explanation(table: Table) -> Any:
    """Return the winner explained: the first input matters, the others may not."""
    names = list(table.features)
    increase = np.array([0.5, 0.01, 0.001])[: len(names)]
    increase = np.resize(increase, len(names))
    low, high = increase - 0.05, increase + 0.05
    columns = {"column": names, "increase": increase, "conf_low": low, "conf_high": high}
    frame = pd.DataFrame(columns)
    chart = importance_chart(names, increase, np.column_stack([low, high]))
    worst = pd.DataFrame(
        {"row": [7], "observed": [9.5], "predicted": [1.25], "loss": [68.1], names[0]: ["=A1"]}
    )
    terms = pd.DataFrame({"term": names, "estimate": increase, "p_value": np.nan})
    scores = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    two = roc_chart(np.array(["a", "b", "a"]), scores, np.array(["a", "b"]))
    return SimpleNamespace(
        importance=Shown(
            frame,
            chart,
            together=None,
            error=2.5,
            leading=lambda most: names[:most],
            folds=3,
            few_folds=False,
        ),
        effects=Shown(frame, chart),
        calibration=Shown(frame, two),
        lift=None if table.task == "regression" else Shown(frame, two),
        worst_rows=Shown(worst),
        terms=Shown(terms, kind="coefficients", notes=("Per standard deviation.",)),
    )


SQUARED = Measure("squared_error", SQUARED_ERROR.title, SQUARED_ERROR)
WRONG = Measure("zero_one", ZERO_ONE.title, ZERO_ONE)


def _comparison(table: Table, loss: str, results: Any, gaps: Any, **changed: Any) -> Any:
    told = {
        "table": table,
        "task": table.task,
        "loss": loss,
        "measure": SQUARED if table.task == "regression" else WRONG,
        "cut": (),
        "notes": (),
        "verdict": _verdict(results, gaps, changed.pop("simpler", ())),
        "explain": lambda: explanation(table),
        "intervals": SimpleNamespace(
            in_words=lambda level: (
                "split, calibrated by 50 rows: a new row is covered with "
                f"probability at least {100 * level:g}%"
            )
        ),
        "target": table.target,
        "select": "one_se",
        "outer": 3,
        "random_state": 17,
        "n_rows": table.n_rows,
        "n_train": table.n_rows,
        "n_test": 50,
        "looks": 1,
        "interrupted": False,
        "seconds": 12.3,
        "preparing_seconds": 0.0,
        "command": "bottega compare houses.csv --target price --random-state 17",
        "versions": {"python": "3.11.7", "numpy": "2.4.6"},
        "not_shown": {},
        "looks_in_words": "",
        "ledger_note": "",
        "results": results,
        "y_train": table.y,
        "best_method": min(results, key=lambda m: results[m].error),
        "leaderboard": _board(results, gaps),
        "certificate": Certificate(
            2.4, 2.0, 2.9, 0.05, "Student's t", ("The rows are independent.",), 50, "squared error"
        ),
    }
    return SimpleNamespace(**{**told, **changed})


@pytest.fixture
def regression() -> Callable[..., Any]:
    """Ridge (2.5) before neighbours (3.0) and the baseline (5.0), on 40 houses."""

    def make(
        *, target: str = "price", columns: tuple[str, ...] = ("rooms", "age"), **changed: Any
    ) -> Any:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, len(columns)))
        frame = pd.DataFrame(X, columns=list(columns))
        frame[target] = X.sum(axis=1) + rng.normal(size=40)
        table = Table(frame, target=target, source="folder/houses.csv")
        y, loss = table.y, "squared error"
        coef = np.array([[0.1, 0.2], [0.5, 0.7], [1.0, 1.1]])
        results = {
            "ridge": _result(
                _card("ridge", "Ridge", "regression", "alpha"),
                2.5,
                0.25,
                _path("alpha", loss, coef),
                y + 0.5,
            ),
            "knn": _result(
                _card("knn", "Neighbours", "regression", "k"), 3.0, 0.3, _path("k", loss), y + 1
            ),
            "baseline": _result(BaselineRegressor.card, 5.0, 0.5, None, np.full(40, y.mean())),
        }
        gaps = {"knn": (0.1, 0.9), "baseline": (1.5, 3.5)}
        return _comparison(table, loss, results, changed.pop("gaps", gaps), **changed)

    return make


@pytest.fixture
def classification() -> Callable[..., Any]:
    """Neighbours wrong in 10 of 60 rows, the baseline in 40."""

    def make(*, labels: tuple[str, ...] = ("a", "b", "c"), **changed: Any) -> Any:
        y = np.repeat(np.array(labels), 60 // len(labels))
        frame = pd.DataFrame({"x": np.arange(60.0) % 7 + 0.5, "label": y})
        table = Table(frame, target="label")
        predicted = y.copy()
        predicted[:10] = labels[1]
        codes = np.searchsorted(table.classes, predicted)
        probability = 0.1 + 0.7 * np.eye(len(labels))[codes]
        loss = "misclassification"
        results = {
            "knn": _result(
                _card("knn", "Neighbours", "classification", "k"),
                1 / 6,
                0.05,
                _path("k", loss),
                predicted,
                probability=probability,
                classes=table.classes,
            ),
            "baseline": _result(BaselineClassifier.card, 2 / 3, 0.06, None, np.full(60, labels[0])),
        }
        certificate = Certificate(
            0.2, 0.1, 0.35, 0.05, "Clopper-Pearson", ("Rows are independent.",), 50
        )
        changed = {"certificate": certificate, **changed}
        return _comparison(table, loss, results, {"baseline": (0.4, 0.6)}, **changed)

    return make
