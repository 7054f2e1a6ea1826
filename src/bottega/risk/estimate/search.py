"""Search for good settings of a procedure: at random, over a grid, or along its path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from bottega.core.errors import BottegaError, InputError, ParameterError
from bottega.core.frames import make_frame
from bottega.core.params import AnyOf, Boolean, Choice, Integer, Parameter, Real, without_words
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.plot import lines_chart
from bottega.risk.estimate.cross_validate import cross_validate
from bottega.risk.estimate.judged_rows import read_rows, task_of
from bottega.risk.estimate.procedures import fit_weighted

__all__ = ["Search", "search"]

_SHOWN = 10
_OPEN = 1e-3, 1e3  # of a parameter on the log scale without limits


@dataclass(frozen=True, repr=False)
class Search(Shown):
    """What a search found; made by `search`.

    Attributes
    ----------
    settings : tuple of dict
        The settings that were tried, in their order.
    error, error_se : ndarray of shape (m,)
        Cross-validated mean loss of each, and its standard error; NaN where a fit was refused.
    fold_errors : ndarray of shape (m, K)
        Mean loss in each fold.
    seconds : ndarray of shape (m,)
        What judging it took.
    problems : tuple of str
        Why a fit was refused, an empty text where it was not.
    loss : str
        Name of the loss.
    how : {"random", "grid", "path"}
        How the settings came about.
    estimator : estimator
        The best setting, fitted to all rows.
    """

    settings: tuple[dict[str, Any], ...]
    error: FloatArray
    error_se: FloatArray
    fold_errors: FloatArray
    seconds: FloatArray
    problems: tuple[str, ...]
    loss: str
    how: str
    estimator: Any = field(repr=False, default=None)

    @property
    def best(self) -> int:
        """Position of the least error; of equals the first."""
        if np.all(np.isnan(self.error)):
            raise InputError(f"No setting could be fitted. The first one: {self.problems[0]}")
        return int(np.nanargmin(self.error))

    @property
    def best_setting(self) -> dict[str, Any]:
        """The setting of least error."""
        return dict(self.settings[self.best])

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per setting, in the order tried: its parameters, error and time."""
        names = list(dict.fromkeys(name for setting in self.settings for name in setting))
        columns: dict[str, Any] = {
            name: [setting.get(name) for setting in self.settings] for name in names
        }
        columns |= {"error": self.error, "error_se": self.error_se, "seconds": self.seconds}
        return make_frame(columns | {"problem": list(self.problems)}, like)

    def plot(self) -> Any:
        """Draw the error of each setting in the order tried, and the least so far."""
        least = np.fmin.accumulate(self.error)
        return lines_chart(
            np.arange(1, len(self.error) + 1),
            {"setting": self.error, "least so far": least},
            x_title="settings tried",
            y_title=self.loss,
            title=f"Search ({self.how}) over {len(self.settings)} settings",
            subtitle=f"least {self.loss} {self.error[self.best]:.4g}",
            dashed=["least so far"],
        )

    def summary(self) -> Summary:
        """Return the best settings as a table that shows itself as text, HTML and Markdown."""
        order = np.argsort(np.where(np.isnan(self.error), np.inf, self.error), kind="stable")
        order = order[:_SHOWN]
        names = list(dict.fromkeys(name for setting in self.settings for name in setting))
        rows: dict[str, list[Any]] = {
            name: [self.settings[i].get(name) for i in order] for name in names
        }
        rows |= {self.loss: self.error[order].tolist(), "se": self.error_se[order].tolist()}
        notes = [
            "the least of many errors is too low: judge the search itself by nested "
            "cross-validation",
        ]
        refused = sum(map(bool, self.problems))
        if refused:
            notes.append(f"{refused} settings could not be fitted; see to_frame()")
        title = f"Search ({self.how}): the best of {len(self.settings)} settings"
        return Summary(title, (Section("", rows),), tuple(notes))


