"""Distributions in a model file: one entry per variable that says its kind, and one array with all numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ModelFileError
from bayeskit.io.expect import expect_field
from bayeskit.network.cpd.causes import IndependentCauses
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.cpd.link import LinkCPD
from bayeskit.network.cpd.logistic import LogisticCPD
from bayeskit.network.cpd.table import TableCPD
from bayeskit.network.cpd.tree_table import TreeCPD

# Name in the file → class; a file can only name a kind that is listed here.
KINDS: dict[str, type[Distribution]] = {
    cpd.kind: cpd for cpd in (TableCPD, IndependentCauses, LogisticCPD, TreeCPD, GaussianCPD, LinkCPD)
}


def cpds_to_parts(cpds: Sequence[Distribution]) -> tuple[list[dict[str, Any]], NDArray[np.float64]]:
    """Return one entry per distribution, and their numbers one after another."""
    parts = [cpd.to_parts() for cpd in cpds]
    entries = [
        {"kind": cpd.kind, "n_numbers": numbers.size, **meta} for cpd, (meta, numbers) in zip(cpds, parts, strict=True)
    ]
    return entries, np.concatenate([numbers for _, numbers in parts])


def cpds_from_parts(
    entries: Sequence[Any], numbers: NDArray[np.float64], names: Sequence[str], shapes: Sequence[tuple[int, ...]]
) -> list[Distribution]:
    """Read what `cpds_to_parts` gave; ``shapes`` are those of the tables: parents' states …, own states."""
    if len(entries) != len(names):
        raise ModelFileError(f"there are {len(names)} variables and {len(entries)} distributions.")
    cpds, at = [], 0
    for name, shape, entry in zip(names, shapes, entries, strict=True):
        if not isinstance(entry, dict) or entry.get("kind") not in KINDS:
            raise ModelFileError(f"the distribution of {name!r} is of a kind that this bayeskit does not know.")
        size = expect_field(entry, "n_numbers", int)
        if not 0 <= size <= len(numbers) - at:
            raise ModelFileError(f"the table of {name!r} is cut short.")
        cpds.append(KINDS[entry["kind"]].from_parts(entry, numbers[at : at + size], shape))
        at += size
    if at < len(numbers):
        raise ModelFileError(f"the tables have {len(numbers) - at} numbers too many.")
    return cpds
