"""Smoothing splines, loess and local regression against R, scipy and statsmodels.

``run(scale=0.02)`` goes through all of it on a fiftieth of the rows, to see that it works.
"""

import sys
import time
from collections.abc import Iterator

import numpy as np
from scipy.interpolate import make_smoothing_spline

from benchmarks.measure import Result, bounded, cold_seconds, in_new_process, in_turns
from benchmarks.processes import exchange, has_r, run_peer, run_peer_within
from bottega.smooth import LocalRegression, Loess, SmoothingSpline, binned_curve

NOISE = 0.3
SPAN = 0.1
_LONG = 300  # seconds after which a peer is stopped


def run(scale: float = 1.0) -> Iterator[Result]:
    """Yield every row; `scale` shrinks all numbers of rows alike."""

    def rows(n):
        return max(int(n * scale), 300)

    yield from splines_against_scipy(rows(10_000))
    if has_r():
        yield spline_against_r(rows(100_000), all_knots=True)
        yield spline_against_r(rows(100_000), all_knots=False)
    yield spline_slope([rows(n) for n in (100_000, 1_000_000, 10_000_000)])
    yield from loess_direct(rows(10_000))
    if has_r():
        yield loess_blended(rows(10_000))
        yield loess_exact_statistics(rows(10_000))
    yield loess_spans(rows(10_000), 20)
    yield loess_memory(rows(1_000_000))
    yield local_path(rows(20_000), 30)
    yield local_binned(rows(1_000_000))
    if has_r("KernSmooth"):
        yield local_against_locpoly(rows(1_000_000), 401)


def truth(x):
    return np.sin(4 * np.pi * x) + np.exp(-50 * (x - 0.6) ** 2)


def sample(n):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=n)
    return x[:, None], truth(x) + NOISE * rng.normal(size=n)


def rmse(fitted, X):
    """Return the distance of a curve to the known truth."""
    return float(np.sqrt(np.mean((fitted - truth(X[:, 0])) ** 2)))


# ---- smoothing splines --------------------------------------------------------------------------


def splines_against_scipy(n) -> Iterator[Result]:
    X, y = sample(n)
    order = np.argsort(X[:, 0])
    x, y = X[order, 0], y[order]
    X = x[:, None]

    def ours():
        return SmoothingSpline(knots="all").fit(X, y)

    mine = ours()
    same = np.abs(
        make_smoothing_spline(x, y, lam=1e-4)(x)
        - SmoothingSpline(1e-4, knots="all").fit(X, y).predict(X)
    ).max()
    said = ""
    for name, unit in (("[0, 1]", 1.0), ("[0, n/10]", n / 10), ("[0, n]", float(n))):

        def theirs(unit=unit):
            return make_smoothing_spline(unit * x, y)

        try:
            peer = rmse(theirs()(unit * x), X)
        except ValueError:  # no answer, so nothing to time
            said += f"; with x in {name} scipy fails as ill-posed"
            continue
        medians = in_turns({"ours": ours, "theirs": theirs}, repeats=3)
        yield Result(
            f"smoothing spline, GCV, all knots, n = {n:,}",
            f"scipy make_smoothing_spline, x in {name}",
            medians["ours"],
            medians["theirs"],
            bar=10,
            accuracy=(
                f"RMSE to the true curve {rmse(mine.predict(X), X):.4f} against {peer:.4f}; at "
                f"lam = 1e-4 the curves differ by {same:.1e}{said}"
            ),
            cold=cold_seconds(
                f"from benchmarks.smooth import SmoothingSpline, sample\nX, y = sample({n})",
                "SmoothingSpline(knots='all').fit(X, y)",
            ),
        )


def spline_against_r(n, all_knots) -> Result:
    X, y = sample(n)
    knots = "all" if all_knots else "auto"

    def ours():
        return SmoothingSpline(knots=knots).fit(X, y)

    mine = ours()
    seconds = in_turns({"ours": ours}, repeats=3)["ours"]
    with exchange(X=X, y=y) as folder:
        theirs = run_peer("smooth_spline.R", folder, "TRUE" if all_knots else "FALSE", 3)
        fitted = np.fromfile(folder / "pred.bin")
        df = float((folder / "df.txt").read_text())
    return Result(
        f"smoothing spline, GCV, {'all knots' if all_knots else 'default knots'}, n = {n:,}",
        f"R smooth.spline(all.knots={str(all_knots).upper()})",
        seconds,
        theirs,
        bar=1,
        accuracy=(
            f"RMSE to the true curve {rmse(mine.predict(X), X):.4f} against {rmse(fitted, X):.4f}; "
            f"df {mine.df_:.1f} against {df:.1f}"
        ),
    )


