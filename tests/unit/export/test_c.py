"""The exported C file says what the library says, compiled by the C compiler of this machine."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import KNeighbors, NaiveBayes, load, to_c
from bayeskit.errors import BayeskitError
from bayeskit.export.target import targets
from c_programs import Program, compiler
from export_cases import export_cases
from sql_cases import ATOL, CASES, tempered

pytestmark = pytest.mark.skipif(compiler is None, reason="needs a C compiler")


def assert_says_the_same(model, rows, folder, atol=ATOL):
    labels, found = Program(to_c(model), folder).predict(model, rows)
    expected = model.predict_proba(rows)
    assert_allclose(found, expected, rtol=0, atol=atol)
    assert_array_equal(model.classes_[labels], model.predict(rows))


@pytest.mark.parametrize("case", CASES)
def test_c_scores_as_the_library_does(case, tmp_path):
    assert_says_the_same(*CASES[case], tmp_path)


@pytest.mark.parametrize("case", export_cases())
def test_c_scores_every_model_as_the_library_does(case, tmp_path):
    assert_says_the_same(*export_cases()[case], tmp_path)


def test_rows_that_the_model_refuses_get_minus_one_and_nan(tmp_path):
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "n": [0, 1, 2, 3], "w": ["a", "b", "a", "b"]}
    strict = NaiveBayes(unseen="error", kinds={"x": "lognormal", "n": "poisson"}).fit(rows, ["no", "yes", "no", "yes"])
    x, n = [1.0, -1.0, 1.0, 1.0, np.inf, None, 1.0], [0.0, 0.0, -1.0, 0.5, 0.0, 2.0, 1.0]
    asked = pa.table({"x": x, "n": n, "w": [*"aaaaaa", "c"]})
    labels, found = Program(to_c(strict), tmp_path).predict(strict, asked)
    assert [label == -1 for label in labels] == [False, True, True, True, True, False, True]
    assert np.isnan(found[1]).all()


def test_a_row_that_no_class_can_give_is_refused_or_gets_the_prior(tmp_path):
    rows, asked = {"a": ["x", "x", "y"], "b": ["u", "u", "v"]}, pa.table({"a": ["x", "x"], "b": ["u", "v"]})
    model = NaiveBayes(smoothing=0).fit(rows, [True, True, False])
    assert Program(to_c(model), tmp_path).predict(model, asked)[0] == [1, -1]


def test_a_temperature_divides_the_log_posteriors(tmp_path):
    for k, (model, rows) in enumerate((CASES["tan bins"], export_cases()["mdl tree"], export_cases()["auto of codes"])):
        (tmp_path / str(k)).mkdir()
        program = Program(targets()["c"].write(model, temperature=1.7).decode(), tmp_path / str(k))
        labels, found = program.predict(model, rows)
        assert_allclose(found, tempered(model, rows, 1.7), rtol=0, atol=ATOL)
        assert_array_equal(model.classes_[labels], model.predict(rows))


def test_the_same_model_gives_the_same_text_after_it_was_saved(tmp_path):
    for name in ("auto", "mdl tree", "logistic"):
        model, _ = export_cases()[name]
        model.save(tmp_path / f"{name}.bayes")
        assert to_c(load(tmp_path / f"{name}.bayes")) == to_c(model)


def test_names_cannot_leave_the_comment(tmp_path):
    rows = {"*/ int x; /*": ["a", "b"], "line\nbreak": [1.0, 2.0]}
    model = NaiveBayes().fit(rows, ["*/", "/*"])
    assert_says_the_same(model, pa.table(rows), tmp_path)


def test_a_model_without_arrays_is_refused_by_name():
    model = KNeighbors().fit({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"])
    with pytest.raises(BayeskitError, match="KNeighbors cannot be written as C; AutoBayes, NaiveBayes"):
        to_c(model)
