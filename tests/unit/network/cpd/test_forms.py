"""Forms in place of tables: each equals its formula, enters a network, and comes back from a file."""

import pickle
from itertools import product
from math import prod

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.stats import truncnorm

import bayeskit
from bayeskit import BayesianNetwork
from bayeskit.errors import ModelFileError, NetworkError, TooLargeError
from bayeskit.network import (
    ConditionalGaussian,
    LinearGaussian,
    Logistic,
    NoisyAdder,
    NoisyAnd,
    NoisyMax,
    NoisyOr,
    Ranked,
    Table,
    TreeTable,
)
from bayeskit.network.cpd.saved import cpds_from_parts, cpds_to_parts

EXACT = 1e-15


def net_of(form, parents=("a", "b"), states=None, own=("no", "yes")):
    states = states or {name: ["no", "yes"] for name in parents}
    tables = {name: np.full(len(states[name]), 1 / len(states[name])) for name in parents} | {"y": form}
    return BayesianNetwork({"y": list(parents)}, states={**states, "y": list(own)}, tables=tables)


def table_of(form, **more):
    net = net_of(form, **more)
    return net["y"].array


def test_a_noisy_or_is_one_minus_the_product_of_failures():
    table = table_of(NoisyOr({"a": 0.8, "b": 0.4}, leak=0.01))
    for a, b in product((0, 1), repeat=2):
        assert table[a, b, 0] == pytest.approx(0.99 * 0.2**a * 0.6**b, rel=EXACT)
    assert_allclose(table.sum(axis=-1), 1.0, rtol=EXACT)


def test_small_probabilities_of_a_noisy_or_keep_their_digits():
    table = table_of(NoisyOr(leak=1e-300, a=1e-200, b=3e-200))
    assert_allclose(table[..., 1], [[1e-300, 3e-200], [1e-200, 4e-200]], rtol=1e-15)


def test_the_compound_meaning_has_the_leak_in_every_link():
    table = table_of(NoisyOr(leak=0.1, meaning="compound", a=0.82, b=0.46))
    assert_allclose(table[1, 0, 1], 0.82, rtol=EXACT)
    assert_allclose(table[0, 1, 1], 0.46, rtol=EXACT)
    assert_allclose(table, table_of(NoisyOr(leak=0.1, a=0.8, b=0.4)), rtol=1e-14)


def test_the_state_that_says_yes_may_come_first():
    states = {"a": ["yes", "no"], "b": ["absent", "present"]}
    table = table_of(NoisyOr(leak=0.1, a=0.5, b=0.25), states=states, own=("true", "false"))
    assert_allclose(table[0, 1], [1 - 0.9 * 0.5 * 0.75, 0.9 * 0.5 * 0.75], rtol=EXACT)


def test_a_parent_with_degrees_has_a_number_for_each():
    states = {"a": ["none", "mild", "severe"], "b": ["no", "yes"]}
    table = table_of(NoisyOr(a={"mild": 0.3, "severe": 0.9}, b=0.5), states=states)
    assert_allclose(table[:, 0, 1], [0.0, 0.3, 0.9], rtol=EXACT)
    with pytest.raises(NetworkError, match="parent 'a' has 3 states; give a mapping"):
        net_of(NoisyOr(a=0.3, b=0.5), states=states)


def test_a_noisy_and_is_a_product_of_conditions():
    table = table_of(NoisyAnd(sure=0.9, a=0.8, b={"no": 0.1, "yes": 1.0}))
    assert_allclose(table[..., 1], [[0.0, 0.0], [0.9 * 0.8 * 0.1, 0.9 * 0.8]], rtol=EXACT)


def brute_force(combine, leak, links, r):
    """P(y | parents) by the sum over all effects."""
    table = np.zeros((*(len(link) for link in links), r))
    for codes in product(*(range(len(link)) for link in links)):
        rows = [leak, *(link[x] for link, x in zip(links, codes, strict=True))]
        for effects in product(range(r), repeat=len(rows)):
            table[(*codes, combine(effects))] += prod(row[z] for row, z in zip(rows, effects, strict=True))
    return table


