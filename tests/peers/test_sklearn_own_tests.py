"""scikit-learn's own tests of naive Bayes hold for ours; where they differ on purpose, here is why."""

import os

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")

from peers.sklearn_cases import cases

# Test (with its parametrisation, or without for all of them) → why ours differs. Each is checked to differ indeed.
DIFFERENT = {
    "test_gnb_check_update_with_no_data": "a private helper of scikit-learn; our moments merge in counts.Moments",
    "test_NB_partial_fit_no_first_classes": "classes may grow with every batch, so nobody has to announce them first",
    "test_discretenb_provide_prior": "a class that `classes` names twice is one class",
    "test_check_alpha": "it sets `n_features_in_` of a model without rows, which ours learns from rows alone",
    "test_gnb_partial_fit[float32]": "means and variances are float64 whatever the table is: float32 loses digits",
}
# Array API input is read through NumPy; the tag stays off since it would make scikit-learn skip checks.
ARRAY_API = "test_gnb_array_api_compliance"


def reason(name):
    return DIFFERENT.get(name) or DIFFERENT.get(name.partition("[")[0])


# Their suite lets a warning pass, so a test of theirs may give one without asking for it.
pytestmark = pytest.mark.filterwarnings("default")
CASES = {name: call for name, call in cases() if not name.startswith(ARRAY_API)}


@pytest.mark.parametrize("name", [name for name in CASES if not reason(name)])
def test_a_test_of_scikit_learn_holds_for_ours(name):
    CASES[name]()


@pytest.mark.parametrize("name", [name for name in CASES if reason(name)])
def test_what_is_listed_as_different_is_different(name):
    try:
        CASES[name]()
    except (Exception, pytest.fail.Exception):
        return
    pytest.fail(f"{name} holds for ours too: take it off the list.")


def test_the_list_names_only_tests_that_exist_here_or_in_another_release():
    found = set(CASES) | {name.partition("[")[0] for name in CASES}
    newer_only = {"test_gnb_partial_fit[float32]"}
    assert set(DIFFERENT) - found <= newer_only
    assert len(CASES) >= 80


def test_the_array_api_tag_is_off():
    from bayeskit import GaussianNB

    assert not GaussianNB().__sklearn_tags__().array_api_support