def search(
    estimator: Any,
    X: Any,
    y: Any = None,
    space: Mapping[str, Any] | None = None,
    *,
    how: str = "random",
    n_iter: int = 30,
    sample_weight: Any = None,
    groups: Any = None,
    time: Any = None,
    cv: Any = 5,
    loss: Any = None,
    random_state: Any = 0,
) -> Search:
    """Find a good setting of any estimator by cross-validation.

    Parameters
    ----------
    estimator : estimator
        Any of bottega's or scikit-learn's, pipelines included; it is cloned.
    X, y
        Rows, as in `cross_validate`.
    space : dict, optional
        Names of parameters (``part__name`` in a pipeline), and what each may be: a list of values;
        ``Real(low, high)``, ``Real(low, high, log=True)`` or ``Integer(low, high)`` of
        `bottega.core.params`; or a distribution with a method ``rvs``. Left out, the knobs that an
        estimator of bottega declares; those on the log scale without limits from 1e-3 to 1e3.
    how : {"random", "grid", "path"}
        Draw `n_iter` settings; take all combinations of listed values; or walk the estimator's own
        path, judged by these folds.
    n_iter : int
        Settings that ``"random"`` draws. Where all of the space is lists with no more combinations,
        each is taken once.
    sample_weight, groups, time, cv, loss
        As in `cross_validate`; all settings are judged on the same folds.
    random_state : int, RandomState, Generator or None
        Seed of the draws and of the folds.

    Returns
    -------
    Search
        All settings with their errors; ``best_setting``, and ``estimator``, fitted to all rows.

    Notes
    -----
    Random draws beat a grid of the same size where few of the parameters matter: each draw is a new
    value of every one of them. With n draws the best one is among the best 100 q % of the space
    with probability 1 - (1 - q)^n: 30 draws find the best tenth with probability 0.96. The path of
    a method costs far less than as many fits: take it for what has one, and search the rest.

    References
    ----------
    .. [1] Bergstra, J. and Bengio, Y. (2012). Random search for hyper-parameter optimization.
       Journal of Machine Learning Research 13, 281-305.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(80, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=80)
    >>> space = {"n_neighbors": Integer(1, 40), "weights": ["uniform", "distance"]}
    >>> found = search(KNeighborsRegressor(), X, y, space, n_iter=8)
    >>> len(found.settings), found.best_setting["n_neighbors"] < 20
    (8, True)
    """
    if how not in ("random", "grid", "path"):
        raise ParameterError(f"how={how!r} is not allowed; use 'random', 'grid' or 'path'.")
    Integer(1).check("search", "n_iter", n_iter)
    seed = seed_of(random_state, "search")
    weight = sample_weight
    if how == "path":
        return _along_path(estimator, X, y, space, weight, groups, time, cv, loss)
    space = _declared(estimator) if space is None else dict(space)
    if not space:
        raise ParameterError("space is empty; name at least one parameter and its values.")
    settings = _settings(space, how, n_iter, seed)
    given = {"sample_weight": weight, "groups": groups, "time": time, "cv": cv, "loss": loss}
    return _judged(estimator, X, y, settings, how, {**given, "random_state": seed})


def _judged(
    estimator: Any, X: Any, y: Any, settings: Sequence[dict[str, Any]], how: str, given: Any
) -> Search:
    """Return all settings judged on the same folds, the best one fitted."""
    error, error_se, folds, seconds, problems, name = [], [], [], [], [], ""
    for setting in settings:
        model = clone(estimator).set_params(**setting)
        start, problem, found = perf_counter(), "", None
        try:
            found = cross_validate(model, X, y, **given)
        except (BottegaError, ValueError, FloatingPointError) as refused:
            problem = str(refused)
        seconds.append(perf_counter() - start)
        error.append(np.nan if found is None else found.error)
        error_se.append(np.nan if found is None else found.error_se)
        folds.append(None if found is None else found.fold_errors)
        problems.append(problem)
        name = name if found is None else found.loss
    count = max((len(each) for each in folds if each is not None), default=0)
    result = Search(
        settings=tuple(settings),
        error=np.array(error),
        error_se=np.array(error_se),
        fold_errors=np.array([np.full(count, np.nan) if f is None else f for f in folds]),
        seconds=np.array(seconds),
        problems=tuple(problems),
        loss=name,
        how=how,
    )
    return _with_model(result, clone(estimator).set_params(**result.best_setting), X, y, given)


def _with_model(found: Search, model: Any, X: Any, y: Any, given: Mapping[str, Any]) -> Search:
    table, rows = read_rows(
        X,
        y,
        task_of(model),
        weight=given["sample_weight"],
        groups=given["groups"],
        time=given["time"],
    )
    object.__setattr__(found, "estimator", fit_weighted(model, table, rows.y, rows.weight))
    return found


