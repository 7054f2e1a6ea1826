"""Lectures 1 to 3: biased samples and searching noise for effects."""

from functools import partial

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student_t

from bottega.core.typing import FloatArray
from bottega.course._numbers import log_slope
from bottega.course.experiment import Experiment, experiment
from bottega.data import effective_sample_size
from bottega.plot import lines_chart

__all__ = ["big_biased_samples", "dredging_noise"]


@experiment(
    "D-E1",
    claim="A large sample with selection bias is worth little: its error does not fall with its "
    "size, and at a fixed correlation of answer and being sampled it grows, in standard errors, "
    "as the root of the population.",
    items="D16-D21",
)
def big_biased_samples(
    *,
    sizes: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000),
    share: float = 0.1,
    correlation: float = 0.05,
    random_state: int = 0,
) -> Experiment:
    r"""Sample a tenth of ever larger populations, in a way that leans a little on the answer.

    For every finite population and every choice of units, with f the share sampled, sigma the
    standard deviation (divisor N) and rho the correlation of being sampled with X,

    .. math:: \bar X_n - \bar X_N = \sqrt{(1 - f) / f}\; \sigma \rho,

    which is :math:`Z = \sqrt{N - 1}\, \rho` standard errors of simple random sampling. The sample
    is worth a random one of size :math:`f / ((1 - f) \rho^2)`: 404 in the case of an election with
    f = 0.01 and rho = -0.005.

    Parameters
    ----------
    sizes : tuple of int
        Sizes N of the populations.
    share : float
        Share f that is sampled.
    correlation : float
        Correlation rho aimed at; units are chosen by X and chance, so it comes out nearly so.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    # Units with the largest a X + sqrt(1 - a^2) E are taken: rho = a phi(z) / sqrt(f (1 - f)).
    lean = correlation * np.sqrt(share * (1 - share)) / norm.pdf(norm.ppf(share))
    biased, random, z, wrong = (np.zeros(len(sizes)) for _ in range(4))
    found = np.zeros(len(sizes))
    for i, size in enumerate(sizes):
        n = round(share * size)
        x = rng.normal(size=size)
        urge = lean * x + np.sqrt(1 - lean**2) * rng.normal(size=size)
        taken = np.zeros(size, dtype=bool)
        taken[np.argpartition(urge, size - n)[size - n :]] = True
        f = n / size
        rho = np.corrcoef(taken, x)[0, 1]
        biased[i] = x[taken].mean() - x.mean()
        random[i] = x.std(ddof=1) * np.sqrt((1 - f) / n)  # standard error of a random sample
        z[i] = biased[i] / random[i]
        found[i] = rho
        wrong[i] = max(
            abs(biased[i] - np.sqrt((1 - f) / f) * x.std() * rho),
            abs(z[i] - np.sqrt(size - 1) * rho) / abs(z[i]),
        )
    expected = np.sqrt((1 - share) / share) * correlation
    effective = np.array([effective_sample_size(share, float(each)) for each in found])
    election = effective_sample_size(0.01, -0.005)
    # rho varies by 1 / sqrt(N): at the largest size by a hundredth of itself or so.
    holds = (
        wrong.max() < 1e-9
        and abs(biased[-1] / expected - 1) < 0.1
        and abs(log_slope(sizes, z) - 0.5) < 0.15
        and random[-1] < random[0] / 10
        and abs(election - 404.04) < 0.005
    )
    population = np.array(sizes)
    return Experiment(
        columns={
            "population": population,
            "error": biased,
            "standard error of a random sample": random,
            "z": z,
            "correlation": found,
            "worth a random sample of": effective,
        },
        holds=bool(holds),
        finding=f"with a tenth of {sizes[-1]:,} units the error is {biased[-1]:.3f}, "
        f"{z[-1]:.0f} standard errors of a random sample and worth one of {effective[-1]:.0f}; the "
        f"identity holds to {wrong.max():.0e}, and the election case is worth {election:.2f}",
        draw=partial(
            lines_chart,
            population,
            {"biased sample": np.abs(biased), "random sample of the same size": random},
            x_title="size of the population",
            y_title="error of the mean",
            title="Size does not cure selection",
            subtitle=f"{share:.0%} sampled; correlation of being sampled and X: {correlation:g}",
            log_x=True,
            log_y=True,
        ),
    )


@experiment(
    "D-E2",
    claim="Testing many columns of noise finds something significant; a test on other rows than "
    "those that chose the column does not.",
    items="D10-D12",
)
def dredging_noise(
    *,
    rows: int = 60,
    columns: tuple[int, ...] = (1, 3, 10, 30, 100),
    repeats: int = 400,
    random_state: int = 0,
) -> Experiment:
    """Take the column of noise with the least p-value, and test it once more on new rows.

    m independent tests at 5 % find something with probability 1 - 0.95^m. Choosing on one half of
    the rows and testing on the other brings the error back to 5 %.

    Parameters
    ----------
    rows : int
        Rows; half of them choose in the split form.
    columns : tuple of int
        Numbers m of columns tried.
    repeats : int
        Data sets of noise.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    most, half = max(columns), rows // 2
    dredged = np.zeros((repeats, len(columns)), dtype=bool)
    honest = np.zeros_like(dredged)
    for r in range(repeats):
        X, y = rng.normal(size=(rows, most)), rng.normal(size=rows)
        whole = slope_p_values(X, y)
        first, second = slope_p_values(X[:half], y[:half]), slope_p_values(X[half:], y[half:])
        for i, tried in enumerate(columns):
            dredged[r, i] = whole[:tried].min() < 0.05
            honest[r, i] = second[np.argmin(first[:tried])] < 0.05
    found, kept = dredged.mean(axis=0), honest.mean(axis=0)
    m = np.array(columns)
    theory = 1 - 0.95**m
    error = np.sqrt(theory * (1 - theory) / repeats)
    level_error = np.sqrt(0.05 * 0.95 / repeats)
    # Four standard errors at each of ten places: a false alarm in less than one run of 1,000.
    holds = np.all(np.abs(found - theory) < 4 * error + 0.5 / repeats) and np.all(
        np.abs(kept - 0.05) < 4 * level_error
    )
    return Experiment(
        columns={"columns": m, "dredged": found, "split": kept, "theory": theory},
        holds=bool(holds),
        finding=f"the best of {m[-1]} columns of noise is significant at 5 % in {found[-1]:.0%} of "
        f"{repeats} data sets, tested on fresh rows in {kept[-1]:.1%}",
        draw=partial(
            lines_chart,
            m,
            {
                "chosen and tested on the same rows": found,
                "tested on other rows": kept,
                "1 - 0.95^m": theory,
            },
            x_title="columns of noise tried",
            y_title="share of data sets with p < 0.05",
            title="Dredging finds what is not there",
            subtitle="Choosing on one half and testing on the other cures it",
            log_x=True,
            dashed=("1 - 0.95^m",),
        ),
    )


def slope_p_values(X: FloatArray, y: FloatArray) -> FloatArray:
    """Return the p-value of the slope of y on each column alone, that of a simple regression."""
    n = len(y)
    Z = X - X.mean(axis=0)
    r = Z.T @ (y - y.mean()) / np.sqrt(np.sum(Z**2, axis=0) * np.sum((y - y.mean()) ** 2))
    statistic = np.abs(r) * np.sqrt((n - 2) / (1 - r**2))
    return np.asarray(2 * student_t.sf(statistic, n - 2))
