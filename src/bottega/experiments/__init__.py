"""Every claim of the course that a program can test, as a function to run and look at.

Each function draws its own data, returns the numbers with a verdict, and draws a chart;
`claims` lists them all, `run` tests one by its id.
"""

from bottega.experiments.bayes import (
    flat_prior,
    posterior_leaves_prior,
    three_estimates_of_a_coin,
    zero_prior,
)
from bottega.experiments.combinations_of_models import (
    bumping_on_xor,
    rare_classes_and_wrong_labels,
    stacking_weights,
)
from bottega.experiments.consistency import (
    nearest_distances,
    neighbor_schedules,
    one_neighbor_risk,
    slow_convergence,
)
from bottega.experiments.degrees import (
    cost_of_a_superfluous_parameter,
    more_data_less_overfitting,
    weights_against_degree,
)
from bottega.experiments.evaluation import hoeffding_coverage, tuning_optimism
from bottega.experiments.experiment import CLAIMS, Claim, Experiment, claims, run
from bottega.experiments.feature_maps import conics, kernel_learners, kernels_and_maps
from bottega.experiments.finite_class import (
    class_growth,
    erm_deviation,
    fitting_regimes,
    rich_class,
)
from bottega.experiments.forests import (
    bagging_bias_and_variance,
    ensembles_on_spheres,
    forest_convergence,
    two_importances,
)
from bottega.experiments.half_spaces import (
    exact_half_space,
    perceptron_convergence_trace,
    plane_geometry,
    separability_by_program,
)
from bottega.experiments.imbalance import (
    all_positive,
    constant_predictor,
    stratified_splits,
    votes_of_a_minority,
)
from bottega.experiments.impurity import (
    entropy_extremes,
    impurity_order,
    impurity_stall,
    training_error_of_growth,
)
from bottega.experiments.linear_classifiers import (
    ambiguous_regions,
    descent_is_the_perceptron,
    diverging_logistic,
    perceptron_orders,
    rings_made_separable,
    too_correct_points,
)
from bottega.experiments.linear_designs import (
    collinear_inputs,
    components_ignore_the_response,
    forward_and_backward,
    recursive_start,
)
from bottega.experiments.losses import best_predictor, confident_forecasts
from bottega.experiments.nearest import (
    column_scale,
    even_votes,
    neighbors_sweep,
    noise_and_neighbors,
    query_cost,
)
from bottega.experiments.numerics import (
    cholesky_or_qr,
    lost_orthogonality,
)
from bottega.experiments.overfitting import choosing_a_degree, overfitting_curve, tree_depth_curve
from bottega.experiments.penalties import (
    exact_zeros,
    lasso_path_by_two_ways,
    one_standard_error_rule,
    ridge_beats_least_squares,
    support_of_the_lasso,
)
from bottega.experiments.regression_bayes import (
    coverage_of_predictions,
    mode_is_ridge,
    posterior_in_batches,
    predictive_spread,
)
from bottega.experiments.sampling_bias import (
    big_biased_samples,
    dredging_noise,
)
from bottega.experiments.scaling import (
    mahalanobis_and_whitening,
    one_neighbor_and_noise,
    stripes_of_a_wide_column,
)
from bottega.experiments.shrinkage import ridge_stability
from bottega.experiments.smoothing import (
    curse_of_dimensionality,
    equal_degrees_of_freedom,
    kernel_and_bandwidth,
    rate_of_local_regression,
    time_ordered_split,
    undercoverage_of_bands,
)
from bottega.experiments.streams import compression_coverage, mistake_bound, regret_rates
from bottega.experiments.tree_behavior import (
    gini_and_entropy,
    lines_and_boxes,
    pruning_of_unstable_trees,
    root_without_one_row,
    tree_or_neighbors,
)
from bottega.experiments.tree_counts import boolean_sample_size, structural_risk, tree_counting
from bottega.experiments.tree_limits import (
    blind_error_rate,
    blind_stopping,
    greedy_is_not_optimal,
    splits_on_an_identifier,
)
from bottega.experiments.trees import tree_as_logic, tree_cells, tree_instability

__all__ = [
    "CLAIMS",
    "Claim",
    "Experiment",
    "all_positive",
    "ambiguous_regions",
    "bagging_bias_and_variance",
    "best_predictor",
    "big_biased_samples",
    "blind_error_rate",
    "blind_stopping",
    "boolean_sample_size",
    "bumping_on_xor",
    "cholesky_or_qr",
    "choosing_a_degree",
    "claims",
    "class_growth",
    "collinear_inputs",
    "column_scale",
    "components_ignore_the_response",
    "compression_coverage",
    "confident_forecasts",
    "conics",
    "constant_predictor",
    "cost_of_a_superfluous_parameter",
    "coverage_of_predictions",
    "curse_of_dimensionality",
    "descent_is_the_perceptron",
    "diverging_logistic",
    "dredging_noise",
    "ensembles_on_spheres",
    "entropy_extremes",
    "equal_degrees_of_freedom",
    "erm_deviation",
    "even_votes",
    "exact_half_space",
    "exact_zeros",
    "fitting_regimes",
    "flat_prior",
    "forest_convergence",
    "forward_and_backward",
    "gini_and_entropy",
    "greedy_is_not_optimal",
    "hoeffding_coverage",
    "impurity_order",
    "impurity_stall",
    "kernel_and_bandwidth",
    "kernel_learners",
    "kernels_and_maps",
    "lasso_path_by_two_ways",
    "lines_and_boxes",
    "lost_orthogonality",
    "mahalanobis_and_whitening",
    "mistake_bound",
    "mode_is_ridge",
    "more_data_less_overfitting",
    "nearest_distances",
    "neighbor_schedules",
    "neighbors_sweep",
    "noise_and_neighbors",
    "one_neighbor_and_noise",
    "one_neighbor_risk",
    "one_standard_error_rule",
    "overfitting_curve",
    "perceptron_convergence_trace",
    "perceptron_orders",
    "plane_geometry",
    "posterior_in_batches",
    "posterior_leaves_prior",
    "predictive_spread",
    "pruning_of_unstable_trees",
    "query_cost",
    "rare_classes_and_wrong_labels",
    "rate_of_local_regression",
    "recursive_start",
    "regret_rates",
    "rich_class",
    "ridge_beats_least_squares",
    "ridge_stability",
    "rings_made_separable",
    "root_without_one_row",
    "run",
    "separability_by_program",
    "slow_convergence",
    "splits_on_an_identifier",
    "stacking_weights",
    "stratified_splits",
    "stripes_of_a_wide_column",
    "structural_risk",
    "support_of_the_lasso",
    "three_estimates_of_a_coin",
    "time_ordered_split",
    "too_correct_points",
    "training_error_of_growth",
    "tree_as_logic",
    "tree_cells",
    "tree_counting",
    "tree_depth_curve",
    "tree_instability",
    "tree_or_neighbors",
    "tuning_optimism",
    "two_importances",
    "undercoverage_of_bands",
    "votes_of_a_minority",
    "weights_against_degree",
    "zero_prior",
]
