"""scikit-learn's own tests of naive Bayes, read from the installed package, with our classes in place of theirs."""

import importlib.util
import inspect
import itertools
from pathlib import Path

import numpy as np
import sklearn.naive_bayes
import sklearn.tests

import bayeskit

OURS = {
    name: getattr(bayeskit, name)
    for name in ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB")
}
FIXTURES = {"global_random_seed": [42], "global_dtype": [np.float64, np.float32]}


def load():
    """The module of scikit-learn's tests, importing our classes where it asks for theirs."""
    path = Path(sklearn.tests.__path__[0]) / "test_naive_bayes.py"
    spec = importlib.util.spec_from_file_location("sklearn_naive_bayes_cases", path)
    module = importlib.util.module_from_spec(spec)
    theirs = {name: getattr(sklearn.naive_bayes, name) for name in OURS}
    try:
        for name, ours in OURS.items():
            setattr(sklearn.naive_bayes, name, ours)
        spec.loader.exec_module(module)
    finally:
        for name, their in theirs.items():
            setattr(sklearn.naive_bayes, name, their)
    return module


def cases():
    """(name, call) of each test that touches one of our classes, one for each of its parametrisations."""
    for name, function in list(vars(load()).items()):
        if not name.startswith("test_"):
            continue
        for arguments in _parametrisations(function):
            classes = [value for value in arguments.values() if isinstance(value, type) and value.__name__[-2:] == "NB"]
            mine = any(value in OURS.values() for value in classes)
            if mine or (not classes and any(our in inspect.getsource(function) for our in OURS)):
                label = "-".join(_label(value) for value in arguments.values())
                yield f"{name}[{label}]" if label else name, lambda f=function, a=arguments: f(**a)


def _parametrisations(function):
    axes = []
    for mark in getattr(function, "pytestmark", []):
        names = [n.strip() for n in mark.args[0].split(",")] if isinstance(mark.args[0], str) else list(mark.args[0])
        rows = [getattr(row, "values", row) for row in mark.args[1]]  # a pytest.param keeps its values apart
        axes.append([dict(zip(names, row if len(names) > 1 else _single(row), strict=True)) for row in rows])
    given = {name for axis in axes for row in axis for name in row}
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
    axes += [[{name: value} for value in FIXTURES[name]] for name in arguments if name not in given]
    for choice in itertools.product(*axes):
        yield {name: value for part in choice for name, value in part.items()}


def _single(row):
    return row if isinstance(row, tuple) else (row,)


def _label(value):
    return value.__name__ if isinstance(value, type) else str(value).replace("\n", "")[:40]
