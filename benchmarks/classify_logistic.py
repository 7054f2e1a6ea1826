"""Logistic regression: many rows and classes, paths of the lasso, cross-validated paths."""

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

from benchmarks.measure import Result, best_peer, bounded, in_turns
from benchmarks.processes import exchange, has_r, run_peer
from bottega.classify import LogisticRegression

PATIENCE = 120  # seconds for a peer; then its row says "more than"
GAP = 1e-4  # relative duality gap of our paths: their objective is nearer by some digits
ROWS, COLUMNS = 50_000, 20


def run() -> Iterator[Result]:
    yield several_classes()
    for K in (2, 5):
        yield from lasso_path(K)
    yield cross_validated(0.0)
    yield cross_validated(1.0)


def classes(n, p, K, seed=0):
    """Return inputs and labels whose log odds are linear, half of the inputs without effect."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    scores = X[:, : p // 2] @ rng.normal(size=(p // 2, K)) * 0.7
    return X, np.argmax(scores + rng.gumbel(size=(n, K)), axis=1)


def log_loss(X, y, coef, intercept):
    """Return the mean negative log-likelihood."""
    scores = X @ coef.T + intercept
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(X)), scores])
    top = scores.max(axis=1)
    total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return float(np.mean(total - scores[np.arange(len(y)), y]))


def several_classes() -> Result:
    X, y = classes(ROWS, COLUMNS, 5)
    solvers = ("lbfgs", "newton-cg", "newton-cholesky")
    calls = {name: Theirs(solver=name, max_iter=1000).fit for name in solvers}
    calls["ours"] = LogisticRegression().fit
    fits = {name: call(X, y) for name, call in calls.items()}
    seconds = in_turns({name: lambda c=call: c(X, y) for name, call in calls.items()}, 5)
    peer, theirs = best_peer(seconds, "ours")

    def objective(model):
        penalty = np.sum(model.coef_**2) / (2 * len(y))
        return log_loss(X, y, model.coef_, model.intercept_) + penalty

    gap = objective(fits["ours"]) - objective(fits[peer])
    return Result(
        f"multinomial logistic regression, C = 1, {ROWS:,} x {COLUMNS}, 5 classes",
        f"scikit-learn, the best of its solvers: {peer}",
        seconds["ours"],
        theirs,
        bar=1.5,
        accuracy=f"our objective less theirs: {gap:+.0e}",
    )


def penalties(X, y, K):
    """Return 100 penalties from the strongest useful one to a thousandth of it."""
    share = 1 / K  # without intercepts every class is equally probable
    Y = (y[:, None] == np.arange(K)) - share
    if K == 2:
        Y = Y[:, 1:]
    return np.max(np.abs(X.T @ Y)) / len(y) * np.logspace(0, -3, 100)


def loop_of_scikit_learn(K) -> None:
    """Do scikit-learn's path in this process and print its seconds."""
    X, y = classes(ROWS, COLUMNS, K)
    alphas = penalties(X, y, K)
    solver = "liblinear" if K == 2 else "saga"
    model = Theirs(l1_ratio=1.0, solver=solver, fit_intercept=False, max_iter=1000)
    model.set_params(warm_start=K > 2)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for alpha in alphas:
            model.set_params(C=1 / (alpha * len(y))).fit(X, y)
    print(time.perf_counter() - start)


