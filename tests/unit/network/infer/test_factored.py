"""Chains in the engine: the same answers as with full tables, and answers where no table can be made."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError, TooLargeError
from bayeskit.network import Logistic, NoisyAdder, NoisyAnd, NoisyMax, NoisyOr, TreeTable
from bayeskit.network.infer.factored import Factored

TIGHT = 1e-12


def star(n, form, seed=0, low=0.02, high=0.3):
    rng = np.random.default_rng(seed)
    names = [f"d{k}" for k in range(n)]
    prior = dict(zip(names, rng.uniform(low, high, n), strict=True))
    link = dict(zip(names, rng.uniform(0.1, 0.9, n), strict=True))
    tables = {name: [1 - p, p] for name, p in prior.items()} | {"y": form(link)}
    return BayesianNetwork({**{name: [] for name in names}, "y": names}, tables=tables), prior, link


def mixed():
    """Several forms over shared parents, with a chain that leads on."""
    rng = np.random.default_rng(3)
    causes = {f"c{k}": ["no", "yes"] for k in range(5)}
    tables = {name: rng.dirichlet([4, 2]) for name in causes}
    tables["c4"] = rng.dirichlet([2, 2], size=2)
    structure = {**{name: [] for name in causes}, "c4": ["c0"]}
    for name, parents in {"or": 5, "and": 4, "max": 5, "sum": 4, "tree": 3, "logit": 3}.items():
        structure[name] = list(causes)[:parents]
    chance = {name: float(rng.uniform(0.2, 0.9)) for name in causes}
    tables["or"] = NoisyOr({name: chance[name] for name in structure["or"]}, leak=0.02)
    tables["and"] = NoisyAnd({name: {"no": 0.3, "yes": chance[name]} for name in structure["and"]}, sure=0.9)
    tables["max"] = NoisyMax({n: rng.dirichlet(np.ones(3), size=2) for n in structure["max"]}, leak=[0.8, 0.15, 0.05])
    tables["sum"] = NoisyAdder({n: rng.dirichlet(np.ones(4), size=2) for n in structure["sum"]}, leak=[0.9, 0.1, 0, 0])
    tables["tree"] = TreeTable(
        {"c1": {"no": {"c0": {"no": [0.9, 0.1], "yes": [0.2, 0.8]}}, "yes": {"c2": {"no": [0.5, 0.5], ...: [0, 1]}}}}
    )
    tables["logit"] = Logistic({name: float(rng.normal()) for name in structure["logit"]}, bias=0.2)
    structure["end"] = ["or", "max"]
    tables["end"] = NoisyOr({"or": 0.7, "max": {"1": 0.3, "2": 0.9}}, leak=0.01)
    return BayesianNetwork(structure, tables=tables)


EVIDENCE = [
    {},
    {"or": "yes"},
    {"or": "no", "max": "0"},
    {"or": "no", "sum": "2", "and": "yes"},
    {"end": "yes", "tree": "yes", "c3": "no"},
    {"max": {"1", "2"}, "and": {"no": 0.2, "yes": 0.9}},
]


@pytest.mark.parametrize("given", EVIDENCE)
def test_answers_are_those_of_the_full_tables(given):
    net = mixed()
    plain = BayesianNetwork.from_tables(net.names, net.states, net.parents, net.tables)
    ours, theirs = net.posterior(given=given), plain.posterior(given=given)
    for name in net.names:
        assert_allclose(ours[name].array, theirs[name].array, rtol=TIGHT, atol=1e-15)
        assert_allclose(net.posterior(name, given=given).array, theirs[name].array, rtol=TIGHT, atol=1e-15)
    assert ours.log_evidence == pytest.approx(theirs.log_evidence, rel=TIGHT)
    assert len(ours.to_frame()) == sum(net.cards)
    assert dict(net.most_probable(given=given)) == dict(plain.most_probable(given=given))
    assert_allclose(
        net.joint(["c0", "end"], given=given).array, plain.joint(["c0", "end"], given=given).array, rtol=TIGHT
    )


def test_rows_likelihoods_and_samples_are_those_of_the_full_tables():
    net = mixed()
    plain = BayesianNetwork.from_tables(net.names, net.states, net.parents, net.tables)
    cases = net.sample(400, output="codes")
    assert len(cases) == len(net.names)
    assert_allclose(net.log_probability(cases), plain.log_probability(cases), rtol=TIGHT)
    table = {name: net.sample(50)[name] for name in ("or", "end", "sum")}
    assert_allclose(net.posterior_rows(table, "c1"), plain.posterior_rows(table, "c1"), rtol=TIGHT)
    many = net.sample(40_000)
    for name in ("or", "max", "sum", "tree", "end"):
        share = [(many[name] == state).mean() for state in net.states[net.index(name)]]
        assert_allclose(share, net.posterior(name).array, atol=0.015)


@pytest.mark.parametrize("method", ["weighting", "rejection"])
def test_sampled_answers_come_near(method):
    net = mixed()
    answer = net.posterior(given={"or": "no"}, method=method, n_samples=40_000)
    exact = net.posterior(given={"or": "no"})
    for name in net.names:
        assert_allclose(answer[name].array, exact[name].array, atol=6 * answer[name].standard_error.max() + 1e-9)


def test_gibbs_sampling_of_a_noisy_or_uses_its_full_table():
    net, _, _ = star(4, lambda link: NoisyOr(link, leak=0.1))
    answer = net.posterior("d0", given={"y": "yes"}, method="gibbs", n_samples=40_000)
    assert_allclose(answer.array, net.posterior("d0", given={"y": "yes"}).array, atol=0.02)
    with pytest.raises(NetworkError, match="Gibbs sampling needs tables without zeros"):
        star(40, lambda link: NoisyOr(link, leak=0.1))[0].posterior("d0", method="gibbs", n_samples=100)


@pytest.mark.parametrize("n", [40, 200])
def test_many_parents_are_answered_as_the_closed_form_says(n):
    net, prior, link = star(n, lambda link: NoisyOr(link, leak=0.01))
    none = 0.99 * prod(1 - prior[d] * link[d] for d in prior)
    yes, no = net.posterior(given={"y": "yes"}), net.posterior(given={"y": "no"})
    assert net.posterior("y")["no"] == pytest.approx(none, rel=TIGHT)
    for d, p in prior.items():
        without = none / (1 - p * link[d])
        assert yes[d]["yes"] == pytest.approx(p * (1 - without * (1 - link[d])) / (1 - none), rel=TIGHT)
        assert no[d]["yes"] == pytest.approx(p * (1 - link[d]) / (1 - p * link[d]), rel=TIGHT)
    assert net.tree_size().log2_cells < 13


def test_a_rare_effect_keeps_its_digits_where_signed_sums_would_not():
    names = [f"d{k}" for k in range(20)]
    tables = {name: [1 - 1e-9, 1e-9] for name in names} | {"y": NoisyOr(dict.fromkeys(names, 1e-5), leak=1e-18)}
    net = BayesianNetwork({**{name: [] for name in names}, "y": names}, tables=tables)
    none = (1 - Fraction(1e-18)) * (1 - Fraction(1e-9) * Fraction(1e-5)) ** 20
    exact = float(1 - none)
    assert net.posterior("y")["yes"] == pytest.approx(exact, rel=TIGHT)


def test_two_layers_of_noisy_or_agree_with_a_sum_of_fractions():
    rng = np.random.default_rng(5)
    diseases, findings = [f"d{k}" for k in range(8)], [f"f{k}" for k in range(6)]
    prior = dict(zip(diseases, rng.uniform(0.001, 0.05, 8), strict=True))
    links = {f: {d: float(rng.uniform(0.05, 0.9)) for d in rng.choice(diseases, 4, replace=False)} for f in findings}
    tables = {d: [1 - p, p] for d, p in prior.items()} | {f: NoisyOr(own, leak=0.001) for f, own in links.items()}
    net = BayesianNetwork({**{d: [] for d in diseases}, **{f: list(own) for f, own in links.items()}}, tables=tables)
    given = {f: "yes" if k < 4 else "no" for k, f in enumerate(findings)}
    total, by_disease = Fraction(0), dict.fromkeys(diseases, Fraction(0))
    for states in product((0, 1), repeat=8):
        p = Fraction(1)
        for d, x in zip(diseases, states, strict=True):
            p *= Fraction(prior[d]) if x else 1 - Fraction(prior[d])
        for f, own in links.items():
            none = 1 - Fraction(0.001)
            for d, q in own.items():
                none *= 1 - Fraction(q) if states[diseases.index(d)] else 1
            p *= 1 - none if given[f] == "yes" else none
        total += p
        for d, x in zip(diseases, states, strict=True):
            by_disease[d] += p if x else 0
    exact = {d: float(p / total) for d, p in by_disease.items()}
    answer = net.posterior(given=given)
    for d in diseases:
        assert answer[d]["yes"] == pytest.approx(exact[d], rel=TIGHT)


def test_hubs_in_a_larger_network_stay_small():
    rng = np.random.default_rng(0)
    names = [f"v{k}" for k in range(60)]
    structure = {name: ([names[k - 1]] if k % 3 == 0 and k else []) for k, name in enumerate(names)}
    tables = {name: rng.dirichlet([3, 1], size=(2,) * len(structure[name])) for name in names}
    for h in range(3):
        parents = [names[k] for k in sorted(rng.choice(60, 24, replace=False))]
        structure[f"hub{h}"] = parents
        tables[f"hub{h}"] = NoisyOr({p: float(rng.uniform(0.05, 0.5)) for p in parents}, leak=0.01)
    net = BayesianNetwork(structure, tables=tables)
    assert net.tree_size().log2_cells < 18
    posterior = net.posterior(given={"hub0": "yes", "hub1": "yes", "hub2": "no"})
    sampled = net.posterior(given={"hub0": "yes", "hub1": "yes", "hub2": "no"}, method="weighting", n_samples=200_000)
    for name in names:
        assert_allclose(posterior[name].array, sampled[name].array, atol=6 * sampled[name].standard_error.max())


def test_the_smaller_of_chain_and_table_is_taken():
    net = BayesianNetwork("a->y<-b", tables={"a": [0.5, 0.5], "b": [0.5, 0.5], "y": NoisyOr(a=0.5, b=0.5)})
    assert not Factored.of(net).resting
    assert len(Factored.of(star(30, NoisyOr)[0]).names) > 31


def test_what_needs_a_full_table_is_refused_with_its_size():
    net, _, _ = star(40, lambda link: Logistic(link, bias=-3.0))
    with pytest.raises(TooLargeError, match=r"'y': a logistic distribution of 40 parents, 41 free"):
        net.posterior("y")
    with pytest.raises(TooLargeError):
        star(40, NoisyOr)[0].most_probable(given={"y": "yes"})
