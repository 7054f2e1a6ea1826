"""Charts of mixtures: what is drawn is what was fitted."""

import numpy as np
import pytest

from bottega.cluster import GaussianMixture
from bottega.core.errors import InputError
from bottega.plot import family_chart, mixture_chart


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return np.r_[rng.normal(0, 1, (60, 3)), rng.normal(5, 1, (40, 3))]


@pytest.fixture(scope="module")
def model(data):
    return GaussianMixture(2, random_state=0).fit(data)


def test_ellipses_hold_half_and_most_of_a_component(data, model, rows_of):
    rows = rows_of(model.plot(data, columns=(0, 2)))
    mean = model.means_[1][[0, 2]]
    inverse = np.linalg.inv(model.covariances_[1][np.ix_([0, 2], [0, 2])])
    for ring, share in (("half", 0.5), ("most", 0.95)):
        edge = np.array([[r["ex"], r["ey"]] for r in rows
                         if r.get("ring") == ring and r["label"] == "1"])  # fmt: skip
        square = np.einsum("ni,ij,nj->n", edge - mean, inverse, edge - mean)
        assert 1 - np.exp(-square / 2) == pytest.approx(np.full(len(edge), share), abs=1e-4)
    points = [r for r in rows if "px" in r]
    assert len(points) == len(data)
    assert [r["label"] for r in points] == [str(j) for j in model.predict(data)]


def test_uncertainty_and_density(data, model, rows_of):
    doubt = [r["doubt"] for r in rows_of(model.plot(data, kind="uncertainty")) if "px" in r]
    assert doubt == pytest.approx(model.uncertainty(data), abs=1e-6)
    lines = [r for r in rows_of(model.plot(data, kind="density")) if "ax" in r]
    assert len(lines) > 100


def test_steps_start_and_end_where_the_fit_did(data, rows_of):
    slow = GaussianMixture(2, init_params="random", random_state=0, max_iter=500).fit(data)
    chart = slow.plot_steps(data, panels=4)
    titles = list(dict.fromkeys(r["panel"] for r in rows_of(chart)))
    assert titles[0].startswith("start")
    assert titles[-1].startswith(f"iteration {slow.n_iter_}:")
    ends = [r for r in rows_of(chart) if r["panel"] == titles[-1] and "mx" in r]
    assert [[r["mx"], r["my"]] for r in ends] == pytest.approx(slow.means_[:, :2], rel=1e-5)


def test_criterion_by_family(data, rows_of):
    curve = GaussianMixture("auto", covariance_type=["EII", "VVV"], random_state=0).path(
        data, values=[1, 2, 3]
    )
    rows = rows_of(family_chart(curve))
    best = [r for r in rows if r.get("best")]
    assert best[0]["value"] == pytest.approx(np.nanmin(curve.criteria["bic"]))
    assert len(rows) == 7
    assert curve.plot() is not None
    with pytest.raises(InputError, match="no 'gcv'"):
        family_chart(curve, criterion="gcv")


def test_the_trace_is_drawn(model):
    spec = model.trace_.plot().to_dict()
    assert "converged" in spec["title"]["subtitle"][0]
    drawn = spec["vconcat"][1]["layer"][0]
    shown = [row["y"] for row in drawn.get("data", spec["vconcat"][1].get("data"))["values"]]
    assert shown == pytest.approx(model.trace_.entropy[: len(shown)].tolist(), rel=1e-6)


def test_bad_input(data, model):
    with pytest.raises(InputError, match="no column 'height'"):
        model.plot(data, columns=("height", 0))
    with pytest.raises(InputError, match="two different columns"):
        model.plot(data, columns=(1, 1))
    with pytest.raises(InputError, match="kind='pie'"):
        model.plot(data, kind="pie")
    with pytest.raises(InputError, match="two columns"):
        mixture_chart(data, model.weights_, model.means_, model.covariances_)
