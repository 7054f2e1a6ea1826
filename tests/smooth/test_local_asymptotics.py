"""Constants, bias, variance, rate, and the curse of dimensionality."""

import numpy as np
import pytest
from scipy.integrate import quad

from bottega.core.errors import InputError
from bottega.smooth import (
    KERNELS,
    asymptotic_bias,
    asymptotic_variance,
    ball_volume,
    bias_and_variance,
    curse_numbers,
    edge_of_share,
    kernel_weight,
    nearest_distance,
    optimal_bandwidth,
    rate_experiment,
)


@pytest.mark.parametrize(
    ("kernel", "variance", "roughness"),
    [
        ("normal", 1.0, 0.282095),
        ("biquadratic", 1 / 7, 5 / 7),
        ("tricube", 0.144033, 0.708502),
        ("epanechnikov", 1 / 5, 3 / 5),
    ],
)
def test_constants_of_the_notes(kernel, variance, roughness):
    """D101: printed to six digits; the integrals themselves to quadrature's accuracy."""
    found = KERNELS[kernel]
    assert found.variance == pytest.approx(variance, abs=5e-7)
    assert found.roughness == pytest.approx(roughness, abs=5e-7)
    end = 12.0 if kernel == "normal" else 1.0
    for expected, power, order in ((1.0, 1, 0), (found.variance, 1, 2), (found.roughness, 2, 0)):
        value = quad(lambda z, a=power, b=order: kernel_weight(z, 1, kernel) ** a * z**b, -end, end)
        assert value[0] == pytest.approx(expected, rel=1e-9)
    assert kernel_weight(0.0, 2.0, kernel) == pytest.approx(found.peak / 2)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_exact_bias_and_variance_approach_the_asymptotic_ones(kernel):
    """D102, with g(x) in the place of the misprinted a(x)."""
    # x by a known density, 2x on (0, 1), as evenly as can be: no chance in it.
    x = np.sqrt((np.arange(4000) + 0.5) / 4000)
    h = np.array([0.03, 0.05]) / KERNELS[kernel].deviation
    found = bias_and_variance(
        lambda t: np.sin(4 * t),
        lambda t: -16 * np.sin(4 * t),
        x,
        0.5,
        h,
        sigma=0.7,
        density=1.0,
        kernel=kernel,
    )
    # The next terms are of order h^2 of the leading ones.
    assert found.bias == pytest.approx(found.asymptotic_bias, rel=0.03)
    assert found.variance == pytest.approx(found.asymptotic_variance, rel=0.03)
    assert list(found.to_frame()["bandwidth"]) == h.tolist()


def test_best_bandwidth_balances_the_two():
    """D103: at h_opt the derivative of bias^2 + variance is zero, so variance = 4 bias^2."""
    h = optimal_bandwidth(0.25, -9.0, 0.8, 700, kernel="tricube")
    bias = asymptotic_bias(h, -9.0, kernel="tricube")
    variance = asymptotic_variance(h, 0.25, 0.8, 700, kernel="tricube")
    assert variance == pytest.approx(4 * bias**2, rel=1e-12)
    around = [
        asymptotic_bias(t * h, -9.0, kernel="tricube") ** 2
        + asymptotic_variance(t * h, 0.25, 0.8, 700, kernel="tricube")
        for t in (0.9, 1.0, 1.1)
    ]
    assert around[1] == min(around)
    assert optimal_bandwidth(1.0, 0.0, 1.0, 10) == np.inf


def test_rates_of_the_notes():
    """D104: n^(-4/5) for local linear regression, 1/n for a line that is right."""
    found = rate_experiment((200, 600, 2000, 6000), kernel="epanechnikov")
    # Exact given x; what is left are the next terms of the expansion.
    assert found.slopes["local"] == pytest.approx(-0.8, abs=0.03)
    assert found.slopes["linear"] == pytest.approx(-1.0, abs=0.03)
    assert np.all(found.linear < found.local)
    assert found.to_frame().shape == (4, 4)
    with pytest.raises(InputError, match="at least two"):
        rate_experiment((100,))


def test_curse_numbers_of_the_notes():
    """D110-D112 with the corrected volume of the ball."""
    r = nearest_distance([10, 10, 11, 20, 100], [500, 1000, 1000, 1000, 1000])
    assert r == pytest.approx([0.51779, 0.48313, 0.51617, 0.69508, 0.92984], abs=5e-6)
    assert edge_of_share(0.01, 10) == pytest.approx(0.63096, abs=5e-6)
    assert ball_volume([2, 3, 10, 20]) == pytest.approx(
        [3.14159, 4.18879, 2.55016, 0.025807], rel=2e-5
    )
    assert ball_volume(100) == pytest.approx(2.37e-40, rel=2e-3)
    assert ball_volume(3, 2.0) == pytest.approx(8 * ball_volume(3))


def test_nearest_distance_is_the_median_in_a_ball():
    rng = np.random.default_rng(0)
    p, n, repeats = 5, 20, 4000
    # The distance from the centre of a uniform point in a ball is a p-th root of a uniform.
    nearest = rng.uniform(size=(repeats, n)).min(axis=1) ** (1 / p)
    below = np.mean(nearest < nearest_distance(p, n))
    # A share of 4000 with mean 1/2: five standard errors, a false alarm once in a million runs.
    assert abs(below - 0.5) < 5 * 0.5 / np.sqrt(repeats)


def test_curse_collects_and_refuses():
    found = curse_numbers([2, 10], n=100, share=0.05)
    assert found.edge == pytest.approx([0.05**0.5, 0.05**0.1])
    assert found.ball == pytest.approx([np.pi / 4, ball_volume(10) / 2**10])
    assert found.to_frame().shape == (2, 4)
    for call in (
        lambda: nearest_distance(0, 10),
        lambda: edge_of_share(1.5, 2),
        lambda: ball_volume(2, 0.0),
    ):
        with pytest.raises(InputError, match="is not allowed"):
            call()


def test_charts_say_what_they_show():
    rates = rate_experiment((100, 400), designs=1)
    chart = rates.plot().to_dict()
    assert "slope" in chart["description"]
    curse = curse_numbers([1, 5, 10])
    drawn = curse.plot().to_dict()
    values = next(iter(drawn["datasets"].values())) if "datasets" in drawn else None
    rows = values or drawn["layer"][0].get("data", drawn.get("data"))["values"]
    assert [row["y"] for row in rows if "edge" in row["line"]] == pytest.approx(
        curse.edge.tolist(), rel=1e-6
    )
    x = np.linspace(0, 1, 200)
    both = bias_and_variance(
        np.square, lambda t: 2 + 0 * t, x, 0.5, [0.05, 0.1], sigma=0.1, density=1.0
    )
    drawn = both.plot().to_dict()
    assert drawn["title"]["text"] == "Bias and variance at 0.5"
    assert "asymptotic" in drawn["description"]
