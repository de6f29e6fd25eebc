"""The memory that naive Bayes and TAN take: bounded, and refused before work."""

import subprocess
import sys

import numpy as np
import pytest

from bayeskit import NaiveBayes, load
from bayeskit.errors import BayeskitError, TooLargeError

X = {"id": [f"n{k}" for k in range(600)], "small": ["u", "v"] * 300}
Y = np.arange(600) % 3


def test_wide_tables_are_refused_before_any_counting_with_the_columns_named(monkeypatch):
    def never(*_, **__):
        raise AssertionError("counted before the size was checked")

    with monkeypatch.context() as patched:
        patched.setattr("bayeskit.learn.counting.count_table", never)
        with pytest.raises(TooLargeError, match=r"2 columns for 3 classes.*'id' with 600, 'small' with 2.*50.0 KiB"):
            NaiveBayes(max_memory="50 KiB").fit(X, Y)
    assert NaiveBayes(max_memory="1 MiB").fit(X, Y).predict(X).tolist() == Y.tolist()


def test_a_batch_that_makes_the_tables_too_wide_is_not_taken_over():
    model = NaiveBayes(max_memory="50 KiB").partial_fit(
        {"id": ["a", "b"], "small": ["u", "v"]}, [0, 1], classes=[0, 1, 2]
    )
    with pytest.raises(TooLargeError, match="raise max_memory"):
        model.partial_fit(X, Y)
    assert model.class_count_.tolist() == [1, 1, 0]


def test_the_limit_is_a_parameter_like_any_other(tmp_path):
    with pytest.raises(BayeskitError, match="'max_memory' parameter of NaiveBayes must be a number of bytes"):
        NaiveBayes(max_memory="much").fit(X, Y)
    NaiveBayes(max_memory="1 MiB").fit(X, Y).save(tmp_path / "m.bayes")
    assert load(tmp_path / "m.bayes").max_memory == "1 MiB"


NAIVE = """
n, S = 20_000, 10_000
X = {f"f{j}": rng.integers(0, S, n).astype(str).astype(object) for j in range(6)}
model, y = NaiveBayes(), np.arange(n) % 50
cells = 6 * S * 50
most = cells * 48  # what max_memory reckons with
"""
TREE = """
n, S = 5_000, 100
X, y = rng.integers(0, S, (n, 30)), np.arange(n) % 4
model = TAN(kinds="categorical")
most = 1.5 * 435 * S * S * 4 * 4
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
@pytest.mark.parametrize("case", [NAIVE, TREE], ids=["naive", "tree"])
def test_the_peak_stays_within_what_is_reckoned_with(case):
    code = f"""
import resource
import numpy as np
from bayeskit import NaiveBayes, TAN
rng = np.random.default_rng(0)
{case}
type(model)().fit({{"a": ["u", "v"]}}, [0, 1]).predict({{"a": ["u"]}})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.fit(X, y).predict({{k: v[:9] for k, v in X.items()}} if isinstance(X, dict) else X[:9])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / most)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.0
