"""A sum of ridge terms, how terms are added, readjusted and removed."""

from dataclasses import dataclass, replace

import numpy as np

from bottega.additive._pursuit.ridge import Projector, RidgeFit
from bottega.additive._pursuit.starts import best_start, first_least
from bottega.additive._pursuit.targets import Criterion, loadings, target
from bottega.core.typing import FloatArray

_TURNS = 2  # Gauss-Newton steps of a term in each pass of backfitting
_FIRST_TURNS = 6  # of a new term, before and after its smoothing is chosen again
_FINE = 1e-5  # relative gain below which a direction is left
_EXPLAINED = 1e-12  # share of the deviance that is rounding
_APART = 1e-2  # share of the deviance below which classes are told apart
_HALVINGS = 3
_LOADINGS = 2  # sets of shares from which a term of several responses starts
_CHOOSING = 8  # passes that choose the smoothing again: it and the terms could chase each other
_PATIENCE = 5  # passes without a better model
_SWAPS = 2  # terms that may be replaced by new ones


@dataclass(frozen=True)
class RidgeTerm:
    """A ridge function of mean zero and variance one, and its share in each response."""

    a: FloatArray  # direction in the coordinates
    beta: FloatArray  # (q,)
    low: float
    span: float
    curve: FloatArray  # knots on the unit scale, value, slope, bend
    df: float
    log_ratio: float
    f: FloatArray  # at the rows

    @property
    def importance(self) -> float:
        """The size of its share over all responses."""
        return float(np.abs(self.beta).sum())


@dataclass(frozen=True)
class RidgeSum:
    """A fitted sum of terms."""

    intercept: FloatArray
    terms: tuple[RidgeTerm, ...]
    deviance: float
    n_iter: int = 0  # passes of backfitting
    converged: bool = True

    @property
    def eta(self) -> FloatArray:
        """The linear predictor at the rows, (n, q); of no terms (1, q)."""
        found = self.intercept[None, :]
        for term in self.terms:
            found = found + term.f[:, None] * term.beta
        return found


@dataclass(frozen=True)
class Effort:
    """How thoroughly terms are readjusted."""

    level: int
    passes: int
    tol: float
    starts: FloatArray  # directions in the coordinates, one a row


