"""What all tests and examples share."""

import itertools
import os
import signal
from importlib.util import find_spec

import pytest
from hypothesis import settings

# No test depends on time: a busy machine, or the first call of a kernel, is no failure.
settings.register_profile("bottega", deadline=None)
settings.load_profile("bottega")
# Fixtures that several tests share do without a ledger: the user's own is never touched.
os.environ["BOTTEGA_LEDGER"] = "off"
_numbers = itertools.count()
# Tests that run the whole product, or every method: slow together, if not one by one.
WHOLE = (
    "tests/cli/",
    "tests/common/test_contract.py",
    "tests/common/test_equivariance.py",
    "tests/course/",
    "tests/data/test_encoded_chunks.py",
    "tests/report/",
    "tests/workbench/",
)


@pytest.fixture(autouse=True)
def own_ledger(tmp_path_factory, monkeypatch):
    """Give each test a ledger of its own: no test meets a test part that another one opened."""
    folder = tmp_path_factory.getbasetemp() / f"ledger-{os.getpid()}-{next(_numbers)}"
    monkeypatch.setenv("BOTTEGA_LEDGER", str(folder))


@pytest.fixture(autouse=True)
def as_installed(request, monkeypatch):
    """Show the README what its reader installs: the extra `main`, without networks."""
    if request.node.name == "README.md":
        monkeypatch.setattr(
            "bottega.workbench.entrants.find_spec",
            lambda name: None if name == "torch" else find_spec(name),
        )


def pytest_configure():
    """Listen to Ctrl-C: a shell lets what it starts in the background ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Mark them: `make quick` leaves them out."""
    for item in items:
        if item.nodeid.startswith(WHOLE):
            item.add_marker(pytest.mark.slow)
