"""Predicting takes the same memory whatever the size of the file."""

import subprocess
import sys

import pytest

# Runs the command and tells the peak of its resident memory, in MB. (getrusage would tell the peak of the process
# that started it, if that is larger.)
MEASURED = """
import re, sys
from pathlib import Path
from bayeskit.cli.app import run
code = run(sys.argv[1:])
print(code, int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024, file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from Linux's /proc")
def test_ten_times_the_rows_take_no_more_memory(trained):
    head, _, rows = (trained / "heart.csv").read_text().partition("\n")

    def peak(copies):
        (trained / "big.csv").write_text(f"{head}\n{rows * copies}")
        arguments = [sys.executable, "-c", MEASURED, "predict", "disease.bayes", "big.csv", "-o", "out.csv"]
        done = subprocess.run(arguments, cwd=trained, capture_output=True, encoding="utf-8", check=True)
        code, megabytes = map(int, done.stderr.split()[-2:])
        assert code == 0
        return megabytes, (trained / "big.csv").stat().st_size / 2**20

    small, _ = peak(1000)  # more than is read ahead
    large, size = peak(4000)
    assert size > 60  # MB of CSV
    assert large - small < 25
