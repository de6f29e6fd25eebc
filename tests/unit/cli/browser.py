"""Debian's chromium without a window: opens a page, tells what its console says, and takes a picture."""

import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def require_chromium(*, whole_module=False):
    """Skip where there is no browser: a test, or where all of them need one, the module."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (apt-get install chromium)", allow_module_level=whole_module)


def open_page(page, folder, *, size=(1100, 1400), dark=False, dump=True):
    """Return the page as the browser understood it, its console messages, and the path of a picture."""
    picture = folder / f"{page.stem}-{size[0]}{'-dark' if dark else ''}.png"
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
        "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}", f"--window-size={size[0]},{size[1]}",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}", f"--screenshot={picture}", "--dump-dom",
        page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=True)
    console = re.findall(r"INFO:CONSOLE.*", done.stderr)
    return done.stdout, console, picture
