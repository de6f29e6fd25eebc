"""The tests that scikit-learn ships, collected by pytest as ours, with our classes in place of theirs."""

import importlib
import importlib.util
import inspect
import re
import sys
import types

import pytest
import sklearn

RELEASE = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def adopt(tests, home, shims, without="array_api", given=None):
    """Return the tests of a module of scikit-learn's suite that use the classes which the shims stand for.

    Parameters
    ----------
    tests : str
        The module of the tests, as ``sklearn.tests.test_naive_bayes``.
    home : str
        The module from which they import the classes, as ``sklearn.naive_bayes``.
    shims : dict of name to class
        What they get instead.
    without : str, a regular expression
        The names of tests whose subject is something else, though they use the classes.
    given : dict of name to value, optional
        Lists of the module that its tests loop over, shortened to what ours offers.
    """
    module = _load(tests, home, shims)
    vars(module).update(given or {})
    found = {name: value for name, value in vars(module).items() if name.startswith("test_") and _uses(value, shims)}
    return {name: test for name, test in found.items() if not re.search(without, name)}


def _load(tests, home, shims):
    place, origin = importlib.import_module(home), importlib.util.find_spec(tests).origin
    spec = importlib.util.spec_from_file_location(f"of_{tests.replace('.', '_')}", origin)
    module = importlib.util.module_from_spec(spec)
    theirs = {name: getattr(place, name) for name in shims}
    # Some import a class from the private module that defines it.
    holders = [(m, name) for m in _scikit_learn() for name in shims if vars(m).get(name) is theirs[name]]
    for holder, name in holders:
        setattr(holder, name, shims[name])
    try:
        spec.loader.exec_module(module)
    finally:
        for holder, name in holders:
            setattr(holder, name, theirs[name])
    for name, value in list(vars(module).items()):
        if value is place:  # a test that says `neighbors.KNeighborsClassifier` looks the name up when it runs
            setattr(module, name, types.SimpleNamespace(**{**vars(place), **shims}))
    return module


def _scikit_learn():
    return [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "sklearn" and module]


def _uses(function, shims):
    """Whether a test names one of the classes, or is given one by its marks."""
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    given = [value for mark in marks for row in mark.args[1] for value in _values(row)]
    if any((value if isinstance(value, type) else type(value)) in shims.values() for value in given):
        return True
    names = rf"\b({'|'.join(shims)})\b"
    return re.search(names, inspect.getsource(function).partition("def test_")[2]) is not None


def _values(row):
    row = getattr(row, "values", row) if hasattr(row, "marks") else row  # a pytest.param keeps its values apart
    return row if isinstance(row, list | tuple) else [row]


def since(release, differences):
    """Return differences from tests that a release of scikit-learn brought, if it is this one or an older one."""
    return differences if release <= RELEASE else {}


def until(release, differences):
    """Return differences from tests that were last in a release of scikit-learn, if it is this one or a newer one."""
    return differences if release >= RELEASE else {}


def refuse_names_without_a_test(module, differences):
    """Fail where a difference names no test, or no parametrisation, of a collected module."""
    items = [item for item in module.collect() if isinstance(item, pytest.Function)]
    known = {item.name for item in items} | {item.originalname for item in items}
    lost = set(differences) - known
    assert not lost, f"the list of differences names tests that do not exist: {sorted(lost)}"
