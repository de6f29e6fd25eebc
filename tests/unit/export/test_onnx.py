"""The exported graph says in ONNX Runtime what the library says."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import KDB, ODE, TAN, GaussianNB, KNeighbors, NaiveBayes, to_onnx
from bayeskit.errors import BayeskitError, TooLargeError
from bayeskit.export.target import targets
from export_cases import export_cases
from sql_cases import CASES, tempered

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

# Probabilities are in double precision; sums of logarithms are added in another order than here.
CLOSE = 1e-9


def score(model, table, temperature=1.0):
    """Run the graph on a table of lists; None is a missing cell."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = targets()["onnx"].write(model, temperature=temperature)
    session = runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    feed = {}
    for column in session.get_inputs():
        cells = table[column.name]
        if column.type == "tensor(string)":
            feed[column.name] = np.array([["" if cell is None else cell] for cell in cells], dtype=object)
        else:
            feed[column.name] = np.array([[np.nan if cell is None else float(cell)] for cell in cells])
    return session.run(None, feed)


def assert_says_the_same(model, table, rows=None):
    rows = pa.table(table) if rows is None else rows
    labels, found = score(model, table)
    expected = model.predict_proba(rows)
    assert found.dtype == np.float64
    assert_allclose(found, expected, rtol=CLOSE, atol=CLOSE)
    best = np.sort(expected, axis=1)
    clear = best[:, -1] - best[:, -2] > CLOSE if expected.shape[1] > 1 else np.ones(len(found), dtype=bool)
    assert_array_equal(np.array(labels)[clear], model.predict(rows)[clear])


# Those with the empty text among their values, which is a missing cell in ONNX, cannot be told apart.
WITH_EMPTY_TEXT = {"mdl tree alone", "auto of text", "aode"}


@pytest.mark.parametrize("case", [name for name in export_cases() if name not in WITH_EMPTY_TEXT])
def test_onnx_runtime_scores_every_model_as_the_library_does(case):
    model, rows = export_cases()[case]
    assert_says_the_same(model, {name: rows[name].to_pylist() for name in rows.column_names}, rows)


# Texts are as in the cases of SQL; the empty text cannot be told from a missing one where unseen values have a slot.
@pytest.mark.parametrize("case", [name for name in CASES if "text" not in name])
def test_onnx_runtime_scores_structures_as_the_library_does(case):
    model, rows = CASES[case]
    assert_says_the_same(model, {name: rows[name].to_pylist() for name in rows.column_names}, rows)


def test_parents_of_parents_are_summed_out_where_they_are_hidden():
    rng = np.random.default_rng(5)
    before, columns = rng.integers(0, 3, 400), {}
    for j in range(6):
        before = np.where(rng.random(400) < 0.7, before, rng.integers(0, 3, 400))
        columns[f"c{j}"] = np.array(["x", "y", "z"])[before].tolist()
    y = rng.integers(0, 3, 400)
    asked = {name: [None if rng.random() < 0.4 else cell for cell in cells] for name, cells in columns.items()}
    asked["c1"][:20] = ["never seen"] * 20
    chain = {f"c{j + 1}": f"c{j}" for j in range(5)}
    for model in (TAN(unseen="smooth"), KDB(k=2), ODE(parents=chain), TAN(smoothing=0, impossible="prior")):
        assert_says_the_same(model.fit(columns, y), asked)


def test_a_temperature_divides_the_log_posteriors():
    for model, rows in (CASES["tan bins"], export_cases()["mdl tree"], export_cases()["auto of codes"]):
        labels, found = score(model, {name: rows[name].to_pylist() for name in rows.column_names}, 1.7)
        assert_allclose(found, tempered(model, rows, 1.7), rtol=0, atol=CLOSE)
        assert_array_equal(labels, model.predict(rows))


def test_sums_that_are_too_large_are_refused_by_column():
    rng = np.random.default_rng(0)
    X = {f"c{j}": rng.integers(0, 9, 500).astype(str) for j in range(7)}
    model = KDB(k=4).fit(X, rng.integers(0, 2, 500))
    with pytest.raises(TooLargeError, match="more than the 50000 of ONNX; the largest sum is over 'c"):
        to_onnx(model)


WORDS = st.sampled_from(["red", "green", "blue", "a'b", '"', "é", "天", " ", None])
NUMBERS = st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, 1e300, -1e300, 1e-300]))
KINDS = ("gaussian", "equal-width", "equal-frequency", "mdl", "categorical", "numeric")


