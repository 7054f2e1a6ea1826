"""Proportions of classes against QuaPy, and how often their intervals cover.

``python -m benchmarks.quantification error [SEEDS [FILE]]`` draws texts with all mixtures of the
classes (QuaPy's artificial-prevalence protocol) and prints the mean absolute error of the estimated
proportions. Texts are generated, or read from a FILE with tabs between a number, a score and a
text per line, of which scores below -0.5 and above 0.5 make three classes. QuaPy has scikit-learn's
logistic regression, its default. ``python -m benchmarks.quantification coverage`` prints the
coverage of 95 % intervals of every method where the proportions have shifted.
"""

import sys
import warnings
from time import perf_counter

import numpy as np
from scipy import sparse

from bottega.text import AggregateProportions

TAGGED, SAMPLE, REPEATS = 1000, 200, 2
OURS = ("adjusted_em", "em", "probabilistic_adjusted_count", "adjusted_count", "inversion")


def generated(n, shares, rng, p=400, seed=0):
    """Return a stem matrix of short texts on two correlated moods, and their classes."""
    fixed = np.random.default_rng(seed)
    base = fixed.normal(-3.5, 0.8, p)
    chance = base + fixed.normal(0, 0.7, (len(shares), p)) * (fixed.random(p) < 0.4)
    together = fixed.normal(0, 0.5, (2, p))
    codes = rng.choice(len(shares), n, p=shares)
    z = chance[codes] + rng.normal(size=(n, 2)) @ together
    return sparse.csr_matrix((rng.random(z.shape) < 1 / (1 + np.exp(-z))).astype(float)), codes


def read(path, rng):
    """Return stem matrices and classes of tagged texts, and of all others."""
    from sklearn.feature_extraction.text import CountVectorizer

    with open(path, encoding="latin-1") as file:
        rows = [line.rstrip("\n").split("\t", 2) for line in file]
    codes = np.digitize([float(row[1]) for row in rows], [-0.5, 0.5])
    order = rng.permutation(len(rows))
    tagged, rest = order[:TAGGED], order[TAGGED:]
    words = CountVectorizer(binary=True, min_df=5)
    S = words.fit_transform([rows[i][2] for i in tagged]).astype(float)
    return S, codes[tagged], words.transform([rows[i][2] for i in rest]).astype(float), codes[rest]


def error(seeds=4, path=None):
    """Print mean absolute errors over all mixtures."""
    from quapy.data import LabelledCollection
    from quapy.method import aggregative
    from quapy.protocol import APP
    from sklearn.linear_model import LogisticRegression

    warnings.filterwarnings("ignore")
    errors, seconds = {}, {}
    for seed in range(int(seeds)):
        rng = np.random.default_rng(seed)
        if path is None:
            S, D = generated(TAGGED, [0.5, 0.3, 0.2], rng)
            rest, truth = generated(6000, [0.34, 0.33, 0.33], rng)
        else:
            S, D, rest, truth = read(path, rng)
        models = {f"bottega {name}": AggregateProportions(name) for name in OURS}
        for name in ("CC", "ACC", "PACC", "EMQ", "KDEyML"):
            models[f"QuaPy {name}"] = getattr(aggregative, name)(LogisticRegression(max_iter=2000))
        bcts = aggregative.EMQ.EMQ_BCTS(LogisticRegression(max_iter=2000))
        models["QuaPy EMQ_BCTS"] = bcts
        for name, model in models.items():
            start = perf_counter()
            model.fit(S, D)
            seconds[name] = seconds.get(name, 0.0) + perf_counter() - start
        rows = LabelledCollection(np.arange(len(truth)), truth)
        for sample, shares in APP(
            rows, SAMPLE, n_prevalences=11, repeats=REPEATS, random_state=seed
        )():
            for name, model in models.items():
                off = np.abs(np.asarray(model.predict(rest[sample])) - shares).mean()
                errors.setdefault(name, []).append(off)
    print(f"{'':38}mean absolute error  (its standard error)  seconds of a fit")
    for name, found in sorted(errors.items(), key=lambda item: np.mean(item[1])):
        spread = np.std(found) / np.sqrt(len(found))
        print(
            f"{name:38}{np.mean(found):19.4f}  {spread:20.4f}  {seconds[name] / int(seeds):16.2f}"
        )


def coverage(samples=200):
    """Print the coverage of intervals where the proportions of the unread texts are others."""
    tagged, unread = [0.5, 0.3, 0.2], np.array([0.15, 0.25, 0.6])
    print("tagged  unread  method                          coverage  mean width  largest bias")
    for n, N in ((500, 500), (1000, 2000)):
        for method in (*OURS, "least_squares", "count"):
            covered, width, off = [], [], []
            for seed in range(int(samples)):
                rng = np.random.default_rng(seed)
                S, D = generated(n, tagged, rng, p=80)
                model = AggregateProportions(method, cv=5, n_blocks=80).fit(S, D)
                found = model.proportions(generated(N, unread, rng, p=80)[0], n_bootstrap=500)
                low, high = found.interval
                covered.append((low[0] <= unread) & (unread <= high[0]))
                width.append(high - low)
                off.append(found.estimate[0] - unread)
            bias = np.abs(np.mean(off, axis=0)).max()
            print(
                f"{n:6}  {N:6}  {method:30}  {np.mean(covered):8.3f}  {np.mean(width):10.3f}  "
                f"{bias:12.3f}",
                flush=True,
            )


if __name__ == "__main__":
    {"error": error, "coverage": coverage}[sys.argv[1]](*sys.argv[2:])
