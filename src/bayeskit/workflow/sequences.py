"""Chains from a file: the table read, the model chosen by what the target is, and states or classes of other files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.result import Result
from bayeskit.sequence.hidden_markov import HiddenMarkov
from bayeskit.sequence.sequence_classifier import SequenceClassifier
from bayeskit.table.read import Source, read_values

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.decide.loss import Loss
    from bayeskit.decide.scores import Scores
    from bayeskit.table.files import TableFile
    from bayeskit.table.read_result import ColumnNote


@dataclass(frozen=True, repr=False)
class SequenceTraining(Result):
    """A chain that was fitted to a file, why it is the one, and what became of the columns."""

    model: Any
    why: str
    notes: tuple[ColumnNote, ...]
    source: Source  # the rows, with the columns that say where they belong
    held_out: Scores | None = None  # of every fifth sequence, by a model that had not seen it
    unit: str = "row"

    def __repr__(self) -> str:
        said = [f"{type(self.model).__name__}: {self.why}"]
        if hasattr(self.model, "summary"):
            said.append(str(self.model.summary()))
        if self.held_out is not None:
            said.append(self.held_out_line)
        return "\n".join(said)

    @property
    def held_out_line(self) -> str:
        """The scores of the sequences that were held out, in a line; they must have been."""
        assert self.held_out is not None
        return f"every fifth sequence held out: error {self.held_out.error}, log-loss {self.held_out.log_loss}"


def train_sequences(
    file: TableFile,
    *,
    group: str | None,
    time: str | None,
    target: str | None = None,
    step: str | None = None,
    n_states: int | str = "auto",
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    decimal: str | None = None,
    random_state: int = 0,
) -> SequenceTraining:
    """Fit a chain to a file whose rows belong to groups and times.

    Without a target the states are hidden; a target that is the same in all rows of each group is the class of the
    sequence; any other is the state of the row.
    """
    from bayeskit.kinds.infer import infer_kinds, read_features
    from bayeskit.kinds.written import read_columns

    given, places = dict(kinds or {}), [name for name in (group, time, target) if name is not None]
    file.refuse_absent((*ignore, *given, *places))
    if len(set(places)) < len(places):
        raise TableError(f"group, time and target must be different columns; got {', '.join(map(repr, places))}.")
    raw, left_out = file.read_written(), [*ignore, *places]
    if target is not None and len(values := sorted(set(map(str, raw[target].drop_null().to_pylist())))) == 1:
        raise TableError(f"the target has one class, {values[0]!r}; a classifier needs at least two.", "target")
    written = read_columns(raw, "", given, left_out, decimal=decimal, **file.form)
    notes = infer_kinds(written.table, "", left_out, given, written)
    features = read_features(written.table, notes)
    source = _with_columns(features.source, raw, places)
    settings: dict[str, Any] = {"kinds": features.kinds, "step": _read_step(step), "random_state": random_state}
    if target is None:
        model: Any = HiddenMarkov(n_states, **settings)
        why = "no target: the states are hidden"
    elif group is not None and _one_per_group(raw, group, target):
        model = SequenceClassifier(n_states, **settings)
        why = f"{target!r} is the same in all rows of each {group!r}: one chain per class"
    else:
        model = HiddenMarkov(**settings)
        why = f"{target!r} changes within a sequence: it is the state of each row"
    model.fit(source, group=group, time=time, target=target)
    held_out, unit = None, "sequence" if isinstance(model, SequenceClassifier) else "row"
    if group is not None and target is not None:
        held_out = _held_out(model, source, _cells(raw, group), _cells(raw, target))
    return SequenceTraining(model, why, notes, source, held_out, unit)


def _held_out(model: Any, source: Source, groups: list[Any], truth: list[Any]) -> Scores | None:
    """Judge every fifth sequence by a model of the others; None where they cannot show what all rows show."""
    names = list(dict.fromkeys(groups))
    test_names = set(names[4::5])
    is_test = np.array([name in test_names for name in groups])
    learned = {truth[i] for i in np.flatnonzero(~is_test)}
    if not test_names or any(truth[i] not in learned for i in np.flatnonzero(is_test)):
        return None
    (group, time), target = model._fitted.layout, model.target_
    rest = model.__class__(**model.get_params(deep=False))
    rest.fit(source.take(np.flatnonzero(~is_test)), group=group, time=time, target=target)
    test = source.take(np.flatnonzero(is_test)).without(target)
    scores, _ = _scored(rest, test, [groups[i] for i in np.flatnonzero(is_test)],
                        [truth[i] for i in np.flatnonzero(is_test)])  # fmt: skip
    return scores


def _scored(
    model: Any, source: Source, groups: list[Any], truth: list[Any], loss: Loss | None = None
) -> tuple[Scores, int]:
    """Return the scores of states or classes, and how many had no label."""
    from bayeskit.decide.scores import Scores

    posterior, codes, n_unlabelled = _labelled(model, source, groups, truth)
    return Scores.of(posterior, codes, model.classes_.tolist(), loss), n_unlabelled


def _labelled(
    model: Any, source: Source, groups: list[Any], truth: list[Any]
) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Return posterior and truth of the rows or sequences that have a label, and how many had none."""
    if isinstance(model, SequenceClassifier):
        posterior = model.predict_proba(source)
        truth = list(dict(zip(reversed(groups), reversed(truth), strict=True)).values())[::-1]
    else:
        posterior = model.smooth(source)
    classes = model.classes_.tolist()
    place = {str(label): k for k, label in enumerate(classes)}
    strange = next((label for label in truth if label is not None and str(label) not in place), None)
    if strange is not None:
        raise TableError(f"{model.target_ or 'the target'!r} has the value {strange!r}, which the model does not know; "
                         f"it knows {', '.join(map(repr, classes[:8]))}.")  # fmt: skip
    known = np.array([label is not None for label in truth], dtype=bool)
    codes = np.array([place[str(label)] for label in truth if label is not None], dtype=np.int64)
    if not len(codes):
        raise TableError("no row has a label, so there is nothing to judge.")
    return posterior[known], codes, int((~known).sum())


