"""Predicting takes the same memory whatever the size of the file."""

import subprocess
import sys

import pytest

from bayeskit.cli.app import run

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
def test_fifty_megabytes_more_to_read_take_no_more_memory(heart):
    head, _, rows = (heart / "heart.csv").read_text().partition("\n")
    others = [option for name in head.split(",")[2:-1] for option in ("--ignore", name)]  # few columns are quick
    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", "--no-report", "--json", *others]) == 0

    def peak(copies):
        with (heart / "big.csv").open("w") as file:
            file.write(head + "\n")
            file.writelines(rows for _ in range(copies))
        arguments = [
            sys.executable,
            "-c",
            MEASURED,
            "predict",
            "heart-disease.bayes",
            "big.csv",
            "-o",
            "out.csv",
            "--force",
        ]
        done = subprocess.run(arguments, cwd=heart, capture_output=True, encoding="utf-8", check=True)
        code, megabytes = map(int, done.stderr.split()[-2:])
        assert code == 0
        return megabytes, (heart / "big.csv").stat().st_size / 2**20

    (small, before), (large, after) = peak(3000), peak(6500)  # both larger than what is read ahead
    assert after - before > 50
    assert large - small < 20
