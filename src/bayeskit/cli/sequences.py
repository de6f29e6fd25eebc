"""Sequences on the command line: ``train --group --time``, and ``predict`` with a chain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.cli import options, screen

if TYPE_CHECKING:
    from bayeskit.table.files import TableFile


def train(
    file: TableFile,
    place: Path,
    *,
    group: str | None,
    time: str | None,
    target: str | None,
    step: str | None,
    states: str,
    ignore: list[str],
    kinds: dict[str, str],
    decimal: str | None,
    random_state: int,
    force: bool,
    as_json: bool,
    data: str,
) -> None:
    """Fit a chain, say which one and why, and save it."""
    import typer

    from bayeskit.workflow.sequences import train_sequences

    if states != "auto" and not (states.isdecimal() and int(states) >= 1):
        raise typer.BadParameter(f"'auto' or a whole number of at least 1; got {states!r}.", param_hint="--states")
    options.refuse_overwriting(place, (data,), force=force)
    result = train_sequences(
        file,
        group=group,
        time=time,
        target=target,
        step=step,
        n_states="auto" if states == "auto" else int(states),
        ignore=ignore,
        kinds=kinds,
        decimal=decimal,
        random_state=random_state,
    )
    result.model.save(place)
    name = type(result.model).__name__
    classes = [str(each) for each in result.model.classes_.tolist()]
    if as_json:
        screen.say_json({"model": name, "why": result.why, "classes": classes, "saved": str(place)})
        return
    left = [note for note in result.notes if not note.used and note.name not in (group, time, target)]
    if left:
        screen.say("left out: " + ", ".join(f"{note.name} ({note.why})" for note in left))
    screen.say(f"{name}: {result.why}")
    if hasattr(result.model, "summary"):
        screen.say(str(result.model.summary()))
    else:
        screen.say(f"classes: {', '.join(classes)}")
    screen.say(f"model   {place}")


def chain_of(path: Path) -> Any:
    """Return the chain of a model file, or None where it holds anything else."""
    from bayeskit.io.container import read

    if path.suffix != ".bayes" or not path.is_file():
        return None
    if read(path).model not in ("HiddenMarkov", "SequenceClassifier"):
        return None
    from bayeskit.io.model_files import load_value

    return load_value(path)


class SequencePredictions:
    """The states of the rows of a file, or the classes of its sequences, as ``predict`` writes them."""

    def __init__(self, model: Any, file: TableFile, decimal: str | None) -> None:
        from bayeskit.workflow.sequences import predict_sequences

        self.table = predict_sequences(model, file, decimal)

    def write(self, writer: Any, progress: Any = None) -> int:
        """Write all rows at once."""
        writer.write(self.table)
        return int(self.table.num_rows)
