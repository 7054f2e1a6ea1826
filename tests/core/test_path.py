"""The rules that pick from a path, above all the side on which the one-SE rule looks."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bottega.core.errors import BottegaError, ParameterError
from bottega.core.path import Path, along


def make_path(error, se, values=None, **more):
    m = len(error)
    values = np.arange(m) if values is None else values
    return Path(
        along("k", values),
        df=np.arange(1.0, m + 1),
        train_error=np.zeros(m),
        error=error,
        error_se=se,
        estimate="loo",
        loss="squared error",
        **more,
    )


def test_one_se_takes_the_simplest_not_the_most_complex_within_reach():
    # Positions 1 and 4 are both within one standard error of the least at 3: 1 is simpler.
    curve = make_path([9.0, 5.2, 5.6, 5.0, 5.1], [0.3] * 5)
    assert curve.best("min") == 3
    assert curve.best("one_se") == 1


@pytest.mark.parametrize("decreasing", [True, False])
def test_one_se_in_both_orientations_of_the_knob(decreasing):
    """A knob that grows with complexity (leaves) and one that falls with it (k, lambda)."""
    knob = np.array([1, 2, 3, 4, 5])
    error_by_complexity = [9.0, 5.2, 5.0, 5.1, 7.0]
    values = knob[::-1] if decreasing else knob
    curve = make_path(error_by_complexity, [0.3] * 5, values)
    picked = curve.values[curve.best("one_se")]
    assert picked == (4 if decreasing else 2)


def test_one_se_uses_the_standard_error_at_the_minimum():
    curve = make_path([5.4, 5.0], [100.0, 0.3])
    assert curve.best("one_se") == 1
    curve = make_path([5.4, 5.0], [0.0, 0.4])
    assert curve.best("one_se") == 0


def test_ties_go_to_the_simplest():
    curve = make_path([3.0, 1.0, 1.0], [0.0] * 3)
    assert curve.best("min") == 1
    assert curve.best("one_se") == 1


@pytest.mark.parametrize("least", [5.0, -5.0, 1e-200])
def test_rounding_does_not_break_ties(least):
    """Rows in other chunks are summed up in another order, and must not choose another model."""
    below = np.nextafter(least, -np.inf)
    assert (
        make_path([least * (1 + 1e-6 * np.sign(least)), least, below], [0.0] * 3).best("min") == 1
    )
    assert make_path([np.inf, np.nan, below, least], [0.0] * 4).best("min") == 2


def test_criteria_are_rules_too():
    curve = make_path([1.0, 2.0], [0.1, 0.1], criteria={"bic": [5.0, 4.0]})
    assert curve.best("bic") == 1
    with pytest.raises(ParameterError, match="no rule 'aic'; use one of min, one_se, bic"):
        curve.best("aic")


def test_values_that_are_not_numbers_are_passed_over():
    curve = make_path([np.nan, np.inf, 2.0], [0.0] * 3)
    assert curve.best("min") == 2
    with pytest.raises(BottegaError, match="finite"):
        make_path([np.nan], [0.0]).best("min")


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.floats(0, 10)),
        min_size=1,
        max_size=30,
    )
)
def test_one_se_is_never_more_complex_than_min_and_within_reach(pairs):
    error, se = (np.array(column) for column in zip(*pairs, strict=True))
    curve = make_path(error, se)
    least, picked = curve.best("min"), curve.best("one_se")
    assert picked <= least
    assert error[picked] <= error[least] + se[least]
    assert np.all(error[:picked] > error[least] + se[least])


def test_order_and_shapes_are_checked():
    shared = {"error": [1, 1], "error_se": [0, 0], "estimate": "loo", "loss": "squared error"}
    two = along("k", [1, 2])
    with pytest.raises(ValueError, match="complexity must not decrease"):
        Path(two, df=[3.0, 1.0], train_error=[0, 0], **shared)
    with pytest.raises(ValueError, match="train_error has shape"):
        Path(two, df=[1.0, 2.0], train_error=[0.0], **shared)
    with pytest.raises(ValueError, match="at least one setting"):
        Path([], df=[], train_error=[], **shared)
    with pytest.raises(ValueError, match="needs a complexity"):
        Path(two, train_error=[0, 0], **shared)


def test_frame_has_one_row_per_setting_and_the_criteria():
    frame = make_path([1.0, 2.0], [0.1, 0.2], criteria={"gcv": [3.0, 4.0]}).to_frame()
    assert list(frame.columns) == ["k", "df", "train_error", "error", "error_se", "gcv"]
    assert frame["gcv"].tolist() == [3.0, 4.0]


def test_a_path_over_several_knobs_has_settings_and_no_single_knob():
    settings = [{"alpha": 2.0, "mix": 1.0}, {"alpha": 1.0, "mix": 0.5}, {"alpha": 1.0, "mix": 1.0}]
    curve = Path(
        settings,
        complexity=[1, 2, 3],
        train_error=[3, 2, 1],
        error=[3.0, 1.0, 2.0],
        error_se=[0.1] * 3,
        estimate="cv",
        loss="squared error",
        refit=lambda setting: setting,
    )
    assert curve.df is None
    assert curve.at(curve.best("min")) == {"alpha": 1.0, "mix": 0.5}
    assert list(curve.to_frame().columns)[:3] == ["alpha", "mix", "complexity"]
    with pytest.raises(BottegaError, match=r"several parameters \(alpha, mix\)"):
        _ = curve.knob
    fixed = Path(settings[1:], complexity=[1, 2], train_error=[1, 1], error=None, error_se=None,
                 estimate=None, loss="squared error")  # fmt: skip
    assert fixed.knob == "mix"
    assert fixed.values.tolist() == [0.5, 1.0]


def test_a_path_that_was_not_judged_has_no_error_to_pick_by():
    curve = Path(
        along("k", [1, 2]),
        complexity=[1, 2],
        train_error=[2, 1],
        error=None,
        error_se=None,
        estimate=None,
        loss="squared error",
        criteria={"bic": [1.0, 2.0]},
    )
    assert np.all(np.isnan(curve.error))
    assert curve.best("bic") == 0
    with pytest.raises(BottegaError, match="finite 'min'"):
        curve.best("min")


def test_one_se_needs_a_standard_error():
    curve = make_path([3.0, 1.0], [np.nan] * 2)
    assert curve.best("min") == 1
    with pytest.raises(ParameterError, match=r"\(loo\) has no standard error"):
        curve.best("one_se")


def test_a_path_shows_itself_in_one_screen():
    text = repr(make_path([3.0, 1.0, 1.05], [0.1] * 3, select="one_se"))
    assert text.splitlines() == [
        "Path along k: 3 models",
        "======================",
        "k  df  train_error  error  error_se",
        "0   1            0      3       0.1",
        "1   2            0      1       0.1  least error, picked by one_se",
        "2   3            0   1.05       0.1",
        "Note: error: mean squared error on new rows, estimated by leave-one-out",
    ]
    long = make_path(np.linspace(9, 1, 500), [0.1] * 500, select="one_se")
    lines = repr(long).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    assert any(line.endswith("picked by one_se") for line in lines)
    assert "of 500 models" in lines[-1]
    assert long._repr_html_().count("<tr>") <= 17


def test_a_path_that_was_not_judged_shows_its_training_errors():
    curve = Path(along("k", [1, 2]), df=[1, 2], train_error=[2, 1], loss="squared error")
    assert "error_se" not in repr(curve)
    assert "train_error" in repr(curve)


def test_at_needs_the_data_and_pickling_drops_them():
    curve = make_path([1.0, 2.0], [0.1, 0.2], refit=lambda setting: ("fitted", setting))
    assert curve.at(1) == ("fitted", {"k": 1})
    kept = pickle.loads(pickle.dumps(curve.without_data()))
    assert np.array_equal(kept.error, curve.error)
    with pytest.raises(BottegaError, match="without its data"):
        kept.at(0)
