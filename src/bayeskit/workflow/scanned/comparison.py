"""Comparison of classifiers on a table of any size: counts of all rows per fold, scored on a sample of rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.loss import Loss, read_loss
from bayeskit.errors import BayeskitError, TableError, warn_caller
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.labelled import read_labelled
from bayeskit.learn.learner import Learner
from bayeskit.learn.plan import Plan
from bayeskit.progress import Progress, renamed
from bayeskit.table.labels import read_labels
from bayeskit.table.names import not_found
from bayeskit.table.read import Source
from bayeskit.table.scan import Scan
from bayeskit.table.scan.sample import Sample, draw_sample
from bayeskit.workflow import compare as in_memory
from bayeskit.workflow.candidates import MOST_BYTES, Candidate, candidates, too_large
from bayeskit.workflow.fold_plan import FoldPlan
from bayeskit.workflow.folds import Folds
from bayeskit.workflow.leaderboard import Leaderboard, Trial
from bayeskit.workflow.scanned.folds import ScanFolds, count_folds


@dataclass(frozen=True)
class ScanRows:
    """A table of any size with a sample of its rows, ready to be compared on."""

    scan: Scan  # the target and the columns to learn from, as models read them
    target: str
    sample: Sample
    source: Source  # the columns of the sample
    y: NDArray[Any]  # (n_sampled,) class positions of the sample
    classes: NDArray[Any]  # of all rows


@dataclass(frozen=True)
class ScanComparison:
    """A leaderboard, and the counts to fit its best classifier from."""

    board: Leaderboard
    rows: ScanRows
    counts: Mapping[str, Any] = field(
        default_factory=dict
    )  # classifier → counts of all rows, where it learns from them

    def fit(self, trial: Trial, progress: Progress | None = None) -> Any:
        """Return a classifier of the board fitted on all rows: from its counts, or by the passes that it needs."""
        model, rows = trial.model, self.rows
        assert model is not None
        settings = model.get_params(deep=False)
        if trial.name in self.counts:
            return type(model).from_counts(self.counts[trial.name], target=rows.target, **settings)
        if isinstance(model, Learner) and type(model)._passes is not Learner._passes:
            return type(model)(**settings).fit(
                replace(rows.scan, progress=renamed(progress, trial.name)), target=rows.target
            )
        warn_caller(f"{trial.name} needs the rows themselves: it is fitted on the sample of {len(rows.y):,} rows.")
        return in_memory.fit_candidate(model, rows.source, rows.y, rows.classes, rows.target)


def compare_scan(
    scan: Scan,
    target: str,
    models: Sequence[str] | None,
    folds: int,
    random_state: int,
    kinds: Mapping[str, str] | None,
    loss: Any,
    by: str | None,
    progress: Progress | None,
) -> Leaderboard:
    """Compare classifiers on a scan, as :func:`bayeskit.compare` describes it."""
    tried = candidates(models)
    refuse_unreadable(scan, target)
    sample = draw_sample(scan, target, random_state, progress=renamed(progress, "sampling rows"))
    rows = read_labelled(sample.table, None, None, target, None, "comparison")
    classes = read_labels(list(sample.n_class))[0]
    ready = ScanRows(scan, target, sample, rows.source, np.searchsorted(classes, rows.classes)[rows.y], classes)
    if sample.is_all:  # a small table, whatever it came as
        return in_memory.compare(
            sample.table, target=target, models=models, folds=folds, random_state=random_state, kinds=kinds, loss=loss,
            by=by, progress=progress,
        )  # fmt: skip
    found = cross_validate_scan(
        ready,
        tried,
        FoldPlan(folds),
        random_state=random_state,
        kinds=kinds,
        loss=None if loss is None else read_loss(loss, classes),
        by=by,
        all_asked=models is not None,
        progress=progress,
    )
    return found.board


def refuse_unreadable(scan: Scan, target: str) -> None:
    """Raise an error for a scan without the target, or one that can be read only once: two passes are needed."""
    if target not in scan.names:
        raise TableError(f"{scan.shown}: {not_found('column', target, scan.names)}")
    if scan.once:
        raise TableError(
            f"{scan.shown} can be read only once, and a comparison reads the rows twice; pass files instead."
        )
    if len(scan.names) < 2:
        raise TableError(f"{scan.shown} has the target and no other column to learn from.", "delimiter")


def cross_validate_scan(
    rows: ScanRows,
    models: Mapping[str, Candidate],
    plan: FoldPlan,
    *,
    random_state: int = 0,
    kinds: Mapping[str, str] | None = None,
    loss: Loss | None = None,
    by: str | None = None,
    all_asked: bool = False,
    progress: Progress | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> ScanComparison:
    """Cross-validate classifiers on a scan.

    Models that learn from the same counts share them: one pass counts all rows in each fold. Each row of the sample is
    predicted from the counts of all rows of the other folds. Bins are cut by the sample. A model that needs the rows
    themselves is cross-validated within the sample.
    """
    in_memory.refuse_one_class(rows.classes)
    by = in_memory.deciding_measure(by, loss)
    wanted = kinds or {}
    left_out = {}
    if not all_asked:
        left_out = too_large(models, rows.source, rows.y, len(rows.classes), wanted, MOST_BYTES // plan.n)
    folds = ScanFolds.of_plan(plan, random_state, rows.sample)
    part = folds.of_sample(rows.sample)
    data = Folds(rows.source, rows.y, part, wanted, forward=plan.how == "time")
    tried = {name: model for name, model in models.items() if name not in left_out}
    runs = in_memory.distinct_runs(
        [in_memory.Run(name, model, data, len(rows.classes), wanted) for name, model in tried.items()], data
    )
    adding = [run for run in runs if run.counted_as is not None]
    groups = in_memory.grouped(adding)
    start = time.process_time()
    plans = [_plan(group[0], rows) for group in groups]
    counts = _count_groups(groups, plans, rows, folds, progress)
    shared = (time.process_time() - start) / max(1, len(groups) * folds.n)
    steps = in_memory.Steps(progress, len(runs) * len(data.tested))

    def finish(run: in_memory.Run) -> None:
        if on_trial is not None:
            on_trial(run.trial(data, rows.classes, loss))

    with in_memory.quiet():
        for group, shared_plan, parts in zip(groups, plans, counts, strict=True):
            _predict_group(group, shared_plan, parts, data, rows, shared, steps, finish)
        in_memory.fit_each_fold([run for run in runs if run.counted_as is None], data, steps, finish)
    trials = [in_memory.majority(data, rows.classes, loss)]
    for run in runs:
        trial = run.trial(data, rows.classes, loss)
        trials.append(replace(trial, added=run in adding, from_sample=run not in adding and not rows.sample.is_all))
    board = Leaderboard((), tuple(rows.classes.tolist()), part, loss, by, left_out, data.unsorted(data.scored))
    totals = {
        run.name: shared_plan.merge(parts)
        for group, shared_plan, parts in zip(groups, plans, counts, strict=True)
        for run in group
        if parts and not run.refused
    }
    return ScanComparison(board.in_order(trials), rows, totals)


def _count_groups(
    groups: list[list[in_memory.Run]],
    plans: list[Plan],
    rows: ScanRows,
    folds: ScanFolds,
    progress: Progress | None,
) -> list[tuple[Any, ...]]:
    """Return the counts of each group in each fold, none where the group was refused; one pass for all."""
    if not groups:
        return []
    found = count_folds(rows.scan, plans, folds, renamed(progress, "counting all rows"))
    for group, why in zip(groups, found.refused, strict=True):
        for run in group if why else ():
            run.refused = why
    return [() if why else parts for parts, why in zip(found.counts, found.refused, strict=True)]


def _plan(run: in_memory.Run, rows: ScanRows) -> Plan:
    settings = run.settings()
    numeric, bins = str(settings.get("numeric", "")), int(settings.get("bins", 1))
    schema = learn_schema(rows.source, run.kinds, numeric, bins, y=rows.y)
    plan = Plan(run.model._as_settings(), rows.target, schema)
    assert run.counted_as is not None
    return plan if run.counted_as[0] == "values" else plan.with_families(str(run.counted_as[0]))


def _predict_group(
    group: list[in_memory.Run],
    plan: Plan,
    parts: tuple[Any, ...],
    data: Folds,
    rows: ScanRows,
    shared: float,
    steps: in_memory.Steps,
    finish: Callable[[in_memory.Run], None],
) -> None:
    for k in data.tested:
        others = [part for other, part in enumerate(parts) if part is not None and data.learns(other, k)]
        try:
            counts = plan.merge(others) if others else None
        except BayeskitError as error:
            for run in group:
                run.refused = run.refused or str(error)
        for run in group:
            steps.begin(run.name)
            run.labels = rows.classes
            if data.part(k).n_rows and not run.refused:
                run.predict(counts, data.part(k), data.rows(k), run.settings(), shared)
    for run in group:
        finish(run)
