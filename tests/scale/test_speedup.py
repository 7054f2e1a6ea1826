"""Amdahl's bound with the notes' numbers, and the share that times reveal."""

import numpy as np
import pytest

from bottega.core.errors import ParameterError
from bottega.linear import Ridge
from bottega.scale import SpeedUp, amdahl, source, speedup_report
from bottega.scale.speedup import parallel_share


def test_the_notes_numbers():
    """D244: f = 0.95 can reach 20; at f = 0.8, 96 workers gain little over 32."""
    assert amdahl(0.95, 10**12) == pytest.approx(20, rel=1e-9)
    assert amdahl(0.8, 32) == pytest.approx(4.444, abs=5e-4)
    assert amdahl(0.8, 96) == pytest.approx(4.8)
    assert amdahl(1.0, 8) == 8
    for f, k in ((1.1, 2), (-0.1, 2), (0.5, 0)):
        with pytest.raises(ParameterError, match="f is a share"):
            amdahl(f, k)


@pytest.mark.parametrize("f", [0.0, 0.3, 0.97, 1.0])
def test_the_share_is_found_from_exact_times(f):
    workers = np.array([1, 2, 4, 16])
    seconds = 7 * (f / workers + 1 - f)
    assert parallel_share(workers, seconds) == pytest.approx(f, abs=1e-12)
    found = SpeedUp(workers, seconds, f)
    np.testing.assert_allclose(found.speed_up, found.bound, rtol=1e-12)
    np.testing.assert_allclose(found.overhead, 7 * (1 - f) * (1 - 1 / workers), atol=1e-12)
    assert list(found.to_frame().columns)[:3] == ["workers", "seconds", "speed_up"]
    assert "without limit" in str(found.summary()) or f < 1


def test_work_is_called_with_each_number(monkeypatch):
    from bottega.scale import speedup

    clock = iter(np.cumsum([0, 8, 0, 9, 0, 5, 0, 6.0]))
    monkeypatch.setattr(speedup, "perf_counter", lambda: float(next(clock)))
    calls = []
    found = speedup_report(calls.append, (2,), repeats=2)
    assert calls == [1, 1, 1, 2, 2, 2]
    assert found.seconds.tolist() == [8, 5]
    assert found.parallel_share == pytest.approx(0.75)
    with pytest.raises(ParameterError, match="whole numbers above 0"):
        speedup_report(calls.append, (0,))
    with pytest.raises(ParameterError, match=r"Ridge is no function: give one such as  lambda k"):
        speedup_report(Ridge(), source(np.eye(3)))
    with pytest.raises(ParameterError, match="workers is a sequence of whole numbers"):
        speedup_report(calls.append, 2)
