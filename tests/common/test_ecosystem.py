"""Every registered classifier works in scikit-learn's pipelines, searches, calibration and output settings."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_matrix, csc_matrix, csr_array
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils import estimator_html_repr

from bayeskit import NaiveBayes
from bayeskit.datasets import load_penguins
from bayeskit.errors import TooLargeError
from common.registry import any_table_classifiers, classifiers

pd = pytest.importorskip("pandas", reason="frames come from pandas")

by_model = pytest.mark.parametrize("model", classifiers(), ids=lambda model: type(model).__name__)
SMOOTHING = {
    "GaussianBayes": "shrinkage",
    "GaussianNB": "var_smoothing",
    **dict.fromkeys(("BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB"), "alpha"),
}


def numbers():
    rng = np.random.default_rng(0)
    y = rng.choice(["ill", "well"], 90)
    return rng.integers(0, 4, (90, 3)) + 2 * (y == "ill")[:, None], y


def penguins():
    table = pd.DataFrame(load_penguins())
    return table.drop(columns="species"), table["species"]


@by_model
def test_a_pipeline_fits_and_predicts(model):
    X, y = numbers()
    pipe = make_pipeline(FunctionTransformer(), clone(model)).fit(X, y)
    assert_array_equal(pipe.predict_proba(X), clone(model).fit(X, y).predict_proba(X))
    assert pipe.score(X, y) == (clone(model).fit(X, y).predict(X) == y).mean()


@by_model
def test_a_grid_search_finds_the_parameter_that_scores_best_fold_by_fold(model):
    X, y = numbers()
    name = SMOOTHING.get(type(model).__name__, "smoothing")
    given = [0.01, 0.1, 1.0] if name == "shrinkage" else [0.01, 1.0, 1e6]
    if type(model).__name__ == "AutoBayes":  # it chooses its smoothing itself
        name, given = "effort", ["fast", "balanced"]
    search = GridSearchCV(clone(model), {name: given}, cv=3, scoring="neg_log_loss").fit(X, y)
    expected = [np.mean(scores_of_folds(clone(model).set_params(**{name: value}), X, y)) for value in given]
    assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)
    assert len(set(expected)) > 1  # there is something to find
    assert search.best_params_[name] == given[int(np.argmax(expected))]
    assert_array_equal(search.predict_proba(X), clone(search.best_estimator_).fit(X, y).predict_proba(X))


def scores_of_folds(model, X, y):
    """Minus the log-loss of each of three folds, without scikit-learn's search."""
    scores = []
    for train, test in StratifiedKFold(3).split(X, y):
        posterior = model.fit(X[train], y[train]).predict_proba(X[test])
        scores.append(np.log(posterior[np.arange(len(test)), np.searchsorted(model.classes_, y[test])]).mean())
    return scores


@by_model
def test_calibration_fits_its_curve_to_the_probabilities_of_the_other_folds(model):
    X, y = numbers()
    calibrated = CalibratedClassifierCV(clone(model), method="isotonic", cv=3, ensemble=False).fit(X, y)
    assert list(calibrated.classes_) == ["ill", "well"]
    others = np.empty(len(y))
    for train, test in StratifiedKFold(3).split(X, y):
        others[test] = clone(model).fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    curve = IsotonicRegression(out_of_bounds="clip").fit(others, y == "well")
    expected = curve.predict(clone(model).fit(X, y).predict_proba(X)[:, 1])
    found = calibrated.predict_proba(X)
    assert_allclose(found[:, 1], expected, rtol=1e-12, atol=1e-15)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


@by_model
def test_a_clone_has_the_parameters_and_nothing_learned(model):
    X, y = numbers()
    again = clone(clone(model).fit(X, y))
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "classes_")


@by_model
@pytest.mark.parametrize(
    "copied",
    [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, lambda m: _by_joblib(m)],
    ids=["pickle", "deepcopy", "joblib"],
)
def test_a_copy_has_the_same_bits(model, copied):
    X, y = numbers()
    fitted = clone(model).fit(X, y)
    assert_array_equal(copied(fitted).predict_log_proba(X), fitted.predict_log_proba(X), strict=True)


def _by_joblib(model):
    import io

    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@by_model
def test_workers_of_joblib_give_the_same_scores(model):
    X, y = numbers()
    one = cross_val_predict(clone(model), X, y, cv=3, method="predict_proba", n_jobs=1)
    with joblib.parallel_config(backend="threading"):
        two = cross_val_predict(clone(model), X, y, cv=3, method="predict_proba", n_jobs=2)
    assert_array_equal(one, two)


@by_model
def test_text_and_html_reprs_name_the_model(model):
    X, y = numbers()
    for state in (clone(model), clone(model).fit(X, y)):
        assert repr(state).startswith(type(model).__name__)
        assert type(model).__name__ in estimator_html_repr(state)
        assert type(model).__name__ in state._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("model", any_table_classifiers(), ids=lambda model: type(model).__name__)
