"""Digits: accuracy of the convolutional network over five seeds, and its time.

``run(seeds=1)`` goes through it with one seed, to see that it works.
"""

from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import Result, in_turns
from bottega.neural import ConvolutionalClassifier

LEAST = 0.985


def run(seeds: int = 5) -> Iterator[Result]:
    digits = load_digits()
    right, theirs = [], []
    for seed in range(seeds):
        X, X_test, y, y_test = train_test_split(
            digits.images, digits.target, test_size=0.25, random_state=seed, stratify=digits.target
        )
        model = ConvolutionalClassifier(random_state=seed).fit(X, y)
        right.append(float(model.score(X_test, y_test)))
        peer = make_pipeline(StandardScaler(), MLPClassifier((100,), random_state=seed))
        peer.fit(X.reshape(len(X), -1), y)
        theirs.append(float(peer.score(X_test.reshape(len(X_test), -1), y_test)))
    told = (
        f"mean accuracy {np.mean(right):.4f} ({min(right):.4f} to {max(right):.4f}), peer "
        f"{np.mean(theirs):.4f}"
    )
    yield Result(
        f"Digits, errors of the convolutional network, {seeds} seeds",
        f"limit {1 - LEAST:.1%}",
        1 - float(np.mean(right)),
        1 - LEAST,
        bar=1,
        accuracy=told,
        unit="",
        limit=True,
    )
    medians = in_turns({"ours": lambda: ConvolutionalClassifier().fit(X, y)}, min(seeds, 3))
    yield Result(
        "Digits, a fit of the convolutional network",
        "limit 10 s",
        medians["ours"],
        10.0,
        bar=1,
        accuracy=told,
        limit=True,
    )
