"""The claims A-E01 to A-E38: every experiment bears its verdict out, and its numbers are right.

Seeds are fixed, so runs are the same every time. Each claim has at least one check of its numbers
by other means: a worked number of the notes, a brute force, another package.
"""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy.integrate import dblquad
from sklearn.model_selection import PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier

from bottega import experiments
from bottega.core.folds import deal_folds
from bottega.data import make
from bottega.experiments import (
    consistency,
    evaluation,
    feature_maps,
    finite_class,
    half_spaces,
    impurity,
    nearest,
    shrinkage,
    streams,
    tree_counts,
    trees,
)
from bottega.neighbors import NearestNeighborsClassifier
from bottega.online import Perceptron
from bottega.risk.bounds import (
    erm_finite,
    hoeffding_deviation,
    nn_asymptotic,
    no_free_lunch,
    perceptron_compression,
    perceptron_mistakes,
)
from bottega.risk.half_space import half_space_erm
from bottega.risk.label_noise import annotators
from bottega.risk.margin import separable
from bottega.tree import TreeClassifier

IDS = [f"A-E{number:02d}" for number in range(1, 39)]


@pytest.mark.parametrize("id", IDS)
def test_claim_is_borne_out(id):
    claim = experiments.CLAIMS[id]
    found = experiments.run(id)
    assert isinstance(found.holds, bool)
    assert found.holds, found.finding
    assert str(found).startswith("borne out: ")
    frame = found.to_frame()
    assert len(frame) > 1
    assert list(frame.columns) == list(found.columns)
    chart = found.plot().to_dict()
    assert chart["title"]["text"]
    assert chart["description"]
    assert next(iter(chart["datasets"].values())) if "datasets" in chart else chart["layer"]
    assert claim.verdict == "holds" or claim.verdict.startswith(("holds only if ", "wrong: "))
    assert claim.call.__name__ in experiments.__all__


def test_a_claim_can_fail():
    """The verdict is computed: where simulation is starved of rows, it is not borne out."""
    assert not experiments.neighbor_schedules(rows=(20, 40), repeats=1).holds
    assert "NOT" in str(experiments.neighbor_schedules(rows=(20, 40), repeats=1))


# ---- losses and the best predictor --------------------------------------------------------------


def test_e01_twelve_decades():
    frame = experiments.confident_forecasts().to_frame()
    assert frame["logarithmic"].iloc[-1] == pytest.approx(12 * math.log(10), rel=1e-12)
    assert frame["absolute"].iloc[0] == pytest.approx(0.9)
    assert frame["absolute"].iloc[-1] < 1


def test_e11_by_plain_loops():
    frame = experiments.best_predictor(points=4, seed=3).to_frame()
    p, eta = frame["probability"].to_numpy(), frame["eta"].to_numpy()
    risks = [
        sum(q * (1 - e if label else e) for q, e, label in zip(p, eta, said, strict=True))
        for said in product([0, 1], repeat=4)
    ]
    assert min(risks) == pytest.approx(float(p @ frame["least error"]), abs=1e-12)
    # Var Y from its own two values.
    mean = p @ eta
    variance = mean * (1 - mean) ** 2 + (1 - mean) * mean**2
    between = p @ (eta - mean) ** 2
    assert variance - between == pytest.approx(float(p @ frame["least squared error"]), abs=1e-12)


# ---- finite classes -----------------------------------------------------------------------------


def test_e02_by_plain_loops():
    """The notes' toy problem: five points, three of them training points, 32 truths."""
    errors = []
    for truth in product([1, -1], repeat=5):
        fits = [f for f in product([1, -1], repeat=5) if f[:3] == truth[:3]]
        assert len(fits) == 4
        errors += [np.mean([f[i] != truth[i] for i in (3, 4)]) for f in fits]
    frame = experiments.rich_class().to_frame()
    assert frame["minimisers"].tolist() == [32, 16, 8, 4, 2, 1]
    assert frame["mean error elsewhere"][3] == pytest.approx(np.mean(errors)) == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_e03_step_functions_minimise_the_training_error(seed):
    rng = np.random.default_rng(seed)
    where, y = finite_class.draw_rows(finite_class.chirp(), 12, rng)
    said = finite_class.step_erm(where, y, 8, 1024)
    least = min(
        np.mean(np.repeat(labels, 128)[where] != y) for labels in product([False, True], repeat=8)
    )
    assert np.mean(said[where] != y) == least


