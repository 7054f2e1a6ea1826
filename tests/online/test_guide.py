"""The examples of the guide run, and say what the guide says they say."""

import doctest
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs/guide/online.rst"


def test_examples_of_the_guide():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testfile(str(GUIDE), module_relative=False, optionflags=flags)
    assert found.attempted > 15
    assert found.failed == 0
