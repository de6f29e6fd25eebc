"""What scikit-learn's own tests expect of a run of pytest, and our lists of differences from them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from peers.sklearn_shims import Shim


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def global_dtype(request):
    return request.param


def pytest_collection_modifyitems(items):
    """Expect a test that a file lists in ``DIFFERENT`` to fail; one that passes is an error (``xfail_strict``)."""
    items[:] = [item for item in items if not _is_about_another(item)]
    for item in items:
        listed = getattr(getattr(item, "module", None), "DIFFERENT", {})
        reason = listed.get(item.name) or listed.get(getattr(item, "originalname", None))
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    # Of a failure that is expected no source is shown: pytest would parse the whole file of the test for each of them.
    try:
        return (yield)
    except pytest.xfail.Exception as expected:
        expected.pytrace = False
        raise
    except Exception as error:
        if pyfuncitem.get_closest_marker("xfail") is None:
            raise
        pytest.fail(repr(error), pytrace=False)


def _is_about_another(item):
    """Whether a test of scikit-learn's is given an estimator of theirs to check, and none of ours, or never runs."""
    if not hasattr(getattr(item, "module", None), "DIFFERENT") or not hasattr(item, "callspec"):
        return False
    if any(part in item.name for part in getattr(item.module, "NOT_RUN", ())):
        return True
    given = [value if isinstance(value, type) else type(value) for value in item.callspec.params.values()]
    estimators = [value for value in given if issubclass(value, BaseEstimator)]
    ours = [value for value in estimators if issubclass(value, Shim) or value.__module__.startswith("bayeskit.")]
    return bool(estimators) and not ours
