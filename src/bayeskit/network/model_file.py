"""Networks in a model file (.bayes)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.families import FamilyCounts
from bayeskit.errors import ModelFileError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.kinds import kind_of
from bayeskit.learn.parameters import from_json, to_json
from bayeskit.network.cpd.saved import cpds_from_parts, cpds_to_parts
from bayeskit.network.cpd.table import TableCPD
from bayeskit.network.learn.pseudo_counts import as_prior
from bayeskit.network.learn.table_fitting import Learned, families_of
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork


def network_to_parts(net: BayesianNetwork) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return fields for JSON, and arrays."""
    entries, numbers = cpds_to_parts(net.cpds)
    meta = {
        "names": list(net.names),
        "states": list(map(list, net.states)),
        "parents": list(map(list, net.parents)),
        "schema": net.schema.to_json(),
        "target": net.target,
        "cpds": entries,
    }
    if net.properties:
        meta["properties"] = {name: dict(said) for name, said in net.properties.items()}
    arrays = {"numbers": numbers}
    if net.counts is not None and net._learned is not None:
        counted, counts = net.counts.to_parts()
        meta["learned"] = {"counts": counted, **to_json({"smoothing": net._learned.smoothing})}
        arrays |= {f"counts_{name}": array for name, array in counts.items()}
    return meta, arrays


def properties_from_parts(meta: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return what the network's file said of its variables; text only."""
    held = expect_field(meta, "properties", dict) if "properties" in meta else {}
    if not all(
        isinstance(said, dict) and all(isinstance(text, str) for text in (name, *said, *said.values()))
        for name, said in held.items()
    ):
        raise ModelFileError("properties must map names to mappings of text to text.")
    return held


def learned_from_parts(meta: dict[str, Any], arrays: dict[str, NDArray[Any]], net: BayesianNetwork) -> Learned | None:
    """Return the counts that a network of a model file carries, or None; they must be of its families."""
    if meta.get("learned") is None:
        return None
    held = expect_field(meta, "learned", dict)
    counted = {name.removeprefix("counts_"): array for name, array in arrays.items() if name.startswith("counts_")}
    counts = FamilyCounts.from_parts(expect_field(held, "counts", dict), counted)
    sizes = tuple(variable.n_values for variable in counts.schema)
    if counts.alone.has_class or counts.schema.names != net.names or sizes != net.cards:
        raise ModelFileError("the counts are not of the variables of the network.")
    if counts.families != families_of(net.parents):
        raise ModelFileError("the counts are not of the families of the network.")
    smoothing = from_json({"smoothing": held.get("smoothing")})["smoothing"]
    as_prior(smoothing)
    return Learned(counts, smoothing)


def network_from_parts(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the arguments of `BayesianNetwork.from_tables`; sizes and kinds are checked here, numbers there."""
    names, states, parents = (expect_field(meta, field, list) for field in ("names", "states", "parents"))
    words = [names, *states] if all(isinstance(group, list) for group in states) else [[None]]
    if not all(isinstance(word, str) for group in words for word in group):
        raise ModelFileError("names and states must be lists of text.")
    if not len(names) == len(states) == len(parents):
        raise ModelFileError("names, states and parents must have one entry per variable.")
    shapes = [tuple(len(states[p]) for p in (*above, i)) for i, above in enumerate(parents)]
    numbers = expect_array(arrays, "numbers", np.float64, (None,))
    cpds = cpds_from_parts(expect_field(meta, "cpds", list), numbers, names, shapes)
    if meta["target"] is not None:
        expect_field(meta, "target", str)
    schema = Schema.from_json(meta["schema"])
    for variable in schema:
        kind_of(variable)  # refuses a kind that this bayeskit does not know
    graph = {
        "names": names,
        "states": states,
        "parents": parents,
        "tables": [cpd.values if isinstance(cpd, TableCPD) else cpd for cpd in cpds],
    }
    return {**graph, "schema": schema, "target": meta["target"]}
