from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bottega.core.path import Path, along


def _collect_layers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return spec.get("layer", [spec])


@pytest.fixture
def rows_of() -> Callable[[Any], list[dict[str, Any]]]:
    """The data of a chart, after proving that they stand in its specification only once."""

    def read(chart: Any) -> list[dict[str, Any]]:
        spec = chart.to_dict()
        rows = spec["data"]["values"]
        assert "datasets" not in spec
        assert all("data" not in layer for layer in spec.get("layer", []))
        return rows

    return read


@pytest.fixture
def layers_of() -> Callable[[Any], list[dict[str, Any]]]:
    return lambda chart: _collect_layers(chart.to_dict())


@pytest.fixture
def curve() -> Path:
    """Least error at k = 5; the limit 3.9 + 0.3 also admits k = 9, the simplest."""
    return Path(
        along("k", [9, 5, 1]),
        df=[1.0, 2.0, 10.0],
        train_error=[4.0, 2.0, 0.0],
        error=[4.1, 3.9, 6.0],
        error_se=[0.2, 0.3, 0.5],
        estimate="loo",
        loss="squared error",
        coef=np.array([[0.1, -0.2], [0.5, -0.4], [1.0, -3.0]]),
    )
