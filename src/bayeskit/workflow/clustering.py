"""Clusters from a file: the table read, the number of clusters chosen, and the cluster of each row."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeskit.errors import TableError
from bayeskit.kinds import words
from bayeskit.mixture.gaussian_mixture import GaussianMixture
from bayeskit.mixture.latent_class import LatentClass
from bayeskit.result import Result

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.table.files import TableFile
    from bayeskit.table.read_result import ColumnNote

Way = Literal["latent-class", "gaussian", "k-means"]
WAYS: tuple[Way, ...] = ("latent-class", "gaussian", "k-means")


@dataclass(frozen=True, repr=False)
class Clustering(Result):
    """The result of clustering a file."""

    model: Any
    table: pa.Table  # the file, with the columns "cluster" and "probability"
    notes: tuple[ColumnNote, ...]

    def __repr__(self) -> str:
        return str(self.model.summary())


def cluster_file(
    file: TableFile,
    way: Way = "latent-class",
    n_clusters: int | Literal["auto"] = "auto",
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    decimal: str | None = None,
    random_state: int = 0,
) -> Clustering:
    """Read a file into memory, infer the kinds of its columns, and fit a mixture.

    ``way`` is "latent-class" for columns of any kind, "gaussian" for correlated numbers, or "k-means"; the last two
    leave out columns that are not numbers.
    """
    from bayeskit.kinds.infer import infer_kinds, read_features
    from bayeskit.kinds.written import read_columns

    if way not in WAYS:
        raise TableError(f"the model must be one of {', '.join(WAYS)}; got {way!r}.")
    given = dict(kinds or {})
    file.refuse_absent((*ignore, *given))
    raw = file.read_written()
    written = read_columns(raw, "", given, ignore, decimal=decimal, **file.form)
    notes = infer_kinds(written.table, "", ignore, given, written)
    features = read_features(written.table, notes)
    source = features.source
    model: Any
    if way == "latent-class":
        model = LatentClass(n_clusters, kinds=features.kinds, random_state=random_state)
    else:
        numbers = tuple(note.name for note in notes if _is_number(note.kind))
        if not numbers:
            raise TableError(
                f"{file.raw.shown} has no column of numbers; choose latent-class, or say which columns are numbers.",
                "kinds",
            )
        source = source.select(numbers)
        if way == "gaussian":
            model = GaussianMixture(n_clusters, random_state=random_state)
        elif n_clusters == "auto":
            raise TableError("k-means needs a number of clusters; give it, or choose gaussian or latent-class.")
        else:
            model = GaussianMixture(n_clusters, covariance="fixed", hard=True, random_state=random_state)
    model.fit(source)
    posterior = model.predict_proba(source)
    return Clustering(model, _with_clusters(raw, model.labels_, posterior), notes)


def _is_number(kind: str) -> bool:
    return kind == "numeric" or (kind in words() and not words()[kind].coded and words()[kind].plain)


def _with_clusters(table: pa.Table, labels: Any, posterior: Any) -> pa.Table:
    import pyarrow as pa

    names = ["cluster", "probability"]
    while names[0] in table.column_names or names[1] in table.column_names:
        names = [f"{name}_" for name in names]  # the file has a column of that name
    best = np.round(posterior[np.arange(len(labels)), labels], 6)
    return table.append_column(names[0], pa.array(labels)).append_column(names[1], pa.array(best))
