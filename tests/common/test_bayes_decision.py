"""BayesDecision passes every check that scikit-learn has for estimators, around its classifiers and ours."""

import warnings

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayeskit import BayesDecision, NaiveBayes


@parametrize_with_checks(
    [
        BayesDecision(LogisticRegression()),
        BayesDecision(SklearnGaussianNB()),
        BayesDecision(DecisionTreeClassifier(random_state=0)),
        BayesDecision(NaiveBayes()),
    ]
)
def test_every_check_of_scikit_learn_passes(estimator, check):
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
