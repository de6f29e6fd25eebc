"""LogisticRegression gives the numbers of statsmodels and of scikit-learn without a penalty."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression as Peer

from bayeskit import LogisticRegression

AGREES = 1e-6
# scikit-learn 1.8 says so of C=inf too, which means the same.
pytestmark = pytest.mark.filterwarnings("ignore:Setting penalty=None will ignore the C:UserWarning")


def binary():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, [0, 1, 4, 8]], y


def three_classes():
    rng = np.random.default_rng(0)
    X = load_wine().data[:, [0, 1, 3]]
    scores = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(3, 3)) + rng.gumbel(size=(len(X), 3))
    return X, scores.argmax(axis=1)


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "gradient"])
def test_two_classes_are_statsmodels_logit(solver):
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is the witness of standard errors")
    X, y = binary()
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-12)
    tol, steps = (1e-7, 200_000) if solver == "gradient" else (1e-10, 1000)
    ours = LogisticRegression(solver=solver, reference=0, tol=tol, max_iter=steps).fit(X, y)
    table = ours.coefficients()
    close = 1e-3 if solver == "gradient" else AGREES
    assert_allclose(table.log_odds[:, 0], theirs.params, rtol=close)
    assert_allclose(table.standard_error[:, 0], theirs.bse, rtol=close)
    assert_allclose(ours.log_likelihood_, theirs.llf, rtol=close)


def test_tests_and_intervals_of_two_classes_are_statsmodels_logit():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is the witness of standard errors")
    X, y = binary()
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-12)
    ours = LogisticRegression(reference=0, tol=1e-10).fit(X, y)
    table = ours.coefficients()
    assert_allclose(table.z[:, 0], theirs.tvalues, rtol=AGREES)
    assert_allclose(table.p_value[:, 0], theirs.pvalues, rtol=1e-5, atol=1e-12)
    assert_allclose(np.log(table.interval[:, :, 0]).T, theirs.conf_int(), rtol=AGREES)
    assert_allclose(ours.log_likelihood_, theirs.llf, rtol=1e-12)
    assert_allclose(ours.null_log_likelihood_, theirs.llnull, rtol=1e-9)
    assert_allclose(ours.likelihood_ratio_test().statistic, theirs.llr, rtol=1e-9)
    assert_allclose(ours.likelihood_ratio_test().p_value, theirs.llr_pvalue, rtol=1e-6)


def test_three_classes_are_statsmodels_mnlogit():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is the witness of standard errors")
    X, y = three_classes()
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-12)
    for solver in ("lbfgs", "newton"):
        ours = LogisticRegression(reference=0, solver=solver, tol=1e-10).fit(X, y)
        table = ours.coefficients()
        assert_allclose(table.log_odds, theirs.params, rtol=AGREES)
        assert_allclose(table.standard_error, theirs.bse, rtol=AGREES)
        assert_allclose(ours.log_likelihood_, theirs.llf, rtol=1e-12)


def test_tests_of_one_column_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is the witness of tests")
    X, y = binary()
    whole = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12)
    less = sm.Logit(y, sm.add_constant(X[:, 1:])).fit(disp=0, tol=1e-12)
    ours = LogisticRegression(tol=1e-10).fit(X, y)
    assert_allclose(ours.wald_test("x0").statistic, whole.tvalues[1] ** 2, rtol=AGREES)
    found = ours.likelihood_ratio_test(X, y, without="x0")
    assert_allclose(found.statistic, 2 * (whole.llf - less.llf), rtol=1e-8)
    assert found.df == 1


@pytest.mark.parametrize("table", [binary, three_classes])
@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_coefficients_are_those_of_scikit_learn(table, l2):
    X, y = table()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = Peer(C=1 / l2 if l2 else np.inf, tol=1e-12, max_iter=10_000, solver="newton-cg").fit(X, y)
    ours = LogisticRegression(l2=l2, tol=1e-11).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=AGREES)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=AGREES)


def test_weights_are_those_of_scikit_learn():
    X, y = binary()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    theirs = Peer(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cg").fit(X, y, weight)
    assert_allclose(LogisticRegression(tol=1e-11).fit(X, y, weight).coef_, theirs.coef_, rtol=1e-5)


@pytest.mark.parametrize("table", [binary, three_classes])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 1: 0.5}])
def test_class_weights_are_those_of_scikit_learn(table, class_weight):
    X, y = table()
    theirs = Peer(C=0.5, class_weight=class_weight, tol=1e-10, max_iter=100_000, solver="newton-cholesky").fit(X, y)
    ours = LogisticRegression(l2=2.0, class_weight=class_weight, solver="newton", tol=1e-10).fit(X, y)
    assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=AGREES)


def test_a_class_of_weight_zero_is_left_out():
    X, y = three_classes()
    ours = LogisticRegression(class_weight={2: 0.0}).fit(X, y)
    without = LogisticRegression().fit(X[y != 2], y[y != 2])
    assert ours.classes_.tolist() == [0, 1]
    assert_allclose(ours.coef_, without.coef_, rtol=AGREES)


@pytest.mark.parametrize("rare", [0, 3], ids=["even", "a class of three rows"])
def test_many_rows_of_several_classes_have_scikit_learns_coefficients(rare):
    """So many rows that the way begins where a part of them ends."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(24_000, 4)) * [1.0, 30.0, 0.02, 1.0] + [0.0, 500.0, 1.0, -2.0]
    scores = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(4, 4))
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    if rare:
        y = np.where(y == 3, 0, y)
        y[[7, 9_001, 20_003]] = 3
    ours = LogisticRegression(l2=1.0, standard_errors=False).fit(X, y)
    theirs = Peer(C=1.0, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-5, atol=1e-8)
    assert ours.n_iter_ < 60
