"""Fitting from a scan: first the bins, if there are any, then the passes that the model needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeskit.counts.table import TableCounts
from bayeskit.defaults import BINS
from bayeskit.errors import TableError
from bayeskit.learn.edges import collect_numbers, cut
from bayeskit.learn.in_database import count_in_database, word_of
from bayeskit.learn.plan import Part, Plan, counting
from bayeskit.progress import Progress
from bayeskit.table.discretize import METHODS
from bayeskit.table.names import not_found
from bayeskit.table.scan.pieces import Scan
from bayeskit.table.schema import Schema, Variable

if TYPE_CHECKING:
    from bayeskit.learn.learner import Learner


# No model asks for more.
_MOST_PASSES = 10


def make_plan(model: Learner, scan: Scan, target: str | None, weight: Any, progress: Progress | None = None) -> Plan:
    """Return the plan of a model for a scan; where columns are binned, one pass finds the edges."""
    target, features = _target_and_features(scan, target, weight)
    # What the reader did to raw columns becomes part of the model.
    conversions = getattr(scan.conversion, "conversions", None)
    schema = Schema(tuple(Variable(name, "unknown") for name in features), conversions=conversions)
    plan = Plan(model, target, schema, weight)
    places, asked = _binned(model, scan, features)
    if not places:
        return plan
    if scan.once:
        raise TableError(
            f"{scan.shown} can be read only once, and bins need a separate pass. Give a source that can be read again, "
            "or kinds whose numbers are not cut."
        )
    names = [features[j] for j in places]
    read = scan.select([*names, target, *([] if weight is None else [weight])])
    part = Plan(model, target, Schema(tuple(Variable(name, "unknown") for name in names)), weight)
    seen = read.run(*collect_numbers(part, range(len(names)), asked), progress)
    if seen.classes is None:
        raise _no_label(target)
    variables = list(plan.schema.variables)
    for j, variable in zip(places, cut(seen, names, asked, getattr(model, "bins", BINS)), strict=True):
        variables[j] = variable
    return Plan(model, target, schema.with_variables(variables), weight)


def _target_and_features(scan: Scan, target: str | None, weight: Any) -> tuple[str, list[str]]:
    """Return the columns of labels and of features; refuse names that are not columns of the scan."""
    if target is None:
        raise TableError("a scan needs target=, the name of the column that holds the labels.")
    if weight is not None and not isinstance(weight, str):
        raise TableError(f"for a scan sample_weight must be the name of a column; got {type(weight).__name__}.")
    for name in (target, *([] if weight is None else [weight])):
        if name not in scan.names:
            raise TableError(f"{scan.shown}: {not_found('column', name, scan.names)}")
    features = [name for name in scan.names if name not in (target, weight)]
    if not features:
        raise TableError(
            f"{scan.shown} has no column besides the target {target!r}, so there is nothing to learn from."
        )
    return target, features


def count_scan(
    model: Learner, scan: Scan, y: Any, weight: Any, target: str | None, progress: Progress | None = None
) -> Any:
    """Return the counts of all rows of a scan, by as many passes as the model needs."""
    if y is not None:
        raise TableError("a scan takes target=, the name of the column that holds the labels, instead of y.")
    progress = progress or scan.progress
    plan = make_plan(model, scan, target, weight, progress)
    if model._statistic is TableCounts and (in_database := count_in_database(plan, scan, progress)) is not None:
        if in_database.counts is None:
            raise _no_label(str(target))
        return in_database.counts
    passes = model._passes(plan)
    asked = next(passes)
    for _ in range(_MOST_PASSES):
        answer = scan.run(*asked, progress)
        if isinstance(answer, Part):
            if answer.counts is None:
                raise _no_label(str(target))
            answer = Part(answer.counts.narrow())
        try:
            asked = passes.send(answer)
        except StopIteration as end:
            counts = end.value
            break
        if scan.once:
            raise TableError(
                f"{scan.shown} can be read only once, and {type(model).__name__} needs more than one pass."
            )
    return counts


def count_more(model: Learner, scan: Scan, y: Any, weight: Any, target: str | None, before: Any) -> Any:
    """Return the counts of the rows of a scan under the columns, bins and structure of earlier counts."""
    if y is not None:
        raise TableError("a scan takes target=, the name of the column that holds the labels, instead of y.")
    schema = before.schema
    if schema.conversions is not None and scan.conversion is None:
        raise TableError(
            f"{scan.shown}: the model reads converted columns, such as dates in parts; pass the rows as a frame."
        )
    target, _ = _target_and_features(scan, target, weight)
    read = scan.select([*schema.names, target, *([] if weight is None else [weight])])
    part = read.run(*counting(Plan(model, target, schema, weight, before)), scan.progress)
    if part.counts is None:
        raise _no_label(target)
    return part.counts.narrow()


def _binned(model: Any, scan: Scan, features: list[str]) -> tuple[list[int], list[str]]:
    """Return the numeric columns that are cut into bins, by position, and the method for each."""
    asked = [word_of(model, scan, j, name) for j, name in enumerate(features)]
    places = [j for j, word in enumerate(asked) if word in METHODS]
    return places, [asked[j] for j in places]


def _no_label(target: str) -> TableError:
    return TableError(f"the target {target!r} has no value in any row, so there is nothing to learn from.")
