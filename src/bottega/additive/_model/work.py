"""The prepared work of the penalised engine: blocks, binned rows, and a fit for each setting."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bottega.additive._model.leave_one_out import left_out, left_out_classes, pulls
from bottega.additive._penalized.design import Design
from bottega.additive._penalized.engine import PenalizedEngine
from bottega.additive._penalized.fit import Fit
from bottega.additive._penalized.multinomial import MultinomialEngine
from bottega.additive._penalized.negative_binomial import NegativeBinomialEngine
from bottega.additive._penalized.shape import ShapedEngine
from bottega.additive._terms.blocks import Block
from bottega.additive._terms.one_sided import OneSided
from bottega.additive._terms.resolve import PlacedTerm
from bottega.core.errors import InputError
from bottega.core.families import NegativeBinomial
from bottega.core.rows import Rows, split_rows
from bottega.core.typing import FloatArray

__all__ = ["PenalizedWork", "block_columns", "make_engine", "offset_of", "predictors"]

STEP = 20_000  # rows of a design at a time
_SEPARATED = 1e-3  # of the deviance of a constant: less is left by classes that are separated
_NEARLY = 0.3  # and so much where the fit finds no end
_PRIOR = 1e-3  # ridge that bounds them, relative to what the rows say of each coefficient
_CLASSES = ("binomial", "multinomial")


def block_columns(blocks: Sequence[Block], X: FloatArray) -> FloatArray:
    """Return the columns of all blocks at rows of X."""
    return np.hstack([block.design(X) for block in blocks])


def offset_of(terms: Sequence[PlacedTerm], X: FloatArray) -> Any:
    """Return the sum of the columns that are added as they are, or 0."""
    columns = [placed.columns[0] for placed in terms if placed.term.word == "offset"]
    return X[:, columns].sum(axis=1) if columns else 0.0


def predictors(
    blocks: Sequence[Block], terms: Sequence[PlacedTerm], coef: FloatArray, X: FloatArray
) -> FloatArray:
    """Return the predictors (n, D) at rows of X; `coef` goes predictor after predictor."""
    p = sum(block.size for block in blocks)
    table = coef.reshape(-1, p).T
    found, start = np.zeros((len(X), table.shape[1])), 0
    for block in blocks:
        end = start + block.size
        for part in split_rows(len(X), STEP):
            found[part] += block.effect(X[part], table[start:end])
        start = end
    shift = offset_of(terms, X)
    return found + (shift if np.ndim(shift) == 0 else shift[:, None])


def make_engine(
    design: Design, parts: Any, family: Any, *, shrink: bool, ridge: float | None = None
) -> Any:
    """Return the engine of a family, or of a number of classes."""
    more: dict[str, Any] = {"shrink": shrink} | ({} if ridge is None else {"ridge": ridge})
    shaped = [block.name for block in design.blocks if block.signs is not None]
    if isinstance(family, int):
        if shaped:
            raise InputError(
                f"{shaped[0]} has a shape, which is for one predictor; y has {family} classes: "
                "leave out shape=, or fit one class against the rest."
            )
        return MultinomialEngine(design, parts, family, **more)
    make: Any = NegativeBinomialEngine if isinstance(family, NegativeBinomial) else PenalizedEngine
    if shaped:
        return ShapedEngine(design, parts, family, make=make, **more)
    return make(design, parts, family, **more)


class PenalizedWork:
    """All that the fits along the path share.

    Parameters
    ----------
    terms : tuple of PlacedTerm
        The terms of the model.
    blocks : tuple of Block
        Their columns and penalties, the intercept first.
    make : callable
        Makes the engine that fits the blocks to the rows; with a number, one that draws all
        coefficients to zero so much (a ridge, relative to what the rows say).
    one_sided : callable
        Returns the levels of factors whose rows are all alike.
    method : str
        What chooses the smoothing parameters.
    alpha : float, optional
        The smoothing parameter of all terms, where it is given.
    rows : Rows or None
        The rows, where they are in memory.
    """

    def __init__(
        self,
        terms: tuple[PlacedTerm, ...],
        blocks: tuple[Block, ...],
        make: Callable[..., Any],
        one_sided: Callable[[], OneSided],
        method: str,
        alpha: float | None = None,
        rows: Rows | None = None,
    ) -> None:
        self.terms, self.blocks, self.make, self.one_sided = terms, blocks, make, one_sided
        self.engine, self.separated = make(), False
        self.method, self.alpha, self.rows = method, alpha, rows
        self._fits: dict[float, Fit] = {}

    def fit(self, multiplier: float = 1.0) -> Fit:
        """Return the fit with the chosen smoothing parameters times a number."""
        if 1.0 not in self._fits:
            self._fits[1.0] = self._chosen()
        if multiplier not in self._fits:
            chosen = self._fits[1.0]
            if not any(len(each) for each in chosen.alphas):  # nothing to multiply
                return chosen
            alphas = [multiplier * each for each in chosen.alphas]
            self._fits[multiplier] = self.engine.at(alphas, start=chosen)
        return self._fits[multiplier]

    def _chosen(self) -> Fit:
        found = self._at_start()
        share = found.deviance / max(found.null_deviance, 1e-300)
        lost = share < _SEPARATED or (not found.converged and share < _NEARLY)
        if lost and found.family.name in _CLASSES:
            # The likelihood has no maximum, or one far away: a weak prior bounds it.
            self.separated = True
            self.engine = self.make(ridge=_PRIOR)
            found = self._at_start()
        return found

    def _at_start(self) -> Fit:
        """Return the fit with the smoothing parameters that are given, or chosen."""
        if self.alpha is None:
            return self.engine.choose(self.method)
        given = [np.full(len(block.penalties), self.alpha) for block in self.blocks]
        for place, block in enumerate(self.blocks):
            if block.fixed is not None:
                given[place] = np.array(block.fixed)
        return self.engine.at(given * self.engine.n_predictors)

    def undetermined(self) -> list[str]:
        """Return the names of terms that the rows leave open.

        Levels without rows are none, nor columns whose values are missing together.
        """
        engine = getattr(self.engine, "free", self.engine)  # of shapes: without them
        each = engine.n_predictors
        return [
            block.name
            for block, lost in zip(self.blocks, engine.lost(), strict=True)
            if block.term >= 0 and lost > each * self._empty_levels(block)
        ]

    def _empty_levels(self, block: Block) -> int:
        """Return how many levels of a factor have no rows."""
        if block.kind != "factor" or self.rows is None:
            return 0
        column = self.rows.X[:, block.columns[0]]
        return block.raw_size - len(np.unique(column))

    def predictors(self, fit: Fit, X: FloatArray) -> FloatArray:
        """Return the predictors (n, D) of a fit at rows of X."""
        return predictors(self.blocks, self.terms, fit.coef, X)

    def left_out(self, fit: Fit) -> FloatArray:
        """Return the predictors (n, D) of each row when it is left out."""
        assert self.rows is not None
        X, y, weight = self.rows.X, self.rows.y, self.rows.weights
        eta = self.predictors(fit, X)
        found = np.empty_like(eta)
        for part in split_rows(len(X), STEP):
            pull = pulls(block_columns(self.blocks, X[part]), fit)
            if fit.n_predictors > 1:
                found[part] = left_out_classes(y[part], eta[part], pull, weight[part])
            else:
                one = eta[part, 0]
                found[part, 0] = left_out(y[part], one, pull, weight[part], fit.family)
        return found