def spline_slope(sizes) -> Result:
    """Fit all sizes and take the slope of log seconds on log rows."""
    SmoothingSpline(knots="all").fit(*sample(500))  # compiled kernels are read once
    taken, errors = [], []
    for n in sizes:
        X, y = sample(n)
        start = time.perf_counter()
        model = SmoothingSpline(knots="all").fit(X, y)
        taken.append(time.perf_counter() - start)
        errors.append(rmse(model.smoother_.fitted, X))
        del model
    slope = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
    each = ", ".join(
        f"{n:,}: {seconds:.2g} s, RMSE {error:.1e}"
        for n, seconds, error in zip(sizes, taken, errors, strict=True)
    )
    return Result(
        f"growth of the cost of a smoothing spline, GCV, all knots, to n = {sizes[-1]:,}",
        "limit of a slope of 1.1",
        float(slope),
        1.1,
        bar=1,
        accuracy=each,
        unit="",
        limit=True,
    )


# ---- loess --------------------------------------------------------------------------------------


def loess_direct(n) -> Iterator[Result]:
    from statsmodels.nonparametric.smoothers_lowess import lowess

    X, y = sample(n)

    def ours(degree):
        return Loess(SPAN, degree=degree, surface="direct", statistics="plain").fit(X, y)

    def statsmodels():
        return lowess(y, X[:, 0], frac=SPAN, it=0, delta=0.0, return_sorted=False)

    gap = np.abs(ours(1).smoother_.fitted - statsmodels()).max()
    medians = in_turns({"ours": lambda: ours(1), "theirs": statsmodels}, repeats=3)
    yield Result(
        f"loess, degree 1, span {SPAN}, direct at all points, n = {n:,}",
        "statsmodels lowess(it=0, delta=0)",
        medians["ours"],
        medians["theirs"],
        bar=3,
        accuracy=f"largest difference of the curves {gap:.1e}; ours gives leverages too",
    )
    if not has_r():
        return
    mine = ours(2)
    seconds = in_turns({"ours": lambda: ours(2)}, repeats=3)["ours"]
    with exchange(X=X, y=y) as folder:
        theirs = run_peer("loess.R", folder, SPAN, 2, "direct", 3)
        gap = np.abs(mine.smoother_.fitted - np.fromfile(folder / "pred.bin")).max()
    yield Result(
        f"loess, degree 2, span {SPAN}, direct at all points, n = {n:,}",
        "R loess(surface='direct', statistics='none')",
        seconds,
        theirs,
        bar=3,
        accuracy=f"largest difference of the curves {gap:.1e}; ours gives leverages too",
        cold=cold_seconds(
            f"from benchmarks.smooth import SPAN, Loess, sample\nX, y = sample({n})",
            "Loess(SPAN, surface='direct', statistics='plain').fit(X, y)",
        ),
    )


def loess_blended(n) -> Result:
    X, y = sample(n)

    def ours():
        return Loess(SPAN, surface="interpolate").fit(X, y)

    mine = ours()
    seconds = in_turns({"ours": ours}, repeats=5)["ours"]
    with exchange(X=X, y=y) as folder:
        theirs = run_peer("loess.R", folder, SPAN, 2, "default", 5)
        gap = np.abs(mine.smoother_.fitted - np.fromfile(folder / "pred.bin")).max()
    return Result(
        f"loess, degree 2, span {SPAN}, interpolated, n = {n:,}",
        "R loess, as it comes",
        seconds,
        theirs,
        bar=1,
        accuracy=(
            f"largest difference of the curves {gap:.1e}, {gap / np.ptp(y):.1e} of the range of y"
        ),
    )


def loess_exact_statistics(n) -> Result:
    """Standard errors at all points, tr S and both deltas, exactly."""
    X, y = sample(n)

    def ours():
        model = Loess(SPAN, surface="direct", statistics="exact").fit(X, y)
        return model, model.predict(X, return_std=True)[1]

    model, error = ours()
    seconds = in_turns({"ours": ours}, repeats=1)["ours"]
    with exchange(X=X, y=y) as folder:
        theirs = run_peer_within(_LONG, "loess.R", folder, SPAN, 2, "exact", 1)
        said = "R was stopped"
        if theirs is not None:
            gap = np.abs(error / np.fromfile(folder / "se.bin") - 1).max()
            theirs_ = np.array((folder / "deltas.txt").read_text().split(), dtype=float)
            mine = [model.statistics_[name] for name in ("trace", "one_delta", "two_delta")]
            said = (
                f"standard errors within {gap:.1e}, trace and deltas within "
                f"{np.abs(mine / theirs_ - 1).max():.1e} of R's"
            )
    return Result(
        f"loess, exact standard errors, trace and deltas, span {SPAN}, n = {n:,}",
        "R loess(surface='direct', statistics='exact')",
        seconds,
        _LONG if theirs is None else theirs,
        bar=1,
        accuracy=f"{said}; ours makes no n x n matrix",
        stopped=theirs is None,
    )


