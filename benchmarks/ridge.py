"""The whole ridge path with exact leave-one-out, against RidgeCV."""

from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import Result, best_peer, cold_seconds, in_turns
from bottega.linear import Ridge


def run() -> Iterator[Result]:
    yield case(100_000, 50, bar=3, repeats=3)
    yield case(500, 5_000, bar=1, repeats=5)


def case(n, p, bar, repeats) -> Result:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.5 / np.sqrt(p))
    y = X[:, :10].sum(axis=1) + 3 * rng.normal(size=n)
    alphas = np.logspace(6, -2, 100)

    def ours():
        return Ridge().path(X, y, values=alphas)

    def theirs(**options):
        def call():
            return RidgeCV(alphas, **options).fit(StandardScaler().fit_transform(X), y)

        return call

    peers = {
        "RidgeCV": theirs(),
        "RidgeCV(scoring='neg_mean_squared_error')": theirs(scoring="neg_mean_squared_error"),
        "RidgeCV(gcv_mode='svd')": theirs(gcv_mode="svd"),
        "RidgeCV(gcv_mode='eigen')": theirs(gcv_mode="eigen"),
    }
    if n > 20_000:
        del peers["RidgeCV(gcv_mode='eigen')"]  # an n x n matrix: 80 GB here
    curve, fitted = ours(), theirs()()
    medians = in_turns({"ours": ours, **peers}, repeats)
    name, seconds = best_peer(medians, "ours")
    best = curve.values[curve.best("min")]
    cold = cold_seconds(
        "import numpy as np\nfrom bottega.linear import Ridge\n"
        f"X = np.random.default_rng(0).normal(size=({n}, {p}))\ny = X[:, 0]",
        "Ridge().path(X, y)",
    )
    return Result(
        f"ridge, 100 alphas with exact LOO, {n:,} x {p:,}",
        f"scikit-learn {name} (fastest of {len(peers)} variants)",
        medians["ours"],
        seconds,
        bar=bar,
        accuracy=(
            f"alpha {best:.4g} against {fitted.alpha_:.4g}, LOO error {curve.error.min():.6g} "
            f"against {-fitted.best_score_:.6g}"
        ),
        cold=cold,
    )
