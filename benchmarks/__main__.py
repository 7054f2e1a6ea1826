"""``make bench``: run the cases and write ``benchmarks/RESULTS.md``.

``python -m benchmarks ridge linear`` runs some of them and renews their part of the results.
"""

import sys

from benchmarks import (
    adaptive_splines,
    additive_model,
    bayesian_network,
    classify_generative,
    classify_logistic,
    comparison,
    ensemble,
    gaussian_mixture,
    imports,
    kernel_ridge,
    kmeans,
    lasso,
    lasso_cv,
    linear,
    linear_svm,
    matrix_factorization,
    measures,
    neighbors,
    nested,
    neural,
    neural_images,
    nonnegative_factorization,
    online,
    pca,
    probabilistic_pca,
    projection_pursuit,
    projections,
    quantification,
    ridge,
    scale,
    smooth,
    support_vectors,
    text,
    tree,
)
from benchmarks.results import keep, where

CASES = {
    "imports": imports,
    "neighbors": neighbors,
    "ridge": ridge,
    "lasso": lasso,
    "lasso_cv": lasso_cv,
    "linear": linear,
    "smooth": smooth,
    "tree": tree,
    "ensemble": ensemble,
    "nested": nested,
    "neural": neural,
    "neural_images": neural_images,
    "online": online,
    "classify_generative": classify_generative,
    "classify_logistic": classify_logistic,
    "kernel_ridge": kernel_ridge,
    "support_vectors": support_vectors,
    "linear_svm": linear_svm,
    "additive_model": additive_model,
    "adaptive_splines": adaptive_splines,
    "measures": measures,
    "projection_pursuit": projection_pursuit,
    "pca": pca,
    "probabilistic_pca": probabilistic_pca,
    "kmeans": kmeans,
    "gaussian_mixture": gaussian_mixture,
    "matrix_factorization": matrix_factorization,
    "nonnegative_factorization": nonnegative_factorization,
    "projections": projections,
    "text": text,
    "quantification": quantification,
    "bayesian_network": bayesian_network,
    "comparison": comparison,
    "scale": scale,
}
LONG = ("scale",)  # makes files of 4 GB: only where it is named


def main() -> None:
    chosen = sys.argv[1:] or [name for name in CASES if name not in LONG]
    met = True
    for name in chosen:
        rows = []
        for result in CASES[name].run():
            rows.append(result.row())
            met = met and result.met
            print(result.row(), flush=True)
            # Written row by row: a long run that is stopped keeps what it has measured.
            keep(name, where(), rows, CASES)
    if not met:
        print("some bars are not met", file=sys.stderr)


if __name__ == "__main__":
    main()
