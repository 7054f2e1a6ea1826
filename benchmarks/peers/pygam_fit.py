"""An additive model by pyGAM, timed inside its process.

Arguments: folder with X.bin, y.bin, new.bin (rows of the test) and size.txt; the family; "fit"
(one penalty, as it comes) or "gridsearch"; number of functions of a term; repeats. Writes pred.bin
(means of the test rows), peak.txt (MiB of the whole process) and seconds.txt there.
"""

import re
import sys
import time
from pathlib import Path

import numpy as np
from pygam import LinearGAM, LogisticGAM

folder, family, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
size, repeats = int(sys.argv[4]), int(sys.argv[5])
n, p = (int(word) for word in (folder / "size.txt").read_text().split()[:2])
X = np.fromfile(folder / "X.bin").reshape((n, p), order="F")
y = np.fromfile(folder / "y.bin")
new = np.fromfile(folder / "new.bin").reshape((-1, p), order="F")
seconds = []
for _ in range(repeats):
    start = time.perf_counter()
    model = (LinearGAM if family == "gaussian" else LogisticGAM)(n_splines=size)
    model = model.fit(X, y) if how == "fit" else model.gridsearch(X, y, progress=False)
    seconds.append(time.perf_counter() - start)
peak = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024
means = model.predict(new) if family == "gaussian" else model.predict_proba(new)
np.asarray(means, dtype=np.float64).tofile(folder / "pred.bin")
(folder / "peak.txt").write_text(str(peak))
(folder / "seconds.txt").write_text("\n".join(map(str, seconds)))