def test_e13_approximation_error_by_enumeration():
    eta = finite_class.chirp()
    frame = experiments.class_growth(cells=(4, 8), repeats=2).to_frame()
    for cells, approximation in zip(frame["cells"], frame["approximation"], strict=True):
        best = min(
            np.mean(np.where(np.repeat(labels, 1024 // cells), 1 - eta, eta))
            for labels in product([False, True], repeat=int(cells))
        )
        assert approximation == pytest.approx(best - 0.1, abs=1e-12)


def test_e14_bound_of_the_notes():
    assert erm_finite(1000, 32, 0.05) == pytest.approx(0.119621, abs=5e-7)  # six printed digits
    frame = experiments.erm_deviation(rows=(50, 500), repeats=20).to_frame()
    written_out = [math.sqrt(2 / m * math.log(2 * 32 / 0.05)) for m in (50, 500)]
    assert frame["bound"].tolist() == pytest.approx(written_out)


# ---- nearest neighbours -------------------------------------------------------------------------


def test_e04_errors_are_those_of_scikit_learn():
    frame = experiments.noise_and_neighbors(
        rows=100, ks=(1, 9), points=200, repeats=2, seed=4
    ).to_frame()
    source = annotators(nearest._quadrants, 0.2)
    for k, found in zip(frame["k"], frame["annotators"], strict=True):
        errors = []
        for r in (0, 1):
            S, new = source(100, seed=4 + 2 * r), source(200, seed=5 + 2 * r)
            peer = KNeighborsClassifier(int(k)).fit(S.X, S.y)
            errors.append(np.mean(peer.predict(new.X) != new.y))
        assert found == pytest.approx(np.mean(errors), abs=1e-12)


def test_e05_errors_are_those_of_scikit_learn():
    frame = experiments.neighbors_sweep(rows=31, points=100, repeats=2, seed=7).to_frame()
    for k, train, test in frame.itertuples(index=False):
        errors = []
        for r in (0, 1):
            S = make.two_gaussians(31, seed=7 + 2 * r)
            new = make.two_gaussians(100, seed=8 + 2 * r)
            peer = KNeighborsClassifier(int(k)).fit(S.X, S.y)
            errors.append(
                [np.mean(peer.predict(S.X) != S.y), np.mean(peer.predict(new.X) != new.y)]
            )
        assert [train, test] == pytest.approx(np.mean(errors, axis=0).tolist(), abs=1e-12)


def test_e06_a_query_looks_at_m_times_d_numbers():
    touched = nearest._Counter()
    rng = np.random.default_rng(0)
    nearest.NeighborSearch(rng.normal(size=(7, 3)), touched).query(rng.normal(size=(1, 3)), 2)
    assert touched.numbers == 7 * 3


def test_e35_by_hand():
    """(1, 1) is next to (0, 0) until the second column is four times as large."""
    X, y, x = np.array([[0.0, 0.0], [3.0, 1.0]]), [0, 1], np.array([[1.0, 1.0]])
    scale = np.array([1.0, 4.0])
    assert NearestNeighborsClassifier(1).fit(X, y).predict(x) == [0]
    assert NearestNeighborsClassifier(1).fit(X * scale, y).predict(x * scale) == [1]
    tree = TreeClassifier(0.0).fit(X, y).predict(x)
    assert tree == TreeClassifier(0.0).fit(X * scale, y).predict(x * scale)


def test_e38_by_hand():
    """Neighbours at distances 1 and 2 have votes of 2/3 and 1/3; one vote each is a tie."""
    model = NearestNeighborsClassifier(2, weights="distance").fit([[0.0], [3.0]], [0, 1])
    assert model.predict_proba([[1.0]])[0] == pytest.approx([2 / 3, 1 / 3])
    model.set_params(weights="uniform").fit([[0.0], [3.0]], [0, 1])
    assert model.predict_proba([[1.0]])[0].tolist() == [0.5, 0.5]


# ---- impurities ---------------------------------------------------------------------------------


def test_e07_gains_of_the_notes():
    """Table 1 split at humidity 70: 5 to 4 into 4 to 1 and 1 to 3 (six printed digits)."""
    gains = [
        float(
            impurity.psi(5 / 9, name)
            - 5 / 9 * impurity.psi(4 / 5, name)
            - 4 / 9 * impurity.psi(1 / 4, name)
        )
        for name in impurity.PSI
    ]
    assert gains == pytest.approx([0.222222, 0.149383, 0.114718, 0.082232], abs=5e-7)


def test_e08_gains_of_the_notes():
    found = experiments.impurity_stall().finding
    for gain in ("0.000000 (error)", "0.080000 (Gini)", "0.118226", "0.155051"):
        assert gain in found


@pytest.mark.parametrize(
    ("p", "values"),
    [
        (0.8, [0.2, 0.32, 0.360964, 0.4]),
        (0.6, [0.4, 0.48, 0.485475, 0.489898]),
        (0.25, [0.25, 0.375, 0.405639, 0.433013]),
        (0.5, [0.5, 0.5, 0.5, 0.5]),
    ],
)
def test_e09_values_of_the_notes(p, values):
    found = [float(impurity.psi(p, name)) for name in impurity.PSI]
    assert found == pytest.approx(values, abs=5e-7)  # six printed digits


def test_e37_entropies_of_the_notes():
    """The notes print 0.8816 for (0.7, 0.3), from rounded logarithms: 0.881291 is right."""
    shown = [[0.7, 0.3, 0, 0, 0, 0], [1, 1, 1, 2, 0, 0], [1, 1, 1, 1, 1, 1], [0, 1, 0, 0, 0, 0]]
    bits = impurity.entropy_bits(np.array(shown))
    assert bits.tolist() == pytest.approx([0.881291, 1.921928, 2.584963, 0], abs=5e-7)
    table1 = impurity.entropy_bits(np.array([[5, 4], [4, 1], [1, 3]]))
    assert table1[0] - (5 * table1[1] + 4 * table1[2]) / 9 == pytest.approx(0.229437, abs=5e-7)


# ---- trees --------------------------------------------------------------------------------------


def test_e10_formula_of_a_known_function():
    cube = np.array(list(product([0.0, 1.0], repeat=3)))
    y = [int((a and b) or c) for a, b, c in cube]
    formula = TreeClassifier(0.0).fit(cube, y).dnf(1)
    assert formula.holds(cube).tolist() == [bool(each) for each in y]
    assert len(formula) == 2  # as it was written


def test_e22_four_cells_cannot_do_better_than_the_best_four():
    """Seven stretches of the truth, four cells: the best three of its six changes to keep."""
    x = (np.arange(4000) + 0.5) / 4000
    eta = 0.5 + 0.5 * np.cos(20 * x)
    bayes = np.mean(np.minimum(eta, 1 - eta))
    changes = np.flatnonzero(np.diff(eta > 0.5)) + 1
    assert len(changes) == 6
    best = min(
        sum(min(part.sum(), (1 - part).sum()) for part in np.split(eta, kept)) / 4000
        for kept in combinations(changes, 3)
    )
    frame = experiments.tree_cells(rows=(400, 1600), repeats=2).to_frame()
    four = frame[frame["schedule"] == "four leaves"]
    assert np.all(four["excess risk"] >= best - bayes - 1e-4)  # 1e-4: the grid of 4000 points
    assert np.all(four["cell diameter"] >= 1 / 4)  # of any four widths that sum to one


def test_e36_disagreement_by_pairs():
    said = np.random.default_rng(0).integers(0, 2, size=(5, 40))
    pairs = [np.mean(a != b) for a, b in combinations(said, 2)]
    assert trees.disagreement(said) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_e15_excess_by_enumeration(m):
    """Every table of m rows and two columns, every pattern of flips."""
    q, d = 0.2, 2
    cells, stumps = 0.0, 0.0
    for bits in product([0, 1], repeat=m * d):
        X = np.array(bits).reshape(m, d)
        for flips in product([0, 1], repeat=m):
            chance = 0.5 ** (m * d) * np.prod([q if f else 1 - q for f in flips])
            y = X[:, 0] ^ np.array(flips)
            wrong = 0.0
            for cell in product([0, 1], repeat=d):
                votes = y[(np.array(cell) == X).all(axis=1)]
                lead = 2 * np.sum(votes == cell[0]) - len(votes)
                wrong += (0.5 if lead == 0 else float(lead < 0)) / 2**d
            cells += chance * (1 - 2 * q) * wrong
            hypotheses = [X[:, 0], 1 - X[:, 0], X[:, 1], 1 - X[:, 1], 0 * y, 0 * y + 1]
            risks = np.array([q, 1 - q, 0.5, 0.5, 0.5, 0.5])
            errors = np.array([np.sum(h != y) for h in hypotheses])
            stumps += chance * (risks[errors == errors.min()].max() - q)
    assert tree_counts.table_excess(m, d, q) == pytest.approx(cells, abs=1e-12)
    assert tree_counts.stump_excess(m, d, q) == pytest.approx(stumps, abs=1e-12)


def test_e16_counts_of_the_notes():
    frame = experiments.tree_counting().to_frame()
    two = frame[frame["columns"] == 2]
    three = frame[frame["columns"] == 3].set_index("nodes")["functions"]
    assert two["functions"].tolist() == [2, 6, 14, 16]
    assert three[[1, 3, 5, 7, 15]].tolist() == [2, 8, 32, 126, 256]
    assert (two["leaves"] == [1, 2, 3, 4]).all()


def test_e17_kraft_sums_of_the_notes():
    sums = [tree_counts.kraft_sum(d) for d in (1, 2, 5, 10)]
    assert sums == pytest.approx([0.064619, 0.015878, 0.016305, 0.003986], abs=5e-7)
    # Two leaves of 5 bits, and one test with four pairs of labels of 11 bits.
    assert tree_counts.kraft_sum(1, most_nodes=3) == 2 * 2**-5 + 4 * 2**-11


# ---- evaluation ---------------------------------------------------------------------------------


def test_e12_probabilities_by_hand():
    """Ten fair coins: off by more than 0.2 with 2 (1 + 10 + 45) / 1024."""
    assert evaluation.miss_probability(10, 0.5, 0.2) == pytest.approx(112 / 1024)
    assert hoeffding_deviation(100, 0.05) == pytest.approx(0.135810, abs=5e-7)


def test_e12_best_of_several_by_simulation():
    """20,000 draws; four standard errors are a false alarm of 6e-5."""
    rng = np.random.default_rng(0)
    least = rng.binomial(50, 0.4, size=(20_000, 7)).min(axis=1) / 50
    rate = np.mean(np.abs(least - 0.4) > 0.1 + 1e-12)
    exact = evaluation.miss_probability(50, 0.4, 0.1, 7)
    assert rate == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000))


def test_e18_errors_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    X, y, ks = rng.normal(size=(60, 3)), rng.integers(0, 2, size=60), np.array([1, 3, 7])
    X[:, 0] += y
    fold = deal_folds(30, 5)
    found = evaluation.tuned_errors(X[:30], y[:30], X[30:], y[30:], ks, fold)

    def errors(rows, dealt):
        splits = list(PredefinedSplit(dealt).split())
        return np.array(
            [
                np.mean(
                    [
                        np.mean(_peer(k, rows[a]).predict(X[rows[b]]) != y[rows[b]])
                        for a, b in splits
                    ]
                )
                for k in ks
            ]
        )

    def _peer(k, rows):
        return KNeighborsClassifier(int(k)).fit(X[rows], y[rows])

    everyone = np.arange(30)
    outer = errors(everyone, fold)
    risk = np.array([np.mean(_peer(k, everyone).predict(X[30:]) != y[30:]) for k in ks])
    nested = []
    for i in range(5):
        kept, out = everyone[fold != i], everyone[fold == i]
        k = ks[np.argmin(errors(kept, fold[fold != i]))]
        nested.append(np.mean(_peer(k, kept).predict(X[out]) != y[out]))
    expected = outer.min(), np.mean(nested), risk[np.argmin(outer)], risk.min()
    assert found == pytest.approx(expected, abs=1e-12)


# ---- consistency --------------------------------------------------------------------------------


def test_e19_limits_by_their_polynomials():
    """One neighbour: 2 eta (1 - eta); three: eta (1 - eta) + 4 (eta (1 - eta))^2."""
    eta = np.linspace(0, 1, 101)
    v = eta * (1 - eta)
    assert consistency.limit_risk(eta, 1) == pytest.approx(np.mean(2 * v))
    assert consistency.limit_risk(eta, 3) == pytest.approx(np.mean(v + 4 * v**2))
    notes = [0.7325, 0.4651, 0.3828]
    assert nn_asymptotic(0.1, [1, 3, 5]).tolist() == pytest.approx(notes, abs=5e-5)


def test_e20_bayes_risk_and_limit_of_the_ramp():
    """R* = 1/(4c), and E 2 eta (1 - eta) = 1/(3c) is where one neighbour ends."""
    x = (np.arange(100_000) + 0.5)[:, None] / 100_000
    eta = consistency.ramp(x, 10.0)
    assert np.mean(np.minimum(eta, 1 - eta)) == pytest.approx(1 / 40, abs=1e-6)
    assert np.mean(2 * eta * (1 - eta)) == pytest.approx(1 / 30, abs=1e-6)
    frame = experiments.one_neighbor_risk().to_frame()
    assert frame["risk"].iloc[-1] == pytest.approx(
        1 / 30, abs=4 * frame["standard error"].iloc[-1]
    )  # four standard errors of 80 training sets: a false alarm below 1e-3


def test_e21_mean_distance_on_a_line_by_integration():
    m = 100

    def beyond(t, x):  # no row within t of x
        return (1 - (min(x + t, 1) - max(x - t, 0))) ** m

    exact, _ = dblquad(beyond, 0, 1, 0, 0.2, epsabs=1e-5)  # beyond 0.2 there is nothing
    frame = experiments.nearest_distances(columns=(1,), rows=(m, 10 * m), points=5000).to_frame()
    # Distances are about exponential: 5,000 of them, and one set of 1,000 rows, within 15 %.
    assert frame["distance at 1000"][0] * 10 == pytest.approx(exact, rel=0.15)


def test_e23_risk_of_a_table_by_simulation():
    """400 training sets of 50 rows; four standard errors are a false alarm of 6e-5."""
    source = no_free_lunch(1 / (16 * np.sqrt(np.arange(1, 201))))
    mass = np.repeat(source.probabilities, source.counts)
    assert mass.sum() == pytest.approx(1)
    errors = []
    for seed in range(400):
        truth = source.labels(seed)
        seen = source.sample(50, seed)
        guess = np.ones(len(mass))
        guess[seen] = truth[seen]
        errors.append(mass[guess != truth].sum())
    spread = np.std(errors, ddof=1) / 20
    assert np.mean(errors) == pytest.approx(source.expected_risk(50), abs=4 * spread)


# ---- half spaces --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "epochs", "w"),
    [
        ("OR", [3, 1, 2, 2, 1, 0], [2, 2, -1]),
        ("AND", [2, 3, 3, 2, 2, 3, 2, 1, 0], [3, 2, -4]),
    ],
)
def test_e24_traces_of_the_notes(gate, epochs, w):
    model = Perceptron(epochs="auto").fit(half_spaces.CORNERS, half_spaces.GATES[gate])
    assert model.updates_by_epoch_.tolist() == epochs
    assert [*model.coef_[0], model.intercept_[0]] == w
    assert "OR 9 updates (bound 27), AND 18 updates (bound 51)" in (
        experiments.perceptron_convergence_trace(margins=(0.5,), repeats=1).finding
    )