def test_an_unfitted_model_says_that_it_must_be_fitted(model):
    X, y = numbers()
    for call in (
        lambda m: m.predict(X),
        lambda m: m.predict_proba(X),
        lambda m: m.score_samples(X),
        lambda m: m.log_likelihood(X, y),
        lambda m: m.unlearn(X, y),
        lambda m: m.save("nowhere.bayes"),
        lambda m: m.tables_,
        lambda m: m.n_parameters_,
    ):
        with pytest.raises(Exception, match="is not fitted yet") as caught:
            call(clone(model))
        assert type(caught.value).__name__ == "NotFittedError"


def test_frames_of_strings_go_through_a_pipeline_with_set_output():
    X, y = penguins()
    kept = make_column_transformer(
        ("passthrough", ["island", "sex"]),
        (StandardScaler(), [name for name in X.columns if X[name].dtype.kind == "f"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipe = make_pipeline(kept, NaiveBayes()).fit(X, y)
    assert [variable.kind for variable in pipe[-1].schema_] == ["categorical"] * 2 + ["gaussian"] * 4
    X = X.drop(columns="year")  # a whole number: neither passed on nor scaled
    assert sorted(pipe[-1].feature_names_in_) == sorted(X.columns)
    # A density that is moved and stretched is the same model.
    assert_allclose(pipe.predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X), rtol=1e-9, atol=1e-15)


def test_polars_output_is_read():
    pl = pytest.importorskip("polars", reason="polars output needs polars")
    X, y = penguins()
    numeric = X[[name for name in X.columns if X[name].dtype.kind == "f"]]
    pipe = make_pipeline(StandardScaler().set_output(transform="polars"), NaiveBayes()).fit(pl.from_pandas(numeric), y)
    # The names are the scaler's; scikit-learn before 1.9 does not read those of a frame of a new polars.
    assert list(pipe[-1].feature_names_in_) == list(pipe[0].get_feature_names_out())
    plain = make_pipeline(StandardScaler(), NaiveBayes()).fit(numeric, y)
    assert_array_equal(pipe.predict_proba(pl.from_pandas(numeric)), plain.predict_proba(numeric))


def test_a_grid_search_on_a_frame_of_strings_and_gaps():
    X, y = penguins()
    grid = {"smoothing": [0.1, 1.0], "variance": ["ml", "unbiased"]}
    search = GridSearchCV(NaiveBayes(), grid, cv=3).fit(X, y)
    assert X.isna().to_numpy().any()
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        shares = [
            (NaiveBayes(**params).fit(X.iloc[train], y.iloc[train]).predict(X.iloc[test]) == y.iloc[test]).mean()
            for train, test in StratifiedKFold(3).split(X, y)
        ]
        assert_allclose(score, np.mean(shares), rtol=1e-12)
    assert search.best_score_ > 0.95


def test_calibration_of_a_frame_of_strings():
    X, y = penguins()
    calibrated = CalibratedClassifierCV(NaiveBayes(), cv=3).fit(X, y)
    assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
    assert calibrated.score(X, y) > 0.95


def test_sample_weights_can_be_routed():
    import sklearn

    X, y = numbers()
    weight = np.where(y == "ill", 2.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(FunctionTransformer(), NaiveBayes().set_fit_request(sample_weight=True))
        pipe.fit(X, y, sample_weight=weight)
    assert_array_equal(pipe[-1].class_count_, NaiveBayes().fit(X, y, weight).class_count_)


def test_one_hot_columns_as_bernoulli_kinds_give_the_numbers_of_scikit_learns_bernoulli_nb():
    X, y = penguins()
    one_hot = make_column_transformer((OneHotEncoder(sparse_output=False), ["island", "sex"]))
    ours = make_pipeline(one_hot, NaiveBayes(kinds="bernoulli", prior="data")).fit(X, y)
    theirs = make_pipeline(one_hot, BernoulliNB(alpha=1.0)).fit(X, y)
    assert {variable.kind for variable in ours[-1].schema_} == {"bernoulli"}
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)


@by_model
@pytest.mark.parametrize("form", [csr_array, csc_matrix, coo_matrix])
def test_a_sparse_matrix_gives_the_numbers_of_the_full_table(model, form):
    X, y = penguins()
    full = OneHotEncoder(sparse_output=False).fit_transform(X[["island", "sex"]].astype(str))
    expected = clone(model).fit(full, y)
    found = clone(model).fit(form(full), y)
    assert_allclose(found.predict_proba(form(full)), expected.predict_proba(full), rtol=1e-12)
    assert_allclose(found.predict_proba(full), expected.predict_proba(form(full)), rtol=1e-12)


def test_a_sparse_matrix_that_is_too_large_as_a_full_table_is_refused_by_its_size():
    wide = csr_array((1_000_000, 100_000))
    with pytest.raises(TooLargeError, match=r"1,000,000 × 100,000 cells, which take 745 GiB .* sparse matrices as"):
        NaiveBayes().fit(wide, np.zeros(1_000_000))
