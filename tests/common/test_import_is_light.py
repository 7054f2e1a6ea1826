"""``import bottega`` brings in none of the heavy libraries."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "dask", "duckdb", "altair", "fastapi", "pandas", "sklearn", "numba", "scipy")


def modules_after(statement):
    code = f"{statement}; import sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


def test_import_bottega():
    assert modules_after("import bottega").isdisjoint(HEAVY)


def test_help_of_the_command_line():
    assert modules_after("import bottega.cli.app").isdisjoint({*HEAVY, "numpy", "narwhals"})


@pytest.mark.slow
def test_methods_do_not_drag_in_charts_data_or_deep_learning():
    found = modules_after("import bottega.registry; bottega.registry.estimators()")
    # pandas is not on the list: scikit-learn itself imports it where it is installed.
    assert found.isdisjoint({"torch", "dask", "duckdb", "altair", "fastapi", "typer"})


@pytest.mark.parametrize("name", ["compare", "read", "catalogue", "linear", "neighbors", "Table"])
def test_public_names_load_on_first_use(name):
    import bottega

    assert getattr(bottega, name) is not None
    assert name in dir(bottega)


def test_unknown_names_are_attribute_errors():
    import bottega

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bottega.nothing
