"""The right word for a parameter, where another one was given."""

from collections.abc import Collection

from bottega.core.errors import did_you_mean

__all__ = ["unknown_word"]

# Words of other libraries, and ours for the same thing; a class has at most one of them.
_OTHERS = {
    "n_estimators": (
        *("n_trees", "ntree", "num_trees", "n_rounds", "nrounds", "num_boost_round", "n_models"),
        *("n_iterations", "num_iterations", "iterations", "max_iter"),
    ),
    "quantile": ("alpha",),
    "l2_regularization": ("reg_lambda", "lambda_l2", "lambda_"),
    "interaction_cst": ("interaction_constraints",),
    "max_estimators": ("max_rounds",),
    "estimator": ("base", "base_estimator", "base_learner", "model"),
    "estimators": ("bases", "models", "base_models", "learners"),
    "final_estimator": ("meta_model", "meta_learner", "meta_classifier", "meta_regressor"),
    "voting": ("vote",),
    "bootstrap": ("replace",),
    "max_samples": ("sample_share", "sample_fraction", "subsample"),
    "hidden_layer_sizes": ("hidden", "hidden_layers", "hidden_sizes", "hidden_units", "layers"),
    "learning_rate_init": ("lr", "eta", "eta0"),
    "drop": ("dropout", "dropout_rate", "p_drop"),
    "clip": ("clip_value", "clipvalue", "gradient_clip"),
    "n_iter_no_change": ("patience",),
    "solver": ("optimizer",),
    "n_starts": ("n_init", "restarts"),
    "max_features": ("mtry", "colsample_bytree", "feature_fraction", "max_size", "nvmax"),
    "min_samples_leaf": (
        "min_leaf",
        "minbucket",
        "nodesize",
        "min_data_in_leaf",
        "min_child_samples",
    ),
    "min_samples_split": ("min_split", "minsplit"),
    "min_impurity_decrease": ("min_gain", "min_impurity_split"),
    "max_leaf_nodes": ("max_leaves", "num_leaves", "maxnodes"),
    "max_depth": ("maxdepth", "depth"),
    "ccp_alpha": ("alpha", "cp"),
    "monotonic_cst": ("monotone", "monotone_constraints"),
    "categorical_features": ("categorical", "categories", "cat_features"),
    "class_weight": ("class_weights", "classwt"),
    "n_neighbors": ("k", "kmax"),
    "max_neighbors": ("k_max",),
    "n_components": ("components", "ncomp"),
    "n_nonzero_coefs": ("n_steps",),
    "linkage": ("method",),
    "distance_threshold": ("height",),
    "metric": ("affinity", "dissimilarity"),
    "method": ("mode", "direction"),
    "noise_precision": ("beta", "alpha_init"),
    "weight_precision": ("lambda_init",),
    "n_features_to_select": ("size", "n_features"),
    "priors": ("class_prior", "prior"),
    "alpha": ("lam", "lambda_", "lambda", "lambd", "lamda", "sp", "spar", "weight_decay"),
    "alphas": ("n_alphas", "n_lams", "nlambda", "lambdas"),
    "eps": ("lambda_min_ratio",),
    "l1_ratio": ("rho", "mixture"),
    "fit_intercept": ("intercept",),
    "standardize": ("normalize", "scale"),
    "max_iter": ("epochs", "n_epochs", "n_iter", "max_epochs", "max_steps", "maxit"),
    "tol": ("thresh", "epsilon"),
    "eta0": ("eta", "lr", "learning_rate_init"),
    "learning_rate": ("eta", "step", "shrinkage", "schedule"),
    "bandwidth": ("h", "bw"),
    "span": ("frac",),
    "df": ("dof",),
    "n_basis": ("n_splines", "nseg", "n_bases"),
    "n_jobs": ("n_threads", "num_threads", "nthread"),
    "random_state": ("seed", "random_seed"),
    "select": ("rule", "criterion", "ic"),
}

# Words of another meaning, and what there is instead: of classes with the parameter before them.
_INSTEAD = {
    "alpha": {
        "C": "it is the inverse of a penalty; give alpha (for logistic regression 1 / (n C))",
        "penalty": "alpha is how strong the penalty is, and l1_ratio, where there is one, its kind",
    },
    "alphas": {
        "scoring": "the path is judged by its loss; path(X, y, loss=...) judges by another",
        "store_cv_results": "path_ keeps the errors of all folds",
    },
    "pooling": {  # quadratic discriminant analysis
        "reg_param": "shrinkage is the share of the identity, on the scale of each input unless "
        "standardize=False",
    },
    "priors": {  # models of the inputs of each class
        "solver": "one decomposition serves all settings",
        "store_covariance": "covariance_ is always kept",
        "covariance_estimator": "shrinkage and, where there is one, covariance say how it is "
        "estimated",
        "fit_prior": "priors gives the probability of each class; None takes their shares",
        "binarize": "inputs of two values are found; distributions says what each input is",
        "force_alpha": "alpha is used as it is given",
    },
    "cleaner": {  # matrices of stems
        "language": "the cleaner has it: give cleaner=TextCleaner(language=...)",
        "stop_words": "the cleaner has them: give cleaner=TextCleaner(stop_words=...)",
        "lowercase": "the cleaner does it: give cleaner=TextCleaner(...)",
        "token_pattern": "the cleaner says what a word is: give cleaner=TextCleaner(...)",
        "analyzer": "the cleaner says what a word is: give cleaner=TextCleaner(...)",
        "binary": "weighting='binary' does it",
        "use_idf": "weighting='tf-idf' does it",
    },
    "l2_regularization": {  # gradient boosting
        "subsample": "every tree is fitted to all rows, and max_features draws columns",
        "early_stopping": "n_estimators='auto' finds the rounds on rows that are held out",
        "n_iter_no_change": "n_estimators='auto' finds the rounds on rows that are held out",
        "validation_fraction": "cv is the share of rows that is held out, as in cv=0.1",
        "min_samples_split": "min_samples_leaf, max_leaf_nodes and max_depth limit a tree",
        "min_impurity_decrease": "min_samples_leaf, max_leaf_nodes and max_depth limit a tree",
        "ccp_alpha": "min_samples_leaf, max_leaf_nodes and max_depth limit a tree",
        "criterion": "loss is what the trees lower",
        "init": "the first guess is the best constant",
        "warm_start": "path_ holds the errors of every number of rounds from one fit",
    },
}


def unknown_word(owner: str, word: str, known: Collection[str]) -> str:
    """Return the message for a parameter that `owner` does not have.

    Examples
    --------
    >>> unknown_word("Ridge", "lam", ["alpha", "select"])
    "Ridge has no parameter 'lam'; it is called 'alpha' here."
    """
    for ours, words in _INSTEAD.items():
        if ours in known and word in words:
            return f"{owner} has no parameter {word!r}: {words[word]}."
    for ours, others in _OTHERS.items():
        if ours in known and word in others:
            return f"{owner} has no parameter {word!r}; it is called {ours!r} here."
    message = f"{owner} has no parameter {word!r}; it has {', '.join(known) or 'none'}."
    return message + did_you_mean(word, known)
