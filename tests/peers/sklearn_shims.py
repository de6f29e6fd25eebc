"""Our models under scikit-learn's names of classes, parameters and attributes, so that its own tests can call them."""

from inspect import signature

import numpy as np
import pytest
from sklearn import discriminant_analysis, linear_model, mixture, neighbors
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin

import bayeskit
from peers.sklearn_suite import RELEASE

# Our class and the option or value that it lacks → why; a test of theirs that asks for it is expected to fail.
NOT_OFFERED = {
    ("GaussianMixture", "warm_start"): "each fit starts anew, from `init` and not from the last",
    ("GaussianMixture", "verbose"): "nothing is printed while fitting; `history_` has every step",
    ("GaussianMixture", "max_iter=0"): "zero steps learn nothing, so they are refused",
    ("GaussianMixture", "weights_init"): "a start is means alone, or whole: weights, means and covariances",
    ("GaussianBayes", "n_components"): "a classifier, not a projection of the columns",
    ("GaussianBayes", "covariance_estimator"): "matrices come from counts that add, and not from rows",
    ("GaussianBayes", "shrinkage='auto'"): "Ledoit and Wolf's amount needs fourth moments, not counted",
    ("GaussianBayes", "reg_param"): "`shrinkage` shrinks towards the mean variance, which does not depend on units",
    ("LogisticRegression", "l1_ratio"): "the penalty is a normal prior; there is no Laplace prior",
    ("LogisticRegression", "dual"): "the primal problem alone is solved",
    ("LogisticRegression", "fit_intercept"): "there is always an intercept, as there is always P(c)",
    ("LogisticRegression", "solver='saga'"): "three solvers find the one optimum; more would find the same",
    ("LogisticRegression", "solver='liblinear'"): "three solvers find the one optimum; more would find the same",
    ("LogisticRegression", "solver='sag'"): "three solvers find the one optimum; more would find the same",
    ("LogisticRegression", "warm_start"): "each fit starts anew, so no fit depends on the last",
    ("LogisticRegression", "n_jobs"): "threads are used without being asked for",
    ("LogisticRegression", "max_iter=0"): "zero steps learn nothing, so they are refused",
    ("LogisticRegression", "multi_class"): "more than two classes are always multinomial",
    ("KNeighbors", "metric"): "the distance (HEOM) is Euclidean in units of each column's range",
    ("KNeighbors", "p"): "the distance (HEOM) is Euclidean in units of each column's range",
    ("KNeighbors", "metric_params"): "the distance is that of mixed tables (HEOM), without parameters",
    ("KNeighbors", "weights=callable"): "two weightings, of which a file can keep the name",
}


def keeps_parameters(theirs):
    """Return an ``__init__`` with the parameters of another."""

    def keep(self, *args, **kwargs):
        given = theirs.bind(self, *args, **kwargs)
        given.apply_defaults()
        vars(self).update(list(given.arguments.items())[1:])

    keep.__signature__ = theirs
    return keep


class Shim(BaseEstimator):
    """Parameters of the class that it is ``like``; ``fit`` translates them, and what was learned is asked from ours."""

    def __init_subclass__(cls, like=None):
        super().__init_subclass__()
        if like is not None:
            cls.__init__ = keeps_parameters(signature(like.__init__))

    def __getattr__(self, name):
        if name.startswith("__") or ("ours_" not in vars(self) and not hasattr(self.OURS, name)):
            raise AttributeError(name)
        value = getattr(vars(self)["ours_"] if "ours_" in vars(self) else self._translated(), name)
        # Theirs learn numbers of the table's dtype; ours are float64 whatever the table is, since float32 loses digits.
        narrow = name.endswith("_") and isinstance(value, np.ndarray) and value.dtype == np.float64
        return value.astype(np.float32) if narrow and self._dtype == np.float32 else value

    def fit(self, X, y=None, sample_weight=None):
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        self._dtype = getattr(X, "dtype", None)
        self.ours_ = self._translated().fit(X, y, **weight)
        return self

    def _lacks(self, option):
        """End a test that asks for an option which ours does not have."""
        pytest.xfail(f"{option}: {NOT_OFFERED[self.OURS.__name__, option]}.")


