"""Sequences on the command line: ``train --group --time``, and ``predict``, ``explain`` and ``compare`` with chains."""

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
    from bayeskit.workflow.evaluation import PairedComparison

STRONGEST = 8  # rows of an explanation that are shown


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


def chain_of(path: Path) -> Any:
    """Return the chain of a model file, or None where it holds anything else."""
    from bayeskit.io.container import read

    if path.suffix != ".bayes" or not path.is_file():
        return None
    if read(path).model not in ("HiddenMarkov", "SequenceClassifier"):
        return None
    from bayeskit.io.model_files import load_value

    return load_value(path)


def explain(model: Any, file: TableFile, row: int | None, doubtful: int, decimal: str | None, as_json: bool) -> None:
    """Say why rows are in their states: what each row of the sequence adds to the log-odds."""
    from bayeskit.workflow.chain_questions import explain_rows

    if not hasattr(model, "explain"):
        raise BayeskitError(
            f"a {type(model).__name__} has one class for a sequence and no state of a row to explain; train a chain "
            "whose target changes within a sequence, or one without a target."
        )
    explained = explain_rows(model, file, row, doubtful, decimal)
    if as_json:
        screen.say_json(
            [
                {
                    "row": each.row,
                    "sequence": each.name,
                    "states": list(each.said.states),
                    "prior_log_odds": each.said.prior,
                    "log_odds": each.said.log_odds,
                    "evidence": [
                        {"row": number, "log_odds": change}
                        for number, change in zip(each.rows, each.said.changes.tolist(), strict=True)
                    ],
                }
                for each in explained
            ]
        )
        return
    for each in explained:
        a, b = each.said.states
        screen.say(f"row {each.row}, sequence {each.name}: {a} rather than {b}, log-odds {each.said.log_odds:+.2f}")
        changes = each.said.changes.tolist()
        strongest = sorted(sorted(range(len(changes)), key=lambda k: -abs(changes[k]))[:STRONGEST])
        rest = sum(change for k, change in enumerate(changes) if k not in strongest)
        lines = [("before any row", f"{each.said.prior:+.2f}")]
        for t in strongest:
            name = "a step without a row" if each.rows[t] is None else f"row {each.rows[t]}"
            lines.append((name, f"{each.said.changes[t]:+.2f}"))
        if len(each.rows) > STRONGEST:
            lines.append((f"{len(each.rows) - STRONGEST} other rows", f"{rest:+.2f}"))
        screen.table(("what is known", "log-odds"), lines, right=(1,))
        screen.say()


def compare(
    models: tuple[Any, Any],
    names: tuple[str, str],
    file: TableFile,
    target: str | None,
    decimal: str | None,
    as_json: bool,
) -> PairedComparison | None:
    """Compare chains by the probability of sequences, and say it; or return their comparison by known labels."""
    from bayeskit.workflow.chain_questions import ChainComparison, compare_chains
    from bayeskit.workflow.wording import count

    comparison = compare_chains(*models, file, target, decimal)
    if not isinstance(comparison, ChainComparison):
        return comparison
    if as_json:
        sides = dict(zip(("first", "second", "difference"), comparison.log_likelihood, strict=True))
        wins = {"first_better": comparison.first_better, "second_better": comparison.second_better}
        sizes = {"sequences": comparison.n_sequences, "rows": comparison.n_rows}
        said = {"first": names[0], "second": names[1], **sizes, "log_likelihood": sides}
        screen.say_json({**said, **wins, "p_value": comparison.p_value})
        return None
    screen.say(f"{file.name}: {count(comparison.n_sequences, 'sequence')}, {count(comparison.n_rows, 'row')}")
    screen.say()
    row = ("log P(sequence)", *map(str, comparison.log_likelihood))
    screen.table(("score", *names, "difference"), [row], right=(1, 2, 3))
    screen.say()
    better = f"more probable by {names[0]}: {count(comparison.first_better, 'sequence')}"
    screen.say(f"{better}; by {names[1]}: {count(comparison.second_better, 'sequence')}")
    screen.say(f"p-value of the sign test: {comparison.p_value:.4g}")
    return None


class SequencePredictions:
    """The states of the rows of a file, or the classes of its sequences, as ``predict`` writes them."""

    def __init__(self, model: Any, file: TableFile, decimal: str | None) -> None:
        from bayeskit.workflow.sequences import predict_sequences

        self.table = predict_sequences(model, file, decimal)

    def write(self, writer: Any, progress: Progress | None = None) -> int:
        """Write all rows at once."""
        writer.write(self.table)
        return int(self.table.num_rows)
