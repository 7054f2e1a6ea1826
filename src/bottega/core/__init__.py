"""The contract that every method of bottega keeps.

`params` declares parameters, `path` the complexity path, `smoother` the algebra of linear
smoothers, `certificate` a claim of risk, `cards` the card of a method, `estimator` the one fit,
`chunks` mergeable statistics, `tables` results to read, `progress` long work, `errors` what can go
wrong, and `baseline` what every comparison starts from.

The names are loaded on first use: kernels need a few small modules of this folder, and processes
that compile them should not wait for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bottega.core.baseline import BaselineClassifier, BaselineRegressor
    from bottega.core.cards import Card
    from bottega.core.certificate import Certificate
    from bottega.core.moments import Moments
    from bottega.core.path import Path
    from bottega.core.smoother import FTest, Smoother, f_test
    from bottega.core.tables import Section, Summary

__all__ = [
    "BaselineClassifier",
    "BaselineRegressor",
    "Card",
    "Certificate",
    "FTest",
    "Moments",
    "Path",
    "Section",
    "Smoother",
    "Summary",
    "f_test",
]

_HOME_OF = {
    "BaselineClassifier": "baseline",
    "BaselineRegressor": "baseline",
    "Card": "cards",
    "Certificate": "certificate",
    "FTest": "smoother",
    "Moments": "moments",
    "Path": "path",
    "Section": "tables",
    "Smoother": "smoother",
    "Summary": "tables",
    "f_test": "smoother",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
