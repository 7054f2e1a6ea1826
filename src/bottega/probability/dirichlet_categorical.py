"""Outcomes of several kinds with a Dirichlet prior on their probabilities."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special, stats

from bottega.core.errors import InputError, ParameterError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.probability._conjugate.marginals import BetaMarginal, Marginal
from bottega.probability._conjugate.model import ConjugateModel, check_positive
from bottega.probability._conjugate.seen import Counts, read_weights
from bottega.probability._conjugate.special import log_rising

__all__ = ["DirichletCategorical"]


@stored
@dataclass(frozen=True, repr=False, init=False)
class DirichletCategorical(ConjugateModel):
    r"""Observations of one of K outcomes with unknown probabilities, and a Dirichlet prior.

    With :math:`n_k` observations of outcome k,

    .. math:: p(\theta) \propto \prod_k \theta_k^{\alpha_k - 1}, \qquad
              p(D \mid \theta) = \prod_k \theta_k^{n_k}, \qquad
              p(\theta \mid D) = \mathrm{Dirichlet}(\alpha_1 + n_1, \dots, \alpha_K + n_K).

    Parameters
    ----------
    alpha : array-like of shape (K,), or float
        Parameters of the prior, read as outcomes seen before. All 1 is uniform (Laplace's rule);
        larger values pull estimates to their shares. A number stands for each of `categories`.
    categories : sequence of length K, optional
        What the outcomes are called in the data; 0, 1, ..., K - 1 by default.
    seen : Counts, optional
        Outcomes seen; `update` keeps it.

    Notes
    -----
    An update takes one pass over its data, everything else a time in proportion to K. Intervals
    are those of each probability alone, which is Beta.

    References
    ----------
    .. [1] Gelman, A. et al. (2013). Bayesian Data Analysis, third edition, section 3.4.

    Examples
    --------
    >>> votes = DirichletCategorical(1.0, ["a", "b", "c"]).update(list("aabac"))
    >>> votes.mle().tolist(), votes.mean().tolist()
    ([0.6, 0.2, 0.2], [0.5, 0.25, 0.25])
    >>> round(1 / votes.evidence())
    420
    """

    alpha: tuple[float, ...]
    categories: tuple[Any, ...]
    seen: Counts

    title: ClassVar[str] = "Categorical observations with a Dirichlet prior"

    def __init__(self, alpha: Any, categories: Any = None, *, seen: Counts | None = None) -> None:
        names = None if categories is None else tuple(categories)
        try:
            values = np.asarray(alpha, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"DirichletCategorical: alpha must be numbers; got {alpha!r}."
            ) from error
        if values.ndim == 0 and names is not None:
            values = np.full(len(names), float(values))
        if values.ndim != 1 or len(values) < 2:
            raise ParameterError(
                f"DirichletCategorical: alpha={alpha!r} is not allowed; give one number per "
                "outcome, of at least two, or one number and the categories."
            )
        if names is None:
            names = tuple(range(len(values)))
        if len(names) != len(values) or len(set(names)) != len(names):
            raise ParameterError(
                f"DirichletCategorical: there are {len(values)} numbers in alpha and the "
                f"categories {list(names)!r}; give one for each, all different."
            )
        check_positive(
            "DirichletCategorical",
            {f"alpha[{k}]": value for k, value in enumerate(values.tolist())},
        )
        object.__setattr__(self, "alpha", tuple(values.tolist()))
        object.__setattr__(self, "categories", names)
        object.__setattr__(self, "seen", seen or Counts((0.0,) * len(values)))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters: those of the outcomes."""
        return tuple(map(str, self.categories))

    @property
    def n(self) -> float:
        """Number of observations seen, or their total weight."""
        return self.seen.n

    def update(self, data: Any, *, sample_weight: Any = None) -> "DirichletCategorical":
        """Return the model that has seen these data too.

        Parameters
        ----------
        data : array-like of shape (m,)
            Outcomes, each one of `categories`; it may be empty.
        sample_weight : array-like of shape (m,), optional
            How often each occurred: counts are ``update(categories, sample_weight=counts)``.

        Returns
        -------
        DirichletCategorical
        """
        values = np.atleast_1d(np.asarray(data))
        if values.ndim != 1:
            raise InputError(
                f"DirichletCategorical: the observations must be one list; got an array of shape "
                f"{values.shape}."
            )
        weights = read_weights(sample_weight, len(values), "DirichletCategorical")
        kinds, at = np.unique(values, return_inverse=True) if values.size else (values, values)
        place = {name: k for k, name in enumerate(self.categories)}
        unknown = [kind for kind in kinds.tolist() if kind not in place]
        if unknown:
            raise InputError(
                f"DirichletCategorical: {unknown[0]!r} among the observations is not one of the "
                f"categories {list(self.categories)!r}."
            )
        counts = [0.0] * len(self.categories)
        for kind, weight in zip(
            kinds.tolist(), np.bincount(at.astype(np.intp), weights), strict=True
        ):
            counts[place[kind]] = float(weight)
        return DirichletCategorical(
            self.alpha, self.categories, seen=self.seen.plus(Counts(tuple(counts)))
        )

    def prior(self) -> Any:
        """Return the distribution of the probabilities before any data, of `scipy.stats`."""
        return stats.dirichlet(np.array(self.alpha))

    def posterior(self) -> Any:
        """Return the distribution of the probabilities given the data, of `scipy.stats`."""
        return stats.dirichlet(self._all)

    def as_prior(self) -> "DirichletCategorical":
        """Return a model whose prior is this one's posterior, and that has seen nothing yet."""
        return DirichletCategorical(self._all, self.categories)

    def log_likelihood(self, theta: Any) -> Any:
        """Return the log-likelihood of the data seen, in their order.

        Parameters
        ----------
        theta : array-like of shape (K,) or (m, K)
            Probabilities of the outcomes, which sum to one.

        Returns
        -------
        float or ndarray of shape (m,)
        """
        p = np.asarray(theta, dtype=np.float64)
        size = len(self.alpha)
        right = p.ndim in (1, 2) and p.shape[-1] == size
        # Shares of thousands of outcomes sum to one but for rounding.
        if not right or not ((p >= 0).all() and np.abs(p.sum(axis=-1) - 1).max() < 1e-8):
            raise InputError(
                f"DirichletCategorical: theta must be {size} probabilities that sum to one."
            )
        found = special.xlogy(np.array(self.seen.of), p).sum(axis=-1)
        return float(found) if p.ndim == 1 else found

    def log_evidence(self) -> float:
        """Return the log probability of the data seen, in their order, under the prior."""
        each = log_rising(self.alpha, self.seen.of)
        return float(each.sum() - log_rising(sum(self.alpha), self.n))

    def predictive(self) -> Any:
        """Return the distribution of the next observation, over the places of `categories`."""
        return self.plug_in(self._all / self._all.sum())

    def plug_in(self, theta: Any) -> Any:
        """Return the distribution of an observation at given probabilities."""
        p = np.asarray(theta, dtype=np.float64)
        return stats.rv_discrete(values=(np.arange(len(p)), p / p.sum()))

    @property
    def _all(self) -> FloatArray:
        return np.array(self.alpha) + np.array(self.seen.of)

    def _marginals(self, *, prior: bool = False) -> Mapping[str, Marginal]:
        alpha = np.array(self.alpha) if prior else self._all
        return {
            name: BetaMarginal(float(alpha[k]), float(alpha[:k].sum() + alpha[k + 1 :].sum()))
            for k, name in enumerate(self.parameters)
        }

    def _mle(self) -> FloatArray:
        return np.array(self.seen.of) / self.n

    def _map(self) -> FloatArray:
        spare = self._all - 1
        if (spare <= 0).sum() == len(spare) - 1:  # all the others are most likely near 0
            return (spare > 0).astype(np.float64)
        if (spare < 0).any() or not (spare > 0).any():
            return np.full(len(spare), np.nan)
        return spare / spare.sum()

    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        return rng.dirichlet(self._all, size=n)

    def _in_words(self) -> str:
        shown = ", ".join(f"{value:g}" for value in self._all[:8])
        more = ", ..." if len(self._all) > 8 else ""
        return f"posterior Dirichlet({shown}{more})."
