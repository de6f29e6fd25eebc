"""A question for each row of a table of cases, answered batch by batch."""

from __future__ import annotations

import csv
import sys
from json import dumps
from typing import TYPE_CHECKING, Any

from bayeskit.cli.screen import warn

if TYPE_CHECKING:
    from bayeskit.cli.question import ParsedQuestion
    from bayeskit.network import BayesianNetwork
    from bayeskit.table.files import TableFile


def answer_cases(net: BayesianNetwork, wanted: ParsedQuestion, path: str, memory: str, as_json: bool) -> None:
    """Write the posterior of one variable for each row to standard output, as CSV or JSON Lines.

    The cells of a row are evidence beside what the question gives, but for that of the variable itself and those of
    variables that the question sets; a missing cell is summed out.
    """
    import pyarrow as pa

    from bayeskit.errors import ImpossibleEvidenceError
    from bayeskit.table.files import TableFile

    name, given = wanted.names[0], _states_given(net, wanted)
    states = net.states[net.index(name)]
    file = TableFile.open(path)
    types = _evidence_columns(net, wanted, file)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if not as_json:
        writer.writerow([f"P({name}={state})" for state in states])
    done = 0
    for batch in file.batches(types):
        table = pa.Table.from_batches([batch])
        for known, state in given.items():
            table = table.append_column(known, pa.array([state] * len(table), pa.string()))
        try:
            answer = net.predict_proba(table, name, max_memory=memory).tolist()
        except ImpossibleEvidenceError as error:
            row = done + int(error.args[0].partition(":")[0].removeprefix("row "))
            raise ImpossibleEvidenceError(
                f"{file.place(row)}: its cells cannot occur together under this network; leave the row out, or the "
                "cells that contradict each other."
            ) from error
        done += len(table)
        if as_json:
            sys.stdout.writelines(dumps(dict(zip(states, row, strict=True))) + "\n" for row in answer)
        else:
            writer.writerows([f"{p:.6g}" for p in row] for row in answer)


def _states_given(net: BayesianNetwork, wanted: ParsedQuestion) -> dict[str, str]:
    """Return the evidence of the question, which must be one state for each variable."""
    from bayeskit.errors import NetworkError

    given = {}
    for name, state in wanted.given.items():
        if not isinstance(state, str):
            raise NetworkError(f"with cases, {name!r} is given as one state, not as a set.")
        net.state(name, state)
        given[name] = state
    return given


def _evidence_columns(net: BayesianNetwork, wanted: ParsedQuestion, file: TableFile) -> dict[str, Any]:
    """Return the columns whose cells are evidence, with their types; warn of those that the question overrides."""
    import pyarrow as pa

    from bayeskit.errors import TableError

    said = [*wanted.given, *wanted.actions]
    types: dict[str, Any] = {
        variable.name: pa.float64() if variable.is_binned else pa.string()
        for variable in net.schema
        if variable.name in file.names and variable.name not in (*wanted.names, *said)
    }
    if not types:
        raise TableError(f"{file.name} has no column that is a variable of the network, besides those of the question.")
    unused = ", ".join(column for column in said if column in file.names)
    if unused:
        warn(f"{file.name}: the question says what {unused} is; the cells of that column are not used.")
    return types
