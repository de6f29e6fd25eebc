"""All verbs as one command; errors become a sentence and an exit code.

A verb is a file ``verb_<name>.py`` of this folder with one function of that name. It imports the library inside the
function, so that ``bayeskit --help`` stays quick.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from bayeskit.cli.app_options import OPTIONS
from bayeskit.cli.translated_help import translate_help
from bayeskit.language import LANGUAGES, label, set_language, translated

DATA_ERROR, USAGE_ERROR, INTERRUPTED = 1, 2, 130


def build(only: str | None = None, *, with_options: bool = True) -> typer.Typer:
    """Return the command with all its verbs, or with one of them.

    Without options the verbs have their names and descriptions only, which is all that the list of verbs shows.
    """
    app = typer.Typer(
        name="bayeskit",
        help="Learning with Bayes' rule: networks and tables on the command line.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help: importing rich would double the time of every --help
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for verb in _verbs():
        if only in (None, verb):
            name = verb.replace("-", "_")
            function = getattr(import_module(f"bayeskit.cli.verb_{name}"), name)
            app.command(verb)(function if with_options else _described_as(function))
    return app


def _described_as(function: Callable[..., None]) -> Callable[[], None]:
    def described() -> None:
        """Have the description of a verb, and no options."""

    described.__doc__ = function.__doc__
    return described


def _verbs() -> list[str]:
    paths = sorted(Path(__file__).parent.glob("verb_*.py"))
    return [path.stem.removeprefix("verb_").replace("_", "-") for path in paths]


def _show_version(wanted: bool) -> None:
    if wanted:
        from bayeskit import __version__

        typer.echo(f"bayeskit {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
    lang: Annotated[
        str | None,
        typer.Option(
            help="Language of messages, help and reports, en or zh; also after the verb (default: BAYESKIT_LANG, or "
            "the locale).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Learning with Bayes' rule: networks and tables on the command line."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 for data, 2 for usage, 130 when interrupted."""
    arguments, language = _without_language(sys.argv[1:] if arguments is None else arguments)
    if language is not None:
        if language not in LANGUAGES:
            typer.echo(f"Error: --lang takes en or zh; got {language!r}.", err=True)
            return USAGE_ERROR
        set_language(language)
    first = next(iter(arguments), None)
    verb = first if first in _verbs() else None
    # To read the signatures of all verbs takes as long as many a task of one of them; only the shell asks for all, when
    # it completes a line.
    asked_by_shell = "_BAYESKIT_COMPLETE" in os.environ
    command: Any = typer.main.get_command(build(verb, with_options=verb is not None or asked_by_shell))
    translate_help(command)
    # Typer brings its own copy of click from version 0.16 on; its errors are told apart by what they can do.
    try:
        with _plain_warnings(), _ends_on_sigterm(), _named_output():
            code = command.main(args=arguments, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except typer.Exit as stop:
        return int(stop.exit_code)
    except BrokenPipeError:
        # The reader has gone, as with `| head`; nothing is left to say, and Python must not try at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DATA_ERROR
    except (ValueError, TypeError, OSError, MemoryError) as error:
        typer.echo(f"{label('Error:')} {translated(_sentence(error))}", err=True)
        return DATA_ERROR
    except Exception as error:
        if not hasattr(error, "exit_code") or not hasattr(error, "show"):
            raise
        _show_usage(error)
        return USAGE_ERROR


def _show_usage(error: Any) -> None:
    """Say what is wrong with the arguments, how the verb is called, and where its help is."""
    context = getattr(error, "ctx", None)
    if context is not None:
        usage = context.get_usage().replace("Usage:", label("Usage:")).replace("[OPTIONS]", label("[OPTIONS]"))
        typer.echo(usage + "\n" + translated(f"Try '{context.command_path} -h' for help.") + "\n", err=True)
    typer.echo(f"{label('Error:')} {translated(error.format_message())}", err=True)


def _without_language(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the arguments without ``--lang``, which may stand anywhere before ``--``, and what it says."""
    rest: list[str] = []
    language, words = None, iter(arguments)
    for word in words:
        if word == "--":
            return [*rest, word, *words], language
        if word == "--lang":
            language = next(words, "")
        elif word.startswith("--lang="):
            language = word.removeprefix("--lang=")
        else:
            rest.append(word)
    return rest, language


class _StandardOutput(io.FileIO):
    """Standard output whose errors say that they are its own: a full disk is named as with any other file."""

    def write(self, data: Any, /) -> int:
        """Write some bytes."""
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, label("standard output")) from error


@contextmanager
def _named_output() -> Iterator[None]:
    """Let errors of standard output carry its name, and come before the command ends."""
    usual: Any = sys.stdout
    buffer = getattr(usual, "buffer", None)  # the file itself where Python is told not to buffer
    if type(getattr(buffer, "raw", buffer)) is not io.FileIO:  # a console of Windows, or a test's
        yield
        return
    raw = _StandardOutput(usual.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), usual.encoding, usual.errors, None, usual.line_buffering)
    try:
        yield
        sys.stdout.flush()
    finally:
        with suppress(OSError):
            sys.stdout.flush()
        sys.stdout = usual


@contextmanager
def _ends_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does: what was half written is removed."""

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show what the library warns of as a sentence, without a line of its source."""
    from bayeskit.cli import screen
    from bayeskit.errors import BayeskitWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", BayeskitWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if issubclass(category, BayeskitWarning):
                screen.warn(" ".join(str(message).split()))
            else:
                usual(message, category, *rest, **more)

        warnings.showwarning = show
        yield


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    option = OPTIONS.get(getattr(error, "parameter", None) or "")
    hint = f" (option {option})" if option else ""
    return (" ".join(str(error).split()) or type(error).__name__) + hint
