"""The first 20 components of 200,000 x 500, in memory and in chunks, against scikit-learn."""

from collections.abc import Iterator

import numpy as np
from sklearn import decomposition

from benchmarks.measure import Result, extra_memory, in_turns
from bottega.latent import PCA

N, P, K = 200_000, 500, 20


def run() -> Iterator[Result]:
    X = make(N, P)
    yield in_memory(X)
    yield in_chunks(X)
    yield memory()


def make(n, p):
    """Return rows with 30 directions that stand out, of falling variance."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(size=(n, p))
    axes = np.linalg.qr(rng.standard_normal(size=(p, 30)))[0] * np.linspace(6.0, 0.5, 30)
    for start in range(0, n, 20_000):
        block = X[start : start + 20_000]
        block += rng.standard_normal(size=(len(block), 30)) @ axes.T
    X += 3.0
    return X


def told(ours, theirs):
    shares = [float(np.sum(each.explained_variance_ratio_)) for each in (ours, theirs)]
    return f"explained variance {shares[0]:.8f} against {shares[1]:.8f}"


def in_memory(X) -> Result:
    def ours():
        return PCA(K).fit(X)

    def theirs():
        return decomposition.PCA(K, svd_solver="randomized", random_state=0).fit(X)

    medians = in_turns({"ours": ours, "theirs": theirs}, 3)
    return Result(
        f"PCA, first {K} components, {N:,} x {P}",
        "scikit-learn PCA(svd_solver='randomized')",
        medians["ours"],
        medians["theirs"],
        bar=1,
        accuracy=told(ours(), theirs()),
    )


def in_chunks(X) -> Result:
    parts = [X[start : start + 10_000] for start in range(0, len(X), 10_000)]

    def ours():
        return PCA(K).fit_chunks(parts)

    def theirs():
        model = decomposition.IncrementalPCA(K)
        for part in parts:
            model.partial_fit(part)
        return model

    medians = in_turns({"ours": ours, "theirs": theirs}, 1)
    return Result(
        f"PCA in chunks of 10,000 rows, first {K} components, {N:,} x {P}",
        "scikit-learn IncrementalPCA",
        medians["ours"],
        medians["theirs"],
        bar=1,
        accuracy=told(ours(), theirs()),
    )


def memory() -> Result:
    """The fit makes no centred copy of X."""
    setup = (
        "import numpy as np\nfrom bottega.latent import PCA\n"
        "X = np.random.default_rng(0).standard_normal(size=(100_000, 500))\n"
        "PCA(20).fit(X[:5000])"
    )
    copies = extra_memory(setup, "PCA(20).fit(X)")
    return Result(
        "PCA, memory of a fit, 100,000 x 500",
        "a quarter of X",
        copies,
        0.25,
        bar=1,
        accuracy="-",
        unit="copies of X",
        limit=True,
    )
