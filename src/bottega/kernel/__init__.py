"""Kernel methods: inner products of features that need not be computed."""

from bottega.kernel.approximate import (
    FourierMap,
    NystroemMap,
    kernel_error,
    nystroem,
    random_fourier,
)
from bottega.kernel.expansion import KernelExpansion
from bottega.kernel.kernel_perceptron import KernelPerceptron
from bottega.kernel.kernel_ridge import KernelRidge
from bottega.kernel.kernels import (
    ComposedKernel,
    ConstantKernel,
    FunctionKernel,
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    NormalizedKernel,
    PolynomialKernel,
    PrecomputedKernel,
    ProductKernel,
    PsdCheck,
    QuadraticFormKernel,
    RowKernel,
    ScaledKernel,
    SigmoidKernel,
    SumKernel,
    get_kernel,
    resolve_gamma,
)
from bottega.kernel.linear_svm import LinearSVM
from bottega.kernel.one_class import OneClass
from bottega.kernel.strings import SpectrumKernel
from bottega.kernel.support_vectors import SupportVectorClassifier, SupportVectorRegressor

__all__ = [  # made by docs/generate.py
    "ComposedKernel",
    "ConstantKernel",
    "FourierMap",
    "FunctionKernel",
    "GaussianKernel",
    "Kernel",
    "KernelExpansion",
    "KernelPerceptron",
    "KernelRidge",
    "LaplacianKernel",
    "LinearKernel",
    "LinearSVM",
    "NormalizedKernel",
    "NystroemMap",
    "OneClass",
    "PolynomialKernel",
    "PrecomputedKernel",
    "ProductKernel",
    "PsdCheck",
    "QuadraticFormKernel",
    "RowKernel",
    "ScaledKernel",
    "SigmoidKernel",
    "SpectrumKernel",
    "SumKernel",
    "SupportVectorClassifier",
    "SupportVectorRegressor",
    "get_kernel",
    "kernel_error",
    "nystroem",
    "random_fourier",
    "resolve_gamma",
]
