"""The page of a description: what stands in it, and that nothing in the data runs."""

import re

import numpy as np
import pandas as pd
import pytest

import bottega
from bottega.report import render_description


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    group = np.arange(120) % 2
    frame = pd.DataFrame(
        {
            "id": [f"<b>key {i}</b>" for i in range(120)],
            "<script>alert(1)</script>": rng.normal(size=120) + 9 * group,
            "width": rng.normal(size=120) + 9 * group,
            "colour": np.where(group, "red & blue", "</style>"),
        }
    )
    frame.loc[3, "width"] = 60.0
    return bottega.describe(frame)


@pytest.fixture(scope="module")
def page(found):
    return render_description(found)


def test_all_parts_are_in_the_page(page):
    parts = re.findall(r'<h2 id="(\w+)"', page)
    assert parts == [
        *("verdict", "map", "components", "clusters", "outliers", "relations", "data", "repeat")
    ]
    assert "The rows form two clusters" in page
    assert "false-alarm share of 0.001" in page
    assert "not complete" not in page


def test_names_and_labels_are_shown_never_interpreted(page):
    body = page[: page.index('<script type="application/json"')]
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body
    assert "<b>key" not in page
    assert page.count("<script") == 3


def test_the_page_asks_for_nothing_outside(page):
    head = page[: page.index("</head>")]
    assert "default-src 'none'" in head
    assert not re.search(r'(?:src|href)="(?!#|data:)', page[: page.index("<script type")])


def test_the_page_of_noise_claims_nothing():
    rng = np.random.default_rng(0)
    page = render_description(
        bottega.describe(pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd")))
    )
    assert "no evidence of more than one cluster" in page
    assert "No component has more of the variance" in page


def test_columns_that_took_no_part_in_the_clusters_are_named(page):
    told = " ".join(page.split())
    # Neither the key nor the numbers.
    assert "groups that differ only in them are not found here: colour." in told


def test_one_column_is_not_compared_with_others():
    found = bottega.describe(pd.DataFrame({"only": np.arange(50.0) ** 1.5}))
    assert found.title == "Description of 50 rows and 1 column"
    page = render_description(found)
    assert "There is one column, and none that could vary together with it." in page
    assert "1 columns" not in page
    assert "each shuffled by itself" not in page
    assert 'id="scree-chart"' not in page
    assert "did not take part" not in " ".join(page.split())


def test_it_draws_in_a_browser(found, browser, tmp_path):
    path = found.report(tmp_path / "described.html")
    page = browser.new_page()
    troubles = []
    page.on("console", lambda each: troubles.append(each.text) if each.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "request",
        lambda each: None if each.url.startswith(("file:", "data:")) else troubles.append(each.url),
    )
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-charts=drawn]", timeout=60_000)
    assert troubles == []
    for name in ("map", "plane", "scree", "apart", "criteria"):
        assert page.locator(f".chart#{name}-chart svg").count() == 1, name
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


def test_dates_that_cannot_be_read_are_called_so():
    days = ["2019-03-01", "01.03.2019", "01/03/2019"] * 20
    x = np.sin(np.arange(60.0) ** 2)
    page = render_description(bottega.describe(pd.DataFrame({"d": days, "x": x, "z": x[::-1]})))
    assert "1 of dates that cannot be read" in page
