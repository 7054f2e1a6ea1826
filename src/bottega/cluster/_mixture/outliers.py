"""How far out rows are: tail probabilities of the components, as far as values are known."""

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from bottega.cluster._mixture.density import Centred
from bottega.cluster._mixture.missing import squares_of_observed
from bottega.cluster._mixture.parameters import MixtureParameters, within_reach
from bottega.core.typing import FloatArray

__all__ = ["tail_scores"]

_ROWS = 65_536  # of a block


def tail_scores(Z: FloatArray, parameters: MixtureParameters) -> FloatArray:
    """Return minus the decimal logarithm of the tail probability of each row of Z (p, n).

    The tail probabilities of the components are averaged with the responsibilities. NaN for a row
    without any value.
    """
    n = Z.shape[1]
    found = np.empty(n)
    density = Centred(parameters)
    for start in range(0, n, _ROWS):
        block = within_reach(Z[:, start : start + _ROWS])
        count = np.sum(~np.isnan(block), axis=0)
        holes = count < len(block)
        squares = np.empty((len(parameters.weights), block.shape[1]))
        logs = np.empty_like(squares)
        if not holes.all():
            squares[:, ~holes] = density.squares(block[:, ~holes])
            logs[:, ~holes] = density.constant[:, None] - 0.5 * squares[:, ~holes]
        if holes.any():
            squares[:, holes], logs[:, holes] = squares_of_observed(block[:, holes], parameters)
        tails = stats.chi2.logsf(squares, np.maximum(count, 1))
        logs -= logsumexp(logs, axis=0)
        scores = np.maximum(-logsumexp(tails + logs, axis=0) / np.log(10), 0.0)
        found[start : start + _ROWS] = np.where(count == 0, np.nan, scores)
    return found
