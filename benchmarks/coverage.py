"""How often intervals for a cross-validated error miss the risk: ``python -m benchmarks.coverage``.

Least squares on pure noise with standard normal inputs, so the risk of the model fitted to all rows
is known: 1 + the squared norm of its coefficients, intercept included. It prints the numbers that
the guide and the docstring of `nested_cv` quote.
"""

import numpy as np

from bottega.risk.estimate.nested_interval import nadeau_bengio, naive, nested, pairs_of

SAMPLES = 3_000
FOLDS = 5
DELTA = 0.05
SIZES = ((60, 5), (60, 20), (100, 5), (100, 20), (200, 5))


def fitted(X, y, rows):
    """Return the coefficients of least squares on some rows."""
    return np.linalg.lstsq(X[rows], y[rows], rcond=None)[0]


def partition(X, y, rng):
    """Return the losses of each fold, and of the folds left out two at a time."""
    fold = rng.permutation(np.arange(len(y)) % FOLDS)
    rows = [np.flatnonzero(fold == k) for k in range(FOLDS)]

    def losses(coefficients, k):
        return (y[rows[k]] - X[rows[k]] @ coefficients) ** 2

    alone = [losses(fitted(X, y, fold != k), k) for k in range(FOLDS)]
    inside = {}
    for i, j in pairs_of(FOLDS):
        coefficients = fitted(X, y, (fold != i) & (fold != j))
        inside[j, i], inside[i, j] = losses(coefficients, i), losses(coefficients, j)
    return alone, inside


def intervals(X, y, rng):
    """Return every interval for one sample, by name."""
    (first, in_first), (second, in_second) = partition(X, y, rng), partition(X, y, rng)
    sizes = [[len(y) - len(rows) for rows in first]]
    return {
        "naive": naive([first], DELTA),
        "nested, one partition": nested([first], [in_first], DELTA),
        "nested, two partitions": nested([first, second], [in_first, in_second], DELTA),
        "Nadeau and Bengio": nadeau_bengio([first], sizes, DELTA),
    }


def main() -> None:
    for n, p in SIZES:
        rng = np.random.default_rng(0)
        missed: dict[str, int] = {}
        width: dict[str, float] = {}
        for _ in range(SAMPLES):
            X = np.column_stack([rng.normal(size=(n, p)), np.ones(n)])
            y = rng.normal(size=n)
            b = fitted(X, y, slice(None))
            risk = 1 + b @ b
            for name, found in intervals(X, y, rng).items():
                outside = not found.lower <= risk <= found.upper
                missed[name] = missed.get(name, 0) + outside
                width[name] = width.get(name, 0.0) + found.upper - found.lower
        for name in missed:
            share, mean = 100 * missed[name] / SAMPLES, width[name] / SAMPLES
            print(f"n = {n}, p = {p}, {name}: misses {share:.1f} %, mean width {mean:.2f}")


if __name__ == "__main__":
    main()
