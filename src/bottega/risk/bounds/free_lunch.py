"""Consistency without a rate: for every slow sequence a source that is learnt as slowly."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray, IntArray
from bottega.risk.bounds._checks import Numbers, count, plain

__all__ = ["NoFreeLunch", "no_free_lunch"]

FIRST_TERM = 1 / 16


@dataclass(frozen=True, eq=False)
class NoFreeLunch:
    r"""A source without noise that no rule learns faster than a given sequence.

    Points come in groups of equally probable ones; each point has a label -1 or +1, tossed once
    with a fair coin. Whoever knows the labels errs never: the Bayes risk is 0. A point that is not
    among the m rows is guessed with an error of one half, whatever the rule, and a rule that
    remembers what it saw (a table, 1-NN) errs nowhere else, so its risk, expected over labels and
    rows, is exactly

    .. math:: R(m) = \tfrac{1}{2} \sum_j p_j (1 - p_j)^m,

    and no rule has less. Hence for each rule and each m some labels of the points make the
    expected risk at least that.

    Attributes
    ----------
    sequence : ndarray
        The terms :math:`a_1, a_2, \ldots` that were given.
    probabilities : ndarray
        Probability of a point, one entry per group.
    counts : ndarray of int
        Points in each group.
    """

    sequence: FloatArray
    probabilities: FloatArray
    counts: IntArray

    @property
    def claim(self) -> str:
        """What the theorem says about the sequence, in words."""
        return (
            "For every learning rule that is consistent under the zero-one loss there is a "
            "source with Bayes risk 0 from which the rule learns slowly: its expected risk after "
            f"m rows is at least a_m for all m (here a_1 = {self.sequence[0]:.4g} down to "
            f"a_{len(self.sequence)} = {self.sequence[-1]:.4g}). The source depends on the rule; "
            "nothing is said against fast learning from a given source."
        )

    @property
    def n_points(self) -> int:
        """Number of points that the source can draw."""
        return int(self.counts.sum())

    def missing_mass(self, m: Any) -> Numbers:
        """Return the expected probability of what m rows have not shown.

        It is also the exact risk of a table that says +1 for what it has not seen, on the source
        in which every label is -1.
        """
        rows = count("m", m, 0)[..., np.newaxis]
        # The logarithm keeps (1 - p)^m right for p far below 1/m; a sure point is never missing.
        with np.errstate(divide="ignore", invalid="ignore"):
            unseen = np.where(rows == 0, 1.0, np.exp(rows * np.log1p(-self.probabilities)))
        return plain(np.sum(self.counts * self.probabilities * unseen, axis=-1))

    def expected_risk(self, m: Any) -> Numbers:
        """Return the exact expected risk of a remembering rule after m rows."""
        return plain(0.5 * np.asarray(self.missing_mass(m)))

    def labels(self, random_state: Any = None) -> FloatArray:
        """Return the label of every point, tossed with a fair coin."""
        return np.random.default_rng(seed_of(random_state)).choice([-1.0, 1.0], size=self.n_points)

    def sample(self, m: int, random_state: Any = None) -> IntArray:
        """Return m independent points, as numbers from 0; the groups follow one another."""
        rng = np.random.default_rng(seed_of(random_state))
        share = self.counts * self.probabilities
        group = rng.choice(len(share), size=m, p=share / share.sum())
        first = np.concatenate([[0], np.cumsum(self.counts)[:-1]])
        return np.asarray(first[group] + rng.integers(self.counts[group]), dtype=np.intp)


def no_free_lunch(sequence: Any) -> NoFreeLunch:
    r"""Return a source that is learnt no faster than a sequence, and what the theorem says of it.

    For every sequence :math:`1/16 \ge a_1 \ge a_2 \ge \ldots \to 0` and every rule that is
    consistent for the zero-one loss there is a distribution with Bayes risk 0 on which the
    expected risk after m rows is at least :math:`a_m` for all m. The theorem's distribution
    depends on the rule. The one returned here serves every rule on average over the labels of its
    points, and has a closed form: see `NoFreeLunch`.

    Parameters
    ----------
    sequence : array-like of shape (M,)
        :math:`a_1, \ldots, a_M`: at most 1/16, never rising, above 0.

    Returns
    -------
    NoFreeLunch
        With ``expected_risk(m) >= a_m`` for m = 1, ..., M.

    Notes
    -----
    For :math:`2^k \le m < 2^{k+1}` a probability of :math:`8a_{2^k}`, at most one half, is spread
    over points of at most :math:`2^{-(k+1)}` each. Such a point is missing from the rows with
    probability at least :math:`(1 - 2^{-(k+1)})^{2^{k+1}} \ge 1/4`, so the expected risk is at
    least :math:`\frac12 \cdot \frac14 \cdot 8a_{2^k} \ge a_m`. What is left is one point.

    References
    ----------
    .. [1] Devroye, L., Gyorfi, L. and Lugosi, G. (1996). A Probabilistic Theory of Pattern
       Recognition, theorem 7.2. Springer.

    Examples
    --------
    >>> slow = no_free_lunch([1 / (16 * (1 + np.log(m))) for m in range(1, 1001)])
    >>> slow.n_points, round(slow.expected_risk(1000), 4), round(float(slow.sequence[-1]), 4)
    (87, 0.0139, 0.0079)
    """
    terms = np.asarray(sequence, dtype=np.float64)
    if terms.ndim != 1 or not terms.size or not np.all(np.isfinite(terms)):
        raise InputError("Give the sequence as a list of finite numbers a_1, a_2, ...")
    if not terms[-1] > 0 or not terms[0] <= FIRST_TERM:
        raise InputError(
            f"The sequence goes from {terms[0]:.6g} to {terms[-1]:.6g}; the theorem needs terms "
            "above 0 and a first term of at most 1/16. Divide it by 16 times its first term."
        )
    if np.any(np.diff(terms) > 0):
        at = int(np.argmax(np.diff(terms) > 0)) + 1
        raise InputError(
            f"The sequence rises after term {at}; the theorem needs one that never does."
        )
    spread = 8 * terms[2 ** np.arange(len(terms).bit_length()) - 1]
    mass = np.append(spread[:-1] - spread[1:], spread[-1])
    sizes = 2.0 ** -(1 + np.arange(len(mass)))
    used = mass > 0
    mass, sizes = mass[used], sizes[used]
    counts = np.ceil(mass / sizes).astype(np.intp)
    return NoFreeLunch(
        terms,
        np.concatenate([[1 - mass.sum()], mass / counts]),
        np.concatenate([[1], counts]).astype(np.intp),
    )
