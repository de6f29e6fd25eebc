"""Every kind of bad input is refused in one clear sentence, and a fitted model stays as it was."""

import pickle

import numpy as np
import pytest

from bayeskit import CategoricalNB, GaussianNB, NaiveBayes
from bayeskit.errors import BayeskitError, BayeskitWarning, MergeError, TableError, TooLargeError
from bayeskit.learn.model import plain_class

pd = pytest.importorskip("pandas", reason="some bad tables are frames")

TABLE = {"u": ["a", "b", "a", "b"], "h": [1.0, 2.0, 3.0, 5.0]}
Y = ["no", "no", "yes", "yes"]
NAN, INF = float("nan"), float("inf")


def table(**changes):
    return {**TABLE, **changes}


LEARN = {
    "an empty dict": ({}, Y, {}, "Found array with 0 sample|0 feature"),
    "a table without rows": ({"u": [], "h": []}, [], {}, r"0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1"),
    "an array without rows": (np.empty((0, 2)), [], {}, r"0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1"),
    "an array without columns": (np.empty((4, 0)), Y, {}, r"0 feature\(s\) \(shape=\(4, 0\)\) while a minimum of 1"),
    "one dimension": (np.arange(4.0), Y, {}, "Expected 2D array, got 1D array instead"),
    "columns of two lengths": (table(h=[1.0]), Y, {}, "column 'h' has 1 rows and column 'u' has 4"),
    "rows of two lengths": ([[1, 2], [3]], [0, 1], {}, "row 1 has 1 values? .*2"),
    "an infinite number": (table(h=[1.0, INF, 2.0, 3.0]), Y, {}, "contains infinity.*column 'h', row 1"),
    "minus infinity": (table(h=[1.0, 2.0, -INF, 3.0]), Y, {}, "contains infinity.*column 'h', row 2"),
    "a column of mixed types": (table(u=["a", 1, "b", "a"]), Y, {}, "column 'u' mixes types, such as .*'.' and 1"),
    "a list in a cell": (table(u=["a", ["b"], "a", "b"]), Y, {}, "column 'u', row 1: argument must be a string or a"),
    "dates": (pd.DataFrame({"d": pd.date_range("2020-01-01", periods=4)}), Y, {}, "column 'd'.*Split a date into"),
    "repeated names": (
        pd.DataFrame([[1, 2]] * 4, columns=["a", "a"]),
        Y,
        {},
        "2 columns are named 'a'; column names must be unique",
    ),
    "names of two types": (pd.DataFrame([[1, 2]] * 4, columns=["a", 1]), Y, {}, "only supported if all input features"),
    "the target among the features": (
        pd.DataFrame({**TABLE, "t": Y}),
        pd.Series(Y, name="t"),
        {},
        "the target 't' is still among the features; leave that column out, or pass target='t'",
    ),
    "numbers too large to square": (table(h=[1e200, 2e200, 3.0, 1.0]), Y, {}, "column 'h' holds numbers so large"),
    "complex numbers": (np.array([[1j]] * 4), Y, {}, "Complex data not supported"),
    "no labels": (TABLE, None, {}, "requires y to be passed"),
    "labels too few": (TABLE, ["no"], {}, r"inconsistent numbers of samples: \[4, 1\]"),
    "a missing label": (TABLE, ["no", None, "no", "yes"], {}, "Input y contains NaN: row 1 has no label"),
    "labels of mixed type": (TABLE, ["no", 1, "no", 2], {}, "column 'y' mixes types"),
    "labels in two columns": (TABLE, [[0, 1]] * 4, {}, r"y should be a 1d array, got an array of shape \(4, 2\)"),
    "labels that are measured": (TABLE, [0.5, 1.25, 2.0, 1.0], {}, "Unknown label type: continuous"),
    "infinite labels": (TABLE, [0.0, INF, 1.0, 1.0], {}, "Input y contains infinity: row 1"),
    "a negative weight": (TABLE, Y, {"sample_weight": [1, -1, 1, 1]}, "sample_weight, row 1: .*must not be negative"),
    "weights all zero": (TABLE, Y, {"sample_weight": [0, 0, 0, 0]}, "sample_weight is zero in every row"),
    "a weight that is missing": (
        TABLE,
        Y,
        {"sample_weight": [1, NAN, 1, 1]},
        "row 1: a weight must be a finite number",
    ),
    "weights too few": (TABLE, Y, {"sample_weight": [1, 1]}, r"sample_weight.shape == \(2,\), expected \(4,\)"),
    "weights in two columns": (TABLE, Y, {"sample_weight": [[1, 1]] * 4}, "Sample weights must be 1D array or scalar"),
    "labels given twice": (table(t=Y), Y, {"target": "t"}, "give the labels once: either y or target='t'"),
    "a target that is not there": (TABLE, None, {"target": "t"}, "target: there is no column 't'; there is 'u', 'h'"),
    "a target of an array": (np.zeros((2, 2)), None, {"target": "t"}, "target='t' needs a table with column names"),
}


