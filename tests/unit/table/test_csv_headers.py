"""What stands before and around the column names of a CSV file, and what separates its cells."""

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")

import bayeskit
from bayeskit.errors import TableError
from bayeskit.language import language, translated


def read_bytes(tmp_path, data, name="t.csv", **options):
    path = tmp_path / name
    path.write_bytes(data)
    return bayeskit.read(path, **options)


@pytest.mark.parametrize(
    ("data", "skip"),
    [
        (b"# made by X\na,b\n1,x\n2,y\n", 1),
        (b"# made by X, in 2024\n# for Y\na,b\n1,x\n2,y\n", 2),
        (b"##fileformat=VCF\n##source=X\n#CHROM\tPOS\n1\t20\n2\t30\n", 2),
        (b"\n#a;b;c\n#\nx;y\n1;2\n", 3),
    ],
)
def test_comments_before_the_names_are_refused_and_the_lines_to_skip_are_counted(tmp_path, data, skip):
    lines = "line" if skip == 1 else "lines"
    with pytest.raises(TableError, match=f"begins with a comment, .* skip {skip} {lines}") as met:
        read_bytes(tmp_path, data)
    assert met.value.parameter == "skip"
    assert len(read_bytes(tmp_path, data, skip=skip)) in (1, 2)


def test_one_line_with_a_hash_that_fits_the_rows_holds_the_names_and_that_is_said(tmp_path):
    table = read_bytes(tmp_path, b"#a,b\n1,x\n2,y\n")
    assert table.names == ("#a", "b")
    assert "begins with #, '#a'" in str(table)


def test_cells_between_blanks_are_read_where_they_are_cells(tmp_path):
    table = read_bytes(tmp_path, b"a b c\n1 2.5 x\n3 4.5 y\n")
    assert {name: table[name].to_pylist() for name in table} == {"a": [1, 3], "b": [2.5, 4.5], "c": ["x", "y"]}
    assert "separated by blanks" in str(table)
    words = b"outlook wind play\n" + b"sunny weak no\nrain strong yes\n" * 3
    assert read_bytes(tmp_path, words).names == ("outlook", "wind", "play")
    assert read_bytes(tmp_path, b"first name\nanna lee\nbob ray\n").names == ("first name",)
    assert read_bytes(tmp_path, b"review\ngood film\nbad film\n").names == ("review",)
    assert read_bytes(tmp_path, b"unit price\n12\n13\n").names == ("unit price",)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"a::b\n1::x\n2::y\n", "'::'"),
        (b"a   b\n1   x\n20  y\n", "several blanks"),
        (b"a  b\n1  2\n", "several blanks"),
    ],
)
def test_cells_between_several_signs_are_refused_by_name(tmp_path, data, what):
    with pytest.raises(TableError, match=f"its cells are separated by {what}, and a delimiter is one character") as met:
        read_bytes(tmp_path, data)
    assert met.value.parameter == "delimiter"


def test_blanks_around_names_are_left_out_and_said(tmp_path):
    table = read_bytes(tmp_path, b"a , b,c\n1,2,x\n3,4,y\n")
    assert table.names == ("a", "b", "c")
    assert "blanks around the names of 2 columns are left out, such as those of 'a '" in str(table)
    with pytest.raises(TableError, match="2 columns named 'a'"):
        read_bytes(tmp_path, b"a,a \n1,2\n")


def test_a_tsv_file_is_separated_by_tabs_whatever_its_names_hold(tmp_path):
    data = b"height, cm\tprice, EUR\n1\t2\n3\t4\n"
    assert read_bytes(tmp_path, data, "t.tsv").names == ("height, cm", "price, EUR")


def test_reasons_of_dates_and_percentages_are_whole_in_chinese(tmp_path):
    table = read_bytes(tmp_path, b"when;share\n27.12.2023;10,5 %\n28.12.2023;7,5 %\n3.2.2024;8 %\n")
    with language("zh"):
        said = {note.name: translated(note.why.split("; ")[-1]) for note in table.columns}
    assert said == {
        "when": "日期（日.月.年），拆成年, 月, 星期, 天数",
        "when (year)": "'when' 的年份",
        "when (month)": "'when' 的月份",
        "when (weekday)": "'when' 的星期",
        "when (days)": "'when' 距 2023-12-27 的天数",
        "share": "小数点为逗号, 百分数",
    }
