"""Questions to a dynamic network: about a time, ``P(rain[3] | umbrella[1]=yes)``, or for each row of a table."""

from __future__ import annotations

import csv
import re
import sys
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeskit.cli.question import ParsedQuestion
    from bayeskit.network import BayesianNetwork
    from bayeskit.sequence.dynamic_network import DynamicNetwork

_AT = re.compile(r"(.+)\[(\d+)\]")
# The slices that a question about a time is unrolled to.
MOST_SLICES = 10_000


def read_dynamic(path: Path) -> DynamicNetwork | None:
    """Return the dynamic network of a model file, or None where the file holds anything else."""
    from bayeskit.io.container import read

    if path.suffix != ".bayes" or not path.is_file() or read(path).model != "DynamicNetwork":
        return None
    from bayeskit.io.model_files import load_value

    model: DynamicNetwork = load_value(path)
    return model


def unrolled_for(net: DynamicNetwork, wanted: ParsedQuestion) -> BayesianNetwork:
    """Return the network of all slices up to the last one that a question names; times are counted from 0."""
    from bayeskit.errors import NetworkError
    from bayeskit.table.names import not_found

    last = 0
    for text in (*wanted.names, *wanted.given, *wanted.actions):
        match = _AT.fullmatch(text)
        name = match[1] if match else text
        if name not in net.names:
            raise NetworkError(not_found("variable", name, net.names))
        if match is None:
            raise NetworkError(
                f"the network repeats over time, so {text!r} needs its time, counted from 0: {text}[3]; or give rows "
                "by --cases, and each is answered."
            )
        if len(match[2]) > 6 or int(match[2]) >= MOST_SLICES:
            raise NetworkError(f"{text}: a question may reach to time {MOST_SLICES - 1}; for more rows use --cases.")
        last = max(last, int(match[2]))
    return net.unrolled(max(last + 1, net.order))


def answer_rows(
    net: DynamicNetwork, wanted: ParsedQuestion, path: str, group: str | None, time: str | None, filtered: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Write the posterior of one variable at each row of a table, given all rows of its sequence or those so far."""
    import numpy as np

    from bayeskit.errors import NetworkError, TableError
    from bayeskit.table.files import TableFile
    from bayeskit.table.names import not_found
    from bayeskit.workflow.state_columns import read_states

    if wanted.kind != "P" or wanted.event or len(wanted.names) != 1 or wanted.given or wanted.actions:
        raise NetworkError(
            "with --cases, ask a dynamic network for one variable, as in P(rain); rows are the evidence."
        )
    name = wanted.names[0]
    if name not in net.names:
        raise NetworkError(not_found("variable", name, net.names))
    file = TableFile.open(path)
    for option, column in (("--group", group), ("--time", time)):
        if column is not None and column not in file.names:
            raise TableError(f"{option}: {not_found('column', column, file.names)}")
    places = [column for column in (group, time) if column is not None]
    used = [column for column in file.names if column in net.names and column not in places]
    if not used:
        raise TableError(f"{file.name} has no column that is a variable of the network.")
    columns: dict[str, Any] = read_states(file, [column for column in file.names if column not in used])
    rows: dict[str, Any] = {
        name: [None if cell is None or cell != cell else str(cell) for cell in cells] for name, cells in columns.items()
    }
    if places:  # times as they are, and not as names of states
        table = file.read()
        rows |= {column: np.array(table[column].to_pylist()) for column in places}
    answer = (net.filter if filtered else net.smooth)(rows, group=group, time=time)[name].tolist()
    states = net.states[name]
    if as_json:
        sys.stdout.writelines(dumps(dict(zip(states, row, strict=True))) + "\n" for row in answer)
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([f"P({name}={state})" for state in states])
    writer.writerows([f"{p:.6g}" for p in row] for row in answer)
