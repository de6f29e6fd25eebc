"""The built pages can be read by everybody: axe, which knows the rules for screen readers, finds nothing serious."""

import pytest
from axe_core_python.sync_playwright import Axe

from tests.docs.test_build import built  # noqa: F401  # the pages are built once
from tests.unit.cli.browser import CHROMIUM, require_chromium

pytestmark = pytest.mark.xdist_group("documentation")

PAGES = [
    "index",
    "course/en/04_naive_bayes",
    "course/zh/04_naive_bayes",
    "howto/command",
    "theory/naive_bayes",
    "reference/models",
    "reference/classes/NaiveBayes",
    "start/what_is_there_zh",
]


@pytest.fixture(scope="module")
def browser():
    require_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing_serious(built, browser, page, scheme):  # noqa: F811
    pages, _ = built
    window = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    window.goto((pages / f"{page}.html").as_uri())
    broken = Axe().run(window)["violations"]
    window.close()
    serious = [rule for rule in broken if rule["impact"] in ("serious", "critical")]
    assert [(rule["id"], [node["target"] for node in rule["nodes"]][:3]) for rule in serious] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_a_phone(built, browser, page):  # noqa: F811
    pages, _ = built
    window = browser.new_page(viewport={"width": 390, "height": 844})
    window.goto((pages / f"{page}.html").as_uri())
    width = window.evaluate("document.documentElement.scrollWidth")
    window.close()
    assert width <= 390
