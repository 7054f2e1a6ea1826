"""Which method is likely the best, and when the leaders combined are preferred to it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import bottega
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.workbench.chances import chances_of_best
from bottega.workbench.leaderboard import best_of


def rows(n, **more):
    return JudgedRows(np.zeros(n), "regression", **more)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(2, 6), st.floats(1e-6, 1e6))
def test_chances_sum_to_one_whatever_order_and_units(seed, n, m, unit):
    rng = np.random.default_rng(seed)
    losses = [rng.exponential(size=n) for _ in range(m)]
    found = chances_of_best(losses, np.arange(n), rows(n))
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    order = rng.permutation(n)
    shuffled = chances_of_best([unit * each[order] for each in losses], np.arange(n), rows(n))
    assert shuffled == pytest.approx(found, abs=0.01)


def test_two_methods_by_the_normal_distribution():
    """The chance of the first is that of a normal number below its mean difference."""
    rng = np.random.default_rng(0)
    gap = rng.normal(0.1, 1.0, size=100)
    second = rng.exponential(size=100)
    found = chances_of_best([second + gap, second], np.arange(100), rows(100))
    expected = norm.cdf(-gap.mean() / (gap.std(ddof=1) / 10))
    assert found[0] == pytest.approx(expected, abs=0.02)


def test_equal_methods_share_and_clear_ones_take_all():
    same = np.arange(10.0)
    assert chances_of_best([same, same], np.arange(10), rows(10)) == pytest.approx(
        [0.5, 0.5], abs=0.02
    )
    assert chances_of_best([same, same + 1], np.arange(10), rows(10)).tolist() == [1, 0]
    assert chances_of_best([0 * same, 0 * same], np.arange(10), rows(10)).sum() == pytest.approx(1)


def test_a_method_that_is_far_off_somewhere_leaves_the_others_apart():
    """Losses of any size beside: what is nearly nothing in their units is told apart."""
    rng = np.random.default_rng(3)
    near = rng.exponential(size=40)
    losses = [near, near + 0.2, 1e12 * rng.exponential(size=40)]
    assert chances_of_best(losses, np.arange(40), rows(40)).tolist() == [1, 0, 0]


def test_skewed_losses_are_not_taken_for_normal():
    """Rare huge losses make a mean unsure, not a method good that is worse on every row."""
    rng = np.random.default_rng(4)
    good = rng.exponential(size=60)
    bad = good + 0.1 + 50 * (np.arange(60) % 20 == 0)
    assert chances_of_best([good, bad], np.arange(60), rows(60)).tolist() == [1, 0]


def test_many_rows_are_taken_for_normal():
    rng = np.random.default_rng(5)
    one, other = rng.exponential(size=(2, 3_000))
    few = chances_of_best([one[:2_000], other[:2_000]], np.arange(2_000), rows(2_000))
    assert few.sum() == pytest.approx(1)
    apart = one - other
    expected = norm.cdf(-apart.mean() / (apart.std(ddof=1) / np.sqrt(3_000)))
    found = chances_of_best([one, other], np.arange(3_000), rows(3_000))
    assert found[0] == pytest.approx(expected, abs=0.03)


def test_groups_are_the_units():
    """Copies of a row in one group make nothing surer."""
    rng = np.random.default_rng(1)
    one, other = rng.exponential(size=(2, 12))
    alone = chances_of_best([one, other], np.arange(12), rows(12))
    many = [np.repeat(each, 50) for each in (one, other)]
    groups = np.repeat(np.arange(12), 50)
    assert chances_of_best(many, np.arange(600), rows(600, groups=groups)) == pytest.approx(
        alone, abs=0.01
    )
    surer = chances_of_best(many, np.arange(600), rows(600))
    assert surer.max() > alone.max()


class Result:
    """What the choice looks at."""

    partial, measure = False, None

    def __init__(self, method, losses):
        self.losses = np.asarray(losses, dtype=float)
        self.error, self.fold = self.losses.mean(), np.zeros(len(self.losses), dtype=int)
        self.nested = type("Nested", (), {"rows": rows(len(self.losses))})
        self.card = type("Card", (), {"method": method, "topic": "linear"})


def test_the_leaders_are_preferred_unless_one_method_is_clearly_better():
    rng = np.random.default_rng(2)
    base = 5 + rng.normal(size=100)
    noise = rng.normal(size=100)
    noise -= noise.mean()
    near = {"baseline": Result("baseline", base + 3), "stacking": Result("stacking", base)}
    assert best_of({**near, "ridge": Result("ridge", base + noise - 0.05)}) == "stacking"
    se = noise.std(ddof=1) / 10
    for lead, better in ((1.9 * se, "stacking"), (2.1 * se, "ridge")):
        assert best_of({**near, "ridge": Result("ridge", base + noise - lead)}) == better
    assert best_of({**near, "ridge": Result("ridge", base + noise - 0.5)}) == "ridge"
    assert best_of({**near, "ridge": Result("ridge", base + noise + 0.5)}) == "stacking"
    # What is no better than the baseline is not preferred to it.
    poor = {"baseline": Result("baseline", base), "stacking": Result("stacking", base + 0.01)}
    assert best_of({**poor, "ridge": Result("ridge", base + noise + 0.2)}) == "baseline"
    assert best_of({**poor, "ridge": Result("ridge", base + noise - 0.02)}) == "ridge"
    assert best_of({**poor, "ridge": Result("ridge", base + noise)}) == "baseline"


def test_a_winner_that_has_not_the_least_error_is_explained():
    found = bottega.compare("diabetes", methods=["ridge", "lasso", "tree"], outer=3)
    order = found.leaderboard["method"].tolist()
    assert order[0] == found.best_method
    others = found.leaderboard["error"].to_numpy()[1:]
    assert np.all(np.diff(others) >= 0)
    least = found.leaderboard["error"].min()
    told = "is preferred to one method" in str(found)
    assert told == bool(found.results[found.best_method].error > least)
