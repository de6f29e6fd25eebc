import subprocess
import sys

import pytest

from bayeskit import BayesianNetwork, load
from bayeskit.datasets import load_asia

pytest.importorskip("typer", reason="the command's extra is not installed")
from bayeskit.cli.app import run


@pytest.fixture
def asia(tmp_path):
    load_asia().write(tmp_path / "asia.bif")
    return tmp_path / "asia.bif"


@pytest.mark.parametrize("name", ["b.net", "b.xmlbif", "b.uai.gz", "b.dot", "b.bif"])
def test_convert_writes_the_same_network_in_another_format(asia, capsys, name):
    target = asia.with_name(name)
    assert run(["convert", str(asia), str(target)]) == 0
    assert BayesianNetwork.read(target).equals(load_asia())
    assert capsys.readouterr().out == f"{target}: 8 variables, 8 arcs\n"


def test_convert_reads_and_writes_model_files(asia):
    model = asia.with_name("asia.bayes")
    assert run(["convert", str(asia), str(model)]) == 0
    assert load(model).equals(load_asia())
    assert run(["convert", str(model), str(asia.with_name("c.net"))]) == 0


def test_convert_normalises_on_request(tmp_path, capsys):
    source, target = tmp_path / "a.bif", tmp_path / "b.bif"
    source.write_text("variable x { type discrete [ 2 ] { a, b }; } probability ( x ) { table 1, 3; }")
    assert run(["convert", str(source), str(target)]) == 1
    assert "sums to 4, not to 1 within 1e-05" in capsys.readouterr().err
    assert run(["convert", "--normalize", str(source), str(target)]) == 0
    assert BayesianNetwork.read(target).tables[0].tolist() == [0.25, 0.75]


def test_draw_writes_a_picture(asia, capsys):
    assert run(["draw", str(asia), "-o", str(asia.with_name("net.svg"))]) == 0
    assert asia.with_name("net.svg").read_text().startswith("<svg")
    assert "8 variables, 8 arcs, 0 crossings" in capsys.readouterr().out
    assert run(["draw", str(asia)]) == 0
    assert asia.with_name("asia.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "nothing.bif", "b.net"], "Error: nothing.bif: No such file or directory.\n"),
        (
            ["convert", "{asia}", "b.nett"],
            "Error: b.nett: the extension '.nett' is not a network format; did you mean '.net' or '.dnet' or '.dne'?\n",
        ),
        (["convert", "{asia}", "{folder}"], "is not a network format"),
        (["draw", "{asia}", "-o", "net.png"], "Error: a drawing is saved as .svg; got 'net.png'."),
        (["draw", "{asia}", "-g", "smoke"], "Error: evidence must have the form variable=state; got 'smoke'.\n"),
        (["draw", "{asia}", "-g", "smoke=yes", "-g", "smoke=no"], "Error: 'smoke' is given twice.\n"),
    ],
)
def test_an_error_in_data_is_one_paragraph_and_exit_code_1(asia, capsys, arguments, message):
    filled = [text.format(asia=asia, folder=asia.parent) for text in arguments]
    assert run(filled) == 1
    out, err = capsys.readouterr()
    assert message in err
    assert err.count("\n") == 1
    assert "Traceback" not in err + out


@pytest.mark.parametrize(
    "arguments", [["convert"], ["convert", "a", "b", "c"], ["nonsense"], ["draw", "--colour", "a"]]
)
def test_wrong_usage_is_exit_code_2(capsys, arguments):
    assert run(arguments) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_help_and_version_are_exit_code_0(capsys):
    assert run(["--help"]) == 0
    assert "convert" in capsys.readouterr().out
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("bayeskit ")


def test_an_interruption_is_exit_code_130(asia, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(BayesianNetwork, "read", interrupt)
    assert run(["convert", str(asia), "b.net"]) == 130


def test_help_does_not_import_the_heavy_libraries():
    code = "import sys; from bayeskit.cli.app import run; run(['-h']); print({'numpy', 'rich'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_verb_reads_the_file_of_no_other_verb():
    code = """
import sys
from bayeskit.cli.app import run
run(["draw", "--help"])
print(*[name for name in sys.modules if name.startswith("bayeskit.cli.verb_")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert " draw [OPTIONS] " in done.stdout.splitlines()[0]
    assert done.stdout.splitlines()[-1] == "bayeskit.cli.verb_draw"


def test_an_unknown_verb_is_refused_with_the_nearest_one(capsys):
    assert run(["convrt", "a.bif"]) == 2
    assert "convert" in capsys.readouterr().err
