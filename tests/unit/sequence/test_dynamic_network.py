"""Dynamic networks: every question is what the unrolled network answers."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import DynamicNetwork, HiddenMarkov
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, NetworkError, TableError

STRUCTURES = [
    "a[t-1]->a[t]; a[t]->b[t]",
    "a[t-1]->a[t]; c[t-1]->c[t]; a[t]->c[t]; c[t]->b[t]",
    "a[t-1]->a[t]; a[t-2]->a[t]; a[t]->b[t]",
    "a[t-1]->b[t]; b[t-2]->a[t]; a[t]->b[t]",
    "a[t-1]->a[t]; b[t-1]->a[t]; a[t]->b[t]; c[t]->b[t]",
]


def random_network(structure, rng):
    """A network with random tables of two and three states."""
    cards = {"a": 2, "b": 3, "c": 2}
    shape = DynamicNetwork(structure, states={name: cards[name] for name in "abc" if f"{name}[" in structure})
    tables = {}
    for key, table in shape.tables.items():
        tables[key] = rng.dirichlet(np.ones(table.shape[-1]), size=table.shape[:-1])
    first = {key for key in tables if not key.endswith("[t]")}
    # Where all parents exist the table of later slices is taken; half of the time a first slice has one of its own.
    for key in sorted(first):
        if tables[key].shape == tables[key.split("[")[0] + "[t]"].shape and rng.random() < 0.5:
            del tables[key]
    return DynamicNetwork(structure, states=shape.states, tables=tables)


def random_rows(net, n, rng, known=0.6):
    return {
        name: [str(rng.choice(net.states[name])) if rng.random() < known else None for _ in range(n)]
        for name in net.names
    }


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    net = random_network(draw(st.sampled_from(STRUCTURES)), rng)
    return net, random_rows(net, draw(st.integers(1, 6)), rng), rng


def evidence_of(rows, upto=None):
    return {
        f"{name}[{t}]": cell
        for name, cells in rows.items()
        for t, cell in enumerate(cells)
        if cell is not None and (upto is None or t <= upto)
    }


def asked(net, name, evidence):
    """The posterior of an unrolled network; of an observed variable it is certain."""
    return net.posterior(name, given=evidence).array


@settings(deadline=None, max_examples=40)
@given(cases())
def test_filtering_smoothing_and_fixed_lag_are_those_of_the_unrolled_network(case):
    net, rows, _ = case
    n = len(rows["a"])
    whole = net.unrolled(n)
    filtered, smoothed, lagged = net.filter(rows), net.smooth(rows), net.fixed_lag(rows, 1)
    for name in net.names:
        for t in range(n):
            at = f"{name}[{t}]"
            assert_allclose(filtered[name][t], asked(whole, at, evidence_of(rows, t)), atol=1e-10)
            assert_allclose(smoothed[name][t], asked(whole, at, evidence_of(rows)), atol=1e-10)
            assert_allclose(lagged[name][t], asked(whole, at, evidence_of(rows, t + 1)), atol=1e-10)
    expected = whole.probability(evidence_of(rows)) if evidence_of(rows) else 1.0
    assert_allclose(np.exp(net.log_likelihood(rows)), expected, rtol=1e-9)


@settings(deadline=None, max_examples=30)
@given(cases())
def test_the_most_probable_path_is_that_of_the_unrolled_network(case):
    net, rows, _ = case
    n = len(rows["a"])
    whole, path = net.unrolled(n), net.most_probable(rows)
    states = {f"{name}[{t}]": path[name][t] for name in net.names for t in range(n)}
    for name, state in evidence_of(rows).items():
        assert states[name] == state
    best = whole.most_probable(given=evidence_of(rows))
    assert_allclose(whole.probability(states), whole.probability({**evidence_of(rows), **dict(best)}), rtol=1e-9)


@settings(deadline=None, max_examples=25)
@given(cases())
def test_an_intervention_is_that_of_the_unrolled_network(case):
    net, rows, rng = case
    n = len(rows["a"])
    t = int(rng.integers(0, n))
    state = str(rng.choice(net.states["a"]))
    rows = {
        name: [None if name == "a" and u == t else cell for u, cell in enumerate(cells)] for name, cells in rows.items()
    }
    whole = net.unrolled(n).do({f"a[{t}]": state})
    smoothed = net.smooth(rows, do={("a", t): state})
    for name in net.names:
        for u in range(n):
            assert_allclose(smoothed[name][u], asked(whole, f"{name}[{u}]", evidence_of(rows)), atol=1e-10)


@settings(deadline=None, max_examples=25)
@given(cases())
def test_a_forecast_is_that_of_the_unrolled_network(case):
    net, rows, _ = case
    n = len(rows["a"])
    assume(n >= net.order)
    whole, ahead = net.unrolled(n + 3), net.forecast(rows, 3)
    for name in net.names:
        for h in range(3):
            assert_allclose(ahead[name][h], asked(whole, f"{name}[{n + h}]", evidence_of(rows)), atol=1e-10)


def test_a_hidden_markov_model_is_a_dynamic_network():
    rng = np.random.default_rng(0)
    chain = HiddenMarkov().fit({"x": [f"v{v}" for v in rng.integers(0, 3, 40)]}, rng.integers(0, 2, 40))
    net = DynamicNetwork(
        "s[t-1]->s[t]; s[t]->x[t]",
        states={"s": ["0", "1"], "x": ["v0", "v1", "v2"]},
        tables={"s[0]": chain.start_, "s[t]": chain.transitions_, "x[t]": chain.tables_["x"].values.T},
    )
    rows = {"x": ["v0", None, "v2", "v1", "v1"]}
    assert_allclose(net.smooth(rows)["s"], chain.smooth(rows), atol=1e-12)
    assert_allclose(net.filter(rows)["s"], chain.filter(rows), atol=1e-12)
    assert_allclose(net.log_likelihood(rows), chain.log_likelihood(rows), rtol=1e-12)


def test_complete_rows_are_counted_with_tied_tables():
    rng = np.random.default_rng(0)
    rows = {"a": rng.choice(["no", "yes"], 60), "b": rng.choice(["no", "yes"], 60), "g": np.repeat([0, 1, 2], 20)}
    net = DynamicNetwork("a[t-1]->a[t]; a[t]->b[t]").fitted(rows, group="g", smoothing=0)
    a = (rows["a"] == "yes").astype(int).reshape(3, 20)
    n = np.zeros((2, 2))
    np.add.at(n, (a[:, :-1].ravel(), a[:, 1:].ravel()), 1)
    assert_allclose(net.tables["a[t]"], n / n.sum(axis=1, keepdims=True))
    assert_allclose(net.tables["a[0]"][1], a[:, 0].mean())
    both = np.zeros((2, 2))
    np.add.at(both, (a.ravel(), (rows["b"] == "yes").astype(int)), 1)
    assert_allclose(net.tables["b[t]"], both / both.sum(axis=1, keepdims=True))
    assert_array_equal(net.tables["b[0]"], net.tables["b[t]"])


@pytest.mark.parametrize("structure", STRUCTURES[:4])
def test_em_with_missing_cells_never_lowers_its_objective(structure):
    rng = np.random.default_rng(1)
    truth = random_network(structure, rng)
    drawn = truth.unrolled(40).sample(1, random_state=0)
    rows = {name: [str(drawn[f"{name}[{t}]"][0]) for t in range(40)] for name in truth.names}
    for cells in rows.values():
        for t in rng.choice(40, 8, replace=False):
            cells[t] = None
    start = DynamicNetwork(structure, states=truth.states)
    net = start.fitted(rows, lengths=[20, 20], random_state=0, tol=1e-4)
    path = np.array(net.history.objective)
    assert len(path) > 2
    assert (np.diff(path) >= -1e-8 * np.abs(path[:-1])).all()


def test_em_of_a_hidden_variable_is_baum_welch():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 3, 80)
    rows = {"x": [f"v{v}" for v in x]}
    start = DynamicNetwork(
        "s[t-1]->s[t]; s[t]->x[t]",
        states={"s": 2, "x": ["v0", "v1", "v2"]},
        tables={"s[0]": [0.6, 0.4], "s[t]": [[0.8, 0.2], [0.3, 0.7]], "x[t]": [[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]},
    )
    with pytest.warns(bayeskit.errors.BayeskitWarning, match="EM stopped after 1 steps"):
        one = start.fitted(rows, smoothing=0, max_iter=1, tol=0)
    # One step by the definition: expected steps from the smoothed pairs of the unrolled network.
    whole, evidence = start.unrolled(80), {f"x[{t}]": f"v{v}" for t, v in enumerate(x)}
    n = np.zeros((2, 2))
    for t in range(79):
        n += whole.joint([f"s[{t}]", f"s[{t + 1}]"], given=evidence).array.reshape(2, 2)
    assert_allclose(one.tables["s[t]"], n / n.sum(axis=1, keepdims=True), atol=1e-9)


def test_it_comes_back_from_a_file(tmp_path):
    net = random_network(STRUCTURES[2], np.random.default_rng(0))
    net.save(tmp_path / "net.bayes")
    again = bayeskit.load(tmp_path / "net.bayes")
    rows = {"b": ["0", None, "1"]}
    assert_array_equal(again.smooth(rows)["a"], net.smooth(rows)["a"])
    assert again.parents == net.parents
    (tmp_path / "thesis.bayes").write_text("mine")
    with pytest.raises(TableError, match="nothing in it says that bayeskit wrote it"):
        net.save(tmp_path / "thesis.bayes")
    net.save(tmp_path / "thesis.bayes", force=True)
    assert bayeskit.load(tmp_path / "thesis.bayes").parents == net.parents


def test_several_sequences_and_times_are_read_as_in_other_models():
    net = random_network(STRUCTURES[0], np.random.default_rng(0))
    table = {"who": [1, 0, 1, 0], "day": [1, 2, 2, 1], "b": ["0", "1", "2", "0"]}
    whole = net.filter(table, group="who", time="day")
    alone = net.filter({"b": ["0", "1"]})
    assert_allclose(whole["a"][[3, 1]], alone["a"], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DynamicNetwork("a->b[t]"), "'a' must say its time"),
        (lambda: DynamicNetwork("a[t]->b[t-1]"), "leads to an earlier slice"),
        (lambda: DynamicNetwork("a[t]->b[t]"), "no arc goes from one slice to the next"),
        (lambda: DynamicNetwork("a[t-1]->a[t]; a[t]->b[t]; b[t]->a[t]"), "circle"),
        (lambda: DynamicNetwork("a[t-1]->a[t]", tables={"a[t]": [[1, 0], [0, 1]]}), r"no table for 'a\[0\]'"),
        (lambda: DynamicNetwork("a[t-1]->a[t]", tables={"a[0]": [1, 0], "a[t]": [1, 0]}), "must have the shape"),
        (
            lambda: DynamicNetwork("a[t-1]->a[t]", tables={"a[0]": [1, 0], "a[t]": [[1, 0.5], [0, 1]]}),
            "sum to 1",
        ),
        (
            lambda: DynamicNetwork("a[t-1]->a[t]", tables={"a[0]": [1, 0], "a[t]": np.eye(2), "z[t]": [1, 0]}),
            r"'z\[t\]', which is no variable",
        ),
    ],
)
def test_what_is_no_dynamic_network_is_refused(make, message):
    with pytest.raises(NetworkError, match=message):
        make()


def test_bad_questions_are_refused():
    net = random_network(STRUCTURES[0], np.random.default_rng(0))
    with pytest.raises(TableError, match="variable 'z'"):
        net.filter({"z": ["0"]})
    with pytest.raises(NetworkError, match="do must map"):
        net.filter({"b": ["0"]}, do={"a": "no"})
    with pytest.raises(NetworkError, match="must lie within the 1 rows"):
        net.filter({"b": ["0"]}, do={("a", 3): "no"})
    with pytest.raises(BayeskitError, match="lag must be"):
        net.fixed_lag({"b": ["0"]}, -1)
    with pytest.raises(BayeskitError, match="steps must be"):
        net.forecast({"b": ["0"]}, 0)
    certain = DynamicNetwork(
        "a[t-1]->a[t]; a[t]->b[t]",
        tables={"a[0]": [1, 0], "a[t]": np.eye(2), "b[t]": [[1.0, 0.0], [0.0, 1.0]]},
    )
    with pytest.raises(ImpossibleEvidenceError, match="row 1: the evidence up to here has probability 0"):
        certain.smooth({"b": ["no", "yes", "no"]})


def weather():
    return DynamicNetwork(
        "rain[t-1]->rain[t]; rain[t]->umbrella[t]",
        tables={"rain[0]": [0.5, 0.5], "rain[t]": [[0.7, 0.3], [0.3, 0.7]], "umbrella[t]": [[0.8, 0.2], [0.1, 0.9]]},
    )


def test_gaps_are_filled_with_rows_in_which_nothing_is_known():
    net = weather()
    gap = {"day": [1, 2, 4], "umbrella": ["yes", "yes", "no"]}
    whole = {"umbrella": ["yes", "yes", None, "no"]}
    with pytest.raises(TableError, match=r"from 2 to 4 is not one step of 1\. Pass step="):
        net.filter(gap, time="day")
    for ask in (net.filter, net.smooth):
        assert_allclose(ask(gap, time="day", step=1).of("rain", "yes"), ask(whole).of("rain", "yes")[[0, 1, 3]])
    assert_allclose(net.log_likelihood(gap, time="day", step=1), net.log_likelihood(whole), rtol=1e-12)
    assert_allclose(
        net.filter(gap, time="day", step="any").of("rain", "yes"),
        net.filter({"umbrella": ["yes", "yes", "no"]}).of("rain", "yes"),
    )
    filled = net.fitted({**gap, "rain": ["yes", "no", "no"]}, time="day", step=1)
    assert filled.history is not None  # the row between is hidden, so counts are expected ones


def test_each_sequence_has_a_forecast_of_its_own():
    net = weather()
    dogs = {"dog": ["a", "a", "b"], "umbrella": ["yes", "no", "yes"]}
    together = net.forecast(dogs, 2, group="dog").of("rain", "yes")
    a = net.forecast({"umbrella": ["yes", "no"]}, 2).of("rain", "yes")
    b = net.forecast({"umbrella": ["yes"]}, 2).of("rain", "yes")
    assert_allclose(together, [*a, *b], rtol=1e-12)


@pytest.mark.parametrize("extension", ["bif", "xdsl", "net", "jgum", "xmlbif"])
@pytest.mark.parametrize("seed", range(2))
def test_slices_are_written_and_read_with_the_names_of_pyagrum(tmp_path, extension, seed):
    rng = np.random.default_rng(seed)
    for structure in ("a[t-1]->a[t]; a[t]->b[t]; b[t-1]->b[t]", "a[t-2]->a[t]; a[t-1]->b[t]; b[t]->a[t]"):
        net = random_network(structure, rng)
        net.write(tmp_path / f"net.{extension}")
        again = DynamicNetwork.read(tmp_path / f"net.{extension}")
        assert again.parents == net.parents
        assert again.states == net.states
        for name, table in net.tables.items():
            assert_allclose(again.tables[name], table, rtol=1e-12)
    assert set(weather().to_network().names) == {"rain0", "raint", "umbrella0", "umbrellat"}


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ("x0->xt; season->xt", "'season' does not say its slice"),
        ("x0->xt; y0->x0", r"'y' is in the slice\(s\) \[0\] only"),
        ("x0->xt; xt->y0; y0->yt", "the arc from 'xt' to 'y0' goes back in time"),
        ("x0->xt; y0->x0; y0->yt", "'x0' has the parent 'y0', and 'xt' has no such parent"),
        ("x0->y0", "one slice"),
    ],
)
def test_a_network_that_shows_no_slices_is_refused(arcs, message):
    with pytest.raises(NetworkError, match=message):
        DynamicNetwork.from_network(bayeskit.BayesianNetwork(arcs))


def test_a_network_of_genie_that_repeats_is_not_read_as_one_slice(tmp_path):
    path = tmp_path / "umbrella.xdsl"
    weather().to_network().write(path)
    path.write_text(path.read_text().replace("</nodes>", '</nodes><dynamic numslices="10"></dynamic>'))
    with pytest.raises(NetworkError, match="the network repeats over time, which is not read from XDSL"):
        bayeskit.BayesianNetwork.read(path)


def test_a_noisy_or_over_slices_is_its_table():
    from bayeskit.network import NoisyOr

    form = NoisyOr({"a[t-1]": 0.9, "b[t-1]": 0.8}, leak=0.1)
    tables = {"a[0]": [0.5, 0.5], "a[t]": [[0.9, 0.1], [0.2, 0.8]], "b[0]": [0.5, 0.5], "b[t]": form}
    net = DynamicNetwork("a[t-1]->a[t]; a[t-1]->b[t]; b[t-1]->b[t]", tables=tables)
    # P(no | a, b) = (1 - leak) (1 - .9)^a (1 - .8)^b
    absent = 0.9 * np.array([[1.0, 0.2], [0.1, 0.02]])
    assert_allclose(net.tables["b[t]"], np.stack([absent, 1 - absent], axis=-1), rtol=1e-12)
