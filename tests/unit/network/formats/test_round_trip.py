"""What is written reads back as the same network, in every format."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError
from networks import PUBLIC, networks, public

FORMATS = ["bif", "xmlbif", "net", "uai", "dot", "dne", "dsc", "jgum", "xdsl"]
# Read in Python, token by token: of the public networks only small ones, since the law is the same.
SLOW = {"dne", "dsc"}


def same(one, two):
    # GeNIe's files have parents before children, which may be another order.
    return sorted(one.names) == sorted(two.names) and one == two


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_network_reads_back_as_the_same_numbers_in_every_format(name, tmp_path):
    net = public(name)
    for extension in FORMATS:
        if extension in SLOW and sum(table.size for table in net.tables) > 20_000:
            continue
        net.write(tmp_path / f"net.{extension}")
        assert same(net, BayesianNetwork.read(tmp_path / f"net.{extension}")), extension


@pytest.mark.parametrize("extension", [*(f"{e}.gz" for e in FORMATS), "xml", "bifxml", "gv", "BIF"])
def test_packed_files_and_other_extensions_read_back(extension, tmp_path):
    net = BayesianNetwork("A[3]->B<-C; A->C", random_tables=0)
    net.write(tmp_path / f"net.{extension}")
    assert same(net, BayesianNetwork.read(tmp_path / f"net.{extension}"))


def test_the_same_network_gives_the_same_packed_bytes(tmp_path):
    net = BayesianNetwork("A->B", random_tables=0)
    net.write(tmp_path / "one.bif.gz")
    net.write(tmp_path / "two.bif.gz")
    assert (tmp_path / "one.bif.gz").read_bytes() == (tmp_path / "two.bif.gz").read_bytes()


# Any printable name, with the signs of every grammar; blanks stand inside only.
SIGNS = st.sampled_from(list("ab1_-+.,;:|=<>(){}[]/*#%&'~^ 中é"))
NAMES = st.text(SIGNS, min_size=1, max_size=6).filter(lambda name: name == name.strip())


@pytest.mark.parametrize("extension", FORMATS)
@given(net=networks(names=NAMES))
@settings(max_examples=40, deadline=None)
def test_names_of_any_kind_read_back(tmp_path_factory, extension, net):
    path = tmp_path_factory.mktemp("net") / f"net.{extension}"
    net.write(path)
    assert same(net, BayesianNetwork.read(path))


@pytest.mark.parametrize("name", [" a", "a\n", "a\tb", "\x00"])
def test_a_name_with_blanks_around_or_control_signs_is_not_written(tmp_path, name):
    net = BayesianNetwork.from_tables([name], [["no", "yes"]], [[]], [[0.5, 0.5]])
    with pytest.raises(NetworkError, match="rename it"):
        net.write(tmp_path / "net.bif")
    assert not (tmp_path / "net.bif").exists()


@pytest.mark.parametrize(("extension", "name"), [("bif", 'a"b'), ("net", 'a"b'), ("dot", "a\\b")])
def test_a_name_that_a_format_cannot_hold_is_refused_by_name(tmp_path, extension, name):
    net = BayesianNetwork.from_tables([name], [["no", "yes"]], [[]], [[0.5, 0.5]])
    with pytest.raises(NetworkError, match="cannot hold the name"):
        net.write(tmp_path / f"net.{extension}")
    net.write(tmp_path / "net.xmlbif")
    assert same(net, BayesianNetwork.read(tmp_path / "net.xmlbif"))


@pytest.mark.parametrize("name", ["net", "net.", "net.biff", ".gz", "net.gz", "net.pdf.gz"])
def test_an_unknown_extension_is_refused_with_the_nearest(tmp_path, name):
    with pytest.raises(NetworkError, match=r"is not a network format; (did you mean|known)"):
        BayesianNetwork.read(tmp_path / name)
