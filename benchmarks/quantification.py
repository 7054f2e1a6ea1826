"""Proportions of classes against QuaPy, and how often their intervals cover.

``python -m benchmarks quantification`` draws texts with all mixtures of the classes (QuaPy's
artificial-prevalence protocol) and compares the mean absolute error of the default with that of
QuaPy's best method on the same texts, at its default classifier (scikit-learn's logistic
regression). Texts are generated, with a vocabulary of their own for each seed, and those of
``BENCHMARK_REVIEWS``, a folder with the snippets that come with VADER (Hutto and Gilbert 2014, in
the sources of vaderSentiment on PyPI). Then it counts how often 95 % intervals cover where the
proportions have shifted.

``python -m benchmarks.quantification error`` and ``coverage`` print all methods on generated texts.
Intervals and defaults were chosen on seeds below 10,000; these start there.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from time import perf_counter

import numpy as np
from scipy import sparse

from benchmarks.measure import Result
from bottega.text import AggregateProportions

TAGGED, SAMPLE, REPEATS = 1000, 200, 2
EVEN = "the same share for each class"
FIRST = 10_000  # of the seeds
MIXED = [0.5, 0.3, 0.2]  # shares of the classes among the tagged texts
REVIEWS = {  # files of snippets, and the scores between which a class ends
    "movieReviewSnippets": [0],
    "amazonReviewSnippets": [0],
    "tweets": [-0.5, 0.5],
    "nytEditorialSnippets": [-0.5, 0.5],
}
OURS = ("adjusted_em", "em", "probabilistic_adjusted_count", "adjusted_count", "inversion")


def generated(n, shares, rng, p=400, seed=0):
    """Return a stem matrix of short texts on two correlated moods, and their classes.

    The seed is that of the vocabulary: how often each class uses each of p stems.
    """
    fixed = np.random.default_rng(seed)
    base = fixed.normal(-3.5, 0.8, p)
    chance = base + fixed.normal(0, 0.7, (len(shares), p)) * (fixed.random(p) < 0.4)
    together = fixed.normal(0, 0.5, (2, p))
    codes = rng.choice(len(shares), n, p=shares)
    z = chance[codes] + rng.normal(size=(n, 2)) @ together
    return sparse.csr_matrix((rng.random(z.shape) < 1 / (1 + np.exp(-z))).astype(float)), codes


def read(path, cuts, rng):
    """Return stem matrices and classes of tagged texts, and of all others.

    A line of the file is a number, a score and a text; scores between the cuts are the classes.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    with open(path, encoding="latin-1") as file:
        rows = [line.rstrip("\n").split("\t", 2) for line in file]
    codes = np.digitize([float(row[1]) for row in rows], cuts)
    order = rng.permutation(len(rows))
    tagged, rest = order[:TAGGED], order[TAGGED:]
    words = CountVectorizer(binary=True, min_df=3)
    S = words.fit_transform([rows[i][2] for i in tagged]).astype(float)
    return S, codes[tagged], words.transform([rows[i][2] for i in rest]).astype(float), codes[rest]


def run() -> Iterator[Result]:
    yield error_of_default("generated texts", errors(20, methods=OURS[:1]))
    if folder := os.environ.get("BENCHMARK_REVIEWS"):
        for name, cuts in REVIEWS.items():
            path = os.path.join(folder, f"{name}_GroundTruth.txt")
            found = errors(8, lambda rng, path=path, cuts=cuts: read(path, cuts, rng), OURS[:1])
            yield error_of_default(f"{name}, {len(cuts) + 1} classes", found)
    for n, N, unread in (
        (500, 500, [0.15, 0.25, 0.6]),
        (1000, 2000, [0.15, 0.25, 0.6]),
        (1000, 2000, [0.02, 0.08, 0.9]),
    ):
        covered, _, _ = covering("adjusted_em", n, N, unread, 600)
        _, _, off = covering("count", n, N, unread, 30)
        miss = abs(covered.mean() - 0.95)
        yield Result(
            f"coverage of 95 % intervals, {n:,} tagged texts {MIXED}, {N:,} unread {unread}",
            "three points off 0.95", 100 * miss, 3, 1,
            f"coverage {covered.mean():.3f} (SE {standard_error(covered):.3f}); counting is off by "
            f"{100 * np.abs(off.mean(axis=0)).max():.0f} points",
            unit="points", limit=True,
        )  # fmt: skip


