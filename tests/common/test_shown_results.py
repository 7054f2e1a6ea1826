"""Results of the newer topics show themselves in one screen, as text and as HTML, however large."""

import re

import altair
import numpy as np
import pytest
from scipy import stats

import bottega
from bottega.cluster import gap_statistic, silhouette, what_sets_apart
from bottega.latent import low_rank, svd
from bottega.optimize import bisection, gradient_descent, linear_program
from bottega.plot import _notebook as notebook
from bottega.probability import (
    BetaBernoulli,
    DirichletCategorical,
    MultivariateNormal,
    grid_posterior,
    huffman,
    maximum_likelihood,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 40))
GROUPS = np.arange(60) % 30
RESULTS = {
    "Minimum": lambda: gradient_descent(lambda x: float(x @ x), np.ones(30), max_iter=5, tol=1.0),
    "Bracket": lambda: bisection(lambda x: (x - 1) ** 2, 0.0, 3.0),
    "Solution": lambda: linear_program(np.ones(30), A_ub=-np.eye(30), b_ub=-np.ones(30)),
    "BetaBernoulli": BetaBernoulli,
    "DirichletCategorical": lambda: DirichletCategorical(np.ones(40)),
    "MultivariateNormal": lambda: MultivariateNormal(np.zeros(40), np.eye(40)),
    "MaximumLikelihood": lambda: maximum_likelihood("gamma", RNG.gamma(2, size=50)),
    "GridPosterior": lambda: grid_posterior(lambda p: 3 * np.log(p), stats.beta(1, 1)),
    "PrefixCode": lambda: huffman(dict(enumerate(RNG.dirichlet(np.ones(60))))),
    "SingularDecomposition": lambda: svd(X),
    "LowRank": lambda: low_rank(X, 2),
    "GapStatistic": lambda: gap_statistic(X[:, :3], n_clusters=20, n_references=2),
    "Silhouettes": lambda: silhouette(X, GROUPS),
    "ClusterProfiles": lambda: what_sets_apart(X, GROUPS),
    "Description": lambda: bottega.describe(X[:, :6]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_bare_result_is_one_screen(name):
    found = RESULTS[name]()
    assert type(found).__name__ == name
    lines = repr(found).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    html = found._repr_html_()
    assert html.startswith("<div")
    assert html.count("<div") == html.count("</div>")
    assert not re.search(r"<script|src=|https?:", html)


@pytest.mark.parametrize(
    "name", ["Minimum", "BetaBernoulli", "GridPosterior", "GapStatistic", "Silhouettes"]
)
def test_its_chart_is_drawn_without_a_network(name, monkeypatch):
    drawn = RESULTS[name]().plot()
    monkeypatch.setattr(notebook, "_sent", {notebook.NAME})  # the library was sent before
    with altair.renderers.enable(notebook.NAME):
        html = drawn._repr_mimebundle_()["text/html"]
    assert "data:image/png;base64," in html
    assert not re.search(r"src=\"?https?:|<link|@import", html)
