"""Areas with their intervals on a million rows, and calibration, against scikit-learn."""

from collections.abc import Iterator

import numpy as np
from sklearn.calibration import CalibratedClassifierCV as Peer
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from benchmarks.measure import Result, cold_seconds, in_turns
from bottega.classify import CalibratedClassifierCV
from bottega.metrics import roc

COLD = (
    "import numpy as np\n"
    "from bottega.metrics import roc\n"
    "rng = np.random.default_rng(0)\n"
    "y = rng.random(1_000_000) < 0.3\n"
    "score = y + rng.normal(size=len(y))"
)


def run() -> Iterator[Result]:
    yield area(1_000_000)
    yield calibrated(200_000)


def area(n: int) -> Result:
    """DeLong's interval of the area, against the area alone."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    score = y + rng.normal(size=n)
    medians = in_turns(
        {"ours": lambda: roc(y, score).interval(), "theirs": lambda: roc_auc_score(y, score)},
        repeats=5,
    )
    gap = abs(roc(y, score).auc - roc_auc_score(y, score))
    return Result(
        f"roc: AUC and DeLong interval, {n:,} rows",
        "scikit-learn roc_auc_score (no interval)",
        medians["ours"],
        medians["theirs"],
        bar=1,
        accuracy=f"the areas differ by {gap:.0e}",
        cold=cold_seconds(COLD, "roc(y, score).interval()"),
    )


def calibrated(n: int) -> Result:
    """Isotonic calibration of the same classifier over the same five folds."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 20)) + 0.2 * y[:, None]
    fold = np.arange(n) % 5
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    ours = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=folds)
    theirs = Peer(GaussianNB(), method="isotonic", cv=folds)
    calls = {"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)}
    medians = in_turns(calls, repeats=3)
    part = X[:20_000]
    gap = np.max(np.abs(ours.predict_proba(part) - theirs.predict_proba(part)))
    return Result(
        f"CalibratedClassifierCV(GaussianNB, isotonic), {n:,} x 20",
        "scikit-learn CalibratedClassifierCV",
        medians["ours"],
        medians["theirs"],
        bar=1,
        accuracy=f"probabilities differ by at most {gap:.0e}",
    )
