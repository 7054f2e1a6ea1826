"""README, citations of paths and the change log keep up with the code."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def method_table():
    return load("method_table")


@pytest.fixture(scope="module")
def experiment_table():
    return load("experiment_table")


def test_readme_table_is_made_from_the_cards(method_table):
    text = (ROOT / "README.md").read_text()
    shown = text.split(method_table.START)[1].split(method_table.END)[0].strip()
    assert shown == method_table.readme_table()


def test_page_of_experiments_is_made_from_the_claims(experiment_table):
    """Run  python docs/experiment_table.py  after an experiment was entered or reworded."""
    assert experiment_table.PAGE.read_text() == experiment_table.page()
    for each in experiment_table.PICTURES:
        assert (ROOT / f"docs/images/{each}.svg").exists()


def test_every_claim_is_entered_or_waits_for_a_family(experiment_table):
    from bottega.experiments import CLAIMS

    listed = experiment_table.ids()
    assert len(listed) == 38 + 40 + 55
    assert set(CLAIMS) | set(experiment_table.WAITING) == set(listed)
    assert not set(CLAIMS) & set(experiment_table.WAITING)


def test_readme_links_and_pictures_exist():
    text = (ROOT / "README.md").read_text()
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    assert targets
    for target in targets:
        assert (ROOT / target).exists(), target


def test_every_make_target_is_described():
    makefile = (ROOT / "Makefile").read_text()
    declared = re.search(r"\.PHONY: (.+)", makefile).group(1).split()
    described = re.findall(r"^([a-z-]+):.*##", makefile, flags=re.MULTILINE)
    assert sorted(declared) == sorted(described)


def test_reference_numbers_come_with_their_script():
    for answer in (ROOT / "tests/reference").rglob("*.json"):
        scripts = [answer.with_suffix(suffix) for suffix in (".R", ".py")]
        assert any(script.exists() for script in scripts), answer


def test_change_log_names_the_version():
    import bottega

    assert f"## {bottega.__version__}" in (ROOT / "CHANGELOG.md").read_text()