def lasso_path(K) -> Iterator[Result]:
    X, y = classes(ROWS, COLUMNS, K)
    alphas = penalties(X, y, K)
    frame = {"fit_intercept": False, "standardize": False, "l1_ratio": 1.0, "select": "bic"}
    model = LogisticRegression(alpha="auto", alphas=alphas, tol=GAP, **frame)

    def ours():
        return model.fit(X, y)

    found = ours().path_.coef
    seconds = in_turns({"ours": ours}, repeats=3)["ours"]
    case = f"logistic lasso, path of 100 penalties, {ROWS:,} x {COLUMNS}, {K} classes"

    def objectives(coef):
        coef = coef.reshape(len(alphas), -1, COLUMNS)
        return np.array([
            log_loss(X, y, each, 0.0) + alpha * np.abs(each).sum()
            for alpha, each in zip(alphas, coef, strict=True)
        ])  # fmt: skip

    if has_r("glmnet"):
        with exchange(X=X, y=y, alphas=alphas) as folder:
            family = "binomial" if K == 2 else "multinomial"
            theirs = run_peer("glmnet_logistic.R", folder, family, 3)
            coef = np.fromfile(folder / "coef.bin").reshape(-1, len(alphas), COLUMNS)
        gap = np.max(objectives(found) - objectives(coef.transpose(1, 0, 2)))
        yield Result(
            case,
            "R glmnet",
            seconds,
            theirs,
            bar=1,
            accuracy=f"our objective is above theirs by {gap:.0e} at most",
        )
    code = f"from benchmarks.classify_logistic import loop_of_scikit_learn as f; f({K})"
    printed = bounded([sys.executable, "-c", code], PATIENCE)
    solver = "liblinear" if K == 2 else "saga, warm started"
    yield Result(
        case,
        f"a loop of scikit-learn ({solver})",
        seconds,
        PATIENCE if printed is None else float(printed.strip().splitlines()[-1]),
        bar=5,
        accuracy=f"our relative duality gap is at most {model.gap_path_.max():.0e}",
        stopped=printed is None,
    )


def folds_of(X, y):
    return list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))


def theirs_cross_validated(ratio) -> None:
    """Do scikit-learn's cross-validation in this process; print its errors and seconds."""
    X, y = classes(ROWS, COLUMNS, 2)
    alphas = grid(X, y, ratio)
    solver = "lbfgs" if ratio == 0 else "saga"
    model = LogisticRegressionCV(
        Cs=1 / (alphas * len(y)), cv=folds_of(X, y), l1_ratios=(ratio,), solver=solver,
        scoring="accuracy", max_iter=1000, n_jobs=-1, use_legacy_attributes=False,
    )  # fmt: skip
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    print(*(1 - np.ravel(np.mean(model.scores_, axis=0))))
    print(seconds)


def grid(X, y, ratio):
    top = penalties(X, y, 2)[0] / max(ratio, 1e-3)
    return top * np.logspace(0, -3, 100)


def cross_validated(ratio) -> Result:
    X, y = classes(ROWS, COLUMNS, 2)
    alphas, folds = grid(X, y, ratio), folds_of(X, y)
    # Penalties as scikit-learn has them: it leaves the intercept free and the inputs as they are.
    model = LogisticRegression(l1_ratio=ratio, standardize=False, tol=GAP)

    def ours():
        return model.path(X, y, values=alphas, cv=folds)

    curve = ours()
    seconds = in_turns({"ours": ours}, repeats=3)["ours"]
    code = f"from benchmarks.classify_logistic import theirs_cross_validated as f; f({ratio})"
    printed = bounded([sys.executable, "-c", code], PATIENCE)
    accuracy = f"one_se picks alpha = {curve.values[curve.best('one_se')]:.3g}"
    if printed is not None:
        errors, taken = printed.strip().splitlines()[-2:]
        apart = np.max(
            np.abs(np.array(errors.split(), dtype=float) - curve.fold_error.mean(axis=0))
        )
        accuracy += f"; errors of all penalties agree to {apart:.0e}"
    kind = "ridge" if ratio == 0 else "lasso"
    return Result(
        f"logistic {kind}, 10-fold path of 100 penalties with one-SE, {ROWS:,} x {COLUMNS}",
        f"scikit-learn LogisticRegressionCV ({'lbfgs' if ratio == 0 else 'saga'}, n_jobs=-1)",
        seconds,
        PATIENCE if printed is None else float(taken),
        bar=5,
        accuracy=accuracy,
        stopped=printed is None,
    )
