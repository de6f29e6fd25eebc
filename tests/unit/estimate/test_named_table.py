"""Named tables print so that they can be read."""

import numpy as np
import pytest

from bayeskit.estimate.named_table import NamedTable

TABLE = NamedTable("P(色泽 | 好瓜)", ("乌黑", "<b>"), ("否", "是"), np.array([[0.25, 1e-7], [0.0, 123456.0]]))


def test_columns_line_up_under_wide_characters():
    assert len({_width(line) for line in repr(TABLE).splitlines()}) == 1


def _width(text):
    return sum(2 if ord(char) > 0x2E80 else 1 for char in text)


def test_html_is_escaped():
    assert "<b>" not in TABLE._repr_html_()
    assert "&lt;b&gt;" in TABLE._repr_html_()


def test_a_cell_is_found_by_name_and_a_wrong_name_is_told_what_there_is():
    assert TABLE["乌黑", "否"] == 0.25
    with pytest.raises(KeyError, match=r"'红' is not in the table .*; there are '乌黑', '<b>'"):
        TABLE["红", "否"]


def test_a_table_becomes_a_frame():
    pytest.importorskip("pandas", reason="to_pandas gives a pandas frame")
    frame = TABLE.to_pandas()
    assert frame.loc["乌黑", "否"] == 0.25
    assert list(frame.columns) == ["否", "是"]
