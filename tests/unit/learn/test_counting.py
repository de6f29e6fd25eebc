"""Counts under an agreed schema, and models made from counts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import bayeskit
from bayeskit import AODE, KDB, TAN, GaussianNB, NaiveBayes
from bayeskit.counts.statistic import Statistic
from bayeskit.datasets import load_tennis
from bayeskit.errors import BayeskitError, TableError, UnseenValueError
from bayeskit.io.model_files import load, save
from bayeskit.table.schema import Schema, Variable

TENNIS = load_tennis()
MODELS = {"NaiveBayes": NaiveBayes, "TAN": TAN, "AODE": AODE, "KDB": KDB}


def rows(chosen):
    return {name: [column[i] for i in chosen] for name, column in TENNIS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_counts_of_parts_under_one_schema_make_the_model_of_one_fit(name):
    make = MODELS[name]
    whole = make().fit(TENNIS, target="play")
    first = make().count(rows(range(5)), target="play")
    second = make().count(rows(range(5, 14)), target="play", schema=first.schema)
    model = make.from_counts(first + second, target="play")
    assert_array_equal(model.predict_proba(TENNIS), whole.predict_proba(TENNIS))
    assert model.schema_ == whole.schema_
    assert model.target_ == "play"


@pytest.mark.parametrize("name", MODELS)
def test_a_level_outside_the_schema_comes_back_in_the_schema_of_the_counts(name):
    model = MODELS[name]()
    agreed = model.count({"u": ["a", "b"], "v": ["x", "x"]}, [0, 1]).schema
    counts = model.count({"u": ["a", "c", "c"], "v": ["x", "x", "y"]}, [0, 1, 1], schema=agreed)
    assert counts.schema["u"].values == ("a", "b", "c")
    assert counts.schema["v"].values == ("x", "y")
    # Every row is there: 1 of "a" in class 0, 2 of "c" in class 1.
    assert_array_equal(getattr(counts, "alone", counts).column(0), [[1, 0], [0, 0], [0, 2]])


@pytest.mark.parametrize("name", MODELS)
def test_a_level_outside_the_schema_is_refused_by_name_where_it_is_asked(name):
    model = MODELS[name]()
    agreed = model.count({"u": ["a", "b"], "v": ["x", "x"]}, [0, 1]).schema
    with pytest.raises(UnseenValueError, match="column 'u' holds 'c', which is not in the agreed schema"):
        model.count({"u": ["a", "c"], "v": ["x", "x"]}, [0, 1], schema=agreed, new_levels="error")
    counts = model.count({"u": ["a", "a"], "v": ["x", "x"]}, [0, 1], schema=agreed, new_levels="error")
    assert counts.schema == agreed


def test_a_column_without_a_kind_in_the_schema_is_refused_once_it_has_values():
    agreed = Schema((Variable("u", "unknown"),))
    with pytest.raises(UnseenValueError, match="column 'u' had no value when the schema was agreed on"):
        NaiveBayes().count({"u": [1.0, 2.0]}, [0, 1], schema=agreed, new_levels="error")
    assert NaiveBayes().count({"u": [1.0, 2.0]}, [0, 1], schema=agreed).schema["u"].kind == "gaussian"


def test_bins_of_an_agreed_schema_are_kept():
    agreed = Schema((Variable("age", "binned", edges=(30.0, 41.0)),))
    counts = NaiveBayes().count({"age": [1.0, 35.0, 99.0, 100.0]}, [0, 0, 1, 1], schema=agreed)
    assert_array_equal(counts.column(0), [[1, 0], [1, 0], [0, 2]])


def test_a_fitted_model_counts_under_its_own_schema_and_stays_as_it_is():
    model = TAN().fit(rows(range(10)), target="play")
    before = model.counts_
    more = model.count(rows(range(10, 14)), target="play")
    assert model.counts_ is before
    whole = TAN().fit(TENNIS, target="play")
    assert_array_equal((before + more).cells, whole.counts_.cells)


def test_counting_with_a_selective_model_leaves_its_selection():
    model = KDB(2, selective=True).fit(TENNIS, target="play")
    before = model.selection_
    model.count(rows(range(7)), target="play")
    assert model.selection_ is before
    assert KDB(2, selective=True).fit(TENNIS, target="play").merge(model).selection_.shape == before.shape


def test_levels_that_no_row_has_are_left_out_of_a_model_of_counts():
    agreed = Schema((Variable("u", "categorical", ("a", "b", "never")),))
    counts = NaiveBayes().count({"u": ["a", "b"]}, [0, 1], schema=agreed)
    assert counts.schema["u"].n_values == 3
    assert NaiveBayes.from_counts(counts).schema_["u"].values == ("a", "b")


def test_a_model_of_counts_has_the_parameters_given():
    counts = NaiveBayes().count(TENNIS, target="play")
    smooth = NaiveBayes.from_counts(counts, smoothing=3.0)
    assert smooth.smoothing == 3.0
    assert_array_equal(smooth.class_prior_, NaiveBayes(smoothing=3.0).fit(TENNIS, target="play").class_prior_)


def test_counts_that_do_not_fit_a_model_are_refused():
    with pytest.raises(TypeError, match="a TAN learns from FamilyCounts; got TableCounts"):
        TAN.from_counts(NaiveBayes().count(TENNIS, target="play"))
    with pytest.raises(BayeskitError, match="n_parents=2 does not fit the counts"):
        AODE.from_counts(AODE().count(TENNIS, target="play"), n_parents=2)
    with pytest.raises(BayeskitError, match="smoothing"):
        TAN.from_counts(TAN().count(TENNIS, target="play"), smoothing=-1)
    with pytest.raises(BayeskitError, match="new_levels must be 'add' or 'error'"):
        TAN().count(TENNIS, target="play", new_levels="drop")
    counts = NaiveBayes().count(TENNIS, target="play")
    nothing = NaiveBayes().count(TENNIS, target="play").declare(np.array(["no", "yes"], dtype=object)) - counts
    with pytest.raises(TableError, match="the counts are of no rows"):
        NaiveBayes.from_counts(nothing)


def test_counts_are_statistics_and_can_be_kept_in_a_file(tmp_path):
    for counts in (GaussianNB().count([[1.0], [2.5]], [0, 1]), AODE().count(TENNIS, target="play")):
        assert isinstance(counts, Statistic)
        save(counts, tmp_path / "part.bayes")
        again = load(tmp_path / "part.bayes")
        assert type(again) is type(counts)
        assert again.schema == counts.schema
        assert_array_equal(again.n_class, counts.n_class)
    assert bayeskit.load(tmp_path / "part.bayes").families == counts.families
