"""What each reader makes of files as other programs and people write them."""

import pytest
from numpy.testing import assert_array_equal

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkFileError


def read(tmp_path, name, text, **options):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return BayesianNetwork.read(tmp_path / name, **options)


BIF = """// a comment
network "dog problem" { property "by hand"; }
variable "family-out" { type discrete [ 2 ] { true, false }; property position = (10, 20); }
variable light-on { type discrete[3]{on off "half on"}; /* no commas */ }
probability ( "family-out" ) { table .15 .85; }
"""


def test_bif_rows_defaults_and_tables_mean_the_same(tmp_path):
    head = BIF + 'probability ( light-on | "family-out" ) {'
    rows = read(tmp_path, "a.bif", head + " (true) .6, .3, .1; (false) .05 .9 .05; }")
    default = read(tmp_path, "b.bif", head + " default .05, .9, .05; (true) .6, .3, .1; }")
    # In a table the child's states change slowest.
    table = read(tmp_path, "c.bif", head + " table .6, .05, .3, .9, .1, .05; }")
    assert_array_equal(rows.tables[1], [[0.6, 0.3, 0.1], [0.05, 0.9, 0.05]])
    assert rows.equals(default)
    assert rows.equals(table)
    assert rows.names == ("family-out", "light-on")
    assert rows.states[1] == ("on", "off", "half on")


def test_bif_of_the_old_kind_has_parents_without_a_bar(tmp_path):
    net = read(tmp_path, "a.bif", BIF + 'probability ( light-on "family-out" ) { (true) 1 0 0; (false) 0 1 0; }')
    assert net.arcs == (("family-out", "light-on"),)


def test_numbers_are_read_to_the_last_bit(tmp_path):
    texts = [
        "0.1234567890123456789",
        "8.765432109876544e-1",
        "1e-320",
        ".0",
        "0.30000000000000004",
        "0.69999999999999996",
    ]
    for first in texts:
        second = repr(1.0 - float(first))
        net = read(
            tmp_path,
            "a.bif",
            f"variable x {{ type discrete [ 2 ] {{ a, b }}; }} probability ( x ) {{ table {first}, {second}; }}",
        )
        assert net.tables[0].tolist() == [float(first), float(second)]


BAD_BIF = [
    ("probability ( light-on | dog ) { }", "line 6, column 26: variable 'dog' is not declared above this line."),
    (
        'probability ( light-on | "family-out" ) { (true) 1 0 0; }',
        "the row of 'light-on' for family-out=false is not there.",
    ),
    (
        'probability ( light-on | "family-out" ) { (yes) 1 0 0; }',
        "line 6, column 44: variable 'family-out' has no state 'yes'.",
    ),
    (
        "probability ( light-on ) { table .5 .6 0; }",
        "line 6, column 28: the table of 'light-on' sums to 1.1, not to 1 within 1e-05; correct it or pass normalize",
    ),
    ("probability ( light-on ) { table .5 .5; }", "the table has 2 numbers and needs 3."),
    ("probability ( light-on ) { table 1 0 0 0; }", "line 6, column 40: the table has more than 3 numbers."),
    ("probability ( light-on ) { table -1 1 1; }", "line 6, column 34: a probability is a finite number of 0 or more."),
    ("probability ( light-on ) { table nan 1 1; }", "line 6, column 34: expected a number, found 'nan'."),
    ("", "line 4, column 10: variable 'light-on' has no probability block."),
    (
        'probability ( "family-out" ) { table .5 .5; }',
        "line 6, column 13: variable 'family-out' has two probability blocks.",
    ),
    ("variable light-on { }", "line 6, column 10: variable 'light-on' appears twice."),
    ("variable x { type continuous; }", "only discrete variables can be read, found 'continuous'."),
    ("variable x { type discrete [ 3 ] { a, b }; }", "says another number of states than the 2 that it lists."),
    ("variable x { type discrete [ 2 ] { a, a }; }", "state 'a' of 'x' appears twice."),
]


