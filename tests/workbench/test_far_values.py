"""One wild number among the inputs: methods that extrapolate fail, and the others stay legible."""

import numpy as np
import pandas as pd

import bottega
from bottega.workbench.leaderboard import versus_baseline


def test_a_method_that_fails_does_not_hide_the_errors_of_the_others():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    y = np.sign(X["a"]) + 0.1 * rng.normal(size=120)
    X.loc[3, "b"] = 1e12
    found = bottega.compare(X, y, methods=["least_squares", "tree"], test_size=0)
    board = found.leaderboard.set_index("method")
    assert 0.005 < board.loc["tree", "error"] < 0.5
    assert board.loc["least_squares", "error"] > 1e6
    assert "times" in str(found.summary())


def test_many_times_the_baseline_is_said_as_such():
    def percent(share):
        return f"{100 * share:.0f}%"

    assert versus_baseline(0.25, percent) == "25% less"
    assert versus_baseline(-0.5, percent) == "50% more"
    assert versus_baseline(-999.0, percent) == "1e+03 times"
    assert versus_baseline(-11.0, percent) == "12 times"