@pytest.mark.parametrize(
    ("form", "combine"), [(NoisyMax, max), (NoisyAdder, lambda effects: min(sum(effects), 2))], ids=["max", "sum"]
)
def test_graded_effects_equal_the_sum_over_all_effects(form, combine):
    rng = np.random.default_rng(1)
    leak, links = rng.dirichlet(np.ones(3)), [rng.dirichlet(np.ones(3), size=2), rng.dirichlet(np.ones(3), size=3)]
    states = {"a": ["no", "yes"], "b": ["u", "v", "w"]}
    table = table_of(form({"a": links[0], "b": links[1]}, leak=leak), states=states, own=("0", "1", "2"))
    assert_allclose(table, brute_force(combine, leak, links, 3), rtol=1e-14)


def test_the_order_of_a_noisy_max_may_be_given():
    up = table_of(NoisyMax(leak=[0.7, 0.2, 0.1], a=[0.1, 0.2, 0.7], b=[0.5, 0.5, 0.0]), own=("low", "mid", "high"))
    down = table_of(
        NoisyMax(
            order=["low", "mid", "high"],
            leak={"low": 0.7, "mid": 0.2, "high": 0.1},
            a={"yes": [0.7, 0.2, 0.1]},
            b={"yes": {"low": 0.5, "mid": 0.5}},
        ),
        own=("high", "mid", "low"),
    )
    assert_allclose(down[..., ::-1], up, rtol=EXACT)


def test_a_noisy_max_of_two_states_is_a_noisy_or():
    graded = NoisyMax(leak=[0.9, 0.1], a=[0.2, 0.8], b=[0.6, 0.4])
    assert_allclose(table_of(graded), table_of(NoisyOr(leak=0.1, a=0.8, b=0.4)), rtol=1e-14)


def test_a_logistic_distribution_adds_log_odds():
    states = {"a": ["no", "yes"], "b": ["u", "v", "w"]}
    table = table_of(Logistic(bias=-1.0, a=2.0, b={"v": 0.5, "w": -3.0}), states=states)
    for x, z in product((0, 1), range(3)):
        odds = np.exp(-1.0 + 2.0 * x + [0.0, 0.5, -3.0][z])
        assert table[x, z, 1] == pytest.approx(odds / (1 + odds), rel=1e-14)


def test_a_ranked_node_is_a_truncated_normal():
    states = {"a": ["low", "high"], "b": ["low", "mid", "high"]}
    form = Ranked(variance=0.04, a=2.0, b=1.0, against="b")
    table = table_of(form, states=states, own=("low", "mid", "high"))
    mean = (2.0 * 0.75 + 1.0 * (1 - 1 / 6)) / 3.0
    normal = truncnorm((0 - mean) / 0.2, (1 - mean) / 0.2, mean, 0.2)
    assert_allclose(table[1, 0], np.diff(normal.cdf([0, 1 / 3, 2 / 3, 1])), rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "mean"),
    [
        ("min", min((2 * 0.75 + 0.25) / 3, (0.75 + 1 * 0.25) / 2)),
        ("max", 1.75 / 3),
        ("mixminmax", (0.25 + 3 * 0.75) / 4),
    ],
)
def test_ranked_functions_after_fenton(function, mean):
    table = table_of(Ranked(variance=0.04, function=function, mix=(1.0, 3.0), a=2.0, b=1.0))
    normal = truncnorm((0 - mean) / 0.2, (1 - mean) / 0.2, mean, 0.2)
    assert_allclose(table[1, 0], np.diff(normal.cdf([0, 0.5, 1])), rtol=1e-12)


def test_points_inside_a_part_are_averaged():
    table = table_of(Ranked(variance=0.04, points=2, a=1.0), parents=("a",))
    normals = [truncnorm((0 - m) / 0.2, (1 - m) / 0.2, m, 0.2) for m in (0.125, 0.375)]
    assert_allclose(table[0], np.mean([np.diff(n.cdf([0, 0.5, 1])) for n in normals], axis=0), rtol=1e-12)


