"""Other processes and clusters: the same numbers, whoever makes them and whoever dies."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info

import bottega
from bottega import scale
from bottega.classify import LinearDiscriminant, LogisticRegression
from bottega.cluster import GaussianMixture, KMeans
from bottega.core.engine import current_engine, sent
from bottega.core.errors import EngineError, InputError, ParameterError
from bottega.core.parallel import in_threads, spare_threads
from bottega.core.parts import RowSource
from bottega.core.progress import PARTS, listen
from bottega.data.array_rows import ArrayRows
from bottega.ensemble import BaggingRegressor, RandomForestRegressor
from bottega.explain import explain
from bottega.linear import Lasso, LeastSquares, Ridge
from bottega.linear._decomposition import coefficients
from bottega.online import OnlineRidge
from bottega.risk import nested_cv
from bottega.tree import TreeRegressor

pytestmark = pytest.mark.slow  # processes start and import the package

MODELS = {
    "ridge": (Ridge(), "y"),
    "lasso": (Lasso(), "y"),
    "least squares": (LeastSquares(), "y"),
    "discriminant": (LinearDiscriminant(), "label"),
    "logistic": (LogisticRegression(alpha=1.0), "label"),
    "k-means": (KMeans(3, random_state=0), None),
    "mixture": (GaussianMixture(2, random_state=0), None),
}


def learned(model):
    if isinstance(model, KMeans | GaussianMixture):
        return model.cluster_centers_ if isinstance(model, KMeans) else model.means_
    return model.coef_


def rows_for(name, rows, parts=5):
    X, y, label, w = rows
    target = {"y": y, "label": label, None: None}[MODELS[name][1]]
    return scale.source(X, target, weight=w, rows=-(-len(X) // parts))


@pytest.mark.parametrize("name", list(MODELS))
def test_a_fit_elsewhere_is_the_fit_here(name, rows, cluster):
    model = MODELS[name][0]
    here = clone(model).fit(rows_for(name, rows))
    with scale.on(cluster.scheduler_address):
        there = clone(model).fit(rows_for(name, rows))
    np.testing.assert_allclose(learned(there), learned(here), rtol=1e-9, atol=1e-12)
    assert current_engine() is None


def test_files_are_read_by_the_workers(folder, place):
    options = {"target": "y", "weight": "weight"}
    here = Ridge().fit(scale.source(folder, **options))
    with scale.on(**place):
        there = Ridge().fit(scale.source(folder, **options))
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
    assert there.feature_names_in_.tolist() == here.feature_names_in_.tolist()


def test_one_part_and_two_hundred(rows, cluster):
    X, y, _, _ = rows
    found = []
    with scale.on(cluster):
        for parts in (1, 200):
            chunks = list(zip(np.array_split(X, parts), np.array_split(y, parts), strict=True))
            found.append(Ridge().fit_chunks(chunks).coef_)
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_folds_by_number_are_those_of_all_rows(rows, cluster, monkeypatch):
    from bottega.core import chunks

    monkeypatch.setattr(chunks, "MOST_ORDERED", 100)  # as for more than a million rows
    model = LogisticRegression(alpha="auto", alphas=2, cv=2)
    here = clone(model).fit(rows_for("logistic", rows))
    with scale.on(cluster):
        there = clone(model).fit(rows_for("logistic", rows))
    np.testing.assert_allclose(there.path_.error, here.path_.error, rtol=1e-9)
    assert there.alpha_ == pytest.approx(here.alpha_, rel=1e-9)


def test_forests_folds_and_importance_elsewhere(rows, place):
    X, y, _, _ = rows
    X, y = X[:300], y[:300]
    forest = RandomForestRegressor(n_estimators=12, random_state=0).fit(X, y)
    bag = BaggingRegressor(n_estimators=4, random_state=0).fit(X, y)
    judged = nested_cv(Ridge(), X, y, outer=3)
    with scale.on(**place):
        other = RandomForestRegressor(n_estimators=12, random_state=0).fit(X, y)
        np.testing.assert_array_equal(other.predict(X), forest.predict(X))
        importance = other.permutation_importance()
        np.testing.assert_array_equal(
            BaggingRegressor(n_estimators=4, random_state=0).fit(X, y).predict(X), bag.predict(X)
        )
        assert nested_cv(Ridge(), X, y, outer=3).error == pytest.approx(judged.error, rel=1e-9)
    here = forest.permutation_importance()
    np.testing.assert_allclose(importance["importance"], here["importance"], rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        TreeRegressor(max_depth=4),
        RandomForestRegressor(n_estimators=4, max_features=2),
        OnlineRidge(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_rows_that_are_kept_come_from_the_workers(model, rows, cluster):
    X, y, _, w = rows
    here = clone(model).fit(scale.source(X, y, weight=w, rows=140))
    with scale.on(cluster):
        there = clone(model).fit(scale.source(X, y, weight=w, rows=140))
    np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=1e-9)


def test_the_importance_of_held_out_columns_elsewhere(rows, place, monkeypatch):
    X, y, _, _ = rows
    folds = np.arange(300) % 2
    fits = [
        (Ridge(alpha=1.0).fit(X[:300][folds != k], y[:300][folds != k]), *held)
        for k, held in ((k, (X[:300][folds == k], y[:300][folds == k])) for k in (0, 1))
    ]
    here = explain(fits).importance
    with scale.on(**place):
        calls = []
        engine = current_engine()
        monkeypatch.setattr(
            engine, "call", lambda task, call=engine.call: calls.append(0) or call(task)
        )
        there = explain(fits).importance
    assert len(calls) >= 2
    assert there.columns == here.columns
    np.testing.assert_allclose(there.increase, here.increase, rtol=1e-9)


def certificate(folder):
    """Make a key and a certificate that signs itself; return their files."""
    key, file = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    return str(key), str(file)


@pytest.mark.skipif(
    shutil.which("openssl") is None and os.environ.get("BOTTEGA_REQUIRE_ALL") != "1",
    reason="openssl is missing: no certificate can be made",
)
def test_a_cluster_that_wants_certificates(tmp_path, rows):
    from distributed import LocalCluster
    from distributed.security import Security

    X, y, _, _ = rows
    key, file = certificate(tmp_path)
    names = [f"tls_{role}_{what}" for role in ("client", "scheduler", "worker")
             for what in ("key", "cert")]  # fmt: skip
    paths = {name: key if name.endswith("key") else file for name in names}
    security = Security(require_encryption=True, tls_ca_file=file, **paths)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    here = Ridge(alpha=1.0).fit(X, y)
    with LocalCluster(protocol="tls://", security=security, processes=False, **options) as own:
        address = own.scheduler_address
        assert address.startswith("tls://")
        for where, given in ((address, {"security": security}), (own, {})):
            with scale.on(where, **given):
                there = Ridge(alpha=1.0).fit(scale.source(X, y, rows=100))
            np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
        with pytest.raises(EngineError, match="wants certificates: give security="):
            scale.on(address).__enter__()


def test_a_comparison_elsewhere(cluster, monkeypatch):
    from bottega.scale._engines import cluster as engine

    def refuse():
        raise AssertionError("a task could not travel")

    monkeypatch.setattr(engine, "one_core", refuse)
    options = {"methods": ["ridge", "tree"], "outer": 3, "stack": False, "random_state": 0}
    here = bottega.compare("diabetes", "target", **options)
    with scale.on(cluster):
        there = bottega.compare("diabetes", "target", **options)
    assert there.leaderboard["method"].tolist() == here.leaderboard["method"].tolist()
    np.testing.assert_allclose(there.leaderboard["error"], here.leaderboard["error"], rtol=1e-9)


def test_a_comparison_of_a_source_elsewhere(folder, cluster):
    source = scale.source(folder, target="y", weight="weight", rows=100)
    methods = ["ridge", "least_angle"]
    options = {"methods": methods, "outer": 2, "sample": 500, "stack": False}
    here = bottega.compare(source, **options).leaderboard
    with scale.on(cluster):
        there = bottega.compare(source, **options).leaderboard
    assert here.set_index("method").loc["ridge", "learned_from"] > 500
    assert there["method"].tolist() == here["method"].tolist()
    np.testing.assert_allclose(there["error"], here["error"], rtol=1e-9)


def fragile_part(folder, number):
    """Rows of one part; whoever reads the third one first dies of it."""
    from distributed import get_worker

    if number == 2 and not os.path.exists(os.path.join(folder, "died")):
        get_worker()  # never this process
        with open(os.path.join(folder, "died"), "x"):
            os.kill(os.getpid(), signal.SIGKILL)
    rng = np.random.default_rng(number)
    X = rng.normal(size=(50, 3))
    return X, X @ [1.0, 2.0, 3.0] + rng.normal(size=50), None


def test_a_worker_killed_in_the_middle_leaves_the_answer(cluster, tmp_path, by_value):
    makers = [partial(fragile_part, str(tmp_path), number) for number in range(6)]
    with scale.on(cluster):
        there = Ridge().fit(ArrayRows(makers, 50))
    assert (tmp_path / "died").exists()
    here = Ridge().fit(ArrayRows(makers, 50))
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)


class LoggedRows(RowSource):
    """Rows of four parts in files, which write down who reads them; one may kill who does."""

    in_files = True

    def __init__(self, folder, numbers=range(4), fatal=None):
        self.folder, self.numbers, self.fatal = folder, numbers, fatal
        self.home = os.getpid()

    def __iter__(self):
        for number in self.numbers:
            path = os.path.join(self.folder, f"{number}-{os.getpid()}")
            with open(path, "a") as file:
                file.write("x")
            died = os.path.join(self.folder, "died")
            readings = times_read(self.folder, self.home)[number]
            if readings == self.fatal and number == 2 and not os.path.exists(died):
                open(died, "x").close()
                os.kill(os.getpid(), signal.SIGKILL)
            yield from self.chunks_of(number)

    def chunks_of(self, number):
        rng = np.random.default_rng(number)
        X = rng.normal(size=(60, 3))
        y = np.digitize(X[:, 0] + rng.normal(size=60), [0.5, 1.5])
        if number < 3:
            y = np.minimum(y, 1)  # the third class comes in the last part
        return [(X[:30], y[:30]), (X[30:], y[30:])]

    def responses(self):
        with open(os.path.join(self.folder, "responses"), "a") as file:
            file.write("x")
        for number in self.numbers:
            yield from ((y, None) for _, y in self.chunks_of(number))

    def parts(self):
        return [LoggedRows(self.folder, [number], self.fatal) for number in self.numbers]


def times_read(folder, home):
    """Return how often each part was read by other processes than one."""
    found = [0] * 4
    for name in os.listdir(folder):
        part, dash, process = name.partition("-")
        if dash and int(process) != home:
            found[int(part)] += os.path.getsize(os.path.join(folder, name))
    return found


def test_one_pass_reads_files_once_and_several_passes_twice(
    cluster, tmp_path, by_value, monkeypatch
):
    # As of more than a million rows: errors of rows left out want no pass of their own.
    monkeypatch.setattr(coefficients, "MOST_ORDERED", 100)
    one, several = tmp_path / "one", tmp_path / "several"
    one.mkdir()
    several.mkdir()
    with scale.on(cluster):
        Ridge(alpha=1.0, select="gcv").fit(LoggedRows(str(one)))
        assert times_read(one, os.getpid()) == [1, 1, 1, 1]
        LogisticRegression(alpha=1.0).fit(LoggedRows(str(several), range(3)))
        assert times_read(several, os.getpid())[:3] == [2, 2, 2]  # and kept the second time


@pytest.mark.parametrize("where", ["cluster", "processes"])
def test_classes_that_come_late(where, cluster, tmp_path, by_value, capfd):
    rows = LoggedRows(str(tmp_path))
    here = LinearDiscriminant(shrinkage=0).fit(rows)
    with scale.on(cluster if where == "cluster" else where, workers=2):
        few = LinearDiscriminant(shrinkage=0).fit(LoggedRows(str(tmp_path), range(3)))
        # The classes of the first rows were all there are.
        assert times_read(tmp_path, os.getpid()) == [1, 1, 1, 0]
        there = LinearDiscriminant(shrinkage=0).fit(rows)
    assert few.classes_.tolist() == [0, 1]
    assert there.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
    assert (tmp_path / "responses").read_text() == "x" * 5  # all of them here, and of each part
    assert "Compute Failed" not in capfd.readouterr().err


@pytest.mark.parametrize("reading", [1, 2])  # the first pass; the rows that are kept
def test_a_worker_that_dies_while_it_reads_a_file(reading, cluster, tmp_path, by_value):
    rows = LoggedRows(str(tmp_path), range(3), fatal=reading)
    model = LogisticRegression(alpha=1.0)
    with scale.on(cluster):
        there = clone(model).fit(rows)
    assert (tmp_path / "died").exists()
    np.testing.assert_allclose(there.coef_, clone(model).fit(rows).coef_, rtol=1e-6)


class Told:
    """Numbers in the order of their merges."""

    def __init__(self, part):
        self.numbers = list(part)

    def __iter__(self):
        return iter(self.numbers)

    def merge(self, other):
        self.numbers += other.numbers
        return self


@pytest.mark.parametrize("count", [1, 4, 20, 42, 300])
def test_many_parts_are_few_tasks_and_keep_their_order(count, cluster, by_value):
    numbers = [[number] for number in range(count)]
    with scale.on(cluster):
        engine, tasks = current_engine(), []
        submit = engine.submit_each
        engine.submit_each = lambda task, args: tasks.append(len(args)) or submit(task, args)
        parts = engine.share_out(numbers)
        assert parts.reduce(Told).numbers == list(range(count))
        assert sum(tasks) <= {1: 1, 4: 5, 20: 12, 42: 15, 300: 52}[count]
        assert parts.map(lambda part, more: part[0] - more, range(count)) == [0] * count
        assert parts.keep(Told).reduce(Told).numbers == list(range(count))
        kept = parts.keep(lambda part: (-number for number in part))
        for expected in range(-1, 2):  # at first some are still made
            tasks.clear()
            found = kept.map(lambda part, more: part[0] + more, [expected] * count)
            assert found == [expected - number for number in range(count)]
        # Two workers with one thread each, whose tasks have eight parts at most.
        assert sum(tasks) <= count // 8 + 2


@pytest.mark.parametrize(
    ("parts", "threads", "sizes"),
    [(40, 4, [5] * 8), (18, 2, [5, 5, 4, 4]), (33, 4, [5] + [4] * 7), (3, 4, [1] * 3), (0, 1, [])],
)
def test_threads_of_a_worker_have_as_many_tasks(parts, threads, sizes):
    from bottega.scale._engines.cluster import DaskParts

    kept = [SimpleNamespace(key=str(number)) for number in range(parts + 1)]
    where = {each.key: ["a"] for each in kept[:parts]} | {str(parts): []}  # one is still made
    client = SimpleNamespace(who_has=lambda _: where, nthreads=lambda: {"a": threads})
    groups = DaskParts(SimpleNamespace(client=client), kept, kept=True)._by_holder()
    assert list(map(len, groups)) == [*sizes, 1]
    assert [number for group in groups for number in group] == list(range(parts + 1))


def test_memory_is_kept_while_a_task_runs(monkeypatch):
    from bottega.scale._engines import working

    said = []
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    monkeypatch.setattr(working, "_mallopt", lambda: lambda *given: said.append(given))
    with working.working():
        assert not said  # nobody asked for memory to be given back at once
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    with working.working(), working.working():
        assert said == [(-1, 64 << 20), (-3, 4 << 20)]
    assert said[2:] == [(-1, 65536), (-3, 128 << 10)]


def openmp_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "openmp"]


def test_tasks_side_by_side_in_one_process_have_one_core_each():
    from sklearn.cluster import KMeans  # noqa: F401  (its loops have threads)

    from bottega.scale._engines.working import working

    both, first_is_out = threading.Barrier(2), threading.Event()
    seen = {}

    def task(name):
        before = openmp_threads()
        with working():
            both.wait(timeout=30)
            seen[name] = openmp_threads()
            both.wait(timeout=30)
            if name == "second":  # which is the last one to end
                first_is_out.wait(timeout=30)
        seen[f"after {name}"] = openmp_threads() == before
        first_is_out.set()

    threads = [threading.Thread(target=task, args=(name,)) for name in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen["first"]
    assert {*seen["first"], *seen["second"]} == {1}
    assert seen["after first"]
    assert seen["after second"]


def busy_threads():
    """What a task sees: threads it may start, threads of linear algebra, nested work."""
    inside = in_threads(lambda _: threading.get_ident(), range(4))
    most = max(pool["num_threads"] for pool in threadpool_info())
    return spare_threads(), most, len(set(inside) - {threading.get_ident()}), os.getpid()


def test_nested_work_takes_no_more_threads(place, by_value):
    with scale.on(**place):
        found = in_threads(lambda _: busy_threads(), range(6), elsewhere=True)
    assert {each[:3] for each in found} == {(1, 1, 0)}
    assert os.getpid() not in {each[3] for each in found}


def test_kernels_travel_by_name():
    """A worker imports a kernel, and finds its machine code in the cache of the host."""
    from bottega.ensemble._kernels.draw import draw
    from bottega.scale._engines.packing import pack, unpack

    packed, apart = pack(lambda: draw)
    assert not apart
    assert unpack(packed, apart)() is draw


def test_what_another_thread_uses_meanwhile_travels():
    from bottega.scale._engines.packing import pack, unpack

    class Growing:
        """As an object with properties that are kept when they are asked for."""

        def __init__(self):
            self.first, self.times = self, 0

        def __reduce_ex__(self, _):
            return Growing, (), self.__dict__

        def __setstate__(self, state):
            self.__dict__.update(state)

    class Asks:
        def __reduce__(self):
            owner.times += 1
            if owner.times < 3:
                setattr(owner, f"late{owner.times}", 1)
            return int, ()

    owner = Growing()
    owner.asks = Asks()
    owner.last = 2
    found = unpack(*pack(owner))
    assert owner.times == 3
    assert found.last == 2


def test_large_arrays_travel_once():
    from bottega.scale._engines.packing import pack, unpack

    X = np.asfortranarray(np.random.default_rng(0).normal(size=(2_000, 8)))
    packed, apart = pack([X, X, X.copy(order="F"), X.T, X[:3]])
    assert len(packed) < 5_000
    assert len(apart) == 2  # the table, and its transpose
    for one, other in zip(unpack(packed, apart), [X, X, X, X.T, X[:3]], strict=True):
        np.testing.assert_array_equal(one, other)


def test_errors_of_a_task_are_its_own(place, rows):
    X, y, _, _ = rows
    bad = [(X[:300], y[:300]), (X[300:, :3], y[300:])]
    with scale.on(**place), pytest.raises(InputError, match="has 3 columns and the first one 4"):
        Ridge().fit_chunks(bad)


def test_what_cannot_travel_runs_here(cluster):
    lock = threading.Lock()
    with scale.on(cluster), pytest.warns(RuntimeWarning, match="cannot be sent to another process"):
        assert sent(lambda: (lock.locked(), os.getpid())) == (False, os.getpid())


def test_ten_clients_at_once(cluster, rows):
    X, y, _, _ = rows
    expected = Ridge(alpha=1.0).fit(X, y).coef_
    found = {}

    def fit(number):
        with scale.on(cluster.scheduler_address):
            found[number] = Ridge(alpha=1.0).fit(scale.source(X, y, rows=100)).coef_

    clients = [threading.Thread(target=fit, args=(number,)) for number in range(10)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    assert len(found) == 10
    for coef in found.values():
        np.testing.assert_allclose(coef, expected, rtol=1e-9)


def test_a_worker_with_another_version(cluster, rows, monkeypatch):
    X, y, _, _ = rows
    monkeypatch.setattr(bottega, "__version__", "99.0")
    with (
        scale.on(cluster),
        pytest.raises(EngineError, match=r"this process 99.0: install the same"),
    ):
        Ridge().fit(scale.source(X, y))


def test_a_scheduler_that_is_not_there_or_goes_away(cluster, rows, monkeypatch):
    from distributed import Client, LocalCluster

    X, y, _, _ = rows
    monkeypatch.setattr(sys.modules["bottega.scale.on"], "_PATIENCE", "0.3s")
    with (
        pytest.raises(EngineError, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:9'"),
        scale.on("tcp://127.0.0.1:9"),
    ):
        pass
    with pytest.raises(ParameterError, match="'nowhere' is no place to work"), scale.on("nowhere"):
        pass
    with pytest.raises(ParameterError, match="not 3"), scale.on(3):
        pass
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=False, **options) as own, Client(own) as client, scale.on(client):
        own.close()
        with pytest.raises(EngineError, match=r"scheduler.*has gone"):
            Ridge().fit(scale.source(X, y, rows=100))
    with pytest.raises(EngineError, match="The client is closed"), scale.on(client):
        pass


def test_an_array_that_the_cluster_has_lost_is_sent_again(cluster):
    X = np.random.default_rng(0).normal(size=(3000, 8))
    with scale.on(cluster):
        engine = current_engine()
        _, (future,) = engine.share({"name": X})
        assert engine.share({"name": X})[1][0] is future
        engine.client.cancel(future)
        _, (again,) = engine.share({"name": X})
        np.testing.assert_array_equal(again.result(), X)


@pytest.mark.parametrize("lost", ["parts", "scheduler"])
def test_a_scheduler_that_goes_away_between_passes(lost, folder):
    from distributed import Client, LocalCluster

    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=False, **options) as own, Client(own) as client, scale.on(client):
        parts = current_engine().share_out([[1], [2]])
        kept = parts.keep(list)
        assert kept.map(sum) == [1, 2]
        if lost == "parts":
            client.cancel(kept._parts)
        else:
            own.close()
            with pytest.raises(EngineError, match=r"scheduler.*has gone"):
                Ridge().fit(scale.source(folder / "*.parquet", "y"))
        with pytest.raises(EngineError, match=r"scheduler.*has gone"):
            kept.map(sum)
        with pytest.raises(EngineError, match=r"scheduler.*has gone"):
            kept.reduce(sum)


@pytest.mark.parametrize("where", ["memory", "processes", "cluster"])
def test_each_part_of_a_pass_is_reported(where, cluster, rows):
    X, y, _, _ = rows
    seen = []
    with scale.on(cluster if where == "cluster" else where, workers=2), listen(seen.append):
        Ridge(alpha=1.0).fit(scale.source(X, y, rows=100))
        for _ in range(100):  # Dask tells of a task after its answer is there
            done = [event.done for event in seen if event.stage == PARTS]
            if len(done) >= 7 and done.count(7) == done.count(1):
                break
            time.sleep(0.02)
    assert done[:7] == [1, 2, 3, 4, 5, 6, 7]
    assert {event.total for event in seen if event.stage == PARTS} == {7}


@pytest.mark.parametrize("quiet", [True, False])
def test_a_cluster_without_workers_is_waited_for_with_a_warning(rows, monkeypatch, quiet):
    from distributed import LocalCluster

    X, y, _, _ = rows
    monkeypatch.setattr(sys.modules["bottega.scale._engines.cluster"], "_PATIENCE", 0.2)
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "processes": False}
    listening = nullcontext() if quiet else listen(lambda _: None)
    with LocalCluster(n_workers=0, **options) as own, scale.on(own), listening:
        late = threading.Timer(1.0, own.scale, [1])
        late.start()
        with pytest.warns(RuntimeWarning, match="no workers at the moment"):
            there = Ridge(alpha=1.0).fit(scale.source(X, y, rows=100))
        late.join()
    np.testing.assert_allclose(there.coef_, Ridge(alpha=1.0).fit(X, y).coef_, rtol=1e-9)


def dying(folder):
    with open(os.path.join(folder, "tries"), "a") as file:
        file.write("x")
    os.kill(os.getpid(), signal.SIGKILL)


# The last one: its processes are gone, and others would have to be started.
def test_a_task_that_kills_every_process(tmp_path, by_value):
    with scale.on("processes", workers=1), pytest.raises(EngineError, match="died 3 times"):
        sent(partial(dying, str(tmp_path)))
    assert (tmp_path / "tries").read_text() == "xxx"
