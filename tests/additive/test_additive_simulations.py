"""What the tests and bands of the additive model claim, over many samples.

The seeds are fixed. Each limit is one that a right method passes with probability above 0.999.
"""

from functools import cache

import numpy as np
import pytest
from scipy import stats

from bottega.additive import AdditiveModel

pytestmark = pytest.mark.slow


@cache
def null_p_values(family, method, shrink, count):
    """Return p-values of terms without an effect beside one that has one: a row per sample."""
    rng = np.random.default_rng(20)
    terms = "smooth(0) + smooth(1) + linear(2) + factor(3) + random(4)"
    found = []
    for _ in range(count):
        n = 250
        X = np.column_stack(
            [rng.uniform(size=(n, 3)), rng.integers(4, size=n), rng.integers(12, size=n)]
        )
        eta = np.sin(6 * X[:, 0])
        if family == "gaussian":
            y = eta + 0.5 * rng.normal(size=n)
        else:
            y = rng.poisson(np.exp(0.5 + eta)).astype(float)
        model = AdditiveModel(terms, family=family, method=method, shrink=shrink).fit(X, y)
        rows = model.tidy().set_index("term")["p_value"]
        found.append(
            [
                rows["smooth(x1)"],
                rows[rows.index.str.startswith("linear(x2)")].iloc[0],
                rows["factor(x3)"],
                rows["random(x4)"],
            ]
        )
    return np.array(found)


@pytest.mark.parametrize(("family", "count"), [("gaussian", 400), ("poisson", 150)])
def test_p_values_are_uniform_under_no_effect(family, count):
    p = null_p_values(family, "reml", False, count)
    for column in p.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-3
        for level in (0.05, 0.1):
            limit = 3.3 * np.sqrt(level * (1 - level) / count)
            assert np.mean(column < level) == pytest.approx(level, abs=limit)


def test_p_values_of_terms_under_selection_are_uniform():
    p = null_p_values("gaussian", "reml", True, 150)[:, 0]
    assert stats.kstest(p, "uniform").pvalue > 1e-3
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=3.3 * np.sqrt(0.05 * 0.95 / 150))


def test_bands_cover_the_true_effect():
    rng = np.random.default_rng(21)
    truth = {"smooth(x0)": lambda x: np.sin(6 * x), "smooth(x1)": lambda x: x**2}
    pointwise, whole = [], []
    for _ in range(100):
        X = rng.uniform(size=(300, 2))
        y = sum(f(x) for f, x in zip(truth.values(), X.T, strict=True))
        model = AdditiveModel(n_splines=12).fit(X, y + 0.5 * rng.normal(size=300))
        for band, kept in (("pointwise", pointwise), ("simultaneous", whole)):
            effects = model.effects(band=band)
            row = []
            for j, (name, f) in enumerate(truth.items()):
                effect = effects[name]
                true = f(effect.points[0]) - f(X[:, j]).mean()
                inside = (true >= effect.lower) & (true <= effect.upper)
                row.append(inside.mean() if band == "pointwise" else inside.all())
            kept.append(row)
    # Pointwise bands cover on average along the curve; means of samples vary by 0.1.
    assert np.all(np.mean(pointwise, axis=0) > 0.95 - 3.3 * 0.1 / np.sqrt(100))
    assert np.all(np.mean(pointwise, axis=0) < 0.99)
    assert np.all(np.mean(whole, axis=0) > 0.95 - 3.3 * np.sqrt(0.95 * 0.05 / 100))


def test_the_strength_of_the_tests():
    rng = np.random.default_rng(22)
    found = []
    for _ in range(60):
        X = rng.uniform(size=(250, 2))
        y = np.sin(6 * X[:, 0]) + 0.5 * np.sin(6 * X[:, 1]) + 0.5 * rng.normal(size=250)
        found.append(AdditiveModel().fit(X, y).tidy().set_index("term").loc["smooth(x1)"])
    assert np.mean([row["p_value"] < 1e-3 for row in found]) > 0.95
