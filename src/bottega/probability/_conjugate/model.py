"""What all conjugate models do: a prior, the sums of the data seen, and what follows from both."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.params import Choice, Integer, Real
from bottega.core.results import check_level
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.probability._conjugate.marginals import Marginal, Pieces

__all__ = ["ConjugateModel", "check_finite", "check_positive"]

T = TypeVar("T", bound="ConjugateModel")

_KINDS = ("equal_tailed", "highest_density")


class ConjugateModel(Shown):
    """A likelihood with the prior whose posterior is of the same family.

    Models do not change: `update` returns another one. What a model keeps of the data is sums, so
    that updates in several steps, in any order, give the same model as one with all the data.
    """

    title: ClassVar[str]

    # ---- what a model has to tell ----------------------------------------------------------------

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""

    @property
    @abstractmethod
    def n(self) -> float:
        """Number of observations seen, or their total weight."""

    @abstractmethod
    def prior(self) -> Any:
        """Return the distribution of the parameters before any data."""

    @abstractmethod
    def posterior(self) -> Any:
        """Return the distribution of the parameters given the data seen."""

    @abstractmethod
    def as_prior(self: T) -> T:
        """Return a model whose prior is this one's posterior, and that has seen nothing yet."""

    @abstractmethod
    def log_likelihood(self, theta: Any) -> Any:
        """Return the log-likelihood of the data seen, at one or many values of the parameters."""

    @abstractmethod
    def log_evidence(self) -> float:
        """Return the logarithm of the probability (density) of the data seen under the prior."""

    @abstractmethod
    def predictive(self) -> Any:
        """Return the distribution of the next observation given the data seen."""

    @abstractmethod
    def plug_in(self, theta: Any) -> Any:
        """Return the distribution of an observation at given values of the parameters."""

    @abstractmethod
    def _marginals(self, *, prior: bool = False) -> Mapping[str, Marginal]:
        """Return the distribution of each parameter alone."""

    @abstractmethod
    def _mle(self) -> FloatArray:
        """Return the values of greatest likelihood, of at least one observation."""

    @abstractmethod
    def _map(self) -> FloatArray:
        """Return the values of greatest posterior density; NaN if that is not one place."""

    @abstractmethod
    def _draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return draws from the posterior, one row each."""

    @abstractmethod
    def update(self: T, data: Any, *, sample_weight: Any = None) -> T:
        """Return the model that has seen these data too."""

    # ---- what follows ----------------------------------------------------------------------------

    def likelihood(self, theta: Any) -> Any:
        """Return the likelihood of the data seen; it is no distribution of the parameters.

        It underflows to 0 with some thousand observations: use `log_likelihood` then.
        """
        return np.exp(self.log_likelihood(theta))

    def evidence(self) -> float:
        """Return the probability (density) of the data seen under the prior.

        It underflows to 0 with some thousand observations: use `log_evidence` then.
        """
        return float(np.exp(self.log_evidence()))

    def log_predictive(self, data: Any, *, sample_weight: Any = None) -> float:
        """Return the log probability (density) of new data, all together, given the data seen.

        Parameters
        ----------
        data : array-like of shape (m,)
            Observations that the model has not seen.
        sample_weight : array-like of shape (m,), optional
            How often each occurred.

        Returns
        -------
        float
            The new data depend on one another through the parameters: this is not the sum of the
            log probabilities that `predictive` gives to each.
        """
        return self.as_prior().update(data, sample_weight=sample_weight).log_evidence()

    def mle(self) -> Any:
        """Return the maximum-likelihood estimate: a number, or one per parameter."""
        if self.n == 0:
            raise InputError(
                f"{type(self).__name__} has seen no data, and the likelihood of none is the same "
                "everywhere; update() it first, or use map() or mean()."
            )
        return self._shaped(self._mle())

    def map(self) -> Any:
        """Return the mode of the posterior: a number, or one per parameter."""
        found = self._map()
        if np.isnan(found).any():
            raise InputError(
                f"The posterior density of this {type(self).__name__} is highest in more than one "
                "place (it is flat, or unbounded at several borders), so there is no MAP estimate; "
                "use mean(), or a prior with a maximum inside."
            )
        return self._shaped(found)

    def mean(self) -> Any:
        """Return the posterior mean: a number, or one per parameter; NaN where there is none."""
        return self._shaped(_of_each(self._marginals(), "mean"))

    def std(self) -> Any:
        """Return the posterior standard deviation of each parameter; NaN where there is none."""
        return self._shaped(_of_each(self._marginals(), "std"))

    def interval(self, level: float = 0.95, *, kind: str = "equal_tailed") -> tuple[Any, Any]:
        """Return an interval that holds the parameter with probability `level`, given the data.

        Parameters
        ----------
        level : float, default=0.95
            Probability; larger values give wider intervals.
        kind : {"equal_tailed", "highest_density"}
            Leave out as much below as above, or the values of lowest density: that interval is
            the shortest.

        Returns
        -------
        low, high : float, or ndarray with one entry per parameter
            With several parameters the level holds for each alone.
        """
        check_level(level)
        Choice(*_KINDS).check(type(self).__name__, "kind", kind)
        ends = []
        for name, marginal in self._marginals().items():
            if kind == "equal_tailed":
                ends.append(marginal.equal_tailed(level))
                continue
            pieces = marginal.highest_density(level)
            if len(pieces) > 1:
                raise InputError(
                    f"The region of highest density of {name} is no interval, its density being "
                    "highest at both ends; use highest_density_region(), or kind='equal_tailed'."
                )
            ends.append(pieces[0])
        low, high = np.array(ends).T
        return self._shaped(low), self._shaped(high)

    def highest_density_region(
        self, level: float = 0.95, *, parameter: str | None = None
    ) -> Pieces:
        """Return the smallest region that holds a parameter with probability `level`.

        Parameters
        ----------
        level : float, default=0.95
            Probability; larger values give larger regions.
        parameter : str, optional
            Which one; not needed where there is only one.

        Returns
        -------
        list of (low, high)
            One piece, or two where the density is highest at both ends.
        """
        check_level(level)
        name = self.parameters[0] if parameter is None and len(self.parameters) == 1 else parameter
        Choice(*self.parameters).check(type(self).__name__, "parameter", name)
        return self._marginals()[str(name)].highest_density(level)

    def sample(self, n: int = 1, *, random_state: Any = None) -> FloatArray:
        """Draw parameters from the posterior.

        Parameters
        ----------
        n : int, default=1
            Number of draws.
        random_state : int, RandomState, Generator or None
            Seed.

        Returns
        -------
        ndarray of shape (n,), or (n, p) with p > 1 parameters
        """
        Integer(0).check(type(self).__name__, "n", n)
        drawn = self._draw(n, np.random.default_rng(seed_of(random_state, type(self).__name__)))
        return drawn[:, 0] if len(self.parameters) == 1 else drawn

    def to_frame(self, level: float = 0.95, *, like: Any = None) -> Any:
        """Return the posterior as a data frame, one row per parameter.

        Columns: ``parameter``, ``prior_mean``, ``mle``, ``map``, ``mean``, ``std``, ``low`` and
        ``high`` (the equal-tailed interval). What does not exist is NaN.
        """
        return make_frame(self._table(level), like)

    def compare(self, *, like: Any = None) -> Any:
        """Return maximum likelihood, MAP and full Bayes side by side, as a data frame.

        One row per method. Columns: ``method`` ("mle", "map", "bayes"), one per parameter (for
        "bayes" its posterior mean), and ``predictive_mean`` and ``predictive_std`` of the next
        observation. The first two take the estimate for the truth; full Bayes averages over the
        posterior, so its predictive distribution is wider. What does not exist is NaN.
        """
        estimates, predictives = self._three()
        columns: dict[str, Any] = {"method": list(estimates)}
        for j, name in enumerate(self.parameters):
            columns[name] = np.array([each[j] for each in estimates.values()])
        for what in ("mean", "std"):
            columns[f"predictive_{what}"] = np.array(
                [np.nan if each is None else _moment(each, what) for each in predictives.values()]
            )
        return make_frame(columns, like)

    def summary(self, level: float = 0.95) -> Summary:
        """Return prior, estimates and posterior as a table that shows itself."""
        table = self._table(level)
        percent = f"{100 * level:g} %"
        columns = {name.replace("_", " "): list(column) for name, column in table.items()}
        columns[f"{percent} low"], columns[f"{percent} high"] = (
            columns.pop("low"),
            columns.pop("high"),
        )
        notes = [f"{self.n:g} observation{'' if self.n == 1 else 's'} seen; {self._in_words()}"]
        notes.append(f"Log evidence {self.log_evidence():.6g}.")
        return Summary(self.title, (Section("", columns),), tuple(notes))

    def plot(self, level: float = 0.95) -> Any:
        """Draw prior, likelihood (scaled to area one) and posterior, with estimates and interval.

        Returns
        -------
        altair.LayerChart or altair.FacetChart
            With several parameters one panel each, without the likelihood, which is a function of
            all of them.
        """
        from bottega.plot import conjugate_chart

        return conjugate_chart(self, level=level)

    def plot_predictive(self) -> Any:
        """Draw the distribution of the next observation by maximum likelihood, MAP, full Bayes.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import predictive_chart

        return predictive_chart(self._three()[1], categories=getattr(self, "categories", None))

    # ---- shared pieces ---------------------------------------------------------------------------

    @abstractmethod
    def _in_words(self) -> str:
        """Say what prior and posterior are."""

    def _shaped(self, values: FloatArray) -> Any:
        """Return a number for one parameter, an array for several."""
        return float(values[0]) if len(self.parameters) == 1 else np.asarray(values)

    def _three(self) -> tuple[dict[str, FloatArray], dict[str, Any]]:
        """Return estimates and predictive distributions by method; NaN and None for none."""
        missing = np.full(len(self.parameters), np.nan)
        mean = np.atleast_1d(np.asarray(self.mean(), dtype=np.float64))
        estimates = {"mle": self._mle() if self.n > 0 else missing, "map": self._map()}
        predictives: dict[str, Any] = {}
        for name, each in estimates.items():
            known = np.isfinite(each).all() and self._is_inside(each)
            predictives[name] = self.plug_in(self._shaped(each)) if known else None
        return estimates | {"bayes": mean}, predictives | {"bayes": self.predictive()}

    def _is_inside(self, estimate: FloatArray) -> bool:
        """Return True if observations have a distribution at this estimate."""
        return True

    def _table(self, level: float) -> dict[str, Any]:
        estimates = self._three()[0]
        ends = [each.equal_tailed(check_level(level)) for each in self._marginals().values()]
        low, high = np.array(ends).T
        return {
            "parameter": list(self.parameters),
            "prior_mean": _of_each(self._marginals(prior=True), "mean"),
            "mle": estimates["mle"],
            "map": estimates["map"],
            "mean": estimates["bayes"],
            "std": np.atleast_1d(self.std()),
            "low": low,
            "high": high,
        }


def check_positive(owner: str, what: Mapping[str, float]) -> None:
    """Refuse parameters of a prior that are not positive: it would not integrate."""
    for name, value in what.items():
        if not Real(0.0, open_low=True).accepts(value):
            raise ParameterError(
                f"{owner}: {name}={value!r} is not allowed; it must be a positive, finite number, "
                "or the prior does not integrate to one."
            )


def check_finite(owner: str, what: Mapping[str, float]) -> None:
    """Refuse what is not a finite number."""
    for name, value in what.items():
        Real().check(owner, name, value)


def _of_each(marginals: Mapping[str, Marginal], what: str) -> FloatArray:
    return np.array([_moment(each.frozen(), what) for each in marginals.values()])


def _moment(distribution: Any, what: str) -> float:
    """Return mean or std of a distribution of SciPy; NaN where it is infinite or has none."""
    with np.errstate(all="ignore"):
        found = float(getattr(distribution, what)())
    return found if np.isfinite(found) else float("nan")
