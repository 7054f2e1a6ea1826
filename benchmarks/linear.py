"""Best subsets, recursive least squares, and the memory of least squares."""

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.lasso import sparse_truth
from benchmarks.measure import Result, in_new_process, in_turns
from benchmarks.processes import exchange, has_r, run_peer
from bottega.linear import RecursiveLeastSquares, SubsetSelection


def run() -> Iterator[Result]:
    yield from best_subsets()
    yield from recursive()
    yield memory()


def best_subsets() -> Iterator[Result]:
    for p, limit in ((30, None), (20, 0.2)):
        X, y = sparse_truth(1_000, p)

        def ours(X=X, y=y):
            return SubsetSelection(10).fit(X, y)  # finds the best subset of every size

        found = ours()
        seconds = in_turns({"ours": ours}, repeats=5)["ours"]
        if limit is not None:
            yield Result(
                f"best subset of every size, 1,000 x {p}",
                f"limit of {limit} s",
                seconds,
                limit,
                bar=1,
                accuracy="-",
                limit=True,
            )
        elif has_r():
            with exchange(X=X, y=y) as folder:
                theirs = run_peer("leaps_subsets.R", folder, 5)
                rss = np.fromfile(folder / "rss.bin")
            gap = np.max(np.abs(np.asarray(found.rss_)[1:] / rss - 1))
            yield Result(
                f"best subset of every size, 1,000 x {p}",
                "R leaps::regsubsets",
                seconds,
                theirs,
                bar=1,
                accuracy=f"residual sums of squares of all sizes agree to {gap:.0e}",
            )


def recursive() -> Iterator[Result]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 10))
    y = X.sum(axis=1) + rng.normal(size=len(X))

    def in_blocks():
        model = RecursiveLeastSquares()
        for start in range(0, len(X), 10_000):
            model.partial_fit(X[start : start + 10_000], y[start : start + 10_000])
        return model

    def row_by_row():
        return RecursiveLeastSquares().partial_fit(X, y, row_by_row=True)

    batch = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0]
    gap = np.max(np.abs(in_blocks().coef_ - batch[1:]))
    medians = in_turns({"blocks": in_blocks, "rows": row_by_row}, repeats=3)
    yield Result(
        "recursive least squares in blocks of 10,000, p = 10",
        "a million rows a second",
        medians["blocks"],
        len(X) / 1_000_000,
        bar=1,
        accuracy=f"coefficients within {gap:.0e} of a batch fit; rows a second "
        f"{len(X) / medians['blocks']:.2g}",
    )
    for name, model in _river_models().items():
        rate = _river_rate(model, X[:10_000], y[:10_000])
        yield Result(
            "recursive least squares row by row, each row predicted before it is seen, "
            "1,000,000 rows, p = 10",
            f"river {name}.learn_one, at its rate over 10,000 rows",
            medians["rows"],
            len(X) / rate,
            bar=50,
            accuracy=f"rows a second {len(X) / medians['rows']:.2g} against {rate:.2g}",
        )


def _river_models():
    from river import linear_model, preprocessing

    return {
        "BayesianLinearRegression (the exact update, as ours)": (
            linear_model.BayesianLinearRegression()
        ),
        "StandardScaler and LinearRegression (gradient steps)": (
            preprocessing.StandardScaler() | linear_model.LinearRegression()
        ),
        "LinearRegression alone (gradient steps on inputs scaled beforehand)": (
            linear_model.LinearRegression()
        ),
    }


def _river_rate(model, X, y):
    rows = [dict(enumerate(row)) for row in X.tolist()]
    start = time.perf_counter()
    for row, target in zip(rows, y.tolist(), strict=True):
        model.learn_one(row, target)
    return len(X) / (time.perf_counter() - start)


def memory() -> Result:
    code = (
        "import re, numpy as np\n"
        "from bottega.linear import LeastSquares\n"
        "rng = np.random.default_rng(0)\n"
        "X = np.empty((1_000_000, 50))\n"
        "rng.standard_normal(out=X)\n"
        "LeastSquares().fit(X, X[:, 0])\n"
        "status = open('/proc/self/status').read()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) * 1024 / X.nbytes)"
    )
    return Result(
        "peak memory of LeastSquares on 1,000,000 x 50, the whole process, X included",
        "limit of 2.5 copies of X",
        float(in_new_process(code)),
        2.5,
        bar=1,
        accuracy="-",
        unit="copies",
        limit=True,
    )
