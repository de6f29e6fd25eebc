"""Results in notebooks: every public one has HTML, names in it are escaped, numbers are short, colours are one pair."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayeskit import (
    MDLTree,
    NaiveBayes,
    TextClassifier,
    bayes_error,
    bayes_risk,
    compare,
    compare_networks,
    datasets,
    description_length,
    feature_relevance,
    learn_structure,
    value_of_information,
    what_if,
)
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.written_form import WrittenForm
from bayeskit.network.learn.search_method import SearchMethod
from bayeskit.network.learn.structure_score import StructureScore
from bayeskit.result import AGAINST, FOR

ROOT = Path(__file__).parents[2]
HOSTILE = "<script>alert('x')</script>&"
# What a user makes and passes in: settings, tables, models and protocols, not results.
NOT_RESULTS = {
    "Expression",  # a formula that is passed in
    "BDeu", "BackOff", "BayesianNetwork",
    "Constraints", "Dirichlet", "Discretizer", "Domain", "HidingModel", "JointModel", "JointTerms",
    "AdditiveModel", "CellReader", "Coded", "ConjunctionSpace", "Evidence", "FineModel", "FoldPlan", "Hierarchy",
    "Lidstone", "MEstimate", "Marginal", "MeanLoss", "MixedNetwork", "ModelColumns", "Numbers", "Plan", "Range",
    "SamplingModel", "SigmoidNetwork",
    "Schema", "Smoothing", "Step", "TableCPD", "Tokenizer", "TrainedModel", "Values", "Variable",
}  # fmt: skip


def documented():
    pages = "\n".join(page.read_text() for page in sorted((ROOT / "docs" / "reference").glob("*.md")))
    found = []
    for path in re.findall(r"autoclass:: (bayeskit\.[\w.]+)", pages):
        module, name = path.rsplit(".", 1)
        value = getattr(import_module(module), name)
        if inspect.isclass(value) and not issubclass(value, Exception) and not hasattr(value, "get_params"):
            found.append(value)
    return sorted(set(found), key=lambda value: value.__name__)


@pytest.mark.parametrize("kind", documented(), ids=lambda kind: kind.__name__)
def test_every_class_of_the_reference_is_shown_in_a_notebook_unless_it_is_passed_in(kind):
    is_setting = issubclass(kind, SearchMethod | StructureScore | Distribution | WrittenForm)
    is_setting = is_setting or kind.__name__ in NOT_RESULTS
    is_statistic = kind.__module__.startswith(("bayeskit.counts.", "bayeskit.kinds.", "bayeskit.table."))
    shown = any(hasattr(kind, name) for name in ("_repr_html_", "_repr_svg_", "_repr_mimebundle_"))
    assert shown or is_setting or is_statistic


@pytest.fixture(scope="module")
def hostile():
    """A table whose columns, values and classes are all HTML."""
    tennis = pd.DataFrame(datasets.load_tennis())
    return tennis.map(lambda value: f"{HOSTILE}{value}").rename(columns=lambda name: f"{HOSTILE}{name}")


def results(table):
    target = table.columns[-1]
    X = table.drop(columns=target)
    model = NaiveBayes().fit(table, target=target)
    network = model.to_network()
    row = dict(zip(X.columns, X.iloc[0], strict=True))
    texts = TextClassifier(model="multinomial").fit(table[X.columns[0]], table[target])
    some = dict(list(row.items())[:2])
    tree = MDLTree().fit(table, target=target)
    yield model.explain(row)
    yield model.explain_rows(X)
    yield texts.explain(table[X.columns[0]][0])
    yield texts.rank(table[X.columns[0]].tolist(), table[target][0])
    yield what_if(model, row)
    yield value_of_information(model, some)
    yield feature_relevance(model)
    yield model.summary()
    yield from model.tables_.values()
    yield model.leave_one_out(table, target=target)
    yield bayes_risk(model)
    yield bayes_error(X, table[target])
    yield description_length(model, table, target=target)
    yield tree.path(row)
    yield tree.encode(table, target=target)
    yield from tree.cuts_
    yield compare(table, target=target, models=["NaiveBayes"], folds=2)
    yield network.posterior(target, given=some)
    yield network.posterior(given=some)
    yield network.posterior([target, X.columns[0]])
    yield network.most_probable(given=some)
    learned = learn_structure(table)
    yield learned
    yield compare_networks(learned.network, network)


def test_names_and_values_are_escaped_wherever_they_are_shown(hostile):
    for result in results(hostile):
        shown = result._repr_html_()
        assert "<script" not in shown, type(result)
        assert re.fullmatch(r"<(pre|table|div)\b.*>", shown, re.DOTALL), type(result)


def test_no_result_prints_the_digits_of_rounding(hostile):
    for result in results(hostile):
        for text in (repr(result), str(result)):
            assert not re.search(r"[1-9]\d*\.?\d{9,}", text), (type(result), text)


def test_a_number_that_changes_a_decision_is_printed_in_the_digits_that_mean_something():
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 50)
    table = {"age": np.r_[rng.normal(20, 3, 50), rng.normal(30, 3, 50)]}
    found = what_if(NaiveBayes().fit(table, y), {"age": 18.0})
    text = str(found)
    assert re.fullmatch(r"no becomes yes with age = \d\d\.\d{1,4}\.", text)
    assert repr(found) == text


def test_explanations_have_the_same_two_colours_everywhere():
    from bayeskit.plot.canvas import BLUE, RED

    tennis = datasets.load_tennis()
    model = NaiveBayes().fit(tennis, target="play")
    explanation = model.explain({name: column[0] for name, column in tennis.items() if name != "play"})
    assert {FOR, AGAINST} <= set(re.findall(r"#\w{6}", explanation._repr_html_()))
    styles = {str(row.style) for row in explanation.__rich__().rows}
    assert {FOR, AGAINST} <= styles
    assert (BLUE, RED) == (FOR, AGAINST)
    texts = TextClassifier().fit(["good film", "bad film"], ["+", "-"])
    assert {FOR, AGAINST} <= set(re.findall(r"background:(#\w{6})", texts.explain("good bad film")._repr_html_()))
