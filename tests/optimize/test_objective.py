"""Functions with their derivatives: four kinds of gradient, counts, and what is refused."""

import numpy as np
import pytest

from bottega.core.errors import InputError, ParameterError
from bottega.optimize import check_gradient, gradient_descent
from bottega.optimize.objective import Objective, starting_point

AT = np.array([0.3, -1.2, 2.0])


def f(x):
    return float(np.exp(x[0]) * x[1] + x[1] ** 2 * x[2] ** 3)


def gradient(x):
    a = np.exp(x[0])
    return np.array([a * x[1], a + 2 * x[1] * x[2] ** 3, 3 * x[1] ** 2 * x[2] ** 2])


def hessian(x):
    a = np.exp(x[0])
    return np.array([
        [a * x[1], a, 0],
        [a, 2 * x[2] ** 3, 6 * x[1] * x[2] ** 2],
        [0, 6 * x[1] * x[2] ** 2, 6 * x[1] ** 2 * x[2]],
    ])  # fmt: skip


def torch_f(x):
    return x[0].exp() * x[1] + x[1] ** 2 * x[2] ** 3


KINDS = {
    "function": (f, gradient, 1e-15, 1e-8),
    "both": (lambda x: (f(x), gradient(x)), True, 1e-15, 1e-8),
    "differences": (f, None, 1e-8, 1e-5),  # cube and square root of rounding, times the values
    "torch": (torch_f, "torch", 1e-13, 1e-13),
}


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_and_hessian_of_every_kind(kind):
    function, way, tight, loose = KINDS[kind]
    if kind == "torch":
        pytest.importorskip("torch")
    objective = Objective(function, way)
    assert objective.value(AT) == pytest.approx(f(AT), rel=1e-14)
    assert objective.gradient(AT) == pytest.approx(gradient(AT), rel=tight)
    assert objective.hessian(AT) == pytest.approx(hessian(AT), rel=loose, abs=loose)


def test_calls_are_counted_and_not_repeated():
    calls = []
    objective = Objective(lambda x: calls.append(1) or (f(x), gradient(x)), True)
    objective.value(AT)
    objective.gradient(AT)
    objective.value(AT)
    assert len(calls) == 1
    assert (objective.evaluations, objective.gradient_evaluations) == (1, 0)
    plain = Objective(f)
    plain.gradient(AT)
    assert (plain.evaluations, plain.gradient_evaluations) == (6, 1)


def test_the_users_arrays_are_not_shared():
    def spoils(x):
        x[:] = 0
        return 1.0

    at = AT.copy()
    Objective(spoils).value(at)
    assert np.array_equal(at, AT)


def test_check_gradient_of_every_kind():
    pytest.importorskip("torch")
    for function, way, *_ in KINDS.values():
        assert check_gradient(function, way, AT).passed
    wrong = check_gradient(f, lambda x: gradient(x) + np.array([0, 0, 1]), AT)
    assert not wrong.passed
    assert wrong.worst == 2
    assert wrong.error == pytest.approx(
        1 / np.max(np.abs(gradient(AT) + np.array([0, 0, 1]))), rel=1e-6
    )


def test_a_function_of_tensors_asks_for_torch():
    torch = pytest.importorskip("torch")
    for function in (torch_f, torch.sum):
        with pytest.raises(InputError, match='gradient="torch"'):
            gradient_descent(function, AT)
    with pytest.raises(InputError, match="returns a tensor"):
        gradient_descent(lambda x: float(x.detach().sum()), AT, gradient="torch")

    def own(x):
        raise TypeError(f"own error at {x}")

    with pytest.raises(TypeError, match="own error"):  # other errors of f are the user's
        gradient_descent(own, AT)


def test_torch_function_that_does_not_depend_on_x():
    torch = pytest.importorskip("torch")
    assert Objective(lambda x: torch.tensor(3.0), "torch").gradient(AT).tolist() == [0, 0, 0]  # noqa: ARG005


def test_what_cannot_be_used_is_said():
    with pytest.raises(ParameterError, match="not a function"):
        Objective(3)
    with pytest.raises(ParameterError, match="gradient='autograd'"):
        Objective(f, "autograd")
    with pytest.raises(ParameterError, match="hessian"):
        Objective(f, gradient, "exact")
    with pytest.raises(InputError, match="one number"):
        Objective(lambda x: x).value(AT)
    with pytest.raises(InputError, match="no number"):
        Objective(lambda x: "high").value(AT)  # noqa: ARG005
    with pytest.raises(InputError, match=r"shape \(2,\)"):
        Objective(f, lambda x: x[:2]).gradient(AT)
    with pytest.raises(InputError, match="value and gradient"):
        Objective(f, True).value(AT)
    for bad, match in (
        ("a", "no array"),
        ([[1.0]], "one vector"),
        ([np.nan], "missing"),
        ([], "shape"),
    ):
        with pytest.raises(InputError, match=match):
            starting_point(bad)


def test_one_entry_may_be_a_number():
    found = gradient_descent(lambda x: (x - 2) ** 2, 0.0, gradient=lambda x: float(2 * (x[0] - 2)))
    assert found.x == pytest.approx([2.0], abs=1e-5)
