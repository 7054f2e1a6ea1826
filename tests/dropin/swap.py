"""A pytest plugin: scikit-learn's shipped tests meet our classes under the names they import.

A test counts if it constructs one of our classes. The files in `differences` name the tests that
fail and why. The run fails on a failure that is not named there, on a name that no failure bears,
and when less than `BAR` of the counted tests pass.

Some defaults of ours would decide most numbers: the ridge, the lasso and the elastic net penalise
each input on its own scale, kernel ridge takes a Gaussian kernel and chooses its penalty, support
vectors of numbers count in standard deviations of the response, density clusters and nonnegative
factors choose their radius and number, naive Bayes the families of inputs, networks their epochs.
These tests run with scikit-learn's defaults in such cases, so that they test something; with
DROPIN_AS_IT_IS=1 in the environment they run with ours and are counted only.

Without a seed our classes draw one afresh. Here it is the next of a fixed sequence in each test, so
that a run can be repeated.
"""

import itertools
import os
import re
import tomllib
from functools import wraps
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

BAR = 0.70
AS_IT_IS = "DROPIN_AS_IT_IS" in os.environ

# scikit-learn's package, its class, and ours.
SWAPPED = (
    ("linear_model", "LinearRegression", "linear.LeastSquares"),
    ("linear_model", "Ridge", "linear.Ridge"),
    ("linear_model", "Lasso", "linear.Lasso"),
    ("linear_model", "ElasticNet", "linear.ElasticNet"),
    ("linear_model", "Perceptron", "online.Perceptron"),
    ("linear_model", "LogisticRegression", "classify.LogisticRegression"),
    ("svm", "SVC", "kernel.SupportVectorClassifier"),
    ("svm", "SVR", "kernel.SupportVectorRegressor"),
    ("kernel_ridge", "KernelRidge", "kernel.KernelRidge"),
    ("calibration", "CalibratedClassifierCV", "classify.CalibratedClassifierCV"),
    ("neighbors", "KNeighborsClassifier", "neighbors.NearestNeighborsClassifier"),
    ("neighbors", "KNeighborsRegressor", "neighbors.NearestNeighborsRegressor"),
    ("tree", "DecisionTreeClassifier", "tree.TreeClassifier"),
    ("tree", "DecisionTreeRegressor", "tree.TreeRegressor"),
    ("ensemble", "RandomForestClassifier", "ensemble.RandomForestClassifier"),
    ("ensemble", "RandomForestRegressor", "ensemble.RandomForestRegressor"),
    ("ensemble", "AdaBoostClassifier", "ensemble.AdaBoostClassifier"),
    ("ensemble", "BaggingClassifier", "ensemble.BaggingClassifier"),
    ("ensemble", "BaggingRegressor", "ensemble.BaggingRegressor"),
    ("ensemble", "StackingClassifier", "ensemble.StackingClassifier"),
    ("ensemble", "StackingRegressor", "ensemble.StackingRegressor"),
    ("ensemble", "VotingClassifier", "ensemble.VotingClassifier"),
    ("ensemble", "VotingRegressor", "ensemble.VotingRegressor"),
    ("decomposition", "PCA", "latent.PCA"),
    ("decomposition", "FactorAnalysis", "latent.FactorAnalysis"),
    ("decomposition", "NMF", "latent.NonnegativeFactorization"),
    ("manifold", "MDS", "latent.MDS"),
    ("manifold._mds", "MDS", "latent.MDS"),
    ("manifold", "TSNE", "latent.TSNE"),
    ("cluster", "KMeans", "cluster.KMeans"),
    ("cluster", "DBSCAN", "cluster.DensityClusters"),
    ("mixture", "GaussianMixture", "cluster.GaussianMixture"),
    ("feature_selection", "VarianceThreshold", "latent.VarianceFilter"),
    ("naive_bayes", "GaussianNB", "classify.NaiveBayes"),
    ("svm", "LinearSVC", "kernel.LinearSVM"),
    ("neural_network", "MLPClassifier", "neural.NetworkClassifier"),
    ("neural_network", "MLPRegressor", "neural.NetworkRegressor"),
)
_LAYERS: dict[str, Any] = {
    "hidden_layer_sizes": (100,),
    "alpha": 1e-4,
    "learning_rate": "constant",
    "learning_rate_init": 0.001,
    "max_iter": 200,
}
# Defaults of theirs that decide most numbers.
THEIRS: dict[str, dict[str, Any]] = {
    "DensityClusters": {"eps": 0.5},
    "KernelRidge": {"alpha": 1.0, "kernel": "linear", "gamma": None, "fit_intercept": False},
    "NaiveBayes": {"distributions": "gaussian"},
    "NetworkClassifier": _LAYERS,
    "NetworkRegressor": _LAYERS,
    "NonnegativeFactorization": {"n_components": None},
    "SupportVectorClassifier": {"probability": False},
    "SupportVectorRegressor": {"C": 1.0, "epsilon": 0.1},
}
MODULES = (
    "sklearn.linear_model.tests.test_base",
    "sklearn.linear_model.tests.test_ridge",
    "sklearn.linear_model.tests.test_coordinate_descent",
    "sklearn.linear_model.tests.test_perceptron",
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.svm.tests.test_svm",
    "sklearn.tests.test_kernel_ridge",
    "sklearn.tests.test_calibration",
    "sklearn.neighbors.tests.test_neighbors",
    "sklearn.tree.tests.test_tree",
    "sklearn.ensemble.tests.test_forest",
    "sklearn.ensemble.tests.test_weight_boosting",
    "sklearn.ensemble.tests.test_bagging",
    "sklearn.ensemble.tests.test_stacking",
    "sklearn.ensemble.tests.test_voting",
    "sklearn.decomposition.tests.test_pca",
    "sklearn.decomposition.tests.test_factor_analysis",
    "sklearn.decomposition.tests.test_nmf",
    "sklearn.manifold.tests.test_mds",
    "sklearn.manifold.tests.test_t_sne",
    "sklearn.cluster.tests.test_k_means",
    "sklearn.cluster.tests.test_dbscan",
    "sklearn.mixture.tests.test_gaussian_mixture",
    "sklearn.feature_selection.tests.test_variance_threshold",
    "sklearn.tests.test_naive_bayes",
    "sklearn.neural_network.tests.test_mlp",
)


