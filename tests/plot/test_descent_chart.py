"""Charts of minimisers: what is drawn is the trace."""

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.optimize import bisection, gradient_descent, newton, sgd
from bottega.plot import descent_chart, descents_chart


def bowl(x):
    return x[0] ** 2 + 4 * x[1] ** 2


def slope(x):
    return np.array([2 * x[0], 8 * x[1]])


@pytest.fixture(scope="module")
def run():
    return gradient_descent(bowl, [2.0, 1.0], gradient=slope, learning_rate=0.9)


def test_path_and_contours(run):
    spec = run.plot().to_dict()
    assert len(spec["hconcat"]) == 3
    rows = spec["hconcat"][0]["data"]["values"]
    path = np.array([[row["px"], row["py"]] for row in rows if "px" in row])
    assert path == pytest.approx(run.trace.points, rel=1e-6)
    ends = np.array([[row["ax"], row["ay"], row["bx"], row["by"]] for row in rows if "ax" in row])
    heights = np.array([float(row["height"].replace(",", "")) for row in rows if "ax" in row])
    # Linear between points of the grid, and levels written with four digits.
    assert [bowl(each[:2]) for each in ends] == pytest.approx(heights, abs=0.02)
    assert len(set(heights)) == 8


def test_values_over_steps_and_cost(run):
    for field, panel in zip(("steps", "cost"), run.plot().to_dict()["hconcat"][1:], strict=True):
        rows = (
            panel["layer"][0]["data"]["values"] if "data" not in panel else panel["data"]["values"]
        )
        seen = np.array([row["steps"] for row in rows])
        gap = run.trace.values - run.trace.values.min()
        assert [row["value"] for row in rows] == pytest.approx(gap[seen], rel=1e-6)
        assert panel["layer"][0]["encoding"]["y"]["scale"]["type"] == "log"
        assert panel["layer"][0]["encoding"]["x"]["field"] == field


def test_several_runs(run):
    spec = descents_chart(
        {"steepest": run, "Newton": newton(bowl, [2.0, 1.0], gradient=slope)}, least=0.0
    ).to_dict()
    rows = spec["hconcat"][0]["data"]["values"]
    assert {row["run"] for row in rows if "px" in row} == {"steepest", "Newton"}
    assert "Newton: converged" in " ".join(spec["title"]["subtitle"])
    with pytest.raises(InputError, match="nothing to draw"):
        descents_chart({})


def test_one_input_and_no_points(run):
    line = bisection(lambda x: (x - 2) ** 2, 0, 5)
    assert len(descent_chart(line).to_dict()["hconcat"]) == 2
    light = gradient_descent(bowl, [2.0, 1.0], gradient=slope, trace=False)
    assert len(light.plot().to_dict()["hconcat"]) == 2


def test_a_run_gone_astray_shows_its_beginning():
    with pytest.warns(match="too long"):
        lost = gradient_descent(
            bowl, [2.0, 1.0], gradient=slope, line_search="fixed", learning_rate=1.0
        )
    panel = lost.plot().to_dict()["hconcat"][0]
    low, high = panel["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert high - low < 1e5 < np.abs(lost.trace.points).max()


def test_variance_of_batches():
    y = np.arange(40.0)
    found = sgd(
        lambda x, rows: float(np.sum((y[rows] - x[0]) ** 2)), [0.0], 40, batch_size=4,
        learning_rate=1e-3, schedule="invscaling", random_state=0, tol=1e-2,
    )  # fmt: skip
    spec = found.plot().to_dict()
    assert len(spec["hconcat"]) == 2
    layer = spec["hconcat"][-1]["layer"][0]
    rows = layer["data"]["values"] if "data" in layer else spec["hconcat"][-1]["data"]["values"]
    assert [row["value"] for row in rows] == pytest.approx(found.variances, rel=1e-6)
