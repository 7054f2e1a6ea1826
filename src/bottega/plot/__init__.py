"""Pictures of results, as Altair charts: they show in notebooks, save as PNG, SVG or HTML.

Each function takes arrays or an object with the named attributes, never a data frame library.
"""

from bottega.plot.activation_functions import activation_functions_chart
from bottega.plot.additive_effects import additive_effects_chart
from bottega.plot.ascent import ascent_chart
from bottega.plot.asymptotics import bias_variance_chart, curse_chart, rate_chart
from bottega.plot.attention import attention_chart
from bottega.plot.band import band_chart, smooth_chart, smooths_chart
from bottega.plot.biplot import biplot_chart
from bottega.plot.boundaries import boundaries_chart
from bottega.plot.bundle import javascript, to_json
from bottega.plot.calibration import calibration_chart
from bottega.plot.clusters import (
    cluster_path_chart,
    cluster_steps_chart,
    clusters_chart,
    gap_chart,
    k_distance_chart,
)
from bottega.plot.coefficients import coefficient_chart
from bottega.plot.component_images import component_images_chart
from bottega.plot.confusion import confusion_chart, confusion_table_chart
from bottega.plot.contributions import contributions_chart
from bottega.plot.convexity import convexity_chart, hull_chart, set_chart
from bottega.plot.costs import cost_curve_chart, threshold_cost_chart
from bottega.plot.criteria import criteria_chart
from bottega.plot.curvature import curvature_chart
from bottega.plot.decomposition import decomposition_chart
from bottega.plot.dendrogram import dendrogram_chart
from bottega.plot.descent import descent_chart, descents_chart
from bottega.plot.directed_graph import directed_graph_chart
from bottega.plot.discriminant import discriminant_chart
from bottega.plot.distributed import distributed_chart
from bottega.plot.dots import dots_chart
from bottega.plot.effects import effects_chart
from bottega.plot.families import family_chart
from bottega.plot.image_grid import image_grid_chart
from bottega.plot.importance import importance_chart
from bottega.plot.imputation import imputation_chart
from bottega.plot.inference import conjugate_chart, four_panel_chart, predictive_chart
from bottega.plot.intervals import intervals_chart, parts_chart
from bottega.plot.latent_map import latent_map_chart
from bottega.plot.leaderboard import leaderboard_chart
from bottega.plot.learning_curve import excess_chart, learning_curve_chart
from bottega.plot.lift import lift_chart, lift_curve_chart
from bottega.plot.likelihood import fitted_chart, profile_chart
from bottega.plot.lines import lines_chart
from bottega.plot.margins import margin_chart
from bottega.plot.mixture import mixture_chart, mixture_steps_chart
from bottega.plot.model_check import model_check_chart
from bottega.plot.online import mistakes_chart, regret_chart, running_loss_chart
from bottega.plot.partial_effects import effect_chart, partial_effects_chart
from bottega.plot.partition import partition_chart, step_chart
from bottega.plot.path import path_chart
from bottega.plot.penalty_region import region_chart
from bottega.plot.posterior import posterior_chart
from bottega.plot.posterior_surface import posterior_surface_chart
from bottega.plot.precision_recall import precision_recall_chart, precision_recall_curve_chart
from bottega.plot.problem import dual_chart, problem_chart
from bottega.plot.proportions import proportions_chart, proportions_over_time_chart
from bottega.plot.ratings import error_grid_chart, ratings_chart
from bottega.plot.residuals import observed_chart, residual_chart
from bottega.plot.ridge_functions import ridge_functions_chart
from bottega.plot.roc import roc_chart, roc_curves_chart
from bottega.plot.scatter_matrix import scatter_matrix_chart
from bottega.plot.scree import scree_chart
from bottega.plot.shrinkage import shrinkage_chart, threshold_chart
from bottega.plot.silhouette import silhouette_chart
from bottega.plot.staged_error import error_against_trees_chart
from bottega.plot.stem_map import stem_map_chart
from bottega.plot.target import target_chart
from bottega.plot.terms import terms_chart
from bottega.plot.theme import DARK, LIGHT, config
from bottega.plot.training import activations_chart, training_chart
from bottega.plot.tree import tree_chart
from bottega.plot.typical_stems import typical_stems_chart
from bottega.plot.worst_rows import worst_rows_chart

__all__ = [  # made by docs/generate.py
    "DARK",
    "LIGHT",
    "activation_functions_chart",
    "activations_chart",
    "additive_effects_chart",
    "ascent_chart",
    "attention_chart",
    "band_chart",
    "bias_variance_chart",
    "biplot_chart",
    "boundaries_chart",
    "calibration_chart",
    "cluster_path_chart",
    "cluster_steps_chart",
    "clusters_chart",
    "coefficient_chart",
    "component_images_chart",
    "config",
    "confusion_chart",
    "confusion_table_chart",
    "conjugate_chart",
    "contributions_chart",
    "convexity_chart",
    "cost_curve_chart",
    "criteria_chart",
    "curse_chart",
    "curvature_chart",
    "decomposition_chart",
    "dendrogram_chart",
    "descent_chart",
    "descents_chart",
    "directed_graph_chart",
    "discriminant_chart",
    "distributed_chart",
    "dots_chart",
    "dual_chart",
    "effect_chart",
    "effects_chart",
    "error_against_trees_chart",
    "error_grid_chart",
    "excess_chart",
    "family_chart",
    "fitted_chart",
    "four_panel_chart",
    "gap_chart",
    "hull_chart",
    "image_grid_chart",
    "importance_chart",
    "imputation_chart",
    "intervals_chart",
    "javascript",
    "k_distance_chart",
    "latent_map_chart",
    "leaderboard_chart",
    "learning_curve_chart",
    "lift_chart",
    "lift_curve_chart",
    "lines_chart",
    "margin_chart",
    "mistakes_chart",
    "mixture_chart",
    "mixture_steps_chart",
    "model_check_chart",
    "observed_chart",
    "partial_effects_chart",
    "partition_chart",
    "parts_chart",
    "path_chart",
    "posterior_chart",
    "posterior_surface_chart",
    "precision_recall_chart",
    "precision_recall_curve_chart",
    "predictive_chart",
    "problem_chart",
    "profile_chart",
    "proportions_chart",
    "proportions_over_time_chart",
    "rate_chart",
    "ratings_chart",
    "region_chart",
    "regret_chart",
    "residual_chart",
    "ridge_functions_chart",
    "roc_chart",
    "roc_curves_chart",
    "running_loss_chart",
    "scatter_matrix_chart",
    "scree_chart",
    "set_chart",
    "shrinkage_chart",
    "silhouette_chart",
    "smooth_chart",
    "smooths_chart",
    "stem_map_chart",
    "step_chart",
    "target_chart",
    "terms_chart",
    "threshold_chart",
    "threshold_cost_chart",
    "to_json",
    "training_chart",
    "tree_chart",
    "typical_stems_chart",
    "worst_rows_chart",
]