@pytest.mark.parametrize(("tail", "message"), BAD_BIF)
def test_a_fault_in_bif_is_shown_with_its_place(tmp_path, tail, message):
    with pytest.raises(NetworkFileError) as error:
        read(tmp_path, "a.bif", BIF + tail)
    assert message in str(error.value)


def test_a_cycle_in_a_file_is_shown_at_its_table(tmp_path):
    text = "".join(f"variable {v} {{ type discrete [ 1 ] {{ s }}; }}\n" for v in "abc")
    text += "".join(f"probability ( {v} | {p} ) {{ (s) 1; }}\n" for v, p in ("ab", "bc", "ca"))
    with pytest.raises(NetworkFileError, match=r"line [456], column 13: the arcs form a cycle: "):
        read(tmp_path, "a.bif", text)


def test_normalise_lets_rows_be_weights(tmp_path):
    text = BIF.replace(".15 .85", "3 9") + "probability ( light-on ) { table 1 2 5; }"
    net = read(tmp_path, "a.bif", text, normalize=True)
    assert_array_equal(net.tables[0], [0.25, 0.75])
    assert_array_equal(net.tables[1], [0.125, 0.25, 0.625])


def test_a_byte_that_is_not_utf8_is_shown_with_its_place(tmp_path):
    (tmp_path / "a.bif").write_bytes(b"network x { }\nvariable \xe9t\xe9 { }")
    with pytest.raises(NetworkFileError, match="line 2, column 10: byte 0xe9 is not UTF-8"):
        BayesianNetwork.read(tmp_path / "a.bif")


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path):
    text = (BIF + "probability ( light-on ) { table 1 0 0; }").replace("\n", "\r\n")
    (tmp_path / "a.bif").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert BayesianNetwork.read(tmp_path / "a.bif").names == ("family-out", "light-on")


NET = """net { node_size = (80 40); name = "x; {"; }  % a comment; }
node A { states = ("no" "yes"); label = "Has; {it"; position = (1 2); }
discrete node B { states = (low "very high"); }
potential (A) { data = (0.25 0.75); }
potential (B | A) { data = ((0.5 0.5)  % A=no
  (0.125 0.875)); }
"""


def test_net_is_read_as_hugin_writes_it(tmp_path):
    net = read(tmp_path, "a.net", NET)
    assert net.states == (("no", "yes"), ("low", "very high"))
    assert_array_equal(net.tables[1], [[0.5, 0.5], [0.125, 0.875]])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.125", "0.x25", "line 6, column 4: expected a number, found '0.x25'."),
        ("0.125", "0.225", "line 5, column 28: row 2 of the table of 'B' sums to 1.1"),
        ("(0.25 0.75)", "(0.25 0.75", "the brackets of the data of 'A' do not match."),
        ("(B | A)", "(B | C)", "line 5, column 16: node 'C' is not declared above this line."),
        ("(B | A)", "(B | A A)", "line 5, column 18: 'A' appears twice."),
        ("potential (A) { data = (0.25 0.75); }", "", "line 2, column 6: node 'A' has no potential."),
        ("potential (A)", "potential (B)", "node 'B' has two potentials."),
        ("node B", "node A", "node 'A' appears twice."),
        ("data = (0.25 0.75);", "", "the potential of 'A' has no data."),
        ("discrete node", "decision", "is a decision node; decisions and utilities are not answered yet"),
        ("(low", '("low" "low"', "state 'low' of 'B' appears twice or is empty."),
    ],
)
def test_a_fault_in_net_is_shown_with_its_place(tmp_path, old, new, message):
    assert old in NET
    with pytest.raises(NetworkFileError) as error:
        read(tmp_path, "a.net", NET.replace(old, new, 1))
    assert message in str(error.value)