class Pursuit:
    """Terms in search of a criterion's least value."""

    def __init__(self, projector: Projector, criterion: Criterion, effort: Effort) -> None:
        self.projector, self.criterion, self.effort = projector, criterion, effort
        start = criterion.start()
        eta = np.repeat(start[None, :], len(projector.X), axis=0)
        self.null = RidgeSum(start, (), criterion.deviance(eta))

    def is_explained(self, model: RidgeSum) -> bool:
        """Return True if nothing is left for a further term."""
        return model.deviance <= _EXPLAINED * self.null.deviance

    def add(self, model: RidgeSum) -> RidgeSum:
        """Return the model with one more term, the others as they are."""
        R, W = self.criterion.working(self._eta(model))
        # What a function of few degrees of freedom leaves may be fitted along its own direction.
        starts = np.vstack([*(term.a for term in model.terms), self.effort.starts])
        tried = [self._added(model, R, W, beta, starts) for beta in _first_loadings(R, W)]
        return first_least(tried, [each.deviance for each in tried])

    def _added(
        self,
        model: RidgeSum,
        R: FloatArray,
        W: FloatArray,
        beta: FloatArray,
        starts: FloatArray,
    ) -> RidgeSum:
        """Return the model with a term whose shares are first as given."""
        ridge = None
        for _ in range(1 if len(beta) == 1 else 3):
            t, v = target(R, W, beta)
            if ridge is None:
                a = best_start(self.projector, t, v, starts)
                ridge = self.projector.smooth(a, t, v)
            else:
                ridge = self.projector.smooth(ridge.a, t, v, None, ridge.log_ratio)
            ridge = self.projector.improve(ridge, t, v, _FIRST_TURNS, _FINE)
            ridge = self.projector.smooth(ridge.a, t, v, None, ridge.log_ratio)
            ridge = self.projector.improve(ridge, t, v, _FIRST_TURNS, _FINE)
            shift, term = self._term(ridge, R, W)
            if not np.any(term.beta):
                break
            beta = term.beta
        for _ in range(_HALVINGS if self.criterion.steps else 1):
            found = self._sum(model.intercept + shift, (*model.terms, term))
            if found.deviance <= model.deviance:
                break
            shift, term = shift / 2, replace(term, beta=term.beta / 2)
        return found

    def remove(self, model: RidgeSum) -> RidgeSum:
        """Return the model without the term that matters least; the last of equals goes."""
        least = _least(model)
        return self._sum(model.intercept, model.terms[:least] + model.terms[least + 1 :])

    def swap(self, model: RidgeSum) -> RidgeSum:
        """Return the model after terms that matter least were replaced by better ones.

        Where that is the term that came last, it was found just so, and nothing is tried: unless
        spans are chosen at every point, whose criterion is rough.
        """
        rough = not self.projector.smoothing.spline
        if self.effort.level < 2:
            return model
        for _ in range(_SWAPS):
            found_so = _least(model) == len(model.terms) - 1 and not rough
            if found_so or self.is_explained(model):
                break
            tried = self.refit(self.add(self.remove(model)))
            if not tried.deviance < (1 - self.effort.tol) * model.deviance:
                break
            model = tried
        return model

    def refit(self, model: RidgeSum) -> RidgeSum:
        """Return the model after passes of backfitting, until they change little."""
        level = self.effort.level
        if level == 0 or not model.terms:
            return model
        step, far, before, last = 1.0, 1.0, None, model
        best, since = model, 0  # passes since the best
        floor = (1e-2 if self.criterion.steps else 1e-6) * self.null.deviance
        for count in range(1, self.effort.passes + 1):
            tried = None
            if before is not None:
                # Terms follow one another slowly: go on the way that the last pass went.
                tried = self._adjusted(_ahead(last, before, far), step, count)
                far = 2 * far if tried.deviance < last.deviance else 1.0
            if tried is None or not tried.deviance < last.deviance:
                tried = self._adjusted(last, step, count)
            gain = last.deviance - tried.deviance
            if self.criterion.steps and gain < 0:  # the quadratic was no good so far away
                step /= 2
                if step < 0.1:
                    return replace(best, n_iter=count, converged=True)
                continue
            before, last, since = (last if level > 1 else None), tried, since + 1
            enough = self.effort.tol * (last.deviance + floor)
            if last.deviance < best.deviance - enough:
                since = 0
            if last.deviance < (1 - 1e-9) * best.deviance:
                best = last
            # Of classes that can be separated the deviance falls forever, to no purpose.
            apart = self.criterion.steps and last.deviance <= _APART * self.null.deviance
            if abs(gain) <= enough or since == _PATIENCE or apart:
                return replace(best, n_iter=count, converged=True)
        return replace(best, n_iter=self.effort.passes, converged=False)

    def _adjusted(self, model: RidgeSum, step: float, count: int) -> RidgeSum:
        """Return the model after a pass, and what the level of effort adds to it."""
        found = self._pass(model, step, count <= _CHOOSING)
        return self._balance(found) if self.effort.level > 2 else found

    def _pass(self, model: RidgeSum, step: float, choose: bool) -> RidgeSum:
        """Refit the terms one after the other to what the others leave.

        The smoothing of each is chosen again, or stays as it is.
        """
        R, W = self.criterion.working(self._eta(model))
        R = step * R
        intercept, terms = model.intercept, list(model.terms)
        for m, term in enumerate(terms):
            if not np.any(term.beta):
                continue
            R = R + term.f[:, None] * term.beta
            t, v = target(R, W, term.beta)
            ratio = None if choose else term.log_ratio
            ridge = self.projector.smooth(term.a, t, v, ratio, term.log_ratio)
            if self.effort.level > 1:
                ridge = self.projector.improve(ridge, t, v, _TURNS, _FINE)
            shift, terms[m] = self._term(ridge, R, W)
            intercept = intercept + shift
            R = R - shift - terms[m].f[:, None] * terms[m].beta
        return self._sum(intercept, tuple(terms))

    def _balance(self, model: RidgeSum) -> RidgeSum:
        """Refit the shares of all terms in each response together."""
        F = np.column_stack([np.ones(len(self.projector.X)), *(term.f for term in model.terms)])
        R, W = self.criterion.working(self._eta(model))
        change = np.zeros((F.shape[1], R.shape[1]))
        for k in range(R.shape[1]):
            root = np.sqrt(W if W.ndim == 1 else W[:, k])
            change[:, k] = np.linalg.lstsq(F * root[:, None], R[:, k] * root, rcond=1e-8)[0]
        terms = (
            replace(term, beta=term.beta + more)
            for term, more in zip(model.terms, change[1:], strict=True)
        )
        found = self._sum(model.intercept + change[0], tuple(terms))
        return found if found.deviance < model.deviance else model

    def _term(self, ridge: RidgeFit, R: FloatArray, W: FloatArray) -> tuple[FloatArray, RidgeTerm]:
        """Return what the intercept gains, and the term: standardised, with its shares in R."""
        w = self.criterion.w
        f = self.projector.values(ridge)
        middle = float(w @ f / w.sum())
        f -= middle
        spread = float(np.sqrt(w @ f**2 / w.sum()))
        curve = ridge.curve.copy()
        curve[1] -= middle
        if not spread > 1e-13 * abs(middle):
            spread, f = 1.0, np.zeros_like(f)
            curve[1:] = 0.0
        f /= spread
        curve[1:] /= spread
        shift, beta = loadings(f, R, W)
        term = RidgeTerm(ridge.a, beta, ridge.low, ridge.span, curve, ridge.df, ridge.log_ratio, f)
        return shift, term

    def _sum(self, intercept: FloatArray, terms: tuple[RidgeTerm, ...]) -> RidgeSum:
        found = RidgeSum(intercept, terms, 0.0)
        return replace(found, deviance=self.criterion.deviance(self._eta(found)))

    def _eta(self, model: RidgeSum) -> FloatArray:
        eta = model.eta
        return eta if model.terms else np.repeat(eta, len(self.projector.X), axis=0)


