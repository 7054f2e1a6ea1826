"""Whether stems are as frequent in unread texts as some mixture of the tagged classes has them."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.text._proportions.equations import (
    Draws,
    Equations,
    class_means,
    mean_of,
)

__all__ = ["CarryOver", "carry_over", "told_stems"]

_LEAST_TEXTS = 5  # tagged texts with a stem (and without it), for its share to mean something
_MOST_STEMS = 1000
_LEAST_VARIANCE = 1e-12
_SHOWN = 8


@dataclass(frozen=True, repr=False, eq=False)
class CarryOver(Shown):
    r"""A test of the assumption that texts of a class use the same stems, tagged or unread.

    Attributes
    ----------
    stems : ndarray of shape (J,)
        Names of the stems that were looked at.
    found : ndarray of shape (J,)
        Share of the unread texts with each stem.
    expected : ndarray of shape (J,)
        The share that the estimated mixture of the tagged classes has.
    z : ndarray of shape (J,)
        Difference in standard errors.
    statistic : float
        Mean square of `z`.
    p_value : float
        Share of bootstrap samples with a larger one when the assumption holds.
    n_bootstrap : int
        Number of samples: the p-value is at least 1 / (n_bootstrap + 1).
    """

    stems: Array
    found: FloatArray
    expected: FloatArray
    z: FloatArray
    statistic: float
    p_value: float
    n_bootstrap: int
    _like: str | None = field(default=None)

    def to_frame(self) -> Any:
        """Return one row per stem, those that carry over worst first."""
        order = np.argsort(-np.abs(self.z), kind="stable")
        columns = {"stem": self.stems, "found": self.found, "expected": self.expected, "z": self.z}
        return make_frame({name: values[order] for name, values in columns.items()}, self._like)

    def summary(self) -> Summary:
        """Return the verdict, and the stems that carry over worst."""
        order = np.argsort(-np.abs(self.z), kind="stable")[:_SHOWN]
        columns = {
            "stem": [str(name) for name in self.stems[order]],
            "found": self.found[order].tolist(),
            "expected": self.expected[order].tolist(),
            "z": self.z[order].tolist(),
        }
        verdict = (
            f"Mean square {self.statistic:.4g} of {len(self.z):,} stems, "
            f"p = {self.p_value:.3g} ({self.n_bootstrap} bootstrap samples)."
        )
        limits = (
            "Sees stems that no mixture of the tagged classes explains. Does not see changes "
            "within classes that look like another mixture, stems that only go together "
            "differently, or stems that no tagged text has; a large p-value proves nothing."
        )
        title = "Do the tagged classes carry over to the unread texts?"
        return Summary(title, (Section("Largest differences", columns),), (verdict, limits))


def told_stems(present: Any) -> IntArray:
    """Return the stems that are told about: the most frequent, not in nearly none or all texts."""
    counts = np.asarray(present.sum(axis=0)).ravel()
    known = np.flatnonzero((counts >= _LEAST_TEXTS) & (present.shape[0] - counts >= _LEAST_TEXTS))
    frequent = np.argsort(-counts[known], kind="stable")[:_MOST_STEMS]
    return np.sort(known[frequent])


def carry_over(
    system: Equations, tagged: Any, unread: Any, stems: Array, samples: int, rng: Any
) -> CarryOver:
    r"""Compare shares of stems among unread texts with the mixture that the equations give.

    With :math:`r = \bar s - \sum_k \hat\pi_k \bar s_k` the differences of the shares and v their
    variances, the statistic is the mean of :math:`r_j^2 / v_j`. Its distribution where the
    assumption holds is that of the mean of :math:`(r_j^* - r_j)^2 / v_j` over bootstrap samples of
    the tagged and the unread texts, in which the proportions are estimated anew. In v the unread
    texts vary as the expected shares would have it: of a rare stem that none of them has, bootstrap
    samples have none either, and its difference would look certain.

    Parameters
    ----------
    system : Equations
        What the proportions are estimated by.
    tagged, unread : sparse matrix of shape (n, J) and (N, J)
        Which stems the texts have.
    stems : ndarray of shape (J,)
        Their names.
    samples : int
        Bootstrap samples.
    rng : numpy.random.Generator
        Of the samples.
    """
    if not len(stems):
        raise InputError(
            f"No stem is in at least {_LEAST_TEXTS} tagged texts and missing in as many others, so "
            "there is nothing to compare; tag more texts."
        )
    K = system.n_classes
    found = mean_of(unread, system.unread_weight)
    expected = class_means(tagged, system.codes, system.weight, K) @ system.free
    r = found - expected
    sizes = np.bincount(system.codes, minlength=K).tolist()
    draws = [Draws.of(size, samples, rng) for size in sizes]
    of_unread = Draws.of(unread.shape[0], samples, rng)
    again = of_unread.means(unread, system.unread_weight)
    shares = system.by_class(tagged, draws)
    for pi, share in zip(
        replace(system, given=None).replicates(draws, of_unread).T, shares, strict=True
    ):
        again -= pi[:, None] * share
    w = system.unread_weight
    likely = np.clip(expected, 0, 1)
    swap = np.sum(w**2) / np.sum(w) ** 2 * (likely * (1 - likely) - found * (1 - found))
    v = np.maximum(again.var(axis=0, ddof=1) + swap, _LEAST_VARIANCE)
    statistic = float(np.mean(r**2 / v))
    null = np.mean((again - r) ** 2 / v, axis=1)
    p_value = (1 + int(np.count_nonzero(null >= statistic))) / (samples + 1)
    return CarryOver(stems, found, expected, r / np.sqrt(v), statistic, p_value, samples)
