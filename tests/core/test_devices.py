"""Devices that a user names: what is found there, and what is refused."""

import pytest

from bottega.core.devices import torch_on
from bottega.core.errors import ParameterError


def test_a_device_comes_with_its_precision(monkeypatch):
    torch = pytest.importorskip("torch")
    found, place, real = torch_on("cpu")
    assert (found, place.type, real) == (torch, "cpu", torch.float64)
    # No machine of the tests has it; what is asked of it is only its kind.
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: None)
    assert torch_on("mps")[2] == torch.float32


def test_a_device_that_is_not_there_is_refused():
    pytest.importorskip("torch")
    with pytest.raises(ParameterError, match="device='nowhere' cannot be used here"):
        torch_on("nowhere")
