"""Costs of errors as a user writes them, and what the command makes of them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bottega.cli.costs import read_costs
from bottega.core.errors import InputError

CLASSES = np.array(["No", "Yes"])


def test_pairs_and_files_say_the_same(tmp_path):
    pairs = read_costs("Yes:No=10, No:Yes = 1", CLASSES)
    assert_array_equal(pairs(["Yes", "No", "No"], ["No", "Yes", "No"]), [10, 1, 0])
    file = tmp_path / "costs.csv"
    file.write_text("predicted,Yes,No\nNo,10,0\nYes,0,1\n")
    assert read_costs(str(file), CLASSES) == pairs


def test_labels_are_those_of_the_target():
    numbers = read_costs("1:0=5,0:1=2.5", np.array([0, 1]))
    assert_array_equal(numbers([1, 0], [0, 1]), [5, 2.5])
    truth = read_costs("True:False=5,False:True=1", np.array([False, True]))
    assert_array_equal(truth([True], [False]), [5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Yes:No=10", "does not say what it costs to predict 'Yes' where 'No' is observed"),
        ("Yess:No=10,No:Yes=1", "names 'Yess'.*Did you mean 'Yes'"),
        ("Yes:No=10,No:Yes=-1", "'-1' is no cost"),
        ("Yes:No=10,Yes:No=1", "gives Yes:No twice"),
        ("10", "write OBSERVED:PREDICTED=COST"),
        ("nowhere.csv", "'nowhere.csv' cannot be read"),
    ],
)
def test_wrong_costs_are_one_clear_sentence(text, message):
    with pytest.raises(InputError, match=message):
        read_costs(text, CLASSES)


def test_costs_are_for_classes(tmp_path):
    with pytest.raises(InputError, match="Costs are for classes"):
        read_costs("a:b=1", None)
    file = tmp_path / "costs.csv"
    file.write_text("predicted,Yes,No\nNo,10\n")
    with pytest.raises(InputError, match="a line per predicted class"):
        read_costs(str(file), CLASSES)
