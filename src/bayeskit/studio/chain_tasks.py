"""What a worker does with a hidden Markov model: the states of sequences that were pasted, over time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bayeskit.errors import TooLargeError
from bayeskit.studio.network_tasks import Report, _json

MOST_SEQUENCES, MOST_ROWS = 12, 2_000  # that are drawn


def chain(path: Path, report: Report) -> bytes:
    """Return the states of a chain, and the columns that its rows have."""
    from bayeskit.io.model_files import load_value

    model: Any = load_value(path)
    group, time = model._fitted.layout
    return _json(
        {
            "target": model.target_,
            "states": [str(state) for state in model.states_.tolist()],
            "columns": list(model.schema_.names),
            "group": group,
            "time": time,
            "stationary": model.stationary_.tolist(),
            "durations": [each if np.isfinite(each) else None for each in model.durations_.tolist()],
        }
    )


def bands(path: Path, report: Report, text: str) -> bytes:
    """Return for each sequence of a pasted table P(state | all rows), the decoded path, and the time of each row."""
    from bayeskit.io.model_files import load_value
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.sequences import read_for

    model: Any = load_value(path)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "rows.csv"
        place.write_text(text, encoding="utf-8")
        _, source = read_for(model, TableFile.open(place))
    read, _ = model._asked(source, None, None, None)
    shown = []
    for s in range(min(read.n_sequences, MOST_SEQUENCES)):
        one = read.take(np.array([s]))
        if one.n_rows > MOST_ROWS:
            raise TooLargeError(
                f"sequence {one.names[0]!r} has {one.n_rows} times; the studio draws up to {MOST_ROWS}. "
                "In Python, model.plot(rows) draws any number."
            )
        rows = source.take(one.rows[one.rows >= 0])
        # A step without a row has states too, so they are asked for by time and not by row.
        posterior, path_of_states = model._over_time(rows)
        clock = one.clock()
        times = None if clock is None else [_shown(each) for each in clock]
        names = [str(state) for state in path_of_states.tolist()]
        shown.append({"name": str(one.names[0]), "times": times, "p": posterior.tolist(), "path": names})
    return _json({"sequences": shown, "left_out": max(read.n_sequences - MOST_SEQUENCES, 0)})


def _shown(time: Any) -> str:
    """Return a time as people write it: a date without the hours that it has not."""
    if isinstance(time, np.datetime64):
        return str(time.astype("datetime64[s]")).removesuffix("T00:00:00").replace("T", " ")
    return f"{float(time):g}"


TASKS: dict[str, Callable[..., bytes]] = {"chain": chain, "bands": bands}
