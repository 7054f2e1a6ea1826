"""K-means from a given start against scikit-learn's, and in chunks against in memory."""

from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans as TheirKMeans

from benchmarks.measure import Result, best_peer, cold_seconds, in_new_process, in_turns
from bottega.cluster import KMeans


def run() -> Iterator[Result]:
    yield case(1_000_000, 10, 10)
    yield case(200_000, 50, 100)
    yield from chunked(10_000_000)


def table(n, p, K, seed=0):
    """Return rows of K clusters that overlap."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(K, p))
    return centers[rng.integers(K, size=n)] + rng.normal(size=(n, p))


def case(n, p, K) -> Result:
    X = table(n, p, K)
    start = X[:K].copy()

    def ours():
        return KMeans(K, init=start, n_init=1).fit(X)

    def theirs(algorithm):
        return lambda: TheirKMeans(K, init=start, n_init=1, algorithm=algorithm).fit(X)

    peers = {name: theirs(name) for name in ("lloyd", "elkan")}
    mine, other = ours(), peers["lloyd"]()
    medians = in_turns({"ours": ours, **peers}, 3)
    name, seconds = best_peer(medians, "ours")
    same = float(np.mean(mine.labels_ == other.labels_))
    cold = cold_seconds(
        "import numpy as np\nfrom bottega.cluster import KMeans\n"
        f"X = np.random.default_rng(0).normal(size=({n}, {p}))",
        f"KMeans({K}, init=X[:{K}].copy(), max_iter=5, tol=1e9).fit(X)",
    )
    return Result(
        f"k-means, K = {K}, {n:,} x {p}, same start",
        f"scikit-learn KMeans(algorithm={name!r}), the faster of two",
        medians["ours"],
        seconds,
        bar=1,
        accuracy=(
            f"inertia {mine.inertia_:.10g} against {other.inertia_:.10g}, {mine.n_iter_} and "
            f"{other.n_iter_} passes, {same:.4%} of the labels equal"
        ),
        cold=cold,
    )


# Each in a process of its own; the chunks are a file of 800 MB, mapped, a million rows at a time.
# What is counted is memory of the process itself: pages of the file can be dropped at any time.
_SETUP = """
import os, re, sys, tempfile, time
import numpy as np
from bottega.cluster import KMeans

n, p, K, rows = {n}, 10, 10, 1_000_000
file = os.path.join(tempfile.gettempdir(), "bottega_kmeans_{n}.f64")
rng = np.random.default_rng(0)
centers = rng.normal(size=(K, p))
if not os.path.exists(file) or os.path.getsize(file) != 8 * n * p:
    with open(file, "wb") as out:
        for _ in range(0, n, rows):
            (centers[rng.integers(K, size=rows)] + rng.normal(size=(rows, p))).tofile(out)
start = np.fromfile(file, count=K * p).reshape(K, p)


def now(what):
    return int(re.search(what + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024


model = KMeans(K, init=start, n_init=1, max_iter={passes}, tol=0)
small = np.random.default_rng(1).normal(size=(100_000, p))
KMeans(K, init=small[:K], max_iter=3, tol=1e9).fit(small)
"""
_MEMORY = """
X = np.fromfile(file).reshape(n, p)
begin = time.perf_counter()
model.fit(X)
print(time.perf_counter() - begin, model.inertia_, now("RssAnon"), model.n_iter_)
"""
_CHUNKS = """
import threading

table = np.memmap(file, dtype=np.float64, mode="r", shape=(n, p))
before = peak = now("RssAnon")
done = threading.Event()


def watch():
    global peak
    while not done.wait(0.02):
        peak = max(peak, now("RssAnon"))


watcher = threading.Thread(target=watch)
watcher.start()
begin = time.perf_counter()
model.fit_chunks([table[at : at + rows] for at in range(0, n, rows)])
taken = time.perf_counter() - begin
done.set()
watcher.join()
print(taken, model.inertia_, peak - before, model.n_iter_)
"""


def chunked(n, passes=60) -> Iterator[Result]:
    import os
    import tempfile

    quiet = "import warnings\nwarnings.simplefilter('ignore')\n"
    setup = quiet + _SETUP.format(n=n, passes=passes)
    found: dict[str, list[list[float]]] = {"memory": [], "chunks": []}
    try:
        for _ in range(2):
            for name, code in (("memory", _MEMORY), ("chunks", _CHUNKS)):
                found[name].append([float(x) for x in in_new_process(setup + code).split()])
    finally:
        file = os.path.join(tempfile.gettempdir(), f"bottega_kmeans_{n}.f64")
        if os.path.exists(file):
            os.remove(file)
    memory, chunks = (np.median(found[name], axis=0) for name in ("memory", "chunks"))
    yield Result(
        f"k-means, K = 10, {n:,} x 10 from a file in 10 chunks",
        "the same fit in memory (at most 1.5 times its time)",
        chunks[0],
        1.5 * memory[0],
        bar=1,
        limit=True,
        accuracy=(
            f"inertia {chunks[1]:.10g} against {memory[1]:.10g}, {chunks[3]:.0f} and "
            f"{memory[3]:.0f} passes; {chunks[2]:.0f} MB more at the peak; the table has "
            f"{n * 80 / 1e6:.0f} MB"
        ),
    )
