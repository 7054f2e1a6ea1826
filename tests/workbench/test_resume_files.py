"""A file to resume from may hold anything: what does not fit is refused."""

import json

import numpy as np
import pytest

import bottega
from bottega.core.errors import InputError


def _as(**values):
    """Return a change of every line of the text."""
    return lambda lines, _: [line.update(values) for line in lines]


def _of(part, change):
    """Return a change of every array whose name has a part."""

    def changed(lines, arrays):
        arrays.update({name: change(each) for name, each in arrays.items() if part in name})

    return changed


@pytest.mark.parametrize(
    "damage",
    [
        _as(losses=0),
        _as(losses=-1),
        _as(setting="x"),
        _as(seconds=-1.0),
        _as(seconds="x"),
        _as(least="x"),
        _as(part="0:9"),
        _as(part="0:-1"),
        _as(part="all"),
        _as(rows=0),
        _as(rows="x"),
        _of("losses", lambda each: each.astype(str)),
        _of("losses", lambda each: np.column_stack([each, each])),
        _of("losses", lambda each: each[1:]),
        _of("losses", lambda each: each * np.nan),
        _of("predicted", lambda each: each[1:]),
        _of("predicted", lambda each: each * 0 - 1),
        _of("predicted", lambda each: each * 0 + 3),
        _of("predicted", lambda each: each * 1.5),
        _of("probabilities", lambda each: each * np.nan),
        _of("probabilities", lambda each: each[:, :1]),
        _of("probabilities", lambda each: each + 1j),
        _of("probabilities", lambda each: each + 1),
        _of("predicted", lambda _: np.zeros(10**6, dtype=np.int8)),
    ],
)
def test_a_file_whose_contents_do_not_fit_is_refused(tmp_path, damage, resumable):
    about, arrays = json.loads(resumable["about"].tobytes()), dict(resumable)
    damage(about["answers"], arrays)
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    np.savez_compressed(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(InputError, match="not a file that a comparison can resume from"):
        bottega.compare("iris", methods=["neighbors"], outer=3, resume=tmp_path / "damaged.npz")


@pytest.fixture(scope="module")
def resumable(tmp_path_factory):
    path = tmp_path_factory.mktemp("resume") / "iris.npz"
    bottega.compare("iris", methods=["neighbors"], outer=3, resume=path)
    with np.load(path) as file:
        return dict(file)
