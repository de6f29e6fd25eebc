"""The README's map of folders is the tree, its commands are there, and the demo it names runs."""

import json
import re
import shlex
import shutil
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


def test_the_demo_runs_and_leaves_a_model_and_a_report():
    """What `make demo` runs is the command of the README on the bundled table, so it is read here and run there."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "train demo-output/heart.csv --target disease --output demo-output/disease.bayes" in recipe
    assert "src/bayeskit/datasets/data/heart.csv" in recipe


def without_times(text):
    """Take away what differs from run to run: times, and the rule that is as long as they are."""
    return re.sub(r" +[\d.]+ m?s\b|─+", " ", text)


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_output_that_a_readme_shows_is_what_the_command_prints(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("typer", reason="the command's extra is not installed")
    from bayeskit.cli.app import run

    shutil.copy(ROOT / "src/bayeskit/datasets/data/heart.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    shown = re.findall(
        r"```sh\n[^`]*?(bayeskit (?:train|explain) [^`\n]*)\n```\n\n```text\n(.*?)```",
        (ROOT / name).read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert [line.split()[1] for line, _ in shown] == ["train", "explain"]
    for line, text in shown:
        assert run(shlex.split(line)[1:]) == 0
        assert without_times(capsys.readouterr().out).split() == without_times(text).split()


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
