import pandas as pd
import polars as pl
import pyarrow as pa
import pytest


def _arrow(columns):
    return pa.table({name: pa.array(list(values)) for name, values in columns.items()})


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def make(request):
    """Build a frame from named columns in each of the three libraries."""
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": _arrow}[request.param]