def _least(model: RidgeSum) -> int:
    """Return the place of the term that matters least; the last of equals."""
    sizes = [term.importance for term in model.terms]
    return max(k for k, size in enumerate(sizes) if size <= min(sizes))


def _ahead(model: RidgeSum, before: RidgeSum, far: float) -> RidgeSum:
    """Return a model whose directions went on turning as they did since another."""
    terms = []
    for term, old in zip(model.terms, before.terms, strict=True):
        a = term.a + far * (term.a - old.a)
        terms.append(replace(term, a=a / np.sqrt(a @ a)))
    return replace(model, terms=tuple(terms))


def _first_loadings(R: FloatArray, W: FloatArray) -> FloatArray:
    """Return shares with which a term may start, one set a row.

    Each is how the residuals vary together with those of one response, from the response that is
    explained least on. Eigenvectors would not do: of classes that are alike they are arbitrary.
    """
    if R.shape[1] == 1:
        return np.ones((1, 1))
    root = R * np.sqrt(W[:, None] if W.ndim == 1 else W)
    together = root.T @ root
    size = max(float(np.trace(together)), 1e-300)
    order = np.argsort(-np.round(np.diagonal(together) / size, 9), kind="stable")[:_LOADINGS]
    found = together[order]
    length = np.sqrt(np.sum(found**2, axis=1, keepdims=True))
    return np.where(length > 0, found / np.where(length > 0, length, 1.0), 1.0)
