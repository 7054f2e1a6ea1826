"""River's logistic regression, row by row: weights after some rows, and every forecast before it.

Run with an environment that has river (the benchmarks' one):
``.venv-bench/bin/python tests/reference/online/river_logistic.py``
"""

import json
import sys
from pathlib import Path

import numpy as np
import river
from river import linear_model, optim

SEED, N, P, RATE = 6, 120, 4, 0.1


def rows():
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(N, P)).round(3)
    y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=N) > 0.3
    return X, y


def learn(X, y):
    model = linear_model.LogisticRegression(
        optimizer=optim.SGD(RATE), intercept_lr=RATE, loss=optim.losses.Log()
    )
    forecasts, weights = [], {}
    for t, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True), start=1):
        named = dict(enumerate(row))
        forecasts.append(model.predict_proba_one(named)[True])
        model.learn_one(named, label)
        if t in (1, 2, 10, N):
            weights[t] = [*(model.weights[j] for j in range(P)), model.intercept]
    return {"forecasts": forecasts, "weights": weights}


def main():
    X, y = rows()
    answer = {
        "script": "tests/reference/online/river_logistic.py",
        "call": f"river.linear_model.LogisticRegression(optimizer=SGD({RATE}), "
        f"intercept_lr={RATE}), learn_one row by row",
        "versions": {"river": river.__version__, "python": sys.version.split()[0]},
        "seed": SEED,
        "rate": RATE,
        "X": X.tolist(),
        "y": y.tolist(),
        **learn(X, y),
    }
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
