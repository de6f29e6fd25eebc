"""Groups of a network: found in its graph, folded into boxes, and kept in its file."""

import json
from itertools import combinations

import numpy as np
import pytest

from bayeskit import BayesianNetwork, datasets
from bayeskit.studio.documents import Documents
from bayeskit.studio.geometry import geometry
from bayeskit.studio.groups import MANY, communities, group_variables
from bayeskit.studio.look import look_file


def modularity(groups, arcs):
    """Q of Newman & Girvan (2004), from its definition."""
    of = {i: g for g, members in enumerate(groups) for i in members}
    m = len(arcs)
    inside = [sum(of[a] == of[b] == g for a, b in arcs) for g in range(len(groups))]
    ends = [sum((of[a] == g) + (of[b] == g) for a, b in arcs) for g in range(len(groups))]
    return sum(i / m - (d / (2 * m)) ** 2 for i, d in zip(inside, ends, strict=True))


def partitions(items):
    if not items:
        yield []
        return
    first, *rest = items
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for k, members in enumerate(smaller):
            yield [*smaller[:k], [first, *members], *smaller[k + 1 :]]


def test_groups_of_small_graphs_are_nearly_as_modular_as_the_best_of_all_partitions():
    rng = np.random.default_rng(0)
    for _ in range(12):
        arcs = [pair for pair in combinations(range(7), 2) if rng.random() < 0.4]
        if not arcs:
            continue
        found = communities(7, arcs)
        assert sorted(i for members in found for i in members) == list(range(7))
        best = max(modularity(each, arcs) for each in partitions(list(range(7))))
        assert modularity(found, arcs) >= best - 0.05


def test_cliques_in_a_ring_are_the_groups():
    cliques = [list(range(5 * k, 5 * k + 5)) for k in range(6)]
    arcs = [pair for clique in cliques for pair in combinations(clique, 2)]
    arcs += [(5 * k, (5 * k + 5) % 30) for k in range(6)]
    assert communities(30, arcs) == cliques


def test_small_networks_are_not_grouped_and_large_ones_by_their_graph():
    names = [f"v{i}" for i in range(MANY)]
    arcs = [(i, i + 1) for i in range(MANY - 1)]
    assert group_variables(names[:-1], arcs[:-1], {}) == {}
    assert sorted(i for members in group_variables(names, arcs, {}).values() for i in members) == list(range(MANY))


def test_a_folded_group_is_one_box_with_the_arcs_of_its_members():
    net = datasets.load_asia()
    groups = {"smoke": "Habits", "lung": "Chest", "tub": "Chest", "either": "Chest"}
    shown = json.loads(geometry(net, print, groups, ["Chest"]))
    boxes = {node["name"]: node.get("members", [node["name"]]) for node in shown["nodes"]}
    assert boxes["⊞ Chest"] == ["tub", "lung", "either"]
    assert len(boxes) == 6
    box_of = {name: box for box, members in boxes.items() for name in members}
    between = {(box_of[a], box_of[b]) for a, b in net.arcs if box_of[a] != box_of[b]}
    drawn = set()
    for arc in shown["arcs"]:
        drawn |= {(arc["from"], arc["to"])} if arc["down"] else set()
        drawn |= {(arc["to"], arc["from"])} if arc["up"] else set()
    assert drawn == between
    assert [each["name"] for each in shown["hidden"]] == ["tub", "lung", "either"]


def test_what_is_near_a_variable_is_shown_while_its_group_stays_folded():
    net = datasets.load_asia()
    groups = dict.fromkeys(net.names, "All")
    shown = json.loads(geometry(net, print, groups, ["All"], ["xray"]))
    (near,) = [node for node in shown["nodes"] if node["name"] == "xray"]
    assert near["group"] == "All"
    assert {node["name"] for node in shown["nodes"]} == {"xray", *net.markov_blanket("xray"), "⊞ All"}


@pytest.mark.parametrize("name", ["net.xmlbif", "net.bayes", "net.net", "net.xdsl", "net.dne", "net.bif", "net.uai"])
def test_places_notes_colours_and_groups_come_back_from_the_file_or_from_beside_it(tmp_path, name):
    net = BayesianNetwork("a->b", tables={"a": [0.25, 0.75], "b": [[0.5, 0.5], [0.125, 0.875]]})
    path = tmp_path / name
    net.save(path) if path.suffix == ".bayes" else net.write(path)
    studio = Documents()
    document = studio.open(path, savable=True)
    first = document.net.names[0]
    document.change({"change": "move", "places": {first: [120, -40]}})
    document.change({"change": "note", "variable": first, "note": "asked on arrival"})
    document.change({"change": "colour", "variable": first, "colour": "c"})
    document.change({"change": "group", "variables": [first], "group": "Tests"})
    document.save()
    look = {first: {"at": [120, -40], "note": "asked on arrival", "colour": "c", "group": "Tests"}}
    assert studio.open(path, savable=True).version.draft.look == look
    if name not in ("net.bif", "net.uai"):  # these formats hold no properties
        assert BayesianNetwork.read(path).properties[first]["position"] == "120 -40" if name != "net.bayes" else True
        assert "at" not in json.loads(look_file(path).read_text()).get(first, {}) if look_file(path).exists() else True
    document.change({"change": "layout"})
    document.save()
    assert "at" not in studio.open(path, savable=True).version.draft.look[first]
    studio.close_all()


def test_a_place_that_another_program_wrote_is_used(tmp_path):
    net = datasets.load_asia()
    net.properties = {"smoke": {"position": "300 200", "comment": "from elsewhere"}}
    net.write(tmp_path / "asia.xdsl")
    studio = Documents()
    look = studio.open(tmp_path / "asia.xdsl").version.draft.look
    assert look == {"smoke": {"at": [300, 200], "note": "from elsewhere"}}
    studio.close_all()