def test_a_tree_table_repeats_its_leaves():
    tree = {"a": {"no": [1.0, 0.0], "yes": {"b": {"no": {"no": 0.3, "yes": 0.7}, ...: [0.1, 0.9]}}}}
    table = table_of(TreeTable(tree))
    assert_array_equal(table, [[[1.0, 0.0], [1.0, 0.0]], [[0.3, 0.7], [0.1, 0.9]]])


def test_a_function_makes_a_table():
    states = {"a": ["1", "2"], "b": ["1", "2"]}
    table = table_of(Table.of(lambda b, a: int(a) * int(b), ["b", "a"]), states=states, own=("1", "2", "4"))
    assert_array_equal(table.argmax(axis=-1), [[0, 1], [1, 2]])
    soft = table_of(Table.of(lambda a, b: {"yes": 0.9, "no": 0.1} if a == b else [1, 0]))
    assert_array_equal(soft[..., 1], [[0.9, 0.0], [0.0, 0.9]])


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (NoisyOr(a=0.5), "has nothing for the parent 'b'"),
        (NoisyOr(a=0.5, b=0.5, c=0.1), "names 'c', which is not one of its parents"),
        (NoisyOr(a=0.5, b=1.5), "the number of 'b' must be from 0 to 1; got 1.5"),
        (NoisyOr(a=0.5, b={"maybe": 0.5}), "'b' has no state 'maybe'"),
        (NoisyOr(leak=0.3, meaning="compound", a=0.2, b=0.5), "includes the leak, so it is at least 0.3; got 0.2"),
        (NoisyMax(a=[0.5, 0.5], b=[0.5, 0.6]), "effects must be probabilities that sum to 1"),
        (NoisyMax(a=[0.5, 0.5], b=0.5), "the link of 'b' is a mapping of its states"),
        (Logistic(a=1.0, b="x"), "b needs a number; got 'x'"),
        (TreeTable({"a": {"no": [1, 0]}}), "has nothing for a=yes"),
        (TreeTable({"c": {"no": [1, 0]}}), "asks for 'c'; its parents are a, b"),
        (TreeTable({"a": {...: {"a": {...: [1, 0]}}}}), "asks for 'a' twice"),
        (TreeTable({"a": {...: [0.5, 0.6]}}), "a leaf sums to 1.1"),
        (Table.of(lambda a, b: "maybe"), "'y' has no state 'maybe'"),
        (Table.of(lambda a, b: [0.5, 0.1]), "the row sums to 0.6"),
        (Table.of(lambda a: "no", ["a"]), r"takes \['a'\]; its parents are \['a', 'b'\]"),
    ],
)
def test_forms_that_do_not_fit_are_refused_by_name(form, message):
    with pytest.raises(NetworkError, match=message):
        net_of(form)


def test_options_are_checked_where_they_are_written():
    with pytest.raises(NetworkError, match="the leak must be from 0 to 1; got 2"):
        NoisyOr(leak=2)
    with pytest.raises(NetworkError, match="'net' or 'compound'"):
        NoisyOr(meaning="henrion")
    with pytest.raises(NetworkError, match="variance must be above 0"):
        Ranked(variance=0)
    with pytest.raises(NetworkError, match="the parent 'a' is given twice"):
        NoisyOr({"a": 0.1}, a=0.2)


