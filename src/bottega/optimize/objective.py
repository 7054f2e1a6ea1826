"""A function to minimise, with its derivatives: counted, and checked on the way."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.devices import torch_on
from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray

__all__ = ["GradientCheck", "Objective", "check_gradient", "numbers_of", "starting_point"]

_EPS = float(np.finfo(np.float64).eps)
# The steps that balance rounding against the error of first and second differences.
_CENTRAL = _EPS ** (1 / 3)
_SECOND = _EPS ** (1 / 4)


class Objective:
    """f, its gradient and its second derivatives, each of them counted.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns a number. With ``gradient=True`` it returns the number and its gradient.
    gradient : callable, True, "torch" or None
        ``gradient(x)`` returns a vector; None takes central differences, which cost 2 d values of
        f and are right to about 1e-10 where x and f are of moderate size; "torch" gives f a tensor
        and lets PyTorch differentiate.
    hessian : callable or None
        ``hessian(x)`` returns a matrix; None takes PyTorch's, or differences.

    Attributes
    ----------
    evaluations, gradient_evaluations, hessian_evaluations : int
        Calls so far; the values that differences take count as evaluations of f. What is asked
        for again at the last point is not computed again, nor counted.
    """

    def __init__(self, f: Any, gradient: Any = None, hessian: Any = None) -> None:
        if not callable(f):
            raise ParameterError(f"f={f!r} is not a function; give one that takes x.")
        if not (gradient is None or gradient is True or gradient == "torch" or callable(gradient)):
            raise ParameterError(
                f"gradient={gradient!r} is not allowed; give a function, True if f returns value "
                'and gradient, "torch" if f takes a tensor, or None for differences.'
            )
        if not (hessian is None or callable(hessian)):
            raise ParameterError(f"hessian={hessian!r} is not a function of x, or None.")
        self.f, self._gradient, self._hessian = f, gradient, hessian
        self.evaluations = self.gradient_evaluations = self.hessian_evaluations = 0
        self._last_value: tuple[FloatArray, float] | None = None
        self._last_gradient: tuple[FloatArray, FloatArray] | None = None

    def value(self, x: FloatArray) -> float:
        """Return f(x), which may be infinite or missing: who asks has to look."""
        if self._last_value is not None and np.array_equal(x, self._last_value[0]):
            return self._last_value[1]
        self.evaluations += 1
        if self._gradient == "torch":
            torch, device, kind = torch_on("cpu")
            with torch.no_grad():
                found = _number(self.f(torch.tensor(x, device=device, dtype=kind)))
        elif self._gradient is True:
            found = self._pair(x)[0]
        else:
            found = _number(self._call(x))
        self._last_value = x.copy(), found
        return found

    def gradient(self, x: FloatArray) -> FloatArray:
        """Return the gradient at x."""
        if self._last_gradient is not None and np.array_equal(x, self._last_gradient[0]):
            return self._last_gradient[1].copy()
        self.gradient_evaluations += 1
        if self._gradient is None:
            found = self._differences(x)
        elif self._gradient == "torch":
            found = self._differentiated(x)
        elif self._gradient is True:
            found = self._pair(x)[1]
        else:
            found = _shaped(self._gradient(x.copy()), x.shape, "gradient")
        self._last_gradient = x.copy(), found
        return found.copy()

    def hessian(self, x: FloatArray) -> FloatArray:
        """Return the matrix of second derivatives at x, symmetric."""
        self.hessian_evaluations += 1
        if self._hessian is not None:
            found = _shaped(self._hessian(x.copy()), (len(x), len(x)), "hessian")
        elif self._gradient == "torch":
            torch, device, kind = torch_on("cpu")
            at = torch.tensor(x, device=device, dtype=kind)
            answer = torch.autograd.functional.hessian(lambda at: self.f(at).reshape(()), at)
            found = np.asarray(answer.numpy(), dtype=np.float64)
        elif self._gradient is None:
            found = self._second_differences(x)
        else:
            steps = np.diag(_CENTRAL * np.maximum(1.0, np.abs(x)))
            found = np.array(
                [(self.gradient(x + h) - self.gradient(x - h)) / (2 * h.max()) for h in steps]
            )
        return np.asarray((found + found.T) / 2)

    def _call(self, x: FloatArray) -> Any:
        try:
            return self.f(x.copy())
        except (AttributeError, TypeError) as error:
            # A function of tensors: it asks for a Tensor, or for a method that arrays lack.
            tensors = "Tensor" in str(error) or "'numpy." in str(error)
            if "torch" in sys.modules and tensors and self._gradient is None:
                raise InputError(
                    f"f does not take an array ({error}); if it is written for tensors of "
                    'PyTorch, pass gradient="torch".'
                ) from error
            raise

    def _pair(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient of a function that gives both, and keep them."""
        answer = self.f(x.copy())
        if not (isinstance(answer, tuple | list) and len(answer) == 2):
            raise InputError(
                f"gradient=True says that f returns value and gradient; it returned "
                f"{type(answer).__name__}. Return both, or give the gradient as a function."
            )
        value, gradient = _number(answer[0]), _shaped(answer[1], x.shape, "gradient")
        self._last_value, self._last_gradient = (x.copy(), value), (x.copy(), gradient)
        return value, gradient

    def _differentiated(self, x: FloatArray) -> FloatArray:
        torch, device, kind = torch_on("cpu")
        at = torch.tensor(x, device=device, dtype=kind, requires_grad=True)
        value = self.f(at)
        if not isinstance(value, torch.Tensor):
            raise InputError(
                f'gradient="torch" needs an f that returns a tensor; it returned '
                f"{type(value).__name__}. Leave out .item(), or pass another gradient."
            )
        if not value.requires_grad:  # f does not depend on x
            return np.zeros_like(x)
        (found,) = torch.autograd.grad(value, at)
        return np.asarray(found.numpy(), dtype=np.float64)

    def _differences(self, x: FloatArray) -> FloatArray:
        size = _CENTRAL * np.maximum(1.0, np.abs(x))
        found = np.empty_like(x)
        for j in range(len(x)):
            step = np.zeros_like(x)
            step[j] = size[j]
            high, low = x + step, x - step
            found[j] = (self.value(high) - self.value(low)) / (high[j] - low[j])
        return found

    def _second_differences(self, x: FloatArray) -> FloatArray:
        steps = np.diag(_SECOND * np.maximum(1.0, np.abs(x)))
        found = np.empty((len(x), len(x)))
        for i, a in enumerate(steps):
            for j, b in enumerate(steps[: i + 1]):
                corners = self.value(x + a + b) - self.value(x + a - b)
                corners += self.value(x - a - b) - self.value(x - a + b)
                found[i, j] = found[j, i] = corners / (4 * a[i] * b[j])
        return found