def loess_spans(n, count) -> Result:
    X, y = sample(n)
    curve = Loess(surface="direct", n_spans=count).path(X, y)

    def path():
        return Loess(surface="direct").path(X, y, values=curve.values)

    def plain():
        for span in curve.values:
            Loess(float(span), surface="direct", statistics="plain").fit(X, y)

    medians = in_turns({"path": path, "plain": plain}, repeats=1)
    return Result(
        f"loess, span by exact leave-one-out among {count}, n = {n:,}",
        f"limit of {count} plain fits at the same spans",
        medians["path"],
        medians["plain"],
        bar=1,
        accuracy=f"picks {curve.values[curve.best('min')]:.3g} (min), "
        f"{curve.values[curve.best('one_se')]:.3g} (one SE)",
        limit=True,
    )


def loess_memory(n) -> Result:
    code = (
        "import re\n"
        "from benchmarks.smooth import SPAN, Loess, sample\n"
        f"X, y = sample({n})\n"
        "Loess(SPAN).fit(X, y)\n"
        "status = open('/proc/self/status').read()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1024)"
    )
    return Result(
        f"peak memory of loess on {n:,} rows, the whole process",
        "limit of 2,000 MB",
        float(in_new_process(code)),
        2_000.0,
        bar=1,
        accuracy="-",
        unit="MB",
        limit=True,
    )


# ---- local regression ---------------------------------------------------------------------------


def local_path(n, count) -> Result:
    X, y = sample(n)
    curve = LocalRegression(method="exact", n_bandwidths=count).path(X, y)
    middle = float(curve.values[count // 2])

    def path():
        return LocalRegression(method="exact").path(X, y, values=curve.values)

    def plain():
        return LocalRegression(middle, method="exact").fit(X, y)

    medians = in_turns({"path": path, "plain": plain}, repeats=1)
    return Result(
        f"local linear regression, path of {count} bandwidths with exact leave-one-out, n = {n:,}",
        f"limit of 40 plain fits at the middle bandwidth, {middle:.3g}",
        medians["path"],
        40 * medians["plain"],
        bar=1,
        accuracy=f"picks {curve.values[curve.best('min')]:.3g} (min)",
        limit=True,
    )


def local_binned(n, bandwidth=0.02) -> Result:
    X, y = sample(n)

    def ours():
        return LocalRegression(bandwidth, method="binned").fit(X, y)

    model = ours()
    seconds = in_turns({"ours": ours}, repeats=3)["ours"]
    # The exact fit meets every row from every row: it gets sixty times as long.
    code = (
        "import time\n"
        "from benchmarks.smooth import LocalRegression, sample\n"
        f"X, y = sample({n})\n"
        f"LocalRegression({bandwidth}, method='exact').fit(X[:500], y[:500])\n"
        "start = time.perf_counter()\n"
        f"LocalRegression({bandwidth}, method='exact').fit(X, y)\n"
        "print(time.perf_counter() - start)"
    )
    most = max(60 * seconds, 20.0)
    printed = bounded([sys.executable, "-c", code], most + 10)
    points = np.linspace(0.01, 0.99, 50)
    exact = [_local_line(X[:, 0], y, point, bandwidth) for point in points]
    gap = np.abs(model.predict(points[:, None]) - exact).max()
    within = "yes" if gap <= model.binning_error_ else "**no**"
    return Result(
        f"binned local linear regression, n = {n:,}",
        "the same, exact",
        seconds,
        most if printed is None else float(printed.strip().splitlines()[-1]),
        bar=50,
        accuracy=(
            f"error at 50 points {gap:.1e}, stated {model.binning_error_:.1e}; within: {within}"
        ),
        stopped=printed is None,
    )


def _local_line(x, y, point, bandwidth):
    """Return the local line at a point by the closed form."""
    t = x - point
    w = np.exp(-0.5 * (t / bandwidth) ** 2)
    a0, a1, a2 = w.mean(), (w * t).mean(), (w * t * t).mean()
    return np.mean((a2 - a1 * t) * w * y) / (a2 * a0 - a1**2)


def local_against_locpoly(n, grid, bandwidth=0.02) -> Result:
    X, y = sample(n)
    x = X[:, 0]

    def ours():
        return binned_curve(x, y, bandwidth, n_bins=grid)[1]

    def fit():
        return LocalRegression(bandwidth, method="binned", n_bins=grid).fit(X, y)

    mine = ours()
    fit()
    medians = in_turns({"ours": ours, "fit": fit}, repeats=5)
    with exchange(X=X, y=y) as folder:
        theirs = run_peer("locpoly.R", folder, bandwidth, grid, 5)
        gap = np.abs(mine - np.fromfile(folder / "pred.bin")).max()
    return Result(
        f"binned local linear curve on {grid} grid points, n = {n:,}",
        "KernSmooth locpoly",
        medians["ours"],
        theirs,
        bar=1,
        accuracy=(
            f"largest difference of the curves {gap:.1e}; LocalRegression.fit, with fitted values, "
            f"leverages and leave-one-out of every row, takes {medians['fit']:.2g} s"
        ),
    )
