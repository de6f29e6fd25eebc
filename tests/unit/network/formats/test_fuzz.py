"""Hostile files: mutations of good ones and files made to hurt are read or refused with line and column."""

import random
import re

import pytest

from bayeskit import BayesianNetwork
from bayeskit.datasets import load_asia, load_burglary
from bayeskit.errors import NetworkFileError

PIECES = [
    *(
        b"{",
        b"}",
        b"(",
        b")",
        b"[",
        b"]",
        b";",
        b",",
        b'"',
        b"|",
        b"<",
        b">",
        b"=",
        b"#",
        b"%",
        b"/*",
        b"//",
        b"\n",
        b"\r",
    ),
    *(
        b"\x00",
        b"\xff",
        b"-1",
        b"1e999",
        b"nan",
        b"inf",
        b"1_0",
        b"999999999999",
        b"&x;",
        b'<!ENTITY a "b">',
        b"->",
        b"--",
    ),
    *(b"default", b"table", "é".encode(), "٣".encode(), b"property", b"<!--", b"-->", b"BAYES", b"digraph"),
]
PLACE = re.compile(r"^.*, line [1-9]\d*, column [1-9]\d*: .+[.?]$", re.DOTALL)
MUTATIONS = 500


def mutated(data, rng):
    """The bytes with one to five cuts, copies, insertions or replacements."""
    text = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        start = rng.randrange(len(text) + 1)
        stop = min(len(text), start + rng.choice([1, 2, 8, 60]))
        kind = rng.randrange(6)
        if kind == 0:
            del text[start:stop]
        elif kind == 1:
            text[start:start] = rng.choice(PIECES)
        elif kind == 2:
            text[start:stop] = rng.choice(PIECES)
        elif kind == 3:
            text[start:start] = text[start:stop]
        elif kind == 4:
            del text[start:]
        else:
            text[start : start + 1] = bytes([rng.randrange(256)])
    return bytes(text)


# Parts of the formats that no network of tables is written with.
BY_HAND = {
    "xdsl": [
        '<smile id="n"><nodes><cpt id="a"><state id="y"/><state id="n"/><probabilities>.1 .9</probabilities></cpt>'
        '<noisymax id="m"><state id="y"/><state id="n"/><parents>a</parents><strengths>0 1</strengths>'
        "<parameters>.7 .3 0 1 .05 .95</parameters></noisymax>"
        '<equation id="x"><parents>a</parents><definition>x=If(a=0, 1, 2) + Normal(0, 1)</definition></equation>'
        "</nodes></smile>"
    ],
    "net": [
        'node a { states = ("y" "n"); } continuous node x { position = (3 4); } continuous node z { }\n'
        "potential (a) { data = (.5 .5); } potential (x | a) { data = (normal(0, 1) normal (2, 4)); }\n"
        "potential (z | x) { data = (normal (1 - 2 * x, 3)); }"
    ],
    "dne": [
        "bnet b { node a { states = (y, n); probs = (.5, .5); }; node c { discrete = FALSE; levels = (0, 1, 2); "
        'parents = (a); chance = DETERMIN; functable = (#0, #1); title = "T"; visual V1 { center = (1, 2); }; };'
        'node e { states = (y, n); parents = (a); equation = "e (a) = a == n ? y : n"; }; };'
    ],
    "jgum": [
        '{"nodes": ["a", "b"], "arcs": [["a", "b"]], "cpds": {"a": {"coefficients": {"(Intercept)": [1]}, "variance": '
        '[1], "parents": []}, "b": {"coefficients": {"(Intercept)": [1], "a": [2]}, "variance": [1], "parents": '
        '["a"]}}}'
    ],
    "uai": ["MARKOV\n2\n2 3\n2\n1 0\n2 0 1\n2\n.5 2\n6\n1 2 3 4 5 6\n"],
}


