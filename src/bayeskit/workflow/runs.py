"""A classifier in cross-validation: its counts fold by fold, and its predictions of the rows left out."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayeskit.classify.base import BayesClassifier
from bayeskit.classify.table_classifier import TableClassifier
from bayeskit.decide.loss import Loss
from bayeskit.decide.scores import Scores
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.plan import Plan
from bayeskit.progress import Progress, renamed, report_step
from bayeskit.table.read import Source
from bayeskit.workflow.candidates import Candidate
from bayeskit.workflow.fold_counts import FoldCounts, count_folds, count_folds_of_scan
from bayeskit.workflow.fold_plan import ScanFolds
from bayeskit.workflow.folds import Fold, Folds
from bayeskit.workflow.leaderboard import Trial
from bayeskit.workflow.outside import OutsideClassifier, is_outside


class Run:
    """A classifier in cross-validation: its posterior of every row, its times, or why it cannot be fitted."""

    def __init__(self, name: str, model: Candidate, data: Folds, kinds: Mapping[str, str]) -> None:
        self.outside = is_outside(model)
        counts = isinstance(model, BayesClassifier) and not self.outside
        self.name, self.model, self.kinds = name, model, {} if self.outside else dict(kinds)
        if counts:
            # A model that only counts values cuts a number into bins, whatever density was asked for.
            self.kinds = {column: kind if model._takes_kind(kind) else "numeric" for column, kind in kinds.items()}
        parameters = {} if self.outside else model.get_params(deep=False)
        if "kinds" in parameters:
            self.kinds |= _said_kinds(parameters["kinds"], data.source.names)
            model.set_params(kinds=self.kinds or None)
        self.bins = data.bins_of(str(parameters.get("numeric", "")), int(parameters.get("bins", 1)), self.kinds)
        # Which counts the model learns from; models that say the same share them.
        self.counted_as = model._counted_as() if counts else None
        # Whether the counts of a fold are the sum of the others: no structure that needs all rows, and no bins, but
        # for those that a sample cuts for all folds.
        self.adds = self.counted_as is not None and (self.bins is None or data.held.scan is not None)
        self.posterior = np.zeros((len(data.y), len(data.held.classes)))
        self.fit_seconds = self.predict_seconds = 0.0
        self.refused = ""

    def settings(self, binned: frozenset[str] = frozenset()) -> dict[str, Any]:
        """Return the model's parameters for a table in which some columns are bins already."""
        parameters: dict[str, Any] = self.model.get_params(deep=False)
        if "kinds" in parameters:
            parameters["kinds"] = {name: kind for name, kind in self.kinds.items() if name not in binned} or None
        return parameters

    def plan(self, data: Folds) -> Plan:
        """Return how rows are counted: under the schema of all rows that are held."""
        settings = self.settings()
        numeric, bins = str(settings.get("numeric", "")), int(settings.get("bins", 1))
        schema = learn_schema(data.source, self.kinds, numeric, bins, y=data.y, texts=True)
        plan = Plan(self.model._as_settings(), data.held.target or "", schema)
        assert self.counted_as is not None
        return plan if self.counted_as[0] == "values" else plan.with_families(str(self.counted_as[0]))

    def predict(self, counts: Any, data: Folds, k: int, test: Source, settings: dict[str, Any], shared: float) -> None:
        """Predict the rows of a fold from the counts of the others, which took ``shared`` seconds.

        In place of counts there is the fitted model, where it counts nothing.
        """
        if self.refused or not test.n_rows:
            return
        start = time.process_time()
        try:
            whole = isinstance(counts, TableClassifier | OutsideClassifier)
            fitted: Any = counts if whole else type(self.model).from_counts(counts, **settings)
            # Probabilities are made when they are first needed; that time belongs to the fit.
            fitted.predict_proba(test.take(np.arange(1)))
            half = time.process_time()
            places = np.searchsorted(data.held.classes, fitted.classes_)
            self.posterior[data.rows(k), places] = fitted.predict_proba(test)
        except ImpossibleEvidenceError:
            self.refused = "a row has probability 0 under every class, since some value has probability 0."
            return
        except BayeskitError as error:
            self.refused = str(error)
            return
        self.fit_seconds += half - start + shared
        self.predict_seconds += time.process_time() - half

    def trial(self, data: Folds, loss: Loss | None) -> Trial:
        """Return the result."""
        if self.refused:
            return Trial(self.name, self.model, refused=self.refused)
        scored = data.scored
        return Trial(
            self.name,
            self.model,
            Scores.of(self.posterior[scored], data.y[scored], data.held.classes.tolist(), loss),
            data.unsorted(self.posterior),
            self.fit_seconds,
            self.predict_seconds,
            self.adds,
            from_sample=not self.adds and data.held.scan is not None,
        )


def _said_kinds(kinds: Any, names: tuple[str, ...]) -> dict[str, str]:
    """Return the kinds that an estimator was given, by the names of the columns."""
    if isinstance(kinds, str):
        return dict.fromkeys(names, kinds)
    return {names[key] if isinstance(key, int) else key: kind for key, kind in (kinds or {}).items()}