@st.composite
def cases(draw):
    n = draw(st.integers(4, 40))

    def column(cell, first=()):
        return [*first, *draw(st.lists(cell, min_size=n - len(first), max_size=n - len(first)))]

    table = {
        "word": column(WORDS, ["red", "green"]),
        'odd "name"': column(WORDS, ["red"]),
        "x": column(st.one_of(st.none(), st.floats(-1e3, 1e3)), [0.5, 2.25]),
        "whole": column(st.integers(-3, 3), [1, 2]),
        "true": column(st.booleans(), [True, False]),
        "count": column(st.integers(0, 9), [1, 2]),
    }
    label = draw(st.sampled_from([["no", "yes", "late"], [3, 1, 2], [True, False, True], [0.0, 1.0, -2.0]]))
    y = [label[k] for k in column(st.integers(0, 2), [0, 1])]
    kinds = {"x": draw(st.sampled_from(KINDS)), "whole": draw(st.sampled_from(KINDS)), "count": "poisson"}
    unseen, smoothing = draw(st.sampled_from(["ignore", "smooth"])), draw(st.sampled_from([1.0, 0.1]))
    model = NaiveBayes(kinds=kinds, unseen=unseen, smoothing=smoothing, impossible="prior")
    asked = {
        "word": column(st.one_of(WORDS, st.text("xyz", min_size=1, max_size=3))),
        'odd "name"': column(WORDS),
        "x": column(NUMBERS),
        "whole": column(st.one_of(st.none(), st.integers(-9, 9))),
        "true": column(st.sampled_from([True, False, None])),
        "count": column(st.integers(0, 50)),
    }
    return model, table, y, asked


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
@pytest.mark.filterwarnings("ignore")
def test_the_graph_says_what_the_model_says(case):
    model, table, y, asked = case
    assume(len(set(y)) > 1)
    model.fit(pa.table(table), y)
    assert_says_the_same(model, table)
    assert_says_the_same(model, asked)


def test_gaussian_columns_far_from_every_mean():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)) + 1e9, rng.integers(0, 3, 200)
    model = GaussianNB().fit(X, y)
    table = {name: X[:, j].tolist() for j, name in enumerate(model.schema_.names)}
    labels, found = score(model, table)
    assert_allclose(found, model.predict_proba(X), rtol=1e-7, atol=CLOSE)
    assert labels.dtype == np.int64
    far = score(model, {name: [1e200, 0.0] for name in table})[1]
    assert_array_equal(np.isnan(far[0]), True)  # where the model says that no class can give it
    assert_allclose(far[1:], model.predict_proba(np.zeros((1, 5))), rtol=1e-9, atol=CLOSE)


def test_a_row_that_no_class_can_give():
    table = {"a": ["u", "v", "u", "v"], "b": ["u", "v", "u", "w"]}
    asked = {"a": ["u", "v"], "b": ["v", "w"]}  # the first was never seen together in any class
    y = ["no", "yes", "no", "yes"]
    prior = NaiveBayes(smoothing=0, impossible="prior").fit(pa.table(table), y)
    assert_says_the_same(prior, asked)
    refusing = NaiveBayes(smoothing=0, impossible="error").fit(pa.table(table), y)
    assert_array_equal(np.isnan(score(refusing, asked)[1]).all(axis=1), [True, False])


def test_numbers_that_the_model_refuses_have_no_probabilities():
    table = {"n": [0, 1, 2, 3], "l": [1.0, 2.0, 3.0, 9.0], "g": [0.5, 1.5, 2.5, 0.0]}
    model = NaiveBayes(kinds={"n": "poisson", "l": "lognormal"}).fit(pa.table(table), ["a", "b", "a", "b"])
    bad = {"n": [0.5, -1, 1, 1, 1], "l": [1, 1, 0, 1, 1], "g": [1, 1, 1, np.inf, 1]}
    assert_array_equal(np.isnan(score(model, bad)[1]).all(axis=1), [True, True, True, True, False])


def test_names_of_columns_that_the_outputs_have():
    model = NaiveBayes().fit(pa.table({"label": ["u", "v"], "_1": ["u", "u"], "__": ["p", "q"]}), ["no", "yes"])
    graph = to_onnx(model).graph
    assert [result.name for result in graph.output] == ["predicted label", "probabilities"]
    assert_says_the_same(model, {"label": ["u", "v", "w"], "_1": ["u", "v", None], "__": ["p", "q", None]})


def test_what_a_graph_cannot_say_is_refused():
    table, y = pa.table({"a": ["u", "v", ""], "x": [1.0, 2.0, 4.0]}), ["no", "yes", "no"]
    with pytest.raises(BayeskitError, match="KNeighbors cannot be written as ONNX; AutoBayes, NaiveBayes"):
        to_onnx(KNeighbors().fit({"x": [1.0, 2.0, 4.0]}, y))
    with pytest.raises(BayeskitError, match="unseen='ignore' or 'smooth'"):
        to_onnx(NaiveBayes(unseen="error").fit(table, y))
    with pytest.raises(BayeskitError, match="column 'x' is of kind 'kde', which has no closed form in ONNX"):
        to_onnx(NaiveBayes(kinds={"x": "kde"}).fit(table, y))
    with pytest.raises(BayeskitError, match="column 'a' has the empty text among its values"):
        to_onnx(NaiveBayes(unseen="smooth").fit(table, y))
