"""What the regressor and the classifier share: parameters, and words of their cards."""

from bottega.core.lists import Listed
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
)
from bottega.core.path import Rule

__all__ = ["ASSUMPTIONS", "SHARED", "STRENGTHS", "WEAKNESSES"]

SHARED: dict[str, Parameter] = {
    "engine": Choice("penalized", "backfitting", help="all terms at once, or one after the other"),
    "method": Choice("reml", "gcv", "ubre", "loo", help="what chooses the smoothing parameters"),
    "alpha": Auto(Real(0, None, log=True), help="smoothing parameter of all terms"),
    "multiplier": Auto(
        Real(0, None, open_low=True, log=True), help="multiplies the smoothing parameters"
    ),
    "n_splines": Integer(4, None, help="functions of each smooth term"),
    "shrink": Boolean(help="let whole terms shrink to nothing"),
    "interactions": Integer(0, None, help="most interactions that a forward step may add"),
    "n_terms": OrNone(Integer(0, None), help="how many terms a forward choice takes in"),
    "categorical_features": Anything(help="columns of numbers that are categories"),
    "select": Rule(),
    "multipliers": AnyOf(
        Integer(2),
        Listed(Real(0, None, open_low=True, log=True)),
        help="multipliers on the path: how many, or which",
    ),
    "tol": Real(0, 1, open_low=True, log=True, help="relative change that ends backfitting"),
    "max_iter": Integer(1, None, help="most rounds of backfitting"),
}
STRENGTHS = (
    "Readable: the effect of each input is a curve to look at, the same at all values of the rest.",
    "Escapes the curse of dimensionality: the error is that of curves, whatever their number.",
    "How smooth each curve is follows from the data, with bands and tests for each term.",
    "Takes categories and missing values as they are; columns of two values become lines.",
    "One pass over the rows, then the work does not grow with them; it fits chunks.",
)
WEAKNESSES = (
    "No local peaks: interactions must be asked for, or a forward step let add them.",
    "Inputs that follow curves of one another (concurvity) share their effect as they please.",
    "A smooth term cannot jump; trees can.",
)
ASSUMPTIONS = (
    "The effects add up on the scale of the link, and are smooth.",
    "Independent rows, with the variance that the family says.",
)
