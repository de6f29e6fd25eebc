"""scikit-learn's own tests of discriminant analysis hold for ours; where they differ on purpose, here is why."""

import pytest

from peers.sklearn_shims import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from peers.sklearn_suite import adopt, refuse_names_without_a_test, since

# Their suite lets a warning pass, so a test of theirs may give one without asking for it.
pytestmark = pytest.mark.filterwarnings("default")

# Test (with its parametrisation, or without for all of them) → why ours differs.
DIFFERENT = {
    "test_lda_priors": "a prior is checked in the words of GaussianNB's test, and refused if it does not sum to 1",
    "test_lda_explained_variance_ratio": "a classifier, not a projection of the columns",
    "test_lda_orthogonality": "a classifier, not a projection of the columns",
    "test_get_feature_names_out": "a classifier, not a projection of the columns",
    "test_qda": "a class of one row is a point whose matrix is widened, and the summary says so",
    "test_qda_regularization": "a matrix without full rank is widened, and the summary says so",
    "test_raises_value_error_on_same_number_of_classes_and_samples": "classes of one row are points of one width",
    **since(
        (1, 8),
        {
            "test_qda_coefs": "a matrix is one matrix, not rotations and scalings",
            "test_raises_value_error_on_one_sample_per_class": "a class of one row is a point whose matrix is widened",
        },
    ),
}

# What theirs loop over, without shrinkage="auto".
SOLVERS = [("svd", None), ("lsqr", None), ("eigen", None), ("lsqr", 0), ("lsqr", 0.43), ("eigen", 0), ("eigen", 0.43)]
SHIMS = {
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis,
    "QuadraticDiscriminantAnalysis": QuadraticDiscriminantAnalysis,
}
tests, home = "sklearn.tests.test_discriminant_analysis", "sklearn.discriminant_analysis"
globals().update(adopt(tests, home, SHIMS, given={"solver_shrinkage": SOLVERS}))


def test_the_list_of_differences_fits(request):
    refuse_names_without_a_test(request.node.parent, DIFFERENT)