def test_e25_distance_by_search():
    """The nearest of many points on the line 3x + 4y = 10, which is 2 away at (1.2, 1.6)."""
    along = np.linspace(-5, 5, 100_001)
    points = np.column_stack([2 + 4 * along, 1 - 3 * along])
    distance = np.linalg.norm(points, axis=1)
    assert distance.min() == pytest.approx(2, abs=1e-6)
    assert points[np.argmin(distance)] == pytest.approx([1.2, 1.6], abs=1e-3)
    frame = experiments.plane_geometry(planes=5).to_frame()
    assert frame["distance"].tolist() == pytest.approx(frame["c/||v||"].tolist())


def test_e26_labellings_in_the_plane_by_turning_a_line():
    X = np.random.default_rng(0).normal(size=(5, 2))
    angle = np.linspace(0, 2 * np.pi, 20_000)
    seen = {tuple(row) for row in np.column_stack([np.cos(angle), np.sin(angle)]) @ X.T > 0}
    frame = experiments.separability_by_program(columns=2, most_rows=5).to_frame()
    assert len(seen) == frame["separable"].iloc[-1] == 10


def test_e27_fewest_mistakes_by_leaving_rows_out():
    """The fewest rows whose removal makes the others separable."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(9, 2)), np.resize([-1, 1], 9)
    ones = np.column_stack([X, np.ones(9)])

    def parted(rows):
        return len(set(y[rows])) == 1 or separable(ones[rows], y[rows])

    fewest = next(
        k
        for k in range(9)
        if any(parted(np.delete(np.arange(9), out)) for out in combinations(range(9), k))
    )
    assert half_space_erm(X, y).mistakes == fewest > 0


# ---- streams ------------------------------------------------------------------------------------


def test_e28_risk_of_a_half_space_by_simulation():
    """10^5 rows; four standard errors are a false alarm of 6e-5."""
    S = make.two_gaussians(100_000, distance=2.0, seed=1)
    w, b = np.array([1.0, 0.3]), -0.4
    exact = streams.half_space_risk(w, b, 2.0)
    error = np.mean((S.X @ w + b >= 0) != S.y)
    assert error == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 100_000))
    assert perceptron_compression(0.0, 10, 1000, 0.05) == pytest.approx(0.282809, abs=5e-7)


def test_e30_mistakes_by_a_plain_loop():
    assert perceptron_mistakes(4.0, 2.0, 1.0) == 12.0  # 4 + 4 + 2 * 2
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.choice([-1, 1], size=60)
    w, mistakes = np.zeros(3), 0
    for x, label in zip(X, y, strict=True):
        if label * (w @ x) <= 0:
            w, mistakes = w + label * x, mistakes + 1
    assert Perceptron(epochs=1, fit_intercept=False).fit(X, y).n_updates_ == mistakes


def test_e31_regret_by_a_plain_loop():
    frame = experiments.regret_rates(rounds=(10, 50), streams=1, seed=5).to_frame()
    y = np.random.default_rng(5).choice([-1.0, 1.0], size=50)
    # Steps sqrt(2)/sqrt(t) in [-1, 1]; the derivative of |y - w| is -y inside, 0 on the kink.
    w, loss = 0.0, []
    for t, label in enumerate(y, start=1):
        loss.append(abs(label - w))
        w = float(np.clip(w + math.sqrt(2 / t) * np.sign(label - w), -1, 1))
    best = min(np.mean(np.abs(y - u)) for u in (-1.0, 1.0))  # linear in u: an end is best
    assert frame["regret, convex"][1] == pytest.approx(np.mean(loss) - best)
    w, loss = 0.0, []
    for t, label in enumerate(y, start=1):
        loss.append(abs(label - w) + w**2)
        w -= (-np.sign(label - w) + 2 * w) / (2 * t)
    grid = np.linspace(-1, 1, 200_001)
    best = np.min(np.mean(np.abs(y[:, None] - grid[::100]), axis=0) + grid[::100] ** 2)
    assert frame["regret, strongly convex"][1] == pytest.approx(np.mean(loss) - best, abs=1e-6)


def test_e29_moments_by_matrices():
    rng = np.random.default_rng(0)
    S, w, alpha = rng.normal(size=(9, 3)), np.array([1.0, -2.0, 0.5]), 0.7
    A = np.linalg.solve(S.T @ S + alpha * np.eye(3), S.T)  # w-hat = A y
    variance, bias2 = shrinkage.coefficient_moments(S, w, np.array([alpha]), 1.5)
    assert variance[0] == pytest.approx(1.5**2 * np.trace(A @ A.T))
    assert bias2[0] == pytest.approx(np.sum((A @ S @ w - w) ** 2))


# ---- maps and kernels ---------------------------------------------------------------------------


def test_e32_xor_after_the_map():
    """u = x1 x2 has margin 1 and norm 1, and every row six entries of size 1: the bound is 6."""
    frame = experiments.conics(gaps=(0.8,)).to_frame()
    assert frame["bound"][0] == pytest.approx(6)
    assert frame["updates"][0] <= 6


def test_e33_inner_product_of_the_notes():
    """x = (1, 2), x' = (3, -1): both sides are 4, where the printed expansion would give 3."""
    phi = feature_maps.monomials(np.array([[1.0, 2.0], [3.0, -1.0]]), 2)
    assert phi.shape == (2, 6)
    assert phi[0] @ phi[1] == pytest.approx((1 + 1) ** 2) == 4
    assert feature_maps.least_eigenvalue(np.array([[0.0, 1.0], [1.0, 0.0]])) == -1


def test_e34_orthogonal_rows_need_one_update_each():
    """With K = I the f of least norm is y itself: bound and updates are both the rows."""
    y = np.resize([1.0, -1.0], 6)
    assert feature_maps.kernel_perceptron_updates(np.eye(6), y, 10) == (6, True)
    frame = experiments.kernel_learners(widths=(1e-7, 1e-6), rows=6).to_frame()
    assert frame["updates"].tolist() == [6, 6]
    assert frame["bound"].tolist() == pytest.approx([6, 6], rel=1e-5)  # 1e-6 on the diagonal
