"""The native reader of BIF equals a plain one made of regular expressions."""

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from bayeskit._kernels import parse_bif
from bayeskit.network.formats.bif import BIF
from networks import networks

WORD = r'"[^"]*"|[^\s{}()\[\],;|"]+'


def parse_bif_reference(text):
    """Names, states, parents and tables of a good file, found by pattern."""
    unquoted = lambda words: [word.strip('"') for word in re.findall(WORD, words)]  # noqa: E731
    names, states = [], []
    for name, listed in re.findall(rf"variable ({WORD}) \{{\s*type discrete \[ \d+ \] \{{ (.*) \}};", text):
        names.append(name.strip('"'))
        states.append(tuple(unquoted(listed)))
    parents, tables = [()] * len(names), [None] * len(names)
    for family, body in re.findall(r"probability \( (.*) \) \{\n((?:  .*;\n)*)\}", text):
        child, *above = (names.index(name) for name in unquoted(family))
        table = np.full([*(len(states[p]) for p in above), len(states[child])], np.nan)
        for line in body.splitlines():
            if line.startswith("  table "):
                table[...] = [float(x) for x in line[8:-1].split(",")]
            else:
                key, numbers = re.fullmatch(r"  \((.*)\) (.*);", line).groups()
                place = tuple(states[p].index(state) for p, state in zip(above, unquoted(key), strict=True))
                table[place] = [float(x) for x in numbers.split(",")]
        parents[child], tables[child] = tuple(above), table
    return names, states, parents, tables


NAMES = st.text(st.sampled_from(list("abc_-/<=1 中")), min_size=1, max_size=4).filter(lambda x: x == x.strip())


@given(networks(names=NAMES))
@settings(max_examples=100, deadline=None)
def test_the_native_reader_reads_what_the_reference_reads(net):
    text = BIF().write(net)
    names, states, parents, tables = parse_bif_reference(text)
    native_names, native_states, native_parents, numbers, spans = parse_bif(text.encode(), False, 1e-5)
    assert (native_names, native_states, native_parents) == (names, states, parents)
    for table, (first, size, at) in zip(tables, spans, strict=True):
        assert_array_equal(numbers[first : first + size], table.reshape(-1))
        assert text.encode()[at : at + 1] == b"("


@given(st.from_regex(r"[+]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True))
@settings(max_examples=150)
def test_a_number_is_read_as_python_reads_it(text):
    data = f"variable x {{ type discrete [ 1 ] {{ a }}; }} probability ( x ) {{ table {text}; }}".encode()
    found = parse_bif(data, False, float("inf"))
    if np.isinf(float(text)):
        assert "finite" in found[1]
    else:
        assert found[3].tolist() == [float(text)]
