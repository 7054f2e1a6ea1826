"""Draw, fit, judge: what the simulations of risk share.

A *generator* is a callable ``generator(n, random_state=...) -> Sample`` whose rows are independent
draws from one distribution: the functions of `bottega.data.make`, `functools.partial` of them, a
`FiniteDistribution`, or what the functions of `label_noise` return.

A *procedure* is an estimator, cloned before each fit, or a callable ``(X, y) -> predictor``; a
predictor has a `predict` method or is itself a callable from inputs to predictions.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from bottega.core.errors import InputError
from bottega.core.losses import SQUARED_ERROR, get_loss
from bottega.core.seeds import seed_of
from bottega.core.typing import Array, FloatArray
from bottega.data.make import Sample

Generator = Callable[..., Sample]


def draw_seeds(random_state: Any, *shape: int) -> Any:
    """Return seeds of independent streams, as nested lists of whole numbers."""
    source = np.random.SeedSequence(seed_of(random_state, "simulation"))
    state = source.generate_state(int(np.prod(shape)), np.uint64)
    return state.reshape(shape).tolist()


def draw(generator: Generator, n: int, seed: int) -> Sample:
    """Return `n` rows of the generator."""
    if not callable(generator):
        raise InputError(
            f"generator must be a callable (n, random_state=...) that returns a Sample, such as "
            f"bottega.data.make.sine; got {type(generator).__name__}."
        )
    sample = generator(n, random_state=seed)
    if not isinstance(sample, Sample):
        raise InputError(
            f"The generator returned {type(sample).__name__}; it must return a "
            "bottega.data.make.Sample."
        )
    if len(sample.X) != n or len(sample.y) != n:
        raise InputError(
            f"The generator was asked for {n} rows and returned {len(sample.X)} rows of X and "
            f"{len(sample.y)} of y."
        )
    return sample


def predictor(found: Any) -> Callable[[Any], Array]:
    """Return the function from inputs to predictions of what a procedure returned."""
    if hasattr(found, "predict"):
        return found.predict
    if callable(found):
        return found
    raise InputError(
        f"A procedure must return a predictor: an object with predict, or a callable from inputs "
        f"to predictions; got {type(found).__name__}."
    )


def fit(procedure: Any, X: Any, y: Any, settings: Sequence[Any] = ()) -> Callable[[Any], Array]:
    """Return the predictor that a procedure learns from the rows.

    `settings` is empty, or ``(knob, value)``: the parameter of the estimator to set, or for a
    callable the value that it takes as its third argument.
    """
    if hasattr(procedure, "fit"):
        model = clone(procedure)
        if settings:
            model.set_params(**{settings[0]: settings[1]})
        return predictor(model.fit(X, y))
    if not callable(procedure):
        raise InputError(
            f"procedure must be an estimator or a callable (X, y) -> predictor; got "
            f"{type(procedure).__name__}."
        )
    return predictor(procedure(X, y, *settings[1:]))


def excess_losses(sample: Sample, X: Any, y: Any, predicted: Any) -> FloatArray:
    """Return losses whose expectation is the risk above the Bayes risk, one per row.

    The squared loss of h costs (h - f)^2 above that of the Bayes predictor f on average over the
    noise, so the noise can be left out. For other losses the loss of the Bayes predictor on the
    same rows is taken off: most of the randomness of the rows cancels.
    """
    best = np.asarray(sample.bayes(X))
    loss = get_loss(sample.loss)
    if loss is SQUARED_ERROR:
        return loss(best, predicted)
    return loss(y, predicted) - loss(y, best)
