"""Worked numbers and helpers of the chapters on statistical methods."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier

from bottega import course
from bottega.core.folds import deal_folds
from bottega.course.statistical_methods import (
    consistency,
    dimensionality,
    foundations,
    kernels,
    linear_classifiers,
    linear_predictors,
    nearest_neighbors,
    nonparametric,
    statistical_learning,
    tree_predictors,
    tree_risk,
    tuning,
)
from bottega.data import make
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
from bottega.risk.theory.half_space import half_space_erm
from bottega.risk.theory.margin import separable
from bottega.tree import TreeClassifier


def test_e01_twelve_decades():
    frame = course.confident_forecasts().to_frame()
    assert frame["logarithmic"].iloc[-1] == pytest.approx(12 * math.log(10), rel=1e-12)
    assert frame["absolute"].iloc[0] == pytest.approx(0.9)
    assert frame["absolute"].iloc[-1] < 1


def test_e02_by_plain_loops():
    """The notes' toy problem: five points, three of them training points, 32 truths."""
    errors = []
    for truth in product([1, -1], repeat=5):
        fits = [f for f in product([1, -1], repeat=5) if f[:3] == truth[:3]]
        assert len(fits) == 4
        errors += [np.mean([f[i] != truth[i] for i in (3, 4)]) for f in fits]
    frame = course.rich_class().to_frame()
    assert frame["minimisers"].tolist() == [32, 16, 8, 4, 2, 1]
    assert frame["mean error elsewhere"][3] == pytest.approx(np.mean(errors)) == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_e03_step_functions_minimise_the_training_error(seed):
    rng = np.random.default_rng(seed)
    where, y = foundations.draw_rows(foundations.chirp(), 12, rng)
    predicted = foundations.step_erm(where, y, 8, 1024)
    least = min(
        np.mean(np.repeat(labels, 128)[where] != y) for labels in product([False, True], repeat=8)
    )
    assert np.mean(predicted[where] != y) == least


def test_e14_bound_of_the_notes():
    assert erm_finite(1000, 32, 0.05) == pytest.approx(0.119621, abs=5e-7)  # six printed digits
    frame = course.erm_deviation(rows=(50, 500), repeats=20).to_frame()
    written_out = [math.sqrt(2 / m * math.log(2 * 32 / 0.05)) for m in (50, 500)]
    assert frame["bound"].tolist() == pytest.approx(written_out)


def test_e06_a_query_looks_at_m_times_d_numbers():
    touched = nearest_neighbors._Counter()
    rng = np.random.default_rng(0)
    nearest_neighbors.NeighborSearch(rng.normal(size=(7, 3)), touched).query(
        rng.normal(size=(1, 3)), 2
    )
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


def test_e07_gains_of_the_notes():
    """Table 1 split at humidity 70: 5 to 4 into 4 to 1 and 1 to 3 (six printed digits)."""
    gains = [
        float(
            tree_predictors.psi(5 / 9, name)
            - 5 / 9 * tree_predictors.psi(4 / 5, name)
            - 4 / 9 * tree_predictors.psi(1 / 4, name)
        )
        for name in tree_predictors.PSI
    ]
    assert gains == pytest.approx([0.222222, 0.149383, 0.114718, 0.082232], abs=5e-7)


def test_e08_gains_of_the_notes():
    found = course.impurity_stall().finding
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
    found = [float(tree_predictors.psi(p, name)) for name in tree_predictors.PSI]
    assert found == pytest.approx(values, abs=5e-7)  # six printed digits


def test_e37_entropies_of_the_notes():
    """The notes print 0.8816 for (0.7, 0.3), from rounded logarithms: 0.881291 is right."""
    shown = [[0.7, 0.3, 0, 0, 0, 0], [1, 1, 1, 2, 0, 0], [1, 1, 1, 1, 1, 1], [0, 1, 0, 0, 0, 0]]
    bits = nonparametric.entropy_bits(np.array(shown))
    assert bits.tolist() == pytest.approx([0.881291, 1.921928, 2.584963, 0], abs=5e-7)
    table1 = nonparametric.entropy_bits(np.array([[5, 4], [4, 1], [1, 3]]))
    assert table1[0] - (5 * table1[1] + 4 * table1[2]) / 9 == pytest.approx(0.229437, abs=5e-7)


def test_e10_formula_of_a_known_function():
    cube = np.array(list(product([0.0, 1.0], repeat=3)))
    y = [int((a and b) or c) for a, b, c in cube]
    formula = TreeClassifier(0.0).fit(cube, y).dnf(1)
    assert formula.holds(cube).tolist() == [bool(each) for each in y]
    assert len(formula) == 2  # as it was written


def test_e36_disagreement_by_pairs():
    predicted = np.random.default_rng(0).integers(0, 2, size=(5, 40))
    pairs = [np.mean(a != b) for a, b in combinations(predicted, 2)]
    assert nonparametric.disagreement(predicted) == pytest.approx(np.mean(pairs))


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
    assert tree_risk.table_excess(m, d, q) == pytest.approx(cells, abs=1e-12)
    assert tree_risk.stump_excess(m, d, q) == pytest.approx(stumps, abs=1e-12)


