"""The list of verbs: quick, and the same as with all their options read."""

import subprocess
import sys

import typer

from bayeskit.cli.app import build, run


def test_the_list_of_verbs_needs_no_options(capsys):
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, command in typer.main.get_command(build()).commands.items():
        assert f"  {name}  " in shown
        assert command.get_short_help_str(20).removesuffix("...").strip() in shown
    names = [command.name for command in typer.main.get_command(build(with_options=False)).commands.values()]
    assert "predict" in names
    quick = typer.main.get_command(build(with_options=False)).commands["predict"].params
    assert [parameter.name for parameter in quick] == []


def test_a_verb_that_is_not_there_is_answered_with_the_nearest(capsys):
    assert run(["prdict"]) == 2
    assert "predict" in capsys.readouterr().err


def test_the_shell_completes_the_options_of_a_verb():
    program = "from bayeskit.cli import main; main()"
    asked = {"_BAYESKIT_COMPLETE": "complete_bash", "COMP_WORDS": "bayeskit predict --str", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", f"import os, sys; os.environ.update({asked}); sys.argv[0] = 'bayeskit'; {program}"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["--strict"]
