"""Online learners, one pass over a million rows: the perceptron, gradient descent, ridge."""

import time
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.linear_model import Perceptron as SklearnPerceptron
from sklearn.linear_model import SGDClassifier

from benchmarks.measure import Result, cold_seconds, in_turns
from bottega.online import OnlineGradientDescentClassifier, OnlineRidge, Perceptron

ROWS = 1_000_000
BLOCK = 1_000
RATE = 0.01


def run() -> Iterator[Result]:
    yield from perceptron()
    yield from gradient_descent()
    yield from sparse_gradient_descent()
    yield ridge()


def labelled(p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, p))
    return X, np.where(X @ rng.normal(size=p) + rng.normal(size=ROWS) > 0, 1, -1)


def in_blocks(model, X, y, **first):
    for start in range(0, X.shape[0], BLOCK):
        rows = slice(start, start + BLOCK)
        model.partial_fit(X[rows], y[rows], **first)
        first = {}
    return model


def perceptron() -> Iterator[Result]:
    X, y = labelled(10)
    calls = {
        "ours": lambda: Perceptron().partial_fit(X, y, classes=[-1, 1]),
        "blocks": lambda: in_blocks(Perceptron(), X, y, classes=[-1, 1]),
        "sklearn": lambda: in_blocks(SklearnPerceptron(shuffle=False), X, y, classes=[-1, 1]),
    }
    found, theirs = calls["blocks"](), calls["sklearn"]()
    gap = np.max(np.abs(found.coef_ - theirs.coef_))
    medians = in_turns(calls, repeats=5)
    yield Result(
        "perceptron, one pass over 1,000,000 rows, p = 10",
        "5 million rows a second",
        medians["ours"],
        ROWS / 5_000_000,
        bar=1,
        accuracy=f"rows a second {ROWS / medians['ours']:.3g}",
    )
    yield Result(
        "perceptron, 1,000,000 rows in blocks of 1,000, p = 10",
        "scikit-learn Perceptron.partial_fit",
        medians["blocks"],
        medians["sklearn"],
        bar=2,
        accuracy=f"weights agree to {gap:.0e}",
    )


def gradient_descent() -> Iterator[Result]:
    X, y = labelled(20)
    calls = {
        "ours": lambda: in_blocks(ours_logistic(), X, y, classes=[-1, 1]),
        "whole": lambda: ours_logistic().partial_fit(X, y, classes=[-1, 1]),
        "sklearn": lambda: in_blocks(sklearn_logistic(), X, y, classes=[-1, 1]),
    }
    gap = np.max(np.abs(calls["ours"]().coef_ - calls["sklearn"]().coef_))
    medians = in_turns(calls, repeats=5)
    cold = cold_seconds(
        "import numpy as np\nfrom bottega.online import OnlineGradientDescentClassifier\n"
        "X = np.random.default_rng(0).normal(size=(1000, 20))\ny = np.sign(X[:, 0])",
        "OnlineGradientDescentClassifier(learning_rate='constant', eta0=0.01).partial_fit(X, y)",
    )
    yield Result(
        "gradient descent, logistic loss, 1,000,000 rows in blocks of 1,000, p = 20",
        "scikit-learn SGDClassifier.partial_fit",
        medians["ours"],
        medians["sklearn"],
        bar=2,
        accuracy=f"weights agree to {gap:.0e}; rows a second {ROWS / medians['ours']:.3g}",
        cold=cold,
    )
    rate, gap = river_rate(X[:20_000], y[:20_000])
    single = row_by_row(X[:20_000], y[:20_000])
    yield Result(
        "gradient descent, logistic loss, one pass over 1,000,000 rows, p = 20",
        "river LogisticRegression.learn_one, at its rate over 20,000 rows",
        medians["whole"],
        ROWS / rate,
        bar=100,
        accuracy=f"weights agree to {gap:.0e}; rows a second {ROWS / medians['whole']:.2g} "
        f"against {rate:.2g}; ours with one row a call {single:.2g}: a call has a cost of its own",
    )


def row_by_row(X, y):
    """Return our rows a second when each comes in a call of its own."""
    model = ours_logistic().partial_fit(X, y, classes=[-1, 1])
    start = time.perf_counter()
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return len(X) / (time.perf_counter() - start)


def ours_logistic():
    return OnlineGradientDescentClassifier(learning_rate="constant", eta0=RATE)


def sklearn_logistic():
    return SGDClassifier(
        loss="log_loss",
        learning_rate="constant",
        eta0=RATE,
        alpha=0,
        penalty=None,
        shuffle=False,
    )


def river_rate(X, y):
    """Return river's rows a second, and how far its weights are from ours."""
    from river import linear_model, optim

    rows = [dict(enumerate(row)) for row in X.tolist()]
    labels = (y > 0).tolist()
    seconds = []
    for _ in range(3):  # a peer is measured at its best
        model = linear_model.LogisticRegression(optimizer=optim.SGD(RATE), intercept_lr=RATE)
        start = time.perf_counter()
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)
        seconds.append(time.perf_counter() - start)
    rate = len(X) / min(seconds)
    ours = ours_logistic().partial_fit(X, y)
    theirs = [model.weights[j] for j in range(X.shape[1])]
    return rate, np.max(np.abs(ours.coef_[0] - theirs))


def sparse_gradient_descent() -> Iterator[Result]:
    rng = np.random.default_rng(0)
    n, p, entries = 100_000, 1 << 18, 40
    indices = np.sort(rng.integers(0, p, (n, entries)), axis=1).astype(np.int32)
    X = sparse.csr_matrix(
        (rng.choice([-1.0, 1.0], n * entries), indices.ravel(), np.arange(n + 1) * entries),
        shape=(n, p),
    )
    X.sum_duplicates()
    y = np.where(X[:, :1000].sum(axis=1).A1 + rng.normal(size=n) > 0, 1, -1)
    calls = {
        "ours": lambda: in_blocks(ours_logistic(), X, y, classes=[-1, 1]),
        "sklearn": lambda: in_blocks(sklearn_logistic(), X, y, classes=[-1, 1]),
    }
    medians = in_turns(calls, repeats=3)
    yield Result(
        "gradient descent, logistic loss, 100,000 hashed rows of 40 entries in blocks of 1,000, "
        "p = 262,144",
        "scikit-learn SGDClassifier.partial_fit",
        medians["ours"],
        medians["sklearn"],
        bar=1,
        accuracy="theirs learns the intercept of sparse rows 100 times more slowly",
    )


def ridge() -> Result:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 10))
    y = X.sum(axis=1) + rng.normal(size=len(X))

    def forecast():
        return OnlineRidge(fit_intercept=False).learn_block(X, y)

    model = OnlineRidge(fit_intercept=False).partial_fit(X, y)
    batch = np.linalg.solve(X.T @ X + np.eye(10), X.T @ y)
    gap = np.max(np.abs(model.coef_ - batch))
    seconds = in_turns({"ours": forecast}, repeats=5)["ours"]
    return Result(
        "online ridge, 200,000 rows predicted one by one before they are learned, p = 10",
        "500,000 rows a second",
        seconds,
        len(X) / 500_000,
        bar=1,
        accuracy=f"coefficients within {gap:.0e} of a batch fit; rows a second "
        f"{len(X) / seconds:.2g}",
    )
