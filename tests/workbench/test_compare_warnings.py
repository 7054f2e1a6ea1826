"""What methods warn of during a comparison: notes that name the columns of the table, each once."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega.core.errors import DataWarning, warn_caller
from bottega.core.matrix_columns import MatrixColumns, beyond_encoding, made_of
from bottega.linear import LeastSquares, Ridge


@pytest.fixture
def heating():
    """Consumption of gas before and after insulation: a category and a number, as in MASS."""
    rng = np.random.default_rng(3)
    when = np.repeat(["Before", "After"], [26, 30])
    cold = rng.uniform(-1, 10, 56)
    slope = np.where(when == "Before", -0.39, -0.28)
    base = np.where(when == "Before", 6.9, 4.7)
    gas = base + slope * cold + rng.normal(0, 0.3, 56)
    return pd.DataFrame({"Insul": when, "Temp": cold, "Gas": gas})


def test_what_encoding_makes_collinear_is_not_told(heating):
    # The stack explains itself by models of the folds, which are fitted again: in silence.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = bottega.compare(
            heating, "Gas", methods=["least_squares", "subset", "ridge", "loess"], outer=3
        )
        assert "stacking" in found.results
        found.explain()
        assert found.interval(heating.head(3)).shape == (3, 2)
    assert not [note for note in found.notes if "Collinear" in note]


def test_collinear_columns_of_the_table_are_a_note_once(heating):
    frame = heating.assign(Fahrenheit=32 + 1.8 * heating["Temp"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = bottega.compare(frame, "Gas", methods=["least_squares"], outer=3)
    (note,) = [note for note in found.notes if "ollinear" in note]
    assert note.startswith("LeastSquares: Collinear inputs: 'Fahrenheit' can be written by")
    assert "x2" not in note
    assert note in str(found)


def test_warnings_name_the_columns_that_a_matrix_was_made_of():
    made = MatrixColumns(("Temp", "Insul=After", "Insul=Before"), ("Insul=Before",), "Ridge")
    with made_of(made), pytest.warns(DataWarning) as told:
        warn_caller("The columns 'x0', 'x2' and 'x9' are odd.", DataWarning)
    assert str(told[0].message) == "Ridge: The columns 'Temp', 'Insul=Before' and 'x9' are odd."
    with pytest.warns(DataWarning, match="'x0' is odd"):
        warn_caller("'x0' is odd", DataWarning)
    with made_of(MatrixColumns(silent=True)), warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_caller("not said", DataWarning)
        with pytest.raises(UserWarning, match=r"^said"):
            warn_caller("said", UserWarning)
    flags = np.array([True, False, True])
    assert beyond_encoding(flags) is flags
    with made_of(made):
        assert beyond_encoding(flags).tolist() == [True, False, False]
        assert beyond_encoding(flags[:2]) is not None


def test_the_command_says_warnings_in_notes_without_files(heating, tmp_path, monkeypatch, capsys):
    from bottega.cli.app import app

    fit = Ridge._fit

    def warning(self, *given):
        warnings.warn("something is odd", UserWarning, stacklevel=2)
        return fit(self, *given)

    monkeypatch.setattr(Ridge, "_fit", warning)
    heating.to_csv(tmp_path / "gas.csv", index=False)
    given = [tmp_path / "gas.csv", "--target", "Gas", "--methods", "ridge", "--outer", "3"]
    with pytest.raises(SystemExit) as stop:
        app(list(map(str, ["compare", *given])))
    assert not stop.value.code
    said = capsys.readouterr().err
    assert said.count("note: something is odd\n") == 1
    assert ".py" not in said


def test_a_fit_outside_of_a_comparison_names_columns_as_before(heating):
    X = np.column_stack([heating["Temp"], 2 * heating["Temp"]])
    with pytest.warns(DataWarning, match=r"^Collinear inputs: 'x1' can"):
        LeastSquares().fit(X, heating["Gas"])
