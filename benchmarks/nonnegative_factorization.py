"""Nonnegative factorisation against scikit-learn's coordinate descent: seconds to the same loss.

Both start from the same factors. scikit-learn runs with its defaults until it stops; ours runs for
as many iterations as it needs to have that loss up to one part in a million, timed from the start.
"""

import warnings
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.measure import Result, cold_seconds, in_turns
from bottega.latent import NonnegativeFactorization

RANK = 20


def run() -> Iterator[Result]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the iterations are counted here
        yield case("dense 5,000 x 500", dense(5_000, 500), repeats=5)
        yield case("sparse tf-idf 20,000 x 5,000", sparse(20_000, 5_000), repeats=5)


def dense(n, p):
    """Return sums of parts, with noise."""
    rng = np.random.default_rng(0)
    X = rng.gamma(0.3, 1, (n, RANK)) @ rng.gamma(0.3, 1, (RANK, p))
    return X + 0.3 * X.mean() * rng.exponential(size=(n, p))


def sparse(n, p, topics=40):
    """Return weights of words in documents, whose topics share their frequent words."""
    rng = np.random.default_rng(0)
    words = rng.gamma(0.3, 1, (topics, p)) / np.arange(1, p + 1)
    words /= words.sum(axis=1, keepdims=True)
    mixed = np.cumsum(rng.dirichlet(np.full(topics, 0.2), n), axis=1)
    document = np.repeat(np.arange(n), rng.integers(60, 160, n))
    topic = np.minimum(
        (mixed[document] < rng.random(len(document))[:, None]).sum(axis=1), topics - 1
    )
    word = np.empty(len(document), dtype=np.int64)
    for t in range(topics):
        here = topic == t
        word[here] = rng.choice(p, size=int(here.sum()), p=words[t])
    counts = csr_array((np.ones(len(word)), (document, word)), shape=(n, p))
    return csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts))


def case(name, X, repeats) -> Result:
    n, p = X.shape
    rng = np.random.default_rng(1)
    size = np.sqrt(X.mean() / RANK)
    W, H = (size * np.abs(rng.normal(size=shape)) for shape in ((n, RANK), (RANK, p)))

    def theirs():
        model = NMF(RANK, init="custom")
        model.fit_transform(X, W=W.copy(), H=H.copy())
        return model

    def ours(iterations):
        how = {"init": (W, H), "max_iter": iterations, "tol": 0.0}
        return NonnegativeFactorization(RANK, **how).fit(X)

    peer = theirs()
    goal = peer.reconstruction_err_ * (1 + 1e-6)
    trace = np.sqrt(2 * ours(4 * peer.n_iter_).objective_)
    iterations = int(np.argmax(trace <= goal)) if np.any(trace <= goal) else 4 * peer.n_iter_
    while ours(iterations).reconstruction_err_ > goal and iterations < 4 * peer.n_iter_:
        iterations += 1  # those that were undone
    model = ours(iterations)
    medians = in_turns({"ours": lambda: ours(iterations), "theirs": theirs}, repeats)
    cold = cold_seconds(
        "import numpy as np, warnings\nwarnings.simplefilter('ignore')\n"
        "from bottega.latent import NonnegativeFactorization\n"
        f"X = np.random.default_rng(0).random(({n // 10}, {p // 10}))",
        f"NonnegativeFactorization({RANK}).fit(X)",
    )
    return Result(
        f"NonnegativeFactorization, {name}, rank {RANK}",
        "NMF(solver='cd')",
        medians["ours"],
        medians["theirs"],
        1.5,
        f"error {model.reconstruction_err_:.6g} in {iterations} iterations against {goal:.6g} in "
        f"{peer.n_iter_}",
        cold=cold,
    )