@pytest.mark.parametrize("case", LEARN)
def test_bad_tables_labels_and_weights_are_refused_and_a_fitted_model_stays(case):
    X, y, more, message = LEARN[case]
    with pytest.raises((TypeError, ValueError), match=f"(?s){message}"):
        NaiveBayes().fit(X, y, **more)
    fitted = NaiveBayes().fit(TABLE, Y)
    before = pickle.dumps(fitted.predict_proba(TABLE))
    for learn in (fitted.fit, fitted.partial_fit, fitted.unlearn):
        with pytest.raises((TypeError, ValueError)):
            learn(X, y, **more)
        assert pickle.dumps(fitted.predict_proba(TABLE)) == before
        assert fitted.class_count_.tolist() == [2, 2]


PARAMETERS = {
    "smoothing below zero": ({"smoothing": -1}, r"must be a finite number of at least 0 .*MEstimate\(2\)\. Got -1"),
    "smoothing infinite": ({"smoothing": INF}, "'smoothing' parameter"),
    "smoothing missing": ({"smoothing": NAN}, "'smoothing' parameter"),
    "smoothing as text": ({"smoothing": "1"}, "'smoothing' parameter .* Got '1' instead"),
    "smoothing as truth": ({"smoothing": True}, "'smoothing' parameter"),
    "bins zero": ({"bins": 0}, "'bins' parameter of NaiveBayes must be a whole number of at least 1. Got 0"),
    "bins half": ({"bins": 2.5}, "'bins' parameter"),
    "numeric unknown": ({"numeric": "gamma"}, "'numeric' parameter of NaiveBayes must be one of 'gaussian', 'kde'"),
    "variance unknown": ({"variance": "best"}, "'variance' .* one of 'posterior', 'ml' or 'unbiased'. Got 'best'"),
    "unseen unknown": ({"unseen": "skip"}, "'unseen' parameter .* 'ignore', 'error' or 'smooth'"),
    "impossible unknown": ({"impossible": "no"}, "'impossible' parameter"),
    "prior unknown": ({"prior": "flat"}, "'prior' parameter"),
    "prior a number": ({"prior": 0.5}, "'prior' parameter"),
    "prior None": ({"prior": None}, "'prior' parameter"),
    "prior of text": ({"prior": ["a", "b"]}, "'prior' parameter"),
    "prior too short": ({"prior": [1.0]}, "Number of priors must match number of classes"),
    "prior not summing": ({"prior": [0.5, 0.6]}, "sum of the priors should be 1; got 1.1"),
    "prior negative": ({"prior": [-0.5, 1.5]}, "Priors must be non-negative"),
    "prior of other classes": ({"prior": {"no": 0.5, "maybe": 0.5}}, "prior must name each class once"),
    "kinds of an absent column": ({"kinds": {"w": "gaussian"}}, "kinds: there is no column 'w'"),
    "kinds out of range": ({"kinds": {7: "gaussian"}}, "kinds: there is no column '7'"),
    "kinds below zero": ({"kinds": {-1: "gaussian"}}, "kinds: there is no column '-1'"),
    "kinds misspelt": ({"kinds": {"h": "posson"}}, r"cannot be of kind 'posson'; did you mean 'poisson'\?"),
    "kinds unknown": ({"kinds": {"h": "gamma"}}, "column 'h' cannot be of kind 'gamma'; it is one of categorical"),
    "kinds as a list": ({"kinds": ["gaussian", "gaussian"]}, "'kinds' parameter"),
    "text as numbers": ({"kinds": {"u": "gaussian"}}, "column 'u' cannot be gaussian: it holds text such as 'a'"),
    "text as counts": ({"kinds": {"u": "poisson"}}, "column 'u' cannot be poisson: it holds text"),
    "text as bins": ({"kinds": {"u": "equal-width"}}, "column 'u' cannot be equal-width: it holds text"),
    "text as bernoulli": ({"kinds": {"u": "bernoulli"}}, "column 'u' cannot be bernoulli: it holds 'a'"),
    "numbers as bernoulli": ({"kinds": {"h": "bernoulli"}}, "column 'h' cannot be bernoulli: it holds 2; .* 0 and 1"),
    "class weight of a stranger": ({"class_weight": {"maybe": 2}}, "class_weight names the class 'maybe'"),
    "class weight negative": ({"class_weight": {"no": -2}}, "class weights must be finite, not negative"),
    "class weight as a list": ({"class_weight": [1, 2]}, "'class_weight' parameter"),
    "class weight unknown": ({"class_weight": "even"}, "class_weight"),
}  # fmt: skip


