"""Declarations accept what they describe, refuse the rest in words, and list themselves."""

import json
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bottega.core.errors import ParameterError
from bottega.core.params import (
    AnyOf,
    Anything,
    Auto,
    Boolean,
    Choice,
    Function,
    Integer,
    OrNone,
    Real,
    Seed,
    Text,
    check_params,
    schema,
)

ACCEPTED = [
    (Real(), -3.5),
    (Real(0, 1), 0),
    (Real(0, 1), np.float32(1)),
    (Real(0, None, open_low=True), 1e-300),
    (Integer(1), np.int64(7)),
    (Boolean(), np.True_),
    (Choice("a", "b"), "b"),
    (Text(), ""),
    (Function(), len),
    (Seed(), None),
    (Seed(), 3),
    (Seed(), np.random.default_rng(0)),
    (Auto(Integer(1)), "auto"),
    (Auto(Integer(1)), 5),
    (OrNone(Real(0)), None),
    (AnyOf(Choice("x"), Function()), print),
    (Anything(), object()),
]
REFUSED = [
    (Real(), "1"),
    (Real(), True),
    (Real(), np.nan),
    (Real(), np.inf),
    (Real(0, 1), -1e-9),
    (Real(0, 1, open_low=True), 0),
    (Real(0, 1, open_high=True), 1),
    (Integer(1), 0),
    (Integer(1), 1.0),
    (Integer(1), True),
    (Integer(0, 5), 6),
    (Boolean(), 1),
    (Choice("a", "b"), "c"),
    (Choice("a"), None),
    (Text(), 3),
    (Function(), "len"),
    (Seed(), -1),
    (Auto(Integer(1)), "Auto"),
    (OrNone(Real(0)), "none"),
]


@pytest.mark.parametrize(("declared", "value"), ACCEPTED)
def test_accepts_its_own(declared, value):
    assert declared.accepts(value)
    declared.check("Model", "name", value)


@pytest.mark.parametrize(("declared", "value"), REFUSED)
def test_refuses_the_rest_naming_parameter_set_and_value(declared, value):
    assert not declared.accepts(value)
    with pytest.raises(ParameterError) as caught:
        declared.check("Model", "knob", value)
    message = str(caught.value)
    assert "Model: knob=" in message
    assert repr(value) in message
    assert declared.describe() in message


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-5, 5), st.floats(0, 10))
def test_interval_membership_is_what_the_bounds_say(value, low, width):
    high = low + width
    assert Real(low, high).accepts(value) == (low <= value <= high)
    assert Real(low, high, open_low=True, open_high=True).accepts(value) == (low < value < high)


def test_error_words():
    with pytest.raises(ParameterError, match=r"must be a number in \(0, inf\)"):
        Real(0, open_low=True).check("Ridge", "alpha", -1)
    with pytest.raises(ParameterError, match=r"one of 'auto', or a whole number in \[1, inf\)"):
        Auto(Integer(1)).check("Nearest", "k", 0)
    with pytest.raises(ParameterError, match=r"'lbfgs', 'sgd'\. Did you mean 'lbfgs'\?$"):
        Choice("lbfgs", "sgd").check("Network", "solver", "L-BFGS")
    with pytest.raises(ParameterError, match=r"Did you mean 'auto'\?$"):
        Auto(Integer(1)).check("Nearest", "k", "atuo")


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        (Real(), "1e-3", 1e-3),
        (Integer(), "12", 12),
        (Boolean(), "Yes", True),
        (Boolean(), "off", False),
        (Choice("a", "b"), "b", "b"),
        (Auto(Real()), "auto", "auto"),
        (Auto(Real()), "0.5", 0.5),
        (OrNone(Integer()), "none", None),
        (OrNone(Integer()), "4", 4),
        (Seed(), "9", 9),
    ],
)
def test_reads_what_a_command_line_gives(declared, text, value):
    assert declared.parse(text) == value


@pytest.mark.parametrize(
    ("declared", "text"),
    [(Integer(), "1.5"), (Boolean(), "maybe"), (Choice("a"), "b"), (Function(), "len")],
)
def test_unreadable_text_is_a_value_error(declared, text):
    with pytest.raises(ValueError, match=r".+"):
        declared.parse(text)


def test_schema_of_each_kind():
    assert Real(0, 1, log=True, open_low=True).schema() == {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 1,
        "scale": "log",
    }
    assert Integer(2, 9).schema() == {"type": "integer", "minimum": 2, "maximum": 9}
    assert Choice("a", "b").schema() == {"type": "string", "enum": ["a", "b"]}
    assert Auto(Integer(1)).schema() == {
        "anyOf": [{"type": "string", "enum": ["auto"]}, {"type": "integer", "minimum": 1}]
    }
    assert AnyOf(Choice("a"), Function()).schema() == {"type": "string", "enum": ["a"]}


class _Model:
    params: ClassVar = {"k": Integer(1, help="neighbours"), "metric": Function(help="distance")}

    def __init__(self, k=3, metric=len):
        self.k, self.metric = k, metric

    def get_params(self, deep=True):
        return {"k": self.k, "metric": self.metric}


def test_schema_of_an_estimator_is_json_and_leaves_functions_out():
    form = schema(_Model)
    assert json.loads(json.dumps(form)) == form
    assert form["properties"] == {
        "k": {"type": "integer", "minimum": 1, "description": "neighbours", "default": 3}
    }


def test_check_params_stops_at_the_bad_one():
    check_params(_Model())
    with pytest.raises(ParameterError, match="_Model: k=0"):
        check_params(_Model(k=0))
