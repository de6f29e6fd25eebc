"""Counting a table that is already coded needs next to no memory besides it."""

import os
import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="peak memory is asked of the operating system, here by getrusage")

MEASURES = """
import os, resource, sys

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

def now():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
"""

FORMS = ["rows", "columns", "categories"]
# The table is 30 MB, each form of it in a fork of a process that has imported all. Before the fit the heap is filled up
# to its peak, so that every new page shows.
SCRIPT = """
import numpy as np
import pandas as pd
from bayeskit import NaiveBayes, threads

for form in sys.argv[1:]:
    if os.fork() == 0:
        break
    assert os.wait()[1] == 0
else:
    sys.exit()
n_rows, n_columns = 600_000, 50
rng = np.random.default_rng(0)
y = rng.integers(0, 5, n_rows, dtype=np.uint8)
shape = (n_rows, n_columns) if form == "rows" else (n_columns, n_rows)
X = rng.integers(0, 8, shape, dtype=np.uint8)
size = X.nbytes
if form == "columns":
    X = X.T
if form == "categories":
    X = pd.DataFrame(
        {f"c{j}": pd.Categorical.from_codes(X[j].view(np.int8), list("abcdefgh")) for j in range(n_columns)}, copy=False
    )
model = NaiveBayes(kinds=None if form == "categories" else "categorical")
with threads(1):
    model.fit(X[:1000], y[:1000])
    filler = np.ones(max(0, peak() - now()) // 8 + 1)
    before = now()
    model.fit(X, y)
print((peak() - before) / size, flush=True)
"""


@pytest.fixture(scope="module")
def shares():
    pytest.importorskip("pandas", reason="categories come from pandas")
    run = subprocess.run([sys.executable, "-c", MEASURES + SCRIPT, *FORMS], capture_output=True, text=True, check=True)
    return dict(zip(FORMS, map(float, run.stdout.split()), strict=True))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory in use now is read from /proc")
@pytest.mark.xdist_group("memory of codes")  # one process measures all forms
@pytest.mark.parametrize("form", FORMS)
def test_a_fit_on_codes_needs_at_most_a_tenth_of_the_table(form, shares):
    assert shares[form] <= 0.10


AUTOMATIC = """
import numpy as np
from bayeskit import AutoBayes, threads

n_rows, n_columns = 2_000_000, 10
rng = np.random.default_rng(0)
X = np.empty((n_rows, n_columns))
for column in X.T:
    column[:] = rng.random(n_rows)
y = X[:, 0] * X[:, 1] > X[:, 2]
model = AutoBayes(max_nodes=50_000)
with threads(2):
    model.fit(X[:20_000], y[:20_000])
    filler = np.ones(max(0, peak() - now()) // 8 + 1)
    before = now()
    model.fit(X, y)
print((peak() - before) / (n_rows * n_columns))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory in use now is read from /proc")
def test_the_automatic_classifier_needs_at_most_2_9_times_the_bytes_that_are_coded():
    # With a threshold of its own glibc gives large arrays back at once, and does not keep them for later ones.
    env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}
    run = subprocess.run(
        [sys.executable, "-c", MEASURES + AUTOMATIC], capture_output=True, text=True, check=True, env=env
    )
    assert float(run.stdout) <= 2.9