@pytest.mark.parametrize("case", PARAMETERS)
def test_bad_parameters_are_refused_and_a_fitted_model_stays(case):
    parameters, message = PARAMETERS[case]
    with pytest.raises(BayeskitError, match=message):
        NaiveBayes(**parameters).fit(TABLE, Y)
    fitted = NaiveBayes().fit(TABLE, Y)
    before = fitted.predict_proba(TABLE).tobytes()
    fitted.set_params(**parameters)
    with pytest.raises(BayeskitError, match=message):
        fitted.fit(TABLE, Y)
    assert fitted.class_count_.tolist() == [2, 2]
    fitted.set_params(**{name: NaiveBayes().get_params()[name] for name in parameters})
    assert fitted.predict_proba(TABLE).tobytes() == before


@pytest.mark.parametrize("value", [-1, 2.5, INF])
def test_a_poisson_column_takes_only_counts_in_fit_and_at_prediction(value):
    kinds = {"n": "poisson"}
    with pytest.raises(TableError, match="column 'n', row 1"):
        NaiveBayes(kinds=kinds).fit({"n": [0, value, 2, 3]}, Y)
    model = NaiveBayes(kinds=kinds).fit({"n": [0, 1, 2, 3]}, Y)
    with pytest.raises(TableError, match="column 'n', row 0"):
        model.predict({"n": [value]})
    unnamed = NaiveBayes(kinds="poisson").fit(np.array([[0], [1], [2], [3]]), Y)
    with pytest.raises(TableError, match="column 'x0', row 0"):
        unnamed.predict(np.array([[float(value)]]))


def test_a_column_all_missing_is_said_and_left_out_until_values_come():
    with pytest.warns(BayeskitWarning, match="column 'h' has no value in any row; it is left out"):
        model = NaiveBayes().partial_fit(table(h=[None] * 4), Y)
    assert model.schema_["h"].kind == "unknown"
    plain = NaiveBayes().fit({"u": TABLE["u"]}, Y)
    np.testing.assert_array_equal(model.predict_proba(TABLE), plain.predict_proba({"u": TABLE["u"]}))
    model.partial_fit(TABLE, Y)
    assert model.schema_["h"].kind == "gaussian"
    assert model.class_count_.tolist() == [4, 4]


FRAME = pd.DataFrame(TABLE)
ASK = {
    "a column too many": (FRAME.assign(w=1), "Feature names unseen at fit time:\n- w"),
    "a column too few": (FRAME[["u"]], "Feature names seen at fit time, yet now missing:\n- h"),
    "a renamed column": (FRAME.rename(columns={"h": "height"}), "unseen at fit time:\n- height\n.*now missing:\n- h"),
    "columns in another order": (FRAME[["h", "u"]], r"must be in the same order.*X\[list\(model.feature_names_in_\)\]"),
    "an array of another width": (FRAME[["u"]].to_numpy(), "X has 1 features, but NaiveBayes is expecting 2 features"),
    "numbers where text was": (FRAME.assign(u=[1, 2, 3, 4]), "column 'u' held text in fit; numbers came, such as 1"),
    "text where numbers were": (FRAME.assign(h=list("wxyz")), "column 'h' held numbers in fit; text came, such as 'w'"),
    "infinite": (FRAME.assign(h=[1.0, INF, 1.0, 1.0]), "contains infinity.*column 'h', row 1"),
    "nothing": (FRAME.iloc[:0], r"Found array with 0 sample\(s\)"),
}


@pytest.mark.parametrize("case", ASK)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "score_samples"])
def test_a_table_that_does_not_fit_the_model_is_refused_at_prediction(case, method):
    X, message = ASK[case]
    model = NaiveBayes().fit(FRAME, Y)
    with pytest.raises(ValueError, match=f"(?s){message}"):
        getattr(model, method)(X)


@pytest.mark.parametrize("case", [name for name in ASK if name not in ("nothing", "an array of another width")])
def test_a_batch_that_does_not_fit_the_model_is_refused_and_the_model_stays(case):
    X, _ = ASK[case]
    model = NaiveBayes().fit(FRAME, Y)
    before = model.predict_proba(FRAME).tobytes()
    for learn in (model.partial_fit, model.unlearn):
        with pytest.raises(ValueError):
            learn(X, Y[: len(X)])
        assert model.predict_proba(FRAME).tobytes() == before


