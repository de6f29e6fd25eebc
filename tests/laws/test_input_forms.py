"""The same table in any form gives the same posteriors."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import NaiveBayes
from laws.tables import known_somewhere, tables

pd = pytest.importorskip("pandas", reason="frames come from pandas")
pl = pytest.importorskip("polars", reason="frames come from polars")
pa = pytest.importorskip("pyarrow", reason="Arrow tables come from pyarrow")

TEXT, NUMBER, TRUTH = ["red", "green", None, "green", "red", "blue"], [1.5, None, 2.0, 4.0, 8.0, 1.0], None
TRUTH = [True, False, None, True, True, False]
WHOLE = [3, 1, 4, 1, 5, 9]
Y = ["no", "yes", "no", "yes", "yes", "no"]
TABLE = {"text": TEXT, "number": NUMBER, "truth": TRUTH, "whole": WHOLE}


def arrow_pandas(type_):
    return pd.array(TEXT, dtype=pd.ArrowDtype(type_))


FORMS = {
    "dict of lists": lambda: TABLE,
    "dict of arrays": lambda: {name: np.array(values, dtype=object) for name, values in TABLE.items()},
    "dict of series": lambda: {name: pl.Series(values) for name, values in TABLE.items()},
    "pandas objects": lambda: pd.DataFrame({name: np.array(values, dtype=object) for name, values in TABLE.items()}),
    "pandas plain": lambda: pd.DataFrame(TABLE),
    "pandas category": lambda: pd.DataFrame({**TABLE, "text": pd.Categorical(TEXT)}),
    "pandas string": lambda: pd.DataFrame({**TABLE, "text": pd.array(TEXT, dtype="string")}),
    "pandas string[python]": lambda: pd.DataFrame({**TABLE, "text": pd.array(TEXT, dtype="string[python]")}),
    "pandas string[pyarrow]": lambda: pd.DataFrame({**TABLE, "text": pd.array(TEXT, dtype="string[pyarrow]")}),
    "pandas nullable": lambda: pd.DataFrame(
        {
            "text": pd.array(TEXT, dtype="string"),
            "number": pd.array(NUMBER, dtype="Float64"),
            "truth": pd.array(TRUTH, dtype="boolean"),
            "whole": pd.array(WHOLE, dtype="Int16"),
        }
    ),
    "pandas Arrow": lambda: pa.table(TABLE).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas Arrow dictionary": lambda: pd.DataFrame(
        {**TABLE, "text": arrow_pandas(pa.dictionary(pa.int8(), pa.string()))}
    ),
    "pandas with a strange index": lambda: pd.DataFrame(TABLE, index=[5, 5, 1, 0, 2, 2]),
    "pandas sliced": lambda: pd.concat([pd.DataFrame(TABLE)] * 2).iloc[6:],
    "polars": lambda: pl.DataFrame(TABLE),
    "polars Categorical": lambda: pl.DataFrame({**TABLE, "text": pl.Series(TEXT, dtype=pl.Categorical)}),
    "polars Enum": lambda: pl.DataFrame({**TABLE, "text": pl.Series(TEXT, dtype=pl.Enum(["blue", "green", "red"]))}),
    "polars chunked": lambda: pl.concat([pl.DataFrame(TABLE)[:2], pl.DataFrame(TABLE)[2:]], rechunk=False),
    "polars sliced": lambda: pl.concat([pl.DataFrame(TABLE)] * 2, rechunk=True)[6:],
    "Arrow": lambda: pa.table(TABLE),
    "Arrow large": lambda: pa.table({**TABLE, "text": pa.array(TEXT, pa.large_string())}),
    "Arrow dictionary": lambda: pa.table({**TABLE, "text": pa.array(TEXT).dictionary_encode()}),
    "Arrow dictionaries that differ": lambda: pa.table(
        {
            **TABLE,
            "text": pa.chunked_array([pa.array(TEXT[:3]).dictionary_encode(), pa.array(TEXT[3:]).dictionary_encode()]),
        }
    ),
    "Arrow dictionary with null": lambda: pa.table(
        {**TABLE, "text": pa.DictionaryArray.from_arrays([0, 2, 1, 2, 0, 3], pa.array(["red", None, "green", "blue"]))}
    ),
    "Arrow record batch": lambda: pa.RecordBatch.from_pydict(TABLE),
    "Arrow sliced": lambda: pa.concat_tables([pa.table(TABLE)] * 2).slice(6),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_posteriors(form):
    plain = NaiveBayes().fit(TABLE, Y)
    X = FORMS[form]()
    model = NaiveBayes().fit(X, Y)
    assert sorted(model.schema_["text"].values) == ["blue", "green", "red"]
    assert [variable.kind for variable in model.schema_] == ["categorical", "gaussian", "categorical", "gaussian"]
    assert_allclose(model.predict_proba(X), plain.predict_proba(TABLE), rtol=1e-13)
    # Fitted in one form, asked in another.
    assert_allclose(plain.predict_proba(X), plain.predict_proba(TABLE), rtol=1e-13)
    assert_allclose(model.predict_proba(TABLE), plain.predict_proba(TABLE), rtol=1e-13)


@pytest.mark.parametrize(
    "array",
    [
        np.array([["red", "a"], ["green", "b"], ["red", "a"]]),
        np.array([["red", "a"], ["green", "b"], ["red", "a"]]).astype(">U9"),
        np.array([["red", "a"], ["green", "b"], ["red", "a"]], dtype=object),
        np.asfortranarray(np.array([["red", "a"], ["green", "b"], ["red", "a"]])),
        np.array([["red", "?", "a"], ["green", "?", "b"], ["red", "?", "a"]])[:, ::2],
        [["red", "a"], ["green", "b"], ["red", "a"]],
        [("red", "a"), ("green", "b"), ("red", "a")],
    ],
    ids=["fixed width", "big-endian", "objects", "column-major", "sliced", "lists", "tuples"],
)
def test_arrays_of_text_in_any_layout_are_one_table(array):
    expected = NaiveBayes().fit({"x0": ["red", "green", "red"], "x1": ["a", "b", "a"]}, [0, 1, 1])
    model = NaiveBayes().fit(array, [0, 1, 1])
    assert_array_equal(
        model.predict_proba(array), expected.predict_proba({"x0": ["red", "green", "red"], "x1": ["a", "b", "a"]})
    )


@pytest.mark.parametrize(
    "dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", ">f8", ">i4", "O"]
)
@pytest.mark.parametrize("kinds", ["gaussian", "categorical", "poisson", "equal-width"])
def test_numbers_of_any_dtype_and_layout_are_one_table(dtype, kinds):
    plain = np.array([[3, 1], [1, 4], [4, 4], [1, 5], [5, 3], [9, 1]], dtype=np.float64)
    expected = NaiveBayes(kinds=kinds).fit(plain, Y).predict_proba(plain)
    typed = plain.astype(dtype)
    wide = np.repeat(typed, 2, axis=1)
    for array in (
        typed,
        np.asfortranarray(typed),
        wide[:, ::2],
        np.ascontiguousarray(typed[::-1])[::-1],
        typed.tolist(),
    ):
        assert_allclose(NaiveBayes(kinds=kinds).fit(array, Y).predict_proba(array), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "y",
    [
        np.array(Y),
        np.array(Y, dtype=object),
        tuple(Y),
        pd.Series(Y),
        pd.Series(Y, dtype="category"),
        pd.Categorical(Y, categories=["yes", "never", "no"]),
        pd.Series(Y, dtype="string"),
        pl.Series(Y),
        pl.Series(Y, dtype=pl.Categorical),
        pl.Series(Y, dtype=pl.Enum(["yes", "never", "no"])),
        pa.array(Y),
        pa.array(Y).dictionary_encode(),
        pa.chunked_array([Y[:2], Y[2:]]),
    ],
    ids=lambda y: (
        f"{type(y).__module__.partition('.')[0]} {type(y).__name__} {getattr(y, 'dtype', getattr(y, 'type', ''))}"
    ),
)
def test_every_form_of_the_labels_gives_the_same_model(y):
    expected, model = NaiveBayes().fit(TABLE, Y), NaiveBayes().fit(TABLE, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert_array_equal(model.predict_proba(TABLE), expected.predict_proba(TABLE))


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([True, False, True, False, False, True], [False, True]),
        ([2, 1, 2, 1, 1, 2], [1, 2]),
        (np.array([2, 1, 2, 1, 1, 2], dtype=np.uint8), [1, 2]),
        (np.array([2, 1, 2, 1, 1, 2], dtype=object), [1, 2]),
        ([2.0, 1.0, 2.0, 1.0, 1.0, 2.0], [1.0, 2.0]),
        ([-(10**12), 10**12, -(10**12), 10**12, 10**12, -(10**12)], [-(10**12), 10**12]),
    ],
)
def test_labels_keep_their_type(y, classes):
    model = NaiveBayes().fit(TABLE, y)
    assert model.classes_.tolist() == classes
    assert [type(label) for label in model.classes_.tolist()] == [type(label) for label in classes]
    predicted = model.predict(TABLE).tolist()
    assert predicted == [classes[k] for k in model.predict_proba(TABLE).argmax(axis=1)]
    assert {type(label) for label in predicted} <= {type(label) for label in classes}


@given(tables(columns=("colour", "paid", "height")))
@settings(max_examples=30, deadline=None)
def test_any_small_table_is_the_same_in_polars_arrow_and_pandas(data):
    table, y = data
    assume(known_somewhere(table))
    expected = NaiveBayes().fit(table, y).predict_log_proba(table)
    objects = pd.DataFrame({name: np.array(values, dtype=object) for name, values in table.items()})
    for frame in (pl.DataFrame(table, strict=False), pa.table(table), objects):
        assert_allclose(NaiveBayes().fit(frame, y).predict_log_proba(frame), expected, rtol=1e-12, atol=1e-12)
