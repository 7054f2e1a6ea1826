"""Chapter 14: codes, multipliers, derivatives and likelihoods."""

from typing import Any

import numpy as np
from scipy import stats

from bottega.core.losses import get_loss
from bottega.core.typing import FloatArray
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.optimize import Problem, QuadraticFunction
from bottega.probability import entropy, huffman, matrix_derivatives

__all__ = ["codes_and_likelihoods"]


@experiment(
    "N-X21",
    claim="A code of 1.75 bits meets the entropy; multipliers vanish inside and balance the "
    "gradients on the border; the derivatives by vectors and matrices are right; losses are "
    "negative log-likelihoods.",
    items="N208-N211, N221, N222, N224, N225",
    verdict="holds only if the loss has a distribution, which the hinge has not, and if all "
    "probabilities are powers of 1/2: other codes are up to a bit above their entropy",
)
def codes_and_likelihoods(*, draws: int = 200, random_state: int = 0) -> Experiment:
    """Code words, solve two small problems, differentiate, and compare losses with likelihoods.

    A loss is a negative log-likelihood if it is minus the logarithm of a density up to a factor
    and a constant. For two labels, exp(-loss) of both has to add up to the same for every
    prediction, as for the logistic loss and the zero-one loss; that of the hinge does not, whatever
    the factor.

    Parameters
    ----------
    draws : int
        Random distributions to code.
    random_state : int
        Of everything drawn.
    """
    rng = np.random.default_rng(random_state)
    animals = huffman({"dog": 0.5, "cat": 0.25, "fish": 0.125, "bird": 0.125})
    excess = []
    for _ in range(draws):
        p = rng.dirichlet(np.full(int(rng.integers(2, 12)), 0.7))
        excess.append(huffman(p).mean_length - entropy(p))
    # Maximise 1 - (x - c)^2 where x >= 0: minimise its negative where -x <= 0.
    inside, border = (
        Problem(QuadraticFunction([[2.0]], [-2.0 * c], c * c - 1), inequality=[_at_least_zero()])
        for c in (0.5, -0.5)
    )
    alpha = [float(each.solve().multipliers[0]) for each in (inside, border)]
    passed = inside.kkt([0.5]).passed and border.kkt([0.0]).passed
    errors = matrix_derivatives().check(random_state=random_state)["error"].to_numpy()
    apart = _losses_and_likelihoods(rng)
    margins = np.linspace(0.01, 3, 300)
    sums = {name: _both_labels(name, margins) for name in ("logistic", "zero_one")}
    # The sum is 2 exp(-c) at 0 and 1 far out: with c = ln 2 the two are the same.
    sums["hinge"] = _both_labels("hinge", margins, factor=np.log(2))
    spread = {name: float(np.ptp(each)) for name, each in sums.items()}
    parts = [
        Proof("bits of the code of the notes, entropy", animals.mean_length, animals.entropy,
              animals.mean_length == animals.entropy == 1.75),
        Proof(f"{draws} codes: least above the entropy", min(excess), 0, min(excess) > -1e-12),
        Proof(f"{draws} codes: most above the entropy", max(excess), 1, 0.01 < max(excess) <= 1),
        Proof("multiplier of a maximum inside", alpha[0], 0, abs(alpha[0]) < 1e-9 and passed),
        Proof("multiplier of one on the border", alpha[1], 1, abs(alpha[1] - 1) < 1e-9),
        Proof(f"{len(errors)} derivatives: largest error of differences", errors.max(), 0,
              errors.max() < 1e-6),
        *(Proof(f"{name}: largest difference of the two", each, 0, each < 1e-12)
          for name, each in apart.items()),
        *(Proof(f"{name.replace('_', '-')} loss: spread of the sum of both labels", spread[name],
                0, spread[name] < 1e-12) for name in ("logistic", "zero_one")),
        Proof("hinge loss: spread of the sum of both labels", spread["hinge"], 0.2,
              spread["hinge"] > 0.2),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"the code of the notes takes {animals.mean_length:g} bits, its entropy; {draws} "
        f"others are 0 to {max(excess):.2f} bits above theirs; the multiplier is {alpha[0]:.2g} "
        f"inside and {alpha[1]:.2g} on the border; {len(errors)} derivatives are right to "
        f"{errors.max():.0e}, and {len(apart)} losses are negative log-likelihoods to "
        f"{max(apart.values()):.0e}; exp(-hinge) of both labels adds up to numbers "
        f"{spread['hinge']:.2f} apart",
        draw=animals.plot,
    )


def _at_least_zero() -> QuadraticFunction:
    return QuadraticFunction([[0.0]], [-1.0])


def _losses_and_likelihoods(rng: np.random.Generator) -> dict[str, float]:
    """Return, per loss, how far it is from minus a log-density, less that at the response itself.

    The losses are those of predictions z; the densities have z as their parameter, so that what
    is taken off does not depend on it.
    """
    y, z = rng.normal(size=(2, 50))
    sign = rng.choice([-1.0, 1.0], size=50)
    share = rng.uniform(0.05, 0.95, size=50)
    count = np.asarray(rng.poisson(3.0, size=50) + 1, dtype=np.float64)
    mean = rng.uniform(0.5, 6, size=50)
    one = (sign > 0).astype(np.float64)
    pairs: dict[str, tuple[FloatArray, Any]] = {
        "squared error, normal": (
            _loss("squared_error", y, z),
            2 * (stats.norm.logpdf(y, y) - stats.norm.logpdf(y, z)),
        ),
        "absolute error, Laplace": (
            _loss("absolute_error", y, z),
            stats.laplace.logpdf(y, y) - stats.laplace.logpdf(y, z),
        ),
        "log loss, Bernoulli": (
            _loss("log_loss", one, share),
            -stats.bernoulli.logpmf(one, share),
        ),
        "logistic loss, Bernoulli of the log odds": (
            _loss("logistic", sign, z),
            -stats.bernoulli.logpmf(one, 1 / (1 + np.exp(-z))),
        ),
        "Poisson loss, Poisson": (
            _loss("poisson", count, mean),
            stats.poisson.logpmf(count, count) - stats.poisson.logpmf(count, mean),
        ),
    }
    return {name: float(np.max(np.abs(a - b))) for name, (a, b) in pairs.items()}


def _both_labels(name: str, margins: FloatArray, factor: float = 1.0) -> FloatArray:
    """Return the sums over both labels of exp(-factor loss)."""
    ones = np.ones_like(margins)
    predicted = np.sign(margins) if name == "zero_one" else margins
    return np.asarray(
        sum(np.exp(-factor * _loss(name, label * ones, predicted)) for label in (1, -1))
    )


def _loss(name: str, y: FloatArray, z: FloatArray) -> FloatArray:
    return np.array([float(get_loss(name)(a, b)) for a, b in zip(y, z, strict=True)])
