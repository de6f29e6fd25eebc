"""``bayeskit learn`` on the command line."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

from bayeskit import BayesianNetwork, load
from bayeskit.cli.app import run


@pytest.fixture
def cases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = BayesianNetwork("A->C<-B; C->D", tables={
        "A": [0.5, 0.5], "B": [0.5, 0.5], "C": [[[0.95, 0.05], [0.3, 0.7]], [[0.4, 0.6], [0.05, 0.95]]],
        "D": [[0.9, 0.1], [0.2, 0.8]]})  # fmt: skip
    rows = net.sample(2000, random_state=0)
    with (tmp_path / "cases.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows, "visits"])
        writer.writerows((*row, k % 3) for k, row in enumerate(zip(*rows.values(), strict=True)))
    return tmp_path


def test_a_table_becomes_a_network_file_and_a_drawing(cases, capsys):
    assert run(["learn", "cases.csv", "-o", "net.bif", "--draw", "net.svg", "--ignore", "visits"]) == 0
    net = BayesianNetwork.read(cases / "net.bif")
    assert set(net.arcs) == {("A", "C"), ("B", "C"), ("C", "D")}
    assert (cases / "net.svg").read_text().startswith("<svg")
    assert "net.bif: 4 variables, 3 arcs" in capsys.readouterr().out


def test_why_says_what_each_arc_adds_to_the_score_and_what_came_next(cases, capsys):
    assert run(["learn", "cases.csv", "-o", "net.bif", "--ignore", "visits", "--why"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert any("A -> C  gain " in line and "2000 rows" in line for line in said)
    assert "Came next:" in said
    assert run(["learn", "cases.csv", "-o", "other.bif", "--ignore", "visits", "--why", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(arc["parent"], arc["child"]) for arc in found["why"]} == {tuple(arc) for arc in found["arcs"]}
    assert not any(arc["present"] for arc in found["candidates"])
    assert run(["learn", "cases.csv", "-m", "fci", "--why"]) == 2
    assert "where a search found them" in " ".join(capsys.readouterr().err.split())


def test_constraints_and_methods_reach_the_search(cases, capsys):
    options = ["--forbid", "A->C", "--require", "D->A", "--tier", "D", "--tier", "A,B,C,visits", "--max-parents", "1"]
    assert run(["learn", "cases.csv", "-m", "tabu", *options, "--restarts", "2", "--json", "-o", "net.bayes"]) == 0
    said = json.loads(capsys.readouterr().out)
    arcs = {tuple(arc) for arc in said["arcs"]}
    assert ("D", "A") in arcs
    assert ("A", "C") not in arcs
    assert all(child != "D" for _, child in arcs)
    assert load(cases / "net.bayes").counts is not None


def test_k2_takes_an_ordering(cases, capsys):
    assert run(["learn", "cases.csv", "-m", "k2", "--ordering", "D,C,B,A,visits", "--json"]) == 0
    arcs = json.loads(capsys.readouterr().out)["arcs"]
    assert all("DCBA".index(a) < "DCBA".index(b) for a, b in arcs if "visits" not in (a, b))


def test_what_is_wrong_is_one_sentence(cases, capsys):
    assert run(["learn", "cases.csv", "--forbid", "A=C"]) == 1
    assert "an arc has the form A->B" in capsys.readouterr().err
    assert run(["learn", "cases.csv", "-m", "magic"]) == 1
    assert "method must be one of" in capsys.readouterr().err
    assert run(["learn", "cases.csv", "-m", "tabu", "--alpha", "0.1"]) == 1
    assert "method 'tabu' takes no --alpha" in capsys.readouterr().err
    assert run(["learn", "cases.csv", "-m", "pc", "--alpha", "7"]) == 1
    assert "alpha must lie between 0 and 1" in capsys.readouterr().err


def test_what_cannot_be_written_is_refused_before_the_search(cases, capsys, monkeypatch):
    from bayeskit.network.learn import search

    def never(*_, **__):
        raise AssertionError("the search began")

    monkeypatch.setattr(search, "learn_structure", never)
    for options, message in [
        (["-o", "net.txt"], "'.txt' is not a network format"),
        (["--draw", "net.png"], "a drawing is saved as .svg; got 'net.png'"),
        (["-o", "cases.csv"], "cases.csv"),
    ]:
        assert run(["learn", "cases.csv", *options]) == 1
        assert message in capsys.readouterr().err


def test_an_error_names_the_option_that_settles_it(cases, capsys):
    (cases / "numbers.csv").write_text("age,ill\n1.5,no\n2.25,yes\n", encoding="utf-8")
    assert run(["learn", "numbers.csv"]) == 1
    assert "(option --numeric)" in capsys.readouterr().err
    (cases / "holes.csv").write_text("a,b,c\nx,,1\n,v,1\ny,,2\n", encoding="utf-8")
    assert run(["learn", "holes.csv", "--missing", "complete-rows"]) == 1
    assert "(option --missing)" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a signal of Unix")
def test_ctrl_c_keeps_the_best_network_so_far(cases):
    # 20 columns, so that a search with many restarts lasts; the signal comes when a network was found.
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (3000, 20))
    x[:, 1:] = np.where(rng.random((3000, 19)) < 0.6, x[:, :-1], x[:, 1:])
    names = [f"v{j}" for j in range(20)]
    lines = [",".join(names), *(",".join(f"s{v}" for v in row) for row in x.tolist())]
    (cases / "wide.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = """
import os, signal, sys
from bayeskit.cli import verb_learn
from bayeskit.cli.app import run
told = verb_learn._StepCounter.__call__
def tell(self, step):
    if step.done == 60:
        os.kill(os.getpid(), signal.SIGINT)
    told(self, step)
verb_learn._StepCounter.__call__ = tell
sys.exit(run(["learn", "wide.csv", "-m", "tabu", "--restarts", "100000", "-o", "net.bif", "--draw", "net.svg"]))
"""
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, cwd=cases, timeout=120)
    assert done.returncode == 0
    assert "interrupted; the best network so far is kept" in done.stdout
    assert "Traceback" not in done.stderr
    assert len(BayesianNetwork.read(cases / "net.bif").arcs) >= 15
    assert (cases / "net.svg").exists()


def test_a_given_structure_keeps_its_arcs_and_the_rows_fill_its_tables(cases, capsys):
    with (cases / "cases.csv").open() as file:
        rows = list(csv.DictReader(file))
    states = sorted({row["A"] for row in rows})
    BayesianNetwork("C->A; C->D", states=dict.fromkeys("ACD", states)).write(cases / "given.bif")
    assert run(["learn", "cases.csv", "--structure", "given.bif", "-o", "fitted.bif", "--smoothing", "0"]) == 0
    assert "tables learned from 2000 rows" in capsys.readouterr().out
    net = BayesianNetwork.read(cases / "fitted.bif")
    assert set(net.arcs) == {("C", "A"), ("C", "D")}
    given = [row for row in rows if row["C"] == states[1]]
    share = sum(row["A"] == states[0] for row in given) / len(given)
    assert net.tables[net.index("A")][1, 0] == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("missing", ["complete-rows", "node-average", "em"])
def test_missing_cells_under_a_given_structure(cases, missing):
    (cases / "few.csv").write_text("A,B\nx,u\nx,v\ny,\ny,v\n,u\n")
    BayesianNetwork("A->B", states={"A": ["x", "y"], "B": ["u", "v"]}).write(cases / "given.bif")
    options = ["--structure", "given.bif", "-o", "f.bif", "--smoothing", "0", "--missing", missing]
    assert run(["learn", "few.csv", *options]) == 0
    first = BayesianNetwork.read(cases / "f.bif").tables[0][0]
    if missing == "complete-rows":
        assert first == pytest.approx(2 / 3)
    if missing == "node-average":
        assert first == pytest.approx(1 / 2)
    if missing == "em":  # the row without A is of u, which only x gives; EM comes near the edge slowly
        assert first == pytest.approx(3 / 5, abs=1e-2)


def test_options_of_a_search_are_refused_with_a_structure(cases, capsys):
    BayesianNetwork("A->C").write(cases / "given.bif")
    for options in (["-m", "tabu"], ["--score", "aic"], ["--max-parents", "2"], ["--alpha", "0.1"]):
        assert run(["learn", "cases.csv", "--structure", "given.bif", *options]) != 0
        assert "nothing is searched" in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_fci_writes_a_graph_with_its_marks_and_refuses_what_it_does_not_take(cases, capsys):
    assert run(["learn", "cases.csv", "--method", "fci", "--draw", "pag.svg"]) == 0
    graph = json.loads((cases / "pag.json").read_text())
    assert {edge[1] for edge in graph["edges"]} <= {"-->", "o->", "<->", "o-o", "o--", "---"}
    assert (cases / "pag.svg").read_text().startswith("<svg")
    said = capsys.readouterr().out
    assert all(f"{a} {sign} {b}" in said for a, sign, b in graph["edges"])
    assert run(["learn", "cases.csv", "--method", "rfci", "-o", "pag.dot", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == graph["edges"]
    assert (cases / "pag.dot").read_text().startswith("digraph {")
    assert run(["learn", "cases.csv", "--method", "fci", "-o", "net.bif"]) == 1
    assert run(["learn", "cases.csv", "--method", "fci", "--score", "bic", "-o", "a.json"]) == 1
    said = capsys.readouterr().err
    assert "saved as .json or .dot" in said
    assert "takes no --score" in said
