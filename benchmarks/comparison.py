"""The main job against the same nested comparison written with scikit-learn alone."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bottega
from benchmarks.measure import Result, in_new_process, in_turns
from bottega.data import folds

INNER = 5


def run() -> Iterator[Result]:
    for name, load in (("diabetes", load_diabetes), ("breast_cancer", load_breast_cancer)):
        yield against_grid_search(name, load)
        yield peak_memory(name)


class KernelDensityClassifier(ClassifierMixin, BaseEstimator):
    """Bayes' rule on a kernel density a class: how one writes Parzen's classifier today."""

    def __init__(self, bandwidth=1.0):
        self.bandwidth = bandwidth

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.priors_ = np.log(counts / len(y))
        self.densities_ = [
            KernelDensity(bandwidth=self.bandwidth).fit(X[y == c]) for c in self.classes_
        ]
        return self

    def predict(self, X):
        scores = np.column_stack([density.score_samples(X) for density in self.densities_])
        return self.classes_[np.argmax(scores + self.priors_, axis=1)]


def against_grid_search(name, load) -> Result:
    frame = load(as_frame=True).frame
    task = "regression" if name == "diabetes" else "classification"
    methods = ["neighbors", "ridge"] if task == "regression" else ["neighbors", "parzen"]
    found = bottega.compare(frame, "target", methods=methods, random_state=0)
    X, y = np.asarray(found.train.X, dtype=float), found.y_train
    outer = folds(found.train, 5, random_state=0)
    grids = {
        method: result.path.values
        for method, result in found.results.items()
        if result.path is not None
    }
    scoring = "neg_mean_squared_error" if task == "regression" else "accuracy"
    if task == "regression":
        searches = {
            "neighbors": (KNeighborsRegressor(), "n_neighbors"),
            "ridge": (Ridge(), "alpha"),
        }
        baseline = DummyRegressor()
    else:
        searches = {
            "neighbors": (KNeighborsClassifier(), "n_neighbors"),
            "parzen": (KernelDensityClassifier(), "bandwidth"),
        }
        baseline = DummyClassifier()

    def theirs(n_jobs):
        def call():
            cross_val_score(baseline, X, y, cv=outer, scoring=scoring)
            for method, (model, knob) in searches.items():
                step = type(model).__name__.lower()
                search = GridSearchCV(
                    make_pipeline(StandardScaler(), model),
                    {f"{step}__{knob}": grids[method]},
                    cv=INNER,
                    scoring=scoring,
                    n_jobs=n_jobs,
                )
                cross_val_score(search, X, y, cv=outer, scoring=scoring)

        return call

    theirs(-1)()  # start the workers outside the timing
    medians = in_turns(
        {
            "ours": lambda: bottega.compare(frame, "target", methods=methods, random_state=0),
            "one core": theirs(None),
            "all cores": theirs(-1),
        },
        repeats=3,
    )
    peer = min(("one core", "all cores"), key=lambda each: medians[each])
    errors = ", ".join(f"{method} {result.error:.4g}" for method, result in found.results.items())
    return Result(
        f"bottega.compare on {name}, 5 outer folds (ours also refits and locks a test part)",
        f"cross_val_score(GridSearchCV(cv={INNER})), same knob values and outer folds, {peer}",
        medians["ours"],
        medians[peer],
        bar=5,
        accuracy=f"nested error: {errors}",
    )


def peak_memory(name) -> Result:
    # Not getrusage: its peak counts what the process that started this one held at the time.
    code = (
        "import re, bottega\n"
        f"bottega.compare({name!r}, random_state=0).certify(ledger=False)\n"
        "status = open('/proc/self/status').read()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1024)"
    )
    return Result(
        f"peak memory of bottega.compare on {name}",
        "limit of 600 MB",
        float(in_new_process(code)),
        600.0,
        bar=1,
        accuracy="-",
        unit="MB",
        limit=True,
    )
