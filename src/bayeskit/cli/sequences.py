"""Sequences on the command line: ``train --group --time``, and ``predict`` with a chain."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import typer

from bayeskit.cli import options, screen
from bayeskit.errors import BayeskitError
from bayeskit.progress import Progress

if TYPE_CHECKING:
    from bayeskit.table.files import TableFile


@dataclass(frozen=True)
class Asked:
    """What ``train`` was asked for, where its rows are sequences."""

    group: str | None
    time: str | None
    target: str | None
    step: str | None
    states: str
    ignore: tuple[str, ...]
    kinds: dict[str, str]


def place_of(data: list[str], target: str | None) -> Path:
    """Return where the model goes by default: TABLE-TARGET.bayes, or TABLE.bayes where there is no target."""
    return options.model_name(data, target) if target else Path(Path(data[0]).with_suffix(".bayes").name)


def refuse_unused(data: list[str], given: dict[str, Any], beside: str) -> None:
    """Refuse what a chain does not use, rather than ignore it."""
    if len(data) > 1:
        raise typer.BadParameter("a chain reads one file at a time.", param_hint="DATA")
    options.refuse_unused(given, beside)


def refuse_chain_options(step: str | None, states: str) -> None:
    """Refuse the options of a chain where none is learned."""
    for name, is_set in (("--step", step is not None), ("--states", states != "auto")):
        if is_set:
            raise typer.BadParameter("it needs --group or --time, with which rows are sequences.", param_hint=name)


def train(
    file: TableFile,
    output: Path | None,
    asked: Asked,
    decimal: str | None,
    random_state: int,
    *,
    report: bool,
    force: bool,
    as_json: bool,
    data: list[str],
) -> None:
    """Fit a chain, say which one and why, save it and write its report."""
    from bayeskit.workflow.report.chain_page import write_chain_report
    from bayeskit.workflow.sequences import train_sequences

    states = asked.states
    if states != "auto" and not (states.isdecimal() and int(states) >= 1):
        raise typer.BadParameter(f"'auto' or a whole number of at least 1; got {states!r}.", param_hint="--states")
    place = output or place_of(data, asked.target)
    place, page = options.places_of_model(place, report, data, force)
    result = train_sequences(
        file,
        group=asked.group,
        time=asked.time,
        target=asked.target,
        step=asked.step,
        n_states="auto" if states == "auto" else int(states),
        ignore=asked.ignore,
        kinds=asked.kinds,
        decimal=decimal,
        random_state=random_state,
    )
    result.model.save(place)
    if page is not None:
        write_chain_report(page, result, Path(data[0]).name, join(["bayeskit", *sys.argv[1:]]))
    name = type(result.model).__name__
    classes = [str(each) for each in result.model.classes_.tolist()]
    if as_json:
        said: dict[str, Any] = {"model": name, "why": result.why, "classes": classes, "saved": str(place)}
        if result.held_out is not None:
            said["held_out"] = {
                "error": result.held_out.error._asdict(),
                "log_loss": result.held_out.log_loss._asdict(),
            }
        screen.say_json(said)
        return
    left = [note for note in result.notes if not note.used and note.name not in (asked.group, asked.time, asked.target)]
    if left:
        screen.say("left out: " + ", ".join(f"{note.name} ({note.why})" for note in left))
    screen.say(f"{name}: {result.why}")
    if hasattr(result.model, "summary"):
        screen.say(str(result.model.summary()))
    else:
        screen.say(f"classes: {', '.join(classes)}")
    if result.held_out is not None:
        screen.say(result.held_out_line)
    screen.say(f"model   {place}")
    if page is not None:
        screen.say(f"report  {page}")


def refuse_chain(path: Path, verb: str, instead: str) -> None:
    """Refuse a model of sequences, whose rows are not judged one by one."""
    if chain_of(path) is not None:
        raise BayeskitError(
            f"{path}: {verb} judges each row by itself, and the rows of a chain depend on those before them; in "
            f"Python, {instead}."
        )


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

    def write(self, writer: Any, progress: Progress | None = None) -> int:
        """Write all rows at once."""
        writer.write(self.table)
        return int(self.table.num_rows)
