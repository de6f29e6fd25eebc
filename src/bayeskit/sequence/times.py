"""The times of rows: numbers or dates, put in order, with equal steps; gaps are found before any work starts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.table.frames import as_frame

_NANOSECONDS = {
    "ms": 10**6, "millisecond": 10**6, "s": 10**9, "second": 10**9, "min": 60 * 10**9, "minute": 60 * 10**9,
    "h": 3600 * 10**9, "hour": 3600 * 10**9, "d": 86400 * 10**9, "day": 86400 * 10**9, "week": 7 * 86400 * 10**9,
}  # fmt: skip
_MONTHS = {"month": 1, "quarter": 3, "year": 12}  # their lengths in days differ
_STEP = re.compile(r"\s*([0-9]*\.?[0-9]+)?\s*([a-z]+)\s*", re.IGNORECASE)
# Two numbers that differ by less than this share of a step are the same time.
_SLACK = 1e-6

# The step between two rows: a number, text such as "1 day", "any" (only the order matters) or None (all are equal).
Step = float | str | None


def _no_time(values: list[Any], name: str) -> TableError:
    """Return the error that names the first cell that is no time."""
    row = next((row for row, value in enumerate(values) if not (_is_date(value) or _is_number(value))), None)
    if row is None:  # numbers as text, alone or among dates
        row = next(row for row, value in enumerate(values) if not _is_date(value))
    return TableError(
        f"time '{name}', row {row}: {values[row]!r} is not a time; the column must hold numbers, dates or texts such "
        "as '2024-03-01'."
    )


def _is_date(value: Any) -> bool:
    try:
        np.datetime64(value, "ns")
    except (TypeError, ValueError):
        return False
    return True


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


class Times:
    """The time of each row as a number: nanoseconds for dates, or the numbers that were given."""

    def __init__(self, values: NDArray[Any], name: str, dates: bool) -> None:
        self.values, self.name, self.dates = values, name, dates

    @classmethod
    def read(cls, column: Any, name: str) -> Times:
        """Read numbers, dates or ISO texts; a missing time is an error.

        >>> Times.read(["2024-03-01", "2024-03-02"], "day").show(0)
        '2024-03-01'
        """
        series = as_frame(column, series=True)
        values = np.asarray(column if series is None else series.to_numpy())
        if values.dtype.kind in "iu":
            return cls(values.astype(np.int64), name, False)
        if values.dtype.kind == "f":
            missing, dates = ~np.isfinite(values), False
        else:
            try:
                values = values.astype("datetime64[ns]")
            except (TypeError, ValueError) as error:
                raise _no_time(values.tolist(), name) from error
            missing, dates = np.isnat(values), True
            values = values.astype(np.int64)
        if missing.any():
            raise TableError(f"time '{name}', row {int(missing.argmax())}: there is no time; leave such rows out.")
        return cls(values, name, dates)

    def show(self, row: int) -> str:
        """Return the time of a row as people write it."""
        value = self.values[row]
        if not self.dates:
            return f"{value:g}"
        text = str(np.datetime64(int(value), "ns"))
        return re.sub(r"(T00:00:00)?\.?0*$", "", text) if "T" in text else text

    def read_step(self, step: Step) -> Unit:
        """Return a step in the unit of the times.

        >>> Times.read(["2024-03-01"], "day").read_step("1 day").size == 86400 * 1e9
        True
        """
        if isinstance(step, str) and self.dates:
            written = _STEP.fullmatch(step)
            unit = written[2].lower() if written else ""
            unit = unit if unit in _NANOSECONDS else unit.removesuffix("s")
            n = float(written[1] or 1) if written else 0.0
            if n > 0 and unit in _NANOSECONDS:
                return Unit(n * _NANOSECONDS[unit])
            if n > 0 and n % 1 == 0 and unit in _MONTHS:
                return Unit(n * _MONTHS[unit], months=True)
        elif isinstance(step, int | float) and not isinstance(step, bool) and not self.dates and step > 0:
            return Unit(float(step))
        wanted = "text such as '1 day', '15 min', '2 h' or '1 month'" if self.dates else "a number above 0"
        raise TableError(f"step must be {wanted}, since time '{self.name}' holds "
                         f"{'dates' if self.dates else 'numbers'}; got {step!r}.")  # fmt: skip

    def gaps(self, at: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the steps from the rows before to rows, both in order, in the unit of the times."""
        values = self.values[order]
        return np.asarray(values[at] - values[at - 1], dtype=np.float64)

    def gaps_in_months(self, at: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the steps in months; NaN where two dates are not on the same day of a month, or both on its last."""
        dates = self.values[order].astype("datetime64[ns]")
        days, months = dates.astype("datetime64[D]"), dates.astype("datetime64[M]")
        place = dates - months.astype("datetime64[ns]")
        clock, is_last = dates - days.astype("datetime64[ns]"), (days + 1).astype("datetime64[M]") != months
        both_last = (clock[at] == clock[at - 1]) & is_last[at] & is_last[at - 1]
        whole = (place[at] == place[at - 1]) | both_last
        number = months.astype(np.int64)
        return np.where(whole, (number[at] - number[at - 1]).astype(np.float64), np.nan)

    def equal_steps(self, at: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.float64], Unit]:
        """Return the steps in units of the shortest one; months and years are equal steps, though their days differ."""
        gaps = self.gaps(at, order)
        if self.dates and not (gaps == gaps[0]).all():
            months = self.gaps_in_months(at, order)
            if months.min() >= 1:  # NaN is not
                return months / months.min(), Unit(float(months.min()), months=True)
        return gaps / gaps.min(), Unit(float(gaps.min()))


@dataclass(frozen=True)
class Unit:
    """A step of time: nanoseconds, months, or plain numbers."""

    size: float
    months: bool = False

    def written(self, dates: bool) -> str:
        """Return it as people write it."""
        if self.months:
            name, size = ("year", 12) if self.size % 12 == 0 else ("month", 1)
            return f"{self.size / size:g} {name}"
        if not dates:
            return f"{self.size:g}"
        units = (("day", 86400e9), ("h", 3600e9), ("min", 60e9), ("s", 1e9), ("ns", 1.0))
        name, nanoseconds = next((n, s) for n, s in units if self.size % s == 0 or s == 1.0)
        return f"{self.size / nanoseconds:g} {name}"


def place_in_time(
    times: Times, order: NDArray[np.int64], offsets: NDArray[np.int64], names: Any, step: Step
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row at each time, −1 where a step has none, and where each sequence begins.

    Parameters
    ----------
    times : Times
        The times of all rows.
    order : int array of shape (n_rows,)
        The rows, sequence after sequence, each in the order of time.
    offsets : int array of shape (n_sequences + 1,)
        Where each sequence begins in it.
    names : sequence
        What each sequence is called.
    step : number, str or None
        The time between two rows; None means that it is the same everywhere, "any" that only the order matters.
    """
    inside = np.ones(len(order), dtype=bool)
    inside[offsets[:-1]] = False  # the first row of each sequence has none before it
    at = np.flatnonzero(inside)
    gaps = times.gaps(at, order)

    def where(i: int) -> str:
        place = int(np.searchsorted(offsets, at[i], side="right")) - 1
        group = f" of group {names[place]!r}" if len(offsets) > 2 else ""
        return f"time '{times.name}', rows {order[at[i] - 1]} and {order[at[i]]}{group}"

    if (gaps == 0).any():
        i = int((gaps == 0).argmax())
        raise TableError(f"{where(i)}: both have the time {times.show(int(order[at[i]]))}; "
                         "a sequence has one row per time.")  # fmt: skip
    if not len(gaps) or (isinstance(step, str) and step == "any"):
        return order, offsets
    if step is None:
        steps, unit = times.equal_steps(at, order)
    else:
        unit = times.read_step(step)
        steps = (times.gaps_in_months(at, order) if unit.months else gaps) / unit.size
    whole = np.rint(steps)
    bad = ~((np.abs(steps - whole) <= _SLACK * np.maximum(whole, 1.0)) & (whole >= 1))  # NaN is bad
    if step is None:
        bad |= whole != 1
    if bad.any():
        i = int(bad.argmax())
        earlier, later = (times.show(int(order[at[i] + by])) for by in (-1, 0))
        such_as = repr(Unit(1.0, months=True).written(True) if unit.months else "1 day") if times.dates else "1"
        raise TableError(
            f"{where(i)}: from {earlier} to {later} is not one step of {unit.written(times.dates)}. Pass step=, such "
            f"as step={such_as}, which fills gaps with rows of missing cells, or step='any' where only the order "
            "matters."
        )
    advance = np.ones(len(order), dtype=np.int64)
    advance[at] = whole.astype(np.int64)
    place = np.cumsum(advance) - 1
    rows = np.full(int(place[-1]) + 1, -1, dtype=np.int64)
    rows[place] = order
    return rows, np.append(place[offsets[:-1]], len(rows)).astype(np.int64)
