"""Reference numbers for probabilistic PCA with missing values: scipy's general-purpose minimiser.

The likelihood of every row is scipy's multivariate normal density of its observed coordinates; its
maximum is searched by BFGS with numerical gradients from several starts. Run with
``python tests/reference/latent/ppca_missing.py``; writes ppca_missing.json beside this script.
"""

import json
import sys
from pathlib import Path

import numpy as np
import scipy
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

rng = np.random.default_rng(5)
n, p = 40, 4
X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + [1.0, -2.0, 0.5, 3.0]
X = (X + 0.6 * rng.normal(size=(n, p))).round(3)
gone = rng.random(X.shape) < 0.3
gone[np.arange(n), rng.integers(p, size=n)] = False
X[gone] = np.nan


def minus(theta, K):
    W = theta[: p * K].reshape(p, K)
    mean, noise = theta[p * K : -1], np.exp(theta[-1])
    C = W @ W.T + noise * np.eye(p)
    total = 0.0
    for row in X:
        o = np.flatnonzero(~np.isnan(row))
        total -= multivariate_normal(mean[o], C[np.ix_(o, o)]).logpdf(row[o])
    return total


fits = []
for K in (1, 2):
    best = None
    for _ in range(3):
        start = np.concatenate([rng.normal(size=p * K), np.nanmean(X, axis=0), [0.0]])
        found = minimize(minus, start, args=(K,), method="BFGS", options={"gtol": 1e-6})
        found = minimize(minus, found.x, args=(K,), method="BFGS", options={"gtol": 1e-7})
        best = found if best is None or found.fun < best.fun else best
    W = best.x[: p * K].reshape(p, K)
    fits.append(
        {
            "K": K,
            "log_likelihood": -best.fun,
            "mean": best.x[p * K : -1].tolist(),
            "noise": float(np.exp(best.x[-1])),
            "covariance": (W @ W.T + np.exp(best.x[-1]) * np.eye(p)).tolist(),
        }
    )
answer = {
    "script": "tests/reference/latent/ppca_missing.py",
    "versions": {"python": sys.version.split()[0], "scipy": scipy.__version__},
    "calls": ["minimize(minus log-likelihood, BFGS)", "multivariate_normal(mean, C).logpdf"],
    "seed": 5,
    "X": [[None if np.isnan(x) else x for x in row] for row in X],
    "fits": fits,
}
Path(__file__).with_suffix(".json").write_text(json.dumps(answer, indent=1))
