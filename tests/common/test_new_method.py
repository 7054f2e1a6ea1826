"""A method is one file: put into a topic's folder, it is found everywhere, and no list names it."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import bottega
import bottega.linear
import bottega.workbench.compare
from bottega import registry
from bottega.cli.app import app
from bottega.core.discover import estimator_classes

ROOT = Path(__file__).parents[2]
TOY = '''
"""A toy: the mean of the responses, and a share of the way to the least squares line."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from bottega.core.cards import Card
from bottega.core.tuned import Tuned
from bottega.core.params import Auto, Real
from bottega.core.path import Path, Rule, along
from bottega.core.stored import stored

__all__ = ["PartOfTheWay"]


@stored
@dataclass(frozen=True)
class Line:
    coef: np.ndarray
    center: np.ndarray


class PartOfTheWay(RegressorMixin, Tuned):
    """Go a share of the way from the mean to least squares.

    Parameters
    ----------
    share : float or "auto"
        The share.
    select : str
        Rule that picks from the path.
    """

    knob = "share"
    params: ClassVar = {
        "share": Auto(Real(0, 1, help="share of the way")),
        "select": Rule(),
    }
    card: ClassVar = Card(
        method="part_of_the_way",
        title="Part of the way",
        task="regression",
        strengths=("It is a toy.",),
        weaknesses=("It is only a toy.",),
        assumptions=("The mean is straight in the inputs.",),
        cost="n p^2",
        source="A01",
    )

    def __init__(self, share="auto", *, select="min"):
        self.share, self.select = share, select

    def _prepare(self, rows):
        w = rows.weights
        center = np.average(rows.X, axis=0, weights=w)
        mean = float(np.average(rows.y, weights=w))
        root = np.sqrt(w)[:, None]
        coef = np.linalg.lstsq(root * (rows.X - center), root[:, 0] * (rows.y - mean))[0]
        return rows, mean, Line(coef, center)

    def _path(self, work, values, loss):
        rows, mean, line = work
        shares = np.linspace(0, 1, 5) if values is None else np.sort(values)
        residual = rows.y[:, None] - self._predictions(work, along("share", shares), rows.X, "")
        return Path(
            along("share", shares),
            complexity=shares,
            train_error=np.average(residual**2, axis=0, weights=rows.weight),
            error=None,
            error_se=None,
            estimate=None,
            loss="squared error",
        )

    def _predictions(self, work, settings, X_new, method):
        _, mean, line = work
        shares = np.array([setting["share"] for setting in settings])
        return mean + ((X_new - line.center) @ line.coef)[:, None] * shares

    def _settle(self, work, setting):
        _, self.mean_, self.line_ = work
        self.share_ = setting["share"]

    def predict(self, X):
        X = self._check_new(X)
        return self.mean_ + self.share_ * ((X - self.line_.center) @ self.line_.coef)
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy in a folder of its own, as if it stood in `bottega.linear`."""
    (tmp_path / "part_of_the_way.py").write_text(TOY)
    monkeypatch.setattr(bottega.linear, "__path__", [*bottega.linear.__path__, str(tmp_path)])
    registry.estimators.cache_clear()
    yield "part_of_the_way"
    registry.estimators.cache_clear()
    sys.modules.pop("bottega.linear.part_of_the_way", None)


def few_and(method):
    """What the catalogue has for a task, but for all other methods: their fits take time."""
    return lambda task: {
        name: each for name, each in registry.methods(task).items() if name in ("baseline", method)
    }


def generate():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_found_everywhere(toy, tmp_path, monkeypatch, capsys):
    (found,) = [each for each in estimator_classes() if each.card.method == toy]
    assert registry.methods("regression")[toy] is found

    # the catalogue
    frame = bottega.catalogue()
    (row,) = frame[frame["method"] == toy].to_dict("records")
    assert (row["knob"], row["weights"], row["chunks"]) == ("share", True, False)
    assert row["estimator"] == "bottega.linear.PartOfTheWay"

    # the comparison, without being named
    monkeypatch.setattr(sys.modules["bottega.workbench.entrants"], "methods_for", few_and(toy))
    compared = bottega.compare("diabetes", outer=3)
    assert list(compared.results) == ["baseline", toy]
    result = compared.results[toy]
    assert result.error < compared.results["baseline"].error
    assert result.path.estimate == "cv"
    assert result.setting == result.path.settings[result.path.best("min")]

    # the report
    page = compared.report(tmp_path / "report.html").read_text()
    assert "Part of the way" in page
    assert "The mean is straight in the inputs." in page

    # a model file
    saved = bottega.load(compared.save(tmp_path / "model.skops"))
    X = compared.train.X
    assert np.array_equal(saved.predict(X), compared.best.predict(X))
    assert saved.method == toy

    # the command line
    with pytest.raises(SystemExit):
        app(["methods", toy, "--json"])
    (card,) = json.loads(capsys.readouterr().out)
    assert card["weaknesses"] == "It is only a toy."

    # the documents
    documents = generate()
    assert "| part_of_the_way | `linear.PartOfTheWay` |" in documents.methods_table()
    assert ":class:`bottega.linear.PartOfTheWay`" in documents.methods_page()
    assert "Part of the way (regression)" in documents.syllabus_table()


def test_it_is_gone_with_its_file():
    assert "part_of_the_way" not in registry.methods("regression")


def test_exports_name_what_stands_in_the_folder(tmp_path):
    documents = generate()
    topic = tmp_path / "linear"
    topic.mkdir()
    (topic / "part_of_the_way.py").write_text(TOY)
    (topic / "_hidden.py").write_text('__all__ = ["hidden"]\n')
    init = topic / "__init__.py"
    init.write_text(
        f'"""A topic."""\n\nfrom bottega.core import Card\n\n__all__ = [{documents.EXPORTS}\n]\n'
    )
    assert documents.init_text(init) == (
        '"""A topic."""\n\n'
        "from bottega.core import Card\n"
        "from bottega.linear.part_of_the_way import PartOfTheWay\n\n"
        "__all__ = [  # made by docs/generate.py\n"
        '    "Card",\n    "PartOfTheWay",\n]\n'
    )
