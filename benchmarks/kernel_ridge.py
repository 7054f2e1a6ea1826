"""The path of kernel ridge regression with exact leave-one-out, against a grid search."""

from collections.abc import Iterator

import numpy as np
from sklearn.kernel_ridge import KernelRidge as ScikitLearns
from sklearn.model_selection import GridSearchCV

from benchmarks.measure import Result, cold_seconds, in_turns
from bottega.kernel import KernelRidge


def run() -> Iterator[Result]:
    yield path(4_000, 20, bar=20, repeats=1)
    yield single(4_000, 20, bar=0.3, repeats=3)


def rows(n, p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


def path(n, p, bar, repeats) -> Result:
    """Fifty penalties: ours judges each by all n rows left out, the peer by five folds."""
    X, y = rows(n, p)
    alphas, gamma = np.logspace(2, -3, 50), 1 / p
    given = {"gamma": gamma, "fit_intercept": False, "approximation": None}

    def ours():
        return KernelRidge(**given).path(X, y, values=alphas)

    def theirs():
        model = ScikitLearns(kernel="rbf", gamma=gamma)
        scoring = "neg_mean_squared_error"
        return GridSearchCV(model, {"alpha": alphas}, scoring=scoring).fit(X, y)

    KernelRidge(**given).path(X[:400], y[:400], values=alphas)
    kept = {}
    medians = in_turns(
        {
            "ours": lambda: kept.update(ours=ours()),
            "theirs": lambda: kept.update(theirs=theirs()),
        },
        repeats,
    )
    curve, found = kept["ours"], kept["theirs"]
    best = curve.best("min")
    left = [left_out(X, y, curve.values[best], gamma, i) for i in (0, n // 2)]
    at = curve.at(best)
    off = max(abs(at.loo_residuals_[i] - one) for i, one in zip((0, n // 2), left, strict=True))
    cold = cold_seconds(
        "import numpy as np\nfrom bottega.kernel import KernelRidge\n"
        f"X = np.random.default_rng(0).normal(size=({n}, {p}))\ny = X[:, 0]",
        "KernelRidge(approximation=None).path(X, y)",
    )
    return Result(
        f"kernel ridge (rbf), 50 alphas with exact LOO, {n:,} x {p}",
        "scikit-learn GridSearchCV(KernelRidge), 5 folds",
        medians["ours"],
        medians["theirs"],
        bar=bar,
        accuracy=(
            f"alpha {curve.values[best]:.4g} against {found.best_params_['alpha']:.4g}, error "
            f"{curve.error[best]:.4g} (leave-one-out) against {-found.best_score_:.4g} (folds); "
            f"two rows left out by refits: {off:.0e}"
        ),
        cold=cold,
    )


def left_out(X, y, alpha, gamma, i):
    others = np.delete(np.arange(len(y)), i)
    model = ScikitLearns(alpha=alpha, kernel="rbf", gamma=gamma).fit(X[others], y[others])
    return y[i] - model.predict(X[[i]])[0]


def single(n, p, bar, repeats) -> Result:
    """One penalty; ours computes every leverage too, which is two thirds of its work."""
    X, y = rows(n, p)
    given = {"gamma": 1 / p, "fit_intercept": False, "approximation": None}
    ours = KernelRidge(0.1, **given)
    theirs = ScikitLearns(alpha=0.1, kernel="rbf", gamma=1 / p)
    medians = in_turns(
        {"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)}, repeats
    )
    gap = np.max(np.abs(ours.dual_coef_ - theirs.dual_coef_))
    return Result(
        f"kernel ridge (rbf), one alpha with df and exact LOO, {n:,} x {p}",
        "scikit-learn KernelRidge, without either",
        medians["ours"],
        medians["theirs"],
        bar=bar,
        accuracy=f"coefficients differ by {gap:.0e}",
    )
