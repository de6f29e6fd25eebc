"""Amounts of memory as users write them."""

import numpy as np
import pytest

from bayeskit import TAN
from bayeskit.counts.memory import read_memory
from bayeskit.errors import BayeskitError


@pytest.mark.parametrize(
    ("limit", "n_bytes"),
    [
        (0, 0),
        (np.int32(7), 7),
        (1e9, 1e9),
        (float("inf"), float("inf")),
        ("512", 512),
        ("10 B", 10),
        ("1kB", 1000),
        ("1 KiB", 1024),
        ("1.5 MiB", 1.5 * 2**20),
        (" 4 gib ", 2**32),
        ("2TB", 2e12),
        ("0.5TiB", 2**39),
    ],
)
def test_an_amount_of_memory_is_bytes_or_text_with_a_unit(limit, n_bytes):
    assert read_memory(limit) == n_bytes


@pytest.mark.parametrize("limit", [-1, float("nan"), True, None, "", "four GiB", "4 Gig", "-4 GiB", "4 GiB 2", [4]])
def test_what_is_no_amount_of_memory_is_refused(limit):
    with pytest.raises(BayeskitError, match="a number of bytes or text such as '4 GiB'; got"):
        read_memory(limit)


def test_a_model_names_its_parameter():
    with pytest.raises(BayeskitError, match=r"The 'max_memory' parameter of TAN must be .* '4 GiB'. Got 'much'"):
        TAN(max_memory="much").fit({"wind": ["weak", "strong"]}, ["yes", "no"])
