"""The studio: start, answers at the server, many clients, drawing in a browser; and the pictures of the pages."""

from __future__ import annotations

import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import psutil

from bayeskit import datasets
from benchmarks.timing import seconds, write_section

NETWORKS = Path(__file__).parents[2] / "shared" / "data" / "networks"
PICTURES = Path(__file__).parents[1] / "docs" / "_static"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
QUIET = ("gpu", "quic", "background-networking", "component-update", "sync")
CLIENTS, QUESTIONS = 50, 200
TITLE = "The studio"


@dataclass
class Server:
    """A studio in a process of its own, as a user starts it."""

    process: subprocess.Popen[str]
    address: str
    first_page: float

    @property
    def base(self) -> str:
        """The address without its token."""
        return self.address.split("/?")[0]

    @property
    def headers(self) -> dict[str, str]:
        """What lets a program in."""
        return {"authorization": f"Bearer {self.address.split('token=')[1].split('#')[0]}"}

    def client(self) -> httpx.Client:
        """Return a client of the API."""
        return httpx.Client(base_url=f"{self.base}/api/v1", headers=self.headers, timeout=300)

    def cpu(self) -> float:
        """CPU seconds of the server and its workers so far."""
        own = psutil.Process(self.process.pid)
        times = [each.cpu_times() for each in (own, *own.children(recursive=True))]
        return sum(each.user + each.system for each in times)

    def memory(self) -> int:
        """Bytes of the server and its workers."""
        own = psutil.Process(self.process.pid)
        return sum(each.memory_info().rss for each in (own, *own.children(recursive=True)))


