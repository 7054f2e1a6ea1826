"""Additive models against R's mgcv, pyGAM and interpret's boosted one.

``run(scale=0.02)`` goes through all of it on a fiftieth of the rows, to see that it works.
"""

import sys
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.measure import (
    Result,
    bounded,
    cold_seconds,
    compared_errors,
    in_new_process,
    in_turns,
)
from benchmarks.processes import PEERS, exchange, has_r, run_peer, seconds_inside
from bottega.additive import AdditiveModel

SIZE = 20  # functions of each term, for all
_LONG = 300  # seconds after which a peer is stopped
_TEST = 20_000


def run(scale: float = 1.0) -> Iterator[Result]:
    """Yield every row; `scale` shrinks all numbers of rows alike."""
    n = max(int(100_000 * scale), 1000)
    for peer in ("pygam", "interpret"):
        if not find_spec(peer):
            print(f"{peer} is not installed: its rows are left out", file=sys.stderr)
    for family in ("gaussian", "binomial"):
        if has_r("mgcv"):
            yield against_bam(n, family)
        if find_spec("pygam"):
            yield from against_pygam(n, family)
    yield growth(n)
    if find_spec("interpret"):
        yield against_boosting(max(int(20_000 * scale), 1000))


def sample(n, family, seed=0):
    """Return rows of ten inputs, six of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 10))
    score = 2 * np.sin(2 * np.pi * X[:, 0]) + 4 * (X[:, 1] - 0.5) ** 2 + np.exp(1.5 * X[:, 2])
    score += 2 * X[:, 3] + np.cos(9 * X[:, 4]) * X[:, 4] + np.maximum(X[:, 5] - 0.6, 0) * 3
    if family == "gaussian":
        return X, score + 1.5 * rng.normal(size=n)
    chance = 1 / (1 + np.exp(-(score - 4)))
    return X, (rng.uniform(size=n) < chance).astype(float)


def losses(y, mean, family):
    if family == "gaussian":
        return (y - mean) ** 2
    mean = np.clip(mean, 1e-12, 1 - 1e-12)
    return -np.log(np.where(y == 1, mean, 1 - mean))


def ours_timed(n, family, repeats=3):
    """Return seconds of a fit, its test losses, its df, the test rows and those of the fit."""
    X, y = sample(n, family)
    new, y_new = sample(_TEST, family, seed=1)
    fit = lambda: AdditiveModel(family=family, n_splines=SIZE).fit(X, y)  # noqa: E731
    model = fit()
    seconds = in_turns({"ours": fit}, repeats)["ours"]
    return seconds, losses(y_new, model.predict(new), family), model.df_, (X, y, new, y_new)


def against_bam(n, family) -> Result:
    seconds, error, df, (X, y, new, y_new) = ours_timed(n, family)
    with exchange(X=X, y=y, new=new) as folder:
        theirs = run_peer("bam.R", folder, family, SIZE, 3)
        their_error = losses(y_new, np.fromfile(folder / "pred.bin"), family)
        their_df = float((folder / "df.txt").read_text())
    return Result(
        f"additive model, {family}, 10 smooth terms of {SIZE}, REML, {n:,} x 10",
        "R mgcv bam(discrete=TRUE)",
        seconds,
        theirs,
        bar=1,
        accuracy=f"{compared_errors(error, their_error)}; df {df:.1f} against {their_df:.1f}",
        cold=cold_seconds(
            f"from benchmarks.additive_model import *\nX, y = sample({n}, {family!r})",
            f"AdditiveModel(family={family!r}, n_splines={SIZE}).fit(X, y)",
        ),
    )


def against_pygam(n, family) -> Iterator[Result]:
    seconds, error, _, (X, y, new, y_new) = ours_timed(n, family)
    case = f"additive model, {family}, 10 smooth terms of {SIZE}, smoothing chosen, {n:,} x 10"
    with exchange(X=X, y=y, new=new) as folder:
        for how, bar in (("fit", 5), ("gridsearch", 20)):
            command = [sys.executable, str(PEERS / "pygam_fit.py"), str(folder), family, how]
            done = bounded([*command, str(SIZE), "1"], _LONG)
            what = "one given penalty" if how == "fit" else "gridsearch over 11, one for all terms"
            verdict = "it was stopped"
            if done is not None:
                their_error = losses(y_new, np.fromfile(folder / "pred.bin"), family)
                verdict = compared_errors(error, their_error)
            yield Result(
                case,
                f"pyGAM, {what}",
                seconds,
                _LONG if done is None else seconds_inside(folder),
                bar=bar,
                accuracy=verdict,
                stopped=done is None,
            )
            if how == "fit" and done is not None:
                yield memory(n, family, float((folder / "peak.txt").read_text()))


def memory(n, family, theirs) -> Result:
    """Memory of a whole process that makes the rows and fits them."""
    code = (
        "import re\nfrom benchmarks.additive_model import *\n"
        f"X, y = sample({n}, {family!r})\n"
        f"AdditiveModel(family={family!r}, n_splines={SIZE}).fit(X, y)\n"
        "status = open('/proc/self/status').read()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1024)"
    )
    return Result(
        f"additive model, {family}, {n:,} x 10: memory of the process",
        "a quarter of that of pyGAM's fit",
        float(in_new_process(code)),
        theirs / 4,
        bar=1,
        accuracy=f"pyGAM's process took {theirs:.0f} MiB",
        unit="MiB",
        limit=True,
    )


def growth(n) -> Result:
    """Ten times the rows at most eleven times the seconds."""
    small = ours_timed(n, "gaussian")[0]
    large = ours_timed(10 * n, "gaussian")[0]
    binomial = ours_timed(n, "binomial")[0]
    more = ours_timed(10 * n, "binomial")[0]
    worst = max(large / small, more / binomial)
    return Result(
        f"additive model, {n:,} to {10 * n:,} rows: seconds times",
        "11",
        worst,
        11,
        bar=1,
        accuracy=(
            f"gaussian {small:.2f} s to {large:.2f} s, binomial {binomial:.2f} s to {more:.2f} s"
        ),
        unit="times",
        limit=True,
    )


def houses(n, seed):
    """Return rows like those of the Californian districts: eight inputs, two of them a place."""
    rng = np.random.default_rng(seed)
    income, age = rng.gamma(3.5, 1.1, n), rng.integers(1, 53, n).astype(float)
    rooms, bedrooms = rng.normal(5.4, 1.2, n), rng.normal(1.1, 0.15, n)
    people, persons = rng.lognormal(7, 0.7, n), rng.lognormal(1.05, 0.25, n)
    north, west = rng.uniform(32.5, 42, n), rng.uniform(-124, -114, n)
    coast = np.exp(-np.abs(north + 0.9 * west + 72) / 1.5)
    value = 0.45 * income - 0.02 * np.maximum(income - 7, 0) ** 2 + 0.9 * coast
    value += 0.004 * (age - 25) ** 2 / 10 - 0.35 * np.log(persons) + 0.05 * rooms
    X = np.column_stack([income, age, rooms, bedrooms, people, persons, north, west])
    return X, value + 0.4 * rng.normal(size=n)


def against_boosting(n) -> Result:
    """The glass box that a data scientist would pick instead, as it comes."""
    from interpret.glassbox import ExplainableBoostingRegressor

    X, y = houses(n, 0)
    new, y_new = houses(_TEST, 1)

    def ours():
        return AdditiveModel(interactions=3, n_splines=SIZE).fit(X, y)

    def theirs():
        return ExplainableBoostingRegressor(random_state=0).fit(X, y)

    kept = {"ours": ours()}
    medians = in_turns({"ours": ours, "theirs": lambda: kept.update(theirs=theirs())}, 1)
    errors = {name: (y_new - model.predict(new)) ** 2 for name, model in kept.items()}
    return Result(
        f"additive model, up to 3 interactions found, {n:,} x 8 like Californian districts",
        "interpret ExplainableBoostingRegressor, as it comes",
        medians["ours"],
        medians["theirs"],
        bar=10,
        accuracy=compared_errors(errors["ours"], errors["theirs"]),
    )
