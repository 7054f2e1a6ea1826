"""``make bench``: run the cases and write ``benchmarks/RESULTS.md``.

``python -m benchmarks ridge linear`` runs some of them and renews their part of the results.
"""

import json
import platform
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

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
    ridge,
    smooth,
    support_vectors,
    tree,
)
from bottega.core.parallel import available_cores

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
    "bayesian_network": bayesian_network,
    "comparison": comparison,
}
FOLDER = Path(__file__).parent
HEAD = """# Results

Printed by `make bench`, part by part; each part says when and how it was run. Ours and the peer
take turns in one process (R and packages with other requirements are timed inside their own); the
numbers are medians, and the ratio is what counts: the seconds depend on the machine. `first call`
is the time of the first call in a new process, with compiled kernels in the disk cache. A bar that
is not met says **no**.
"""
COLUMNS = (
    "| case | peer | ours | first call, s | peer's | ratio | bar | met | accuracy |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    chosen = sys.argv[1:] or list(CASES)
    kept = FOLDER / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    met = True
    for name in chosen:
        rows = []
        for result in CASES[name].run():
            rows.append(result.row())
            met = met and result.met
            print(result.row(), flush=True)
            # Written row by row: a long run that is stopped keeps what it has measured.
            results[name] = {"where": where(), "rows": rows}
            kept.write_text(json.dumps(results, indent=1) + "\n")
            (FOLDER / "RESULTS.md").write_text(page(results))
    if not met:
        print("some bars are not met", file=sys.stderr)


def where() -> str:
    """Say when, on what and with which versions."""
    libraries = ("bottega", "scikit-learn", "numpy", "scipy", "numba")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return (
        f"{date.today()}, {available_cores()} cores, Python {platform.python_version()}, {versions}"
    )


def page(results: dict) -> str:
    """Return the results as a page, in the order of the cases."""
    parts = [HEAD]
    for name in CASES:
        if name in results:
            rows = "\n".join(results[name]["rows"])
            parts.append(f"## {name}\n\n{results[name]['where']}\n\n{COLUMNS}\n{rows}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
