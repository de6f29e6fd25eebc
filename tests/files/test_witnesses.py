"""pandas and polars read the small files too: where they see numbers, `bayeskit.read` sees the same numbers."""

import io
import math
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
pytest.importorskip("pandas", reason="one of the two witnesses is not installed")
pytest.importorskip("polars", reason="one of the two witnesses is not installed")

import pandas as pd
import polars as pl

import bayeskit

from .truths import READ

DATA = Path(__file__).parent / "data"
CASES = [(name, options) for name, options, *_ in READ if name.endswith(".csv")]
# Where they see other numbers, and what a person sees.
OTHERWISE = {
    "vote_semicolon.csv": "2.781 beside 0,37 is 2781",
    "vote_currency.csv": "2.781 beside 3,50 € is 2781",
    "vote_three_columns.csv": "12.500 beside 1,5 is 12500",
    "open_point_semicolon.csv": "2.781 in a file with semicolons is asked about",
    "vote_disagrees.csv": "2.781 where other columns disagree is asked about",
    "leading_zeros.csv": "007 is no 7",
    "long_digits.csv": "twenty digits are a code, which a float would round",
    "own_missing.csv": "-999 was said to be missing",
}


def text_of(path, options):
    data = path.read_bytes()
    known = [options.get("encoding", "utf-8-sig"), "utf-16", "gb18030" if "gb" in path.name else "cp1252"]
    for encoding in known:
        try:
            return data.decode(encoding)
        except UnicodeError:
            continue
    raise AssertionError(path)


def by_pandas(text, delimiter):
    return pd.read_csv(io.StringIO(text), sep=delimiter)


def by_polars(text, delimiter):
    return pl.read_csv(text.encode(), separator=delimiter, infer_schema_length=None, null_values=["", "NA", "null"])


def frames(name, options):
    lines = text_of(DATA / name, options).splitlines(keepends=True)[options.get("skip", 0) :]
    text = "".join(line for line in lines if line.strip("\r\n"))
    delimiter = options.get("delimiter") or max(",;\t|", key=text.splitlines()[0].count)
    for read in (by_pandas, by_polars):
        try:
            yield read(text, delimiter)
        except (pl.exceptions.PolarsError, pd.errors.ParserError):
            continue


def numbers(column):
    """Return a column of a witness as numbers and None; None where it has seen something else."""
    cells = [None if cell is None or cell != cell else cell for cell in column.to_list()]
    known = [cell for cell in cells if cell is not None]
    return cells if known and all(isinstance(cell, int | float) for cell in known) else None


def same(ours, theirs):
    if ours is None or theirs is None or isinstance(ours, str):
        return ours is theirs
    return math.isclose(ours, theirs, rel_tol=1e-15)


@pytest.mark.filterwarnings("ignore:.*is not UTF-8 text")
@pytest.mark.parametrize(("name", "options"), CASES, ids=[name for name, _ in CASES])
def test_numbers_are_those_of_pandas_and_polars(name, options):
    table = bayeskit.read(DATA / name, **options)
    for frame in frames(name, options):
        for column in set(table.names) & set(frame.columns):
            theirs = numbers(frame[column])
            if theirs is not None and name not in OTHERWISE:
                ours = table[column].to_pylist()
                assert len(ours) == len(theirs)
                assert all(map(same, ours, theirs))


def test_the_witnesses_see_numbers_in_many_of_the_files():
    seen = [
        name
        for name, options in CASES
        if any(numbers(frame[column]) is not None for frame in frames(name, options) for column in frame.columns)
    ]
    assert len(seen) >= 25
    assert set(OTHERWISE) <= set(seen)
