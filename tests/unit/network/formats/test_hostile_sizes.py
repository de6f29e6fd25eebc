"""Files whose shape costs a careless reader the square of their size, or more memory than they have characters."""

import json
import subprocess
import sys
import tracemalloc

import pytest

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkFileError

# Read in linear time, files of this many characters take a second or two; the square of it would take days, so a reader
# that is ended after so many seconds is not a slow machine.
SIZE = 2_000_000
HANGS_AFTER = 300.0
# Memory per character of the file, in the readers that keep tokens and names as Python objects.
BYTES_PER_CHARACTER = 400


def digits_then_a_letter():
    return "1" * SIZE + "x"


def xmlbif(tables):
    head = "<BIF><NETWORK>"
    names = "".join(
        f"<VARIABLE><NAME>v{i}</NAME><OUTCOME>a</OUTCOME></VARIABLE><DEFINITION><FOR>v{i}</FOR><TABLE>{table}</TABLE>"
        "</DEFINITION>"
        for i, table in enumerate(tables)
    )
    return head + names + "</NETWORK></BIF>"


def net_file(data, states='("a")'):
    return f"node x {{ states = {states}; }} potential (x) {{ data = ({data}); }}"


def many_parents(n):
    nodes = "".join(f'node p{i} {{ states = ("a" "b"); }}\n' for i in range(n))
    nodes += "".join(f"potential (p{i}) {{ data = (.5 .5); }}\n" for i in range(1, n))
    return nodes + f"potential (p0 | {' '.join(f'p{i}' for i in range(1, n))}) {{ data = (1); }}"


def group(letter, n):
    return "{" + " ".join(f"{letter}{i}" for i in range(n)) + "}"