def evaluate_sequences(
    model: Any, file: TableFile, target: str | None = None, loss: Loss | None = None, decimal: str | None = None
) -> tuple[Scores, int, str]:
    """Return the scores of the states of a file's rows, or of the classes of its sequences; how many had no label.

    A state is judged given all rows of its sequence. The last value is the column of the truth.
    """
    target = target or model.target_
    if target is None:
        raise TableError("the states of this model were hidden; name the column that holds the truth.", "target")
    raw, source, groups = _read_with_truth(model, file, target, decimal)
    scores, n_unlabelled = _scored(model, source, groups, _cells(raw, target), loss)
    return scores, n_unlabelled, target


def judged_by(
    model: Any, file: TableFile, target: str, decimal: str | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the posterior of each row or sequence of a file that has a label, and the label's place."""
    raw, source, groups = _read_with_truth(model, file, target, decimal)
    posterior, codes, _ = _labelled(model, source, groups, _cells(raw, target))
    return posterior, codes


def _read_with_truth(
    model: Any, file: TableFile, target: str, decimal: str | None
) -> tuple[pa.Table, Source, list[Any]]:
    """Return a file as it is, what a chain reads of it, and the group of each row."""
    raw, source = read_for(model, file, decimal)
    file.refuse_absent([target])
    group = model._fitted.layout[0]
    return raw, source, _cells(raw, group) if group in raw.column_names else [0] * raw.num_rows


def predict_sequences(model: Any, file: TableFile, decimal: str | None = None) -> pa.Table:
    """Return the file with the state of each row and its probability, or each sequence with its class."""
    import pyarrow as pa

    raw, source = read_for(model, file, decimal)
    state = model._fitted
    places = [name for name in state.layout if name is not None and name in raw.column_names]
    if isinstance(model, SequenceClassifier):
        posterior = model.predict_proba(source)
        names = list(dict.fromkeys(_cells(raw, state.layout[0]))) if state.layout[0] in places else [0]
        columns = {
            state.layout[0] or "sequence": names,
            model.target_ or "class": model.classes_[posterior.argmax(axis=1)],
        }
        probabilities = {f"P({c})": posterior[:, k] for k, c in enumerate(model.classes_.tolist())}
        return pa.table({**columns, **probabilities})
    posterior, path = model.smooth(source), model.predict(source)
    name = f"{model.target_ or 'state'}_predicted"
    best = posterior[np.arange(len(path)), np.searchsorted(model.states_, path)]
    return raw.append_column(name, pa.array(path.tolist())).append_column(f"{name}_probability", pa.array(best))


def read_for(model: Any, file: TableFile, decimal: str | None = None) -> tuple[pa.Table, Source]:
    """Return a file as it is, and the columns that a chain reads, with those that say where rows belong."""
    from bayeskit.kinds.infer import infer_kinds, read_features
    from bayeskit.kinds.written import read_columns

    wanted = list(model.schema_.names)
    raw = file.read_written()
    file.refuse_absent(wanted)
    places = [name for name in model._fitted.layout if name is not None and name in raw.column_names]
    others = [name for name in raw.column_names if name not in wanted]
    kinds = {v.name: "categorical" if v.is_discrete and not v.is_binned else "numeric" for v in model.schema_}
    written = read_columns(raw, "", kinds, others, decimal=decimal, **file.form)
    notes = infer_kinds(written.table, "", others, kinds, written)
    return raw, _with_columns(read_features(written.table, notes).source.select(tuple(wanted)), raw, places)


def _with_columns(source: Source, raw: pa.Table, names: Collection[str]) -> Source:
    """Return the features with the columns that say where a row belongs."""
    columns = tuple(source.column(j) for j in range(len(source.names)))
    more = tuple(read_values(_cells(raw, name), name) for name in names)
    return Source((*source.names, *names), True, source.n_rows, (*columns, *more))


def _cells(raw: pa.Table, name: str | None) -> list[Any]:
    """Return the cells of a column as whole numbers, as numbers, or as they are."""
    cells = raw.column(name).to_pylist()
    if not all(isinstance(cell, str) or cell is None for cell in cells):
        return [cell.isoformat() if hasattr(cell, "isoformat") else cell for cell in cells]
    for number in (int, float):
        try:
            return [number(cell) if cell else None for cell in cells]
        except ValueError:
            continue
    return [cell or None for cell in cells]


def _one_per_group(raw: pa.Table, group: str, target: str) -> bool:
    pairs = set(zip(_cells(raw, group), _cells(raw, target), strict=True))
    groups = {each for each, _ in pairs}
    return len(groups) > 1 and len(pairs) == len(groups)


def _read_step(step: str | None) -> Any:
    """Return a step as the model takes it: a number where the text is one."""
    if step is None:
        return None
    try:
        return float(step)
    except ValueError:
        return step