class GaussianMixture(ClusterMixin, Shim, like=mixture.GaussianMixture):
    OURS = bayeskit.GaussianMixture
    SHAPES = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}  # noqa: RUF012

    def _translated(self):
        for option in ("warm_start", "verbose"):
            if getattr(self, option):
                self._lacks(option)
        if self.max_iter == 0:
            self._lacks("max_iter=0")
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31 - 1))
        return self.OURS(
            self.n_components,
            covariance=self.SHAPES.get(self.covariance_type, self.covariance_type),
            tol=self.tol,
            regularization=self.reg_covar,
            max_iter=self.max_iter,
            n_init=self.n_init,
            init=self._start(),
            random_state=seed,
        )

    def _start(self):
        if self.weights_init is None and self.precisions_init is None:
            return "k-means++" if self.means_init is None else self.means_init
        if self.weights_init is None or self.precisions_init is None or self.means_init is None:
            self._lacks("weights_init")
        precisions = np.asarray(self.precisions_init)
        whole = self.covariance_type in ("full", "tied")
        covariances = np.linalg.inv(precisions) if whole else 1 / precisions
        return {"weights": self.weights_init, "means": self.means_init, "covariances": covariances}

    def fit_predict(self, X, y=None):
        return self.fit(X).predict(X)

    @property
    def precisions_(self):
        whole = self.covariance_type in ("full", "tied")
        return np.linalg.inv(self.covariances_) if whole else 1 / self.covariances_

    @property
    def lower_bound_(self):
        return self.history_.objective[-1] / len(self.labels_)

    def _n_parameters(self):
        return self.n_parameters_


class Discriminant(ClassifierMixin, Shim):
    OURS = bayeskit.GaussianBayes

    def _model(self, covariance):
        asked = self.get_params()  # older releases lack some of them
        if asked.get("shrinkage") == "auto":
            self._lacks("shrinkage='auto'")
        if asked.get("covariance_estimator") is not None:
            self._lacks("covariance_estimator")
        prior = "data" if self.priors is None else np.asarray(self.priors)
        return self.OURS(covariance=covariance, prior=prior, shrinkage=asked.get("shrinkage") or 0.0)

    @property
    def priors_(self):
        return self.class_prior_

    def decision_function(self, X):
        scores = self.ours_.predict_joint_log_proba(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class LinearDiscriminantAnalysis(Discriminant, like=discriminant_analysis.LinearDiscriminantAnalysis):
    def _translated(self):
        if self.n_components is not None:
            self._lacks("n_components")
        return self._model("tied")

    @property
    def covariance_(self):
        if self.solver == "svd" and not self.store_covariance:
            raise AttributeError("covariance_")
        return self.covariances_[0]

    @property
    def coef_(self):
        coef = np.linalg.solve(self.covariances_[0], self.means_.T).T
        return coef[1:] - coef[:1] if len(coef) == 2 else coef


class QuadraticDiscriminantAnalysis(Discriminant, like=discriminant_analysis.QuadraticDiscriminantAnalysis):
    def _translated(self):
        if self.reg_param:
            self._lacks("reg_param")
        # Theirs divided by n - 1 before 1.9.
        return self._model("full").set_params(variance="unbiased" if RELEASE < (1, 9) else "ml")

    @property
    def covariance_(self):
        if not self.store_covariance:
            raise AttributeError("covariance_")
        return list(self.covariances_)


class LogisticRegression(ClassifierMixin, Shim, like=linear_model.LogisticRegression):
    OURS = bayeskit.LogisticRegression
    SOLVERS = {"lbfgs": "lbfgs", "newton-cg": "newton", "newton-cholesky": "newton"}  # noqa: RUF012

    def _translated(self):
        usual = {"dual": [False], "fit_intercept": [True], "warm_start": [False], "n_jobs": [None]}
        usual |= {"l1_ratio": [0.0, None], "multi_class": ["auto", "multinomial", "deprecated"]}
        asked = self.get_params()
        for option in usual.keys() & asked.keys():
            if asked[option] not in usual[option]:
                self._lacks(option)
        if self.penalty in ("l1", "elasticnet"):
            self._lacks("l1_ratio")
        if self.solver in ("sag", "saga", "liblinear"):
            self._lacks(f"solver={self.solver!r}")
        if self.max_iter == 0:
            self._lacks("max_iter=0")
        return self.OURS(
            l2=0.0 if self.penalty is None else 1 / self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            solver=self.SOLVERS.get(self.solver, self.solver),
            class_weight=self.class_weight,
            standard_errors=False,
        )

    @property
    def n_iter_(self):
        return np.array([self.ours_.n_iter_])


class KNeighborsClassifier(ClassifierMixin, Shim, like=neighbors.KNeighborsClassifier):
    OURS = bayeskit.KNeighbors

    def _translated(self):
        if self.metric not in ("minkowski", "euclidean", "l2"):
            self._lacks("metric")
        if self.p != 2:
            self._lacks("p")
        if self.metric_params:
            self._lacks("metric_params")
        if callable(self.weights):
            self._lacks("weights=callable")
        return self.OURS(self.n_neighbors, weights="uniform" if self.weights is None else self.weights)
