"""Linear support vector machines, against liblinear."""

import warnings
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from benchmarks.measure import Result, best_peer, cold_seconds, in_turns
from bottega.kernel import LinearSVM


def run() -> Iterator[Result]:
    yield dense(100_000, 20, "squared_hinge")
    yield dense(100_000, 20, "hinge")
    yield texts(20_000, 50_000)


def objective(model, X, y, C, squared) -> float:
    sign, coef, b = np.where(y == 1, 1.0, -1.0), model.coef_[0], model.intercept_[0]
    slack = np.maximum(0, 1 - sign * (np.asarray(X @ coef) + b))
    return float(0.5 * (coef @ coef + b * b) + C * np.sum(slack**2 if squared else slack))


def compared(case, X, y, C, loss, dual, tol=1e-4, repeats=3) -> Result:
    """Both with the same tolerance; the objectives say who came further."""

    def ours():
        return LinearSVM(C, loss=loss, tol=tol).fit(X, y)

    def theirs(how):
        return lambda: LinearSVC(C=C, loss=loss, dual=how, tol=tol).fit(X, y)

    peers = {f"LinearSVC(dual={how})": theirs(how) for how in dual}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what did not converge in 1,000 passes
        LinearSVM(C, loss=loss, tol=tol).fit(X[:200], y[:200])
        medians = in_turns({"ours": ours, **peers}, repeats)
        name, seconds = best_peer(medians, "ours")
        fitted = ours()
        found = [objective(m, X, y, C, loss == "squared_hinge") for m in (fitted, peers[name]())]
    return Result(
        case,
        f"scikit-learn {name}" + (f" (fastest of {len(dual)})" if len(dual) > 1 else ""),
        medians["ours"],
        seconds,
        bar=1,
        accuracy=(
            f"objective {found[0] / found[1] - 1:+.0e} relative to the peer's; ours at most "
            f"{fitted.gap_[0] / fitted.objective_[0]:.0e} above the least one"
        ),
        cold=cold_seconds(
            "import numpy as np\nfrom bottega.kernel import LinearSVM\n"
            "X = np.random.default_rng(0).normal(size=(500, 20))\ny = X[:, 0] > 0",
            f"LinearSVM(loss={loss!r}).fit(X, y)",
        ),
    )


def dense(n, p, loss) -> Result:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = (X @ rng.normal(size=p) + 2 * rng.normal(size=n) > 0).astype(int)
    dual = (True, False) if loss == "squared_hinge" else (True,)
    return compared(f"linear SVM ({loss}), {n:,} x {p}", X, y, 1.0, loss, dual)


def texts(n, p) -> Result:
    """Rows as those of words: 100 of 50,000 columns, frequent ones first."""
    rng = np.random.default_rng(0)
    columns = np.minimum((rng.pareto(0.7, size=(n, 100)) * 5).astype(np.int64), p - 1)
    X = sparse.csr_array(
        (np.ones(n * 100), columns.ravel(), np.arange(0, n * 100 + 1, 100)), shape=(n, p)
    )
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    w = rng.normal(size=p)
    y = (X @ w + 0.1 * rng.normal(size=n) > 0).astype(int)
    return compared(
        f"linear SVM (squared_hinge), sparse {n:,} x {p:,}", X, y, 1.0, "squared_hinge", (True,)
    )
