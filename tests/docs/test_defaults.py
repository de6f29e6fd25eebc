"""Options that several models share have the defaults of the one table, and the page says which."""

import inspect
from pathlib import Path

import pytest

import bayeskit
from bayeskit import defaults

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "defaults.md"
SCIKIT_LEARN_NAMES = {"GaussianNB", "CategoricalNB", "MultinomialNB", "BernoulliNB", "ComplementNB"}
# option → the usual default, and those of the names for which another one is meant
USUAL = {
    "smoothing": (defaults.SMOOTHING, dict.fromkeys(("ODE", "SPODE", "TAN", "KDB", "AODE"), defaults.FAMILY_SMOOTHING)),
    "prior": (
        defaults.PRIOR,
        dict.fromkeys(("GaussianBayes", "AutoBayes", "TextClassifier"), defaults.FREQUENCY_PRIOR),
    ),
    "bins": (
        defaults.BINS,
        dict.fromkeys(
            ("learn_structure", "network_score", "arc_reasons", "arc_strength", "independence_test", "learn_pag"),
            defaults.NETWORK_BINS,
        ),
    ),
    "unseen": (defaults.UNSEEN, {"BayesianNetwork": defaults.NETWORK_UNSEEN}),
    "max_memory": (defaults.MAX_MEMORY, {}),
}


def signatures():
    """Yield each public name with the signature of a call, and those of a network's methods."""
    for name in bayeskit.__all__:
        thing = getattr(bayeskit, name)
        if callable(thing) and name not in SCIKIT_LEARN_NAMES:
            yield name, inspect.signature(thing)
    for _, method in inspect.getmembers(bayeskit.BayesianNetwork, inspect.isfunction):
        yield "BayesianNetwork", inspect.signature(method)


@pytest.mark.parametrize("option", USUAL)
def test_an_option_has_one_default_wherever_it_is_offered(option):
    usual, others = USUAL[option]
    given = [
        (name, signature.parameters[option].default)
        for name, signature in signatures()
        if option in signature.parameters and signature.parameters[option].default is not inspect.Parameter.empty
    ]
    # A prior over hypotheses is another idea than that over classes: all are alike ("uniform", or None).
    given = [(name, default) for name, default in given if default not in (None, "uniform")]
    assert {name for name, _ in given} >= set(others)
    assert [(name, default) for name, default in given if default != others.get(name, usual)] == []


def test_the_page_names_every_default_and_who_differs():
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert {cells[0].strip("`") for cells in rows} == set(USUAL)
    for option, default, but, _ in rows:
        usual, others = USUAL[option.strip("`")]
        assert default.strip('`"') == str(usual)
        assert all(f"`{name}`" in but for name in others if name != "BayesianNetwork")
        assert all(str(value) in but for value in others.values())
