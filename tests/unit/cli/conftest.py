import shutil
from importlib.resources import files

import pytest

pytest.importorskip("typer", reason="the command's extra is not installed")
pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")


@pytest.fixture
def heart(tmp_path, monkeypatch):
    """A folder to work in that holds heart.csv."""
    shutil.copy(files("bayeskit.datasets").joinpath("data", "heart.csv"), tmp_path / "heart.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def trained(heart):
    """The folder with a model in it as well."""
    from bayeskit.cli.app import run

    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", "-m", "TAN", "--no-report", "--json"]) == 0
    return heart
