"""The contract of scikit-learn's transformers, declared parameters, names and frames."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpydoc.docscrape import NumpyDocString
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import bottega
from bottega.basis import GaussianBasis, Polynomial, SigmoidBasis
from bottega.core.errors import InputError, ParameterError
from bottega.core.params import schema
from bottega.linear import Ridge
from bottega.registry import estimators

ALL = [Polynomial, GaussianBasis, SigmoidBasis]


@parametrize_with_checks(
    [
        Polynomial(),
        Polynomial(orthogonal=False),
        Polynomial(2, orthogonal=False, interactions=True),
        GaussianBasis(),
        SigmoidBasis(include_bias=True),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("each", ALL)
def test_declaration_signature_and_documentation_agree(each):
    signature = list(inspect.signature(each).parameters)
    doc = NumpyDocString(inspect.cleandoc(each.__doc__))
    assert [entry.name for entry in doc["Parameters"]] == signature == list(each.params)
    assert all(parameter.help for parameter in each.params.values())
    assert list(schema(each)["properties"]) == signature


def test_bases_are_no_methods_of_the_catalogue():
    assert not set(ALL) & set(estimators())
    assert bottega.basis.Polynomial is Polynomial


@pytest.mark.parametrize("library", [pd, pl])
def test_names_and_output_frames(library):
    frame = library.DataFrame({"age": [1.0, 2.0, 4.0, 8.0], "size": [0.0, 1.0, 0.0, 2.0]})
    name = library.__name__
    made = Polynomial(2, orthogonal=False).set_output(transform=name).fit_transform(frame)
    assert isinstance(made, library.DataFrame)
    assert list(made.columns) == ["age", "age^2", "size", "size^2"]
    assert list(made["age^2"]) == [1.0, 4.0, 16.0, 64.0]
    steps = SigmoidBasis([0.0, 1.0], include_bias=True).set_output(transform=name)
    assert list(steps.fit_transform(frame).columns) == [
        "1",
        "sigmoid(age, 1)",
        "sigmoid(age, 2)",
        "sigmoid(size, 1)",
        "sigmoid(size, 2)",
    ]


def test_names_of_an_array():
    model = Polynomial(2, include_bias=True).fit(np.arange(6.0).reshape(3, 2))
    expected = ["1", "poly(x0, 1)", "poly(x0, 2)", "poly(x1, 1)", "poly(x1, 2)"]
    assert model.get_feature_names_out().tolist() == expected
    assert model.get_feature_names_out(["a", "b"])[1] == "poly(a, 1)"


def test_a_pipeline_with_a_linear_model_bends():
    x = np.linspace(0, 1, 40)[:, None]
    y = np.sin(2 * np.pi * x[:, 0])
    for basis in (Polynomial(7), GaussianBasis(n_basis=9), SigmoidBasis(n_basis=9)):
        model = make_pipeline(basis, Ridge(1e-8)).fit(x, y)
        assert model.score(x, y) > 0.999
        assert clone(model).get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        (Polynomial(0), r"Polynomial: degree=0 is not allowed; degree must be .* \[1, inf\)"),
        (Polynomial(2.5), "degree=2.5 is not allowed"),
        (Polynomial(orthogonal=1), "orthogonal=1 is not allowed"),
        (GaussianBasis(n_basis=0), "n_basis=0 is not allowed"),
        (GaussianBasis(width=0), "width=0 is not allowed"),
        (SigmoidBasis(width="wide"), "width='wide' is not allowed"),
    ],
)
def test_bad_parameters_are_named(basis, message):
    with pytest.raises(ParameterError, match=message):
        basis.fit(np.ones((3, 1)))


@pytest.mark.parametrize("centers", ["quantiles", [], [1.0, np.nan], [[1.0, 2.0]], "a", [None]])
def test_bad_centers_are_named(centers):
    with pytest.raises(InputError, match="centers must be 'auto'"):
        GaussianBasis(centers).fit(np.arange(6.0).reshape(3, 2))