FORMS = {
    "noisy-or": NoisyOr(leak=0.1, a=0.8, b=0.4),
    "noisy-and": NoisyAnd(sure=0.95, a=0.8, b=0.4),
    "noisy-max": NoisyMax(leak=[0.9, 0.1], a=[0.2, 0.8], b=[0.6, 0.4]),
    "adder": NoisyAdder(a=[0.2, 0.8], b=[0.6, 0.4]),
    "logistic": Logistic(bias=0.3, a=-1.0, b=2.0),
    "tree": TreeTable({"a": {"no": [0.5, 0.5], "yes": {"b": {"no": [0.3, 0.7], "yes": [0.1, 0.9]}}}}),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_comes_back_from_a_file_and_from_pickle_as_itself(name, tmp_path):
    net = net_of(FORMS[name])
    net.save(tmp_path / "net.bayes")
    for again in (bayeskit.load(tmp_path / "net.bayes"), pickle.loads(pickle.dumps(net))):
        place = again.index("y")
        assert type(again.cpds[place]) is type(net.cpds[net.index("y")])
        assert_array_equal(again.tables[place], net["y"].array)
        assert again == net


@pytest.mark.parametrize("name", FORMS)
def test_the_chain_of_a_form_gives_its_table(name):
    cpd = net_of(FORMS[name])["y"].distribution
    for order in (None, [1, 0]):
        steps = cpd.steps(order if not cpd.keeps_order else None)
        if steps is None:
            continue
        table = np.zeros(cpd.shape)
        for codes in product(*(range(card) for card in cpd.shape[:-1])):
            running = np.ones(1)
            for step in steps:
                running = running @ step.table[:, codes[step.parent], :]
            table[codes] = running
        assert_allclose(table, cpd.values, rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("noisy-or", lambda entry, numbers: entry.update(combine="mean"), "needs 'combine'"),
        ("noisy-or", lambda entry, numbers: entry.update(order=[0, 0]), "an order of its states"),
        ("noisy-or", lambda entry, numbers: numbers.__setitem__(0, 7.0), "effects must be probabilities"),
        ("tree", lambda entry, numbers: entry.update(nodes=[[0, [0, -1]]]), "child that is not there"),
        ("tree", lambda entry, numbers: entry.update(nodes=[[5, [1, -1]]]), "not a parent with one child per state"),
        ("tree", lambda entry, numbers: entry.update(nodes=[]), "not reached once"),
        ("tree", lambda entry, numbers: numbers.__setitem__(0, 7.0), "not distributions"),
        ("logistic", lambda entry, numbers: numbers.__setitem__(0, np.inf), "logistic distribution of shape"),
    ],
)
def test_damaged_forms_are_refused(name, change, message):
    cpd = net_of(FORMS[name])["y"].distribution
    entries, numbers = cpds_to_parts([cpd])
    change(entries[0], numbers)
    with pytest.raises(ModelFileError, match=message):
        cpds_from_parts(entries, numbers, ["y"], [cpd.shape])


def test_the_nearest_noisy_or_is_the_table_where_that_is_one():
    net = net_of(NoisyOr(leak=0.05, a=0.8, b=0.4))
    near = NoisyOr.from_table(net["y"])
    assert near.distance == pytest.approx(0.0, abs=1e-12)
    assert_allclose([near.leak, near.links["a"], near.links["b"]], [0.05, 0.8, 0.4], atol=1e-6)


