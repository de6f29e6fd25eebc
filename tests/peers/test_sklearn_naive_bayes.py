"""scikit-learn's own tests of naive Bayes hold for ours; where they differ on purpose, here is why."""

import pytest

import bayeskit
from peers.sklearn_suite import adopt, refuse_names_without_a_test, since, until

# Their suite lets a warning pass, so a test of theirs may give one without asking for it.
pytestmark = pytest.mark.filterwarnings("default")

ROUNDED = [f"test_predict_joint_proba[{name}]" for name in ("BernoulliNB", "ComplementNB", "MultinomialNB")]
# Test (with its parametrisation, or without for all of them) → why ours differs.
DIFFERENT = {
    "test_gnb_check_update_with_no_data": "a private helper of scikit-learn; our moments merge in counts.Moments",
    "test_NB_partial_fit_no_first_classes": "classes may grow with every batch, so nobody has to announce them first",
    "test_discretenb_provide_prior": "a class that `classes` names twice is one class",
    "test_check_alpha": "it sets `n_features_in_` of a model without rows, which ours learns from rows alone",
    **since((1, 8), {"test_gnb_partial_fit[float32]": "means and variances are float64 whatever the table is"}),
    **until((1, 8), dict.fromkeys(ROUNDED, "they subtract a log-sum, and so lose the digits of a posterior near 1")),
}

NAMES = ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB")
OURS = {name: getattr(bayeskit, name) for name in NAMES}
globals().update(adopt("sklearn.tests.test_naive_bayes", "sklearn.naive_bayes", OURS))


def test_the_list_of_differences_fits(request):
    refuse_names_without_a_test(request.node.parent, DIFFERENT)


def test_the_array_api_tag_is_off():
    assert not bayeskit.GaussianNB().__sklearn_tags__().array_api_support
