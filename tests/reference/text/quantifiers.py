"""Reference numbers for proportions of classes: QuaPy's estimators on given predictions.

Run with ``python tests/reference/text/quantifiers.py`` where quapy is installed; writes
quantifiers.json beside this script. Every quantifier gets the same labels and probabilities, out
of fold of the tagged texts and of the unread texts, so that only the aggregation is compared.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import quapy
from quapy.method.aggregative import ACC, CC, EMQ, PACC
from sklearn.linear_model import LogisticRegression

warnings.filterwarnings("ignore")  # about validation data that are not used


def probabilities(rng, codes, K):
    """Return probabilities that point to the class, more or less, and are not calibrated."""
    noise = rng.normal(size=(len(codes), K))
    noise[np.arange(len(codes)), codes] += 1.4
    P = np.exp(noise)
    return (P / P.sum(axis=1, keepdims=True)).round(6)


def made(kind, P, codes, K):
    unused = LogisticRegression().fit(np.arange(K)[:, None], np.arange(K))  # must be a fitted one
    found = kind(unused, fit_classifier=False)
    if kind is not CC:
        found.aggregation_fit(P.argmax(axis=1) if kind is ACC else P, codes)
    return found


cases = []
for seed, K, prior, other in (
    (0, 2, [0.5, 0.5], [0.15, 0.85]),
    (1, 3, [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]),
    (2, 4, [0.25, 0.25, 0.25, 0.25], [0.0, 0.1, 0.2, 0.7]),
):
    rng = np.random.default_rng(seed)
    codes = rng.choice(K, 120, p=prior)
    tagged = probabilities(rng, codes, K)
    unread = probabilities(rng, rng.choice(K, 150, p=other), K)
    labels = unread.argmax(axis=1)
    shares = np.bincount(codes, minlength=K) / len(codes)
    cases.append(
        {
            "codes": codes.tolist(),
            "tagged": tagged.tolist(),
            "unread": unread.tolist(),
            "count": made(CC, tagged, codes, K).aggregate(labels).tolist(),
            "adjusted_count": made(ACC, tagged, codes, K).aggregate(labels).tolist(),
            "probabilistic_adjusted_count": made(PACC, tagged, codes, K).aggregate(unread).tolist(),
            "em": EMQ.EM(shares, unread, epsilon=1e-9)[0].tolist(),
        }
    )
out = {
    "call": "CC, ACC, PACC, EMQ.EM(epsilon=1e-9) of quapy.method.aggregative",
    "versions": {"quapy": quapy.__version__, "numpy": np.__version__, "python": sys.version[:6]},
    "cases": cases,
}
Path(__file__).with_suffix(".json").write_text(json.dumps(out) + "\n")
