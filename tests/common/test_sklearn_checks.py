"""Every registered classifier, every mixture and BayesDecision pass all checks of scikit-learn, with none skipped."""

import warnings

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from common.registry import classifiers, decisions, mixtures, semi_supervised, whole_models

_checks = parametrize_with_checks([*classifiers(), *whole_models(), *mixtures(), *semi_supervised(), *decisions()])
_names, _cases = _checks.args


# A list, since pytest no longer likes the generator that older releases of scikit-learn give it.
@pytest.mark.parametrize(_names, list(_cases), **_checks.kwargs)
def test_scikit_learns_check(estimator, check):
    with warnings.catch_warnings():
        # The checks feed tables that deserve a warning; what they look at are errors and numbers.
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", SkipTestWarning)
        try:
            check(estimator)
        except BaseException as error:
            if type(error).__name__ in ("SkipTest", "Skipped"):
                pytest.fail(f"scikit-learn skipped this check: {error}")
            raise


def test_there_are_classifiers_to_check():
    names = {type(model).__name__ for model in classifiers()}
    assert {"NaiveBayes", "GaussianNB", "CategoricalNB"} <= names
