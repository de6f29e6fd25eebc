"""Order of rows, order of columns, units and names change nothing but names, for every model of the registry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone, is_classifier, is_regressor

from bayeskit import BayesDecision, NaiveBayes
from bayeskit.io.registry import MODELS
from common.registry import classifiers, mixtures, semi_supervised, whole_models

# A posterior may change by this much; each kind of model with what its numbers are made of.
COUNTS = 1e-12  # of whole counts: sums of their logarithms in another order
MOMENTS = 1e-9  # of means and variances
OFFSET = 2e-7  # of means at 1e9, where two doubles lie 1.2e-7 apart
SOLVED = 1e-6  # found by a solver that stops when its gradient is below ``tol``
EARLY = 1e-2  # of gradient steps that end at a gradient of 1e-4; which value of a text has no input changes their way
CLIMBED = 1e-3  # found by EM, which stops when a step gains less than ``tol`` per row
AVERAGED = 1e-3  # of models weighed by their likelihood on folds, which are cut by row number
BOUNDS = {
    **dict.fromkeys(("GaussianBayes", "GaussianNB", "NaiveBayes", "SemiSupervised", "BayesDecision"), MOMENTS),
    **dict.fromkeys(("BayesOptimalClassifier", "GibbsClassifier"), AVERAGED),
    **dict.fromkeys(("AutoBayes", "LeastSquares", "LogisticRegression"), SOLVED),
    "SigmoidUnit": EARLY,
    **dict.fromkeys(("GaussianMixture", "KMeans", "LatentClass"), CLIMBED),
}
N_ROWS = 400


def mixed_table():
    """Three classes that overlap, in three numbers and two texts; numbers are exact in all units, in sixty-fourths."""
    rng = np.random.default_rng(0)
    y = rng.choice(3, N_ROWS, p=[0.5, 0.2, 0.3])
    numbers = rng.normal(size=(N_ROWS, 3)) + y[:, None] * [0.8, -0.5, 0.3]
    numbers[:, 1] += 0.6 * numbers[:, 0]
    weight, height, age = np.round(numbers * 64).T / 64
    texts = [
        np.where(rng.random(N_ROWS) < 0.6, np.array(list("abc"))[y], rng.choice(list("abcd"), N_ROWS)) for _ in "01"
    ]
    table = {"weight": weight, "colour": texts[0], "height": height, "age": age, "shape": texts[1]}
    return table, np.array(["ill", "odd", "well"])[y]


def clusters():
    """Three clusters far apart, so that every start of EM finds them."""
    table, y = mixed_table()
    place = np.searchsorted(["ill", "odd", "well"], y)
    far = {name: column + 9.0 * (place - 1) ** (k + 1) for k, (name, column) in enumerate(numbers_of(table).items())}
    return {**table, **far}, y


def numbers_of(table):
    return {name: column for name, column in table.items() if column.dtype.kind == "f"}


def task(model):
    """Return a table that the model reads, and its labels."""
    name = type(model).__name__
    table, y = mixed_table()
    if name in ("GaussianMixture", "KMeans", "LatentClass"):
        table, y = clusters()[0], None
    if name in ("GaussianBayes", "GaussianNB", "GaussianMixture", "KMeans"):
        table = numbers_of(table)
    if name in ("BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB"):
        table = {name: np.round(2 * column + 8).astype(int) for name, column in numbers_of(table).items()}
    return table, table["weight"] * 2 + np.sin(np.arange(N_ROWS)) if is_regressor(model) else y


def with_numbers(table, change):
    return {name: change(column) if column.dtype.kind == "f" else column for name, column in table.items()}


def renamed_values(table):
    new = dict(zip("abcd", "zyxw", strict=True))
    return {name: np.array([new[v] for v in c]) if c.dtype.kind == "U" else c for name, c in table.items()}


MIXED = np.random.default_rng(1).permutation(N_ROWS)
NEW_NAMES = dict(zip(["weight", "colour", "height", "age", "shape"], "zxcva", strict=True))
# What happens to the table, and to the labels.
CHANGES = {
    "rows": (lambda t: {name: column[MIXED] for name, column in t.items()}, lambda y: y[MIXED]),
    "columns": (lambda t: dict(sorted(t.items())), None),
    "columns turned": (lambda t: dict(reversed(t.items())), None),
    "times 1e6": (lambda t: with_numbers(t, lambda column: column * 1e6), None),
    "plus 1e9": (lambda t: with_numbers(t, lambda column: column + 1e9), None),
    "names": (lambda t: {NEW_NAMES[name]: column for name, column in t.items()}, None),
    "values": (renamed_values, None),
    "labels": (lambda t: t, lambda y: np.array([{"ill": "z", "odd": "y", "well": "x"}[label] for label in y])),
}


def answers(model, table, y):
    fitted = model.fit(table) if y is None else model.fit(table, y)
    return fitted.predict_proba(table) if hasattr(fitted, "predict_proba") else fitted.predict(table)


def prepared(model, change):
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model


def models():
    return [*classifiers(), *whole_models(), *mixtures(), *semi_supervised(), BayesDecision(NaiveBayes())]


def cases():
    for model in models():
        for change in CHANGES:
            if change == "labels" and not is_classifier(model):
                continue
            yield pytest.param(model, change, id=f"{type(model).__name__}-{change.replace(' ', '-')}")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "change"), list(cases()))
def test_what_does_not_matter_changes_nothing_but_names(model, change):
    table, y = task(model)
    of_table, of_labels = CHANGES[change]
    expected = answers(prepared(model, None), table, y)
    found = answers(prepared(model, change), of_table(table), y if y is None or of_labels is None else of_labels(y))
    if change == "rows":
        expected = expected[MIXED]
    if change == "labels":
        expected = expected[:, ::-1]
    bound = BOUNDS.get(type(model).__name__, COUNTS)
    if change == "plus 1e9" and bound == MOMENTS:
        bound = OFFSET
    assert_allclose(found, expected, rtol=0, atol=bound)


def test_every_model_of_the_registry_keeps_the_law():
    # Texts have no columns and no units; a network is what NetworkClassifier learns; rows of a sequence have an order.
    others = {"AutoText", "BayesianNetwork", "DynamicNetwork", "HiddenMarkov", "SequenceClassifier", "TextClassifier"}
    assert {type(model).__name__ for model in models()} >= set(MODELS) - others
