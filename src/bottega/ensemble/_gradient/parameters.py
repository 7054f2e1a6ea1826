"""The parameters of both classes of gradient boosting, and what their cards have in common."""

from collections.abc import Mapping
from typing import Any

from bottega.core import params
from bottega.core.folds import Folds

SHARED: Mapping[str, params.Parameter] = {
    "n_estimators": params.Auto(params.Integer(1), help="number of rounds; 'auto': from the path"),
    "learning_rate": params.Real(0, open_low=True, log=True, help="factor on every tree"),
    "max_leaf_nodes": params.OrNone(
        params.Auto(params.Integer(2)), help="most leaves of a tree; 'auto': by the number of rows"
    ),
    "max_depth": params.OrNone(params.Integer(1), help="most tests above a leaf"),
    "min_samples_leaf": params.Integer(1, help="fewest rows in a leaf"),
    "l2_regularization": params.Real(0, help="penalty on the squares of the leaves' values"),
    "max_features": params.Real(0, 1, open_low=True, help="share of the columns tried at a split"),
    "max_bins": params.Integer(2, 255, help="most values that a column is cut into"),
    "categorical_features": params.AnyOf(
        params.Choice("auto"), params.Anything(), help="columns that are categories"
    ),
    "monotonic_cst": params.Anything(
        help="-1, 0 or 1 per column: the response may only fall or rise with it"
    ),
    "interaction_cst": params.Anything(
        help="columns that may meet in a tree: 'pairwise', 'no_interactions' or lists of numbers"
    ),
    "max_estimators": params.Integer(1, help="most rounds of the path"),
    "cv": params.Auto(Folds(), help="what judges the path; 'auto': 5 folds, or a fifth of many"),
    "select": params.Choice("min", "one_se", help="rule that picks the rounds from the path"),
    "n_jobs": params.Jobs(),
    "random_state": params.Seed(help="seed of what is drawn; None: other draws in every fit"),
}

CARD: dict[str, Any] = {
    "method": "gradient_boosting",
    "title": "Gradient boosting",
    "strengths": (
        "Among the most accurate methods for tables: small trees, each fitted to what the others "
        "leave, follow steps, curves and interactions.",
        "Takes categories, missing values and columns on any scale as they are.",
        "Lowers any of several losses: squares, sizes, quantiles, counts, log loss.",
        "Can be told that the response only rises, or only falls, with a column.",
        "Fast on many rows: columns are cut into at most 255 bins.",
    ),
    "weaknesses": (
        "A sum of many trees cannot be read; effects and importance have to be drawn from it.",
        "Overfits with too many rounds, so their number must be chosen.",
        "With few rows a forest or a linear method is often as good, and is faster.",
        "Flat beyond the range of the data.",
    ),
    "assumptions": (
        "Rows are independent, so that held-out rows judge the number of rounds honestly.",
        "The response is a sum of pieces that small trees can describe.",
    ),
    "cost": "n p rounds, on one byte per value, for each class of more than two",
    "source": "D186, D192, D254i",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
}
