"""Counting a table that is already coded needs next to no memory besides it."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="peak memory is asked of the operating system, here by getrusage")

# The table is 30 MB. Before the fit the heap is filled up to its peak, so that every new page shows.
SCRIPT = """
import resource, sys
import numpy as np
from bayeskit import NaiveBayes, threads

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

def now():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

n_rows, n_columns, form = 600_000, 50, sys.argv[1]
rng = np.random.default_rng(0)
y = rng.integers(0, 5, n_rows, dtype=np.uint8)
shape = (n_rows, n_columns) if form == "rows" else (n_columns, n_rows)
X = rng.integers(0, 8, shape, dtype=np.uint8)
size = X.nbytes
if form == "columns":
    X = X.T
if form == "categories":
    import pandas as pd
    X = pd.DataFrame(
        {f"c{j}": pd.Categorical.from_codes(X[j].view(np.int8), list("abcdefgh")) for j in range(n_columns)}, copy=False
    )
model = NaiveBayes(kinds=None if form == "categories" else "categorical")
with threads(1):
    model.fit(X[:1000], y[:1000])
    filler = np.ones(max(0, peak() - now()) // 8 + 1)
    before = now()
    model.fit(X, y)
print((peak() - before) / size)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory in use now is read from /proc")
@pytest.mark.parametrize("form", ["rows", "columns", "categories"])
def test_a_fit_on_codes_needs_at_most_a_tenth_of_the_table(form):
    if form == "categories":
        pytest.importorskip("pandas", reason="categories come from pandas")
    run = subprocess.run([sys.executable, "-c", SCRIPT, form], capture_output=True, text=True, check=True)
    assert float(run.stdout) <= 0.10
