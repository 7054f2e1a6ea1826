"""The parameters of both forests, and what their cards have in common."""

from collections.abc import Mapping
from typing import Any

from bottega.core import params
from bottega.ensemble._resampling.left_out import OOB_SCORE


def _count_or_share(least: int, help: str) -> params.Parameter:
    share = params.Real(0, 1, open_low=True, open_high=True)
    return params.AnyOf(params.Integer(least), share, help=help)


N_ESTIMATORS = params.Integer(1, help="how many trees are grown; more never hurt, and cost time")
GROWTH: Mapping[str, params.Parameter] = {
    "max_depth": params.OrNone(params.Integer(0), help="most tests above a leaf"),
    "min_samples_split": _count_or_share(2, "fewest rows in a node that is split, or their share"),
    "min_samples_leaf": _count_or_share(1, "fewest rows in a leaf, or their share"),
    "min_weight_fraction_leaf": params.Real(0, 0.5, help="least share of the weight in a leaf"),
    "max_features": params.OrNone(
        params.AnyOf(
            params.Choice("auto", "sqrt", "log2"),
            params.Integer(1),
            params.Real(0, 1, open_low=True),
        ),
        help="columns tried at each split, or their share; 'auto': by OOB error",
    ),
    "max_leaf_nodes": params.OrNone(
        params.Integer(1), help="most leaves of a tree, the best splits first"
    ),
    "min_impurity_decrease": params.Real(0, None, help="least decrease of impurity by a split"),
    "categorical_features": params.AnyOf(
        params.Choice("auto"), params.Anything(), help="columns that are categories"
    ),
    "bootstrap": params.Boolean(help="draw rows with replacement (the bootstrap)"),
    "oob_score": OOB_SCORE,
    "n_jobs": params.Jobs(),
    "random_state": params.Seed(help="seed of the draws; None: other draws in every fit"),
    "verbose": params.Anything(help="whether progress is written"),
    "warm_start": params.Boolean(help="keep the trees of the last fit and add to them"),
}
REST: Mapping[str, params.Parameter] = {
    "ccp_alpha": params.Real(0, None, help="penalty per leaf by which each tree is pruned"),
    "max_samples": params.OrNone(
        params.AnyOf(params.Integer(1), params.Real(0, open_low=True)),
        help="rows drawn for a tree, or their share of all",
    ),
    "monotonic_cst": params.Anything(
        help="-1, 0 or 1 per column: the response may only fall or rise with it"
    ),
    "select": params.Choice("min", "one_se", help="rule that picks max_features from the path"),
}

CARD: dict[str, Any] = {
    "method": "random_forest",
    "title": "Random forest",
    "strengths": (
        "Accurate without tuning on most tables: steps, interactions and noise columns alike.",
        "Drawing columns decorrelates the trees more than bagging does, as inputs are usually "
        "correlated; the variance is lower.",
        "Does not overfit with more trees: the error settles.",
        "Takes categories, missing values and columns on any scale as they are.",
        "Rows left out of each tree give an honest error without cross-validation.",
        "Ranks the inputs by importance (though not the direction of their effects).",
        "Trees grow side by side.",
    ),
    "weaknesses": (
        "The readability of a tree is lost, and memory grows with the rows.",
        "Importance comes without a test of significance.",
        "Flat beyond the range of the data, and slow to follow a plain linear trend.",
        "Boosting is often a little more accurate where it is tuned.",
    ),
    "assumptions": (
        "Rows are independent, so that the rows a tree has not drawn judge it honestly.",
        "Columns drawn at a split are often enough of use: with few useful columns among many, "
        "more must be tried.",
    ),
    "cost": "n_estimators max_features n log n, on one byte per value",
    "source": "D186, D190, D194-D197, D254j",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
}
