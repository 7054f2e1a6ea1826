"""Normal distributions of several variables, and the table of matrix derivatives."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from bottega.core.errors import InputError
from bottega.probability import MultivariateNormal, matrix_derivatives


def random_normal(p, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p, p + 1))
    return MultivariateNormal(rng.normal(size=p), root @ root.T)


def test_a_pair_by_hand():
    """y = 12 is one deviation above its mean and the correlation 0.6: x has 0.6 and sqrt(0.64)."""
    pair = MultivariateNormal([0, 10], [[1, 1.2], [1.2, 4]], names=["x", "y"])
    found = pair.condition({"y": 12})
    assert found.names == ("x",)
    assert found.mean == pytest.approx([0.6])
    assert found.covariance == pytest.approx(np.array([[0.64]]))
    assert pair.marginal("y", "x").covariance.tolist() == [[4, 1.2], [1.2, 1]]


@settings(max_examples=40, deadline=None)
@given(p=st.integers(2, 5), seed=st.integers(0, 9999), data=st.data())
def test_joint_is_marginal_times_conditional(p, seed, data):
    joint = random_normal(p, seed)
    given_ = data.draw(
        st.lists(st.sampled_from(joint.names), min_size=1, max_size=p - 1, unique=True)
    )
    point = np.random.default_rng(seed + 1).normal(size=p)
    value = dict(zip(joint.names, point, strict=True))
    marginal = joint.marginal(*given_)
    rest = joint.condition({name: value[name] for name in given_})
    density = marginal.logpdf([value[n] for n in given_]) + rest.logpdf(
        [value[n] for n in rest.names]
    )
    # Random covariances have condition numbers up to some 1e5.
    assert joint.logpdf(point) == pytest.approx(density, rel=1e-7, abs=1e-7)
    expected = stats.multivariate_normal(joint.mean, joint.covariance, allow_singular=True)
    assert joint.logpdf(point) == pytest.approx(expected.logpdf(point), rel=1e-7, abs=1e-7)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 9999), unit=st.sampled_from([1e-140, 1e-3, 1e7, 1e140]))
def test_units_do_not_matter(seed, unit):
    plain = random_normal(3, seed)
    scale = np.array([1.0, unit, 1.0])
    scaled = MultivariateNormal(plain.mean * scale, plain.covariance * scale * scale[:, None])
    one, other = plain.condition({"x2": 0.5}), scaled.condition({"x2": 0.5 * unit})
    np.testing.assert_allclose(other.mean, one.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(other.covariance, one.covariance, rtol=1e-9, atol=1e-9)


def test_entropy_and_divergence_are_integrals():
    p, q = MultivariateNormal([1.0], [[4.0]]), MultivariateNormal([0.0], [[1.0]])

    def of(x, value):
        return np.exp(p.logpdf([x])) * value(x)

    ends = (-25, 27)
    bits = integrate.quad(of, *ends, args=(lambda x: -p.logpdf([x]) / np.log(2),))[0]
    nats = integrate.quad(of, *ends, args=(lambda x: p.logpdf([x]) - q.logpdf([x]),))[0]
    assert p.entropy() == pytest.approx(bits, abs=1e-7)
    assert p.kl(q, base=np.e) == pytest.approx(nats, abs=1e-7)
    assert random_normal(4, 3).kl(random_normal(4, 3)) == pytest.approx(0, abs=1e-9)
    assert random_normal(3, 1).entropy(base=np.e) == pytest.approx(
        stats.multivariate_normal(cov=random_normal(3, 1).covariance).entropy()
    )


def test_singular_covariances():
    """c = a + b, and d is always 3."""
    covariance = np.zeros((4, 4))
    covariance[:3, :3] = [[1, 0, 1], [0, 1, 1], [1, 1, 2]]
    joint = MultivariateNormal([0, 0, 0, 3], covariance, names=list("abcd"))
    found = joint.condition({"a": 1.0, "b": 2.0})
    assert found.mean == pytest.approx([3, 3])
    assert found.covariance.tolist() == [[0, 0], [0, 0]]
    assert joint.condition(
        {
            "a": 1.0,
            "b": 2.0,
            "c": 3.0,
        }
    ).mean.tolist() == [3]
    assert joint.condition({"d": 3.0}).mean.tolist() == [0, 0, 0]
    for value in ({"a": 1.0, "b": 2.0, "c": 4.0}, {"d": 2.0}):
        with pytest.raises(InputError, match="cannot happen"):
            joint.condition(value)
    with pytest.raises(InputError, match="singular, so there is no density"):
        joint.logpdf([0, 0, 0, 3])
    drawn = joint.sample(50, random_state=0)
    np.testing.assert_allclose(drawn["c"], drawn["a"] + drawn["b"], atol=1e-7)
    assert (drawn["d"] == 3).all()


def test_samples_have_the_moments():
    """Each mean within five standard errors: false alarm below 3 * 6e-7."""
    joint = random_normal(3, 5)
    n = 40_000
    drawn = joint.sample(n, random_state=1).to_numpy()
    errors = np.sqrt(np.diag(joint.covariance) / n)
    assert np.all(np.abs(drawn.mean(axis=0) - joint.mean) < 5 * errors)
    np.testing.assert_allclose(np.cov(drawn.T), joint.covariance, atol=0.2)
    assert joint.sample(3, random_state=2).equals(joint.sample(3, random_state=2))


def test_a_normal_shows_itself_and_is_stored():
    joint = random_normal(2, 0)
    again = pickle.loads(pickle.dumps(joint))
    np.testing.assert_array_equal(again.covariance, joint.covariance)
    assert list(joint.to_frame().columns) == ["variable", "mean", "std", "x1", "x2"]
    assert "Normal distribution of 2 variables" in repr(joint)


@pytest.mark.parametrize(
    ("mean", "covariance", "names", "message"),
    [
        ([0, 0], [[1.0]], None, r"got \(2,\) and \(1, 1\)"),
        ([0, 0], [[1, 2], [2, 1]], None, "negative eigenvalue"),
        ([0, 0], [[-1, 0], [0, 1]], None, "negative eigenvalue"),
        ([0, 0], [[0, 1], [1, 1]], None, "negative eigenvalue"),
        ([0, 0], [[1, 0.5], [0, 1]], None, "symmetric"),
        ([0, np.nan], np.eye(2), None, "finite"),
        ([0, 0], np.eye(2), ["a", "a"], "2 different names"),
    ],
)
def test_bad_distributions_are_named(mean, covariance, names, message):
    with pytest.raises(InputError, match=message):
        MultivariateNormal(mean, covariance, names=names)


def test_bad_questions_are_named():
    joint = MultivariateNormal([0, 0], np.eye(2), names=["height", "weight"])
    with pytest.raises(InputError, match=r"'hieght' is not one .*Did you mean 'height'"):
        joint.condition({"hieght": 1.0})
    with pytest.raises(InputError, match="at least one that is not given"):
        joint.condition({"height": 1.0, "weight": 1.0})
    with pytest.raises(InputError, match="finite numbers"):
        joint.condition({"height": np.inf})
    with pytest.raises(InputError, match="named twice"):
        joint.marginal("height", "height")
    with pytest.raises(InputError, match="needs at least one"):
        joint.marginal()
    with pytest.raises(InputError, match=r"shape \(n, 2\)"):
        joint.logpdf([1.0])
    with pytest.raises(InputError, match="variables must be the same"):
        joint.kl(MultivariateNormal([0], [[1]]))
    assert joint.condition({}).mean.tolist() == [0, 0]


# ---- matrix derivatives (N221, N222) -------------------------------------------------------------


@pytest.mark.parametrize("identity", list(matrix_derivatives()), ids=lambda each: each.formula)
def test_identities_hold_by_finite_differences(identity):
    """Central differences are exact here but for rounding: 1e-16 / 1e-5, times the values."""
    rng = np.random.default_rng(0)
    constants = {"a": rng.normal(size=4), "b": rng.normal(size=4), "A": rng.normal(size=(4, 4))}
    x = rng.normal(size=4 if identity.variable == "x" else (4, 4))
    assert identity.error(x, constants) < 1e-8
    # The check can fail: with A for A' and a for b it does, where they matter.
    if "A" in identity.derivative or "b" in identity.derivative:
        other = {"a": constants["b"], "b": constants["a"], "A": constants["A"].T}
        wrong = np.asarray(identity.gradient(x, other)) - identity.gradient(x, constants)
        assert np.abs(wrong).max() > 0.1 or identity.formula == "x'Ax"


def test_the_table_of_identities():
    table = matrix_derivatives()
    frame = table.to_frame()
    assert len(table) == len(frame) == 12
    assert set(frame["layout"]) == {"row", "column"}
    assert "x'(A + A')" in str(table)
    checked = table.check(size=3, random_state=4)
    assert checked["error"].max() < 1e-8
    assert checked.equals(table.check(size=3, random_state=4))
