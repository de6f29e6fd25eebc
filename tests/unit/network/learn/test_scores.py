"""A score's formula in Python is the plain twin of the kernel's, and of nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeskit.network import BDeuScore
from bayeskit.network.learn.discrete_rows import read_rows
from bayeskit.network.learn.scored_families import PlainFamilyScores, ScoredFamilies
from bayeskit.network.learn.scores.ebic import EBIC
from bayeskit.network.learn.structure_score import SCORES, as_score


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(4, 60))
    table = {}
    for name in "ABCD":
        column = rng.choice(list("pqr"), n_rows).tolist()
        share = draw(st.sampled_from([0.0, 0.3]))
        table[name] = ["p", "q", *(None if rng.random() < share else value for value in column)]
    weight = rng.integers(1, 4, n_rows + 2).astype(float) if draw(st.booleans()) else None
    return read_rows(table, weight)


# The others have no kernel: test_more_scores.py has their formulas.
PLAIN = {"bds", "fnml", "qnml"}
COMPILED = [
    as_score(name) for name in sorted(SCORES.classes) if name not in PLAIN and name != "bge"
]  # BGe is of numbers


@pytest.mark.parametrize("score", [*COMPILED, BDeuScore(7.5), EBIC(2.5)], ids=repr)
@given(rows=tables(), child=st.integers(0, 3), parents=st.sets(st.integers(0, 3)))
def test_the_kernel_scores_as_the_formula_says(score, rows, child, parents):
    assert score.compiled
    parents = sorted(parents - {child})
    plain, compiled = PlainFamilyScores(rows, score), ScoredFamilies(rows, score)
    assert plain.local(child, parents) == pytest.approx(compiled.local(child, parents), rel=1e-10, abs=1e-9)
    wanted = np.ones(4, dtype=bool)
    np.testing.assert_allclose(
        plain.toggles(child, parents, wanted), compiled.toggles(child, parents, wanted), rtol=1e-10, atol=1e-9
    )
    candidates = [v for v in range(4) if v != child]
    ours, theirs = (each.best_subsets(child, candidates, [], 2) for each in (plain, compiled))
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-10, atol=1e-9)
    assert plain.n_scored <= 8
