"""Files of SPSS, Stata and SAS: pyreadstat writes them, pandas is the witness."""

import numpy as np
import pytest

import bayeskit
from bayeskit import NaiveBayes
from bayeskit.errors import TableError

pd = pytest.importorskip("pandas")
pyreadstat = pytest.importorskip("pyreadstat")

FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 1.0, 2.0, np.nan],
        "rank": [1.0, 3.0, 2.0, 3.0, 1.0],
        "score": [1.5, 98.0, 3.25, 4.0, 5.0],
        "city": ["Rome", "", "Oslo", "Rome", "Bern"],
        "y": ["a", "b", "a", "b", "a"],
    }
)
LABELS = {"sex": {1: "male", 2: "female"}, "rank": {1: "low", 2: "mid", 3: "top"}, "score": {98.0: "refused"}}


def test_labels_of_spss_become_categories_and_missing_codes_missing_cells(tmp_path):
    pyreadstat.write_sav(
        FRAME,
        tmp_path / "t.sav",
        variable_value_labels=LABELS,
        variable_measure={"rank": "ordinal"},
        missing_ranges={"score": [98.0]},
    )
    table = bayeskit.read(tmp_path / "t.sav", "y")
    assert table["sex"].to_pylist() == ["male", "female", "male", "female", None]
    assert table["rank"].to_pylist() == ["low", "top", "mid", "top", "low"]
    assert next(note for note in table.columns if note.name == "rank").why.startswith("ordered categories")
    assert table["score"].to_pylist() == [1.5, None, 3.25, 4.0, 5.0]
    assert table["city"].to_pylist() == ["Rome", None, "Oslo", "Rome", "Bern"]
    assert "values are read by their labels in sex, rank" in " ".join(map(str, table.said))
    model = NaiveBayes().fit(table)
    assert model.predict({"sex": ["male"], "rank": ["low"], "score": [1.0], "city": ["Oslo"]}).tolist() == ["a"]


def test_a_code_without_a_label_keeps_the_numbers(tmp_path):
    pyreadstat.write_sav(FRAME, tmp_path / "t.sav", variable_value_labels={"score": {98.0: "refused"}})
    assert bayeskit.read(tmp_path / "t.sav", "y")["score"].to_pylist() == [1.5, 98.0, 3.25, 4.0, 5.0]


@pytest.mark.parametrize("name", ["t.dta", "t.xpt"])
def test_stata_and_sas_hold_what_pandas_reads(tmp_path, name):
    path = tmp_path / name
    if name.endswith("dta"):
        pyreadstat.write_dta(FRAME, path)
        truth = pd.read_stata(path)
    else:
        pyreadstat.write_xport(FRAME, path, table_name="T", file_format_version=5)
        truth = pd.read_sas(path, format="xport", encoding="utf-8")
    table = bayeskit.read(path, "y")
    for column in ("sex", "rank", "score"):
        cells = [np.nan if cell is None else float(cell) for cell in table[column].to_pylist()]
        np.testing.assert_array_equal(cells, truth[column].to_numpy())
    assert [cell or "" for cell in table["city"].to_pylist()] == truth["city"].fillna("").tolist()


def test_a_stream_is_read_as_the_file_and_a_cut_file_is_damaged(tmp_path):
    import gzip

    pyreadstat.write_dta(FRAME, tmp_path / "t.dta")
    whole = (tmp_path / "t.dta").read_bytes()
    (tmp_path / "t.dta.gz").write_bytes(gzip.compress(whole))
    assert bayeskit.read(tmp_path / "t.dta.gz", "y").raw.equals(bayeskit.read(tmp_path / "t.dta", "y").raw)
    (tmp_path / "cut.dta").write_bytes(whole[: len(whole) // 3])
    with pytest.raises(TableError, match="damaged file of SAS, SPSS or Stata"):
        bayeskit.read(tmp_path / "cut.dta", "y")
