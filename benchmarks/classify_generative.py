"""Discriminant analysis and naive Bayes on a million rows, against scikit-learn's classes."""

from collections.abc import Iterator

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from benchmarks.measure import Result, best_peer, cold_seconds, in_turns
from bottega.classify import LinearDiscriminant, NaiveBayes, QuadraticDiscriminant

COLD = (
    "import numpy as np\n"
    "from bottega.classify import LinearDiscriminant, NaiveBayes, QuadraticDiscriminant\n"
    "rng = np.random.default_rng(0)\n"
    "y = rng.integers(0, 5, 1_000_000)\n"
    "X = rng.normal(size=(len(y), 20)) + 0.3 * rng.normal(size=(5, 20))[y]"
)


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, n)
    return rng.normal(size=(n, 20)) + 0.3 * rng.normal(size=(5, 20))[y], y


def run() -> Iterator[Result]:
    X, y = rows(1_000_000)
    solvers = {
        f"LinearDiscriminantAnalysis({solver!r})": LinearDiscriminantAnalysis(solver=solver)
        for solver in ("svd", "lsqr", "eigen")
    }
    yield fit("LinearDiscriminant(0)", LinearDiscriminant(0), solvers, X, y)
    quadratic = {"QuadraticDiscriminantAnalysis": QuadraticDiscriminantAnalysis()}
    yield fit("QuadraticDiscriminant(0)", QuadraticDiscriminant(0), quadratic, X, y)
    yield fit("NaiveBayes()", NaiveBayes(), {"GaussianNB": GaussianNB()}, X, y)
    yield shrinkage_path(*rows(20_000))


def fit(name, ours, peers, X, y) -> Result:
    calls = {"ours": lambda: ours.fit(X, y)}
    calls |= {peer: lambda model=model: model.fit(X, y) for peer, model in peers.items()}
    medians = in_turns(calls, repeats=3)
    peer, theirs = best_peer(medians, "ours")
    part = slice(0, 50_000)
    equal = np.mean(ours.predict(X[part]) == peers[peer].predict(X[part]))
    return Result(
        f"{name}, 1,000,000 x 20, 5 classes",
        f"scikit-learn {peer}",
        medians["ours"],
        theirs,
        bar=1,
        accuracy=f"{equal:.3%} of 50,000 labels are the same",
        cold=cold_seconds(COLD, f"{name}.fit(X, y)"),
    )


def shrinkage_path(X, y) -> Result:
    """Choose among 16 shrinkages by ten folds."""
    curve = LinearDiscriminant().path(X, y)

    def grid(n_jobs):
        model = LinearDiscriminantAnalysis(solver="lsqr")
        return GridSearchCV(model, {"shrinkage": curve.values}, cv=10, n_jobs=n_jobs).fit(X, y)

    search = grid(-1)
    medians = in_turns(
        {
            "ours": lambda: LinearDiscriminant().fit(X, y),
            "GridSearchCV(cv=10)": lambda: grid(None),
            "GridSearchCV(cv=10, n_jobs=-1)": lambda: grid(-1),
        },
        repeats=3,
    )
    peer, theirs = best_peer(medians, "ours")
    return Result(
        "LinearDiscriminant(), 16 shrinkages by ten folds, 20,000 x 20, 5 classes",
        f"scikit-learn {peer} of LinearDiscriminantAnalysis('lsqr')",
        medians["ours"],
        theirs,
        bar=1,
        accuracy=f"error {curve.error.min():.4f} against {1 - search.best_score_:.4f} (ten folds)",
    )
