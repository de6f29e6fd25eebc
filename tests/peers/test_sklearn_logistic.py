"""scikit-learn's own tests of logistic regression hold for ours; where they differ on purpose, here is why."""

import pytest

from peers.sklearn_shims import LogisticRegression
from peers.sklearn_suite import adopt, refuse_names_without_a_test, since

# Their suite lets a warning pass, so a test of theirs may give one without asking for it.
pytestmark = pytest.mark.filterwarnings("default")

# Test (with its parametrisation, or without for all of them) → why ours differs.
DIFFERENT = {
    "test_sparsify": "weights are a dense array",
    "test_nan": "a missing cell takes the mean of its column",
    "test_logreg_predict_proba_multinomial": "it calls a private method of scikit-learn's class",
    "test_max_iter": "ours says the gradient at the end and what the last step gained",
    "test_newton_cholesky_fallback_to_lbfgs": "Newton's method solves a singular system by its smallest step, itself",
    "test_penalty_none": "there is one option, `l2`, so there is nothing to contradict and to warn of",
    **since(
        (1, 8), {"test_penalty_deprecated[LogisticRegression]": "the penalty is `l2` alone: nothing is deprecated"}
    ),
}

# Tests of other things: of cross-validation, of paths of C, and of solvers and penalties that ours does not have.
OTHERS = "array_api|_cv_|_CV|RegressionCV|_path|callback|liblinear|saga|l1|elastic|n_jobs|scoring"
tests, shims = "sklearn.linear_model.tests.test_logistic", {"LogisticRegression": LogisticRegression}
solvers = {"SOLVERS": sorted(LogisticRegression.SOLVERS)}
globals().update(adopt(tests, "sklearn.linear_model", shims, without=OTHERS, given=solvers))


def test_the_list_of_differences_fits(request):
    refuse_names_without_a_test(request.node.parent, DIFFERENT)
