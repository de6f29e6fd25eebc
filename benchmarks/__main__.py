"""`python -m benchmarks all`, or with the names of some tasks, runs them and writes their tables beside this file."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

# Parts of other tasks, and studies that take hours and have commands of their own, as benchmarks/accuracy has.
PARTS = ("__init__", "__main__", "timing", "text_calibration", "text_chinese", "text_tables")
STUDIES = ("bayes_error", "before_after")
TASKS = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in PARTS + STUDIES)


def main() -> None:
    asked = sys.argv[1:]
    for task in TASKS if asked in ([], ["all"]) else asked:
        if task not in TASKS:
            sys.exit(f"there is no benchmark '{task}'; there are {', '.join(TASKS)}.")
        import_module(f"benchmarks.{task}").main()


if __name__ == "__main__":
    main()
