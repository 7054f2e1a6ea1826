"""Take the README's picture of a real report (needs chromium and playwright)."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import bottega

PICTURE = Path(__file__).parent / "images/report.png"


def main() -> None:
    """Compare on the breast-cancer data, open the report, photograph its top."""
    found = bottega.compare("breast_cancer")
    found.certify(ledger=False)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = found.report(Path(folder) / "report.html")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 1340})
        page.goto(report.as_uri())
        page.wait_for_selector("svg.marks")
        page.wait_for_timeout(1500)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
