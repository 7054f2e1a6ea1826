"""Charts show themselves in a notebook that has no network."""

import base64
import re

import altair
import pytest

from bottega.core.path import Path, along
from bottega.plot import _notebook as notebook
from bottega.plot import path_chart


@pytest.fixture
def fresh(monkeypatch):
    """A session in which no chart was shown yet; the renderer is as it was found afterwards."""
    monkeypatch.setattr(notebook, "_sent", set())
    before = altair.renderers.active
    yield
    altair.renderers.enable(before)


def chart(knob="k"):
    return path_chart(
        Path(
            along(knob, [9, 5, 1]),
            df=[1.0, 2.0, 10.0],
            train_error=[4.0, 2.0, 0.0],
            error=[4.1, 3.9, 6.0],
            error_se=[0.2, 0.3, 0.5],
            estimate="loo",
            loss="squared error",
        )
    )


def bundle(drawn):
    return drawn._repr_mimebundle_()


@pytest.mark.usefixtures("fresh")
def test_the_first_chart_carries_the_library_and_all_carry_a_picture():
    chart()
    altair.renderers.enable(notebook.NAME)
    first, second = (bundle(chart()) for _ in range(2))
    assert len(first["text/html"]) > 500_000 > len(second["text/html"])
    assert first["text/plain"].startswith("Line chart of the mean squared error")
    for shown in (first, second):
        picture = re.search(
            r'width="(\d+)" src="data:image/png;base64,([^"]+)"', shown["text/html"]
        )
        assert base64.b64decode(picture[2])[:4] == b"\x89PNG"
        assert 640 < int(picture[1]) < 800
        assert not re.search(r"src=\"?https?:|<link|@import", shown["text/html"])


@pytest.mark.usefixtures("fresh")
def test_names_from_the_data_are_shown_and_never_run():
    altair.renderers.enable(notebook.NAME)
    bundle(chart())
    html = bundle(chart('</script><script>alert("x")</script><b'))["text/html"]
    assert html.count("<script>") == html.count("</script>") == 1
    assert "<b" not in html


@pytest.mark.usefixtures("fresh")
def test_a_renderer_that_the_user_chose_stays():
    altair.renderers.enable("svg")
    chart()
    assert altair.renderers.active == "svg"
    altair.renderers.enable("default")  # an explicit choice too, once ours is known
    chart()
    assert altair.renderers.active == "default"


@pytest.mark.slow
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("scripts", [True, False])
def test_a_browser_without_network_shows_it(browser, tmp_path, scripts):
    altair.renderers.enable(notebook.NAME)
    page = tmp_path / "page.html"
    page.write_text("".join(bundle(chart())["text/html"] for _ in range(2)), encoding="utf-8")
    context = browser.new_context(offline=True, java_script_enabled=scripts)
    asked = []
    shown = context.new_page()
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(page.as_uri())
    if scripts:
        shown.wait_for_selector("div.vega-embed canvas, div.vega-embed svg")
        shown.wait_for_function("document.querySelectorAll('img').length == 0")
        assert shown.locator("div.vega-embed").count() == 2
    else:
        assert shown.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
        assert shown.locator("img").count() == 2
    assert all(url.startswith(("file:", "data:")) for url in asked)
    context.close()
