"""Networks against scikit-learn's at equal epochs, a bare loop of PyTorch, and a tuned peer.

``run(scale=0.01)`` goes through all of it on a hundredth of the rows, to see that it works.
"""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.measure import Result, best_peer, cold_seconds, in_turns
from bottega.neural import NetworkClassifier, NetworkRegressor

LAYERS = (64, 32)
STEADY = {
    "tol": 0.0,
    "n_iter_no_change": 10**6,
    "learning_rate": "constant",
    "learning_rate_init": 1e-3,
}


def run(scale: float = 1.0) -> Iterator[Result]:
    def rows(n):
        return max(int(n * scale), 300)

    yield equal_epochs(rows(50_000), 50, (100,), 200, 10, bar=2)
    yield equal_epochs(rows(50_000), 50, LAYERS, 200, 10, bar=2)
    yield equal_epochs(500, 10, LAYERS, 200, 200, bar=1)
    yield all_rows(500, 10, 150)
    yield all_rows(rows(5_000), 20, 150)
    yield bare_loop(rows(50_000), 50, min(512, rows(50_000)), 10)
    yield friedman(rows(20_000))


def table(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    signal = X[:, 0] * X[:, 1] + X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * rng.normal(size=n)
    return X, (signal > 0).astype(int)


def ours_of(layers, batch, epochs):
    return NetworkClassifier(layers, batch_size=batch, max_iter=epochs, random_state=0, **STEADY)


def equal_epochs(n, p, layers, batch, epochs, bar) -> Result:
    """Time the same epochs, batches and layers; both learn, so both must predict alike."""
    X, y = table(n, p)
    X_test, y_test = table(n, p, seed=1)
    peer = MLPClassifier(layers, batch_size=batch, max_iter=epochs, random_state=0, **STEADY)
    single = X.astype(np.float32)
    kept = {}

    def ours():
        kept["ours"] = ours_of(layers, batch, epochs).fit(X, y)

    def theirs(inputs, threads):
        with warnings.catch_warnings(), threadpool_limits(threads):
            warnings.simplefilter("ignore", ConvergenceWarning)
            kept["theirs"] = peer.fit(inputs, y)

    ours()  # PyTorch is imported once
    calls = {
        "ours": ours,
        "MLPClassifier": lambda: theirs(X, None),
        "MLPClassifier, one thread": lambda: theirs(X, 1),
        "MLPClassifier, one thread, float32": lambda: theirs(single, 1),
    }
    medians = in_turns(calls, 5)
    name, seconds = best_peer(medians, "ours")
    scores = [kept[each].score(X_test, y_test) for each in ("ours", "theirs")]
    cold = cold_seconds(
        f"from benchmarks.neural import table, ours_of\nX, y = table({n}, {p})",
        f"ours_of({layers!r}, {batch}, {epochs}).fit(X, y)",
    )
    return Result(
        f"network {layers}, batches of {batch}, {epochs} epochs, {n:,} x {p}",
        f"scikit-learn {name}, the fastest of three",
        medians["ours"],
        seconds,
        bar=bar,
        accuracy=f"test accuracy {scores[0]:.4f} against {scores[1]:.4f}",
        cold=cold,
    )


def all_rows(n, p, iterations) -> Result:
    """Time the same iterations of L-BFGS on all rows; both minimise the same function."""
    X, y = table(n, p)
    options = {"solver": "lbfgs", "alpha": 0.1, "tol": 0.0, "max_iter": iterations}
    options |= {"hidden_layer_sizes": LAYERS, "random_state": 0}
    kept = {}

    def fitted(name, model, threads):
        with warnings.catch_warnings(), threadpool_limits(threads):
            warnings.simplefilter("ignore", ConvergenceWarning)
            kept[name] = model.fit(X, y)

    calls = {
        "ours": lambda: fitted("ours", NetworkClassifier(standardize=False, **options), None),
        "MLPClassifier": lambda: fitted("theirs", MLPClassifier(**options), None),
        "MLPClassifier, one thread": lambda: fitted("theirs", MLPClassifier(**options), 1),
    }
    calls["ours"]()
    medians = in_turns(calls, 5)
    name, seconds = best_peer(medians, "ours")
    ended = [f"{kept[each].loss_:.4g}" for each in ("ours", "theirs")]
    steps = [kept[each].n_iter_ for each in ("ours", "theirs")]
    return Result(
        f"network {LAYERS}, {iterations} iterations of L-BFGS, {n:,} x {p}",
        f"scikit-learn {name}, the faster of two",
        medians["ours"],
        seconds,
        bar=1,
        accuracy=f"objective {ended[0]} against {ended[1]}, after {steps[0]} and {steps[1]}",
    )


def bare_loop(n, p, batch, epochs) -> Result:
    """Time the fit against the shortest loop that a user of PyTorch would write."""
    import torch
    from torch import nn

    X, y = table(n, p)

    def bare(threads):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        module = nn.Sequential(
            nn.Linear(p, LAYERS[0]),
            nn.ReLU(),
            nn.Linear(LAYERS[0], LAYERS[1]),
            nn.ReLU(),
            nn.Linear(LAYERS[1], 1),
        )
        inputs = torch.as_tensor((X - X.mean(0)) / X.std(0), dtype=torch.float32)
        targets = torch.as_tensor(y, dtype=torch.float32)[:, None]
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
        for _ in range(epochs):
            for at in torch.randperm(n).split(batch):
                optimizer.zero_grad()
                outputs = module(inputs[at])
                loss = nn.functional.binary_cross_entropy_with_logits(outputs, targets[at])
                loss.backward()
                optimizer.step()
        torch.set_num_threads(before)
        return module

    def ours():
        return ours_of(LAYERS, batch, epochs).fit(X, y)

    ours()
    calls = {"ours": ours, "one thread": lambda: bare(1), "two threads": lambda: bare(2)}
    medians = in_turns(calls, 5)
    name, seconds = best_peer(medians, "ours")
    return Result(
        f"network {LAYERS}, batches of {batch}, {epochs} epochs, {n:,} x {p}",
        f"a bare loop of PyTorch, standardised rows in memory, {name}",
        medians["ours"],
        seconds,
        bar=0.95,
        accuracy="the whole fit, reading and checking included",
    )


def friedman(n) -> Result:
    """Time the default fit against a grid search, on errors of the same test rows."""
    X, y = make_friedman1(n, n_features=10, noise=1.0, random_state=0)
    X_test, y_test = make_friedman1(n, n_features=10, noise=1.0, random_state=1)
    peer = GridSearchCV(
        make_pipeline(StandardScaler(), MLPRegressor(early_stopping=True, random_state=0)),
        {
            "mlpregressor__hidden_layer_sizes": [(64, 32), (100,)],
            "mlpregressor__alpha": [1e-4, 1e-2],
            "mlpregressor__learning_rate_init": [1e-3, 5e-3],
        },
        cv=3,
        n_jobs=2,  # processes of one thread each: the faster way here
    )
    kept = {}

    def theirs():
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)
            kept["theirs"] = peer.fit(X, y)

    calls = {
        "ours": lambda: kept.update(ours=NetworkRegressor(random_state=0).fit(X, y)),
        "theirs": theirs,
    }
    calls["ours"]()
    medians = in_turns(calls, 1)
    errors = [np.mean((kept[name].predict(X_test) - y_test) ** 2) for name in ("ours", "theirs")]
    return Result(
        f"network, default fit with its path, Friedman's {n:,} x 10",
        "MLPRegressor tuned by GridSearchCV over 8 settings",
        medians["ours"],
        medians["theirs"],
        bar=5,
        accuracy=(
            f"test error {errors[0]:.4f} against {errors[1]:.4f} (1 is the noise): "
            f"{'not larger' if errors[0] <= errors[1] else '**larger**'}"
        ),
    )
