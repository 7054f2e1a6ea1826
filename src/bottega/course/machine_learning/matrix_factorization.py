"""Chapter 11: factors of ratings, of nonnegative tables and of zeros and ones."""

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bottega.core.errors import ConvergenceWarning
from bottega.core.typing import BoolArray, FloatArray
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.latent import (
    BooleanFactorization,
    MatrixFactorization,
    NonnegativeFactorization,
    low_rank,
    svd,
)
from bottega.neural import Autoencoder
from bottega.plot import component_images_chart, lines_chart

__all__ = ["factors_of_ratings", "parts_of_tables"]

# Zeros and ones of six rows, two patterns, and codes with the last row as printed (N168).
_ROWS = ("11110", "11110", "11111", "00011", "00011", "10011")
BITS = np.array([list(map(int, row)) for row in _ROWS])
PATTERNS = np.array([[1, 1, 1, 1, 0], [0, 0, 0, 1, 1]])
PRINTED_CODES = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [1, 0]])


# ---- ratings -------------------------------------------------------------------------------------


@experiment(
    "N-X17",
    claim="Factors of the known ratings predict held-out ones better than singular vectors of a "
    "table filled with zeros; too many factors fit noise; alternating least squares never gets "
    "worse, and ends where its start leads it.",
    items="N157-N165",
)
def factors_of_ratings(
    *,
    ranks: tuple[int, ...] = (1, 2, 3, 5, 8, 12),
    users: int = 120,
    items: int = 50,
    known: float = 0.3,
    random_state: int = 0,
) -> Experiment:
    """Hide ratings of three concepts, and predict them with more and more factors.

    Parameters
    ----------
    ranks : tuple of int
        Numbers of factors K.
    users, items : int
        Size of the table.
    known : float
        Share of the ratings that is known.
    random_state : int
        Of all draws.
    """
    data = _ratings(users, items, known, random_state)
    train, held = [], []
    for k in ranks:
        predicted = _complete(_fit(data.table, k, 0.1))
        train.append(_rmse(predicted, data.full, data.seen))
        held.append(_rmse(predicted, data.full, data.hidden))
    zeros = [_rmse(low_rank(data.filled, k).matrix, data.full, data.hidden) for k in ranks]
    level = float(data.full[data.seen].mean())
    means = [
        _rmse(level + low_rank(np.where(data.seen, data.full - level, 0.0), k).matrix, data.full,
              data.hidden)
        for k in ranks
    ]  # fmt: skip
    best = int(np.argmin(held))
    parts = [
        Proof("held-out error of factors, of SVD with zeros", min(held), min(zeros),
             min(held) < 0.7 * min(zeros)),
        Proof("the same, of SVD with the mean (fair: a level too)", min(held), min(means),
             min(held) < 0.8 * min(means)),
        Proof("best K, true number of concepts", ranks[best], 3, ranks[best] == 3),
        Proof("held-out error of K = 1, least", held[0], held[best], held[0] > 1.2 * held[best]),
        Proof("held-out error of most factors, least", held[-1], held[best],
             held[-1] > 1.2 * held[best]),
        Proof("training error of most factors, of best K", train[-1], train[best],
             bool(np.all(np.diff(train) < 0))),
        *_alternating(data),
        *_few_ratings(data, ranks[-1]),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"held-out error {held[0]:.2f} for K = {ranks[0]}, {held[best]:.2f} for "
        f"{ranks[best]} and {held[-1]:.2f} for {ranks[-1]}, while the training error falls to "
        f"{train[-1]:.2f}; singular vectors reach at best {min(zeros):.2f} with zeros for what is "
        f"unknown, which are no ratings, and in the fair comparison, with the mean rating for it, "
        f"{min(means):.2f}",
        draw=partial(
            lines_chart,
            list(map(str, ranks)),
            {
                "factors": held,
                "factors, training": train,
                "SVD, zeros": zeros,
                "SVD, mean": means,
            },
            x_title="number of factors K",
            y_title="root mean squared error",
            title="Held-out ratings choose the number of factors",
            subtitle=[
                f"{users} users, {items} items, {known:.0%} of the ratings known, three concepts "
                "and noise.",
                "SVD of the table with zeros, or with the mean rating (the fair comparison), for "
                "the unknown.",
            ],
        ),
    )


@dataclass(frozen=True)
class _Sampled:
    """Ratings of all pairs, and which of them are known and which held out."""

    full: FloatArray
    seen: BoolArray

    @property
    def hidden(self) -> BoolArray:
        return ~self.seen

    @property
    def table(self) -> FloatArray:
        """The known ratings, NaN for the others."""
        return np.where(self.seen, self.full, np.nan)

    @property
    def filled(self) -> FloatArray:
        """The known ratings, zero for the others."""
        return np.where(self.seen, self.full, 0.0)


