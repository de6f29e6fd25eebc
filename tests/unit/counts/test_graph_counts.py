"""Counts along a graph: what a file says of it is checked."""

from math import prod

import numpy as np
import pytest

from bayeskit import NetworkClassifier, datasets
from bayeskit.counts.graph_counts import GraphCounts, families_of_graph
from bayeskit.errors import ModelFileError


def test_a_graph_with_a_cycle_is_refused():
    counts = NetworkClassifier().fit(datasets.load_tennis(), target="play").counts_
    meta, arrays = counts.to_parts()
    assert GraphCounts.from_parts(meta, arrays).parents == counts.parents
    above = [list(parents) for parents in counts.parents]
    above[0], above[1] = [1], [0]
    families = families_of_graph(tuple(map(tuple, above)))
    n_cells = sum(2 * prod(counts.schema[j].n_values for j in members) for members in families)
    arrays["family_cells"] = np.zeros(n_cells, dtype=np.int32)
    with pytest.raises(ModelFileError, match="without a cycle"):
        GraphCounts.from_parts({**meta, "graph": above, "families": [list(f) for f in families]}, arrays)


@pytest.mark.parametrize("parent", [-1, 5])
def test_a_parent_that_is_no_column_is_refused(parent):
    counts = NetworkClassifier().fit(datasets.load_tennis(), target="play").counts_  # four columns and the class
    meta, arrays = counts.to_parts()
    above = [list(parents) for parents in counts.parents]
    above[0] = [parent]
    with pytest.raises(ModelFileError, match="not one over their columns"):
        GraphCounts.from_parts({**meta, "graph": above}, arrays)
