"""Network files beside pyAgrum and pgmpy: reading BIF, and the log-likelihood of a table."""

from __future__ import annotations

import gzip
import logging
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import bayeskit
from bayeskit import BayesianNetwork
from benchmarks.timing import Row, cpu_seconds, table, write_section

NETWORKS = Path(__file__).parents[2] / "shared" / "data" / "networks"
READ = ("alarm", "munin", "diabetes", "mildew")
ROWS = 1_000_000


def read_rows(folder: Path) -> list[Row]:
    import pyagrum

    rows = []
    for name in READ:
        packed = NETWORKS / f"{name}.bif.gz"
        plain = folder / f"{name}.bif"
        plain.write_bytes(gzip.decompress(packed.read_bytes()))
        ours = cpu_seconds(lambda plain=plain: BayesianNetwork.read(plain))  # type: ignore[misc]
        theirs = cpu_seconds(lambda plain=plain: pyagrum.loadBN(str(plain)), 3)  # type: ignore[misc]
        rows.append(Row(f"read {name}.bif", ours, "pyAgrum", theirs))
        if name == "munin":
            ours_packed = cpu_seconds(lambda packed=packed: BayesianNetwork.read(packed))  # type: ignore[misc]
            rows.append(Row("read munin.bif.gz (aim: 60 ms)", ours_packed, "pyAgrum, unpacked", theirs))
            rows.append(Row("read munin.bif", ours, "pgmpy", pgmpy_seconds(plain)))
    return rows


def pgmpy_seconds(path: Path) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.readwrite import BIFReader  # its import takes seconds and is not counted

        return cpu_seconds(lambda: BIFReader(str(path)).get_model(), 1)


def likelihood_rows() -> list[Row]:
    net = BayesianNetwork.read(NETWORKS / "alarm.bif.gz")
    codes = net.sample(ROWS, random_state=0, output="codes")
    with np.errstate(divide="ignore"):
        logs = [np.log(values) for values in net.tables]

    def plain() -> float:
        return sum(
            float(log[(*(codes[p] for p in above), codes[i])].sum())
            for i, (log, above) in enumerate(zip(logs, net.parents, strict=True))
        )

    assert np.isclose(plain(), net.log_likelihood(codes), rtol=1e-12)
    ours = cpu_seconds(lambda: net.log_likelihood(codes), 3)
    return [
        Row("log-likelihood of 1e6 rows of alarm, from codes", ours, "NumPy, a gather a family", cpu_seconds(plain, 3))
    ]


def main() -> None:
    if not NETWORKS.exists():
        sys.exit("the public networks are not beside the project")
    import pyagrum

    logging.disable(logging.WARNING)
    with bayeskit.threads(1), tempfile.TemporaryDirectory() as folder:
        rows = [*read_rows(Path(folder)), *likelihood_rows()]
    read_by = f"pyAgrum {pyagrum.__version__}"
    write_section("Network files", "python -m benchmarks network_files", f"{read_by}, pgmpy 1.1\n\n{table(rows)}")
