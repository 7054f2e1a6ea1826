"""The parameters of both trees, and what their cards have in common."""

from collections.abc import Mapping
from typing import Any

from bottega.core import params
from bottega.core.folds import Folds
from bottega.tree._grow.options import Share

SIZE: Mapping[str, params.Parameter] = {
    "ccp_alpha": params.Auto(
        params.Real(0, None, log=True), help="penalty per leaf; 0: the tree as it is grown"
    ),
    "n_leaves": params.OrNone(params.Integer(1), help="most leaves, instead of ccp_alpha"),
}
GROWTH: Mapping[str, params.Parameter] = {
    "splitter": params.Choice(
        "best", "random", help="'random': one threshold per column, drawn at random"
    ),
    "thresholds": params.Choice(
        "exact", "binned", "uniform", "random", help="where a number may be split"
    ),
    "n_thresholds": params.Integer(1, help="candidates per node with 'uniform' and 'random'"),
    "categorical_features": params.AnyOf(
        params.Choice("auto"), params.Anything(), help="columns that are categories"
    ),
    "multiway": params.AnyOf(
        params.Boolean(),
        params.Integer(2),
        help="split a category into this many groups of levels, or all its levels",
    ),
    "missing": params.Choice("direction", "surrogate", help="where rows with missing values go"),
    "n_surrogates": params.Integer(0, help="most substitute tests per split"),
    "max_depth": params.OrNone(params.Integer(0), help="most tests above a leaf"),
    "max_leaf_nodes": params.OrNone(params.Integer(1), help="most leaves grown"),
    "max_features": params.OrNone(
        params.AnyOf(params.Choice("sqrt", "log2"), params.Integer(1), Share(0, 1, open_low=True)),
        help="columns tried at each split, drawn anew: their number or their share",
    ),
    "min_samples_split": params.AnyOf(
        params.Integer(2),
        Share(0, 1, open_low=True),
        help="fewest rows in a node that is split, or their share of all",
    ),
    "min_samples_leaf": params.AnyOf(
        params.Integer(1),
        Share(0, 1, open_low=True, open_high=True),
        help="fewest rows in a leaf, or their share of all",
    ),
    "min_weight_fraction_leaf": params.Real(0, 0.5, help="least share of the weight in a leaf"),
    "min_impurity_decrease": params.Real(
        0, None, help="least decrease of impurity that a split must bring"
    ),
    "min_impurity": params.Real(0, None, help="a node this pure is not split"),
    "target_error": params.OrNone(
        params.Real(0, None), help="growth stops when validation rows have no more error"
    ),
    "monotonic_cst": params.Anything(
        help="-1, 0 or 1 per column: the response may only fall or rise with it"
    ),
}
HELD_OUT: Mapping[str, params.Parameter] = {
    "cv": Folds(help="folds that judge the path, or a share held out"),
    "validation": params.Real(
        0,
        1,
        open_low=True,
        open_high=True,
        help="share held out by select='reduced_error' and target_error",
    ),
}
SEED = params.Seed(help="seed of what is drawn: columns, and thresholds")

CARD: dict[str, Any] = {
    "method": "tree",
    "title": "Decision tree",
    "strengths": (
        "A small tree is read and explained by anyone.",
        "Handles large data sets: it is fast and needs little memory.",
        "Takes numbers and categories, on any scale, as they are.",
        "Treats missing values naturally, without filling them in.",
        "Ignores redundant columns and finds interactions by itself.",
        "Its whole pruning path is judged in one pass over the folds.",
    ),
    "weaknesses": (
        "A large tree cannot be read.",
        "Overfits unless it is pruned.",
        "Often predicts less well than other methods, above all where boundaries are diagonal or "
        "the truth is smooth.",
        "Unstable: other rows of the same kind may give quite another tree.",
        "Cannot be updated: new rows mean growing it again.",
        "Offers no formal inference.",
    ),
    "assumptions": (
        "The rows are independent draws from one distribution.",
        "The response is about constant within boxes whose sides are parallel to the axes.",
    ),
    "cost": "n p (log n + depth) per tree, one for the data and one per fold",
    "source": "A26-A33, A40-A46, A55, C08-C18, D140-D149, D179-D183, D254c, M201-M228",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
}