def refusal(path):
    """The message of the refusal, or None if the file can be read."""
    try:
        BayesianNetwork.read(path)
    except NetworkFileError as error:
        return str(error)
    return None


@pytest.mark.parametrize("extension", ["bif", "xmlbif", "net", "uai", "dot", "xdsl", "dne", "dsc", "jgum"])
def test_mutated_files_are_read_or_refused_with_line_and_column(tmp_path, extension):
    rng = random.Random(5)
    path = tmp_path / f"net.{extension}"
    originals = []
    for net in (load_asia(), load_burglary(), BayesianNetwork("A{低|高}->B[3]", random_tables=0)):
        net.write(path)
        originals.append(path.read_bytes())
    originals += [text.encode() for text in BY_HAND.get(extension, [])]
    refused = 0
    for _ in range(MUTATIONS):
        path.write_bytes(mutated(rng.choice(originals), rng))
        message = refusal(path)
        assert message is None or PLACE.match(message), message
        refused += message is not None
    assert refused > MUTATIONS / 2


def bif(cards, parents, body):
    variables = "".join(
        f"variable {name} {{ type discrete [ {card} ] {{ {', '.join(f's{k}' for k in range(card))} }}; }}\n"
        for name, card in cards.items()
    )
    return f"network x {{ }}\n{variables}probability ( y | {', '.join(parents)} ) {{ {body} }}\n"


