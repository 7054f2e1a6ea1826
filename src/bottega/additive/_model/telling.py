"""What a fit of an additive model warns of."""

from typing import Any

from sklearn.base import is_classifier

from bottega.core.errors import ConvergenceWarning, DataWarning, warn_caller

__all__ = ["SEPARATION", "warn_of_fit"]

SEPARATION = (
    "The terms separate the classes, so that the likelihood has no maximum: a weak prior bounds "
    "the fit, and tests mean little. Fewer or smoother terms may not separate them."
)


def warn_of_fit(estimator: Any, work: Any) -> None:
    """Warn of what a fitted estimator could not find, and of what cannot be found.

    Parameters
    ----------
    estimator : AdditiveEstimator
        With its fit.
    work : PenalizedWork or BackfittedWork
        What it was fitted by.
    """
    fit, owner = estimator.fit_, type(estimator).__name__
    if not fit.converged:
        warn_caller(
            f"{owner}: the fit did not converge in {fit.n_iter} steps; look for terms that "
            "say the same (concurvity()), or give fewer of them.",
            ConvergenceWarning,
        )
    undetermined = work.undetermined()
    if undetermined:
        warn_caller(
            f"{owner}: the rows do not determine all of {', '.join(undetermined)}: other terms "
            "say the same. What is not determined is zero; see concurvity().",
            DataWarning,
        )
    if work.separated and not is_classifier(estimator):
        warn_caller(f"{owner}: {SEPARATION}", DataWarning)
    if estimator._one_sided:
        warn_caller(f"{owner}: {estimator._one_sided}", DataWarning)
