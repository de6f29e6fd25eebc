"""The template of a dynamic network as fields for JSON and arrays, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.io.expect import expect_array, expect_field
from bayeskit.sequence.slices import Template


def template_parts(template: Template) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what goes into a model file: fields for JSON, and arrays."""
    meta = {
        "names": list(template.names),
        "states": [list(template.states[name]) for name in template.names],
        "parents": [[list(each) for each in template.parents[name]] for name in template.names],
    }
    return meta, {f"table_{i}": table for i, table in enumerate(template.tables.values())}


def template_from_parts(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Template:
    """Read what :func:`template_parts` gave; everything is checked."""
    names = expect_field(meta, "names", list)
    states = dict(zip(names, (tuple(map(str, each)) for each in expect_field(meta, "states", list)), strict=True))
    parents = {
        name: tuple((str(p), int(lag)) for p, lag in lagged)
        for name, lagged in zip(names, expect_field(meta, "parents", list), strict=True)
    }
    if len(set(names)) < len(names) or any(
        p not in states or lag < 0 for lagged in parents.values() for p, lag in lagged
    ):
        raise ValueError("a parent is not a variable of the network")
    empty = Template(tuple(names), states, parents, {}, ())

    numbers = iter(range(len(arrays)))  # tables are in the order of Template.tables

    def table(name: str, members: Sequence[tuple[str, int]]) -> NDArray[np.float64]:
        values = expect_array(arrays, f"table_{next(numbers)}", np.float64, (*empty.cards(members), len(states[name])))
        if (values < 0).any() or not np.allclose(values.sum(axis=-1), 1.0, atol=1e-5):
            raise ValueError("a table does not hold probabilities")
        return values

    first = tuple({name: table(name, empty.first_parents(name, s)) for name in names} for s in range(empty.order))
    later = {name: table(name, parents[name]) for name in names}
    return Template(empty.names, states, parents, later, first)