class Steps:
    """The progress of a cross-validation: a step is one fold of one classifier."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self._done, self._total = progress, 0, total

    def begin(self, name: str) -> None:
        """Report that a fold of this classifier begins."""
        report_step(self.progress, name, self._done, self._total)
        self._done += 1


def distinct_runs(runs: list[Run], data: Folds) -> list[Run]:
    """Return the runs without duplicates: without numeric columns, models that differ only there are equal."""
    distinct: dict[Any, Run] = {}
    for run in runs:
        parameters = run.settings()
        if not data.numbers(run.kinds):
            parameters = {name: value for name, value in parameters.items() if name not in ("numeric", "bins")}
        distinct.setdefault((type(run.model), repr(sorted(parameters.items()))), run)
    return list(distinct.values())


def grouped(runs: list[Run]) -> list[list[Run]]:
    """Return the runs in groups that learn from the same counts; a run without shared counts is a group of its own."""
    groups: dict[Any, list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.name if run.counted_as is None else run.counted_as].append(run)
    return list(groups.values())


def add_counts(
    runs: list[Run], data: Folds, folds: ScanFolds | None, steps: Steps, finish: Callable[[Run], None]
) -> dict[str, Any]:
    """Count each fold once for each group of models and add the others; return the counts of all rows of a scan."""
    groups = grouped(runs)
    totals: dict[str, Any] = {}
    # Rows in memory are read again for each group, so that the counts of one are held; a scan is read once for all.
    for some in [[group] for group in groups] if folds is None else [groups] if groups else []:
        start = time.process_time()
        plans = [_plan(group, data) for group in some]
        able = [(group, plan) for group, plan in zip(some, plans, strict=True) if plan is not None]
        counted = _count(data, folds, [plan for _, plan in able], steps)
        seconds = (time.process_time() - start) / (len(some) * data.n)
        for (group, plan), parts, why in zip(able, counted.counts, counted.refused, strict=True):
            for run in group if why else ():
                run.refused = why
            _predict_group(group, parts, data, seconds, steps, finish)
            if folds is not None and not why:
                totals |= {run.name: plan.merge(parts) for run in group if not run.refused}
    return totals


def _plan(group: list[Run], data: Folds) -> Plan | None:
    """Return the plan of the models that share their counts; None where they cannot be fitted."""
    try:
        return group[0].plan(data)
    except BayeskitError as error:
        for run in group:
            run.refused = str(error)
    return None


def _count(data: Folds, folds: ScanFolds | None, plans: list[Plan], steps: Steps) -> FoldCounts:
    held = data.held
    if held.scan is None or folds is None:
        return count_folds((data.labelled(k) for k in range(data.n)), plans)
    return count_folds_of_scan(held.scan, folds, plans, renamed(steps.progress, "counting all rows"))


def _predict_group(
    group: list[Run], parts: tuple[Any, ...], data: Folds, seconds: float, steps: Steps, finish: Callable[[Run], None]
) -> None:
    for k in data.tested:
        start = time.process_time()
        others = [part for number, part in enumerate(parts) if part is not None and data.learns(number, k)]
        counts = sum(others[1:], start=others[0]) if others else None
        shared = seconds + time.process_time() - start
        for run in group:
            steps.begin(run.name)
            run.predict(counts, data, k, data.part(k), run.settings(), shared)
    for run in group:
        finish(run)


def fit_each_fold(runs: list[Run], data: Folds, steps: Steps, finish: Callable[[Run], None]) -> None:
    """Learn bins in each fold, count its rows once for each group of models, and free it before the next."""
    for k in data.tested:
        tables = _BinnedTables(data, k)
        for group in grouped(runs):
            counts, seconds = _counted(group, tables.count)
            for run in group:
                steps.begin(run.name)
                if not run.refused:
                    fold = tables.of(run)
                    run.predict(counts, data, k, fold.test, run.settings(fold.binned), seconds)
                if k == data.tested[-1]:
                    finish(run)


class _BinnedTables:
    """One fold under the bins of each model; models that cut the same bins share the table."""

    def __init__(self, data: Folds, k: int) -> None:
        self._data, self._k = data, k
        self._folds: dict[Any, Fold] = {}

    def of(self, run: Run) -> Fold:
        key = (run.bins, tuple(sorted(run.kinds.items())))
        if key not in self._folds:
            self._folds[key] = self._data.fold(self._k, run.bins, run.kinds)
        return self._folds[key]

    def count(self, run: Run) -> Any:
        fold = self.of(run)
        if run.outside:
            return OutsideClassifier.fit(run.model, fold.train)
        model = type(run.model)(**run.settings(fold.binned))
        if isinstance(model, TableClassifier):
            return model.fit(fold.train.source, fold.train.classes[fold.train.y])
        return model.count(fold.train)


def _counted(group: list[Run], count: Callable[[Run], Any]) -> tuple[Any, float]:
    """Return the counts of the first model of a group that can be fitted, and their CPU time."""
    for run in group:
        if not run.refused:
            start = time.process_time()
            try:
                return count(run), time.process_time() - start
            except BayeskitError as error:
                run.refused = str(error)
    return [], 0.0
