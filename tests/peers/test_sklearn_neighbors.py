"""scikit-learn's own tests of nearest neighbours hold for ours; where they differ on purpose, here is why."""

import pytest

from peers.sklearn_shims import KNeighborsClassifier
from peers.sklearn_suite import adopt, refuse_names_without_a_test

# Their suite lets a warning pass, so a test of theirs may give one without asking for it.
pytestmark = pytest.mark.filterwarnings("default")

# Test (with its parametrisation, or without for all of them) → why ours differs.
DIFFERENT = {
    "test_unsupervised_inputs": "a fitted tree of scikit-learn's is not a table",
    "test_KNeighborsClassifier_multioutput": "one label for each row",
    "test_neighbor_classifiers_loocv": "`predict` needs rows; `leave_one_out` judges each row of the fit by the others",
    "test_predict_sparse_ball_kd_tree": "a sparse row is read like any other, whatever searches the neighbours",
}

# Parameters with which scikit-learn's own test skips every classifier: metrics that are objects.
NOT_RUN = ("DM_euclidean",)
# Tests of `kneighbors_graph`, which belongs to scikit-learn's transformers.
OTHERS = "same_knn_parallel|knn_forcing_backend"
shims = {"KNeighborsClassifier": KNeighborsClassifier}
globals().update(adopt("sklearn.neighbors.tests.test_neighbors", "sklearn.neighbors", shims, without=OTHERS))


def test_the_list_of_differences_fits(request):
    refuse_names_without_a_test(request.node.parent, DIFFERENT)
