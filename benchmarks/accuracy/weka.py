"""Weka's TAN and AODE on the tables of the published list, on the same rows and folds as ours.

The published numbers come from other copies of some tables; what Weka says of the copy here tells the two apart.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.accuracy.measure import measures
from benchmarks.accuracy.tables import PUBLISHED, keep, results, work

WEKA = Path("/usr/share/java/weka.jar")
SOURCE = Path(__file__).with_name("WekaFolds.java")


def run_weka() -> None:
    with PUBLISHED.open(encoding="utf-8") as file:
        names = {row["dataset"] for row in csv.DictReader(file)} - {row["table"] for row in results("weka")}
    for table, X, y, splits in work():
        if table not in names:
            continue
        labels = sorted(y.unique().tolist())
        with tempfile.TemporaryDirectory() as folder:
            arff, tests = Path(folder) / "table.arff", Path(folder) / "folds.txt"
            write_arff(arff, X, y, labels)
            tests.write_text("\n".join(" ".join(map(str, test)) for _, test in splits))
            command = ["java", "-Xmx6g", "-cp", str(WEKA), str(SOURCE), str(arff), str(tests)]
            lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        at = 0
        while at < len(lines):
            _, model, fold, cpu = lines[at].split()
            test = splits[int(fold)][1]
            posterior = np.array([line.split() for line in lines[at + 1 : at + 1 + len(test)]], dtype=float)
            found = measures(posterior, np.array([labels.index(label) for label in y.iloc[test]]))
            row = {"table": table, "model": f"Weka {model}", "fold": int(fold), "rows": len(X)}
            keep("weka", {**row, **found, "cpu": float(cpu)})
            at += 1 + len(test)
        print(table, flush=True)


def write_arff(path: Path, X: pd.DataFrame, y: pd.Series, labels: list[str]) -> None:
    """Write a table with its values as v0, v1, …: Weka's reader has its own mind about quotes."""
    head, columns = ["@relation table"], []
    for j, name in enumerate(X):
        column = X[name]
        if column.dtype.kind == "f":
            head.append(f"@attribute x{j} numeric")
            columns.append(["?" if np.isnan(value) else repr(value) for value in column.tolist()])
        else:
            codes, levels = pd.factorize(column, sort=True)
            head.append(f"@attribute x{j} {{{','.join(f'v{v}' for v in range(max(1, len(levels))))}}}")
            columns.append(["?" if code < 0 else f"v{code}" for code in codes.tolist()])
    head += [f"@attribute class {{{','.join(f'c{c}' for c in range(len(labels)))}}}", "@data"]
    columns.append([f"c{labels.index(label)}" for label in y])
    path.write_text("\n".join([*head, *(",".join(row) for row in zip(*columns, strict=True))]))
