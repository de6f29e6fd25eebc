"""Saved chains asked about a file: why a row is in its state, and which of two chains suits its sequences better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.decide.scores import Measure, measure_of
from bayeskit.errors import BayeskitError, TableError
from bayeskit.result import Result
from bayeskit.workflow.evaluation import PairedComparison, paired, refuse_other_classes
from bayeskit.workflow.sequences import judged_by, read_for

if TYPE_CHECKING:
    from bayeskit.sequence.state_explanation import StateExplanation
    from bayeskit.table.files import TableFile


@dataclass(frozen=True, repr=False)
class RowExplanation(Result):
    """Why a row of a file is in its state."""

    row: int  # of the file; the first is 1
    name: Any  # of its sequence
    rows: tuple[int | None, ...]  # of the file, in the order of time; None where a step has none
    said: StateExplanation


def explain_rows(
    model: Any, file: TableFile, row: int | None, doubtful: int, decimal: str | None = None
) -> list[RowExplanation]:
    """Explain the state of a row of a file, the first being 1, or of those whose state is least certain."""
    _, source = read_for(model, file, decimal)
    read, _ = model._asked(source, None, None, None)
    if row is None:
        unsure = np.asarray(model.smooth(source)).max(axis=1)
        wanted = np.argsort(unsure, kind="stable")[:doubtful].tolist()
    elif row > source.n_rows:
        raise TableError(f"{file.shown} has {source.n_rows} rows; there is no row {row}.")
    else:
        wanted = [row - 1]
    explained = []
    for each in wanted:
        place = int(np.flatnonzero(read.rows == each)[0])
        s = int(np.searchsorted(read.offsets, place, side="right")) - 1
        begin, end = int(read.offsets[s]), int(read.offsets[s + 1])
        rows = read.rows[begin:end]
        said = model.explain(source.take(rows[rows >= 0]), place - begin)
        shown = tuple(int(r) + 1 if r >= 0 else None for r in rows)
        explained.append(RowExplanation(each + 1, read.names[s], shown, said))
    return explained


@dataclass(frozen=True, repr=False)
class ChainComparison(Result):
    """Two chains on the same sequences, by how probable each finds them."""

    n_sequences: int
    n_rows: int
    # log P(sequence): of the first chain, of the second, and of the difference second − first, sequence by sequence
    log_likelihood: tuple[Measure, Measure, Measure]
    first_better: int
    second_better: int
    p_value: float  # of the sign test


def compare_chains(
    first: Any, second: Any, file: TableFile, target: str | None = None, decimal: str | None = None
) -> PairedComparison | ChainComparison:
    """Compare two chains on a file of sequences that they have not seen.

    Where both know a target they are compared by their states or classes, as classifiers are. Where the states are
    hidden they are compared by log P(sequence), so that they may have different numbers of states and emissions.
    """
    if type(first) is not type(second):
        names = " and ".join(type(each).__name__ for each in (first, second))
        raise BayeskitError(f"the models are a {names}, which do not answer the same question.")
    truth = target or (first.target_ if first.target_ == second.target_ else None)
    if truth is not None:
        refuse_other_classes(first, second)
        judged = [judged_by(model, file, truth, decimal) for model in (first, second)]
        comparison = paired([([posterior for posterior, _ in judged], judged[0][1])])
        assert comparison is not None  # rows without a label are refused where they are read
        return comparison
    refuse_other_columns(first, second)
    logs = []
    for model in (first, second):
        _, source = read_for(model, file, decimal)
        logs.append(np.asarray(model.log_likelihood(source)))
    return _compared(logs[0], logs[1], source.n_rows)


def refuse_other_columns(first: Any, second: Any) -> None:
    """Refuse two chains of which one gives probabilities and the other densities, or of different columns."""
    schemas = [{v.name: v for v in model.schema_} for model in (first, second)]
    if set(schemas[0]) != set(schemas[1]):
        apart = sorted(set(schemas[0]) ^ set(schemas[1]))
        raise BayeskitError(
            f"only one of the models has the column {apart[0]!r}; log-likelihoods can be compared for the same columns."
        )
    for name, variable in schemas[0].items():
        if variable.is_discrete != schemas[1][name].is_discrete:
            raise BayeskitError(
                f"column {name!r} has a density in one model and probabilities in the other, so that their "
                "log-likelihoods cannot be compared."
            )


def _compared(a: Any, b: Any, n_rows: int) -> ChainComparison:
    from scipy.stats import binomtest

    n = len(a)
    first, second, apart = (measure_of(np.array([each.sum(), (each**2).sum()]), n) for each in (a, b, b - a))
    better = int((a > b).sum()), int((b > a).sum())
    p_value = float(binomtest(better[0], sum(better)).pvalue) if sum(better) else 1.0
    return ChainComparison(n, n_rows, (first, second, apart), *better, p_value)
