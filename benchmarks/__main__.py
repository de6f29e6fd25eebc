"""`python -m benchmarks [task …]` runs all tasks, or those named, and writes their tables into RESULTS.md."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

# The accuracy study takes hours and has commands of its own: benchmarks/accuracy.
NO_TASKS = ("__init__", "__main__", "timing")
TASKS = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NO_TASKS)


def main() -> None:
    for task in sys.argv[1:] or TASKS:
        if task not in TASKS:
            sys.exit(f"there is no benchmark '{task}'; there are {', '.join(TASKS)}.")
        import_module(f"benchmarks.{task}").main()


if __name__ == "__main__":
    main()
