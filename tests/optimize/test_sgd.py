"""Stochastic gradient descent: unbiased steps, noise that is shown, and honest ends."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import InputError, ParameterError
from bottega.optimize import gradient_descent, lbfgs, sgd

N = 200
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3))
Y = np.where(X @ [1.0, -2.0, 0.5] + rng.logistic(size=N) > 0, 1.0, -1.0)


def loss(w, rows):
    return float(np.sum(np.logaddexp(0, -Y[rows] * (X[rows] @ w))))


def gradient(w, rows):
    return -X[rows].T @ (Y[rows] / (1 + np.exp(Y[rows] * (X[rows] @ w))))


ALL = np.arange(N)
BEST = lbfgs(lambda w: loss(w, ALL), np.zeros(3), gradient=lambda w: gradient(w, ALL), tol=1e-7)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_batches_of_all_rows_are_gradient_descent():
    found = sgd(
        loss, np.zeros(3), N, gradient=gradient, batch_size=N, learning_rate=0.01, max_iter=20,
        random_state=0,
    )  # fmt: skip
    plain = gradient_descent(
        lambda w: loss(w, ALL), np.zeros(3), gradient=lambda w: gradient(w, ALL),
        line_search="fixed", learning_rate=0.01, max_iter=20,
    )  # fmt: skip
    assert found.trace.points == pytest.approx(plain.trace.points, rel=1e-9)
    assert found.trace.gradient_evaluations.tolist() == list(range(found.n_iter + 1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_step_by_hand_with_the_factor():
    """x <- x - tau n / |S| sum of the batch's gradients, the last and smaller batch included."""
    batches = []

    def noted(w, rows):
        batches.append((w.copy(), rows))
        return gradient(w, rows)

    found = sgd(
        loss, np.zeros(3), N, gradient=noted, batch_size=60, learning_rate=1e-3, max_iter=1,
        random_state=3,
    )  # fmt: skip
    steps = [(w, rows) for w, rows in batches if len(rows) < N]
    assert [len(rows) for _, rows in steps] == [60, 60, 60, 20]
    assert np.array_equal(np.sort(np.concatenate([rows for _, rows in steps])), ALL)
    w = np.zeros(3)
    for at, rows in steps:
        assert at == pytest.approx(w, abs=1e-14)
        w = w - 1e-3 * N / len(rows) * gradient(w, rows)
    assert found.x == pytest.approx(w, abs=1e-14)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_variance_falls_with_the_size_of_the_batch():
    """At a fixed point, drawn with replacement: sum over entries of n^2 / |S| times the variance.

    2,000 batches tell a variance to about 5 % (three standard errors); 10 % is allowed.
    """
    per_row = -X * (Y / 2)[:, None]  # the gradients of the rows at zero
    exact = N**2 * np.sum(np.var(per_row, axis=0))
    for size in (1, 4):
        found = sgd(
            loss, np.zeros(3), N, gradient=gradient, batch_size=size, learning_rate=1e-12,
            replace=True, max_iter=10 * size, random_state=0, trace=False,
        )  # fmt: skip
        assert np.mean(found.variances) == pytest.approx(exact / size, rel=0.1)
        assert found.batches == N // size


def test_falling_rates_and_averages_come_closer_than_a_constant_rate():
    options = {
        "gradient": gradient, "batch_size": 10, "learning_rate": 0.01, "max_iter": 40,
        "random_state": 0, "tol": 1e-6,
    }  # fmt: skip
    changes = ({}, {"schedule": "invscaling"}, {"average": True}, {"schedule": "exponential"})
    with pytest.warns(ConvergenceWarning, match="let the rate fall"):
        runs = [sgd(loss, np.zeros(3), N, **options, **change) for change in changes]
    constant, falling, averaged, shrinking = runs
    noise = constant.value - BEST.value
    assert constant.verdict == "max_iter"
    assert averaged.averaged
    assert 0 < falling.value - BEST.value < noise / 5
    assert 0 < averaged.value - BEST.value < noise / 5
    assert 0 < shrinking.value - BEST.value < noise / 5
    assert falling.trace.steps[-1] == pytest.approx(0.01 / np.sqrt(40 * 20))
    assert shrinking.trace.steps[-1] == pytest.approx(0.01 * 0.9**39)
    frame = averaged.to_frame()
    assert frame["variance"].iloc[1:].to_numpy() == pytest.approx(averaged.variances)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sum_and_mean_are_one_method():
    shared = {"batch_size": 16, "max_iter": 5, "random_state": 1}
    total = sgd(loss, np.zeros(3), N, gradient=gradient, learning_rate=0.01, **shared)
    mean = sgd(
        lambda w, rows: loss(w, rows) / len(rows),
        np.zeros(3),
        N,
        gradient=lambda w, rows: gradient(w, rows) / len(rows),
        reduction="mean",
        learning_rate=0.01 * N,
        **shared,
    )
    assert mean.x == pytest.approx(total.x, rel=1e-9)
    assert mean.value == pytest.approx(total.value / N)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_kind_of_gradient():
    torch = pytest.importorskip("torch")
    XT, YT = torch.tensor(X), torch.tensor(Y)
    shared = {"learning_rate": 1e-3, "max_iter": 2, "random_state": 5}
    exact = sgd(loss, np.zeros(3), N, gradient=gradient, **shared)
    both = sgd(lambda w, r: (loss(w, r), gradient(w, r)), np.zeros(3), N, gradient=True, **shared)
    differences = sgd(loss, np.zeros(3), N, **shared)
    tensors = sgd(
        lambda w, r: torch.sum(torch.nn.functional.softplus(-YT[r] * (XT[r] @ w))),
        np.zeros(3), N, gradient="torch", **shared,
    )  # fmt: skip
    assert np.array_equal(both.x, exact.x)
    assert differences.x == pytest.approx(exact.x, abs=1e-7)
    assert tensors.x == pytest.approx(exact.x, abs=1e-12)


