"""Every alarm of the data-problem checks on the public tables, to be read by a person.

``python -m benchmarks.problems`` prints a line per alarm; ``… seconds`` prints how long the checks take.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import bayeskit
from bayeskit.table.problems.read_table import problems_of

DATA = Path(__file__).parents[2] / "shared/data"


def main() -> None:
    """Print the alarms of all tables."""
    n_tables = n_alarms = 0
    chosen = [word for word in sys.argv[1:] if word != "seconds"]
    for path in sorted((*DATA.glob("tabular/*.csv*"), *DATA.glob("samples/*.csv*"))):
        if chosen and path.name.split(".")[0] not in chosen:
            continue
        target = "class" if path.parent.name == "tabular" else None
        table = bayeskit.read(path, target)
        start = time.perf_counter()
        problems = problems_of(table)
        taken = time.perf_counter() - start
        n_tables, n_alarms = n_tables + 1, n_alarms + len(problems)
        if "seconds" in sys.argv:
            print(f"{path.name}: {len(table):,} × {len(table.names)}, {taken:.2f} s")
        for problem in problems:
            print(f"{path.name.split('.')[0]}: [{problem.code}] {problem}")
    print(f"{n_alarms} alarms on {n_tables} tables")


if __name__ == "__main__":
    main()