WIDE = {f"x{i}": 9 for i in range(20)}
HOSTILE = [
    ("bif", bif({**WIDE, "y": 2}, WIDE, "default 0.5, 0.5;"), "would need more numbers than the file can hold"),
    ("bif", "variable x { type discrete [ 99999999999 ] { a, b }; }", "says another number of states"),
    ("bif", "variable x { type discrete [ 2 ] { a, b }; property " + "x" * 10_000, "the property is not closed"),
    ("bif", "/* " * 10_000, "the comment is not closed"),
    ("bif", "{" * 100_000, "expected 'network', 'variable' or 'probability'"),
    (
        "bif",
        "variable x { type discrete [ 1 ] { a }; }\nprobability ( x ) { table " + "9" * 300 + "; }",
        "sums to 1e+300",
    ),
    ("bif", "variable x { type discrete [ 1 ] { a }; }\nprobability ( x ) { table 1e" + "9" * 5000 + "; }", "finite"),
    ("net", "node x { states = (" + '"a" ' * 100_000 + "); }", "appears twice"),
    ("net", 'node x { states = ("a"); } potential (x) { data = ' + "(" * 100_000 + "1;}", "brackets"),
    ("net", "utility u { }", "'u' is a utility node; decisions and utilities are not answered yet"),
    ("net", "continuous node x { } potential (x) { data = (" + "normal(" * 100_000, "expected"),
    (
        "net",
        "continuous node x { } potential (x) { data = (normal(" + "(" * 9_999 + "0" + ")" * 9_999 + ", 1)); }",
        "deep",
    ),
    ("xdsl", "<smile>" * 100_000, "nested more than 40 deep"),
    ("xdsl", '<!DOCTYPE s [<!ENTITY a "ha">]><smile>&a;</smile>', "declares no entities"),
    ("xdsl", "<smile><nodes/></smile>", "the file has no variable"),
    (
        "xdsl",
        "<smile><nodes>"
        + "".join(
            f'<cpt id="a{i}"><state id="y"/><state id="n"/><probabilities>.5 .5</probabilities></cpt>'
            for i in range(40)
        )
        + f'<equation id="x"><parents>{" ".join(f"a{i}" for i in range(40))}</parents><definition>x = Normal(0, 1)'
        "</definition></equation></nodes></smile>",
        "too many configurations",
    ),
    ("dne", "bnet x { visual V1 {" * 100_000, "nested more than 70 deep"),
    ("dne", "bnet x { node a { states = (" + "(" * 100_000, "expected a value"),
    ("dne", "bnet x { node a { numstates = 999999; }; };", "numstates"),
    ("dsc", "node x { type : discrete [ 2 ] = { a, b };", "expected an attribute"),
    ("jgum", "[" * 100_000, "nested too deep"),
    ("jgum", '{"nodes": ["a[999999999]"], "parents": {}, "cpt": {}}', "more states than the file can hold"),
    ("jgum", '{"nodes": ["a"], "parents": {}, "cpt": {"a": [NaN, 1]}}', "NaN is not a number"),
    ("uai", "BAYES\n999999999\n2", "expected the number of variables"),
    ("uai", "BAYES\n1\n999999999\n1\n1 0\n2\n.5 .5", "expected a number of states"),
    ("uai", "BAYES\n1\n2\n1\n1 0\n20\n.5 .5", "expected 20 numbers"),
    ("uai", "BAYES\n1\n2\n1\n1 0\n2\n.5 .5\n# bayeskit: " + "[" * 100_000, "as a JSON list"),
    ("uai", "LIMID\n1\n2\n1\n1 0\n2\n.5 .5", "starts with BAYES or MARKOV"),
    ("uai", "MARKOV\n1\n2\n1\n1 0\n2\n0 0", "rule out every state"),
    (
        "uai",
        "MARKOV\n40\n"
        + "2 " * 40
        + "\n780\n"
        + "".join(f"2 {i} {j}\n" for i in range(40) for j in range(i))
        + "4 1 1 1 1\n" * 780,
        "cannot be answered exactly: a product over 40 variables would hold 2^40.0 numbers",
    ),
    ("dot", "digraph { " + "{" * 1000 + "}" * 1000 + "}", "subgraphs are nested more than 50 deep"),
    ("dot", "digraph { " + "; ".join(f"x{i} -> y" for i in range(60)) + " }", "the table of 'y' would be too large"),
    ("dot", "graph { a -- b }", "a Bayesian network is a 'digraph'"),
    ("dot", "digraph { a -- b }", "has no direction"),
    ("dot", "digraph { a -> b -> a }", "the arcs form a cycle: "),
    (
        "xmlbif",
        '<!DOCTYPE BIF [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><BIF><NETWORK><NAME>&b;</NAME></NETWORK></BIF>',
        "declares no entities",
    ),
    ("xmlbif", '<!DOCTYPE BIF [<!ENTITY a SYSTEM "file:///etc/hostname">]><BIF/>', "declares no entities"),
    ("xmlbif", "<BIF>" * 100_000, "is not allowed in BIF"),
    ("xmlbif", "<BIF><NETWORK></NETWORK></BIF>", "the file has no variable"),
]


@pytest.mark.parametrize(("extension", "text", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_files_made_to_hurt_are_refused_in_bounded_time_and_memory(tmp_path, extension, text, message):
    path = tmp_path / f"net.{extension}"
    path.write_text(text)
    with pytest.raises(NetworkFileError) as error:
        BayesianNetwork.read(path)
    assert message in str(error.value)
    assert PLACE.match(str(error.value))


def test_a_file_that_unpacks_without_end_is_not_read(tmp_path, monkeypatch):
    import gzip

    from bayeskit.network.formats import paths

    monkeypatch.setattr(paths, "MAX_BYTES", 1 << 20)
    path = tmp_path / "net.bif.gz"
    path.write_bytes(gzip.compress(b" " * (1 << 21)))
    with pytest.raises(NetworkFileError, match="holds more than 1 MiB of text"):
        BayesianNetwork.read(path)


@pytest.mark.parametrize("data", [b"", b"no gzip", b"\x1f\x8b\x08\x00"])
def test_a_broken_gzip_file_is_named(tmp_path, data):
    path = tmp_path / "net.bif.gz"
    path.write_bytes(data)
    with pytest.raises(NetworkFileError, match=r"not a complete gzip file|no variable"):
        BayesianNetwork.read(path)
