"""Charts of latent variables: their data against numbers computed by hand."""

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.latent import FactorAnalysis, ProbabilisticPCA
from bottega.plot import imputation_chart, latent_map_chart


def test_map_has_every_row_and_its_uncertainty(rows_of):
    Z = np.array([[0.0, 1.0, 9.0], [2.0, 0.5, 9.0]])
    rows = rows_of(latent_map_chart(Z, std=np.full((2, 3), 0.25), names=["a", "b"]))
    assert [(row["x"], row["y"]) for row in rows] == [(0.0, 1.0), (2.0, 0.5)]
    assert [(row["left"], row["right"]) for row in rows] == [(-0.25, 0.25), (1.75, 2.25)]
    assert [(row["low"], row["high"]) for row in rows] == [(0.75, 1.25), (0.25, 0.75)]
    assert [row["name"] for row in rows] == ["a", "b"]


def test_imputed_values_are_sorted_with_limits(rows_of):
    rows = rows_of(imputation_chart([3.0, 1.0], [0.5, 0.1], [2.0, 0.0], name="age"))
    imputed = [row for row in rows if row["kind"].startswith("imputed")]
    assert [row["y"] for row in imputed] == [1.0, 3.0]
    assert [row["x"] for row in imputed] == [0.25, 0.75]
    assert imputed[1]["high"] - imputed[1]["low"] == pytest.approx(2 * 1.96 * 0.5, rel=1e-4)
    assert [row["y"] for row in rows if row["kind"] == "observed"] == [0.0, 2.0]


@pytest.mark.filterwarnings("ignore:FactorAnalysis. the uniqueness")
def test_models_draw_themselves(rows_of):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(40, 5))
    X[:10, 2] = np.nan
    model = ProbabilisticPCA(2).fit(X)
    mean, covariance = model.posterior(X)
    rows = rows_of(model.plot(X))
    assert rows[3]["x"] == pytest.approx(mean[3, 0], rel=1e-5)
    assert rows[3]["high"] - rows[3]["y"] == pytest.approx(np.sqrt(covariance[3, 1, 1]), rel=1e-4)
    drawn = rows_of(model.plot_imputed(X))
    assert len([row for row in drawn if "low" in row]) == 10
    with pytest.raises(InputError, match="'x0' has no missing value"):
        model.plot_imputed(X, column=0)
    full = X[10:]
    factors = FactorAnalysis(2).fit(full)
    assert rows_of(factors.plot(full))[0]["x"] == pytest.approx(
        factors.transform(full)[0, 0], rel=1e-5
    )


def test_wrong_shapes_are_refused():
    with pytest.raises(InputError, match="std has shape"):
        latent_map_chart([[0.0, 1.0]], std=[[1.0]])
    with pytest.raises(InputError, match="labels has shape"):
        latent_map_chart([[0.0, 1.0]], labels=["a", "b"])
    with pytest.raises(InputError, match="one of each per value"):
        imputation_chart([1.0], [1.0, 2.0], [])
