"""How many rows a bound needs to promise a given accuracy."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError, did_you_mean
from bottega.risk.bounds import (
    bernstein_deviation,
    erm_boolean_trees,
    erm_finite,
    erm_trees,
    hoeffding_deviation,
    ogd_regret,
    ogd_strongly_convex_regret,
    perceptron_compression,
    rate,
    srm,
    srm_code,
    srm_tree,
)
from bottega.risk.bounds._checks import at_least, check_sides, level, positive
from bottega.risk.bounds.interval import beta_limits, student_deviation
from bottega.risk.bounds.neighbors import lipschitz_term

__all__ = ["sample_size"]

_MOST_DOUBLINGS = 1000  # beyond it a number of rows is no longer a float


@dataclass(frozen=True)
class _Inverse:
    """A bound as a number that falls as n grows."""

    excess: Callable[..., Any]
    rows: str  # the argument that counts them
    least: int = 1  # n below which the bound has no meaning

    @property
    def options(self) -> dict[str, bool]:
        """What else the bound depends on, and whether it must be given."""
        return {
            name: parameter.default is parameter.empty
            for name, parameter in inspect.signature(self.excess).parameters.items()
            if name != self.rows
        }


def _clopper_pearson(n: float, delta: Any, rate: Any = 0.5, sides: int = 2) -> Any:
    share = at_least(0, "rate", rate, 1)
    low, high = beta_limits(share * n, np.asarray(n), delta, sides)
    below = share - low if check_sides(sides) == 2 else 0.0
    return np.maximum(below, high - share)


def _student(n: float, delta: Any, sd: Any) -> Any:
    return student_deviation(positive("sd", sd), np.asarray(n), delta)


def _compression(m: float, delta: Any, n_updated: Any) -> Any:
    if np.any(2 * np.asarray(n_updated) > m):
        return np.inf  # the bound says nothing where more than half of the rows were updated on
    return perceptron_compression(0.0, n_updated, m, delta)


def _nn_asymptotic(k: float, bayes_risk: Any) -> Any:
    return 2 * np.sqrt(at_least(0, "bayes_risk", bayes_risk, 0.5) / k)


_INVERSES = {
    "hoeffding": _Inverse(hoeffding_deviation, "n"),
    "empirical_bernstein": _Inverse(bernstein_deviation, "n", least=2),
    "clopper_pearson": _Inverse(_clopper_pearson, "n"),
    "student": _Inverse(_student, "n", least=2),
    "erm_finite": _Inverse(erm_finite, "m"),
    "erm_boolean_trees": _Inverse(erm_boolean_trees, "m"),
    "erm_trees": _Inverse(erm_trees, "m"),
    "srm": _Inverse(srm, "m"),
    "srm_code": _Inverse(srm_code, "m"),
    "srm_tree": _Inverse(srm_tree, "m"),
    "perceptron_compression": _Inverse(_compression, "m"),
    "ogd_regret": _Inverse(ogd_regret, "T"),
    "ogd_strongly_convex_regret": _Inverse(ogd_strongly_convex_regret, "T"),
    "nn_asymptotic": _Inverse(_nn_asymptotic, "k"),
    "nn_lipschitz": _Inverse(lipschitz_term, "m"),
    "rate": _Inverse(rate, "m"),
}
_WITHOUT_ROWS = {
    "perceptron_convergence",
    "perceptron_mistakes",
    "kernel_perceptron",
    "no_free_lunch",
    "cover_hart",
    "union",
}


def sample_size(
    bound: str | Callable[..., Any], eps: float, delta: float | None = None, **options: Any
) -> int:
    """Return the least number of rows for which a bound is at most `eps`.

    ============================== ================================================ =============
    Bound                          What is at most `eps`                            Options
    ============================== ================================================ =============
    ``hoeffding``                  the half width                                   sides, low,
                                                                                    high
    ``empirical_bernstein``        the half width                                   variance,
                                                                                    sides, low,
                                                                                    high
    ``clopper_pearson``            the distance of the farther end from `rate`,     rate (1/2),
                                   if a share of exactly `rate` is seen             sides
    ``student``                    the half width, for a sample deviation `sd`      sd
    ``erm_finite``                 the excess over the best of the class            n_hypotheses
    ``erm_boolean_trees``          the same                                         d
    ``erm_trees``                  the same                                         n_nodes, d
    ``srm``                        the margin                                       weight
    ``srm_code``                   the margin                                       length, form
    ``srm_tree``                   the margin                                       n_nodes, d,
                                                                                    n_classes,
                                                                                    form
    ``perceptron_compression``     the margin                                       n_updated
    ``ogd_regret``                 the average regret after n rounds                U, G
    ``ogd_strongly_convex_regret`` the same                                         G, sigma
    ``nn_lipschitz``               the part that vanishes                           c, d
    ``nn_asymptotic``              the excess; the answer counts neighbours         bayes_risk
    ``rate``                       the rate, without constants                      d
    ============================== ================================================ =============

    Parameters
    ----------
    bound : str or function
        Name of a function of `bottega.risk.bounds`, or the function itself.
    eps : float
        Accuracy to be promised, above 0.
    delta : float, optional
        Probability with which the promise may fail, 0.05 unless told; the last five bounds of the
        table have none.
    **options
        What else the bound depends on; of arrays, all are served by the answer.

    Returns
    -------
    int
        The least n. Beyond 2^53, where n and n + 1 are one float, the last digits mean nothing.

    Notes
    -----
    Every bound here falls as n grows, so doubling and then halving finds the least n in about
    2 log2 n evaluations, free of the rounding of a closed form.

    Examples
    --------
    >>> sample_size("hoeffding", 0.05)
    738
    >>> sample_size("clopper_pearson", 0.01, rate=0, sides=1)  # no error seen: risk below 1%
    299
    >>> sample_size("rate", 0.1, d=9)
    10000000000
    """
    name = bound if isinstance(bound, str) else getattr(bound, "__name__", repr(bound))
    name = "hoeffding" if name == "hoeffding_deviation" else name
    name = "empirical_bernstein" if name == "bernstein_deviation" else name
    if name in _WITHOUT_ROWS:
        raise ParameterError(f"{name} does not fall with a number of rows: nothing to solve for.")
    if name not in _INVERSES:
        raise ParameterError(
            f"bound={name!r} is not known; choose one of {', '.join(_INVERSES)}."
            + did_you_mean(name, _INVERSES)
        )
    inverse = _INVERSES[name]
    known = inverse.options
    chance = known.pop("delta", None) is not None
    wrong = [option for option in options if option not in known]
    missing = [option for option, needed in known.items() if needed and option not in options]
    if wrong or missing:
        reason = f"takes no {wrong[0]!r}" if wrong else f"needs {', '.join(missing)}"
        raise ParameterError(f"sample_size of {name} {reason}; its options are {', '.join(known)}.")
    goal = float(positive("eps", eps))
    if delta is not None and not chance:
        raise ParameterError(f"{name} holds for certain: it takes no delta.")
    if chance:
        options["delta"] = level(0.05 if delta is None else delta)

    def enough(n: int) -> bool:
        return bool(np.all(inverse.excess(**{inverse.rows: float(n)}, **options) <= goal))

    low = inverse.least
    if enough(low):
        return low
    high = low
    for _ in range(_MOST_DOUBLINGS):
        low, high = high, 2 * high
        if enough(high):
            break
    else:
        raise ParameterError(f"No number of rows makes {name} as small as eps={eps!r}.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