def error_of_default(what, found) -> Result:
    """Compare the default with the peer's method whose error is least in this very run."""
    off = {name: each for name, (each, _) in found.items()}
    best = min((name for name in off if "QuaPy" in name), key=lambda name: off[name].mean())
    ours = off[f"bottega {OURS[0]}"]
    gap = ours - off[best]
    seconds = {name: taken for name, (_, taken) in found.items()}
    return Result(
        f"mean absolute error of proportions, {ours.size:,} mixtures of {what}",
        f"{best}, the best of six methods", ours.mean(), off[best].mean(), 1,
        f"difference {gap.mean():+.5f} (SE {standard_error(gap):.5f}); {EVEN} would be off by "
        f"{off[EVEN].mean():.3f}; a fit takes {seconds[f'bottega {OURS[0]}']:.2g} s against "
        f"{seconds[best]:.2g}",
        unit="", limit=True,
    )  # fmt: skip


def standard_error(found):
    """Return the standard error of the mean of what independent samples gave (first axis)."""
    each = found.reshape(len(found), -1).mean(axis=1)
    return each.std(ddof=1) / np.sqrt(len(each))


def errors(seeds, texts=None, methods=OURS):
    """Return the absolute errors of methods by seed and mixture, and seconds of a fit.

    `texts` makes stem matrices and classes of tagged and other texts; by default some generated.
    """
    from quapy.data import LabelledCollection
    from quapy.method import aggregative
    from quapy.protocol import APP
    from sklearn.linear_model import LogisticRegression

    warnings.filterwarnings("ignore")
    found, seconds = {}, {EVEN: 0.0}
    for seed in range(FIRST, FIRST + int(seeds)):
        rng = np.random.default_rng(seed)
        if texts is None:
            S, D = generated(TAGGED, MIXED, rng, seed=seed)
            rest, truth = generated(6000, [0.34, 0.33, 0.33], rng, seed=seed)
        else:
            S, D, rest, truth = texts(rng)
        models = {f"bottega {name}": AggregateProportions(name) for name in methods}
        for name in ("CC", "ACC", "PACC", "EMQ", "KDEyML"):
            models[f"QuaPy {name}"] = getattr(aggregative, name)(LogisticRegression(max_iter=2000))
        bcts = aggregative.EMQ.EMQ_BCTS(LogisticRegression(max_iter=2000))
        models["QuaPy EMQ_BCTS"] = bcts
        for name, model in models.items():
            start = perf_counter()
            model.fit(S, D)
            seconds[name] = seconds.get(name, 0.0) + (perf_counter() - start) / int(seeds)
        rows = LabelledCollection(np.arange(len(truth)), truth)
        K = len(np.unique(truth))
        grid = {"n_prevalences": 11, "repeats": REPEATS} if K == 3 else {"n_prevalences": 101}
        for sample, shares in APP(rows, SAMPLE, random_state=seed, **grid)():
            found.setdefault(EVEN, []).append(np.abs(1 / K - shares).mean())
            for name, model in models.items():
                off = np.abs(np.asarray(model.predict(rest[sample])) - shares).mean()
                found.setdefault(name, []).append(off)
    return {
        name: (np.reshape(each, (int(seeds), -1)), seconds[name]) for name, each in found.items()
    }


def error(seeds=4):
    """Print mean absolute errors over all mixtures."""
    found = errors(seeds)
    print(f"{'':38}mean absolute error  (its standard error)  seconds of a fit")
    for name, (off, seconds) in sorted(found.items(), key=lambda item: np.mean(item[1][0])):
        spread = standard_error(off)
        print(f"{name:38}{np.mean(off):19.4f}  {spread:20.4f}  {seconds:16.2f}")


def covering(method, n, N, unread, samples):
    """Return whether intervals cover, (samples, 3), their widths, and by how much they are off."""
    covered, width, off = [], [], []
    for seed in range(FIRST, FIRST + samples):
        rng = np.random.default_rng(seed)
        S, D = generated(n, MIXED, rng, p=80, seed=seed)
        model = AggregateProportions(method).fit(S, D)
        found = model.proportions(generated(N, unread, rng, p=80, seed=seed)[0])
        low, high = found.interval
        covered.append((low[0] <= unread) & (unread <= high[0]))
        width.append((high - low)[0])
        off.append(found.estimate[0] - unread)
    return np.array(covered), np.array(width), np.array(off)


def coverage(samples=200):
    """Print the coverage of intervals where the proportions of the unread texts are others."""
    print("tagged  unread  method                          coverage  mean width  largest bias")
    for n, N in ((500, 500), (1000, 2000)):
        for method in (*OURS, "least_squares", "count"):
            covered, width, off = covering(method, n, N, [0.15, 0.25, 0.6], int(samples))
            bias = np.abs(off.mean(axis=0)).max()
            print(
                f"{n:6}  {N:6}  {method:30}  {covered.mean():8.3f}  {width.mean():10.3f}  "
                f"{bias:12.3f}",
                flush=True,
            )


if __name__ == "__main__":
    {"error": error, "coverage": coverage}[sys.argv[1]](*sys.argv[2:])
