"""scikit-learn's own tests of Gaussian mixtures hold for ours; where they differ on purpose, here is why."""

import pytest

from peers.sklearn_shims import GaussianMixture
from peers.sklearn_suite import adopt, refuse_names_without_a_test, since

# Their suite lets a warning pass, so a test of theirs may give one without asking for it.
pytestmark = pytest.mark.filterwarnings("default")

# Test (with its parametrisation, or without for all of them) → why ours differs.
DIFFERENT = {
    "test_check_means": "ours names the option `init`, and says which shape came",
    "test_gaussian_mixture_fit_convergence_warning": "ours says how much the last step still improved the objective",
    **since((1, 7), {"test_score[float32]": "log-densities are float64 whatever the table is: float32 loses digits"}),
    "test_regularisation": "fewer distinct rows than components are refused by number before any step",
    "test_sample": "the refusal of n_samples=0 says what came",
    "test_gaussian_mixture_setting_best_params": "a singular matrix is an error that names the component, not a result",
    "test_gaussian_mixture_precisions_init": "it calls private methods of scikit-learn's class",
    "test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters": "it counts calls of a private function",
    "test_mixture_n_components_greater_than_n_samples_error": "ours says both numbers",
}

SHIMS = {"GaussianMixture": GaussianMixture}
globals().update(adopt("sklearn.mixture.tests.test_gaussian_mixture", "sklearn.mixture", SHIMS))
globals().update(adopt("sklearn.mixture.tests.test_mixture", "sklearn.mixture", SHIMS))


def test_the_list_of_differences_fits(request):
    refuse_names_without_a_test(request.node.parent, DIFFERENT)
