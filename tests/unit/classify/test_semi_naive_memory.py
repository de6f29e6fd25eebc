"""What `max_memory` is compared with bounds the peak: counts, what stands beside them and what is made of them."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="peak memory is asked of the operating system, here by getrusage")

pytestmark = pytest.mark.xdist_group("memory of semi-naive models")  # one process measures all
MODELS = ["A2DE", "A2DE of weighted classes", "AODE", "TAN", "KDB", "SPODE"]

# Counts of some 70 to 140 MB, so that what the interpreter takes besides does not show. Each model is measured in a
# fork of a process that has imported all.
SCRIPT = """
import os, resource, sys, warnings
import numpy as np
from bayeskit import AODE, KDB, SPODE, TAN, threads
from bayeskit.counts.memory import MemoryLimit

warnings.simplefilter("ignore")

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

cases = {
    "A2DE": (AODE(n_parents=2), 16, 32),
    "A2DE of weighted classes": (AODE(n_parents=2, class_weight="balanced"), 14, 30),
    "AODE": (AODE(), 40, 110),
    "TAN": (TAN(), 20, 300),
    "KDB": (KDB(2), 6, 128),
    "SPODE": (SPODE(0), 9, 1000),
}
for name in sys.argv[1:]:
    if os.fork() == 0:
        break
    assert os.wait()[1] == 0
else:
    sys.exit()
model, n_columns, n_values = cases[name]
model.set_params(kinds="categorical", max_memory="60 GiB")
rng = np.random.default_rng(0)
X, y = rng.integers(0, n_values, (2000, n_columns)), rng.integers(0, 2, 2000)
X[:n_values] = np.arange(n_values)[:, None]
type(model)().set_params(**model.get_params()).fit(X[:50, :3] % 3, y[:50]).predict(X[:50, :3] % 3)

said = [0.0]
def refuse_too_large(self, sizes, n_classes, families, schema, *, weighted=False, beside=0.0):
    from bayeskit.counts.memory import table_cells
    counts = table_cells(sizes, families)[1] * n_classes * (8 if weighted else 4)
    said.append(counts + beside + self.made(sizes, n_classes, families))
MemoryLimit.refuse_too_large = refuse_too_large

start = peak()
with threads(1):
    model.fit(X, y).predict(X[:200])
    fitted = (peak() - start) / max(said)
    model.partial_fit(X, y).predict(X[:200])
print(fitted, (peak() - start) / max(said), flush=True)
"""


@pytest.fixture(scope="module")
def measured():
    run = subprocess.run([sys.executable, "-c", SCRIPT, *MODELS], capture_output=True, text=True, check=True)
    return dict(zip(MODELS, (tuple(map(float, line.split())) for line in run.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_and_a_partial_fit_take_no_more_than_what_is_compared_with_max_memory(name, measured):
    fitted, added = measured[name]
    assert fitted <= 1.05  # the rows themselves, and what the allocator keeps
    assert added <= 1.05
