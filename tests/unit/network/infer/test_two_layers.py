"""Diagnosis networks: the running table gives the general engine's answers, and goes where that cannot."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.errors import BayeskitWarning, ImpossibleEvidenceError, TooLargeError
from bayeskit.network import NoisyMax, NoisyOr
from bayeskit.network.infer.evidence import read_evidence

TIGHT = 1e-12


def clinic(seed, n_diseases=8, n_findings=7, yes_first=False, leak=0.01):
    rng = np.random.default_rng(seed)
    states = ["yes", "no"] if yes_first else ["no", "yes"]
    diseases = [f"d{k}" for k in range(n_diseases)]
    structure = {d: [] for d in diseases}
    prior = dict(zip(diseases, rng.uniform(0.01, 0.3, n_diseases), strict=True))
    tables = {d: [p, 1 - p] if yes_first else [1 - p, p] for d, p in prior.items()}
    for k in range(n_findings):
        causes = [str(d) for d in rng.choice(diseases, int(rng.integers(1, n_diseases)), replace=False)]
        structure[f"f{k}"] = causes
        tables[f"f{k}"] = NoisyOr({d: float(rng.uniform(0.1, 0.95)) for d in causes}, leak=leak)
    return BayesianNetwork(structure, states=dict.fromkeys(structure, states), tables=tables), diseases


def by_the_general_engine(net, name, given):
    engine, evidence = net._engine, read_evidence(net, given)
    i = net.index(name)
    values, log = engine.marginals(evidence)
    return values[engine.offsets[i] : engine.offsets[i + 1]], log


@pytest.mark.parametrize("yes_first", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_answers_are_those_of_the_general_engine(seed, yes_first):
    net, diseases = clinic(seed, yes_first=yes_first)
    rng = np.random.default_rng(seed)
    given = {f"f{k}": str(rng.choice(["yes", "no"])) for k in range(5)} | {"d1": "yes", "d2": "no"}
    answer = net.posterior(diseases, given=given)
    assert net._two_layers.answers([net.index(d) for d in diseases], read_evidence(net, given))
    for d in diseases:
        expected, log = by_the_general_engine(net, d, given)
        assert_allclose(answer[d].array, expected, rtol=1e-11, atol=1e-14)
        assert answer.log_evidence == pytest.approx(log, rel=1e-12)
    for f in ("f5", "f6"):
        assert_allclose(net.posterior(f, given=given).array, by_the_general_engine(net, f, given)[0], rtol=1e-11)


def exact_posteriors(prior, forms, given):
    """P(cause | findings) by the sum over all states, in fractions; ``given`` has states of causes and findings."""
    causes, there, total = list(prior), dict.fromkeys(prior, Fraction(0)), Fraction(0)
    absent = dict.fromkeys(prior, Fraction(0))
    for states in product((0, 1), repeat=len(causes)):
        of = dict(zip(causes, states, strict=True))
        if any(of[v] != (s == "yes") for v, s in given.items() if v in of):
            continue
        p = Fraction(1)
        for v, x in of.items():
            p *= Fraction(prior[v]) if x else 1 - Fraction(prior[v])
        for f, (leak, links) in forms.items():
            fails = 1 - Fraction(leak)
            for v, q in links.items():
                fails *= 1 - Fraction(q) if of[v] else 1
            p *= {"no": fails, "yes": 1 - fails}.get(given.get(f), Fraction(1))
        total += p
        for v, x in of.items():
            (there if x else absent)[v] += p
    return {v: [float(absent[v] / total), float(there[v] / total)] for v in causes}


@pytest.mark.parametrize("leak", [1e-3, 1e-10, 1e-17, 1e-300])
@pytest.mark.parametrize("known", [{}, {"a": "no"}, {"a": "no", "b": "no"}, {"z": "yes"}, {"a": "no", "z": "yes"}])
def test_a_leak_below_rounding_keeps_its_say(leak, known):
    forms = {"y": (leak, {"a": 0.3, "b": 0.4}), "z": (0.1, {"a": 0.3, "c": 0.4})}
    given = {"y": "yes", **known}
    net = BayesianNetwork(
        "a->y<-b; c->z<-a",
        tables={v: [0.5, 0.5] for v in "abc"} | {f: NoisyOr(links, leak=p) for f, (p, links) in forms.items()},
    )
    for v, expected in exact_posteriors(dict.fromkeys("abc", 0.5), forms, given).items():
        if v not in given:
            assert_allclose(net.posterior(v, given=given).array, expected, rtol=1e-12)


@pytest.mark.parametrize("leak", [1e-10, 1e-17, 1e-300])
def test_a_finding_without_causes_has_the_probability_of_its_leak(leak):
    net = BayesianNetwork("a->y<-b", tables={"a": [0.5, 0.5], "b": [0.5, 0.5], "y": NoisyOr(a=0.3, b=0.4, leak=leak)})
    assert net.posterior("y", given={"a": "no", "b": "no"})["yes"] == pytest.approx(leak, rel=1e-13)


def test_causes_that_are_almost_certain_keep_the_digits_of_their_absence():
    forms = {
        "f": (1e-12, {"a": 0.9, "b": 1e-9}),
        "g": (1e-13, {"a": 0.8, "c": 0.5}),
        "h": (1e-14, {"c": 0.9, "d": 0.9}),
    }
    prior = {"a": 0.5, "b": 0.25, "c": 1 - 2.0**-30, "d": 0.125}
    tables = {v: [1 - p, p] for v, p in prior.items()}
    tables |= {f: NoisyOr(links, leak=p) for f, (p, links) in forms.items()}
    net = BayesianNetwork("a->f<-b; a->g<-c; c->h<-d", tables=tables)
    for given in ({"f": "yes", "g": "yes"}, {"f": "yes", "g": "yes", "h": "yes"}, {"h": "yes", "g": "no"}):
        answer = net.posterior(list(prior), given=given)
        for v, expected in exact_posteriors(prior, forms, given).items():
            assert_allclose(answer[v].array, expected, rtol=1e-11)


def test_rare_diseases_keep_their_digits():
    net, diseases = clinic(3, n_diseases=6, n_findings=5, leak=1e-9)
    net = net.with_table("d0", [1 - 1e-12, 1e-12])
    given = {f"f{k}": "yes" for k in range(4)} | {"f4": "no"}
    total, there = Fraction(0), dict.fromkeys(diseases, Fraction(0))
    for states in product((0, 1), repeat=6):
        p = Fraction(1)
        for d, x in zip(diseases, states, strict=True):
            p *= Fraction(float(net[d].array[x]))
        for f, seen in given.items():
            cpd = net[f].distribution
            none = Fraction(float(cpd.leak[0]))
            for d, link in zip(net[f].parents, cpd.links, strict=True):
                none *= Fraction(float(link[states[diseases.index(d)], 0]))
            p *= 1 - none if seen == "yes" else none
        total += p
        for d, x in zip(diseases, states, strict=True):
            there[d] += p * x
    answer = net.posterior(diseases, given=given)
    for d in diseases:
        assert answer[d]["yes"] == pytest.approx(float(there[d] / total), rel=1e-9)


def large_clinic(seed, n_diseases, p, n_findings, n_causes, link, leak):
    """A network in which every finding has as many causes, drawn at random."""
    rng = np.random.default_rng(seed)
    diseases = [f"d{k}" for k in range(n_diseases)]
    structure, tables = {d: [] for d in diseases}, {d: [1 - p, p] for d in diseases}
    for k in range(n_findings):
        causes = [str(d) for d in rng.choice(diseases, n_causes, replace=False)]
        structure[f"f{k}"], tables[f"f{k}"] = causes, NoisyOr(dict.fromkeys(causes, link), leak=leak)
    return BayesianNetwork(structure, tables=tables), diseases


def test_many_findings_of_many_causes_are_answered():
    net, diseases = large_clinic(1, 200, 0.01, 30, 12, 0.5, 0.001)
    answer = net.posterior(diseases, given={f"f{k}": "yes" for k in range(25)})
    ahead = answer.log_evidence
    # Bayes' rule: P(e) P(d | e) = P(d) P(e | d).
    for d in diseases[:5]:
        both = net.posterior(diseases[-1], given={**{f"f{k}": "yes" for k in range(25)}, d: "yes"}).log_evidence
        assert np.exp(both - ahead) == pytest.approx(answer[d]["yes"], rel=TIGHT)


def test_what_is_no_two_layers_goes_to_the_general_engine():
    net, diseases = clinic(0)
    deeper = net.with_variable("g", parents=["f0"], table=NoisyOr(f0=0.5))
    given = {"g": "yes"}
    assert not deeper._two_layers.answers([0], read_evidence(deeper, given))
    assert deeper.posterior("d0", given=given)["yes"] > 0
    likely = net.posterior(diseases, given={"f0": {"no": 0.3, "yes": 0.7}})
    assert likely["d0"]["yes"] == pytest.approx(by_the_general_engine(net, "d0", {"f0": [0.3, 0.7]})[0][1], rel=TIGHT)
    both = BayesianNetwork(
        "a->f<-b", tables={"a": [0.5, 0.5], "b": [0.5, 0.5], "f": NoisyMax(a=[[0.9, 0.1], [0.2, 0.8]], b=[0.5, 0.5])}
    )
    assert both._two_layers is None


def test_impossible_findings_are_refused():
    net, _ = clinic(0, leak=0.0)
    causes = net["f0"].parents
    with pytest.raises(ImpossibleEvidenceError):
        net.posterior("d0" if "d0" not in causes else "d7", given={"f0": "yes", **dict.fromkeys(causes, "no")})


def test_a_case_that_is_too_large_is_refused_with_its_size_or_sampled():
    net, diseases = large_clinic(2, 60, 0.1, 40, 30, 0.2, 0.01)
    given = {f"f{k}": "yes" for k in range(40)}
    with pytest.raises(TooLargeError, match=r"40 positive findings needs a running table over \d+ variables"):
        net.posterior(diseases, given=given, max_memory="64 MiB")
    with pytest.warns(BayeskitWarning) as told:  # that it is sampled, and that the samples are few
        answer = net.posterior("d0", given=given, method="auto", n_samples=2000, max_memory="64 MiB")
    assert answer.quality.approximate
    assert "this answer is sampled, not exact" in str(told[0].message)


def test_all_variables_of_a_large_network_at_once_are_refused_at_once():
    diseases = [f"d{k}" for k in range(60)]
    structure, tables = {d: [] for d in diseases}, {d: [0.9, 0.1] for d in diseases}
    for k in range(90):
        structure[f"f{k}"], tables[f"f{k}"] = diseases, NoisyOr(dict.fromkeys(diseases, 0.01))
    net = BayesianNetwork(structure, tables=tables)
    with pytest.raises(TooLargeError, match="all 150 variables at once need a tree over 5400 noisy-OR links"):
        net.posterior(given={"f0": "yes"})
    assert net.posterior(["d0"], given={"f0": "yes"})["d0"]["yes"] > 0.1
