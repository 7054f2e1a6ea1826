"""The distribution that was meant, and why data may be impossible under it."""

from typing import Any

import numpy as np
from scipy import stats

from bottega.core.errors import ParameterError, did_you_mean
from bottega.probability._likelihood.search import NegativeLogLikelihood

__all__ = ["law_of", "why_impossible"]


def law_of(distribution: Any) -> Any:
    """Return the distribution that was named or given."""
    if isinstance(distribution, str):
        found = getattr(stats, distribution, None)
        if not isinstance(found, stats.rv_continuous | stats.rv_discrete):
            known = [
                name
                for name in dir(stats)
                if isinstance(getattr(stats, name), stats.rv_continuous | stats.rv_discrete)
            ]
            raise ParameterError(
                f"maximum_likelihood: scipy.stats has no distribution {distribution!r}."
                f"{did_you_mean(distribution, known)}"
            )
        return found
    if not isinstance(distribution, stats.rv_continuous | stats.rv_discrete):
        raise ParameterError(
            "maximum_likelihood: the distribution must be one of scipy.stats (not frozen), such as "
            f"scipy.stats.gamma, or its name; got {distribution!r}."
        )
    return distribution


def why_impossible(objective: NegativeLogLikelihood) -> str:
    """Say which observation no parameters tried can explain."""
    space, data = objective.space, objective.data
    name = space.distribution.name
    if hasattr(space.distribution, "pmf") and (data != np.round(data)).any():
        bad = data[np.argmax(data != np.round(data))]
        return f"maximum_likelihood: {bad:g} is no whole number, and {name} is of whole numbers."
    held = ", ".join(f"{key}={value:g}" for key, value in space.held.items()) or "nothing"
    return (
        f"maximum_likelihood: {name} with {held} held gives the data (from {data.min():g} to "
        f"{data.max():g}) no likelihood at any of the parameters tried; an observation lies "
        "outside its support, or the fixed parameters are not allowed."
    )
