"""Lasso path by adelie, timed inside its process, in an environment of its own (numpy below 2).

Arguments: folder with X.bin, y.bin, alphas.bin and size.txt; tolerance; number of repeats. Writes
coef.bin and seconds.txt there.
"""

import sys
import time
from pathlib import Path

import adelie as ad
import numpy as np

folder, tolerance, repeats = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
n, p, m = (int(word) for word in (folder / "size.txt").read_text().split())
X = np.fromfile(folder / "X.bin").reshape((n, p), order="F")
y = np.fromfile(folder / "y.bin")
alphas = np.fromfile(folder / "alphas.bin")
seconds = []
for _ in range(repeats):
    start = time.perf_counter()
    state = ad.grpnet(
        X=ad.matrix.dense(X, method="naive", n_threads=2),
        glm=ad.glm.gaussian(y=y),
        lmda_path=alphas,
        intercept=False,
        tol=tolerance,
        early_exit=False,
        progress_bar=False,
        n_threads=2,
    )
    seconds.append(time.perf_counter() - start)
coef = np.zeros((m, p))
coef[: state.betas.shape[0]] = state.betas.toarray()
coef.tofile(folder / "coef.bin")
(folder / "seconds.txt").write_text("\n".join(map(str, seconds)))