def test_only_models_of_one_kind_merge():
    model = NaiveBayes().fit(TABLE, Y)
    with pytest.raises(MergeError, match="a NaiveBayes merges with a NaiveBayes; got GaussianNB"):
        model.merge(GaussianNB().fit([[1.0], [2.0]], [0, 1]))
    with pytest.raises(MergeError, match="one side has 2 columns and the other has 1"):
        model.merge(NaiveBayes().fit({"u": ["a"]}, ["no"]))
    with pytest.raises(MergeError, match="text and numbers do not mix"):
        model.merge(NaiveBayes().fit(TABLE, [0, 0, 1, 1]))
    assert model.class_count_.tolist() == [2, 2]


def test_bins_with_other_edges_are_refused_by_name():
    a = NaiveBayes(numeric="equal-width", bins=2).fit({"h": [0.0, 1.0]}, [0, 1])
    b = NaiveBayes(numeric="equal-width", bins=2).fit({"h": [0.0, 3.0]}, [0, 1])
    with pytest.raises(MergeError, match=r"column 'h' has bin edges \(0.5,\) on one side and \(1.5,\) on the other"):
        a.merge(b)


def test_rows_that_were_not_learned_cannot_be_unlearned():
    model = NaiveBayes().fit(TABLE, Y)
    for rows, labels, message in [
        ({"u": ["z"], "h": [1.0]}, ["no"], "column 'u' never held 'z'"),
        ({"u": ["a"], "h": [1.0]}, ["maybe"], "class 'maybe' was never counted"),
        ({"u": ["a", "a"], "h": [1.0, 1.0]}, ["no", "no"], "would become negative"),
    ]:
        with pytest.raises(MergeError, match=message):
            model.unlearn(rows, labels)
    with pytest.raises(TableError, match="unlearn would remove every row"):
        model.unlearn(TABLE, Y)
    assert model.class_count_.tolist() == [2, 2]


def test_a_class_that_classes_does_not_name_is_refused():
    with pytest.raises(
        TableError, match=r"target label\(s\) \['yes'\] in y do not exist in the initial classes \['no'\]"
    ):
        NaiveBayes().partial_fit(TABLE, Y, classes=["no"])


def test_likelihood_needs_labels_that_were_seen():
    model = NaiveBayes().fit(TABLE, Y)
    with pytest.raises(TableError, match="y holds the class 'maybe', which was not seen in fit; seen: "):
        model.log_likelihood(TABLE, ["maybe"] * 4)
    with pytest.raises(TableError, match="needs their labels: pass y, or target='column'"):
        model.log_likelihood(TABLE)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[-1], [2]], "Negative values in data passed to CategoricalNB"),
        ([["a"], ["b"]], "column 'x0' holds 'a'; CategoricalNB takes whole numbers, NaiveBayes takes any table"),
        ([[2**40], [1]], "column 'x0' holds the category 1099511627776, and CategoricalNB keeps a table"),
    ],
)
def test_categorical_nb_refuses_what_are_no_categories(X, message):
    with pytest.raises((TableError, TooLargeError), match=message):
        CategoricalNB().fit(X, [0, 1])


def test_gaussian_nb_refuses_text():
    with pytest.raises(TableError, match="column 'x0' cannot be gaussian: it holds text such as 'a'"):
        GaussianNB().fit([["a"], ["b"]], [0, 1])


def test_an_interrupted_fit_leaves_the_model_as_it_was(monkeypatch):
    model = NaiveBayes().fit(TABLE, Y)
    before = model.predict_proba(TABLE).tobytes()

    def stop(self, counts):
        raise KeyboardInterrupt

    monkeypatch.setattr(plain_class(NaiveBayes), "_check", stop)  # the last step before the new state is put in place
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(KeyboardInterrupt):
            learn({"u": ["z"], "h": [9.0]}, ["maybe"])
    assert model.predict_proba(TABLE).tobytes() == before


def test_numbers_that_were_never_learned_cannot_be_unlearned():
    model = NaiveBayes().fit({"a": [1.0, 2.0, 3.0, 4.0]}, [0, 0, 1, 1])
    with pytest.raises(MergeError, match="a variance would become negative"):
        model.unlearn({"a": [77.0]}, [0])
    assert model.class_count_.tolist() == [2, 2]


def test_the_target_left_in_a_dict_is_noticed():
    table = {"a": ["x", "y"], "b": ["p", "q"]}
    with pytest.raises(TableError, match="the target 'b' is still among the features"):
        NaiveBayes().fit(table, table["b"])


def test_a_name_given_as_y_is_pointed_to_target():
    with pytest.raises(TableError, match="pass target='b'"):
        NaiveBayes().fit({"a": ["x", "y"], "b": ["p", "q"]}, "b")