def _ratings(users: int, items: int, known: float, random_state: int) -> _Sampled:
    """Draw ratings around 3 from three concepts; some users rate much, others little."""
    rng = np.random.default_rng(random_state)
    taste, kind = rng.normal(size=(users, 3)), rng.normal(size=(items, 3))
    full = 3 + 0.7 * taste @ kind.T + 0.4 * rng.normal(size=(users, items))
    busy = known * rng.uniform(0.4, 1.6, size=(users, 1))
    seen = rng.random(full.shape) < busy
    seen[np.arange(users), rng.integers(items, size=users)] = True
    seen[rng.integers(users, size=items), np.arange(items)] = True
    return _Sampled(full, seen)


def _fit(table: FloatArray, k: int, alpha: float, **options: Any) -> MatrixFactorization:
    model = MatrixFactorization(k, alpha=alpha, **{"max_iter": 60, "tol": 1e-5, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # too many factors settle slowly
        return model.fit(table)


def _complete(model: MatrixFactorization) -> FloatArray:
    levels = model.mean_ + model.user_biases_[:, None] + model.item_biases_
    return np.asarray(levels + model.user_factors_ @ model.components_)


def _rmse(predicted: FloatArray, truth: FloatArray, where: BoolArray) -> float:
    return float(np.sqrt(np.mean((predicted - truth)[where] ** 2)))


def _alternating(data: _Sampled) -> list[Proof]:
    """Follow the objective of several starts."""
    runs = [
        _fit(data.table, 5, 0.5, init="random", random_state=seed, max_iter=1000, tol=1e-7)
        for seed in range(6)
    ]
    rise = max(float(np.max(np.diff(run.objective_) / run.objective_[:-1])) for run in runs)
    ends = np.array([run.objective_[-1] for run in runs])
    spread = float(np.ptp(ends) / ends.min())
    ended = all(run.converged_ for run in runs)
    return [
        Proof("largest rise of the objective in a sweep", max(rise, 0.0), 0, rise < 1e-9),
        Proof("spread of the ends of six starts", spread, 0, ended and spread > 1e-4),
    ]


def _few_ratings(data: _Sampled, k: int) -> list[Proof]:
    """Look at users with fewer ratings than factors, at the pull of a penalty, and at zeros."""
    counts = data.seen.sum(axis=1)
    least = int(np.argmin(counts))
    Q = _fit(data.table, k, 0.1).item_factors_[data.seen[least]]
    rank = int(np.linalg.matrix_rank(Q.T @ Q))
    model = _fit(data.table, 3, 0.1)
    order = np.argsort(counts, kind="stable")
    third = len(order) // 3
    few, many = (
        float(np.median([_kept_length(model, data, user, 5.0) for user in users]))
        for users in (order[:third], order[-third:])
    )
    dense, known = float(np.mean(model.user_factors_ != 0)), float(data.seen.mean())
    return [
        Proof(f"rank of the {k} equations of the user with fewest ratings", rank, k,
             rank == counts[least] < k),
        Proof("length kept under a penalty, users with few and with many ratings", few, many,
             few < 0.9 * many),
        Proof("share of factors that are not zero, of ratings known", dense, known, dense == 1),
    ]  # fmt: skip


def _kept_length(model: MatrixFactorization, data: _Sampled, user: int, penalty: float) -> float:
    """Return how much of the length of a user's factors is left by a penalty."""
    at = data.seen[user]
    Q = model.item_factors_[at]
    rest = data.full[user, at] - model.mean_ - model.user_biases_[user] - model.item_biases_[at]
    free = np.linalg.lstsq(Q, rest, rcond=None)[0]
    pulled = np.linalg.solve(Q.T @ Q + penalty * np.eye(Q.shape[1]), Q.T @ rest)
    return float(np.linalg.norm(pulled) / np.linalg.norm(free))


# ---- nonnegative and Boolean tables --------------------------------------------------------------


@experiment(
    "N-X18",
    claim="Nonnegative factors are parts that can be read, where singular vectors have both "
    "signs; two patterns of the Boolean example leave one error; a linear autoencoder is principal "
    "components, and one that is not linear follows a curve.",
    items="N167-N169, N172, N173",
    verdict="holds only if the last code of the Boolean example is (0, 1): with the printed "
    "(1, 0) there are three errors",
)
def parts_of_tables(*, rows: int = 200, side: int = 6, random_state: int = 0) -> Experiment:
    """Factor images that are sums of bars, and the Boolean example.

    Parameters
    ----------
    rows : int
        Images.
    side : int
        Pixels of a side; there is one horizontal bar per two lines, and as many vertical ones.
    random_state : int
        Of all draws.
    """
    bars = _bars(side)
    k = len(bars)
    rng = np.random.default_rng(random_state)
    codes = rng.exponential(size=(rows, k)) * (rng.random((rows, k)) < 0.4)
    X = codes @ bars + 0.02 * rng.random((rows, side**2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # as near as it need be
        found = NonnegativeFactorization(k, init="nndsvda", tol=1e-5, max_iter=2000).fit(X)
        steps = NonnegativeFactorization(k, init="nndsvda", solver="pg", max_iter=300).fit(X)
    parts_found, vectors = found.components_, svd(X, k).Vt
    error, least = found.reconstruction_err_, low_rank(X, k).error
    signed = float(np.mean(np.min(vectors, axis=1) < -0.05))
    alike = [float(np.min(np.max(_cosines(bars, each), axis=1))) for each in (parts_found, vectors)]
    rise = float(np.max(np.diff(steps.objective_), initial=-np.inf))
    parts = [
        Proof("least entry of nonnegative parts, of singular vectors", parts_found.min(),
             vectors.min(), parts_found.min() >= 0 > vectors.min()),
        Proof("share of singular vectors with both signs", signed, (k - 1) / k,
             signed >= (k - 1) / k),
        Proof("cosine of the worst bar with the nearest part, singular vector", alike[0], alike[1],
             alike[0] > 0.95 > 0.9 > alike[1]),
        Proof("error of nonnegative factors, of singular vectors", error, least, error > least),
        Proof("rise of the objective of projected gradients", max(rise, 0.0), 0, rise <= 0),
        *_autoencoders(rng),
        *_boolean(),
    ]  # fmt: skip
    shown = min(k, 6)
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"every bar is a part (least cosine {alike[0]:.3f}), and {signed:.0%} of the "
        f"singular vectors have both signs (least cosine {alike[1]:.3f}); Boolean errors: "
        f"{parts[-2].found:.0f} with the printed last code, {parts[-1].found:.0f} found",
        draw=partial(
            component_images_chart,
            np.vstack([parts_found[:shown], vectors[:shown]]),
            (side, side),
            names=[f"part {j + 1}" for j in range(shown)]
            + [f"singular vector {j + 1}" for j in range(shown)],
            title="Nonnegative parts and singular vectors of sums of bars",
            subtitle="Parts are bars; singular vectors take away what others added",
        ),
    )


def _bars(side: int) -> FloatArray:
    """Return images of horizontal and vertical bars, two pixels wide."""
    bars = []
    for start in range(0, side - 1, 2):
        image = np.zeros((side, side))
        image[start : start + 2] = 1
        bars += [image.ravel(), image.T.ravel()]
    return np.array(bars)


def _cosines(one: FloatArray, two: FloatArray) -> FloatArray:
    a, b = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (one, two))
    return np.abs(a @ b.T)


def _autoencoders(rng: np.random.Generator) -> list[Proof]:
    """Reproduce rows through one number, linearly and along a curve."""
    turn = rng.uniform(0, np.pi, 150)
    arc = np.column_stack([np.cos(turn), np.sin(turn)])
    best = low_rank(arc - arc.mean(axis=0), 1).error ** 2 / len(arc)
    linear = Autoencoder(
        1, hidden_layer_sizes=(), alpha=0.0, learning_rate="cosine", learning_rate_init=0.2,
        batch_size=150, max_iter=300, n_iter_no_change=300,
    ).fit(arc)  # fmt: skip
    curved = Autoencoder(1, max_iter=80).fit(arc)
    errors = [each.reconstruction_error_ for each in (linear, curved)]
    return [
        Proof("error of a linear autoencoder, of the first component", errors[0], best,
             abs(errors[0] / best - 1) < 1e-4),
        Proof("error of one with hidden units, of the first component", errors[1], best,
             errors[1] < 0.2 * best),
    ]  # fmt: skip


def _boolean() -> list[Proof]:
    """Count errors of the Boolean example with its printed codes, and with those found."""
    printed = int(np.sum((PRINTED_CODES @ PATTERNS > 0) != BITS))
    model = BooleanFactorization(2).fit(BITS)
    least = int(model.reconstruction_err_)
    return [
        Proof("Boolean errors with the printed codes, with (0, 1) last", printed, 1, printed == 3),
        Proof("Boolean errors found with two patterns", least, 1, least == 1),
    ]