class _Constructed:
    """Whether one of our swapped classes was constructed since it was last asked."""

    seen = False


class _Seeds:
    """Seeds of what is given none."""

    fresh = staticmethod(np.random.default_rng)
    numbers: Any = itertools.count()

    @classmethod
    def generator(cls, seed: Any = None) -> np.random.Generator:
        return cls.fresh(next(cls.numbers) if seed is None else seed)


def _ours(path: str) -> type:
    topic, _, name = path.rpartition(".")
    return getattr(import_module(f"bottega.{topic}"), name)


def _watch(cls: Any) -> None:
    init = cls.__init__
    names = list(signature(init).parameters)[1:]
    theirs = THEIRS.get(cls.__name__, {})
    if "standardize" in cls.params:
        theirs = {"standardize": False, **theirs}

    @wraps(init)
    def construct(self: Any, *args: Any, **given: Any) -> None:
        _Constructed.seen = True
        if not AS_IT_IS:
            by_name = {n: v for n, v in theirs.items() if n not in names[: len(args)]}
            given = by_name | given
        init(self, *args, **given)

    cls.__init__ = construct


def pytest_configure(config: pytest.Config) -> None:
    # scikit-learn's own modules keep their classes: the names are changed only in its packages,
    # from which its tests import them.
    packages = {package: import_module(f"sklearn.{package}") for package, _, _ in SWAPPED}
    for package, theirs, path in SWAPPED:
        ours = _ours(path)
        _watch(ours)
        setattr(packages[package], theirs, ours)
    np.random.default_rng = _Seeds.generator


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    _Constructed.seen = False
    _Seeds.numbers = itertools.count()
    yield
    if _Constructed.seen:
        item.user_properties.append(("ours", True))


def _name(nodeid: str) -> str:
    """Return a short, stable name: ``tree/test_tree.py::test_iris[gini]``."""
    return nodeid.rpartition("sklearn/")[2].replace("/tests/", "/")


def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def _is_ours(report: Any) -> bool:
    return report.when == "call" and ("ours", True) in report.user_properties


class _Verdict:
    """What the run found, kept between its end and its summary."""

    lines: ClassVar[list[str]] = []


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if hasattr(config, "workerinput"):  # one of several processes: the first one judges
        return
    stats = config.pluginmanager.get_plugin("terminalreporter").stats
    passed = [_name(r.nodeid) for r in stats.get("passed", ()) if _is_ours(r)]
    failed = sorted(_name(r.nodeid) for r in stats.get("failed", ()) if _is_ours(r))
    broken = [r.nodeid for r in stats.get("error", ())]
    lists = sorted(Path(__file__).parent.glob("differences/*.toml"))
    named = [one for file in lists for one in tomllib.loads(file.read_text())["difference"]]
    patterns = [pattern for one in named for pattern in one["tests"]]
    unnamed = [name for name in failed if not any(_matches(p, name) for p in patterns)]
    part = bool(config.getoption("keyword") or any("::" in a for a in config.args))
    files = {name.partition("::")[0] for name in passed + failed}
    stale = [
        pattern
        for pattern in patterns
        if not part
        and pattern.partition("::")[0] in files
        and not any(_matches(pattern, name) for name in failed)
    ]
    lines = []
    for file in [*sorted(files), ""]:
        count = sum(name.startswith(file) for name in passed)
        total = count + sum(name.startswith(file) for name in failed)
        lines.append(f"{file or 'all':45}{count:5} of {total:5}: {count / max(total, 1):.1%}")
    lines += [f"does not run: {name}" for name in broken]
    lines += [f"fails, and differences/ does not say why: {name}" for name in unnamed]
    lines += [f"in differences/, but nothing that it names fails: {name}" for name in stale]
    low = not part and len(passed) < BAR * (len(passed) + len(failed))
    if low:
        lines.append(f"less than {BAR:.0%} of the tests pass as they are")
    _Verdict.lines = lines
    if (passed or failed) and not AS_IT_IS:
        session.exitstatus = int(bool(broken or unnamed or stale or low))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.section("scikit-learn's tests with our classes")
    for line in _Verdict.lines:
        terminalreporter.write_line(line)
