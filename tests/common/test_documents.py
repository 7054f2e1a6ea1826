"""README, documentation, exports and the change log keep up with the code."""

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
def course_table():
    return load("course_table")


def test_generated_documents_are_up_to_date():
    """Run  python docs/generate.py  after a method, an export or an experiment was added."""
    generate = load("generate")
    assert len(list(generate.inits())) >= 9  # the topics
    assert generate.outdated() == []


def test_pictures_of_the_course_are_drawn(course_table):
    for each in course_table.PICTURES:
        assert (ROOT / f"docs/images/{each}.svg").exists()


def test_every_claim_is_registered_or_waits_for_a_family(course_table):
    from bottega.course import CLAIMS

    listed = course_table.ids()
    assert len(listed) == 38 + 40 + 55 + 21
    assert set(CLAIMS) | set(course_table.WAITING) == set(listed)
    assert not set(CLAIMS) & set(course_table.WAITING)
    assert set(course_table.PARTLY_WAITING) <= set(CLAIMS)


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