REFUSED = {
    "net: a number that is none": ("net", net_file(digits_then_a_letter()), "expected a number"),
    "uai: a number that is none": ("uai", f"BAYES 1 1 1 1 0 1 {digits_then_a_letter()}", "expected a number"),
    "xmlbif: a number that is none": ("xmlbif", xmlbif([digits_then_a_letter()]), "expected a number"),
    "dot: a number that is none": (
        "dot",
        f'digraph {{ a [states="x", table="{digits_then_a_letter()}"] }}',
        "expected a number",
    ),
    "dot: a name of digits": ("dot", "digraph { " + digits_then_a_letter() + " }", "cannot read '1' here"),
    "bif: a number that is none": (
        "bif",
        f"variable x {{ type discrete [ 1 ] {{ a }}; }}\nprobability ( x ) {{ table {digits_then_a_letter()}; }}",
        "number",
    ),
    "net: many digits after the point": ("net", net_file("." + "1" * SIZE + ".1"), "expected a number"),
    "dot: all to all": ("dot", f"digraph {{ {group('a', 15_000)} -> {group('b', 15_000)} }}", "too many arcs"),
    "dot: all to all, many times": (
        "dot",
        "digraph { " + f"{group('a', 200)} -> {group('b', 200)};" * 50 + " }",
        "too many arcs",
    ),
    "dot: a long list of attributes for many nodes": (
        "dot",
        "digraph { " + group("a", 10_000) + ' [states="' + "|".join(map(str, range(10_000))) + '"] }',
        "attributes follow a node or an arc",
    ),
    "dot: hundreds of parents of one state": (
        "dot",
        "digraph { " + "; ".join(f'p{i} [states="a"]; p{i} -> y' for i in range(300)) + " }",
        "has 300 parents",
    ),
    "bif: hundreds of parents of one state": (
        "bif",
        "".join(
            f"variable p{i} {{ type discrete [ 1 ] {{ a }}; }}\nprobability ( p{i} ) {{ table 1; }}\n"
            for i in range(1, 300)
        )
        + "variable p0 { type discrete [ 1 ] { a }; }\nprobability ( p0 | "
        + ", ".join(f"p{i}" for i in range(1, 300))
        + " ) { table 1; }",
        "has 299 parents",
    ),
    "net: twenty thousand parents": ("net", many_parents(20_000), "has 19999 parents"),
    "net: sixty parents": ("net", many_parents(60), "needs more than 1e+15"),
    "uai: every variable with as many states as the file is long": (
        "uai",
        f"BAYES\n20000\n{' 80000' * 20000}\n",
        "the file is too short for their tables",
    ),
    "uai: a comment of spaces after each scope": (
        "uai",
        "BAYES\n1\n2\n1\n1 0 #a" + " " * SIZE + "b\n3\n.5 .5 0",
        "has 3 numbers and needs 2",
    ),
    "net: an open quote after each sign": ("net", 'node x { a = "' + '";"' * (SIZE // 3), "expected"),
}


READ_EACH = """
import json, sys
from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkFileError

for path in sys.argv[1:]:
    try:
        said = {"cards": BayesianNetwork.read(path).cards}
    except NetworkFileError as error:
        said = {"refusal": str(error)}
    print(json.dumps(said), flush=True)
"""


def read_elsewhere(*paths):
    """Read files in another process, which is ended when it hangs; return what came of each that it was done with."""
    process = subprocess.Popen([sys.executable, "-c", READ_EACH, *paths], stdout=subprocess.PIPE, text=True)
    try:
        said, _ = process.communicate(timeout=HANGS_AFTER)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
    return [json.loads(line) for line in said.splitlines()]


@pytest.fixture(scope="module")
def refusals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    paths = [folder / f"net{i}.{extension}" for i, (extension, _, _) in enumerate(REFUSED.values())]
    for path, (_, text, _) in zip(paths, REFUSED.values(), strict=True):
        path.write_text(text)
    return dict(zip(REFUSED, read_elsewhere(*paths), strict=False))


@pytest.mark.parametrize("shape", REFUSED)
def test_a_hostile_shape_is_refused_in_linear_time(refusals, shape):
    assert shape in refusals  # the reader did not hang in it, or in one before
    refusal = refusals[shape]["refusal"]
    assert REFUSED[shape][2] in refusal
    assert ", line " in refusal
    assert len(refusal) < 2000


@pytest.mark.parametrize("shape", [shape for shape in REFUSED if "all" in shape or "many" in shape or "every" in shape])
def test_a_hostile_shape_takes_memory_by_its_size(tmp_path, shape):
    extension, text, _ = REFUSED[shape]
    path = tmp_path / f"net.{extension}"
    path.write_text(text)
    tracemalloc.start()
    with pytest.raises(NetworkFileError):
        BayesianNetwork.read(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < (1 << 24) + BYTES_PER_CHARACTER * len(text)


def test_a_comment_in_every_table_of_xmlbif_is_read_in_linear_time(tmp_path):
    path = tmp_path / "net.xmlbif"
    path.write_text(xmlbif(["1<!-- one -->"] * 20_000))
    assert read_elsewhere(path) == [{"cards": [1] * 20_000}]


def test_a_number_that_is_none_beside_a_comment_is_placed_at_its_table(tmp_path):
    path = tmp_path / "net.xmlbif"
    path.write_text("\n".join(["<BIF><NETWORK>", xmlbif(["<!-- a -->one"])[14:]]))
    with pytest.raises(NetworkFileError, match=r"line 2, column \d+: expected a number, found 'one'"):
        BayesianNetwork.read(path)


def test_thousands_of_nodes_of_net_do_not_copy_the_file_for_each(tmp_path):
    path = tmp_path / "net.net"
    path.write_text(
        "".join(f'node x{i} {{ states = ("a"); }} potential (x{i}) {{ data = (1); }}\n' for i in range(20_000))
    )
    assert read_elsewhere(path) == [{"cards": [1] * 20_000}]


# The family-out network as pgmpy 0.1.26 writes it (its own test of its writer has these numbers, with tables that are
# no distributions): the child's states change slowest, the parents are in reverse.
PGMPY = """BAYES
4
2 2 2 3
4
1 0
3 2 0 1
1 2
3 1 2 3

2
0.01 0.99
8
0.99 0.9 0.97 0.3 0.01 0.1 0.03 0.7
2
0.15 0.85
12
0.7 0.1 0.2 0.5 0.2 0.6 0.2 0.25 0.1 0.3 0.6 0.25
"""


def test_uai_files_of_pgmpy_are_read(tmp_path):
    path = tmp_path / "net.uai"
    path.write_text(PGMPY)
    net = BayesianNetwork.read(path)
    # pgmpy's P(x1 | x0, x2): columns of its table are (x0, x2) = 00, 01, 10, 11; ours has the parents (x2, x0).
    assert net.parents == ((), (2, 0), (), (1, 2))
    assert net.tables[1].tolist() == [[[0.99, 0.01], [0.97, 0.03]], [[0.9, 0.1], [0.3, 0.7]]]
    # P(x3 | x2, x1) in pgmpy, P(x3 | x1, x2) here: pgmpy's column 1 is x2=0, x1=1.
    assert net.tables[3][1, 0].tolist() == [0.1, 0.6, 0.3]
    assert net.tables[3][0, 1].tolist() == [0.2, 0.2, 0.6]


def test_a_uai_file_that_is_right_in_both_orders_is_read_as_the_format_says(tmp_path):
    path = tmp_path / "net.uai"
    path.write_text("BAYES 2 2 2 2 1 0 2 0 1 2 .5 .5 4 .9 .1 .1 .9")
    assert BayesianNetwork.read(path).tables[1].tolist() == [[0.9, 0.1], [0.1, 0.9]]
