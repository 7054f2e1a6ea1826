"""The parameters of both models of adaptive splines, and what their cards have in common."""

from collections.abc import Mapping
from typing import Any

from bottega.core.folds import Folds
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
)
from bottega.core.path import Rule

SHARED: Mapping[str, Parameter] = {
    "degree": Integer(1, help="most inputs in a product"),
    "max_terms": Auto(Integer(1), help="most terms grown, the intercept among them"),
    "penalty": Auto(Real(0, None), help="degrees of freedom that each knot counts for in GCV"),
    "threshold": Real(0, 1, help="growth stops when a step raises R squared by less"),
    "minspan": Auto(Integer(1), help="rows from one knot to the next"),
    "endspan": Auto(Integer(1), help="rows beyond the outermost knots"),
    "fast_k": Integer(0, help="terms that are tried as parents in each step; 0 for all"),
    "fast_beta": Real(0, None, help="how fast a parent that waits moves up in the queue"),
    "rounds": Integer(1, help="how often terms are grown and removed"),
    "linear_features": OrNone(Anything(), help="columns that enter without knots"),
    "categorical_features": AnyOf(
        Choice("auto"), Anything(), help="columns of numbers that are categories"
    ),
    "select": Rule(help="rule that picks the number of terms when it is 'auto'"),
    "cv": Folds(help="folds that judge the path, for select='min' and 'one_se'"),
}
FITTING: Mapping[str, Parameter] = {
    "alpha": Real(0, None, log=True, help="ridge of coefficients by likelihood"),
    "tol": Real(0, 1, open_low=True, log=True, help="precision of coefficients by likelihood"),
    "max_iter": Integer(1, None, help="Newton steps for coefficients by likelihood"),
}

CARD: dict[str, Any] = {
    "method": "adaptive_splines",
    "title": "Adaptive splines",
    "strengths": (
        "Chooses inputs, knots and interactions by itself, and ignores inputs of noise.",
        "Is read as a short formula of bent lines, and can be exported as one.",
        "Products of hinges are local, so it follows peaks that additive models cannot.",
        "Takes numbers and categories on any scale, and missing values, as they are.",
        "The path over the number of terms comes with one fit.",
    ),
    "weaknesses": (
        "The response has kinks, and is extended by straight lines beyond the data.",
        "Unstable: other rows of the same kind may give other terms, above all where inputs are "
        "correlated.",
        "Greedy: an interaction without any main effect is hard to find.",
        "Harder to interpret than an additive model; offers no formal inference.",
    ),
    "assumptions": (
        "The response is nearly piecewise linear in few inputs at a time.",
        "Independent rows with noise of about one size.",
    ),
    "cost": "n p M^2 for M terms with knots at all values, and once more per fold",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
}