def test_one_row_at_a_time_is_the_perceptron():
    """Loss max(0, e - y w'x), rate 1 / n: w <- w + y x for every row that is too close."""
    labels = np.where(X @ [1.0, -2.0, 0.5] > 0, 1.0, -1.0)

    def margin(w, rows):
        return float(np.sum(np.maximum(0, 1e-9 - labels[rows] * (X[rows] @ w))))

    seen = []

    def slope(w, rows):
        if len(rows) == 1:
            seen.append(rows[0])
        close = labels[rows] * (X[rows] @ w) < 1e-9
        return -(X[rows] * (labels[rows] * close)[:, None]).sum(axis=0)

    found = sgd(
        margin, np.zeros(3), N, gradient=slope, batch_size=1, learning_rate=1 / N, tol=1e-12,
        max_iter=500, random_state=0,
    )  # fmt: skip
    w = np.zeros(3)
    for i in seen:
        if labels[i] * (X[i] @ w) < 1e-9:
            w = w + labels[i] * X[i]
    assert found.x == pytest.approx(w, abs=1e-12)
    assert found.converged
    assert np.all(labels * (X @ found.x) > 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_seed_decides():
    runs = [
        sgd(loss, np.zeros(3), N, gradient=gradient, learning_rate=1e-3, max_iter=3, random_state=s)
        for s in (1, 1, 2)
    ]
    assert np.array_equal(runs[0].x, runs[1].x)
    assert not np.array_equal(runs[0].x, runs[2].x)
    quick = sgd(
        loss, np.zeros(3), N, gradient=gradient, learning_rate=1e-3, max_iter=3, random_state=1,
        trace=False,
    )  # fmt: skip
    assert np.array_equal(quick.x, runs[0].x)
    assert quick.value == runs[0].value
    assert quick.n_iter == 3


def test_a_missing_value_stops_it():
    def broken(w, rows):
        return gradient(w, rows) * (np.nan if len(rows) < N and np.any(w != 0) else 1.0)

    with pytest.warns(ConvergenceWarning, match="not finite after epoch 1, step 2"):
        found = sgd(loss, np.zeros(3), N, gradient=broken, learning_rate=1e-3, random_state=0)
    assert found.verdict == "not finite"
    assert np.all(np.isfinite(found.x))
    assert np.isfinite(found.value)


def test_steps_that_are_too_long():
    targets = np.linspace(0, 1, 50)

    def squares(x, rows):
        return float(np.sum((targets[rows] - x[0]) ** 2))

    with pytest.warns(ConvergenceWarning, match="lower learning_rate"):
        found = sgd(
            squares, [0.0], 50, learning_rate=0.5, batch_size=5, random_state=0, max_iter=60,
            gradient=lambda x, rows: np.array([-2 * np.sum(targets[rows] - x[0])]),
        )  # fmt: skip
    assert found.verdict == "diverged"
    assert found.value <= squares([0.0], np.arange(50))
    with pytest.warns(ConvergenceWarning, match="lower learning_rate"):
        assert sgd(loss, np.zeros(3), N, gradient=gradient, learning_rate=10.0, max_iter=5,
                   random_state=0).verdict == "diverged"  # fmt: skip


def test_what_does_not_add_up_is_refused():
    def mean(w, rows):
        return loss(w, rows) / len(rows)

    with pytest.raises(InputError, match='reduction="mean"'):
        sgd(mean, np.ones(3), N)
    with pytest.raises(InputError, match='reduction="sum"'):
        sgd(loss, np.ones(3), N, reduction="mean")
    with pytest.raises(InputError, match="penalty"):
        sgd(lambda w, rows: loss(w, rows) + 50 * w @ w, np.ones(3), N)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"batch_size": 0}, "batch_size=0"),
        ({"schedule": "cosine"}, "schedule='cosine'"),
        ({"reduction": "max"}, "reduction='max'"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"schedule": "exponential", "decay": 1.0}, "decay"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters(wrong, match):
    with pytest.raises(ParameterError, match=match):
        sgd(loss, np.zeros(3), N, **wrong)
    with pytest.raises(ParameterError, match="n_rows"):
        sgd(loss, np.zeros(3), 0)
    with pytest.raises(ParameterError, match="loss_of_rows"):
        sgd(3, np.zeros(3), N)


def test_a_tolerance_of_zero_goes_through_all_epochs():
    y = np.array([1.0, 2.0, 3.0, 6.0])
    with pytest.warns(ConvergenceWarning):
        found = sgd(lambda x, rows: np.sum((y[rows] - x[0]) ** 2), [0.0], 4, tol=0.0, max_iter=5,
                    batch_size=2, random_state=0)  # fmt: skip
    assert found.n_iter == 5
