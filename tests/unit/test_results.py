"""Results in notebooks: every public one has HTML, names in it are escaped, numbers are short, colours are one pair."""

import ast
import inspect
import pkgutil
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayeskit
import bayeskit.workflow
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
# What a user makes and passes in, and what models, searches and folds work with: settings, models and protocols.
NOT_RESULTS = {
    "AdditiveModel", "Attribute", "BDeu", "BackOff", "BayesianNetwork", "CellReader", "Coded", "CodedTable",
    "ConjunctionSpace", "Constraints", "Dirichlet", "Discretizer", "Domain", "Evidence", "Expression",
    "FeatureRows", "FineModel", "FoldCounts", "FoldPlan", "HeldRows", "HidingModel", "Hierarchy", "JointModel",
    "JointTerms", "Lidstone", "MEstimate", "Marginal", "MeanLoss", "MixedNetwork", "ModelColumns", "NamedGraph",
    "Range", "Run", "SamplingModel", "SearchResult", "SequenceCounts", "SigmoidNetwork", "Smoothing", "Step",
    "SymmetricSmoothing", "TableCPD", "TokenTable", "TrainedModel", "TrainingTable", "Values", "WordTable",
}  # fmt: skip
# Statistics, columns and tables, which models are made from.
MATERIAL = tuple(f"bayeskit.{part}." for part in ("_kernels", "counts", "kinds", "learn", "table"))


def documented():
    pages = "\n".join(page.read_text() for page in sorted((ROOT / "docs" / "reference").glob("*.md")))
    for path in re.findall(r"autoclass:: (bayeskit\.[\w.]+)", pages):
        module, name = path.rsplit(".", 1)
        yield getattr(import_module(module), name)


@cache
def imported(module):
    """Names that annotations of a module may hold, with where they are from; also those imported for types only."""
    tree = ast.walk(ast.parse(inspect.getsource(import_module(module))))
    found = [node for node in tree if isinstance(node, ast.ImportFrom) and node.module.startswith("bayeskit")]
    return {name.asname or name.name: (node.module, name.name) for node in found for name in node.names}


def classes_in(annotation, module):
    for word in re.findall(r"\w+", str(annotation)):
        home, name = imported(module).get(word, (module, word))
        value = getattr(import_module(home), name, None)
        if inspect.isclass(value) and value.__module__.startswith("bayeskit.") and not name.startswith("_"):
            yield value


def returned_by(function):
    function = inspect.unwrap(function)
    yield from classes_in(getattr(function, "__annotations__", {}).get("return", ""), function.__module__)


def given_by(value):
    """The classes of what a function returns, or of the fields, properties and methods of a class."""
    if not inspect.isclass(value):
        yield from returned_by(value)
        return
    for kind in value.__mro__:
        if kind.__module__.startswith("bayeskit."):
            for name, annotation in inspect.get_annotations(kind).items():
                yield from classes_in(annotation, kind.__module__) if not name.startswith("_") else ()
            for name, member in vars(kind).items():
                method = next((m for at in ("fget", "func", "__func__") if (m := getattr(member, at, None))), member)
                yield from returned_by(method) if not name.startswith("_") and inspect.isfunction(method) else ()


def public():
    """What users, the command and Studio call: all public names, and the functions of the workflow."""
    yield from (getattr(bayeskit, name) for name in bayeskit.__all__)
    for found in pkgutil.walk_packages(bayeskit.workflow.__path__, "bayeskit.workflow."):
        for name, value in vars(import_module(found.name)).items():
            if inspect.isfunction(value) and value.__module__ == found.name and not name.startswith("_"):
                yield value


def shown_classes():
    """The documented classes, and those that can be reached from public names by calls, attributes and fields."""
    found = {value for value in documented() if inspect.isclass(value)}
    waiting = [*found, *(value for value in public() if inspect.isclass(value) or inspect.isfunction(value))]
    while waiting:
        new = set(given_by(waiting.pop())) - found
        found |= new
        waiting += new
    exempt = (Exception, SearchMethod, StructureScore, Distribution, WrittenForm)
    results = [
        value
        for value in found
        if not value.__module__.startswith(MATERIAL)
        and value.__name__ not in NOT_RESULTS
        and not issubclass(value, exempt)
        and not hasattr(value, "get_params")
    ]
    return sorted(results, key=lambda value: (value.__name__, value.__module__))


def test_results_are_found_wherever_they_are_returned():
    found = {value.__name__ for value in shown_classes()}
    # By a public function, a function of the workflow, a method, a field of a result, and a page of the reference.
    assert found >= {"Leaderboard", "Clustering", "Comparison", "SequenceTraining", "Explanation", "ArcReason", "Trial"}
    assert len(found) > 80


@pytest.mark.parametrize("kind", shown_classes(), ids=lambda kind: kind.__name__)
def test_every_result_is_shown_in_a_notebook(kind):
    assert any(hasattr(kind, name) for name in ("_repr_html_", "_repr_svg_", "_repr_mimebundle_"))


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
