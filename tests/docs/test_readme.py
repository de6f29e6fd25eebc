"""The README's map of folders is the tree, its commands are there, and the demo it names runs."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MADE_BY_TOOLS = {"build", "dist", "demo-output", "htmlcov", "__pycache__"}


def folders(base):
    """Return the folders of one level that hold a file; an empty one is no part of the project."""
    return {
        folder.relative_to(ROOT).as_posix() + "/"
        for folder in base.iterdir()
        if folder.is_dir()
        and folder.name[0] != "."
        and folder.name not in MADE_BY_TOOLS
        and not folder.name.endswith(".egg-info")
        and any(file.is_file() and "__pycache__" not in file.parts for file in folder.rglob("*"))
    }


def mapped_folders():
    section = README.split("## The map")[1]
    lines = re.search(r"```text\n(.*?)```", section, re.DOTALL)[1].splitlines()
    found, parent = set(), ""
    for line in lines:
        name = line.split()[0]
        if not name.endswith("/"):
            continue
        if line[0] == " ":
            name = parent + name
        else:
            parent = name
        found.add(name)
    return found


def test_the_map_of_folders_is_the_tree():
    top = folders(ROOT) - {"src/"} | {"src/bayeskit/"}
    assert mapped_folders() == top | folders(ROOT / "src/bayeskit")


def test_every_make_target_that_the_papers_name_is_in_the_makefile():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    papers = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"make ([a-z]+)", papers)) <= targets


def test_every_file_that_the_readme_links_to_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_demo_runs_and_leaves_a_model_that_loads(tmp_path):
    import bayeskit

    demo = subprocess.run(
        [sys.executable, ROOT / "docs/start/demo.py"], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    assert "the same numbers" in demo.stdout
    assert bayeskit.load(tmp_path / "demo-output" / "heart.bayes").classes_.tolist() == ["no", "yes"]