def _along_path(
    estimator: Any,
    X: Any,
    y: Any,
    space: Any,
    weight: Any,
    groups: Any,
    time: Any,
    cv: Any,
    loss: Any,
) -> Search:
    """Return the settings of an estimator's own path, judged on folds."""
    knob = getattr(estimator, "knob", None)
    if knob is None or not hasattr(estimator, "path"):
        raise ParameterError(
            f"{type(estimator).__name__} has no path; use how='random' or how='grid' with a space."
        )
    if groups is not None or time is not None:
        raise InputError("A path is judged on rows; give the folds of groups or time as cv.")
    if space is not None and set(space) != {knob}:
        raise ParameterError(f"A path is over {knob} alone; give space={{{knob!r}: values}}.")
    start = perf_counter()
    values = None if space is None else space[knob]
    curve = estimator.path(X, y, sample_weight=weight, values=values, cv=cv, loss=loss)
    took = (perf_counter() - start) / len(curve)
    best = int(np.nanargmin(curve.error))
    return Search(
        settings=tuple(curve.settings),
        error=curve.error,
        error_se=curve.error_se,
        fold_errors=curve.fold_error.T,
        seconds=np.full(len(curve), took),
        problems=("",) * len(curve),
        loss=curve.loss,
        how="path",
        estimator=curve.at(best),
    )


def _declared(estimator: Any) -> dict[str, Any]:
    """Return the space of the knobs that an estimator declares."""
    found = {}
    for name in getattr(estimator, "knobs", ()):
        declared = without_words(estimator.params[name])
        if isinstance(declared, AnyOf):  # a number, or a list of them
            numbers = [each for each in declared.parts if isinstance(each, Real | Integer)]
            declared = numbers[0] if numbers else declared
        if isinstance(declared, Real) and declared.log and declared.high is None:
            declared = Real(*_OPEN, log=True)
        found[name] = declared
    if not found:
        raise ParameterError(
            f"{type(estimator).__name__} declares no knobs; give space={{name: values}}."
        )
    return found


def _settings(space: Mapping[str, Any], how: str, n_iter: int, seed: int) -> list[dict[str, Any]]:
    lists = {name: _listed(values) for name, values in space.items()}
    names = list(space)
    if how == "grid":
        for name, values in lists.items():
            if values is None:
                raise ParameterError(f"A grid needs a list of values of {name}.")
    if all(values is not None for values in lists.values()):
        count = prod(len(values) for values in lists.values() if values is not None)
        if how == "grid" or count <= n_iter:
            return [
                dict(zip(names, values, strict=True))
                for values in product(*(lists[name] or [] for name in names))
            ]
    rng = np.random.default_rng(seed)
    return [
        {name: _draw(name, lists[name], space[name], rng) for name in names} for _ in range(n_iter)
    ]


def _listed(values: Any) -> list[Any] | None:
    if isinstance(values, Boolean):
        return [False, True]
    if isinstance(values, Choice):
        return list(values.options)
    if isinstance(values, str | Parameter) or hasattr(values, "rvs"):
        return None
    try:
        found = values.tolist() if isinstance(values, np.ndarray) else list(values)
    except TypeError:
        return None
    return found or None


def _draw(name: str, listed: list[Any] | None, values: Any, rng: np.random.Generator) -> Any:
    """Return a value of one parameter."""
    if listed is not None:
        return listed[int(rng.integers(len(listed)))]
    if hasattr(values, "rvs"):
        drawn = values.rvs(random_state=rng)
        return drawn.item() if isinstance(drawn, np.generic) else drawn
    low, high = getattr(values, "low", None), getattr(values, "high", None)
    if not isinstance(values, Real | Integer) or low is None or high is None:
        raise ParameterError(
            f"space[{name!r}]={values!r} cannot be drawn from; give a list, Real(low, high), "
            "Integer(low, high) or a distribution with rvs."
        )
    if isinstance(values, Integer):
        return int(rng.integers(int(low), int(high) + 1))
    if not values.log:
        return float(rng.uniform(low, high))
    if not low > 0:
        raise ParameterError(f"space[{name!r}] is on the log scale and needs a limit above 0.")
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