def test_uai_has_the_child_last_and_the_last_parent_fastest(tmp_path):
    net = read(
        tmp_path,
        "a.uai",
        "BAYES 3 2 3 2 3  1 0  1 1  3 1 0 2  2 .5 .5  3 .2 .3 .5  12 1 0 .9 .1 .8 .2 .7 .3 .6 .4 .5 .5",
    )
    assert net.names == ("x0", "x1", "x2")
    assert net.parents == ((), (), (1, 0))
    assert_array_equal(net.tables[2][..., 0], [[1, 0.9], [0.8, 0.7], [0.6, 0.5]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BAYES 1 2 1 1 0 2 .5 .5 7", "line 1, column 25: expected the end of the file, found '7'."),
        ("BAYES 2 2 2 2 1 0 2 0 0 2 .5 .5 4 1 0 1 0", "a variable appears twice in the scope."),
        ("BAYES 2 2 2 2 1 0 1 0 2 .5 .5 2 .5 .5", "variable 'x0' has two tables"),
        ("BAYES 1 2 1 1 0 2 .5 x", "line 1, column 22: expected a number, found 'x'."),
        ("BAYES 1 2 2 1 0 2 .5 .5", "expected the number of tables, one per variable: 1, found '2'."),
        ("BAYES 1 2 1 1 0 3 .5 .25 .25", "the table of 'x0' has 3 numbers and needs 2."),
    ],
)
def test_a_fault_in_uai_is_shown_with_its_place(tmp_path, text, message):
    with pytest.raises(NetworkFileError) as error:
        read(tmp_path, "a.uai", text)
    assert message in str(error.value)


def test_dot_gives_the_graph_of_any_digraph(tmp_path):
    net = read(
        tmp_path,
        "a.dot",
        """strict DiGraph "my graph" { // comment
# another
        rankdir=LR; node [shape=box, label=<<b>x</b>>]; edge [color="red"]
        a -> b -> {c; "d e"} [weight=2]; subgraph cluster_1 { label="x"; f:n -> a; } g
        }""",
    )
    assert net.names == ("a", "b", "c", "d e", "f", "g")
    assert set(net.arcs) == {("a", "b"), ("b", "c"), ("b", "d e"), ("f", "a")}
    assert net.states[0] == ("no", "yes")
    assert_array_equal(net.tables[0], [[0.5, 0.5], [0.5, 0.5]])


XML = """<?xml version="1.0" encoding="US-ASCII"?>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3"><NETWORK><NAME>x</NAME>
<VARIABLE TYPE="nature"><NAME>a &amp; b</NAME><OUTCOME>n</OUTCOME><OUTCOME>y</OUTCOME><PROPERTY>p</PROPERTY></VARIABLE>
<VARIABLE><NAME>c</NAME><OUTCOME>&lt;1</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>
<DEFINITION><FOR>a &amp; b</FOR><TABLE>0.25 <!-- yes --> 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>c</FOR><GIVEN>a &amp; b</GIVEN><TABLE>0.5 0.5
0.125 0.875</TABLE></DEFINITION></NETWORK></BIF>"""


def test_xmlbif_is_read_with_references_comments_and_properties(tmp_path):
    net = read(tmp_path, "a.xmlbif", XML)
    assert net.names == ("a & b", "c")
    assert net.states[1] == ("<1", "1")
    assert_array_equal(net.tables[0], [0.25, 0.75])
    assert_array_equal(net.tables[1], [[0.5, 0.5], [0.125, 0.875]])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.125", "0.x25", "line 7, column 1: expected a number, found '0.x25'."),
        ("0.125", "0.225", "line 6, column 49: row 2 of the table of 'c' sums to 1.1"),
        ("<FOR>c</FOR>", "<FOR>d</FOR>", "line 6, column 13: variable 'd' is not in the file."),
        (
            "<VARIABLE>",
            '<VARIABLE TYPE="utility">',
            "line 4, column 1: 'c' is a utility node",
        ),
        ("</NETWORK>", "", "the XML is broken: mismatched tag."),
        ("<OUTCOME>1</OUTCOME>", "<OUTCOME>&lt;1</OUTCOME>", "variable 'c' needs outcomes that differ"),
        ("<NAME>c</NAME>", "", "line 4, column 1: expected one NAME here, found 0."),
    ],
)
def test_a_fault_in_xmlbif_is_shown_with_its_place(tmp_path, old, new, message):
    assert old in XML
    with pytest.raises(NetworkFileError) as error:
        read(tmp_path, "a.xmlbif", XML.replace(old, new, 1))
    assert message in str(error.value)
