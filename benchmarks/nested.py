"""Nested cross-validation against scikit-learn's, on the same folds and grids."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.linear_model import Lasso as PeerLasso
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from benchmarks.measure import Result, best_peer, in_turns
from bottega.data import make
from bottega.linear import Lasso, Ridge
from bottega.neighbors import NearestNeighborsRegressor
from bottega.risk import nested_cv
from bottega.tree import TreeRegressor

INNER = KFold(10)  # the same object for both, so the same folds
# Ours standardises inside the linear methods; the peer does it in a pipeline.
CASES = {
    "ridge": (
        Ridge(),
        make_pipeline(StandardScaler(), PeerRidge()),
        "ridge__alpha",
        np.logspace(-2, 4, 25).tolist(),
    ),
    "lasso": (
        Lasso(),
        make_pipeline(StandardScaler(), PeerLasso()),
        "lasso__alpha",
        np.logspace(-3, 0.5, 25).tolist(),
    ),
    "nearest neighbours": (
        NearestNeighborsRegressor(),
        KNeighborsRegressor(),
        "n_neighbors",
        [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 32, 40],
    ),
    "tree": (
        TreeRegressor(random_state=0),
        DecisionTreeRegressor(random_state=0),
        "ccp_alpha",
        np.logspace(-3, 0, 15).tolist(),
    ),
}


def run() -> Iterator[Result]:
    for name in CASES:
        yield case(name, "naive")
        yield case(name, "nested")


def case(name: str, interval: str, n: int = 5_000, p: int = 20) -> Result:
    """Time the same work for both, or with ``"nested"`` ours with the models of its interval."""
    sample = make.friedman1(n, n_features=p)
    X, y = sample.X, sample.y
    estimator, peer, parameter, grid = CASES[name]
    outer = list(KFold(5, shuffle=True, random_state=0).split(X))
    found = {}

    def ours():
        found["ours"] = nested_cv(
            estimator, X, y, select="min", values=grid, outer=outer, inner=INNER, interval=interval
        )

    def theirs(level):
        search = GridSearchCV(
            peer,
            {parameter: grid},
            cv=INNER,
            scoring="neg_mean_squared_error",
            n_jobs=-1 if level == "inner" else 1,
        )
        found["theirs"] = cross_validate(
            search,
            X,
            y,
            cv=outer,
            scoring="neg_mean_squared_error",
            return_estimator=True,
            n_jobs=-1 if level == "outer" else 1,
        )

    ours()  # the kernels are compiled, or read, before anything is timed
    calls = {"ours": ours} | {
        f"n_jobs=-1 in the {level} loop": partial(theirs, level) for level in ("outer", "inner")
    }
    medians = in_turns(calls, repeats=3 if name in ("ridge", "lasso") else 1)
    fastest, seconds = best_peer(medians, "ours")
    work = {
        "naive": "the same fits",
        "nested": "with the interval of Bates et al., 3 times the fits",
    }[interval]
    return Result(
        f"nested CV of {name}, 5 x 10 folds, {len(grid)} values, {n:,} x {p}, {work}",
        f"scikit-learn cross_val_score(GridSearchCV), {fastest}",
        medians["ours"],
        seconds,
        bar=5 if interval == "naive" else 1,  # the peer makes no interval
        accuracy=agreement(found["ours"], found["theirs"], parameter),
    )


def agreement(ours, theirs, parameter: str) -> str:
    """Say how far choices and outer errors agree."""
    chosen = [search.best_params_[parameter] for search in theirs["estimator"]]
    same = sum(bool(np.isclose(a, b)) for a, b in zip(ours.values, chosen, strict=True))
    errors = -theirs["test_score"]
    off = np.max(np.abs(ours.fold_errors[0] / errors - 1))
    return (
        f"same value chosen in {same} of {len(chosen)} folds; outer error {ours.error:.5g} against "
        f"{errors.mean():.5g}, by fold at most {off:.1g} apart"
    )
