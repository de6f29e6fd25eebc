"""Tables larger than memory: rows per CPU second of all processes, scoring inside a database, memory of a long fit.

`python -m benchmarks scale` runs all parts; `python -m benchmarks.scale workers scoring` runs those named. Each part
writes its own section of RESULTS.md as soon as it is done. The folder for memory has SCALE_GIGABYTES, 10 unless told
otherwise, and the record SCALE_RECORD_ROWS, 1e8.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bayeskit import threads
from benchmarks.scale_parts import databases, memory, record, scoring, workers

PARTS = {"workers": workers.run, "databases": databases.run, "scoring": scoring.run}
PARTS |= {"memory": memory.run, "record": record.run}


def main(parts: list[str] | None = None) -> None:
    for part in parts or PARTS:
        if part not in PARTS:
            sys.exit(f"there is no part '{part}'; there are {', '.join(PARTS)}.")
        with tempfile.TemporaryDirectory(prefix="scale-") as folder, threads(1):
            PARTS[part](Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
