"""Files of other programs are read as they read them, and they read ours."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_allclose

import networks
from bayeskit import BayesianNetwork

gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")

# pyAgrum reads the numbers of BIF in single precision and writes UAI and XMLBIF with six digits.
SINGLE, SIX_DIGITS = 1e-7, 1e-5


def their_table(bn, net, i):
    """pyAgrum's table of our variable i, its axes in our order."""
    tensor = bn.cpt(net.names[i])
    wanted = [net.names[p] for p in net.parents[i]] + [net.names[i]]
    names = list(reversed(tensor.names))  # pyAgrum's arrays have the first variable last
    return tensor.toarray().transpose([names.index(name) for name in wanted])


def build_in_pyagrum(net):
    """The same network in pyAgrum, number by number."""
    bn = gum.BayesNet()
    for name, own in zip(net.names, net.states, strict=True):
        bn.add(gum.LabelizedVariable(name, name, list(own)))
    for parent, child in net.arcs:
        bn.addArc(parent, child)
    for i, name in enumerate(net.names):
        tensor = bn.cpt(name)
        wanted = [net.names[p] for p in net.parents[i]] + [name]
        axes = [wanted.index(other) for other in reversed(tensor.names)]
        tensor[:] = np.ascontiguousarray(net.tables[i].transpose(axes))
    return bn


SMALL = [
    "alarm",
    "andes",
    "asia",
    "cancer",
    "earthquake",
    "hailfinder",
    "insurance",
    "sachs",
    "survey",
    "win95pts",
    "pigs",
]


# The states of child hold < and /, which pyAgrum refuses to write in BIF and writes unescaped in XML.
WRITTEN = [
    *((name, extension) for name in SMALL for extension in ("bif", "net", "bifxml", "uai")),
    *((name, extension) for name in ("alarm", "asia", "insurance", "survey") for extension in ("xdsl", "jgum")),
    *(("child", extension) for extension in ("net", "uai")),
]


@pytest.mark.parametrize(("name", "extension"), WRITTEN)
def test_what_pyagrum_writes_is_read_as_the_same_numbers(tmp_path, name, extension):
    net = networks.public(name)
    path = tmp_path / f"net.{extension}"
    gum.saveBN(build_in_pyagrum(net), str(path))
    read = BayesianNetwork.read(path)
    if extension == "uai":  # numbers only; names stand in comments, states are 0, 1, …
        assert read.names == net.names
        read = BayesianNetwork.from_tables(net.names, net.states, read.parents, read.tables)
    assert read.equals(net, 1e-15 if extension in ("bif", "net") else SIX_DIGITS)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("extension", ["bif", "net", "bifxml", "jgum"])
def test_what_we_write_pyagrum_reads(tmp_path, name, extension):
    net = networks.public(name)
    net.write(tmp_path / f"net.{extension}")
    bn = gum.loadBN(str(tmp_path / f"net.{extension}"))
    assert set(bn.names()) == set(net.names)
    for i in range(len(net.names)):
        assert_allclose(their_table(bn, net, i), net.tables[i], atol=SINGLE)


@pytest.mark.parametrize("name", ["alarm", "asia", "insurance", "munin", "pigs"])
def test_bif_is_read_as_pyagrum_reads_it(tmp_path, name):
    net = networks.public(name)
    (tmp_path / "net.bif").write_bytes(gzip.decompress((networks.SHARED / f"{name}.bif.gz").read_bytes()))
    bn = gum.loadBN(str(tmp_path / "net.bif"))
    assert set(bn.names()) == set(net.names)
    assert {(bn.variable(a).name(), bn.variable(b).name()) for a, b in bn.arcs()} == set(net.arcs)
    for i, name in enumerate(net.names):
        assert bn.variable(name).labels() == net.states[i]
        assert_allclose(their_table(bn, net, i), net.tables[i], atol=SINGLE)
