"""Proportions of classes in unread texts: references, the notes' formula, intervals, groups."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bottega.core.errors import InputError
from bottega.text import AggregateProportions, StemMatrix
from bottega.text._proportions.cells import StemCells, presence
from bottega.text._proportions.equations import Draws, class_means, mean_of, solved, summing_to_one
from bottega.text._proportions.maximum import (
    calibration_of,
    maximum_likelihood,
    recalibrated,
    reweighted,
)

REFERENCE = Path(__file__).parents[1] / "reference/text/quantifiers.json"
CASES = json.loads(REFERENCE.read_text())["cases"]
CLASSES = np.array(["against", "for", "off-topic"])


def population(seed=5, p=40):
    """Return the chances of stems by class: those of one class are not independent."""
    rng = np.random.default_rng(seed)
    base = rng.normal(-2, 0.7, p)
    chance = base + rng.normal(0, 0.9, (3, p)) * (rng.random(p) < 0.6)
    return chance, rng.normal(0, 0.5, p)


def draw(n, shares, rng, made=None):
    chance, together = population() if made is None else made
    codes = rng.choice(3, n, p=shares)
    z = chance[codes] + rng.normal(size=(n, 1)) * together
    return (rng.random(z.shape) < 1 / (1 + np.exp(-z))).astype(float), CLASSES[codes]


TAGGED, UNREAD = (0.5, 0.3, 0.2), (0.15, 0.6, 0.25)


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    S, D = draw(600, TAGGED, rng)
    unread, truth = draw(900, UNREAD, rng)
    return sparse.csr_matrix(S), D, sparse.csr_matrix(unread), truth


@pytest.fixture(scope="module")
def model(texts):
    return AggregateProportions(cv=5).fit(texts[0], texts[1])


# ---- references ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['em'])} classes")
def test_quapy_on_the_same_predictions(case):
    codes, tagged, unread = (np.array(case[name]) for name in ("codes", "tagged", "unread"))
    K, n = tagged.shape[1], np.ones(len(codes))
    one = np.eye(K)
    hard = one[unread.argmax(axis=1)].mean(axis=0)
    assert hard == pytest.approx(case["count"], abs=1e-12)
    M = class_means(one[tagged.argmax(axis=1)], codes, n, K)
    # QuaPy minimises the same by SLSQP, to about 1e-4; ours must not be a worse minimum.
    for name, A, c in (
        ("adjusted_count", M, hard),
        (
            "probabilistic_adjusted_count",
            class_means(tagged, codes, n, K),
            unread.mean(axis=0),
        ),
    ):
        found = solved(A, c, constrained=True)
        assert found == pytest.approx(case[name], abs=2e-3)
        assert np.sum((A @ found - c) ** 2) <= np.sum((A @ case[name] - c) ** 2) + 1e-12
    prior = np.bincount(codes, minlength=K) / len(codes)
    found = maximum_likelihood(unread, prior, np.ones(len(unread)))
    # QuaPy stops after 1,000 iterations at the latest; ours must not be less likely.
    assert found == pytest.approx(case["em"], abs=1e-4)

    def likelihood(pi):
        return np.log((unread / prior) @ pi).sum()

    assert likelihood(found) >= likelihood(np.array(case["em"])) - 1e-7


def test_the_notes_formula_is_the_unconstrained_answer():
    """P(D) = (X'X)^-1 X' P(S) with X = P(S | D) over all 2^m patterns of m stems."""
    rng = np.random.default_rng(3)
    S, D = draw(400, TAGGED, rng)
    unread, _ = draw(300, UNREAD, rng)
    frequent = np.argsort(-S.sum(axis=0))[:4]
    S, unread = S[:, frequent], unread[:, frequent]
    bits = 1 << np.arange(4)
    X = np.array([np.bincount((S[k == D] @ bits).astype(int), minlength=16) for k in CLASSES]).T
    X = X / X.sum(axis=0)
    P = np.bincount((unread @ bits).astype(int), minlength=16) / len(unread)
    model = AggregateProportions("least_squares", block_size=4, n_blocks=1, constrained=False)
    expected = np.linalg.inv(X.T @ X) @ X.T @ P
    assert model.fit(S, D).predict(unread) == pytest.approx(expected, abs=1e-9)
    kept = model.set_params(constrained=True).fit(S, D).predict(unread)
    assert kept.min() >= 0
    assert kept.sum() == pytest.approx(1)


def test_proportions_that_the_equations_fit_exactly_are_found():
    rng = np.random.default_rng(4)
    M = rng.dirichlet(np.ones(6), size=3).T
    for pi in ([0.2, 0.5, 0.3], [0.0, 1.0, 0.0]):
        assert solved(M, M @ pi, constrained=True) == pytest.approx(pi, abs=1e-9)
        assert solved(M, M @ pi, constrained=False) == pytest.approx(pi, abs=1e-9)
        assert summing_to_one(M[None], (M @ pi)[None])[0] == pytest.approx(pi, abs=1e-9)


# ---- properties ----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 4), st.integers(0, 10_000))
def test_expectation_maximisation_is_at_the_maximum(K, seed):
    rng = np.random.default_rng(seed)
    P, prior = rng.dirichlet(np.ones(K), size=40), rng.dirichlet(np.full(K, 5.0))
    weight = rng.integers(1, 4, 40).astype(float)
    pi = maximum_likelihood(P, prior, weight)
    # The mean of the reweighted probabilities is the gradient relative to one: at most 1 + slack,
    # and 1 where a proportion is positive. The slack is that of the rise at which it ends.
    slope = (weight / weight.sum()) @ ((P / prior) / ((P / prior) @ pi)[:, None])
    assert np.all(slope <= 1 + 1e-3)
    assert np.all((pi < 1e-2) | (np.abs(slope - 1) < 1e-3))
    repeated = maximum_likelihood(
        np.repeat(P, weight.astype(int), axis=0), prior, np.ones(int(weight.sum()))
    )
    assert pi == pytest.approx(repeated, abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 10_000))
def test_cells_hold_each_text_once_per_block(size, count, seed):
    rng = np.random.default_rng(seed)
    S = (rng.random((30, 7)) < 0.3).astype(float)
    cells = StemCells.drawn(np.arange(7), 7, size, count, rng)
    inside = cells.indicators(S)
    shares = cells.completed(mean_of(inside, np.ones(30)))
    assert shares.reshape(count, -1).sum(axis=1) == pytest.approx(np.ones(count))
    assert shares.min() >= -1e-12
    b = int(rng.integers(count))
    codes = (S[:, cells.blocks[b]] @ (1 << np.arange(cells.blocks.shape[1]))).astype(int)
    by_hand = np.bincount(codes, minlength=cells.patterns) / 30
    assert shares.reshape(count, -1)[b] == pytest.approx(by_hand)
    table = rng.normal(size=(count * cells.patterns, 2))
    own = [table[b * cells.patterns + codes] for b, codes in enumerate(_codes(cells, S))]
    assert cells.mean_of(table, inside) == pytest.approx(np.mean(own, axis=0))


def _codes(cells, S):
    bits = 1 << np.arange(cells.blocks.shape[1])
    return [(S[:, block] @ bits).astype(int) for block in cells.blocks]


def test_calibration_undoes_a_factor_and_a_shift():
    rng = np.random.default_rng(6)
    P = rng.dirichlet([1.0, 1.0, 1.0], size=20_000)
    codes = (P.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    wrong = P**2.5 * [3.0, 1.0, 0.5]
    wrong /= wrong.sum(axis=1, keepdims=True)
    right = recalibrated(wrong, calibration_of(wrong, codes, np.ones(20_000)))
    # Of 20,000 labels, each of three parameters is known to about 0.02.
    assert np.abs(right - P).max() < 0.04
    assert reweighted(P, np.array([0.2, 0.3, 0.5]), np.array([0.2, 0.3, 0.5])) == pytest.approx(P)


def test_bootstrap_means_have_the_spread_of_means():
    """Relative errors of 1,000 samples are 2 %; at 5 standard errors a false alarm is 1e-6."""
    rng = np.random.default_rng(7)
    for n in (300, 5000):  # one by one, and in groups
        x = rng.normal(size=(n, 1))
        spread = Draws.of(n, 1000, rng).means(x, np.ones(n)).std(axis=0)
        assert spread == pytest.approx(x.std() / np.sqrt(n), rel=0.15)


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", ["adjusted_em", "em", "probabilistic_adjusted_count", "adjusted_count", "inversion"]
)
def test_counting_is_far_off_and_every_adjustment_repairs_it(method, texts):
    S, D, unread, truth = texts
    shares = np.array([np.mean(truth == name) for name in CLASSES])
    counted = AggregateProportions("count", cv=5).fit(S, D).predict(unread)
    assert np.abs(counted - shares).max() > 0.1
    found = AggregateProportions(method, cv=5).fit(S, D).proportions(unread, n_bootstrap=200)
    off = np.abs(found.estimate[0] - shares)
    # Of one data set: within 4 standard errors, and nearer than the count.
    assert np.all(off <= 4 * found.std_error[0])
    assert off.max() < np.abs(counted - shares).max() / 2


def test_groups_and_time(texts, model):
    unread = texts[2]
    n = unread.shape[0]
    groups = np.where(np.arange(n) < 500, "north", "south")
    time = np.array(["2024-01", "2024-02", "2024-03"])[np.arange(n) % 3]
    found = model.proportions(unread, groups=groups, time=time, n_bootstrap=50)
    assert found.n_texts == tuple(
        int(np.sum((groups == g) & (time == t)))
        for g in ("north", "south")
        for t in np.unique(time)
    )
    alone = model.predict(unread[(groups == "south") & (time == "2024-02")])
    assert found.estimate[4] == pytest.approx(alone, abs=1e-9)
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape == (18, 8)
    assert frame.groupby(["group", "time"])["proportion"].sum().to_numpy() == pytest.approx(
        np.ones(6)
    )
    assert np.all(frame["conf_low"] <= frame["proportion"])
    assert np.all(frame["proportion"] <= frame["conf_high"])
    assert frame["conf_low"].min() >= 0


def test_classes_left_out_and_differences(texts, model):
    found = model.proportions(texts[2], n_bootstrap=300)
    on_topic = found.leave_out("off-topic")
    both = found.estimate[0, :2]
    assert on_topic.estimate[0] == pytest.approx(both / both.sum())
    assert on_topic.replicates.sum(axis=2) == pytest.approx(np.ones((1, 300)))
    gap = found.difference("for", "against").iloc[0]
    assert gap["difference"] == pytest.approx(both[1] - both[0])
    assert gap["conf_low"] < gap["difference"] < gap["conf_high"]
    # The two go in opposite directions, so the difference varies more than either.
    assert gap["std_error"] > found.std_error[0, :2].max()
    with pytest.raises(InputError, match="'neutral' is not one of the classes"):
        found.leave_out("neutral")
    with pytest.raises(InputError, match="keep two"):
        found.leave_out("for", "against")


def test_what_is_shown(texts, model):
    found = model.proportions(texts[2], n_bootstrap=20, level=0.8)
    assert "off-topic" in str(found)
    assert "80% intervals" in found._repr_html_()
    escaped = AggregateProportions("inversion", cv=3).fit(
        texts[0], np.where(texts[1] == "for", "<b>", "x")
    )
    assert "&lt;b&gt;" in escaped.proportions(texts[2], n_bootstrap=5)._repr_html_()
    counted = AggregateProportions("count", cv=3).fit(texts[0], texts[1])
    assert "wrong where" in str(counted.proportions(texts[2], n_bootstrap=5))
    polars = pl.DataFrame(texts[0].toarray())
    model = AggregateProportions("inversion", cv=3).fit(polars, texts[1])
    table = model.proportions(pl.DataFrame(texts[2].toarray()), n_bootstrap=5).to_frame()
    assert isinstance(table, pl.DataFrame)


@pytest.mark.parametrize("kind", ["bars", "panels", "lines", "dates", "numbers"])
def test_charts(kind, texts, model):
    unread = texts[2][:120]
    days = np.arange("2024-01-01", "2024-01-05", dtype="datetime64[D]")
    given = {
        "bars": {},
        "panels": {"groups": np.arange(120) % 2},
        "lines": {"time": np.array(["a", "b", "c"])[np.arange(120) % 3]},
        "dates": {"time": days[np.arange(120) % 4], "groups": np.arange(120) % 2},
        "numbers": {"time": np.arange(120) % 3},
    }[kind]
    found = model.proportions(unread, n_bootstrap=20, **given)
    drawn = found.plot().to_dict()
    assert ("facet" in drawn) == ("groups" in given)
    rows = drawn["data"]["values"] if "data" in drawn else drawn["spec"]["data"]["values"]
    assert len(rows) == found.to_frame().shape[0]
    assert "120 texts" in drawn["title"]["subtitle"][0]


# ---- whether the classes carry over --------------------------------------------------------------


def test_carry_over_names_the_stem_that_changed(texts, model):
    changed = texts[2].toarray()
    changed[:, 7] = np.random.default_rng(8).random(len(changed)) < 0.6  # in no class so frequent
    test = model.carry_over_test(changed, n_bootstrap=200)
    assert test.p_value == pytest.approx(1 / 201)
    first = test.to_frame().iloc[0]
    assert first["stem"] == "x7"
    assert first["z"] > 5
    assert first["found"] == pytest.approx(changed[:, 7].mean())
    assert "Does not see" in str(test)
    names = [f"stem {j}" for j in range(changed.shape[1])]
    named = model.carry_over_test(changed, n_bootstrap=200, stems=names)
    assert named.to_frame().iloc[0]["stem"] == "stem 7"
    with pytest.raises(InputError, match="give one name per column, or the StemMatrix"):
        model.carry_over_test(changed, n_bootstrap=200, stems=names[1:])
    kept = model.carry_over_test(texts[2], n_bootstrap=200)
    assert kept.p_value > 0.001  # a false alarm here has that probability


def test_carry_over_has_the_names_of_a_stem_matrix():
    rng = np.random.default_rng(0)
    words = np.array(["good", "bad", "film", "actor", "music"])
    label = rng.random(80) < 0.5
    often = np.where(label[:, None], [0.8, 0.2, 0.5, 0.5, 0.5], [0.2, 0.8, 0.5, 0.5, 0.5])
    found = [" ".join(["film", *words[row]]) for row in rng.random((80, 5)) < often]
    matrix = StemMatrix()
    S = matrix.fit_transform(found)
    model = AggregateProportions(cv=3).fit(S, label)
    test = model.carry_over_test(S, n_bootstrap=20, stems=matrix)
    assert set(test.stems) == {"good", "bad", "actor", "music"}  # film is in all texts


@pytest.mark.slow
def test_carry_over_has_its_level_under_prior_shift():
    """Of 60 tests at 10 %, more than 14 false alarms have a probability of 0.1 %."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(100 + seed)
        S, D = draw(300, TAGGED, rng)
        model = AggregateProportions("inversion", cv=3).fit(S, D)
        alarms += model.carry_over_test(draw(300, UNREAD, rng)[0], n_bootstrap=99).p_value <= 0.1
    assert alarms <= 14


@pytest.mark.slow
def test_intervals_cover_under_prior_shift():
    """95 % intervals of 3 classes in 60 data sets, where counting is off by more than 10 points.

    With a coverage of 95 %, fewer than 161 of 180 (less than 89.5 %) covered has a probability of
    0.1 % if the three of a data set are independent, and of 1 % if they are as good as two.
    """
    covered, counted = 0, []
    for seed in range(60):
        rng = np.random.default_rng(500 + seed)
        S, D = draw(500, TAGGED, rng)
        unread, _ = draw(500, UNREAD, rng)
        low, high = (
            AggregateProportions("inversion", cv=5)
            .fit(S, D)
            .proportions(unread, n_bootstrap=300)
            .interval
        )
        covered += int(np.sum((low[0] <= UNREAD) & (high[0] >= UNREAD)))
        if seed < 3:
            counted.append(AggregateProportions("count", cv=3).fit(S, D).predict(unread))
    assert np.abs(np.mean(counted, axis=0) - UNREAD).max() > 0.1
    assert covered >= 161


def test_presence_ignores_zeros_that_are_stored():
    S = sparse.csr_matrix(([0.0, 3.0], ([0, 1], [1, 0])), shape=(2, 2))
    assert presence(S).toarray().tolist() == [[0, 0], [1, 0]]


def test_carry_over_has_its_level_where_most_stems_are_rare():
    alarms = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 1400)
        share = rng.uniform(0.003, 0.008, (2, 300))
        share[:, :10] = [[0.5], [0.2]]
        S = sparse.csr_array((rng.random((1400, 300)) < share[y]).astype(float))
        model = AggregateProportions(random_state=0).fit(S[:1000], y[:1000])
        alarms += model.carry_over_test(S[1000:], n_bootstrap=99).p_value <= 0.05
    assert alarms <= 2  # all ten, where a stem that no unread text has were taken as certain


def test_texts_that_are_no_stem_matrix_yet():
    with pytest.raises(InputError, match=r"texts such as 'good', .*StemMatrix"):
        AggregateProportions().fit(["good", "bad", "good", "bad"], ["a", "b", "a", "b"])
