"""What all tests and examples share."""

import itertools
import os
import signal

import pytest

# Fixtures that several tests share do without a ledger: the user's own is never touched.
os.environ["BOTTEGA_LEDGER"] = "off"
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def own_ledger(tmp_path_factory, monkeypatch):
    """Give each test a ledger of its own: no test meets a test part that another one opened."""
    folder = tmp_path_factory.getbasetemp() / f"ledger-{os.getpid()}-{next(_numbers)}"
    monkeypatch.setenv("BOTTEGA_LEDGER", str(folder))


def pytest_configure():
    """Listen to Ctrl-C: a shell lets what it starts in the background ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