@contextmanager
def served(*paths: Path) -> Iterator[Server]:
    start = time.perf_counter()
    command = [sys.executable, "-m", "bayeskit.cli", "studio", "--no-browser", *map(str, paths)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().split()[-1]
    while True:
        try:
            httpx.get(address, follow_redirects=True).raise_for_status()
            break
        except httpx.ConnectError:
            time.sleep(0.005)
    found = Server(process, address, time.perf_counter() - start)
    try:
        yield found
    finally:
        process.terminate()
        process.wait(20)


def answers(path: Path, runs: int) -> tuple[float, float, float]:
    """Return the CPU time of a posterior with new evidence each time, and its least and median wall time."""
    with served(path) as server, server.client() as client:
        (document,) = client.get("/documents").json()
        base = f"/networks/{document['id']}"
        prior = client.post(f"{base}/posterior", json={}).json()["p"]
        from bayeskit import BayesianNetwork

        net = BayesianNetwork.read(path)
        times, before = [], server.cpu()
        for k in range(runs):
            name = net.names[(7 * k) % len(net.names)]
            state = net.states[net.index(name)][max(range(len(prior[name])), key=prior[name].__getitem__)]
            start = time.perf_counter()
            client.post(f"{base}/posterior", json={"given": {name: state}}).raise_for_status()
            times.append(time.perf_counter() - start)
        spent = (server.cpu() - before) / runs
    return spent, min(times), statistics.median(times)


def load(path: Path) -> dict[str, Any]:
    """Ask from many clients at once; return errors, the 95th percentile, and memory before and after."""
    with served(path) as server:
        with server.client() as client:
            (document,) = client.get("/documents").json()
            url = f"/networks/{document['id']}/posterior"
            states = client.post(url, json={}).json()["p"]

        async def ask(times: list[float], wrong: list[int], k: int, client: httpx.AsyncClient) -> None:
            names = list(states)
            from_file = dict(first_states(path))
            for q in range(QUESTIONS):
                name = names[(k * 13 + q) % len(names)]
                start = time.perf_counter()
                answer = await client.post(url, json={"given": {name: from_file[name]}})
                times.append(time.perf_counter() - start)
                if answer.status_code != 200:
                    wrong.append(answer.status_code)

        async def all_clients() -> tuple[list[float], list[int]]:
            times: list[float] = []
            wrong: list[int] = []
            limits = httpx.Limits(max_connections=CLIENTS)
            base = f"{server.base}/api/v1"
            async with httpx.AsyncClient(base_url=base, headers=server.headers, timeout=300, limits=limits) as client:
                await asyncio.gather(*(ask(times, wrong, k, client) for k in range(CLIENTS)))
            return times, wrong

        before, start = server.memory(), time.perf_counter()
        times, wrong = asyncio.run(all_clients())
        total, after = time.perf_counter() - start, server.memory()
    ordered = sorted(times)
    return {
        "errors": len(wrong), "p95": ordered[int(0.95 * len(ordered))], "median": statistics.median(times),
        "rate": len(times) / total, "before": before, "after": after,
    }  # fmt: skip


def first_states(path: Path) -> list[tuple[str, str]]:
    from bayeskit import BayesianNetwork

    net = BayesianNetwork.read(path)
    best = net.posterior()
    return [(name, best[name].best) for name in net.names]


DRAW = """async () => {
  const { Drawing } = await import("/static/drawing.js");
  const id = new URLSearchParams(location.hash.slice(1)).get("doc");
  const answer = await fetch(`/api/v1/networks/${id}/geometry`, {method: "POST", body: "{}"});
  const geometry = await answer.json();
  const host = document.createElement("div");
  host.style.cssText = "position:fixed;inset:0;z-index:9;background:white";
  document.body.append(host);
  const start = performance.now();
  new Drawing(host, geometry, {label: "x", state() {}, select() {}});
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const time = performance.now() - start;
  host.remove();
  return time / 1000;
}"""
CLICK = """async ([name, state]) => {
  const row = document.querySelector(`[data-name="${name}"] [data-state="${state}"]`);
  const start = performance.now();
  const seen = new Promise((done) => {
    const bars = row.querySelector(".p");
    const all = {childList: true, characterData: true, subtree: true};
    new MutationObserver(() => bars.textContent === "100.0 %" && done()).observe(bars, all);
  });
  row.dispatchEvent(new MouseEvent("click", {bubbles: true}));
  await seen;
  return (performance.now() - start) / 1000;
}"""


@contextmanager
def page_of(server: Server, **options: Any) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    arguments = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{each}" for each in QUIET)]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        context = browser.new_context(**{"viewport": {"width": 1360, "height": 860}, "locale": "en-GB", **options})
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(server.address)
        yield page
        browser.close()


def in_browser(path: Path, name: str, state: str) -> tuple[float, float]:
    """Return how long drawing takes, and from a click to the bars."""
    with served(path) as server, page_of(server) as page:
        page.wait_for_selector(".node")
        drawn = min(page.evaluate(DRAW) for _ in range(3))
        page.fill(".search input", name)
        page.keyboard.press("Enter")
        page.wait_for_selector(f'[data-name="{name}"] [data-state="{state}"]')
        page.wait_for_function(
            "() => document.querySelectorAll('.bar-value').length && !document.querySelector('.blank')"
        )
        clicked = []
        for _ in range(3):
            clicked.append(page.evaluate(CLICK, [name, state]))
            page.click(".chip")
            page.wait_for_function("() => !document.querySelector('.chip')")
            page.wait_for_timeout(400)
    return drawn, min(clicked)


def pictures(folder: Path) -> None:
    """Take the pictures of the README and the how-to."""
    asia = folder / "asia.bif"
    datasets.load_asia().write(asia)
    heart = Path(str(files("bayeskit.datasets").joinpath("data", "heart.csv")))
    with served(asia) as server:
        with page_of(server) as page:
            _case(page)
            page.screenshot(path=PICTURES / "studio.png")
        with page_of(server, color_scheme="dark", locale="zh-CN") as page:
            _case(page)
            page.screenshot(path=PICTURES / "studio-dark-zh.png")
    with served(heart) as server, page_of(server) as page:
        page.select_option(".toolbar select", "disease")
        page.wait_for_selector("tr.target")
        page.click('button:has-text("Train")')
        page.wait_for_selector("text=Try a case")
        page.screenshot(path=PICTURES / "studio-table.png")
        page.click("text=Try a case")
        page.wait_for_selector(".decision")
        page.fill(".row-number", "3")
        page.click("text=Load")
        page.wait_for_function("() => document.querySelectorAll('.waterfall li').length > 10")
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURES / "studio-classifier.png")


