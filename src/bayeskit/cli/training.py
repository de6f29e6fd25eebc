"""Training from a file: the table read, classifiers compared, and the best one fitted on all rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeskit.classify.compare import Leaderboard
    from bayeskit.decide.loss import Loss
    from bayeskit.table.files import TableFile
    from bayeskit.table.kinds import Features
    from bayeskit.table.target import Target


@dataclass(frozen=True)
class Plan:
    """A table that was read and is ready to learn from."""

    file: TableFile
    name: str  # of the target
    target: Target
    features: Features
    loss: Loss | None


@dataclass(frozen=True)
class Training:
    """What training gave."""

    plan: Plan
    board: Leaderboard
    model: Any  # the best one, fitted on all rows
    folds: int
    seed: int

    @property
    def measures(self) -> dict[str, str]:
        """The measures that classifiers are compared by, and their titles; a loss adds one."""
        titles = {"error": "error", "log_loss": "log-loss", "brier": "Brier", "calibration_error": "calibration"}
        return titles if self.board.loss is None else {**titles, "mean_loss": "mean loss"}


def read_plan(
    file: TableFile,
    target: str,
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    loss: Callable[[Sequence[Any]], Loss | None] = lambda classes: None,
) -> Plan:
    """Read a file whole and say what its columns are; ``loss`` gives the costs once the classes are known."""
    import pyarrow as pa

    from bayeskit.errors import TableError
    from bayeskit.table.kinds import infer_kinds, read_features
    from bayeskit.table.nearest import not_found
    from bayeskit.table.target import read_target

    for name in (target, *ignore, *(kinds or {})):
        if name not in file.names:
            raise TableError(f"{file.name!r}: {not_found('column', name, file.names)}")
    if len(file.names) < 2:
        raise TableError(
            f"{file.name!r} has the target and no other column to learn from; if its cells are parted by something "
            "other than a comma, say --delimiter."
        )
    # A column that a person calls categorical is read as text where its cells would otherwise be dates.
    table = file.read()
    for name, kind in (kinds or {}).items():
        if kind == "categorical" and pa.types.is_temporal(table[name].type):
            table = table.set_column(file.names.index(name), name, table[name].cast(pa.string()))
    found = read_target(table, target)
    features = read_features(found.table, infer_kinds(found.table, target, ignore, kinds))
    return Plan(file, target, found, features, loss(found.classes.tolist()))


def train(
    plan: Plan, models: Sequence[str] | None, folds: int, seed: int, progress: Callable[[str], None] | None = None
) -> Training:
    """Compare the classifiers and fit the best by log-loss on all rows."""
    from bayeskit.classify.compare import candidates, cross_validate, fit_read

    source, found = plan.features.source, plan.target
    tried = candidates(models, len(source.names))
    board = cross_validate(
        source, found.y, found.classes, tried, folds, seed, plan.features.kinds, plan.loss, progress=progress
    )
    best = board.best
    assert best.model is not None
    model = fit_read(best.model, source, found.y, found.classes, plan.name)
    return Training(plan, board, model, folds, seed)
