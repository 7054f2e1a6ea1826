"""Chapter 8: kernels."""

import warnings
from functools import partial

import numpy as np

from bottega.core.errors import DataWarning
from bottega.course.experiment import Experiment, experiment
from bottega.course.machine_learning.support_vectors import machine
from bottega.data import make
from bottega.kernel import PolynomialKernel, SigmoidKernel
from bottega.plot import lines_chart

__all__ = ["kernel_and_map", "sigmoid_kernel"]


@experiment(
    "M-X53",
    claim="The dual with a kernel is the dual with its explicit map.",
    items="M821, M830",
)
def kernel_and_map(
    *, degrees: tuple[int, ...] = (1, 2, 3, 4), rows: int = 120, random_state: int = 0
) -> Experiment:
    """Fit with the kernel (1 + x.x')^n, and with a plane on all its monomials.

    Parameters
    ----------
    degrees : tuple of int
        Degrees n.
    rows : int
        Rows of an exclusive-or.
    random_state : int
        Of all draws.
    """
    data = make.xor(rows, cluster_std=0.5, random_state=random_state)
    new = make.xor(500, cluster_std=0.5, random_state=random_state + 1).X
    gap, size, error = [], [], []
    for n in degrees:
        polynomial = PolynomialKernel(n)
        curved = machine(kernel=polynomial).fit(data.X, data.y)
        flat = machine().fit(polynomial.feature_map(data.X), data.y)
        one = curved.decision_function(new)
        two = flat.decision_function(polynomial.feature_map(new))
        gap.append(float(np.max(np.abs(one - two)) / np.max(np.abs(one))))
        size.append(flat.coef_.shape[1])
        error.append(float(np.mean(curved.predict(data.X) != data.y)))
    holds = max(gap) < 1e-5 and error[1] < error[0] - 0.2
    return Experiment(
        columns={"degree": np.array(degrees), "monomials": size, "gap": gap, "error": error},
        holds=bool(holds),
        finding=f"the decision functions agree up to {max(gap):.0e} for degrees "
        f"{', '.join(map(str, degrees))} ({', '.join(map(str, size))} monomials)",
        draw=partial(
            lines_chart,
            degrees,
            {"training error": error},
            x_title="degree of the kernel",
            y_title="training error",
            title="The kernel is a plane in the space of its map",
            subtitle=f"Exclusive-or; both ways agree up to {max(gap):.0e}",
        ),
    )


@experiment(
    "M-X54",
    claim="The sigmoid kernel is not positive semi-definite in general, and yet usable.",
    items="M824, M828",
)
def sigmoid_kernel(
    *,
    kappa: float = 0.5,
    deltas: tuple[float, ...] = (0.1, 0.5, 1.0, 2.0),
    rows: int = 200,
    points: int = 2000,
    random_state: int = 0,
) -> Experiment:
    """Look at the eigenvalues of tanh(kappa x.x' - delta), and classify with it.

    Parameters
    ----------
    kappa : float
        Factor of the inner product.
    deltas : tuple of float
        Offsets delta.
    rows, points : int
        Training and new rows.
    random_state : int
        Of all draws.
    """
    data = make.two_gaussians(rows, distance=2.0, random_state=random_state)
    new = make.two_gaussians(points, distance=2.0, random_state=random_state + 1)
    least, error = [], []
    for delta in deltas:
        kernel = SigmoidKernel(kappa, -delta)
        found = kernel.is_psd(data.X)
        least.append(found.least / max(found.largest, -found.least))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # which says that it is no kernel
            model = machine(kernel=kernel).fit(data.X, data.y)
        error.append(float(np.mean(model.predict(new.X) != new.y)))
    bayes = float(np.mean(new.bayes(new.X) != new.y))
    holds = max(least) < -1e-3 and min(error) < bayes + 0.03
    return Experiment(
        columns={"delta": np.array(deltas), "least eigenvalue": least, "error": error},
        holds=bool(holds),
        finding="relative least eigenvalues "
        + ", ".join(f"{low:.2g} (delta {d:g})" for low, d in zip(least, deltas, strict=True))
        + f"; the error on new rows is between {min(error):.3f} and {max(error):.3f}, Bayes "
        f"{bayes:.3f}",
        draw=partial(
            lines_chart,
            deltas,
            {"error": error, "Bayes": np.full(len(deltas), bayes)},
            x_title="delta",
            y_title="error on new rows",
            title="A kernel that is none, and works",
            subtitle="Every Gram matrix here has a negative eigenvalue",
            dashed=("Bayes",),
        ),
    )