def _case(page: Any) -> None:
    page.wait_for_selector(".bar-value")
    for name in ("smoke", "xray"):
        page.click(f'[data-name="{name}"] [data-state="yes"]')
    page.click('[data-name="lung"] .name')
    page.click(".card .buttons button >> nth=0")
    page.wait_for_selector(".tornado li")
    page.click('[data-name="bronc"] .name')
    page.wait_for_timeout(600)


def measure() -> list[tuple[str, str, str]]:
    """Return (what, measured, aim)."""
    lines: list[tuple[str, str, str]] = []
    alarm, munin = NETWORKS / "alarm.bif.gz", NETWORKS / "munin.bif.gz"
    with tempfile.TemporaryDirectory() as name:
        asia = Path(name) / "asia.bif"
        datasets.load_asia().write(asia)
        starts, spent_on = [], []
        for _ in range(3):
            with served(asia) as server:
                starts.append(server.first_page)
                spent_on.append(sum(psutil.Process(server.process.pid).cpu_times()[:2]))
        lines.append(("from the command to the first page: CPU time", seconds(min(spent_on)), "1 s"))
        lines.append(("the same, wall time", seconds(min(starts)), ""))
        for path, runs, aim in ((asia, 200, "20 ms"), (alarm, 200, "20 ms"), (munin, 20, "150 ms")):
            if path.exists():
                spent, least, median = answers(path, runs)
                name_ = path.name.split(".")[0]
                lines.append((f"all posteriors of {name_}: CPU time of server and worker", seconds(spent), aim))
                lines.append(
                    (f"the same, wall time: least of {runs}, median", f"{seconds(least)}, {seconds(median)}", "")
                )
        if CHROMIUM:
            cases: list[tuple[Path, str, str, str, str]] = [
                (alarm, "HRBP", "LOW", "", "100 ms"),
                (munin, "R_MED_BLOCK_EW", "MILD", "2 s", "300 ms"),
            ]
            for path, node, state, draw_aim, click_aim in cases:
                if path.exists():
                    drawn, clicked = in_browser(path, node, state)
                    name_ = path.name.split(".")[0]
                    lines.append((f"{name_} drawn in the browser", seconds(drawn), draw_aim))
                    lines.append((f"{name_}, from a click to the bars", seconds(clicked), click_aim))
        if alarm.exists():
            found = load(alarm)
            lines.append(
                (f"{CLIENTS} clients × {QUESTIONS} questions on alarm: 95 % within", seconds(found["p95"]), "")
            )
            lines.append(("the same: questions a second", f"{found['rate']:.0f}", ""))
            lines.append(("the same: errors", str(found["errors"]), "0"))
            grown = (found["after"] - found["before"]) / (1 << 20)
            lines.append(
                ("the same: memory before, and what it grew by", f"{found['before'] >> 20} MiB, {grown:+.0f} MiB", "")
            )
    return lines


def main() -> None:
    rows = "\n".join(f"| {what} | {found} | {aim} |" for what, found, aim in measure())
    said = "Wall time at the client, over HTTP on 127.0.0.1; server, workers, browser and clients share the machine."
    write_section(TITLE, "python -m benchmarks studio", f"{said}\n\n| what | measured | aim |\n|---|--:|--:|\n{rows}")
    if CHROMIUM:
        with tempfile.TemporaryDirectory() as name:
            pictures(Path(name))


if __name__ == "__main__":
    main()
