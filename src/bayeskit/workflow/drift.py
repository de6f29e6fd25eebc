"""How rows differ from those that a model was trained on: levels, ranges and shares, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.result import Result
from bayeskit.table.column import Coded, Column
from bayeskit.workflow.wording import number, percent

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.workflow.training_table import TrainingTable

# Numbers are counted in ten bins of equal frequency, categories by their most frequent values.
BINS, MOST_LEVELS = 10, 50
# Rows that columns are described by, and columns that are described.
MOST_ROWS, MOST_COLUMNS = 50_000, 1_000
# A column has drifted where at least this share of the rows would have to change, and chance does not explain it.
LEAST_SHARE, LEVEL = 0.1, 1e-4
ENOUGH_ROWS = 30


@dataclass(frozen=True, repr=False)
class ColumnProfile(Result):
    """The shares of a column's values in training: of bins or of levels, of all others, and of missing cells."""

    edges: tuple[float, ...]  # of numbers: between the bins
    levels: tuple[Any, ...]  # of categories
    shares: tuple[float, ...]  # of bins or levels, then of all other values, then of missing cells
    ends: tuple[float, float] | None  # the least and the largest number

    @classmethod
    def of(cls, column: Column, numeric: bool) -> ColumnProfile:
        """Return the profile of a column."""
        known = ~column.missing()
        n = max(len(column), 1)
        missing = float((~known).sum() / n)
        if numeric and not isinstance(column, Coded):
            values = column.values[known].astype(np.float64)
            if not len(values):
                return cls((), (), (0.0, 0.0, missing), None)
            edges = np.unique(np.quantile(values, np.arange(1, BINS) / BINS))
            counts = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)
            ends = (float(values.min()), float(values.max()))
            return cls(tuple(edges.tolist()), (), (*(counts / n).tolist(), 0.0, missing), ends)
        cells = column.codes[known] if isinstance(column, Coded) else column.values[known]
        different, counts = np.unique(cells, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
        levels = [column.levels[different[k]] if isinstance(column, Coded) else different[k].item() for k in order]
        shares = (counts[order] / n).tolist()
        return cls((), tuple(levels), (*shares, float(known.sum() / n - sum(shares)), missing), None)

    def counted(self, column: Any) -> NDArray[np.int64]:
        """Return the counts of an Arrow column in the places of ``shares``."""
        import pyarrow as pa
        import pyarrow.compute as pc

        n_missing = column.null_count
        column = column.drop_null()
        if not self.levels:
            values = np.asarray(column.cast(pa.float64()))
            values = values[~np.isnan(values)]
            n_missing += len(column) - len(values)
            counts = np.bincount(np.searchsorted(self.edges, values, side="right"), minlength=len(self.edges) + 1)
            return np.array([*counts, 0, n_missing])
        known = pa.array(list(self.levels)).cast(column.type)
        places = np.asarray(pc.fill_null(pc.index_in(column, value_set=known), len(known)))
        return np.array([*np.bincount(places, minlength=len(known) + 1), n_missing])


@dataclass(frozen=True, repr=False)
class Profile(Result):
    """What the columns of a training table held; kept with the model."""

    n_rows: int
    columns: Mapping[str, ColumnProfile]

    @classmethod
    def of(cls, table: TrainingTable) -> Profile:
        """Return the profile of a training table; of many rows, that of a random sample."""
        source, labels = table.features.source, table.labels
        n_rows = source.n_rows
        rows = slice(None) if n_rows <= MOST_ROWS else np.random.default_rng(0).choice(n_rows, MOST_ROWS, replace=False)
        numeric = {note.name for note in table.features.notes if note.kind != "categorical"}
        texts = {note.name for note in table.features.notes if note.kind == "text"}  # hardly two are alike
        columns = {
            name: ColumnProfile.of(source.column(j).take(rows), name in numeric)  # type: ignore[arg-type]
            for j, name in enumerate(source.names[:MOST_COLUMNS])
            if name not in texts
        }
        shares = (table.n_class / table.n_class.sum()).tolist()
        columns[table.target] = ColumnProfile((), tuple(labels.classes.tolist()), (*shares, 0.0, 0.0), None)
        return cls(min(n_rows, MOST_ROWS), columns)

    def to_json(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        # Pairs, since a name may be one that the file's format keeps.
        return {"n_rows": self.n_rows, "columns": [[name, vars(each)] for name, each in self.columns.items()]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Profile:
        """Read what :meth:`to_json` gave; the file may be untrusted."""
        columns = {}
        for name, each in data["columns"]:
            edges, shares = (tuple(map(float, each[key])) for key in ("edges", "shares"))
            levels = tuple(each["levels"])
            if len(shares) != (len(levels) or len(edges) + 1) + 2 or sorted(edges) != list(edges):
                raise ValueError(f"the profile of column {name!r:.100} does not fit")
            if not all(isinstance(level, str | int | float) for level in levels):
                raise ValueError(f"the levels of column {name!r:.100} are no values")
            ends = None
            if each["ends"] is not None:
                low, high = map(float, each["ends"])
                ends = (low, high)
            columns[str(name)] = ColumnProfile(edges, levels, shares, ends)
        return cls(int(data["n_rows"]), columns)


@dataclass(frozen=True, repr=False)
class ColumnDrift(Result):
    """A column whose shares differ from those in training."""

    name: str
    distance: float  # the share of rows that would have to change: half the sum of the differences of shares
    what: str  # the largest change, in words


class DriftCounter:
    """Counts rows batch by batch, in constant memory, and compares them with a profile."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._counts: dict[str, NDArray[np.int64]] = {}
        self._outside: dict[str, int] = {}

    def add(self, table: pa.Table, without: frozenset[str] = frozenset()) -> None:
        """Count a batch of the model's columns; ``without`` are columns that the file does not have."""
        for name in table.column_names:
            profile = self._profile.columns.get(name)
            if profile is None or name in without:
                continue
            counts = profile.counted(table[name])
            self._counts[name] = counts if name not in self._counts else self._counts[name] + counts
            if profile.ends is not None:
                values = np.asarray(table[name].drop_null().cast("float64"))
                outside = int(((values < profile.ends[0]) | (values > profile.ends[1])).sum())
                self._outside[name] = self._outside.get(name, 0) + outside

    @property
    def drifts(self) -> list[ColumnDrift]:
        """The columns that differ by more than chance, the largest difference first."""
        drifted = []
        for name, counts in self._counts.items():
            profile, n = self._profile.columns[name], int(counts.sum())
            if n < ENOUGH_ROWS:
                continue
            before, now = np.array(profile.shares), counts / n
            distance = float(np.abs(before - now).sum() / 2)
            if distance >= LEAST_SHARE and _p_value(before * self._profile.n_rows, counts) < LEVEL / len(self._counts):
                drifted.append(ColumnDrift(name, distance, _words(profile, before, now, self._outside.get(name, 0), n)))
        return sorted(drifted, key=lambda drift: -drift.distance)


def _p_value(before: NDArray[np.float64], now: NDArray[np.int64]) -> float:
    """Return the p-value of the G test that both have the same shares."""
    from scipy.special import chdtrc, xlogy

    both = np.stack([before, now])
    expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0) / both.sum()
    g = 2 * float((xlogy(both, both) - xlogy(both, np.where(expected > 0, expected, 1.0))).sum())
    return float(chdtrc(max(int((both.sum(axis=0) > 0).sum()) - 1, 1), max(g, 0.0)))


def _words(profile: ColumnProfile, before: NDArray[np.float64], now: NDArray[np.float64], outside: int, n: int) -> str:
    k = int(np.abs(now - before).argmax())
    if outside > n / 10 and profile.ends is not None:
        low, high = (number(end) for end in profile.ends)
        return f"{percent(outside / n)} of the rows are outside of {low} to {high}, where all rows of the training were"
    if k == len(before) - 1:
        place = "missing"
    elif k == len(before) - 2:
        place = "other values" if profile.levels else "none"
    elif profile.levels:
        place = repr(profile.levels[k])
    elif k == 0:
        place = f"below {number(profile.edges[0])}"
    elif k == len(profile.edges):
        place = f"from {number(profile.edges[-1])}"
    else:
        place = f"{number(profile.edges[k - 1])} to {number(profile.edges[k])}"
    shares = [percent(float(share)) if share else "0 %" for share in (before[k], now[k])]
    return f"{place}: {shares[0]} in training, {shares[1]} here"
