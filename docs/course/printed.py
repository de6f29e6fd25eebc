"""The course as a PDF: ``python docs/course/printed.py docs/_build/html OUT.pdf en`` prints the built chapters.

Chromium prints one page that holds all chapters, each beginning on a new sheet, with the solutions unfolded.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

STYLE = """
@page { size: A4; margin: 18mm 16mm; }
body { font-family: sans-serif; font-size: 10.5pt; line-height: 1.5; }
section > h1 { break-before: page; }
pre { font-size: 8.5pt; white-space: pre-wrap; background: #f6f6f6; padding: 0.6em; break-inside: avoid; }
table { border-collapse: collapse; break-inside: avoid; }
td, th { border: 1px solid #bbb; padding: 0.2em 0.6em; }
img { max-width: 100%; break-inside: avoid; }
.formula { text-align: center; margin: 1em 0; }
.headerlink, a[download] { display: none; }
"""


def one_page(pages, language, pictures):
    """Return all chapters of the built pages as one page of HTML; a folder takes the last picture of each film."""
    folder = Path(pages) / "course" / language
    parts = []
    for chapter in sorted(folder.glob("[0-9]*.html")):
        text = chapter.read_text(encoding="utf-8")
        article = re.search(r"<article[^>]*>(.*?)</article>", text, re.DOTALL)[1]
        article = article.replace("<details>", "<details open>")
        parts.append(
            re.sub(r'src="\.\./\.\./(\S+\.gif)"', lambda film: last_picture(pages, film[1], pictures), article)
        )
    title = {"en": "bayeskit: the course", "zh": "bayeskit 教程"}[language]
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="{language}"><head>{head}</head><body>{"".join(parts)}</body></html>'


def last_picture(pages, film, pictures):
    """Return the source of an image that shows how a film ends."""
    with Image.open(Path(pages) / film) as frames:
        frames.seek(frames.n_frames - 1)
        path = Path(pictures) / f"{Path(film).stem}.png"
        frames.convert("RGB").save(path)
    return f'src="{path.as_uri()}"'


def write_pdf(pages, target, language):
    """Print the chapters of a language."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
    if browser is None:
        sys.exit("printing the course needs Chromium or Chrome; on Debian and Ubuntu: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "course.html"
        page.write_text(one_page(pages, language, folder), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        options += [f"--user-data-dir={folder}/profile", "--no-pdf-header-footer", f"--print-to-pdf={target}"]
        subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    write_pdf(*sys.argv[1:])
