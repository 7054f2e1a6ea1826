"""Reference numbers for the agreement of annotators: the package krippendorff.

Run with ``python tests/reference/text/krippendorff_alpha.py`` where krippendorff is installed;
writes krippendorff_alpha.json beside this script. The first case is the example of Krippendorff
(2011), the others are drawn, with gaps.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import krippendorff
import numpy as np

NAN = float("nan")
MEASUREMENTS = ("nominal", "ordinal", "interval", "ratio")
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]

tables = [np.array(PUBLISHED)]
for seed, (annotators, units) in enumerate([(2, 30), (3, 12), (6, 40)]):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 6, units)
    given = np.clip(truth + rng.integers(-1, 2, (annotators, units)), 0, 7).astype(float)
    given[rng.random(given.shape) < 0.2] = NAN
    tables.append(given)

out = {
    "call": "krippendorff.alpha(reliability_data=..., level_of_measurement=...)",
    "versions": {"krippendorff": version("krippendorff"), "python": sys.version[:6]},
    "cases": [
        {
            "ratings": [[None if v != v else int(v) for v in row] for row in table.T.tolist()],
            **{
                name: float(krippendorff.alpha(reliability_data=table, level_of_measurement=name))
                for name in MEASUREMENTS
            },
        }
        for table in tables
    ],
}
Path(__file__).with_suffix(".json").write_text(json.dumps(out) + "\n")