def numbers_of(given: Any, name: str, *, copy: bool = True) -> FloatArray:
    """Return an array of numbers, or say that it is none."""
    try:
        found = np.asarray(given, dtype=np.float64)
        return found.copy() if copy else found
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is no array of numbers: {error}.") from error


def starting_point(x0: Any) -> FloatArray:
    """Return x0 as a vector of finite numbers, or say what is wrong with it."""
    x = np.atleast_1d(numbers_of(x0, "x0"))
    if x.ndim != 1 or not x.size:
        raise InputError(f"x0 has shape {x.shape}; give one vector with at least one entry.")
    if not np.all(np.isfinite(x)):
        raise InputError("x0 has entries that are missing or infinite; start at a finite point.")
    return x


@dataclass(frozen=True, eq=False)
class GradientCheck:
    """What `check_gradient` found.

    Attributes
    ----------
    passed : bool
        True if the largest difference is at most the tolerance.
    error : float
        The largest difference, relative to the largest entry of either gradient.
    worst : int
        The entry it is found in.
    given, differences : ndarray of shape (d,)
        The gradient that was given, and the one by differences.
    """

    passed: bool
    error: float
    worst: int
    given: FloatArray
    differences: FloatArray


def check_gradient(f: Any, gradient: Any, x: Any, *, tol: float = 1e-6) -> GradientCheck:
    """Compare a gradient with central differences of the function at a point.

    Parameters
    ----------
    f : callable
        The function.
    gradient : callable, True or "torch"
        The gradient to check; True if f returns it with the value.
    x : array-like of shape (d,)
        Where. A point drawn at random shows more than a round one.
    tol : float, default=1e-6
        The largest relative difference that passes. Differences are right to about 1e-9 where
        the function is smooth and its values are of moderate size.

    Returns
    -------
    GradientCheck
        The verdict, with both gradients.

    Examples
    --------
    >>> check_gradient(lambda x: float(x @ x), lambda x: 2 * x, [1.0, -2.0]).passed
    True
    >>> wrong = check_gradient(lambda x: float(x @ x), lambda x: x, [1.0, -2.0])
    >>> wrong.passed, wrong.worst
    (False, 1)
    """
    at = starting_point(x)
    objective = Objective(f, gradient)
    given = objective.gradient(at)
    differences = Objective(objective.value).gradient(at)
    apart = np.abs(given - differences)
    apart[~np.isfinite(apart)] = np.inf
    worst = int(np.argmax(apart))
    size = max(float(np.max(np.abs(given))), float(np.max(np.abs(differences))), 1e-300)
    error = float(apart[worst]) / size if apart[worst] else 0.0
    return GradientCheck(bool(error <= tol), error, worst, given, differences)


def _number(found: Any) -> float:
    try:
        array = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"f returned {type(found).__name__}, which is no number: {error}."
        ) from error
    if array.size != 1:
        raise InputError(
            f"f returned {type(found).__name__} of shape {array.shape}; it has to return one "
            "number."
        )
    return float(array.item())


def _shaped(found: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    answer = numbers_of(found, f"What {name} returned")
    if answer.size == 1 and int(np.prod(shape)) == 1:
        answer = answer.reshape(shape)
    if answer.shape != shape:
        raise InputError(f"{name} returned an array of shape {answer.shape}; x asks for {shape}.")
    return answer
