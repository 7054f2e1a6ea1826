"""The report in a real browser: every chart drawn, no error, no request, readable on a phone."""

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega.report import write

pytestmark = pytest.mark.slow  # a browser is started, on reports of whole comparisons

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def real_reports(tmp_path_factory):
    """Reports of two real comparisons: numbers with missing values, and hostile class labels."""
    folder = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    frame = pd.DataFrame(X, columns=["rooms", "age", HOSTILE, "size"])
    frame.loc[::9, "age"] = np.nan
    frame["town"] = rng.choice(["north", "south"], 120)
    price = frame.assign(price=X @ [3.0, 1.0, 0.0, 2.0] + rng.normal(size=120))
    few = ["tree", "neighbors", "random_forest", "gradient_boosting"]  # one of each kind
    numbers = bottega.compare(price, "price", outer=3, methods=["least_squares", "lasso", *few])
    numbers.certify()
    label = np.array(["red", "green", HOSTILE])[np.digitize(X[:, 0], [-0.4, 0.4])]
    frame["label"] = label
    classes = bottega.compare(frame, "label", outer=3, test_size=0, methods=few)
    return {
        "regression": write(numbers, folder / "regression.html"),
        "classification": write(classes, folder / "classification.html"),
    }


def open_page(browser, path, **context):
    """Open a page, wait until it has drawn, and return it with all that went wrong."""
    page = browser.new_context(**context).new_page()
    troubles: list[str] = []
    page.on(
        "console", lambda m: troubles.append(m.text) if m.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else troubles.append(r.url),
    )
    page.on("dialog", lambda dialog: (troubles.append("dialog"), dialog.dismiss()))
    page.goto(path.as_uri())
    page.wait_for_function("document.documentElement.dataset.charts === 'drawn'")
    return page, troubles


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_every_chart_is_drawn_and_nothing_goes_wrong(browser, real_reports, kind, scheme):
    path = real_reports[kind]
    assert path.stat().st_size < 3_000_000
    page, troubles = open_page(browser, path, color_scheme=scheme)
    drawn = page.eval_on_selector_all(
        ".chart",
        "all => all.map(c => c.querySelectorAll('svg path, svg text, svg line').length)",
    )
    expected = {"regression": 6, "classification": 6}[kind]
    assert len(drawn) >= expected
    assert min(drawn) > 5
    assert troubles == []
    page.context.close()


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_page_fits_a_phone(browser, real_reports, kind):
    page, troubles = open_page(browser, real_reports[kind], viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert troubles == []
    page.context.close()


def test_colours_follow_the_page_and_paper_is_white(browser, real_reports):
    page, _ = open_page(browser, real_reports["regression"], color_scheme="dark")
    ink = (
        "getComputedStyle(document.querySelector('#leaderboard-chart .role-axis-title text')).fill"
    )
    on_screen = page.evaluate(ink)
    page.emulate_media(media="print", color_scheme="dark")
    on_paper = page.evaluate(ink)
    assert on_screen == "rgb(232, 234, 238)"  # DARK["ink"]
    assert on_paper == "rgb(35, 40, 47)"  # LIGHT["ink"]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.context.close()


def test_a_foreign_script_does_not_run(browser, real_reports, tmp_path):
    page_text = real_reports["regression"].read_text(encoding="utf-8")
    spoiled = tmp_path / "spoiled.html"
    spoiled.write_text(
        page_text.replace("</main>", "<script>window.stolen = true</script></main>"),
        encoding="utf-8",
    )
    page, troubles = open_page(browser, spoiled)
    assert page.evaluate("window.stolen") is None
    assert len(troubles) == 1
    assert "Content Security Policy" in troubles[0]
    page.context.close()


def test_columns_are_explained_by_keyboard(browser, real_reports):
    page, _ = open_page(browser, real_reports["regression"])
    page.get_by_text("What the columns mean").focus()
    page.keyboard.press("Enter")
    assert page.get_by_text("how far the error would typically move").first.is_visible()
    page.context.close()
