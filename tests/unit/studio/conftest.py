"""A studio that runs for the tests of this folder, and Debian's chromium driven by Playwright."""

import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the studio needs starlette (pip install 'bayeskit[studio]')")
pytest.importorskip("uvicorn", reason="the studio needs uvicorn (pip install 'bayeskit[studio]')")
import httpx

from bayeskit.studio.serve import prepare
from tests.unit.cli.browser import CHROMIUM, require_chromium

QUIET = ("gpu", "quic", "background-networking", "component-update", "sync")
ARGUMENTS = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{each}" for each in QUIET)]


_SERVED: list["Served"] = []  # the one that the tests share, once a test has asked for it


class Served:
    """A running studio: its address, and a client that has the token."""

    def __init__(self, files=(), **options):
        self.running = prepare([Path(file) for file in files], **options)
        self.studio, self.address = self.running.studio, self.running.address
        self.base, self.token = self.address.split("/?token=")[0], self.address.split("token=")[1].split("#")[0]
        self._thread = threading.Thread(target=self.running.run, daemon=True)
        self._thread.start()
        while not self.running.server.started:
            time.sleep(0.01)
        self.client = httpx.Client(
            base_url=f"{self.base}/api/v1", headers={"authorization": f"Bearer {self.token}"}, timeout=60
        )

    def open(self, name, content):
        return self.client.post("/documents", params={"name": name}, content=content).raise_for_status().json()["id"]

    def ask(self, path, **body):
        return self.client.post(path, json=body)

    def edit(self, base, what, **body):
        """Change or save a network as a client does that has just looked at it."""
        version = self.client.get(base.replace("/networks/", "/documents/")).json()["version"]
        return self.ask(f"{base}/{what}", version=version, **body)

    def stop(self):
        self.client.close()
        self.running.server.should_exit = True
        self._thread.join(20)


@pytest.fixture(scope="session")
def served():
    found = Served()
    _SERVED.append(found)
    yield found
    _SERVED.remove(found)
    found.stop()


@pytest.fixture(scope="module", autouse=True)
def tidy():
    """Close what the tests of a file left open: of too many documents the oldest are closed, another file's too."""
    yield
    for each in [document for one in _SERVED for document in one.studio.documents]:
        _SERVED[0].client.delete(f"/documents/{each.id}", params={"discard": "true"})


@pytest.fixture(scope="session")
def browser():
    require_chromium()
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def page_of(served, browser):
    """Open a page on a document; what its console complains of fails the test."""
    contexts = []

    def show(fragment="", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", **options})
        contexts.append(context)
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda said: said.type == "error" and page.complaints.append(said.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(f"{served.base}/?token={served.token}{fragment}")
        page.set_default_timeout(60_000)  # a busy machine must not fail a test that is right
        return page

    yield show
    for context in contexts:
        said = [each for page in context.pages for each in page.complaints]
        context.close()
        assert said == []
