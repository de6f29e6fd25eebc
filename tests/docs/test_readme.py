"""The README's map of folders is the tree, its commands are there, and the demo it names runs."""

import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

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


def mapped_folders(readme, title):
    """Return the folders that the map of a README lists, in its order."""
    section = readme.split(title)[1]
    lines = re.search(r"```text\n(.*?)```", section, re.DOTALL)[1].splitlines()
    found, parent = [], ""
    for line in lines:
        name = line.split()[0]
        if not name.endswith("/"):
            continue
        if line[0] == " ":
            name = parent + name
        else:
            parent = name
        found.append(name)
    return found


def stages():
    """Return the folders of the library in the order of the import contract, the first one first."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    names = [layer.strip("()") for layer in reversed(contract["contracts"][0]["layers"])]
    present = folders(ROOT / "src/bayeskit")
    return [name for name in names if f"src/bayeskit/{name}/" in present]


def first_column(page, heading):
    """Return the folders in the first column of the table under a heading of a page."""
    table = page.split(heading)[1].split("\n\n|")[1].split("\n\n")[0]
    return re.findall(r"^\|? ?`([a-z_]+)/`", table, re.MULTILINE)


@pytest.mark.parametrize(("name", "title"), [("README.md", "## The map"), ("README.zh-CN.md", "## 目录")])
def test_the_map_of_folders_is_the_tree_in_the_order_of_the_stages(name, title):
    found = mapped_folders((ROOT / name).read_text(encoding="utf-8"), title)
    top = folders(ROOT) - {"src/"} | {"src/bayeskit/"}
    assert set(found) == top | folders(ROOT / "src/bayeskit")
    assert [folder.split("/")[2] for folder in found if folder.count("/") == 3] == stages()


def test_the_pages_of_design_and_kernels_list_the_folders_that_exist():
    pages = ROOT / "docs/developer"
    assert first_column((pages / "design.md").read_text(encoding="utf-8"), "## The stages") == stages()
    listed = first_column((pages / "kernels.md").read_text(encoding="utf-8"), "# Kernels")
    assert {f"native/{name}/" for name in listed} == folders(ROOT / "native")


def test_every_make_target_that_the_papers_name_is_in_the_makefile():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    papers = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"make ([a-z]+)", papers)) <= targets


def test_every_file_that_the_readme_links_to_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_demo_runs_and_leaves_a_model_and_a_report():
    """What `make demo` runs is the command of the README on the bundled table, so it is read here and run there."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "train demo-output/heart.csv --target disease --output demo-output/heart-disease.bayes" in recipe
    assert "src/bayeskit/datasets/data/heart.csv" in recipe


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_output_that_a_readme_shows_is_what_the_command_prints(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("typer", reason="the command's extra is not installed")
    from bayeskit.cli.app import run

    shutil.copy(ROOT / "src/bayeskit/datasets/data/heart.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # which tests that run side by side have
    shown = re.findall(
        r"```sh\n([^`]*?bayeskit explain [^`\n]*)\n```\n\n```text\n(.*?)```",
        (ROOT / name).read_text(encoding="utf-8"),
        re.DOTALL,
    )
    ((lines, text),) = shown
    for line in lines.splitlines()[1:]:  # the first makes the table
        capsys.readouterr()
        assert run(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out.split() == text.split()


@pytest.mark.parametrize("name", ["table", "network"])
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_a_notebook_runs_and_prints_what_it_shows(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib", reason="the notebook draws").use("agg")
    monkeypatch.chdir(tmp_path)
    book = json.loads((ROOT / f"docs/notebooks/{name}.ipynb").read_text(encoding="utf-8"))
    names = {}
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] or cell["execution_count"] is None
        exec(compile("".join(cell["source"]), f"{name}.ipynb", "exec"), names)
        printed = "".join("".join(o["text"]) for o in cell["outputs"] if o["output_type"] == "stream")
        assert capsys.readouterr().out.split() == printed.split()
