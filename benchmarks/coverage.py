"""How often intervals for a cross-validated error miss the risk: ``python -m benchmarks.coverage``.

Least squares on pure noise with standard normal inputs, so the risk of the model fitted to all rows
is known: 1 + the squared norm of its coefficients, intercept included. The rows come alone, with
unequal weights, or in groups of five that share half of their noise. The difference is to the mean
of the responses as a second procedure. It prints the numbers that the guide and the docstring of
`nested_cv` quote.
"""

import numpy as np

from bottega.risk.estimate.compare_errors import compare_folds
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested_interval import (
    effective_size,
    fold_means,
    mean_and_variance,
    nadeau_bengio,
    naive,
    nested,
    pairs_of,
)

SAMPLES = 3_000
FOLDS = 5
DELTA = 0.05
SIZES = ((60, 5), (60, 20), (100, 5), (100, 20), (200, 5))
GROUPED = ((200, 5, "weights"), (200, 5, "groups"))


class Sample:
    """Rows of noise, their weights and groups, and the risk of what is fitted to all of them."""

    def __init__(self, n, p, kind, rng):
        self.X = np.column_stack([rng.normal(size=(n, p)), np.ones(n)])
        self.y = rng.normal(size=n)
        weight = groups = None
        if kind == "groups":
            groups = np.repeat(np.arange(n // 5), 5)
            self.y = (self.y + rng.normal(size=n // 5)[groups]) / np.sqrt(2)
        elif kind == "weights":
            weight = rng.choice([1.0, 3.0], size=n)
        self.weight = np.ones(n) if weight is None else weight
        self.rows = JudgedRows(self.y, "regression", weight, groups)
        units = np.arange(n) if groups is None else groups
        self.unit_fold = lambda: rng.permutation(np.arange(units[-1] + 1) % FOLDS)[units]

    def fitted(self, rows):
        """Return the coefficients of least squares on some rows."""
        root = np.sqrt(self.weight[rows])
        return np.linalg.lstsq(self.X[rows] * root[:, None], self.y[rows] * root, rcond=None)[0]

    def partition(self):
        """Return losses of each fold and of the folds left out two at a time; weights; the mean's.

        The last are the losses of the mean of the responses.
        """
        fold = self.unit_fold()
        tests = [np.flatnonzero(fold == k) for k in range(FOLDS)]

        def losses(coefficients, k):
            squares = (self.y[tests[k]] - self.X[tests[k]] @ coefficients) ** 2
            return self.rows.units(tests[k], squares)

        alone = [losses(self.fitted(fold != k), k) for k in range(FOLDS)]
        inside = {}
        for i, j in pairs_of(FOLDS):
            b = self.fitted((fold != i) & (fold != j))
            inside[j, i], inside[i, j] = losses(b, i)[0], losses(b, j)[0]
        flat = np.zeros(self.X.shape[1])
        of_mean = []
        for k in range(FOLDS):
            flat[-1] = np.average(self.y[fold != k], weights=self.weight[fold != k])
            of_mean.append(losses(flat, k)[0])
        train = [
            effective_size(self.rows.unit_weights(np.flatnonzero(fold != k))) for k in range(FOLDS)
        ]
        return [a for a, _ in alone], inside, [w for _, w in alone], of_mean, train

    def intervals(self):
        """Return every interval with the truth it is for, by name."""
        first, in_first, w, of_mean, train = self.partition()
        second, in_second, w_second, _, _ = self.partition()
        b = self.fitted(slice(None))
        risk, risk_of_mean = 1 + b @ b, 1 + np.average(self.y, weights=self.weight) ** 2
        ours, shares, n_test = fold_means(first, w)
        theirs, _, _ = fold_means(of_mean, w)
        errors = float(shares @ ours), float(shares @ theirs)
        apart = np.concatenate(first) - np.concatenate(of_mean)
        usual = mean_and_variance(apart, np.concatenate(w))[1]
        gap = compare_folds(
            errors, (ours - theirs)[None], shares[None], n_test[None], np.array([train]),
            usual=usual, delta=DELTA, names=("least squares", "mean"), n=len(self.y),
        )  # fmt: skip
        return {
            "naive": (naive([first], DELTA, [w]), risk),
            "nested, one partition": (nested([first], [in_first], DELTA, [w]), risk),
            "nested, two partitions": (
                nested([first, second], [in_first, in_second], DELTA, [w, w_second]),
                risk,
            ),
            "Nadeau and Bengio": (nadeau_bengio([first], [train], DELTA, [w]), risk),
            "Nadeau and Bengio, difference": (gap, risk - risk_of_mean),
        }


def main() -> None:
    for n, p, kind in (*((n, p, "") for n, p in SIZES), *GROUPED):
        rng = np.random.default_rng(0)
        missed: dict[str, int] = {}
        width: dict[str, float] = {}
        for _ in range(SAMPLES):
            for name, (found, truth) in Sample(n, p, kind, rng).intervals().items():
                missed[name] = missed.get(name, 0) + (not found.lower <= truth <= found.upper)
                width[name] = width.get(name, 0.0) + found.upper - found.lower
        for name in missed:
            share, mean = 100 * missed[name] / SAMPLES, width[name] / SAMPLES
            case = f"n = {n}, p = {p}" + (f", {kind}" if kind else "")
            print(f"{case}, {name}: misses {share:.1f} %, mean width {mean:.2f}", flush=True)


if __name__ == "__main__":
    main()
