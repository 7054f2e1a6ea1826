r"""Several classes: a predictor for each but the first, the log of its odds against the first.

A term has one smoothing parameter (for each of its penalties) for all classes: it penalises the
effects of the K classes about their mean.

Symbols
-------
K, D    classes, predictors (K - 1)
pi      probability of a class in a row
M_kl    block of a matrix between the coefficients of predictors k and l
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax

from bottega.additive._penalized.design import CodedRows, Design
from bottega.additive._penalized.engine import RIDGE, PenalizedEngine
from bottega.additive._penalized.fit import Fit
from bottega.additive._penalized.identify import determined
from bottega.additive._penalized.problem import LeftOut, Working
from bottega.additive._penalized.sums import summed
from bottega.additive._terms.blocks import Block
from bottega.core.errors import ParameterError
from bottega.core.families import Family
from bottega.core.lazy import cached_property
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["MULTINOMIAL", "ClassRows", "MultinomialEngine"]


@stored
class _Multinomial(Family):
    name, code = "multinomial", 5
    links, canonical = ("logit",), "logit"


MULTINOMIAL = _Multinomial()


class ClassRows:
    """The likelihood of classes over binned rows.

    Coefficients go block after block, and within a block predictor after predictor.

    Parameters
    ----------
    design : Design
        Columns, the same for each predictor.
    parts : iterable of CodedRows
        All rows, or chunks; responses are the codes 0, ..., K - 1.
    n_classes : int
        K.
    """

    quadratic = False

    def __init__(self, design: Design, parts: Iterable[CodedRows], n_classes: int) -> None:
        self.design, self.parts, self.D = design, parts, n_classes - 1
        self.passes = 0

        def counted(part: CodedRows) -> tuple[int, float, Any]:
            each = np.bincount(part.y.astype(np.intp), part.weight, n_classes)
            return len(part), float(part.weight.sum()), each

        self.rows, self.weight, shares = summed(parts, counted)
        self.shares = shares / self.weight
        # Where the coefficients of each predictor stand.
        starts = [np.arange(here.start, here.stop) for here in design.slices]
        self.places = [
            np.concatenate([self.D * at[:1] + k * len(at) + np.arange(len(at)) for at in starts])
            for k in range(self.D)
        ]

    @property
    def n(self) -> float:
        """Number of rows."""
        return self.rows

    @property
    def size(self) -> float:
        """About what the deviance of a poor fit is, in the units of weights."""
        return self.weight

    def greatest(self, scale: float) -> float:
        """Return zero: every row may have probability one."""
        return 0.0

    def saturated(self, scale: float) -> FloatArray:
        """Return zeros: every row may have probability one."""
        return np.zeros(3)

    def probabilities(self, part: CodedRows, beta: FloatArray | None) -> FloatArray:
        """Return the probabilities of all classes: (n, K)."""
        if beta is None:
            return np.tile(self.shares, (len(part), 1))
        eta = np.zeros((len(part), self.D + 1))
        for k, here in enumerate(self.places):
            eta[:, k + 1] = self.design.predictor(part, beta[here])
        return np.asarray(softmax(eta, axis=1))

    def working(self, beta: FloatArray | None) -> Working:
        """Return deviance, pull and gram at coefficients; None: at the shares of the classes."""
        self.passes += 1
        D, p, design, shares, places = self.D, self.design.p, self.design, self.shares, self.places
        start = np.log(shares[1:] / shares[0])

        def of_part(part: CodedRows) -> tuple[float, FloatArray, FloatArray]:
            pull, gram = np.zeros(D * p), np.zeros((D * p, D * p))
            pi, w, codes = self.probabilities(part, beta), part.weight, part.y.astype(np.intp)
            deviance = -2 * float(w @ np.log(pi[np.arange(len(part)), codes]))
            for k, here in enumerate(places):
                mine = pi[:, k + 1]
                g = w * ((codes == k + 1) - mine)
                if beta is None:  # the pull of working responses
                    g = g + w * mine * (start[k] - shares[1:] @ start)
                pull[here] = design.back(part, g)
                for m, other in enumerate(places[: k + 1]):
                    both = mine * ((k == m) - pi[:, m + 1])
                    block = design.gram(part, w * both)
                    gram[np.ix_(here, other)] = block
                    if m < k:
                        gram[np.ix_(other, here)] = block
            return deviance, pull, gram

        deviance, pull, gram = summed(self.parts, of_part)
        return Working(deviance if np.isfinite(deviance) else np.inf, pull, gram)

    def trace(self, beta: FloatArray, M: FloatArray) -> FloatArray:
        """Return the derivative of tr(M X'WX) in the coefficients, through W."""
        self.passes += 1
        D, p, design, places = self.D, self.design.p, self.design, self.places

        def of_part(part: CodedRows) -> tuple[FloatArray]:
            found = np.zeros(D * p)
            pi = self.probabilities(part, beta)[:, 1:]
            h = np.empty((D, D, len(part)))
            for k in range(D):
                for m in range(k + 1):
                    block = M[np.ix_(places[k], places[m])]
                    h[k, m] = h[m, k] = design.forms(part, (block + block.T) / 2)
            own = np.einsum("kkn,nk->n", h, pi)
            mixed = np.einsum("kmn,nm->kn", h, pi)
            all_in = np.einsum("kn,nk->n", mixed, pi)
            for k in range(D):
                each = pi[:, k] * (h[k, k] - own - 2 * mixed[k] + 2 * all_in)
                found[places[k]] = design.back(part, part.weight * each)
            return (found,)

        (found,) = summed(self.parts, of_part)
        return np.asarray(found)

    def leave_one_out(self, beta: FloatArray, V: FloatArray) -> LeftOut:
        """Refuse: left out rows are not counted for several classes."""
        raise ParameterError(
            "method='loo' is not offered for more than two classes; choose 'reml' or 'ubre'."
        )


class MultinomialEngine(PenalizedEngine):
    """Fits of one set of blocks to the classes of one set of rows.

    Parameters
    ----------
    design : Design
        Blocks on binned inputs.
    parts : iterable of CodedRows
        All rows, or chunks; responses are the codes 0, ..., K - 1, all of which occur.
    n_classes : int
        K, three or more.
    shrink, ridge
        As in `PenalizedEngine`.
    """

    def __init__(
        self,
        design: Design,
        parts: Iterable[CodedRows],
        n_classes: int,
        *,
        shrink: bool = False,
        ridge: float = RIDGE,
    ) -> None:
        self.n_classes = n_classes
        super().__init__(design, parts, MULTINOMIAL, shrink=shrink, ridge=ridge)

    def _make_rows(self) -> ClassRows:
        self.n_predictors = self.n_classes - 1
        return ClassRows(self.design, self.parts, self.n_classes)

    def _every_block(self) -> Sequence[Block]:
        """Return the blocks with the coefficients of all predictors.

        Effects of the K classes about their mean have equal penalties, so that it does not matter
        which class is the first.
        """
        D = self.n_predictors
        centre = np.eye(D) - 1 / self.n_classes

        def of_all(S: FloatArray) -> FloatArray:
            return np.asarray(np.kron(centre, S), dtype=np.float64)

        return [
            replace(
                block,
                transform=np.zeros((1, D * block.size)),  # counts the coefficients
                penalties=tuple(of_all(S) for S in block.penalties),
                shrink=None if block.shrink is None else of_all(block.shrink),
            )
            for block in self.blocks
        ]

    def _determined(self, gram: FloatArray) -> BoolArray:
        """Return what rows and penalties determine: the same for all predictors."""
        places = self.rows.places
        kept = np.empty(len(gram), dtype=bool)
        one = determined(self.blocks, gram[np.ix_(places[0], places[0])], shrink=self.shrink)
        for here in places:
            kept[here] = one
        return kept

    @cached_property
    def _turn(self) -> FloatArray:
        """Coefficients as they are given (predictor after predictor) of those kept inside."""
        order = np.concatenate(self.rows.places)
        found = np.empty((len(order), len(order)))
        found[:, order] = self.rotation.matrix(self.n_predictors)
        return found[:, self.kept]

    def choose(self, method: str = "reml", start: Fit | None = None) -> Fit:
        """Return the fit whose smoothing parameters a criterion chose."""
        if method == "loo":
            self.rows.leave_one_out(np.zeros(0), np.zeros((0, 0)))
        return super().choose(method, start)

    def _null_deviance(self) -> float:
        shares = self.rows.shares
        return float(-2 * self.rows.weight * shares @ np.log(shares))
