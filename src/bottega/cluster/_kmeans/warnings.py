"""What a user should know about a clustering before trusting it."""

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from bottega.cluster._kmeans.lloyd import Clustering
from bottega.core.errors import DataWarning, warn_caller

__all__ = ["warn_about"]


def warn_about(model: Any, found: Clustering) -> None:
    """Warn of empty clusters, and of passes that ended before the centres stood still."""
    name, K = type(model).__name__, len(found.centers)
    if found.empty:
        warn_caller(
            f"{name}: {found.empty} of {K} clusters are empty, because there are not more distinct "
            f"rows: give n_clusters= at most {K - found.empty}.",
            DataWarning,
        )
    elif found.reseeded:
        warn_caller(
            f"{name}: {found.reseeded} time(s) a cluster lost all its rows, and started again at "
            "the row farthest from its centre. Try more starts (n_init=) or fewer clusters.",
            DataWarning,
        )
    if not found.converged:
        warn_caller(
            f"{name}: the centres still moved after {found.n_iter} passes; give a larger max_iter= "
            "(or tol=).",
            ConvergenceWarning,
        )
