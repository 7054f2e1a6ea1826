"""The learned attributes of a mixture, in scikit-learn's shapes, and its warnings."""

from dataclasses import replace
from typing import Any

import numpy as np

from bottega.cluster._mixture.fit import MixtureWork, NormalFit
from bottega.core.errors import ConvergenceWarning, DataWarning, warn_caller
from bottega.core.results import term_names
from bottega.core.typing import FloatArray

__all__ = ["as_declared", "warn_about"]


def as_declared(model: Any, fit: NormalFit, name: str) -> None:
    """Set the learned attributes of an estimator."""
    found, units = fit.parameters, fit.units
    scale = units.scale
    model._units, model._parameters = units, found
    model.covariance_type_ = name
    model.n_components_ = len(found.weights)
    model.n_parameters_ = fit.df
    model.weights_ = found.weights.copy()
    model.means_ = units.center + scale * found.means
    covariances = found.covariances * scale[:, None] * scale
    model.covariances_ = in_shape(name, covariances)
    lower = np.linalg.cholesky(found.covariances)
    roots = np.swapaxes(np.linalg.inv(lower), 1, 2) / scale[:, None]
    model.precisions_cholesky_ = in_shape(name, np.triu(roots))
    model.precisions_ = in_shape(name, roots @ np.swapaxes(roots, 1, 2))
    first = fit.start
    inside = first.covariances * scale[:, None] * scale
    model._start = (first.weights, units.center + scale * first.means, inside)
    model.converged_ = fit.ascent.converged
    model.n_iter_ = fit.ascent.n_iter
    model.log_likelihood_ = fit.log_likelihood
    model.lower_bounds_ = (fit.ascent.log_likelihood / fit.total).tolist()
    model.lower_bound_ = model.lower_bounds_[-1]
    model.entropy_ = fit.last.entropy
    for criterion, value in fit.criteria().items():
        setattr(model, f"{criterion}_", float(value))
    model.degenerate_ = found.floored.copy()
    model.trace_ = replace(fit.ascent, parameters=None)


def in_shape(name: str, matrices: FloatArray) -> FloatArray:
    """Return one matrix per component as scikit-learn keeps those of a covariance type."""
    if name == "tied":
        return matrices[0]
    if name == "diag":
        return np.diagonal(matrices, axis1=1, axis2=2).copy()
    if name == "spherical":
        return matrices[:, 0, 0].copy()
    return matrices


def warn_about(model: Any, work: MixtureWork, fit: NormalFit) -> None:
    """Warn of what a user should know before trusting the fit."""
    owner = type(model).__name__
    if work.flat:
        columns = np.flatnonzero(~work.moments.varies)
        names = term_names(model, intercept=False)
        words = ", ".join(repr(names[j]) for j in columns[:5])
        warn_caller(
            f"{owner}: {len(columns)} column{'s' * (len(columns) > 1)} ({words}) "
            f"{'do' if len(columns) > 1 else 'does'} not vary, and every component has the least "
            "variance allowed there; leave constant columns out.",
            DataWarning,
        )
    if work.left_out:
        names = term_names(model, intercept=False)
        words = ", ".join(repr(names[j]) for j in work.collinear[:5])
        more = len(work.collinear) - 5
        warn_caller(
            f"{owner}: of the columns {words}{f' and {more} more' if more > 0 else ''} at least "
            "one is a combination of the others: every component has the least variance allowed "
            f"there, and families along the columns ({', '.join(work.left_out)}) were not "
            "compared; leave such columns out.",
            DataWarning,
        )
    small = np.flatnonzero(fit.parameters.floored)
    if len(small) and not (work.left_out and fit.parameters.floored.all()):  # said above
        one = len(small) == 1
        words = ", ".join(str(j) for j in small[:5])
        warn_caller(
            f"{owner}: component{'' if one else 's'} {words} shrank onto few rows or a subspace "
            f"and {'is' if one else 'are'} held at the least variance (reg_covar="
            f"{model.reg_covar:g} of the data's), which the likelihood now depends on; use fewer "
            "components, a simpler covariance_type, or a larger reg_covar.",
            DataWarning,
        )
    empty = np.flatnonzero(fit.parameters.weights * work.total < 1e-6)
    if len(empty):
        words = ", ".join(str(j) for j in empty[:5])
        warn_caller(
            f"{owner}: no row belongs to component{'s' * (len(empty) > 1)} {words}; use fewer "
            "components, or another start.",
            DataWarning,
        )
    if fit.ascent.falls:
        warn_caller(
            f"{owner}: rounding lowered the likelihood in iteration {fit.ascent.falls[0]}; raise "
            "reg_covar.",
            ConvergenceWarning,
        )
    elif not fit.ascent.converged and model.max_iter > 0:  # else the start was asked for
        rise = (fit.ascent.after_e[-1] - fit.ascent.after_e[-2]) / fit.total
        warn_caller(
            f"{owner} did not converge in {model.max_iter} iterations: the mean log-likelihood "
            f"still rose by {rise:.3g}; raise max_iter or tol, or try another start.",
            ConvergenceWarning,
        )
