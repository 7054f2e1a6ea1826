import base64
import json
import os
import re
from datetime import datetime
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from bottega.core.errors import InputError
from bottega.plot import bundle
from bottega.plot.bundle import to_json
from bottega.report import render, write
from bottega.report.figures import chart_config

HOSTILE = "<script>alert(1)</script>"
CLOSING = "</script><img src=x onerror=alert(2)>"


class Outline(HTMLParser):
    """The elements of a page in order, and the texts of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag == "script"

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.scripts.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(autouse=True)
def _small_bundle(monkeypatch):
    """The libraries are looked at in the browser test; a stand-in keeps these pages small."""
    monkeypatch.setattr("bottega.report.page.javascript", lambda: "window.vegaEmbed = null;")


def test_sections_come_in_the_promised_order(regression):
    page = render(regression())
    outline = Outline(page)
    ids = [attrs["id"] for attrs in outline.all("h2")]
    assert ids == [
        "verdict",
        "leaderboard",
        "certificate",
        "explained",
        "misses",
        "methods",
        "data",
        "repeat",
    ]
    linked = {attrs["href"].removeprefix("#") for attrs in outline.all("a")}
    assert linked <= set(ids)


def test_how_to_repeat_is_told(regression):
    page = render(regression(), date=datetime(2026, 1, 31, 9, 5))
    assert "bottega compare houses.csv --target price --random-state 17" in page
    assert "seed 17" in page
    assert "numpy 2.4.6" in page
    assert "2026-01-31 09:05" in page


def test_same_comparison_gives_the_same_page(regression):
    date = datetime(2026, 1, 31)
    assert render(regression(), date=date) == render(regression(), date=date)


def test_hostile_names_are_shown_not_run(regression):
    comparison = regression(
        target=HOSTILE,
        columns=(CLOSING, "age"),
        not_shown={CLOSING: ["gam"]},
        command=f"bottega compare '{CLOSING}'",
    )
    comparison.table.source = CLOSING
    outline = Outline(render(comparison))
    assert len(outline.all("script")) == 3
    assert not outline.all("img")
    assert not any(name.startswith("on") for _, attrs in outline.tags for name in attrs)


def test_hostile_labels_survive_inside_the_chart_data(classification):
    labels = (CLOSING, HOSTILE, "<!--")
    outline = Outline(render(classification(labels=labels)))
    assert len(outline.all("script")) == 3
    assert not outline.all("img")
    specs = json.loads(outline.scripts[0])["specs"]
    seen = {row["observed"] for row in specs["confusion"]["data"]["values"]}
    assert seen == set(labels)


def test_only_the_two_own_scripts_may_run(regression):
    outline = Outline(render(regression()))
    (policy,) = [
        attrs["content"]
        for attrs in outline.all("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    digests = [
        base64.b64encode(sha256(script.encode()).digest()).decode()
        for script in outline.scripts[1:]
    ]
    assert allowed == digests
    assert "unsafe-inline" not in policy.split("script-src")[1]


def test_page_names_nothing_outside_itself(regression):
    outline = Outline(render(regression()))
    for _, attrs in outline.tags:
        for name in ("src", "href"):
            assert (attrs.get(name) or "#").startswith(("#", "data:"))
    specs = json.loads(outline.scripts[0])
    assert "http" not in json.dumps(specs)


def test_page_can_be_read_without_seeing_it(regression):
    outline = Outline(render(regression()))
    assert outline.all("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(outline.all("caption")) == len(outline.all("table")) == 4
    assert all("scope" in attrs for attrs in outline.all("th"))
    charts = [attrs for attrs in outline.all("div") if attrs.get("class") == "chart"]
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in charts)
    specs = json.loads(outline.scripts[0])["specs"]
    assert sorted(specs) == sorted(attrs["id"] for attrs in charts)


def test_data_of_a_chart_stand_in_the_page_once(regression):
    comparison = regression()
    page = render(comparison)
    # One residual row as the page writes it.
    fitted = float(f"{comparison.results['ridge'].predicted[3]:.7g}")
    assert page.count(f'{{"fitted":{fitted!r},"residual"') == 1


def test_chart_colours_come_from_the_page():
    text = json.dumps(chart_config())
    assert not re.search(r"#[0-9a-f]{6}", text)
    assert '"transparent"' in text


def test_json_cannot_leave_its_script_element():
    text = to_json({"a": "</script><!--&\u2028"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028"}


def test_write_replaces_the_file_whole(regression, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    assert write(regression(), path) == path
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert os.listdir(tmp_path) == ["report.html"]


def test_failure_leaves_the_old_file_and_nothing_else(regression, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    broken = regression()
    broken.leaderboard = None
    with pytest.raises(TypeError):
        write(broken, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_folder_that_is_not_there_is_named(regression, tmp_path):
    with pytest.raises(InputError, match=r"nowhere.*folder that exists"):
        write(regression(), tmp_path / "nowhere" / "report.html")


class Libraries:
    """Stands in for vl-convert and counts how often it joins its libraries."""

    __version__ = "9.9"

    def __init__(self) -> None:
        self.calls = 0

    def javascript_bundle(self) -> str:
        self.calls += 1
        return "let a = 1;\r\nlet é = 2;"


@pytest.fixture
def libraries(monkeypatch, tmp_path):
    stand_in = Libraries()
    monkeypatch.setattr(bundle, "require", lambda *_: stand_in)
    monkeypatch.setattr(bundle, "user_folder", lambda kind: tmp_path / kind / "bottega")
    return stand_in


def test_libraries_are_joined_once(libraries, tmp_path):
    first, second = bundle.javascript(), bundle.javascript()
    assert first == second == "let a = 1;\nlet é = 2;"
    assert libraries.calls == 1
    assert [file.name for file in (tmp_path / "cache" / "bottega").iterdir()] == ["vega-9.9.js"]


@pytest.mark.parametrize("content", [b"", b"abc", b"abc\nalert(1)", b"\xff\xfe\n"])
def test_damaged_cache_is_made_again(content, libraries, tmp_path):
    bundle.javascript()
    (tmp_path / "cache" / "bottega" / "vega-9.9.js").write_bytes(content)
    assert bundle.javascript() == "let a = 1;\nlet é = 2;"
    assert bundle.javascript() == "let a = 1;\nlet é = 2;"
    assert libraries.calls == 2


def test_cache_that_cannot_be_written_does_no_harm(libraries, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert bundle.javascript() == bundle.javascript()
    assert libraries.calls == 2


def test_without_a_home_folder_there_is_no_cache(libraries, monkeypatch):
    monkeypatch.setattr(bundle, "user_folder", lambda _: None)
    assert bundle.javascript() == "let a = 1;\nlet é = 2;"
