"""Functions of a kernel's space: norms, inner products, and the bound that they give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError
from bottega.kernel import (
    GaussianKernel,
    KernelExpansion,
    KernelPerceptron,
    KernelRidge,
    LinearKernel,
    PolynomialKernel,
    SpectrumKernel,
)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_the_space_has_its_inner_product(seed):
    """A81: f(x) = <f, K(x, .)>, and the norm is that of the features where they are finite."""
    rng = np.random.default_rng(seed)
    kernel = PolynomialKernel(2)
    f, g = (KernelExpansion(kernel, rng.normal(size=(m, 2)), rng.normal(size=m)) for m in (4, 3))
    point = rng.normal(size=(1, 2))
    at_point = KernelExpansion(kernel, point, [1.0])
    assert f.inner(at_point) == pytest.approx(f(point)[0], abs=1e-9)
    w = kernel.feature_map(f.points).T @ f.coef
    assert f.norm2() == pytest.approx(w @ w, rel=1e-9, abs=1e-9)
    assert f.inner(g) == pytest.approx(g.inner(f), abs=1e-9)
    assert abs(f.inner(g)) <= f.norm() * g.norm() * (1 + 1e-9)
    both = 2.0 * f - g
    assert both(point) == pytest.approx(2 * f(point) - g(point), abs=1e-9)
    assert both.norm2() == pytest.approx(
        4 * f.norm2() - 4 * f.inner(g) + g.norm2(), rel=1e-8, abs=1e-8
    )


def test_fitted_functions_are_expansions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    ridge = KernelRidge(0.5, gamma=0.7).fit(X, X[:, 0] ** 2)
    assert ridge.expansion_(X) + ridge.intercept_ == pytest.approx(ridge.predict(X))
    # Without an intercept the penalty is alpha times the squared norm: y'c = rss/alpha... of A83.
    plain = KernelRidge(0.5, gamma=0.7, fit_intercept=False).fit(X, X[:, 0] ** 2)
    residual = X[:, 0] ** 2 - plain.predict(X)
    assert plain.dual_coef_ == pytest.approx(residual / 0.5)
    few = KernelRidge(0.5, gamma=0.7, approximation="nystroem", n_components=12).fit(X, X[:, 0])
    assert few.expansion_(X) + few.intercept_ == pytest.approx(few.predict(X))
    assert few.expansion_.reduced().norm() == pytest.approx(few.expansion_.norm())


def test_a_separating_function_bounds_the_updates():
    """A82, with the function rescaled to margin 1 (the notes' trap 43)."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(60, 2))
    y = np.where(np.sum(X**2, axis=1) > 0.6, 1, -1)
    model = KernelPerceptron(gamma=4.0, combine="last", max_iter=500).fit(X, y)
    assert model.converged_
    f = model.expansion_
    assert f.margin(X, y) > 0
    assert f.with_margin_one(X, y).margin(X, y) == pytest.approx(1)
    assert model.n_updates_ <= f.most_updates(X, y)
    assert model.n_updates_ <= model.convergence_bound() <= f.most_updates(X, y) * (1 + 1e-6)
    # The bound by the hinge losses holds for every function, this one's multiple with margin 1 too.
    one = f.with_margin_one(X, y)
    assert model.mistake_bound(one, X, y) == pytest.approx(f.most_updates(X, y))
    poor = KernelExpansion(f.kernel, X[:1], [0.5])
    assert model.n_updates_ <= model.mistake_bound(poor, X, y)
    with pytest.raises(InputError, match="does not separate"):
        poor.with_margin_one(X, y)


def test_what_is_refused():
    f = KernelExpansion(LinearKernel(), [[1.0]], [1.0])
    with pytest.raises(InputError, match="one number per point"):
        KernelExpansion(LinearKernel(), [[1.0]], [1.0, 2.0])
    with pytest.raises(InputError, match="space of one kernel"):
        f.inner(KernelExpansion(GaussianKernel(), [[1.0]], [1.0]))
    with pytest.raises(InputError, match="two kernels"):
        f + KernelExpansion(GaussianKernel(), [[1.0]], [1.0])
    with pytest.raises(InputError, match="-1 and \\+1"):
        f.margin([[1.0]], [3])
    texts = KernelExpansion(SpectrumKernel(2), ["ab", "bc"], [1.0, 0.0])
    assert (texts + texts).reduced().points == ["ab", "ab"]
    assert texts(["abab"]) == pytest.approx([2.0])
