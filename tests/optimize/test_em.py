"""Expectation-maximisation: the mixture of two coins, whose first steps are done by hand."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import InputError, ParameterError
from bottega.optimize import Extrapolation, em

# Five rounds of ten tosses with one of two coins, nobody knows which; heads in each round.
HEADS = np.array([5.0, 9.0, 8.0, 4.0, 7.0])
TAILS = 10 - HEADS


def joint(theta):
    """Return log p(x, z) of each round and coin; each coin is picked with probability 1/2."""
    a, b = theta
    logs = [HEADS * np.log(t) + TAILS * np.log(1 - t) + np.log(0.5) for t in (a, b)]
    return np.stack(logs, axis=1)


def e_step(theta):
    weights = np.exp(joint(theta) - joint(theta).max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def m_step(q):
    return tuple(HEADS @ q / (10 * q.sum(axis=0)))


def entropy(q):
    return -float(np.sum(q * np.log(q)))


def bound(q, theta):
    return float(np.sum(q * joint(theta))) + entropy(q)


def log_likelihood(theta):
    return float(np.log(np.exp(joint(theta)).sum(axis=1)).sum())


def test_two_coins_by_hand():
    """From 0.6 and 0.5 the first round is coin A's with probability 0.45, worked out by hand.

    0.6^5 0.4^5 = 0.000796 and 0.5^10 = 0.000977; over all rounds A gets 21.30 heads and 8.57 tails,
    B 11.70 and 8.43: 0.713 and 0.581. After ten iterations 0.797 and 0.520.
    """
    q = e_step((0.6, 0.5))
    assert q[:, 0] == pytest.approx([0.449, 0.805, 0.733, 0.352, 0.647], abs=6e-4)
    assert m_step(q) == pytest.approx((0.713, 0.581), abs=6e-4)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        found = em((0.6, 0.5), e_step, m_step, bound, max_iter=10, tol=0.0)
    assert found.parameters == pytest.approx((0.797, 0.520), abs=6e-4)
    assert found.n_iter == 10
    assert not found.converged


def test_log_likelihood_is_bound_plus_divergence():
    found = em(
        (0.6, 0.5), e_step, m_step, bound, tol=1e-12, log_likelihood=log_likelihood, entropy=entropy
    )
    assert found.converged
    assert found.monotone
    # After an exact E step the bound is the log-likelihood, computed apart from it.
    assert found.gap == pytest.approx(np.zeros(found.n_iter + 1), abs=1e-12)
    # After the M step it lies below by KL(q || posterior), worked out from its definition.
    theta, by_hand = (0.6, 0.5), []
    for _ in range(found.n_iter):
        q = e_step(theta)
        theta = m_step(q)
        by_hand.append(float(np.sum(q * np.log(q / e_step(theta)))))
    assert found.kl == pytest.approx(by_hand, abs=1e-12)
    assert np.all(found.kl >= -1e-12)
    assert np.all(np.diff(found.log_likelihood) >= -1e-12)
    assert found.entropy[0] == pytest.approx(entropy(e_step((0.6, 0.5))))
    # The maximum is a point where the slope is zero.
    step = 1e-6
    for j in range(2):
        up, down = list(found.parameters), list(found.parameters)
        up[j], down[j] = up[j] + step, down[j] - step
        slope = (log_likelihood(up) - log_likelihood(down)) / (2 * step)
        assert slope == pytest.approx(0, abs=1e-4)


def test_the_trace_as_a_table_and_a_chart():
    found = em((0.6, 0.5), e_step, m_step, bound, tol=1e-6, entropy=entropy)
    frame = found.to_frame()
    assert list(frame["step"][:3]) == ["E", "M", "E"]
    assert len(frame) == 2 * found.n_iter + 1
    assert np.all(np.diff(frame["bound"]) >= -1e-9)
    assert np.all(frame["bound"] <= frame["log_likelihood"] + 1e-9)
    chart = found.plot().to_dict()
    assert f"{found.n_iter} iterations, converged" in chart["title"]["subtitle"][0]


def test_a_wrong_step_is_said():
    def backwards(q):
        return tuple(0.5 * np.array(m_step(q)))

    with pytest.warns(ConvergenceWarning, match="fell in .* first in iteration 1"):
        found = em((0.79, 0.52), e_step, backwards, bound, max_iter=5)
    assert not found.monotone
    assert not found.converged
    assert found.falls[0] == 1


def test_bad_input():
    with pytest.raises(ParameterError, match="max_iter=0"):
        em((0.6, 0.5), e_step, m_step, bound, max_iter=0)
    with pytest.raises(InputError, match="bound after E step 1 is nan"):
        em((0.6, 0.5), e_step, m_step, lambda *_: float("nan"))


def as_odds(theta):
    return np.log(np.array(theta) / (1 - np.array(theta)))


def from_odds(x):
    return tuple(1 / (1 + np.exp(-x)))


def slope(q, theta):
    """Gradient of the bound in the log odds: heads less those expected, coin by coin."""
    return HEADS @ q - 10 * q.sum(axis=0) * np.array(theta)


@pytest.mark.parametrize("gradient", [None, slope])
def test_extrapolated_steps_reach_the_same_maximum_in_fewer_iterations(gradient):
    plain = em((0.6, 0.5), e_step, m_step, bound, tol=1e-13)
    how = Extrapolation(as_odds, from_odds, gradient)
    found = em((0.6, 0.5), e_step, m_step, bound, tol=1e-13, extrapolation=how)
    assert found.converged
    assert found.parameters == pytest.approx(plain.parameters, abs=1e-6)
    assert 3 * found.n_iter < 2 * plain.n_iter  # 9 or 8 against 21
    assert np.all(np.diff(found.after_e) >= 0)
    assert found.log_likelihood[-1] == pytest.approx(log_likelihood(found.parameters), abs=1e-12)
    # An iteration does not end at the M step: one row per iteration, and no distance in between.
    assert len(found.after_m) == len(found.kl) == 0
    frame = found.to_frame()
    assert set(frame["step"]) == {"E"}
    assert list(frame["iteration"]) == list(range(1, found.n_iter + 2))
    assert len(found.plot().to_dict()["layer"]) == 2


def test_extrapolation_never_lowers_the_bound():
    """Wherever the extrapolation leads, even nowhere, plain steps are what is left."""
    plain = em((0.6, 0.5), e_step, m_step, bound, tol=1e-13)
    for back in (lambda _: None, lambda _: (1e-9, 0.5)):  # none allowed; nearly impossible
        found = em(
            (0.6, 0.5), e_step, m_step, bound, tol=1e-13, extrapolation=Extrapolation(as_odds, back)
        )
        assert found.parameters == pytest.approx(plain.parameters, abs=1e-12)
        assert found.after_e == pytest.approx(plain.after_e, abs=1e-12)


def test_a_wrong_step_is_said_with_extrapolation_too():
    def wrong(q):
        return tuple(0.5 * np.array(m_step(q)))

    how = Extrapolation(as_odds, from_odds)
    with pytest.warns(ConvergenceWarning, match="The bound fell in 1 of 1 iterations"):
        found = em((0.8, 0.5), e_step, wrong, bound, extrapolation=how)
    assert not found.converged
    assert found.parameters == (0.8, 0.5)  # where it was highest
