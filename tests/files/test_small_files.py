"""Every small file of this folder is read as a person would read it, or refused with the line and the remedy."""

from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")

import bayeskit
from bayeskit.errors import BayeskitWarning, TableError

from .truths import READ, REFUSED

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(("name", "options", "columns", "reasons", "kinds"), READ, ids=[case[0] for case in READ])
def test_cells_are_read_as_people_mean_them(name, options, columns, reasons, kinds):
    guessed = name.split(".")[0] in ("cp1252", "cp1252_euro", "gb18030")
    with pytest.warns(BayeskitWarning, match="is not UTF-8 text; it is read as") if guessed else nullcontext():
        table = bayeskit.read(DATA / name, **options)
    notes = {note.name: note for note in table.columns}
    for column, values in columns.items():
        got = table[column].to_pylist()
        assert got == pytest.approx(values, rel=1e-15) if isinstance(values[0], float) else got == values
        assert [type(cell) for cell in got] == [type(cell) for cell in values]
    for column, words in reasons.items():
        assert words in notes[column].why
    for column, kind in kinds.items():
        assert notes[column].kind == kind


@pytest.mark.parametrize(("name", "options", "words"), REFUSED, ids=[case[0] for case in REFUSED])
def test_what_cannot_be_read_is_refused_with_its_place(name, options, words):
    with pytest.raises(TableError) as caught:
        bayeskit.read(DATA / name, **options)
    assert words in str(caught.value)


def test_every_file_has_its_truth():
    known = [case[0] for case in (*READ, *REFUSED)]
    assert len(known) >= 120
    assert sorted(known) == sorted(path.name for path in DATA.iterdir())
