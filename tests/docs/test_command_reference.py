"""The reference of the command is what the command says of itself."""

from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the command's extra is not installed")
from bayeskit.cli.app import build
from bayeskit.cli.reference import reference

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    made = reference()
    page = (ROOT / "docs/reference/command.md").read_text(encoding="utf-8")
    assert page == made, "make it with: python -m bayeskit.cli.reference"


def test_every_verb_has_an_example_and_every_option_words():
    import typer

    command = typer.main.get_command(build())
    for name, verb in command.commands.items():
        assert f"Example: bayeskit {name}" in verb.help
        assert all(param.help for param in verb.params if param.name != "help"), name