def test_e16_counts_of_the_notes():
    frame = course.tree_counting().to_frame()
    two = frame[frame["columns"] == 2]
    three = frame[frame["columns"] == 3].set_index("nodes")["functions"]
    assert two["functions"].tolist() == [2, 6, 14, 16]
    assert three[[1, 3, 5, 7, 15]].tolist() == [2, 8, 32, 126, 256]
    assert (two["leaves"] == [1, 2, 3, 4]).all()


def test_e17_kraft_sums_of_the_notes():
    sums = [tree_risk.kraft_sum(d) for d in (1, 2, 5, 10)]
    assert sums == pytest.approx([0.064619, 0.015878, 0.016305, 0.003986], abs=5e-7)
    # Two leaves of 5 bits, and one test with four pairs of labels of 11 bits.
    assert tree_risk.kraft_sum(1, most_nodes=3) == 2 * 2**-5 + 4 * 2**-11


def test_e12_probabilities_by_hand():
    """Ten fair coins: off by more than 0.2 with 2 (1 + 10 + 45) / 1024."""
    assert statistical_learning.miss_probability(10, 0.5, 0.2) == pytest.approx(112 / 1024)
    assert hoeffding_deviation(100, 0.05) == pytest.approx(0.135810, abs=5e-7)


def test_e12_best_of_several_by_simulation():
    """20,000 draws; four standard errors are a false alarm of 6e-5."""
    rng = np.random.default_rng(0)
    least = rng.binomial(50, 0.4, size=(20_000, 7)).min(axis=1) / 50
    rate = np.mean(np.abs(least - 0.4) > 0.1 + 1e-12)
    exact = statistical_learning.miss_probability(50, 0.4, 0.1, 7)
    assert rate == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000))


def test_e18_errors_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    X, y, ks = rng.normal(size=(60, 3)), rng.integers(0, 2, size=60), np.array([1, 3, 7])
    X[:, 0] += y
    fold = deal_folds(30, 5)
    found = tuning.tuned_errors(X[:30], y[:30], X[30:], y[30:], ks, fold)

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
    eta = dimensionality.ramp(x, 10.0)
    assert np.mean(np.minimum(eta, 1 - eta)) == pytest.approx(1 / 40, abs=1e-6)
    assert np.mean(2 * eta * (1 - eta)) == pytest.approx(1 / 30, abs=1e-6)


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


@pytest.mark.parametrize(
    ("gate", "epochs", "w"),
    [
        ("OR", [3, 1, 2, 2, 1, 0], [2, 2, -1]),
        ("AND", [2, 3, 3, 2, 2, 3, 2, 1, 0], [3, 2, -4]),
    ],
)
def test_e24_traces_of_the_notes(gate, epochs, w):
    model = Perceptron(max_iter=1000, until_clean=True).fit(
        linear_predictors.CORNERS, linear_predictors.GATES[gate]
    )
    assert model.updates_by_epoch_.tolist() == epochs
    assert [*model.coef_[0], model.intercept_[0]] == w
    assert "OR 9 updates (bound 27), AND 18 updates (bound 51)" in (
        course.perceptron_convergence_trace(margins=(0.5,), repeats=1).finding
    )


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


def test_e28_risk_of_a_half_space_by_simulation():
    """10^5 rows; four standard errors are a false alarm of 6e-5."""
    S = make.two_gaussians(100_000, distance=2.0, random_state=1)
    w, b = np.array([1.0, 0.3]), -0.4
    exact = linear_classifiers.half_space_risk(w, b, 2.0)
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
    assert Perceptron(max_iter=1, fit_intercept=False).fit(X, y).n_updates_ == mistakes


def test_e29_moments_by_matrices():
    rng = np.random.default_rng(0)
    S, w, alpha = rng.normal(size=(9, 3)), np.array([1.0, -2.0, 0.5]), 0.7
    A = np.linalg.solve(S.T @ S + alpha * np.eye(3), S.T)  # w-hat = A y
    variance, bias2 = linear_predictors.coefficient_moments(S, w, np.array([alpha]), 1.5)
    assert variance[0] == pytest.approx(1.5**2 * np.trace(A @ A.T))
    assert bias2[0] == pytest.approx(np.sum((A @ S @ w - w) ** 2))


def test_e32_xor_after_the_map():
    """u = x1 x2 has margin 1 and norm 1, and every row six entries of size 1: the bound is 6."""
    frame = course.conics(gaps=(0.8,)).to_frame()
    assert frame["bound"][0] == pytest.approx(6)
    assert frame["updates"][0] <= 6


def test_e33_inner_product_of_the_notes():
    """x = (1, 2), x' = (3, -1): both sides are 4, where the printed expansion would give 3."""
    phi = kernels.monomials(np.array([[1.0, 2.0], [3.0, -1.0]]), 2)
    assert phi.shape == (2, 6)
    assert phi[0] @ phi[1] == pytest.approx((1 + 1) ** 2) == 4
    assert kernels.least_eigenvalue(np.array([[0.0, 1.0], [1.0, 0.0]])) == -1


def test_e34_orthogonal_rows_need_one_update_each():
    """With K = I the f of least norm is y itself: bound and updates are both the rows."""
    y = np.resize([1.0, -1.0], 6)
    assert kernels.kernel_perceptron_updates(np.eye(6), y, 10) == (6, True)
    frame = course.kernel_learners(widths=(1e-7, 1e-6), rows=6).to_frame()
    assert frame["updates"].tolist() == [6, 6]
    assert frame["bound"].tolist() == pytest.approx([6, 6], rel=1e-5)  # 1e-6 on the diagonal
