"""Fit classes of the catalogue to hostile data and print, as JSON, what went wrong.

``python hostile.py NAME...`` takes topics (``smooth``) and classes (``smooth.Loess``). A right
outcome is numbers, or an error that was raised on purpose; a wrong one is an error of any other
kind, an index outside an array (where bounds are checked: NUMBA_BOUNDSCHECK=1), or predictions that
are not finite without a warning.
"""

import json
import sys
import traceback
import warnings

import numpy as np

from bottega.core.errors import BottegaError
from bottega.registry import estimators, methods, public_name

N, P = 40, 2
FAR = (1e155, -1e300, 1e-300)
# What only takes time is small.
SMALL = {"alphas": 10, "cv": 3, "max_estimators": 4, "n_estimators": 4, "max_iter": 20}


def small(each):
    """Return an estimator that does not take long."""
    model = each()
    given = model.get_params(deep=False)
    chosen = {name: SMALL[name] for name in SMALL if isinstance(given.get(name), int)}
    task = "regression" if each.card.task == "regression" else "classification"
    tree = methods(task)["tree"]
    if "estimators" in given:
        depths = {"shallow": 1, "deep": 3}
        chosen["estimators"] = [(k, tree(ccp_alpha=0.0, max_depth=d)) for k, d in depths.items()]
    elif "estimator" in given:
        chosen["estimator"] = tree(ccp_alpha=0.0, max_depth=2)
    return model.set_params(**chosen)


def cases(each):
    """Yield names of cases with inputs, responses and weights (or None)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))[:, : each.card.n_inputs]
    if each.card.task == "experts":
        X = rng.random((N, P))
    regression = each.card.task in ("regression", "experts")
    signal = X[:, 0] - X[:, -1] ** 2 + 0.3 * rng.normal(size=N)
    y = signal if regression else np.digitize(signal, np.quantile(signal, [0.3, 0.7]))
    if each.card.task == "experts":
        y = rng.random(N)
    two = np.where(signal > np.median(signal), "yes", "no")
    yield "ordinary", X, y, None
    if not regression:
        yield "two classes", X, two, None
    for scale in (1e150, 1e155, 1e300, 1e-160, 1e-200, 1e-300):
        yield f"X times {scale:g}", X * scale, y, None
    for scale in (1e-200, 1e200):
        yield f"a column times {scale:g}", X * np.r_[np.ones(X.shape[1] - 1), scale], y, None
    yield "one row at 1e300", np.r_[X[:-1], np.full((1, X.shape[1]), 1e300)], y, None
    yield "an offset of 1e7", X + 1e7, y, None
    yield "ties", np.round(X), y, None
    yield "equal rows", np.zeros_like(X) + X[0], y, None
    yield "two places", np.repeat(X[:2], N // 2, axis=0), y, None
    yield "a constant column", np.c_[X, np.ones(N)][:, -X.shape[1] :], y, None
    yield "nearly equal", 1.0 + 1e-15 * np.round(X), y, None
    for rows in (1, 2, 3):
        yield f"{rows} rows", X[:rows], (y if regression else two)[:rows], None
    yield "two rows of two classes", X[:2], y[:2] if regression else np.array([0, 1]), None
    if regression:
        yield "one response", X, np.zeros(N), None
        for scale in (1e-160, 1e-100, 1e100, 1e300):
            yield f"y times {scale:g}", X, y * scale, None
    else:
        yield "one class", X, np.zeros(N, dtype=int), None
        yield "a class of one row", X, np.arange(N) == 3, None
    if each.card.weights:
        for low, high in ((1e-300, 1.0), (1.0, 1e300), (1e-90, 1e90), (1.0, 1e12)):
            weight = np.where(np.arange(N) % 3 == 0, low, high)
            yield f"weights {low:g} and {high:g}", X, y, weight
        yield "one row counts", X, y, 1.0 * (np.arange(N) == 5)
        yield "two rows count", X, y, 1.0 * (np.arange(N) % 20 == 5)


def on_purpose(error):
    """Return True if an error was raised to tell the user what is wrong."""
    if isinstance(error, BottegaError):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return type(error) is ValueError and "sklearn/utils" in last.replace("\\", "/")


def attempt(action):
    """Return what an action gives, or None with a problem in words."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = action()
    except Exception as error:
        if on_purpose(error):
            return None, None
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename.rpartition('bottega/')[2]}:{where.lineno}"
        return None, f"{type(error).__name__}: {str(error)[:200]} ({place})"
    said = [each for each in caught if not issubclass(each.category, RuntimeWarning)]
    numbers = isinstance(found, np.ndarray) and found.dtype.kind == "f"
    if numbers and not said and not np.all(np.isfinite(found)):
        return found, "not finite, without a word"
    return found, None


def problems(each):
    """Yield the case and the problem of every wrong outcome."""
    for name, X, y, weight in cases(each):
        given = {} if weight is None else {"sample_weight": weight}
        model = small(each)
        _, problem = attempt(lambda m=model, X=X, y=y, w=given: m.fit(X, y, **w))
        if problem is not None:
            yield name, problem
            continue
        if not hasattr(model, "n_features_in_"):
            continue
        new = {"the rows": X, "points between": (X + X[::-1]) / 2}
        if name == "ordinary" and each.card.task != "experts":
            new |= {f"points at {far:g}": np.full((5, X.shape[1]), far) for far in FAR}
        for points, Z in new.items():
            for method in ("predict", "predict_proba", "transform"):
                if hasattr(model, method):
                    _, problem = attempt(lambda m=model, Z=Z, to=method: getattr(m, to)(Z))
                    if problem is not None:
                        yield f"{name}, {method} of {points}", problem


def main(names):
    """Print the problems of the named classes, all of them without names."""
    found = []
    for each in estimators():
        public = public_name(each).removeprefix("bottega.")
        if not names or public in names or public.partition(".")[0] in names:
            found += [[public, case, problem] for case, problem in problems(each)]
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