def test_the_nearest_noisy_or_of_another_table_is_the_one_a_plain_search_finds():
    table = np.array([[[0.95, 0.05], [0.4, 0.6]], [[0.3, 0.7], [0.2, 0.8]]])
    near = NoisyOr.from_table(net_of(table)["y"])

    def divergence(p):
        yes = 1 - (1 - p[0]) * np.array([[1, 1 - p[2]], [1 - p[1], (1 - p[1]) * (1 - p[2])]])
        q = np.stack([1 - yes, yes], axis=-1)
        return (table * np.log(table / q)).sum(axis=-1).mean() if ((q > 0) & (q < 1)).all() else 1e9

    plain = minimize(divergence, [0.1, 0.5, 0.5], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
    assert near.distance == pytest.approx(plain.fun, rel=1e-8)
    assert_allclose([near.leak, near.links["a"], near.links["b"]], plain.x, atol=1e-5)


def test_a_network_with_a_form_can_be_edited():
    net = net_of(FORMS["noisy-or"]).rename({"a": "flu"})
    assert net.with_table("y", NoisyOr(leak=0.5, flu=0.5, b=0.5))["y"].array[0, 0, 1] == 0.5
    assert net.do(flu="yes")["y"].distribution is net["y"].distribution
    more = net.with_arc("flu", "b").with_variable("z", parents=["y"], table=NoisyOr(y=0.7))
    assert more["z"].array[1, 1] == pytest.approx(0.7)
    assert net.without_arc("b", "y")["y"].array.shape == (2, 2)
    assert net.with_table("y", net["y"].array)["y"].distribution.kind == "table"


def test_a_full_table_that_is_too_large_is_refused_and_rows_are_not(tmp_path):
    names = [f"d{k}" for k in range(40)]
    net = net_of(NoisyOr(dict.fromkeys(names, 0.5)), parents=names)
    assert_allclose(net["y"][("yes", *["no"] * 39)], [0.5, 0.5])
    with pytest.raises(TooLargeError, match=r"noisy-OR would hold 2.2e\+12 numbers over 40 parents"):
        _ = net.tables
    with pytest.raises(TooLargeError, match="noisy-OR"):
        net.write(tmp_path / "net.bif")
    net.save(tmp_path / "net.bayes")
    assert bayeskit.load(tmp_path / "net.bayes") == net


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NoisyOr([0.5, 0.5]), "takes a mapping of parent to its number, or keywords"),
        (lambda: NoisyMax(leak=0.1, a=[0.5, 0.5]), "one probability for each own state"),
        (lambda: Ranked(a="x"), "weights must be numbers above 0"),
        (lambda: Ranked(a=np.inf), "weights must be numbers above 0"),
        (lambda: Ranked(variance="x", a=1), "variance must be above 0"),
        (lambda: Ranked(variance=1e30, a=1), "at most 1e\\+06"),
        (lambda: Ranked(mix=1, a=1), "mix two of them"),
        (lambda: Ranked({"a": 1}, a=2), "given twice"),
        (lambda: Logistic({"a": 1}, a=2), "given twice"),
        (lambda: LinearGaussian({"a": 1}, a=2), "given twice"),
        (lambda: NoisyOr.from_table(net_of(NoisyOr(a=0.5), ["a"])["y"], [1, np.inf]), "weights must be finite numbers"),
        (lambda: ConditionalGaussian([1]), "takes a mapping of states to LinearGaussian"),
        (lambda: net_of(Logistic(a=1e305), ["a"]), "at most 1e\\+300"),
        (
            lambda: net_of(NoisyOr(a=0, leak=0.1, meaning="compound"), ["a"]),
            "includes the leak, so it is at least 0.1; got 0",
        ),
    ],
)
def test_numbers_that_no_form_can_take_are_refused_by_name(make, message):
    with pytest.raises(NetworkError, match=message):
        make()


def test_weights_of_any_size_give_the_same_ranked_table():
    def table(a, b):
        three = ("low", "medium", "high")
        return table_of(Ranked(a=a, b=b, variance=0.05), states=dict.fromkeys("ab", three), own=three)

    assert_allclose(table(1.2e308, 0.6e308), table(2, 1), rtol=1e-12)
    assert_allclose(table(2e-320, 1e-320), table(2, 1), rtol=1e-3)


def test_a_noisy_or_is_called_so_in_any_order_of_its_states():
    for states in (["no", "yes"], ["yes", "no"]):
        for form, title in ((NoisyOr(a=0.5), "noisy-OR"), (NoisyAnd(a=0.5), "noisy-AND")):
            assert net_of(form, ["a"], own=states)["y"].distribution.title == title


@pytest.mark.parametrize("form", [NoisyMax, NoisyAdder])
def test_causes_come_back_from_a_file_to_the_last_bit(form, tmp_path):
    rng = np.random.default_rng(0)
    links = {f"p{k}": rng.dirichlet(np.ones(5), 3) * (1 + 1e-7) for k in range(40)}
    noisy = form(links, leak=rng.dirichlet(np.ones(5)))
    net = net_of(noisy, list(links), {name: list("abc") for name in links}, "vwxyz")
    net.save(tmp_path / "net.bayes")
    back = bayeskit.load(tmp_path / "net.bayes")
    ours, theirs = net["y"].distribution, back["y"].distribution
    assert_array_equal(ours.to_parts()[1], theirs.to_parts()[1])
    assert ours.to_parts()[0] == theirs.to_parts()[0]
