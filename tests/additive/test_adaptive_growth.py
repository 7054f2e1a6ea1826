"""Growth of adaptive splines: what the sums find is what refits find."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.additive._adaptive import binned as binning
from bottega.additive._adaptive.basis import HINGE, LINE, MISSING, SUBSET
from bottega.additive._adaptive.forward import _HingeGrower, grow
from bottega.additive._adaptive.parents import LINE_ONLY
from bottega.additive._adaptive.settings import GrowthSettings

FREE = {"minspan": 1, "endspan": 1, "endspan_factor": 1.0, "threshold": 0.0}


def friedman(n, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, p))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, y + rng.normal(size=n)


def rss_of(B, Y, w):
    """Return what a refit by singular values leaves, over all responses."""
    root = np.sqrt(w)[:, None]
    scaled = B * root
    length = np.linalg.norm(scaled, axis=0)
    U, size, _ = np.linalg.svd(scaled / np.where(length > 0, length, 1), full_matrices=False)
    U = U[:, size > 1e-9 * size[0]]
    left = Y * root
    return float(np.sum((left - U @ (U.T @ left)) ** 2))


def described(basis):
    return [[(f.variable, f.kind, f.knot, f.sign, f.levels) for f in t.factors] for t in basis]


def test_the_worth_of_every_input_of_every_parent_is_that_of_the_best_refit():
    rng = np.random.default_rng(1)
    n, p = 90, 4
    X = rng.normal(size=(n, p))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] = np.exp(3 * X[:, 2])  # a long tail
    X[rng.random(n) < 0.15, 0] = np.nan
    first = np.abs(np.nan_to_num(X[:, 0], nan=2.0)) + X[:, 1] * (X[:, 3] > 0)
    Y = np.column_stack([first + 0.1 * rng.normal(size=n), first**2])
    w = rng.integers(1, 4, n).astype(float)
    grower = _HingeGrower(
        X, Y, w, GrowthSettings(max_terms=20, degree=2, **FREE), np.zeros(p, int), None
    )
    scale = grower.weight_unit * grower.unit**2
    for _ in range(4):
        step, B = len(grower.rss), grower.B[:, : len(grower.terms)].copy()
        before = rss_of(B, Y, w)
        assert grower._step() == ""
        for parent in grower.parents:
            if parent.step != step:
                continue
            for j in parent.numbers:
                b, x = B[:, parent.position], X[:, j]
                gone = np.isnan(x)
                found = []
                for k, t in enumerate(np.unique(x[~gone])):
                    if parent.state[j, 3, k] > 0:
                        h = np.where(gone, 0, x - t)
                        new = [b * gone, b * np.maximum(h, 0), b * np.minimum(h, 0)]
                        found.append(before - rss_of(np.column_stack([B, *new]), Y, w))
                if parent.knot[j] == LINE_ONLY:  # a knot would be worth little more
                    x = np.nan_to_num(x, nan=np.nanmin(x))
                    new = [b * gone, b * (x - x.min())]
                    line = before - rss_of(np.column_stack([B, *new]), Y, w)
                    assert max(found) - line <= parent.price * (before - max(found)) * (1 + 1e-8)
                    found = [line]
                # Both solve the same least-squares problems; columns of a long tail lose digits.
                assert parent.gain[j] * scale == pytest.approx(max(found), rel=1e-8, abs=1e-9)


def test_the_levels_found_are_the_best_of_all_subsets():
    rng = np.random.default_rng(3)
    n, levels = 200, 6
    g = rng.integers(0, levels, n).astype(float)
    z = rng.normal(size=n)
    y = np.isin(g, [1, 4]) * 2.0 + 0.3 * z + 0.1 * rng.normal(size=n)
    X = np.column_stack([g, z])
    X[::17, 0] = np.nan
    grown = grow(X, y, None, GrowthSettings(max_terms=3), n_levels=np.array([levels, 0]))
    kinds = [factor.kind for term in grown.basis for factor in term.factors]
    assert kinds == [MISSING, SUBSET]
    gone = np.isnan(X[:, 0])
    least = min(
        rss_of(
            np.column_stack([np.ones(n), gone, np.isin(X[:, 0], subset)]), y[:, None], np.ones(n)
        )
        for code in range(1, 2**levels - 1)
        for subset in [[k for k in range(levels) if code >> k & 1]]
    )
    assert grown.rss[-1] == pytest.approx(least, rel=1e-10)
    assert grown.basis.terms[2].factors[0].levels == (1, 4)


def test_levels_of_few_rows_are_one_level():
    rng = np.random.default_rng(8)
    n = 200
    name = np.arange(n, dtype=float)
    shop = np.where(name < 150, name % 3, 3 + name % 20)  # the shops from 3 on have 2 or 3 rows
    X = np.column_stack([name, shop])
    levels = np.array([n, 23])
    y = 2.0 * (shop > 2) + 0.1 * rng.normal(size=n)
    grown = grow(X, y, None, GrowthSettings(max_terms=2), n_levels=levels)
    (factor,) = grown.basis.terms[1].factors
    assert factor.variable == 1
    chosen = set(factor.levels)
    assert chosen in ({0, 1, 2}, set(range(3, 23)))
    assert grown.basis.matrix(X) == pytest.approx(grown.matrix, abs=0)
    alone = grow(X[:, :1], y, None, GrowthSettings(), n_levels=levels[:1])
    assert len(alone.basis) == 1  # a name of each row says nothing


def test_sums_over_levels_are_kept_from_step_to_step():
    rng = np.random.default_rng(6)
    g = rng.integers(0, 5, (400, 2)).astype(float)
    z = rng.normal(size=400)
    y = np.isin(g[:, 0], [0, 3]) * np.abs(z) + np.isin(g[:, 1], [1, 2]) * z
    X = np.column_stack([g, z])
    grown = grow(X, y, None, GrowthSettings(degree=2, max_terms=15), n_levels=np.array([5, 5, 0]))
    assert grown.rss[-1] < 0.01 * grown.rss[0]
    rss = rss_of(grown.matrix, y[:, None], np.ones(400))
    assert grown.rss[-1] == pytest.approx(rss, rel=1e-6)
    # Each step found what it promised: the sums of the levels are those of the columns.
    fall = -np.diff(grown.rss)
    assert grown.gains[grown.n_terms[1:] - 1] == pytest.approx(fall, rel=1e-8)


def test_knots_lie_at_evenly_spaced_ranks():
    # The ranks that R's earth 5.3.2 uses for 47 rows and 5 columns (minspan 4, endspan 9).
    n, p = 47, 5
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(1.0, n + 1), *(rng.permutation(n) for _ in range(p - 1))])
    grower = _HingeGrower(X, X[:, :1] ** 2, None, GrowthSettings(), np.zeros(p, int), None)
    grower._step()
    (parent,) = grower.parents[:1]
    assert (parent.spacing, parent.margin) == (4, 9)
    assert X[parent.state[0, 3, :n] > 0, 0].tolist() == [10, 14, 18, 22, 26, 30, 34, 38]


def test_what_is_grown_is_what_its_terms_say():
    X, y = friedman(400)
    X[::9, 4] = np.nan
    grown = grow(X, y, None, GrowthSettings(degree=3, max_terms=25))
    B = grown.basis.matrix(X)
    assert np.array_equal(B, grown.matrix)
    assert grown.rss[-1] == pytest.approx(rss_of(B, y[:, None], np.ones(len(y))), rel=1e-9)
    assert np.all(np.diff(grown.rss) < 0)
    assert grown.n_terms[-1] == len(grown.basis) == len(grown.gains)
    assert max(term.degree for term in grown.basis) <= 3
    for term in grown.basis:
        assert len(set(term.variables)) == term.degree


def test_a_kink_between_bins_is_found_where_it_is(monkeypatch):
    rng = np.random.default_rng(5)
    x = np.sort(rng.random(3000))
    for place in (200, 1500, 2900):
        y = np.abs(x - x[place]) + 0.3 * x
        monkeypatch.setattr(binning, "MAX_BINS", 40)
        grown = grow(x[:, None], y, None, GrowthSettings(max_terms=3, minspan=1))
        assert {factor.knot for factor in grown.basis.terms[1].factors} == {x[place]}
        assert grown.rss[-1] < 1e-20 * grown.rss[0]


def test_few_bins_grow_nearly_the_same(monkeypatch):
    X, y = friedman(1500)
    whole = grow(X, y, None, GrowthSettings(degree=2, max_terms=15))
    monkeypatch.setattr(binning, "MAX_BINS", 10_000)
    exact = grow(X, y, None, GrowthSettings(degree=2, max_terms=15))
    assert whole.rss[-1] == pytest.approx(exact.rss[-1], rel=0.01)


def test_units_and_the_order_of_rows_do_not_matter():
    X, y = friedman(300)
    grown = grow(X, y, None, GrowthSettings(degree=2))
    order = np.random.default_rng(9).permutation(len(y))
    shift, scale = 1e3 * np.arange(6.0), 10.0 ** np.arange(-3, 3)
    other = grow((shift + X * scale)[order], 1e-4 * y[order] + 7, None, GrowthSettings(degree=2))
    assert other.rss[-1] * 1e8 == pytest.approx(grown.rss[-1], rel=1e-6)
    moved = [
        [(f.variable, f.kind, f.sign, round((f.knot - shift[f.variable]) / scale[f.variable], 6))
         for f in term.factors]
        for term in other.basis
    ]  # fmt: skip
    assert moved == [
        [(f.variable, f.kind, f.sign, round(f.knot, 6)) for f in term.factors]
        for term in grown.basis
    ]


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_whole_weights_are_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    X, y = friedman(120, seed=seed)
    w = rng.integers(1, 4, len(y))
    weighted = grow(X, y, w.astype(float), GrowthSettings(degree=2, max_terms=9))
    repeated = grow(X.repeat(w, axis=0), y.repeat(w), None, GrowthSettings(degree=2, max_terms=9))
    assert described(weighted.basis) == described(repeated.basis)
    assert weighted.rss == pytest.approx(repeated.rss, rel=1e-9)


def test_weights_count_by_their_ratios_where_they_are_not_whole():
    X, y = friedman(200)
    w = np.random.default_rng(2).random(len(y)) + 0.1
    one, other = (grow(X, y, c * w, GrowthSettings(max_terms=11)) for c in (1.0, 1e-7))
    assert described(one.basis) == described(other.basis)


def test_missing_values_get_a_term_of_their_own_and_new_ones_are_filled():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2))
    X[:100, 0] = np.nan
    y = np.where(np.isnan(X[:, 0]), 5.0, np.maximum(X[:, 0], 0)) + 0.01 * rng.normal(size=300)
    grown = grow(X, y, None, GrowthSettings(minspan=1))
    assert (0, MISSING) in [(f.variable, f.kind) for t in grown.basis for f in t.factors]
    assert grown.rss[-1] < 0.01 * grown.rss[0]
    assert np.isnan(grown.basis.fill[0])
    assert grown.basis.fill[1] == np.sort(X[:, 1])[149]
    filled = grown.basis.matrix(np.array([[0.5, np.nan], [0.5, grown.basis.fill[1]]]))
    assert np.array_equal(filled[0], filled[1])


def test_linear_columns_and_straight_lines_have_no_knots():
    X, y = friedman(300)
    grown = grow(X, y, None, GrowthSettings(degree=2, linear=(2, 3)))
    found = {f.kind for t in grown.basis for f in t.factors if f.variable in (2, 3)}
    assert found == {LINE}
    assert {f.kind for t in grown.basis for f in t.factors if f.variable < 2} == {HINGE}
    straight = grow(X, 3 * X[:, 1], None, GrowthSettings())
    assert [f.variable for t in straight.basis for f in t.factors] == [1]


def test_every_parent_gets_its_turn():
    X, y = friedman(400)
    waited = {}
    for beta in (0.0, 5.0):
        given_ = GrowthSettings(degree=3, max_terms=31, fast_k=3, fast_beta=beta, threshold=0.0)
        grower = _HingeGrower(X, y[:, None], None, given_, np.zeros(6, int), None)
        grower.run()
        waited[beta] = [len(grower.rss) - parent.step for parent in grower.parents[:-6]]
    assert max(waited[5.0]) < max(waited[0.0])  # new parents come first in any case
    whole = grow(X, y, None, GrowthSettings(degree=3, max_terms=31, fast_k=0))
    long_enough = grow(X, y, None, GrowthSettings(degree=3, max_terms=31, fast_k=50))
    assert described(long_enough.basis) == described(whole.basis)


def test_given_residuals_of_least_squares_change_nothing():
    X, y = friedman(200)

    def residual(B):
        return (y - B @ np.linalg.lstsq(B, y, rcond=None)[0])[:, None]

    given_ = grow(X, y, None, GrowthSettings(degree=2, max_terms=11), residual=residual)
    assert described(given_.basis) == described(
        grow(X, y, None, GrowthSettings(degree=2, max_terms=11)).basis
    )


@pytest.mark.parametrize("unit", [1e155, 1e300, 1e-200])
def test_extreme_units_are_taken_in_their_stride(unit):
    X, y = friedman(150)
    plain = grow(X, y, None, GrowthSettings(degree=2, max_terms=11))
    extreme = grow(X * unit, y * unit, None, GrowthSettings(degree=2, max_terms=11))
    assert np.isfinite(extreme.matrix).all()
    assert extreme.rss.shape == plain.rss.shape
    assert [t.variables for t in extreme.basis] == [t.variables for t in plain.basis]


@pytest.mark.parametrize(
    ("Y", "given_", "words"),
    [
        (lambda X: np.ones(len(X)), {}, "reproduce"),
        (lambda X: X[:, 0], {}, "reproduce"),
        (lambda X: X[:, 0] ** 2, {"max_terms": 3}, "most terms"),
        (lambda X: np.sin(40 * X[:, 0]), {"threshold": 0.9}, "threshold"),
        (lambda X: np.cos(1e4 * X[:, 0]), {"threshold": 0.0, "max_terms": 99}, "too many"),
    ],
)
def test_growth_says_why_it_ends(Y, given_, words):
    X = np.random.default_rng(0).random((60, 3))
    assert words in grow(X, Y(X), None, GrowthSettings(**given_)).stopped


def test_empty_constant_and_equal_columns_do_no_harm():
    rng = np.random.default_rng(0)
    x = rng.random(80)
    X = np.column_stack([np.full(80, np.nan), np.ones(80), x, x])
    grown = grow(X, np.abs(x - 0.5), None, GrowthSettings(degree=2, minspan=1))
    assert {f.variable for t in grown.basis for f in t.factors} == {2}


def test_one_far_value_hides_nothing():
    rng = np.random.default_rng(1)
    x = rng.lognormal(size=1500)
    y = np.minimum(np.abs(x - 1.0), 3.0)
    near, x[0] = np.minimum(x, 50.0), 1e9
    far, near = (grow(each[:, None], y, None, GrowthSettings()) for each in (x, near))
    assert far.rss[-1] <= 1.1 * near.rss[-1] < 0.01 * near.rss[0]


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_columns_that_nearly_repeat_each_other_do_not_make_coefficients_explode(degree):
    rng = np.random.default_rng(degree)
    x, noise = rng.normal(size=300), rng.normal(size=(300, 3))
    X = np.column_stack([x, x + 1e-9 * noise[:, 0], x + 1e-4 * noise[:, 1], 1e8 + x, np.exp(x)])
    given_ = GrowthSettings(degree=degree, threshold=0.0, max_terms=41, minspan=1, endspan=1)
    B = grow(X, np.sin(3 * x) + 0.1 * noise[:, 2], None, given_).matrix
    B = B / np.linalg.norm(B, axis=0)
    # A term must keep 1e-7 of its square to itself: on one scale, thousands at most, never 1e13.
    assert np.abs(np.linalg.lstsq(B, np.sin(3 * x), rcond=None)[0]).max() < 1e5
    assert np.linalg.cond(B) < 1e7


def test_levels_of_a_row_each_tell_nothing():
    """Sorted by their responses they would reproduce these; together they are one level."""
    rng = np.random.default_rng(5)
    x, key = rng.normal(size=200), rng.permutation(200).astype(float)
    y = np.abs(x) + 0.3 * rng.normal(size=200)
    levels = np.array([200, 0])
    grown = grow(np.column_stack([key, x]), y, None, GrowthSettings(), n_levels=levels)
    assert {factor.variable for term in grown.basis.terms for factor in term.factors} == {1}
    few = np.repeat([0.0, 1.0, 2.0, 3.0], [97, 97, 3, 3])  # two rare levels are one, with an effect
    y = 5.0 * (few >= 2) + 0.1 * rng.normal(size=200)
    grown = grow(few[:, None], y, None, GrowthSettings(), n_levels=np.array([4]))
    assert grown.basis.terms[1].factors[0].levels == (2, 3)
