"""Every alarm of the data-problem checks on the public tables, to be read by a person.

``python -m benchmarks.problems`` prints a line per alarm, ``… seconds`` also how long the checks take, ``… write``
writes ``PROBLEMS.md``; names of tables choose some of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import bayeskit
from bayeskit.table.problem import Problem
from bayeskit.table.problems.read_table import problems_of
from bayeskit.workflow.data_problems import in_short

DATA = Path(__file__).parents[2] / "shared/data"
PAGE = Path(__file__).with_name("PROBLEMS.md")
HEAD = """# Every alarm on the public tables

What the checks for [data problems](../docs/howto/data_problems.md) say of the {n} tables of `../shared/data` (`tabular`
with the target `class`, `samples` without a target); a table that is not listed has no alarm. Each line was read: none
names a thing that is not there. `python -m benchmarks.problems write` makes this page; that every planted problem is
found is tested in `tests/unit/table/test_problems.py`.

Worth knowing: `99999` among capital gains is the census's top code; the zeros of `diabetes` are the ones that
`diabetes-na` sets missing; the copies of `kddcup99`, `letter` and `page-blocks` are known; `education` and
`education-num` are one column. Zeros of `arrhythmia` and `echocardiogram` may be measurements: the words say "if it is
no measurement".

| table | problem | what |
|---|---|---|
"""


def alarms(chosen: list[str], seconds: bool) -> Iterator[tuple[str, list[Problem]]]:
    """Yield the name of each table and its problems."""
    for path in sorted((*DATA.glob("tabular/*.csv*"), *DATA.glob("samples/*.csv*"))):
        name = path.name.split(".")[0]
        if chosen and name not in chosen:
            continue
        table = bayeskit.read(path, "class" if path.parent.name == "tabular" else None)
        start = time.process_time()
        problems = problems_of(table)
        if seconds:
            print(f"{name}: {len(table):,} × {len(table.names)}, {time.process_time() - start:.2f} s of CPU")
        yield name, problems


def main() -> None:
    """Print the alarms of all tables, or write the page."""
    words = sys.argv[1:]
    seen = list(alarms([word for word in words if word not in ("seconds", "write")], "seconds" in words))
    for name, problems in seen:
        for problem in problems:
            print(f"{name}: [{problem.code}] {problem}")
    print(f"{sum(len(problems) for _, problems in seen)} alarms on {len(seen)} tables")
    if "write" in words:
        lines = (
            f"| {name} | {problem.code} | {in_short(problem).replace('|', chr(92) + '|')} |"
            for name, problems in seen
            for problem in problems
        )
        PAGE.write_text(HEAD.format(n=len(seen)) + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
