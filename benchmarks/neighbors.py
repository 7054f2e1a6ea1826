"""Choosing k, and predicting, against scikit-learn's k-nearest neighbours."""

from collections.abc import Iterator

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor

from benchmarks.measure import Result, best_peer, cold_seconds, in_turns
from bottega.neighbors import NearestNeighborsRegressor

KS = np.arange(1, 51)


def run() -> Iterator[Result]:
    yield choosing_k()
    yield predicting()


def choosing_k() -> Result:
    X, y = make_friedman1(10_000, n_features=10, noise=1.0, random_state=0)

    def grid(n_jobs):
        search = GridSearchCV(
            KNeighborsRegressor(),
            {"n_neighbors": KS},
            cv=5,
            scoring="neg_mean_squared_error",
            n_jobs=n_jobs,
        )
        return search.fit(X, y)

    def ours():
        return NearestNeighborsRegressor().path(X, y, values=KS)

    curve, search = ours(), grid(-1)
    medians = in_turns(
        {
            "ours": ours,
            "GridSearchCV(cv=5)": lambda: grid(None),
            "GridSearchCV(cv=5, n_jobs=-1)": lambda: grid(-1),
        },
        repeats=3,
    )
    name, theirs = best_peer(medians, "ours")
    ks = [int(curve.values[curve.best("min")]), search.best_params_["n_neighbors"]]
    errors = [curve.error.min(), -search.best_score_]
    cold = cold_seconds(
        "from sklearn.datasets import make_friedman1\n"
        "from bottega.neighbors import NearestNeighborsRegressor\n"
        "X, y = make_friedman1(10_000, n_features=10, noise=1.0, random_state=0)",
        "NearestNeighborsRegressor().path(X, y, values=range(1, 51))",
    )
    return Result(
        "choose k in 1..50, 10,000 x 10",
        f"scikit-learn {name} of KNeighborsRegressor",
        medians["ours"],
        theirs,
        bar=20,
        accuracy=(
            f"k = {ks[0]} (exact LOO error {errors[0]:.3f}) against k = {ks[1]} "
            f"(5-fold error {errors[1]:.3f}); on one core the peer is "
            f"{medians['GridSearchCV(cv=5)'] / medians['ours']:.0f}x slower"
        ),
        cold=cold,
    )


def predicting() -> Result:
    X, y = make_friedman1(60_000, n_features=10, noise=1.0, random_state=1)
    train, test = slice(0, 50_000), slice(50_000, None)
    ours = NearestNeighborsRegressor(n_neighbors=15).fit(X[train], y[train])
    one = KNeighborsRegressor(15).fit(X[train], y[train])
    all_cores = KNeighborsRegressor(15, n_jobs=-1).fit(X[train], y[train])
    medians = in_turns(
        {
            "ours": lambda: ours.predict(X[test]),
            "KNeighborsRegressor": lambda: one.predict(X[test]),
            "KNeighborsRegressor(n_jobs=-1)": lambda: all_cores.predict(X[test]),
        },
        repeats=5,
    )
    gap = np.max(np.abs(ours.predict(X[test]) - one.predict(X[test])))
    name, theirs = best_peer(medians, "ours")
    return Result(
        "predict 10,000 rows, k = 15, 50,000 x 10",
        f"scikit-learn {name}",
        medians["ours"],
        theirs,
        bar=1,
        accuracy=f"largest difference {gap:.1e}",
    )
