"""What sets of levels cost: the search among many of them is charged for."""

import numpy as np
import pandas as pd
import pytest

from bottega.additive import AdaptiveSplines
from bottega.additive._adaptive.backward import prune
from bottega.additive._adaptive.basis import HINGE, SUBSET, Factor, Term
from bottega.additive._adaptive.charges import Charges, cost_of_sets
from bottega.additive._adaptive.settings import GrowthSettings


def draw(seed, levels, effect=0.0, n=200):
    """Two numbers, the first with a kink, and a category of which half the levels have an effect.

    With an effect of 0 the category is noise.
    """
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, n)
    X = pd.DataFrame({"a": rng.uniform(-1, 1, n), "b": rng.uniform(-1, 1, n)})
    X["g"] = [f"level {code}" for code in codes]
    y = 2 * np.maximum(X["a"].to_numpy(), 0) + effect * (codes < levels // 2)
    return X, y + rng.normal(size=n)


def n_sets(model):
    return sum(factor.kind == SUBSET for term in model.basis_ for factor in term.factors)


@pytest.mark.parametrize("levels", [6, 12, 20])
def test_categories_of_noise_seldom_enter(levels):
    # In 40 draws each 4, 2 and 2 models had a set at all; uncharged 20, 36 and 40. Were the share
    # 10 %, more than 9 of 30 would have one with probability 0.0005.
    entered = [n_sets(AdaptiveSplines().fit(*draw(seed, levels))) > 0 for seed in range(30)]
    assert sum(entered) <= 9


@pytest.mark.parametrize("levels", [3, 12, 20])
def test_categories_that_matter_are_found(levels):
    # An effect of 1.5 standard deviations: 112 times the noise of a mean of squares, against a
    # charge of 21 at most. All of 20 draws find it, and most of its levels.
    for seed in range(10):
        model = AdaptiveSplines().fit(*draw(seed, levels, effect=1.5))
        assert n_sets(model) >= 1
        half = [f"level {code}" for code in range(levels // 2)]
        rows = pd.DataFrame({"a": 0.0, "b": 0.0, "g": [f"level {c}" for c in range(levels)]})
        fitted = model.predict(rows)
        high = fitted > (fitted.min() + fitted.max()) / 2
        assert np.mean(high == rows["g"].isin(half)) >= 0.75


def test_few_levels_cost_what_a_term_costs():
    terms = [Term(), Term((Factor(0, HINGE, 0.0, 1),)), Term((Factor(1, SUBSET, levels=(0,)),))]
    for levels in (2, 3):
        charges = Charges.of(terms, np.array([0, levels]), GrowthSettings())
        assert charges.df(np.arange(3)) == GrowthSettings().effective_terms(3)
        assert charges.each(np.arange(3)).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("levels", [2, 3, 5, 12, 40])
@pytest.mark.parametrize("half", [0.0, 1.0, 1.5])
def test_all_sets_of_a_category_cost_no_more_than_its_levels(levels, half):
    costs = [cost_of_sets(count, levels, half) for count in range(levels)]
    assert costs[0] == 0
    assert np.all(np.diff(costs) >= 0)
    assert costs[-1] == pytest.approx((levels - 1) * (1 + half))
    assert all(cost >= count * (1 + half) - 1e-12 for count, cost in enumerate(costs))


def test_sets_of_other_parents_are_searched_anew():
    hinge = Factor(0, HINGE, 0.0, 1)
    some, others = Factor(1, SUBSET, levels=(0,)), Factor(1, SUBSET, levels=(1, 2))
    terms = [Term(), Term((some,)), Term((others,)), Term((hinge,)), Term((hinge, some))]
    charges = Charges.of(terms, np.array([0, 12]), GrowthSettings())
    one, two = cost_of_sets(1, 12, 1.0), cost_of_sets(2, 12, 1.0)
    assert charges.df(np.arange(5)) == 1 + 2 + two + one
    assert charges.each(np.arange(5)).tolist() == [2.0, two / 2, two / 2, 2.0, one]


def test_the_set_that_is_worth_least_for_its_charge_goes_first():
    rng = np.random.default_rng(0)
    B = np.linalg.qr(np.column_stack([np.ones(100), rng.normal(size=(100, 2))]))[0]
    y = B @ [0.0, 3.0, 4.0]  # the second column takes less off, 9 of 25 squares
    terms = [Term(), Term((Factor(0, HINGE, 0.0, 1),)), Term((Factor(1, SUBSET, levels=(0,)),))]
    plain = prune(B, y, None, GrowthSettings())
    assert plain.subsets[1].tolist() == [0, 2]
    charges = Charges.of(terms, np.array([0, 12]), GrowthSettings())
    found = prune(B, y, None, GrowthSettings(), charges=charges)
    assert found.subsets[1].tolist() == [0, 1]  # 9 for 2 degrees, not 16 for 6.5
    assert found.df.tolist() == [1.0, 3.0, 9.5]
