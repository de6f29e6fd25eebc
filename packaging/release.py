"""The checklist of a release, in order; it stops at the first thing that does not hold: ``make release VERSION=0.1.0``.

Everything up to the push: what it makes lies in ``dist/``, and the tag is made last, on this machine only.
"""

from __future__ import annotations

import datetime
import hashlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def main(version: str) -> None:
    """Go through the list."""
    steps: list[tuple[str, Callable[[], str]]] = [
        ("the tree is clean", clean_tree),
        ("versions agree", lambda: versions_agree(version)),
        ("the changelog has the version", lambda: changelog(version)),
        ("all tests pass", lambda: run("make", "test-all")),
        ("the documentation builds", lambda: run("make", "docs")),
        ("the source builds", lambda: run(sys.executable, "-m", "build", "--sdist", "--outdir", str(DIST))),
        ("the wheels build and are audited", lambda: run(sys.executable, "packaging/wheels.py", "--into", str(DIST))),
        ("the metadata renders", lambda: run(sys.executable, "-m", "twine", "check", "--strict", *map(str, made()))),
        ("the bill of materials is written", bill_of_materials),
        ("hashes are written", hashes),
        ("the tag is made", lambda: run("git", "tag", "-a", f"v{version}", "-m", f"bayeskit {version}")),
    ]
    for number, (what, step) in enumerate(steps, 1):
        print(f"{number:2}. {what} …", flush=True)
        said = step()
        print(f"    {said or 'yes'}", flush=True)
    print(f"bayeskit {version} is ready in {DIST.name}/; to publish it, push the tag v{version}.")


def run(*command: str) -> str:
    """Run a command; a failure ends the list."""
    if subprocess.run(command, cwd=ROOT).returncode:
        sys.exit(f"release: '{' '.join(command)}' failed; mend it and begin again.")
    return ""


def clean_tree() -> str:
    """Refuse changes that are not committed."""
    changed = subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT, text=True)
    if changed:
        sys.exit(f"release: these changes are not committed:\n{changed}")
    return subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()


def versions_agree(version: str) -> str:
    """Compare the version in all the files that say it."""
    said = {
        "pyproject.toml": tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "src/bayeskit/__init__.py": _first(r'__version__ = "(.+)"', ROOT / "src/bayeskit/__init__.py"),
        "CITATION.cff": _first(r"^version: (.+)$", ROOT / "CITATION.cff"),
        "packaging/conda/meta.yaml": _first(r'set version = "(.+)"', ROOT / "packaging/conda/meta.yaml"),
        "docs/start/cite.md": _first(r"version = \{(.+)\}", ROOT / "docs/start/cite.md"),
    }
    wrong = {name: other for name, other in said.items() if other != version}
    if wrong:
        sys.exit(f"release: version {version} is asked for, and {wrong} say another one.")
    return f"{version} in {', '.join(said)}"


def changelog(version: str) -> str:
    """Look for the heading of the version, and for its date in CITATION.cff."""
    if f"## {version}" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        sys.exit(f"release: CHANGELOG.md has no heading '## {version}'.")
    date = _first(r'^date-released: "(.+)"$', ROOT / "CITATION.cff")
    return f"released {datetime.date.fromisoformat(date)}"


def bill_of_materials() -> str:
    """Write what the installed package is made of, as CycloneDX, with the licences of its dependencies."""
    return run(sys.executable, "-m", "cyclonedx_py", "environment", "--output-file", str(DIST / "bayeskit.cdx.json"))


def hashes() -> str:
    """Write the SHA-256 of every file."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in made()]
    (DIST / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"{len(lines)} files"


def made() -> list[Path]:
    """Return the distributions."""
    return sorted([*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")])


def _first(pattern: str, path: Path) -> str:
    match = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        sys.exit(f"release: {path.relative_to(ROOT)} does not say its version.")
    return match[1]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("release: say the version: make release VERSION=0.1.0")
    main(sys.argv[1])
